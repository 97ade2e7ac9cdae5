"""Attacks with output, with time, and by dying."""

from __future__ import annotations

from attacks.attack import DENIED, WENT_ON, Attack

_SLOW = ("limit wall_time_s",)
_STOPPED = ("WallTimeExceeded", *_SLOW)

OUTPUT = {
    "prints without end": Attack("while True: print('x' * 10**6)", _STOPPED, tiers="ABC"),
    "prints a vast text": Attack("print('x' * 10**8)", (WENT_ON,), tiers="ABC"),
    "prints what grows sixfold on its way": Attack("print('\\x01' * 10**6)", (WENT_ON,), tiers="ABC"),
    "prints what grows twelvefold on its way": Attack(
        "print('\\U0001f600' * 10**6)", (WENT_ON,), tiers="ABC"
    ),
    "warns without end": Attack("while True: print('x', file=sys.stderr)", _STOPPED, tiers="ABC"),
    "shows without end": Attack("while True: display('x')", _STOPPED, tiers="ABC"),
    "shows much that is empty": Attack(
        "for _ in range(50_000): display('')", (WENT_ON, *_STOPPED), tiers="ABC"
    ),
    "shows HTML that takes long to clean": Attack(
        "from IPython.display import HTML\ndisplay(HTML('<div>' * 150_000))", (WENT_ON,), tiers="ABC"
    ),
    "shows a vast picture": Attack(
        "import struct\nfrom IPython.display import Image\n"
        "size = struct.pack('>II', 10**6, 10**6)\n"
        "display(Image(b'\\x89PNG\\r\\n\\x1a\\n\\0\\0\\0\\rIHDR' + size, format='png'))",
        (WENT_ON,),
        tiers="ABC",
    ),
    "shows a picture with a number no file can hold": Attack(
        "from IPython import get_ipython\n"
        "get_ipython().display_pub.recorder.outputs.append({'output_type': 'execute_result',"
        " 'execution_count': 10**9999, 'data': {'text/plain': 'x'},"
        " 'metadata': {'image/png': {'width': 16**9999}}})",
        (WENT_ON,),
        tiers="ABC",
    ),
    "raises a vast message": Attack("raise ValueError('x' * 10**8)", ("ValueError",), tiers="ABC"),
    "raises what cannot be told": Attack(
        "class E(Exception):\n    def __str__(self): raise E\nraise E", ("E", "died exit"), tiers="ABC"
    ),
    "shows what cannot be shown": Attack(
        "class R:\n    def __repr__(self): raise SystemExit\nR()", (WENT_ON, "SystemExit"), tiers="ABC"
    ),
    "shows what is no text": Attack(
        "print('\\ud800'); raise ValueError('\\ud800')", ("ValueError",), tiers="ABC"
    ),
    "writes past its streams": Attack(
        "for fd in (0, 1, 2):\n    try: os.write(fd, b'x' * 10**6)\n    except OSError: pass",
        (WENT_ON,),
        tiers="ABC",
    ),
    "closes what it answers with": Attack(
        "os.closerange(0, 100)", ("died exit", "died protocol"), tiers="ABC"
    ),
}

TIME = {
    "loops": Attack("while True: pass", _STOPPED, tiers="ABC"),
    "loops and catches everything": Attack(
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        _STOPPED,
        tiers="ABC",
    ),
    "loops and turns off the clock": Attack(
        "signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass", _SLOW, tiers="ABC"
    ),
    "loops and ignores every signal": Attack(
        "for number in signal.valid_signals():\n"
        "    try: signal.signal(number, signal.SIG_IGN)\n    except (OSError, ValueError): pass\n"
        "while True: pass",
        _SLOW,
        tiers="ABC",
    ),
    "blocks every signal": Attack(
        "signal.pthread_sigmask(signal.SIG_SETMASK, signal.valid_signals())\nwhile True: pass",
        _SLOW,
        tiers="ABC",
    ),
    "computes where no signal is seen": Attack("sum(range(10**12))", _SLOW, tiers="ABC"),
    "sleeps for ever": Attack("import time\ntime.sleep(10**6)", _STOPPED, tiers="ABC"),
    "waits for itself": Attack(
        "import threading\nx = threading.Lock(); x.acquire(); x.acquire()", _STOPPED, tiers="ABC"
    ),
    "matches a pattern that takes ages": Attack(
        "import re\nre.match('(a+)+$', 'a' * 60 + 'b')", _STOPPED, tiers="ABC"
    ),
    "stops itself": Attack("os.kill(os.getpid(), signal.SIGSTOP)", DENIED),
    "waits at its end": Attack(
        "import atexit, time\natexit.register(time.sleep, 100)", (WENT_ON,), tiers="ABC"
    ),
    "uses up its processor time": Attack(
        "signal.signal(signal.SIGXCPU, signal.SIG_IGN)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass",
        ("limit cpu_time_s", *_SLOW),
        tiers="ABC",
        cpu_time_s=1,
    ),
}

DEATH = {
    "ends its process": Attack("os._exit(0)", ("died exit",), tiers="ABC"),
    "aborts": Attack("os.abort()", ("died SIGABRT", "died SIGSEGV", "died exit"), tiers="ABC"),
    "reads where nothing is": Attack("ctypes.string_at(0)", ("died SIGSEGV",), tiers="ABC"),
    "recurses": Attack("def f(): return f()\nf()", ("RecursionError",), tiers="ABC"),
    "recurses past every bound": Attack(
        "sys.setrecursionlimit(10**9)\ndef f(x): return f([x]) or repr(x)\nf(0)",
        ("RecursionError", "MemoryError", "died SIGSEGV", *_STOPPED),
        tiers="ABC",
    ),
    "breaks the stack in C": Attack(
        "sys.setrecursionlimit(10**9)\nx = []\nfor _ in range(10**6): x = [x]\nrepr(x)",
        ("RecursionError", "MemoryError", "died SIGSEGV", *_STOPPED),
        tiers="ABC",
    ),
    "ends by a signal without a name": Attack(
        "if libc.kill(os.getpid(), 40) == -1: raise PermissionError", (*DENIED, "died signal 40"), tiers="ABC"
    ),
    "runs what is no instruction": Attack(
        "import mmap\npage = mmap.mmap(-1, 4096, prot=7)\npage.write(b'\\x0f\\x0b')\n"
        "ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()",
        ("died SIGILL",),
        tiers="ABC",
    ),
    "raises above every exception": Attack(
        "class Mine(BaseException): pass\nraise Mine", ("Mine", "died exit"), tiers="ABC"
    ),
    "breaks the shell": Attack(
        "ip = get_ipython()\nip.run_cell = None; ip.user_ns = None",
        (WENT_ON, "died exit", "AttributeError", "TypeError", "AssertionError"),
        tiers="ABC",
    ),
    "breaks the worker": Attack(
        "def patch(frame):\n"
        "    while frame: frame.f_globals.update(encode=None, decode=None); frame = frame.f_back\n"
        "(lambda: patch(sys._getframe()))()",
        (WENT_ON, "died exit"),
        tiers="ABC",
    ),
}
