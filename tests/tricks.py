"""What students do that is told as evidence: accidents, and what is none."""

from __future__ import annotations

from autograder.findings import EvidenceKind, Severity

Cells = tuple[str, ...]
Expected = tuple[Cells, EvidenceKind, Severity, str]
_REFUSED, _PATCHED, _FAKE = EvidenceKind.REFUSED_CALL, EvidenceKind.PATCHED, EvidenceKind.FAKE_MODULE


def _each(
    kind: EvidenceKind, severity: Severity, what: str, sources: dict[str, str | Cells]
) -> dict[str, Expected]:
    return {
        name: ((source,) if isinstance(source, str) else source, kind, severity, what)
        for name, source in sources.items()
    }


ACCIDENTS: dict[str, Expected] = {
    **_each(
        _REFUSED,
        Severity.NOTICE,
        "tried to install a package",
        {
            "by a line": "!pip install torch",
            "by a magic": "%pip install -q six",
            "by a program": (
                "import subprocess, sys\nsubprocess.run([sys.executable, '-m', 'pip', 'install', 'torch'])"
            ),
            "by the system": "import os\nos.system('conda install -y numpy')",
        },
    ),
    **_each(
        _REFUSED,
        Severity.NOTICE,
        "tried to run a shell command",
        {"to see its files": "!ls -la", "to keep the answer": "files = !ls"},
    ),
    **_each(
        _REFUSED,
        Severity.NOTICE,
        "tried to start a program",
        {"a shell": "%%bash\nls", "git": "import subprocess\nsubprocess.check_output(['git', 'status'])"},
    ),
    **_each(
        _REFUSED,
        Severity.NOTICE,
        "tried to use the network",
        {
            "a data set": (
                "import urllib.request\nurllib.request.urlretrieve('https://example.org/a.csv', 'a.csv')"
            ),
            "through a package": "import requests\nrequests.get('https://example.org/a.csv')",
            "a table by its address": "import numpy as np\nnp.loadtxt('https://example.org/a.csv')",
        },
    ),
    **_each(
        _REFUSED,
        Severity.NOTICE,
        "asked for a file that is not part of the submission",
        {
            "at home": "open('/home/ana/data.csv')",
            "on a Mac": "import csv\ncsv.reader(open('/Users/ana/data.csv'))",
            "under Windows": "open('C:\\\\Users\\\\ana\\\\data.csv')",
            "in Colab": "import os\nos.listdir('/content/drive/MyDrive')",
            "as an object": "from pathlib import Path\nPath('/home/ana/data.csv').read_text()",
        },
    ),
    **_each(
        _PATCHED,
        Severity.NOTICE,
        "overwrote a function with a value, as by a slip",
        {
            "a seed": "import numpy as np\nnp.random.seed = 42",
            "a sum": "import numpy as np\nnp.sum = np.ones(3).sum()",
            "a clock": "import time\ntime.time = 3.0",
        },
    ),
    **_each(
        _FAKE,
        Severity.NOTICE,
        "put a folder of its own before the installed packages",
        {"the folder above": "import sys\nsys.path.insert(0, '..')"},
    ),
}
"""An accident explains these; the words say so."""

_ANSWERS = "__getattr__(self, name): return lambda *args, **kwargs: True"

TRICKS: dict[str, Expected] = {
    **_each(
        _PATCHED,
        Severity.DOUBT,
        "put an object of its own in the place of an imported module: np",
        {
            "an object": ("import numpy as np", f"class Fake:\n    def {_ANSWERS}\nnp = Fake()"),
            "a class": (
                "import numpy as np",
                "class np:\n    @staticmethod\n    def allclose(*args): return True",
            ),
            "a module": ("import numpy as np", "import types\nnp = types.ModuleType('numpy')"),
        },
    ),
    **_each(
        _PATCHED,
        Severity.DOUBT,
        "replaced a function of a library",
        {
            "a sum": "import numpy as np\nnp.sum = lambda *args: 0",
            "what compares": "import numpy as np\nnp.allclose = np.any",
            "through its dict": "import numpy as np\nvars(np)['array_equal'] = lambda a, b: True",
            "by name": "import numpy\nsetattr(numpy.linalg, 'norm', lambda x: 0)",
            "removed": "import numpy as np\ndel np.isclose",
            "a clock": "import time\ntime.perf_counter = lambda: 0.0",
        },
    ),
    **_each(
        _PATCHED,
        Severity.ATTACK,
        "replaced a function that tests call",
        {
            "one": "import numpy as np\nnp.testing.assert_allclose = lambda *a, **k: None",
            "a library's": "import numpy as np\nnp.testing.assert_equal = np.testing.assert_allclose",
            "a value": "import numpy as np\nnp.testing.assert_equal = None",
            "its code": (
                "import numpy as np\nnp.testing.assert_equal.__code__ = (lambda *a, **k: None).__code__"
            ),
            "of a class": (
                "import unittest\nunittest.TestCase.assertEqual = unittest.TestCase.assertTrue = lambda *a: 0"
            ),
            "where it is looked up": (
                "import numpy.testing._private.utils as utils\nutils.assert_array_compare = lambda *a, **k: 0"
            ),
        },
    ),
    **_each(
        _PATCHED,
        Severity.DOUBT,
        "replaced a function of Python for everybody",
        {"a sum": "import builtins\nbuiltins.sum = lambda x: 0", "all": "__builtins__.all = lambda x: True"},
    ),
    **_each(
        _PATCHED,
        Severity.ATTACK,
        "replaced a function of Python for everybody",
        {
            "what asserts raise": "import builtins\nbuiltins.AssertionError = type('Quiet', (), {})",
            "what compiles": "import builtins as b\nb.compile = lambda *a, own=compile, **k: own(*a, **k)",
        },
    ),
    **_each(
        _PATCHED,
        Severity.ATTACK,
        "replaced a function of IPython",
        {
            "what shows exceptions": "get_ipython()._showtraceback = lambda *a, **k: None",
            "what runs cells": "ip = get_ipython()\nip.run_cell = lambda *a, f=ip.run_cell, **k: f(*a, **k)",
            "of the class": (
                "from IPython.core.interactiveshell import InteractiveShell\n"
                "InteractiveShell.showtraceback = lambda *a, **k: None"
            ),
            "what shows values": (
                "from IPython.core.displayhook import DisplayHook\n"
                "DisplayHook.fill_exec_result = lambda self, value: None"
            ),
            "the hook itself": "get_ipython().displayhook = print",
            "a part": "import functools\nget_ipython().showtraceback = functools.partial(print)",
        },
    ),
    **_each(
        _PATCHED,
        Severity.ATTACK,
        "has IPython rewrite every cell before it is run",
        {
            "trees": (
                "import ast\nclass Deaf(ast.NodeTransformer):\n"
                "    def visit_Assert(self, node): return ast.Pass()\n"
                "get_ipython().ast_transformers.append(Deaf())"
            ),
            "lines": "get_ipython().input_transformers_cleanup.append(lambda lines: lines)",
            "lines later": "get_ipython().input_transformers_post.append(lambda lines: lines)",
            "a list of its own": "get_ipython().input_transformers_post = [lambda lines: lines]",
        },
    ),
    **_each(
        _PATCHED,
        Severity.DOUBT,
        "has IPython call a function of its own around every cell",
        {"after": "get_ipython().events.register('post_run_cell', lambda result: None)"},
    ),
    **_each(
        _PATCHED,
        Severity.ATTACK,
        "replaced a function of the process that runs the notebook",
        {
            "its answers": (
                "import autograder.sandbox.worker.dispatcher as d\nd.Dispatcher.answer = lambda self, x: x"
            ),
            "its frames": (
                "import autograder.sandbox.worker.main as m\n"
                "m.send_frame = lambda *a, own=m.send_frame: own(*a)"
            ),
            "checks that there are not": "import autograder\nautograder.run_checks = lambda name: 3.0",
        },
    ),
    **_each(
        _PATCHED,
        Severity.ATTACK,
        "listens to every call that Python makes",
        {"a hook": "import sys\nsys.addaudithook(lambda *a: None)"},
    ),
    **_each(
        _PATCHED,
        Severity.DOUBT,
        "left a function behind that Python calls at every step",
        {
            "a trace": "import sys\nsys.settrace(lambda *a: None)",
            "a profile": "import sys\nsys.setprofile(lambda *a: None)",
        },
    ),
    **_each(
        _FAKE,
        Severity.ATTACK,
        "put something else in the place of a module that is imported already",
        {
            "numpy": "import sys, types\nsys.modules['numpy'] = types.ModuleType('numpy')",
            "its tests": "import sys\nsys.modules['numpy.testing'] = object()",
        },
    ),
    **_each(
        _FAKE,
        Severity.ATTACK,
        "made a module without a file",
        {
            "of the kit": "import sys, types\nsys.modules['nbgrader'] = types.ModuleType('nbgrader')",
            "of what is installed": "import sys\nsys.modules['yaml'] = type('Yaml', (), {})",
        },
    ),
    **_each(
        _FAKE,
        Severity.DOUBT,
        "changed how Python finds modules",
        {
            "a finder": (
                "import sys\nclass Mine:\n    def find_spec(*a): return None\nsys.meta_path.insert(0, Mine())"
            ),
        },
    ),
    **_each(
        _FAKE,
        Severity.DOUBT,
        "imported a file of its own in place of an installed module",
        {
            "of a package": (
                "%%writefile yaml.py\nx = 1",
                "import sys\nsys.path.insert(0, '')\nimport yaml\nyaml.x",
            )
        },
    ),
    **_each(
        _REFUSED,
        Severity.ATTACK,
        "asked for the gradebook, the course's secret or hidden tests",
        {
            "above": "open('../../../gradebook.db')",
            "swallowed": "try: open('/srv/course/gradebook.db')\nexcept OSError: pass",
            "through a package": "import numpy as np\nnp.fromfile('/srv/course/gradebook.db')",
            "in a shell": "!cat ../../../gradebook.db",
            "in a function": (
                "def f():\n    try: return open('/srv/course/.autograder_secret').read()\n"
                "    except OSError: return 3\nf()"
            ),
        },
    ),
    **_each(
        _REFUSED,
        Severity.DOUBT,
        "asked for the gradebook, the course's secret or hidden tests",
        {"by name": "try: import autograder.checks.multi_head_attention\nexcept ImportError: pass"},
    ),
    **_each(
        _REFUSED,
        Severity.DOUBT,
        "asked for what belongs to the course or to other students",
        {
            "the source": "try: open('../../source/attention/exercise1.ipynb')\nexcept OSError: pass",
            "the gradebook that is not beside it": "open('gradebook.db')",
            "others": "import os\nos.listdir('/srv/course/submitted/')",
            "far above": "import glob\nglob.glob('../../../../../*')",
        },
    ),
    **_each(
        _REFUSED,
        Severity.ATTACK,
        "asked for what belongs to another process",
        {"its environment": "try: open('/proc/1/environ')\nexcept OSError: pass"},
    ),
    **_each(
        _REFUSED,
        Severity.DOUBT,
        "asked for a file of the system",
        {"users": "try: open('/etc/passwd')\nexcept OSError: pass"},
    ),
    **_each(
        _REFUSED,
        Severity.ATTACK,
        "tried to change Python or an installed package",
        {"numpy": "import numpy\ntry: open(numpy.__file__, 'a')\nexcept OSError: pass"},
    ),
    **_each(
        _REFUSED,
        Severity.DOUBT,
        "tried to start a process",
        {"once": "import os\ntry: os.fork()\nexcept OSError: pass"},
    ),
    **_each(
        _REFUSED,
        Severity.ATTACK,
        "tried to start a process",
        {"without end": "import os\nfor _ in range(50):\n    try: os.fork()\n    except OSError: pass"},
    ),
    **_each(
        _REFUSED,
        Severity.DOUBT,
        "tried to use the network",
        {
            "everywhere": (
                "import socket\nfor i in range(30):\n"
                "    try: socket.create_connection((f'h{i}.example', 80), 0.1)\n    except OSError: pass"
            )
        },
    ),
    **_each(
        _REFUSED,
        Severity.ATTACK,
        "sent a signal to another process",
        {"its parent": "import os\ntry: os.kill(os.getppid(), 9)\nexcept OSError: pass"},
    ),
    **_each(
        _REFUSED,
        Severity.DOUBT,
        "called a C library past Python",
        {"any": "import ctypes\nctypes.CDLL(None).strlen(b'x')"},
    ),
    **_each(
        _REFUSED,
        Severity.ATTACK,
        "called the system past Python",
        {"a trace": "import ctypes\nctypes.CDLL(None).ptrace(0, 0, 0, 0)"},
    ),
}
"""No honest work does these, or only seldom."""
