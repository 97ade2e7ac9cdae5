"""A worker behaves as a notebook does in a kernel, and keeps its place."""

from __future__ import annotations

import base64
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from autograder.sandbox.limits import LimitReached, Limits, WorkerDied

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.sandbox.process import Worker

    Run = Callable[[str], list[dict[str, Any]]]
    Start = Callable[..., Worker]

pytestmark = pytest.mark.sandbox


def texts(outputs: list[dict[str, Any]]) -> list[str]:
    """Return each output's text, or the class of its error."""
    return [
        output.get("text") or output.get("ename") or output["data"].get("text/plain", "")
        for output in outputs
    ]


# -------------------------------------------------------------- behaviour


def test_the_last_expression_is_shown(run: Run) -> None:
    """As in a kernel, with the streams before it and apart."""
    outputs = run("import sys\nprint('a'); print('b', file=sys.stderr); print('c')\n6 * 7")

    assert [output["output_type"] for output in outputs] == ["stream"] * 3 + ["execute_result"]
    assert [output.get("name") for output in outputs] == ["stdout", "stderr", "stdout", None]
    assert texts(outputs) == ["a\n", "b\n", "c\n", "42"]


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("5;", []),
        ("None", []),
        ("x = 1", []),
        ("import asyncio\nawait asyncio.sleep(0.01)\n'slept'", ["'slept'"]),
        ("%%time\n3", None),
        ("%timeit -n1 -r1 1", None),
        ("%%capture\nprint('hidden')", []),
        ("print('one')\nfrom IPython.display import clear_output\nclear_output()\nprint('two')", ["two\n"]),
        ("print('one')\nclear_output(wait=True)\nprint('two')", ["one\n", "NameError"]),
        ("__name__", ["'__main__'"]),
        ("1 / 0", ["ZeroDivisionError"]),
        ("def f(:", ["SyntaxError"]),
        ("assert False", ["AssertionError"]),
        ("input('name? ')", ["StdinNotImplementedError"]),
        ("!ls", ["PermissionError"]),
        ("%pip install six", ["PermissionError"]),
        ("files = !ls", ["PermissionError"]),
        ("raise KeyboardInterrupt", ["KeyboardInterrupt"]),
        ("import no_such_module", ["ModuleNotFoundError"]),
        ("quit", None),
        ("breakpoint()", None),
        ("\n\nx = 5\nx", ["5"]),
        ("  x = 5\n  x", ["5"]),
        ("In [1]: x = 5\nIn [2]: x", ["5"]),
        (">>> x = 5\n>>> x", ["5"]),
        ("%%time\nx = 5\nx", None),
        ("x = 5\n%who_ls", ["['x']"]),
        ("x = 5\ny = %who_ls\ny", ["['x']"]),
        ("x = 5\nfiles = !ls", ["PermissionError"]),
        ("x = [\n    5 % 3, 5 != 3\n]\nx", ["[2, True]"]),
        ("x = 5\nif x:\n    !ls", ["PermissionError"]),
        ("x = 5\nif x:\n    %who_ls", []),
        ("import asyncio\nasync def f(): return 5\n\nawait f()", ["5"]),
        ("awaited = 5\nawaited", ["5"]),
        ("x = 5\nprint(x))", ["SyntaxError"]),
        ("x = 5\nx?", None),
        ("def f():\n    ...\n\nf() is None", ["True"]),
        ("a = 1  # comment\na; 'shown'", ["'shown'"]),
        ("'quiet';\n'also quiet';", []),
        ("import warnings\nwarnings.simplefilter('error')\n'\\d'; 1 is 1", None),
        ("import threading\nt = threading.Thread(target=print, args=('t',)); t.start(); t.join()", ["t\n"]),
    ],
)
def test_a_cell_shows_what_it_would_in_a_kernel(run: Run, source: str, shown: list[str] | None) -> None:
    """Magics, await, display and errors; None means only that later cells go on."""
    outputs = run(source)

    assert shown is None or texts(outputs) == shown
    assert texts(run("'still here'")) == ["'still here'"]


def test_a_notebook_can_transform_its_own_cells(run: Run) -> None:
    """Whoever adds a step to IPython's gets it, in cells that are Python already as well."""
    run("get_ipython().input_transformers_post.append(lambda lines: [s.replace('one', '1') for s in lines])")

    assert texts(run("x = 5\n'one'")) == ["'1'"]


def test_exit_does_not_end_the_notebook(run: Run) -> None:
    """Students leave exit() in a cell; the cells below still count."""
    for source in ("exit()", "quit()", "import sys; sys.exit(3)", "raise SystemExit"):
        run(source)

    assert texts(run("1 + 1")) == ["2"]


@pytest.mark.parametrize(
    "source",
    [
        "import matplotlib.pyplot as plt\nplt.plot([1, 2]);",
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()",
        "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\ndisplay(figure); plt.close()",
    ],
)
def test_a_plot_is_shown_as_png(run: Run, source: str) -> None:
    """A figure appears whether it is shown, displayed or just left open."""
    pictures = [
        output["data"]["image/png"] for output in run(source) if "image/png" in output.get("data", {})
    ]

    assert len(pictures) == 1
    assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")


def test_a_warning_is_shown_and_harmless(run: Run) -> None:
    """A warning goes to stderr, as in a kernel."""
    outputs = run("import warnings; warnings.warn('careful'); 1")

    assert [output.get("name") for output in outputs] == ["stderr", None]
    assert "careful" in outputs[0]["text"]


@pytest.mark.parametrize(
    "line", ["return x['missing']", "return input(x)", "return get_ipython().system('ls')"]
)
def test_a_traceback_shows_the_students_line_and_none_of_ours(run: Run, line: str) -> None:
    """People read it; the worker's own frames would only confuse them."""
    run(f"def f(x):\n    {line}")
    (error,) = run("f({})")
    text = "\n".join(error["traceback"])

    assert line in text
    assert "autograder" not in text


def test_an_interrupted_cell_shows_where_it_was(run: Run) -> None:
    """The line that did not end, not our clock."""
    (error,) = run("x = 0\nwhile True:\n    x += 1")
    text = "\n".join(error["traceback"])

    assert "while True" in text
    assert "autograder" not in text


# ---------------------------------------------------------------- limits


def test_a_loop_is_interrupted_and_the_notebook_goes_on(run: Run) -> None:
    """What was defined before stays defined."""
    run("x = 5")
    assert texts(run("while True: pass"))[-1] == "WallTimeExceeded"

    assert texts(run("x")) == ["5"]


def test_a_loop_that_cannot_be_interrupted_is_killed(worker: Worker) -> None:
    """Arithmetic in C sees no signal."""
    began = time.monotonic()
    with pytest.raises(LimitReached, match="wall_time_s"):
        worker.run_cell("sum(range(10**12))")

    assert time.monotonic() - began < 20


def test_ignored_signals_do_not_help(worker: Worker) -> None:
    """The kill comes from outside."""
    with pytest.raises(LimitReached, match="wall_time_s"):
        worker.run_cell("import signal\nsignal.setitimer(signal.ITIMER_REAL, 0)\nwhile True: pass")


def test_processor_time_is_limited(start: Start) -> None:
    """Threads that spin are counted together."""
    worker = start(Limits(wall_time_s=30, cpu_time_s=2))
    with pytest.raises(LimitReached, match="cpu_time_s"):
        worker.run_cell("import signal\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass")


def test_memory_is_limited(run: Run) -> None:
    """Too large an array is the student's MemoryError, not the machine's end."""
    run("import numpy as np")
    assert texts(run("np.ones(2**30)")) == ["MemoryError"]

    assert texts(run("np.ones(2).sum()")) == ["np.float64(2.0)"]


def test_a_large_file_is_refused(run: Run) -> None:
    """A file larger than file_mib cannot be written."""
    outputs = run("with open('big', 'wb') as file: file.write(bytes(100 * 2**20))")

    assert texts(outputs) == ["OSError"]


def test_a_flood_of_output_is_cut_and_told(start: Start) -> None:
    """What is kept is bounded, and the cut is visible."""
    worker = start(Limits(output_kib=10))
    outputs = worker.run_cell("for _ in range(100_000): print('flood')").outputs
    worker.close()
    text = "".join(output["text"] for output in outputs)

    assert len(text) < 11 * 1024
    assert "output cut" in text


@pytest.mark.parametrize(
    ("source", "cause"),
    [
        ("import os; os._exit(0)", "exit"),
        ("import os; os.abort()", "SIG|exit"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
    ],
)
def test_a_death_is_told(worker: Worker, source: str, cause: str) -> None:
    """A process that ends itself has answered nothing."""
    with pytest.raises(WorkerDied, match=cause):
        worker.run_cell(source)


# ----------------------------------------------------------------- place


def test_the_environment_is_empty(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the grader's environment is there, secrets above all."""
    monkeypatch.setenv("AUTOGRADER_SECRET", "s3cret")

    assert texts(run("import os; 'AUTOGRADER_SECRET' in os.environ")) == ["False"]


def test_the_secret_is_not_inherited(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same for a worker that starts after it was set."""
    monkeypatch.setenv("AUTOGRADER_SECRET", "s3cret")
    worker = start()
    outputs = worker.run_cell("import os; sorted(os.environ)").outputs
    worker.close()

    assert "AUTOGRADER_SECRET" not in texts(outputs)[0]


@pytest.mark.parametrize("module", ["autograder.checks", "autograder.grader", "solutions", "pytest_of_ours"])
def test_the_rest_of_the_kit_cannot_be_imported(run: Run, module: str) -> None:
    """Hidden checks and the reference are not on the worker's path."""
    assert texts(run(f"import {module}")) == ["ModuleNotFoundError"]


def test_the_worker_knows_little_of_the_kit(run: Run) -> None:
    """Its modules are the wire and itself."""
    (names,) = texts(
        run("import sys; sorted(m for m in sys.modules if m.startswith(('autograder', 'solutions')))")
    )

    assert "autograder.sandbox.worker.main" in names
    for word in ("checks", "course", "gradebook", "solutions", "results", "nbgrader"):
        assert word not in names


def test_files_beside_the_notebook_are_there(start: Start, tmp_path: Path) -> None:
    """Data and modules beside the notebook work; links and other notebooks stay out."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "numbers.txt").write_text("1 2 3")
    (tmp_path / "helper.py").write_text("answer = 42")
    (tmp_path / "numpy.py").write_text("raise RuntimeError('a fake numpy')")
    (tmp_path / "other.ipynb").write_text("{}")
    (tmp_path / "link").symlink_to("/etc/passwd")
    worker = start(Limits(), files=[tmp_path])
    outputs = [
        texts(worker.run_cell(source).outputs)
        for source in (
            "open('data/numbers.txt').read()",
            "import helper; helper.answer",
            "import numpy; numpy.arange(2).tolist()",
            "import os; sorted(os.listdir())",
        )
    ]
    worker.close()

    assert outputs == [["'1 2 3'"], ["42"], ["[0, 1]"], ["['data', 'helper.py', 'numpy.py']"]]


def test_nothing_is_left_behind(start: Start) -> None:
    """The next student finds neither files nor modules nor names of the one before."""
    worker = start()
    worker.run_cell("x = 5\nimport sys, numpy as np\nsys.leftover = 1\nnp.leftover = 1")
    worker.run_cell(
        "import os\nopen('left', 'w').close(); os.mkdir('d'); open('d/f', 'w').close(); os.chdir('d')"
    )
    outputs = worker.run_cell("import os; os.path.abspath('..')").outputs
    folder = texts(outputs)[0].strip("'")
    worker = start()
    cells = (
        "'x' in globals()",
        "import sys, numpy as np; hasattr(sys, 'leftover') or hasattr(np, 'leftover')",
        f"import os; os.path.exists({folder!r})",
        "os.listdir()",
    )
    found = [texts(worker.run_cell(source).outputs) for source in cells]

    assert found == [["False"], ["False"], ["False"], ["[]"]]


def test_closing_twice_is_closing_once(start: Start) -> None:
    """A session may close what a limit closed already."""
    worker = start()
    worker.close()
    worker.close()


def test_global_random_numbers_repeat(start: Start) -> None:
    """A notebook that forgot its seed gives the same figures at every grading."""
    drawn = []
    for _ in range(2):
        worker = start(Limits(), seed=4)
        outputs = worker.run_cell("import random, numpy as np\n(random.random(), np.random.rand())").outputs
        drawn.append(texts(outputs))
        worker.close()

    assert drawn[0] == drawn[1]


def test_the_grader_keeps_its_own_folder(run: Run) -> None:
    """A worker's change of directory is its own."""
    before = os.getcwd()  # noqa: PTH109 - as the system says it
    run("import os; os.chdir('/')")

    assert os.getcwd() == before  # noqa: PTH109 - as the system says it
