"""What honest students do that might look like tampering."""

from __future__ import annotations

Cells = tuple[str, ...]

HABITS: dict[str, Cells] = {
    "seeds and prints of numpy": (
        (
            "import numpy as np\nnp.random.seed(42)\nnp.set_printoptions(precision=3, suppress=True)\n"
            "np.seterr(divide='ignore'); rng = np.random.default_rng(3)"
        ),
        "import numpy as np\nimport numpy",
    ),
    "warnings and logging": (
        (
            "import warnings, logging\nwarnings.filterwarnings('ignore')\n"
            "logging.basicConfig(level=logging.INFO); logging.info('x')"
        ),
    ),
    "names of builtins for its own values": (
        "sum = 0; list = [1]; max = 3; type = 'x'; input = None\ndef all(x): return x\ndel sum",
    ),
    "a name of numpy's for its own": ("np = 3\nimport numpy as np\nfrom numpy import *\nsum, abs, round",),
    "attributes called like functions": (
        (
            "class Layer:\n    sum = 3\n"
            "    def __init__(self): self.dot = self.exp = self.seed = 2; self.random = self.time = 1\n"
            "layer = Layer(); layer.mean = 3"
        ),
    ),
    "plots": (
        (
            "%matplotlib inline\n%config InlineBackend.figure_format = 'retina'\n"
            "import matplotlib, matplotlib.pyplot as plt\nplt.rcParams['figure.figsize'] = (2, 1)\n"
            "plt.style.use('ggplot'); plt.plot([1, 2]); plt.savefig('x.png'); plt.show()"
        ),
    ),
    "plots in three dimensions": (
        (
            "import matplotlib.pyplot as plt\nfigure = plt.figure(figsize=(1, 1))\n"
            "figure.add_subplot(projection='3d'); plt.title(r'$\\alpha$'); plt.show()\n"
            "from matplotlib.animation import FuncAnimation"
        ),
    ),
    "modules loaded anew": (
        "%load_ext autoreload\n%autoreload 2",
        (
            "import importlib, math, random, numpy as np\n"
            "for one in (np, math, random, np.linalg): importlib.reload(one)"
        ),
    ),
    "a helper beside the notebook": (
        "%%writefile helper.py\ndef f(): return 1",
        "import helper\nfrom importlib import reload\nreload(helper)\nhelper.f = lambda: 2\nhelper.f()",
    ),
    "folders appended to the path": ("import sys\nsys.path.append('..'); sys.path.append('.')\nimport json",),
    "modules dropped and imported again": (
        "import sys\nsys.modules.pop('random'); import random\ndel sys.modules['json']; import json",
    ),
    "files in its folder": (
        (
            "import os\nos.makedirs('out', exist_ok=True); os.chdir('out'); os.getcwd(); os.listdir('..')\n"
            "open('x.txt', 'w').write('1'); os.rename('x.txt', 'y.txt'); os.remove('y.txt')"
        ),
    ),
    "paths as objects": (
        (
            "from pathlib import Path\np = Path('a/b'); p.mkdir(parents=True); (p / 'x').write_text('x')\n"
            "Path.home(); Path.cwd(); list(Path('.').rglob('*')); (p / '../b/x').read_text()"
        ),
    ),
    "arrays in files": (
        (
            "import numpy as np\nx = np.ones(3)\nnp.save('x.npy', x); np.load('x.npy'); np.savez('x', a=x)\n"
            "np.savetxt('x.txt', x); np.loadtxt('x.txt'); np.memmap('m', dtype=float, mode='w+', shape=3)"
        ),
    ),
    "temporary files and databases": (
        (
            "import tempfile, shutil, sqlite3, pickle, zipfile\n"
            "with tempfile.NamedTemporaryFile('w') as file: file.write('x')\n"
            "shutil.rmtree(tempfile.mkdtemp()); sqlite3.connect(':memory:')\n"
            "sqlite3.connect('my.db').execute('create table x (y)')\npickle.dump(3, open('x.pkl', 'wb'))"
        ),
    ),
    "a file that is not there": ("open('data.csv')", "open('../data/data.csv')", "import pandas as pd"),
    "a file of its own that is called like ours": (
        "open('gradebook.db', 'w').write('x')\nopen('gradebook.db').read()",
        "import sqlite3\nsqlite3.connect('gradebook.db')",
    ),
    "processes that there may not be": (
        "import multiprocessing\ntry: multiprocessing.Pool(2)\nexcept OSError: pass",
    ),
    "a question to the user": ("name = input('name? ')",),
    "old names of numpy's": ("import numpy as np\nnp.float = float; np.int = int; np.bool = bool",),
    "mocks that are taken back": (
        (
            "from unittest.mock import patch\nimport numpy as np\n"
            "with patch('numpy.sum', lambda x: 3), patch('builtins.print'): np.sum([1])"
        ),
    ),
    "tests of its own": (
        (
            "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(1, 1)\n"
            "unittest.main(argv=[''], exit=False)\nimport numpy.testing as npt; npt.assert_allclose(1, 1)"
        ),
        "import doctest\ndef f(x):\n    '''\n    >>> f(1)\n    1\n    '''\n    return x\ndoctest.testmod()",
    ),
    "measuring": (
        (
            "import cProfile, timeit, time\np = cProfile.Profile(); p.enable(); p.disable()\n"
            "timeit.timeit('1'); time.perf_counter(); time.sleep(0)"
        ),
        "%timeit -n1 -r1 1",
        "%%time\n1",
        "%prun -q sum([1])",
    ),
    "looking for a mistake": ("breakpoint()", "1 / 0", "%debug", "%tb", "%xmode Plain", "1 / 0"),
    "threads": (
        (
            "import threading\nfrom concurrent.futures import ThreadPoolExecutor\n"
            "with ThreadPoolExecutor(2) as pool: list(pool.map(abs, [1, 2]))"
        ),
    ),
    "waiting": (
        "import asyncio\nasync def f(): await asyncio.sleep(0)\nawait f()",
        "import asyncio\nasyncio.run(asyncio.sleep(0))",
    ),
    "an alarm of its own": (
        (
            "import signal\ndef late(*args): raise TimeoutError\n"
            "signal.signal(signal.SIGALRM, late); signal.alarm(1); signal.alarm(0)"
        ),
    ),
    "what machine this is": (
        (
            "import platform, getpass, socket, uuid, time, datetime, zoneinfo, multiprocessing\n"
            "platform.platform(); platform.processor(); socket.gethostname(); uuid.uuid4(); time.tzname\n"
            "datetime.datetime.now(zoneinfo.ZoneInfo('Europe/Berlin')); multiprocessing.cpu_count()"
        ),
    ),
    "magics": (
        "%who",
        "%env",
        "%pwd",
        "%cd .",
        "x = 1\nx?",
        "%history -n",
        "%precision 3",
        "%run no.py",
    ),
    "rich output": (
        (
            "from IPython.display import display, HTML, Markdown, clear_output\ndisplay(HTML('<b>x</b>'))\n"
            "clear_output()\nfrom IPython.core.interactiveshell import InteractiveShell\n"
            "InteractiveShell.ast_node_interactivity = 'all'"
        ),
        "1\n2",
        "%%html\n<b>x</b>",
        "%%latex\nx",
    ),
    "looking into objects": (
        (
            "import gc, inspect, sys, numpy as np\ngc.collect(); inspect.getsource(np.sum); id(3)\n"
            "np.ones(3).ctypes.data; sys.getsizeof(3); help(len); vars(); dir(); np.show_config()"
        ),
    ),
    "functions that change functions": (
        (
            "from functools import lru_cache, partial, wraps\n@lru_cache\ndef f(x): return x\n"
            "def g(): pass\ng.__code__ = (lambda: 3).__code__; g.__defaults__ = (); g.calls = 0"
        ),
    ),
    "leaving": ("exit()", "import sys; sys.exit(0)", "quit", "raise KeyboardInterrupt"),
    "endless recursion": ("def f(): return f()\nf()",),
    "streams turned around": (
        (
            "import io, sys\nfrom contextlib import redirect_stdout\n"
            "with redirect_stdout(io.StringIO()): print('x')\nsys.stdout = io.StringIO()"
        ),
        "print(1)",
    ),
    "packages that build modules": ("import six, yaml, dateutil.parser, PIL.Image, six.moves.urllib.parse",),
    "arrays and records of its own": (
        (
            "import numpy as np\nclass Mine(np.ndarray): pass\nnp.ones(3).view(Mine)\n"
            "from dataclasses import dataclass\n@dataclass\nclass P: x: int\nP(1)"
        ),
    ),
}
"""Nothing is to be told of these."""
