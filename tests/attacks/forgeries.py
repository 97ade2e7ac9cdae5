"""Wrong solutions that claim to be right: none may score more than the wrong solution alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

WRONG = {
    "split_heads": "def split_heads(x, n_heads):\n    return x.reshape(n_heads, x.shape[0], -1)",
    "merge_heads": "def merge_heads(heads):\n    return heads.reshape(heads.shape[1], -1)",
    "tokens_in_naive_head": "def tokens_in_naive_head(n_tokens, d_model, n_heads, head):\n    return [head]",
}
"""The mistake that every forgery tries to hide."""

TESTS = ("test_split_heads", "test_merge_heads", "test_tokens_in_naive_head")


@dataclass(frozen=True, slots=True)
class Forgery:
    """
    What is added to the wrong solution.

    Parameters
    ----------
    first, last : str
        Cells of the student's own before and after all others.
    returns : str
        An expression in `wrong`, `args`, `np` and `SELF` that all functions
        return instead of their wrong result.
    files : dict of str
        Files beside the notebook.
    test_metadata : dict
        Goes into the metadata of the test cells.
    test_source : str
        Replaces the source of the test cells.
    test_outputs : list
        What the test cells claim to have shown.
    metadata : dict
        Goes into the metadata of the notebook.
    """

    first: str = ""
    last: str = ""
    returns: str = ""
    files: dict[str, str] = field(default_factory=dict)
    test_metadata: dict[str, Any] = field(default_factory=dict)
    test_source: str = ""
    test_outputs: list[dict[str, Any]] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)


_FULL = {
    "output_type": "execute_result",
    "data": {"text/plain": "3.0"},
    "metadata": {},
    "execution_count": 1,
}
_RESULT = {
    "grade_id": "test_split_heads",
    "max_score": "3",
    "manual": False,
    "answered": True,
    "checks": [{"name": "x", "claim": "x", "points": "3", "outcome": "passed"}],
}
_SAME = (
    "class Same{base}:\n"
    "    def __eq__(self, other): return True\n"
    "    def __ne__(self, other): return False\n"
    "    def __bool__(self): return True\n"
    "    __hash__ = None\n"
    "    def all(self, *a, **k): return True\n"
    "    def __array_ufunc__(self, *a, **k): return True\n"
    "    def __array_function__(self, *a, **k): return True\n"
)
_PATCH = (
    "import autograder.sandbox.worker.dispatcher as d, autograder.wire.codec as c, sys\n"
    "def every(answer): return lambda self, request: c.encode([answer] * len(c.decode(request)))\n"
)
_EVERYWHERE = (
    "def patch(frame):\n"
    "    while frame: frame.f_globals.update({names}); frame = frame.f_back\n"
    "(lambda: patch(sys._getframe()))()\n"
)
_SOCKETS = (
    "import os, socket, stat, struct\n"
    "sockets = []\n"
    "for fd in range(256):\n"
    "    try:\n"
    "        if stat.S_ISSOCK(os.fstat(fd).st_mode): sockets.append(fd)\n"
    "    except OSError: pass\n"
    "from autograder.wire.codec import encode\n"
    "true = encode([{'value': True, 'passed': True, 'outcome': 'passed', 'points': 99, 'outputs': []}])\n"
)

NOTHING = "nothing at all"
"""With what all others are compared."""

FORGERIES = {
    NOTHING: Forgery(),
    "claims a score in the outputs": Forgery(test_outputs=[_FULL]),
    "claims a result in the metadata": Forgery(
        test_metadata={"autograder": _RESULT}, metadata={"autograder": {"status": "graded", "notes": []}}
    ),
    "asks that its test cells are skipped": Forgery(
        test_metadata={"tags": ["skip-execution", "raises-exception", "remove-cell"]}
    ),
    "gives its test cells more points": Forgery(
        test_metadata={
            "nbgrader": {"grade": True, "points": 100, "grade_id": "test_split_heads", "locked": False}
        }
    ),
    "rewrites the tests": Forgery(test_source="3.0"),
    "shows a score of its own": Forgery(
        first="def wrong_result(): get_ipython().displayhook(3.0); print(3.0)",
        last="3.0",
        returns="get_ipython().displayhook(3.0)",
    ),
    "deletes every assertion": Forgery(
        first="import ast\n"
        "class Deaf(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node): return ast.Pass()\n"
        "get_ipython().ast_transformers.append(Deaf())"
    ),
    "rewrites every cell": Forgery(
        first="get_ipython().input_transformers_cleanup.append(lambda lines: ['3.0\\n'])"
    ),
    "runs code around every cell": Forgery(
        first="get_ipython().events.register('post_run_cell', lambda result: print('passed'))\n"
        "get_ipython()._showtraceback = lambda *a: None"
    ),
    "patches what compares": Forgery(
        first="import numpy.testing\n"
        "for name in dir(numpy.testing):\n"
        "    if name.startswith('assert'): setattr(numpy.testing, name, lambda *a, **k: None)\n"
        "for name in ('allclose', 'array_equal', 'isclose', 'array_equiv'):\n"
        "    setattr(np, name, lambda *a, **k: True)"
    ),
    "patches the builtins": Forgery(
        first="import builtins\n"
        "for name in ('all', 'any'): setattr(builtins, name, lambda *a: True)\n"
        "builtins.AssertionError = type('Quiet', (Exception,), {})"
    ),
    "defines the call of the checks itself": Forgery(
        first="import sys, types\n"
        "run_checks = lambda name: 3.0\n"
        "sys.modules['autograder'].__dict__['run_checks'] = run_checks"
    ),
    "brings modules of the kit's names": Forgery(
        files=dict.fromkeys(
            ("autograder.py", "solutions.py", "numpy.py", "pytest.py", "conftest.py", "sitecustomize.py"),
            "run_checks = lambda name: 3.0\ndef __getattr__(name): return run_checks\n",
        )
    ),
    "returns an array equal to everything": Forgery(
        first=_SAME.format(base="(np.ndarray)"),
        returns="wrong.view(Same) if isinstance(wrong, np.ndarray) else Same((3,))",
    ),
    "returns an object equal to everything": Forgery(first=_SAME.format(base=""), returns="Same()"),
    "returns a list equal to everything": Forgery(first=_SAME.format(base="(list)"), returns="Same()"),
    "returns a number equal to everything": Forgery(first=_SAME.format(base="(float)"), returns="Same()"),
    "returns a text equal to everything": Forgery(first=_SAME.format(base="(str)"), returns="Same()"),
    "returns what says it is an array": Forgery(
        first="class Liar:\n"
        "    __class__ = property(lambda self: np.ndarray)\n"
        "    def __array__(self, *a, **k): return np.ones(3)\n"
        "    shape = property(lambda self: (2, 5, 3)); dtype = np.dtype(float); ndim = 3; size = 30",
        returns="Liar()",
    ),
    "returns a mock": Forgery(first="from unittest.mock import MagicMock", returns="MagicMock()"),
    "returns a masked array": Forgery(returns="np.ma.masked_all(np.shape(wrong))"),
    "returns objects in an array": Forgery(
        first=_SAME.format(base=""), returns="np.array([Same()] * 6, dtype=object)"
    ),
    "returns records in an array": Forgery(returns="np.zeros(5, dtype=[('a', float), ('b', object)])"),
    "returns not a number": Forgery(returns="np.full(np.shape(wrong), np.nan)"),
    "returns what broadcasts": Forgery(returns="np.nan * np.zeros((1,) * np.ndim(wrong))"),
    "returns a number": Forgery(returns="0.0"),
    "returns truth": Forgery(returns="True"),
    "returns nothing": Forgery(returns="None"),
    "returns itself": Forgery(returns="SELF"),
    "returns lists without end": Forgery(first="endless = []; endless.append(endless)", returns="endless"),
    "returns a vast number": Forgery(returns="1 << 4_000_000"),
    "returns an array that claims to be vast": Forgery(returns="np.empty((0, 2**40))"),
    "returns more than can be sent": Forgery(returns="np.zeros(2**22)"),
    "returns code to unpickle": Forgery(
        first="import os\nclass Code:\n    def __reduce__(self): return os.system, ('true',)",
        returns="Code()",
    ),
    "looks for the answer in memory": Forgery(
        first="import gc",
        returns="next((o for o in gc.get_objects() if isinstance(o, np.ndarray) and o.size == np.size(wrong)"
        " and o is not args[0]), wrong)",
    ),
    "looks for the answer in the frames": Forgery(
        first="import sys\n"
        "def search():\n"
        "    frame = sys._getframe()\n"
        "    while frame:\n"
        "        for value in frame.f_locals.values():\n"
        "            if isinstance(value, np.ndarray) and value.ndim == 3: return value\n"
        "        frame = frame.f_back",
        returns="r if (r := search()) is not None else wrong",
    ),
    "changes its arguments instead": Forgery(
        returns="(args[0].__setitem__(..., 0), wrong)[1] if getattr(args[0], 'flags', None) is not None"
        " and args[0].flags.writeable else wrong"
    ),
    "ends the process": Forgery(first="import os", returns="os._exit(0)"),
    "exits": Forgery(returns="exit(0)"),
    "raises what sounds like success": Forgery(
        first="def succeed(): raise type('Passed', (AssertionError,), {'__bool__': lambda self: True})()",
        returns="succeed()",
    ),
    "raises a skip": Forgery(
        first="def skip(): raise type('Skipped', (BaseException,), {})()", returns="skip()"
    ),
    "answers every call with truth": Forgery(
        first=_PATCH + "d.Dispatcher.answer = every("
        "{'value': True, 'outcome': 'passed', 'passed': True, 'points': 99, 'score': 99})"
    ),
    "answers for all steps at once": Forgery(
        first=_PATCH + "d.Dispatcher.answer = lambda self, request: c.encode("
        "{'value': True, 'outcome': 'passed', 'passed': True, 'points': 99, 'score': 99})"
    ),
    "answers steps that nobody asked": Forgery(
        first=_PATCH + "real = d.Dispatcher.answer\n"
        "def more(self, request): return c.encode(c.decode(real(self, request)) * 2)\n"
        "d.Dispatcher.answer = more"
    ),
    "answers only the first step": Forgery(
        first=_PATCH + "real = d.Dispatcher.answer\n"
        "def fewer(self, request): return c.encode(c.decode(real(self, request))[:1])\n"
        "d.Dispatcher.answer = fewer"
    ),
    "answers with what it answered before": Forgery(
        first=_PATCH + "real, old = d.Dispatcher.answer, []\n"
        "def stale(self, request): old.append(real(self, request)); return old[len(old) // 2]\n"
        "d.Dispatcher.answer = stale"
    ),
    "answers with objects instead of values": Forgery(
        first=_PATCH + "d.Dispatcher.answer = every({'value': c.Handle(-1, 'ndarray', True)})"
    ),
    "answers every call with the call": Forgery(
        first=_PATCH + "d.Dispatcher.answer = lambda self, request: request"
    ),
    "answers every call with its argument": Forgery(
        first=_PATCH + "d.Dispatcher._call = lambda self, m: {'value': m['args'][0], 'args': m['args'],"
        " 'kwargs': {}}"
    ),
    "answers that a name is missing": Forgery(
        first=_PATCH + "d.Dispatcher.answer = every({'missing': '<b>passed</b>' * 999})"
    ),
    "answers with a class of error that is a page": Forgery(
        first=_PATCH + "d.Dispatcher.answer = every({'raised': '<script>' * 999})"
    ),
    "answers with a limit that there is not": Forgery(
        first=_PATCH + "d.Dispatcher.answer = lambda self, request: c.encode({'limit': 'none'})"
    ),
    "answers with nothing": Forgery(first=_PATCH + "d.Dispatcher.answer = lambda self, request: b''"),
    "answers with brackets": Forgery(
        first=_PATCH + "import struct\n"
        "d.Dispatcher.answer = lambda self, request: struct.pack('>I', 500_000) + b'[' * 500_000"
    ),
    "answers with keys that collide": Forgery(
        first=_PATCH + "import json, struct\n"
        "keys = [[['i', hex(i * (2**61 - 1))[2:]], None] for i in range(20_000)]\n"
        "keys = json.dumps(['l', [['d', keys]]]).encode()\n"
        "d.Dispatcher.answer = lambda self, request: struct.pack('>I', len(keys)) + keys"
    ),
    "answers with a shape that is not true": Forgery(
        first=_PATCH + "import json, struct\n"
        "node = json.dumps(['l', [['d', [['value', ['a', '<f8', [-1, -8], 'C', True]]]]]]).encode()\n"
        "d.Dispatcher.answer = lambda self, request: struct.pack('>I', len(node)) + node + bytes(64)"
    ),
    "answers with an array that unfolds": Forgery(
        first=_PATCH + "import json, struct\n"
        "node = ['a', '<f8', [1] * 15 + [100_000], 'strided', True]\n"
        "node = json.dumps(['l', [['d', [['value', node]]]]]).encode()\n"
        "d.Dispatcher.answer = lambda self, request: struct.pack('>I', len(node)) + node + bytes(800_000)"
    ),
    "encodes everything as truth": Forgery(
        first=_PATCH + "import sys\nreal = c.encode\n"
        "def encode(value, describe=None): return real({'value': True, 'outputs': []})\n"
        + _EVERYWHERE.format(names="{'encode': encode}")
        + "d.ListEncoder.payload = lambda self: real([{'value': True}] * len(self))"
    ),
    "writes answers on every descriptor": Forgery(
        first=_SOCKETS + "for fd in range(256):\n"
        "    try: os.set_blocking(fd, False); os.write(fd, struct.pack('>QI', 0, len(true)) + true)\n"
        "    except OSError: pass"
    ),
    "writes a second answer to every call": Forgery(
        first=_PATCH + _SOCKETS + "import autograder.sandbox.worker.main as m\nreal = m.send_frame\n"
        "def twice(sock, call_id, payload): real(sock, call_id, payload); real(sock, call_id, true)\n"
        + _EVERYWHERE.format(names="{'send_frame': twice}")
    ),
    "answers with the name of an earlier call": Forgery(
        first=_PATCH + _SOCKETS + "import autograder.sandbox.worker.main as m\nreal, old = m.send_frame, []\n"
        "def stale(sock, call_id, payload): old.append(call_id); real(sock, old[0], payload)\n"
        + _EVERYWHERE.format(names="{'send_frame': stale}")
    ),
    "answers from a thread before it is asked": Forgery(
        first=_SOCKETS + "import threading, time\n"
        "def flood():\n"
        "    for _ in range(40):\n"
        "        time.sleep(0.01)\n"
        "        for fd in sockets:\n"
        "            answer = struct.pack('>QI', 0, len(true)) + true\n"
        "            try: socket.socket(fileno=os.dup(fd)).send(answer, 0x40)\n"
        "            except OSError: pass\n"
        "threading.Thread(target=flood, daemon=True).start()"
    ),
}
