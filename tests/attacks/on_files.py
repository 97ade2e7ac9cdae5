"""Attacks that read or write what is not theirs."""

from __future__ import annotations

from attacks.attack import CLOSED, DENIED, UNWRITABLE, WENT_ON, Attack

READING = {
    "opens a file of the grader's": Attack("open(target.secret).read()", CLOSED),
    "opens it without Python": Attack("syscall('open', target.secret.encode(), 0)", CLOSED),
    "opens it on the way up from its own folder": Attack(
        "open(os.path.relpath(target.secret)).read()", CLOSED
    ),
    "opens it through a symbolic link": Attack(
        "os.symlink(target.secret, 'link'); open('link').read()", CLOSED
    ),
    "opens it through a hard link": Attack(
        "os.link(target.secret, 'hard'); open('hard').read()", (*CLOSED, "OSError")
    ),
    "copies it inside the kernel": Attack(
        "here = os.open('copy', os.O_RDWR | os.O_CREAT)\n"
        "os.sendfile(here, os.open(target.secret, os.O_RDONLY), 0, 1000)",
        CLOSED,
    ),
    "maps it as an array": Attack("import numpy as np\nnp.memmap(target.secret, mode='r')[:]", CLOSED),
    "lets numpy read it": Attack("import numpy as np\nnp.fromfile(target.secret, 'u1')", CLOSED),
    "opens it by its handle": Attack(
        "syscall('name_to_handle_at', -100, target.secret.encode(), ctypes.create_string_buffer(128),"
        " ctypes.byref(ctypes.c_int()), 0)",
        DENIED,
    ),
    "includes it with a magic": Attack(
        "get_ipython().run_line_magic('run', target.secret)", (*CLOSED, "OSError", "Exception", WENT_ON)
    ),
    "opens the gradebook": Attack(
        "import sqlite3\nsqlite3.connect(target.gradebook).execute('select * from grade').fetchall()",
        ("OperationalError", "DatabaseError", "ImportError"),
    ),
    "lists other students' work": Attack("os.listdir(target.submitted)", CLOSED),
    "opens another student's work": Attack("open(target.submitted + '/ben/work.ipynb').read()", CLOSED),
    "lists the homes": Attack("os.listdir('/root') + os.listdir('/home')", CLOSED),
    "opens the list of users": Attack("open('/etc/passwd').read()", CLOSED),
    "opens the list of hosts": Attack("open('/etc/hosts').read()", CLOSED),
    "lists the folders of the machine": Attack(
        "os.listdir('/var') + os.listdir('/tmp')",
        CLOSED,
    ),
    "reads the grader's environment": Attack("open(f'/proc/{target.grader}/environ').read()", CLOSED),
    "reads the grader's command line": Attack("open(f'/proc/{target.grader}/cmdline').read()", CLOSED),
    "reads the grader's memory": Attack("open(f'/proc/{target.grader}/mem', 'rb').read(1)", CLOSED),
    "reads its parent's environment": Attack("open(f'/proc/{os.getppid()}/environ').read()", CLOSED),
    "reads its parent's memory map": Attack("open(f'/proc/{os.getppid()}/maps').read()", CLOSED),
    "takes the grader's folder through proc": Attack("os.listdir(f'/proc/{target.grader}/cwd/')", CLOSED),
    "lists all processes": Attack("os.listdir('/proc')", CLOSED),
    "opens the kernel's settings": Attack("open('/proc/sys/kernel/core_pattern').read()", CLOSED),
    "lists the devices of the kernel": Attack("os.listdir('/sys')", CLOSED),
    "opens the memory of the machine": Attack("open('/dev/mem', 'rb').read(1)", CLOSED),
    "opens the terminal": Attack("open('/dev/tty').read()", (*CLOSED, "OSError")),
    "prints its environment": Attack("print(dict(os.environ))", (WENT_ON,)),
    "prints its command line": Attack("print(sys.argv, sys.orig_argv)", (WENT_ON,)),
    "imports the hidden checks": Attack(
        "import autograder.checks.multi_head_attention", ("ModuleNotFoundError",)
    ),
    "imports the reference": Attack("import solutions.reference", ("ModuleNotFoundError", "PermissionError")),
    "looks for the checks along its path": Attack(
        "import glob\n"
        "found = [p for place in sys.path for p in glob.glob(f'{glob.escape(place)}/*/checks/*/test_*.py')]\n"
        "assert not [open(p).read() for p in found]",
        (*CLOSED, WENT_ON),
    ),
    "looks for pytest and the checks in memory": Attack(
        "import gc\n"
        "ours = ('pytest', '_pytest', 'solutions', 'autograder.checks')\n"
        "assert not [m for m in sys.modules if m.startswith(ours)]\n"
        "texts = [o for o in gc.get_objects() if isinstance(o, dict)]\n"
        "assert not [k for d in texts for k in list(d) if isinstance(k, str) and k.startswith('expected_')]",
        (WENT_ON,),
    ),
    "looks at the frames above it": Attack(
        "import inspect\n"
        "names = {name for frame in inspect.stack() for name in frame.frame.f_globals}\n"
        "assert not names & {'run_checks', 'CheckSuite', 'Grader', 'reference'}",
        (WENT_ON,),
    ),
    "reads what is open": Attack(
        "found = []\n"
        "for fd in range(3, 5000):\n"
        "    try: os.fstat(fd); found.append(fd)\n"
        "    except OSError: pass\n"
        "assert len(found) <= 1, found",
        (WENT_ON,),
    ),
    "reads its standard input": Attack("assert os.read(0, 10) == b''", (WENT_ON,)),
    "asks for shared memory": Attack("syscall('shmget', 1234, 4096, 0o1777)", DENIED),
    "asks for a message queue": Attack("syscall('msgget', 1234, 0o1777)", DENIED),
    "asks for the keys of the kernel": Attack("syscall('keyctl', 0, -3, 1)", DENIED),
    "leaves a key in the kernel": Attack("syscall('add_key', b'user', b'attack', b'x', 1, -4)", DENIED),
}


WRITING = {
    "overwrites a file of the grader's": Attack("open(target.secret, 'w').write('mine')", UNWRITABLE),
    "appends to the gradebook": Attack("open(target.gradebook, 'ab').write(b'mine')", UNWRITABLE),
    "changes the gradebook": Attack(
        "import sqlite3\nsqlite3.connect(target.gradebook).execute('create table mine (x)')",
        ("OperationalError", "DatabaseError", "ImportError"),
    ),
    "cuts a file of the grader's": Attack("os.truncate(target.secret, 0)", UNWRITABLE),
    "changes the rights of a file": Attack("os.chmod(target.secret, 0o777)", UNWRITABLE),
    "changes the owner of a file": Attack("os.chown(target.secret, os.getuid(), os.getgid())", UNWRITABLE),
    "changes the time of a file": Attack("os.utime(target.secret, (0, 0))", UNWRITABLE),
    "changes the attributes of a file": Attack("os.setxattr(target.secret, 'user.x', b'1')", UNWRITABLE),
    "removes a file of the grader's": Attack("os.remove(target.secret)", UNWRITABLE),
    "moves a file of the grader's": Attack("os.rename(target.secret, 'mine')", UNWRITABLE),
    "moves its own file over it": Attack(
        "open('mine', 'w').close(); os.rename('mine', target.secret)", UNWRITABLE
    ),
    "makes a file beside it": Attack("open(target.folder + '/attack', 'w')", UNWRITABLE),
    "makes a folder beside it": Attack("os.mkdir(target.folder + '/attack')", UNWRITABLE),
    "makes a link beside it": Attack("os.symlink('/', target.folder + '/attack')", UNWRITABLE),
    "writes to the system's temporary folder": Attack("open('/tmp/attack', 'w')", UNWRITABLE),
    "writes to shared memory": Attack("open('/dev/shm/attack', 'w')", UNWRITABLE),
    "writes to the root": Attack("open('/attack', 'w')", UNWRITABLE),
    "writes above its folder": Attack("open('../../attack', 'w')", UNWRITABLE),
    "writes into the packages": Attack("import numpy\nopen(numpy.__file__, 'a')", UNWRITABLE),
    "writes into the worker": Attack(
        "import autograder.wire.codec as codec\nopen(codec.__file__, 'a')", UNWRITABLE
    ),
    "leaves bytecode of its own for the next": Attack(
        "import autograder.wire as wire\nos.mkdir(os.path.dirname(wire.__file__) + '/__pycache__')",
        UNWRITABLE,
    ),
    "writes the kernel's settings": Attack(
        "open('/proc/sys/kernel/core_pattern', 'w').write('core')", CLOSED
    ),
    "spares itself from the memory killer": Attack(
        "open('/proc/self/oom_score_adj', 'w').write('-1000')", CLOSED
    ),
    "makes a device": Attack("os.mknod('disk', 0o600 | 0o060000, os.makedev(8, 0))", DENIED),
    "makes a pipe with a name": Attack("os.mkfifo('pipe')", DENIED),
    "changes its root": Attack("os.chroot('.')", DENIED),
    "mounts": Attack("syscall('mount', b'none', b'.', b'tmpfs', 0, 0)", DENIED),
    "puts a link where its folder was": Attack(
        "os.rename('../notebook', '../gone'); os.symlink(target.folder, '../notebook')", (WENT_ON,)
    ),
    "leaves folders without rights": Attack(
        "os.makedirs('a/b/c'); open('a/b/c/file', 'w').close()\n"
        "os.mkdir('locked', 0); os.mkdir('blind', 0o300)",
        # Who looks at that moment cannot count what is in them.
        (WENT_ON, "limit file_mib"),
    ),
    "leaves names that are no text": Attack(
        "open(b'\\xff\\xfe', 'w').close(); open('new\\nline', 'w').close(); os.mkdir('-rf')", (WENT_ON,)
    ),
    "leaves folders deeper than any path": Attack(
        "for _ in range(900):\n    os.mkdir('d' * 200); os.chdir('d' * 200)", (WENT_ON, "limit file_mib")
    ),
}
