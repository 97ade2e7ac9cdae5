"""Attacks on the network, on other processes, and on what a machine has only so much of."""

from __future__ import annotations

from attacks.attack import DENIED, WENT_ON, Attack

NETWORK = {
    "connects over TCP": Attack(
        "import socket\nsocket.create_connection(('127.0.0.1', target.tcp), 1)", DENIED
    ),
    "sends over UDP": Attack(
        "import socket\nsocket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', target.udp))", DENIED
    ),
    "connects over IPv6": Attack("import socket\nsocket.socket(socket.AF_INET6)", DENIED),
    "connects to a socket in a folder": Attack(
        "import socket\nsocket.socket(socket.AF_UNIX).connect(target.socket)", DENIED
    ),
    "connects to a socket without a folder": Attack(
        "import socket\nsocket.socket(socket.AF_UNIX).connect(target.abstract)", DENIED
    ),
    "connects one of a pair elsewhere": Attack(
        "import socket\nsocket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b'x', target.socket)",
        DENIED,
    ),
    "opens a raw socket": Attack("import socket\nsocket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", DENIED),
    "opens a socket to the kernel": Attack(
        "import socket\nsocket.socket(socket.AF_NETLINK, socket.SOCK_RAW)", DENIED
    ),
    "opens a socket to the host": Attack("import socket\nsocket.socket(40)", (*DENIED, "OSError")),
    "listens": Attack("import socket\nsocket.create_server(('127.0.0.1', 0))", DENIED),
    "asks for a name": Attack("import socket\nsocket.getaddrinfo('localhost.example', 80)", ("gaierror",)),
    "asks a web server": Attack(
        "import urllib.request\nurllib.request.urlopen(f'http://127.0.0.1:{target.tcp}/', timeout=1)",
        ("URLError", "ModuleNotFoundError"),
    ),
    "opens sockets past the library": Attack(
        "syscall('io_uring_setup', 4, ctypes.create_string_buffer(120))", DENIED
    ),
}

_FORK = "import os\npid = os.fork()\nif pid == 0: os._exit(0)"

PROCESSES = {
    "forks": Attack(_FORK, DENIED),
    "forks without Python": Attack("assert libc.fork() == -1; raise PermissionError", DENIED),
    "forks by vfork": Attack("syscall('vfork')", DENIED),
    "forks by clone3": Attack("syscall('clone3', (ctypes.c_uint64 * 11)(0, 0, 0, 0, 17), 88)", ("OSError",)),
    "forks until it may no more": Attack(
        "import time\nend = time.monotonic() + 0.3\n"
        "while time.monotonic() < end:\n    try: os.fork()\n    except OSError: pass\n",
        (WENT_ON, "limit wall_time_s", "died exit", "died protocol"),
        tiers="ABC",
    ),
    "starts a program": Attack("import subprocess\nsubprocess.run(['true'])", DENIED),
    "starts a shell": Attack("assert os.system('true') != 0; raise PermissionError", DENIED),
    "becomes another program": Attack("os.execv('/bin/true', ['true'])", DENIED),
    "spawns a program": Attack("os.posix_spawn('/bin/true', ['true'], {})", (*DENIED, "OSError")),
    "makes a pool of processes": Attack("import multiprocessing\nmultiprocessing.Pool(2)", DENIED),
    "leaves an orphan behind": Attack(
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        import time; time.sleep(20)\n"
        "    os._exit(0)",
        (*DENIED, WENT_ON),
        tiers="ABC",
    ),
    "kills the grader": Attack("os.kill(target.grader, 9)", (*DENIED, "ProcessLookupError")),
    "kills its parent": Attack("os.kill(os.getppid(), 9)", DENIED),
    "kills its group": Attack("os.kill(0, 15)", DENIED),
    "kills everybody": Attack("os.kill(-1, 9)", DENIED),
    "kills a thread of the grader": Attack("syscall('tgkill', target.grader, target.grader, 9)", DENIED),
    "lets the kernel kill its parent": Attack(
        "import fcntl, socket\n"
        "here, there = socket.socketpair()\n"
        "fcntl.fcntl(here, fcntl.F_SETOWN, os.getppid())\n"
        "fcntl.fcntl(here, 10, 9)\n"
        "fcntl.fcntl(here, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)\n"
        "there.send(b'x')",
        DENIED,
    ),
    "lives on when its parent dies": Attack(
        "assert libc.prctl(1, 0, 0, 0, 0) == -1; raise PermissionError", DENIED
    ),
    "adopts orphans": Attack("assert libc.prctl(36, 1, 0, 0, 0) == -1; raise PermissionError", DENIED),
    "traces the grader": Attack("syscall('ptrace', 16, target.grader, 0, 0)", DENIED),
    "traces its parent": Attack("syscall('ptrace', 16, os.getppid(), 0, 0)", DENIED),
    "reads its parent's memory directly": Attack(
        "syscall('process_vm_readv', os.getppid(), 0, 0, 0, 0, 0)", DENIED
    ),
    "takes a descriptor of its parent": Attack("syscall('pidfd_open', os.getppid(), 0)", DENIED),
    "becomes root": Attack("os.setuid(0)", DENIED),
    "makes a world of its own": Attack("syscall('unshare', 0x10000000)", DENIED),
    "enters another world": Attack("syscall('setns', 3, 0)", DENIED),
    "loads a program into the kernel": Attack("syscall('bpf', 0, 0, 0)", DENIED),
    "watches the processor": Attack("syscall('perf_event_open', 0, 0, -1, -1, 0)", DENIED),
    "handles page faults": Attack("syscall('userfaultfd', 1)", DENIED),
    "makes itself more important": Attack("os.setpriority(os.PRIO_PROCESS, 0, -20)", DENIED),
    "takes the processor for itself": Attack(
        "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))", DENIED
    ),
    "raises its limits": Attack(
        "import resource\nresource.setrlimit(resource.RLIMIT_CPU, (100, 100))",
        (*DENIED, "ValueError"),
        tiers="ABC",
    ),
    "calls the kernel as a program of 32 bits": Attack(
        "import mmap\n"
        "page = mmap.mmap(-1, 4096, prot=7)\n"
        # mov eax, 20 (getpid of 32 bits); int 0x80; ret
        "page.write(b'\\xb8\\x14\\0\\0\\0\\xcd\\x80\\xc3')\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()",
        ("died SIGSYS", "died SIGSEGV"),
    ),
    "calls the kernel by its other numbers": Attack(
        "assert libc.syscall(0x40000000 | 57) == -1; raise PermissionError", (*DENIED, "died SIGSYS")
    ),
}

MEMORY = {
    "makes a vast array": Attack("import numpy as np\nnp.ones(2**33)", ("MemoryError",), tiers="ABC"),
    "makes arrays until there is no room": Attack(
        "import numpy as np\nkept = []\nwhile True: kept.append(np.ones(2**22))",
        ("MemoryError",),
        tiers="ABC",
        memory_mib=300,
    ),
    "makes objects until there is no room": Attack(
        "kept = []\nwhile True: kept.append(bytearray(2**20))",
        ("MemoryError",),
        tiers="ABC",
        memory_mib=300,
    ),
    "repeats a text": Attack("'x' * 2**40", ("MemoryError",), tiers="ABC"),
    "computes a number without end": Attack(
        "10 ** 10 ** 9", ("MemoryError", "WallTimeExceeded", "limit wall_time_s"), tiers="ABC", memory_mib=300
    ),
    "maps a vast file": Attack(
        "import numpy as np\nnp.memmap('big', mode='w+', shape=2**33)", ("OSError",), tiers="ABC"
    ),
    "maps shared memory": Attack("import mmap\nmmap.mmap(-1, 2**34)", ("OSError",), tiers="ABC"),
    "keeps memory in files without names": Attack("os.memfd_create('attack')", DENIED),
    "keeps secret memory": Attack("syscall('memfd_secret', 0)", (*DENIED, "OSError")),
    "keeps memory in pipes": Attack(
        "import fcntl\nkept = []\n"
        "while True:\n    kept.append(os.pipe()); fcntl.fcntl(kept[-1][0], 1031, 2**20)\n"
        "    os.write(kept[-1][1], bytes(2**20))",
        ("OSError", "PermissionError"),
        tiers="ABC",
    ),
    "locks memory": Attack("syscall('mlock', 0, 2**20)", DENIED),
}

DISK = {
    "writes a file without end": Attack(
        "with open('big', 'wb') as file:\n    while True: file.write(bytes(2**20))", ("OSError",), tiers="ABC"
    ),
    "writes files without end": Attack(
        "n = 0\nwhile True:\n    n += 1\n    with open(f'f{n}', 'wb') as file: file.write(bytes(2**23))",
        ("limit file_mib", "OSError"),
        tiers="ABC",
    ),
    "writes small files without end": Attack(
        "n = 0\nwhile True:\n    n += 1\n    os.close(os.open(f'f{n}', os.O_CREAT))",
        ("limit file_mib",),
        tiers="ABC",
    ),
    "makes folders without end": Attack(
        "while True:\n    os.mkdir('d'); os.chdir('d')",
        ("limit file_mib", "limit wall_time_s", "WallTimeExceeded"),
        tiers="ABC",
    ),
    "hides what it writes": Attack(
        "os.mkdir('blind', 0o300)\nn = 0\n"
        "while True:\n    n += 1\n    os.close(os.open(f'blind/f{n}', os.O_CREAT))",
        ("limit file_mib",),
        tiers="ABC",
    ),
    "writes a file with a hole": Attack(
        "os.truncate(os.open('big', os.O_RDWR | os.O_CREAT), 2**40)", ("OSError",), tiers="ABC"
    ),
    "reserves a file": Attack(
        "os.posix_fallocate(os.open('big', os.O_RDWR | os.O_CREAT), 0, 2**38)", ("OSError",), tiers="ABC"
    ),
    "opens files without end": Attack(
        "kept = []\nwhile True: kept.append(open(os.devnull))", ("OSError",), tiers="ABC"
    ),
}

THREADS = {
    "starts threads without end": Attack(
        "import _thread, time\n_thread.stack_size(32768)\nstarted = 0\n"
        "try:\n    while True:\n        _thread.start_new_thread(time.sleep, (5,)); started += 1\n"
        "except (RuntimeError, MemoryError): pass\n"
        "assert started < 1000",
        (WENT_ON,),
        tiers="ABC",
    ),
    "spins in many threads": Attack(
        "import hashlib, threading\nblock = bytes(2**24)\n"
        "def spin():\n    while True: hashlib.sha256(block)\n"
        "kept = [threading.Thread(target=spin, daemon=True) for _ in range(4)]\n"
        "for one in kept: one.start()\n"
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN); signal.setitimer(signal.ITIMER_REAL, 0)\nspin()",
        ("limit cpu_time_s", "limit wall_time_s"),
        tiers="ABC",
        cpu_time_s=1,
    ),
    "leaves threads running after its cell": Attack(
        "import threading\n"
        "def spin():\n    while True: pass\n"
        "threading.Thread(target=spin, daemon=True).start()",
        (WENT_ON,),
        tiers="ABC",
    ),
}
