"""Given cells are run once for all notebooks, and every notebook is as if it had run them itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.session import CodeCell, NotebookSession
from autograder.sandbox.wall import probe
from autograder.sandbox.zygote import Origin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.sandbox.limits import Limits
    from autograder.sandbox.process import Worker

pytestmark = pytest.mark.sandbox

GIVEN = (
    "import numpy as np\nx = np.arange(6.0).reshape(3, 2)\nx",
    "def double(a):\n    return a + a\n\nprint('here'); double(x[0])",
    "import warnings\nwarnings.warn('careful')",
)
STUDENTS = ("double(x).sum(), In[1][:6], Out[2], _", "%who_ls", "double.__module__, __name__")


def run(sandbox: Sandbox, limits: Limits, origin: Origin, cells: tuple[str, ...]) -> list[Any]:
    """Run a notebook and return what each cell shows."""
    code = [CodeCell(source) for source in cells]
    with NotebookSession(lambda: sandbox.start(limits, seed=7, origin=origin), code, limits) as session:
        return session.run()


def text(worker: Worker, source: str) -> str:
    """Run a cell and return the text of the last thing that it shows."""
    output = worker.run_cell(source).outputs[-1]
    return str(output.get("ename") or output.get("text") or output["data"]["text/plain"])


def has_run(sandbox: Sandbox, limits: Limits, origin: Origin) -> bool:
    """Return whether a process comes with given cells that have run."""
    worker = sandbox.start(limits, origin=origin)
    worker.close()
    return len(worker.outputs) == len(origin.given)


def test_a_notebook_shows_the_same(sandbox: Sandbox, limits: Limits) -> None:
    """Outputs, names, history and numbers of cells, whoever ran the first ones."""
    cells = GIVEN + STUDENTS

    assert has_run(sandbox, limits, Origin(given=GIVEN))
    assert run(sandbox, limits, Origin(given=GIVEN), cells) == run(sandbox, limits, Origin(), cells)


def test_pictures_can_be_drawn_after_given_ones(sandbox: Sandbox, limits: Limits) -> None:
    """Fonts that a given cell has opened are opened again, those of formulas too."""
    given = (
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.rcParams['mathtext.fontset'] = 'stix'",
        "plt.plot([1, 2]); plt.title(r'$\\sqrt{x_1}$'); plt.show()",
    )
    cells = (*given, "plt.plot([2, 1]); plt.title(r'$\\sqrt{x_1} \\frac{1}{2}$'); plt.show()")

    assert has_run(sandbox, limits, Origin(plots=True, given=given))
    shown = run(sandbox, limits, Origin(plots=True, given=given), cells)
    assert [[output["output_type"] for output in cell] for cell in shown] == [
        [],
        ["display_data"],
        ["display_data"],
    ]
    assert shown == run(sandbox, limits, Origin(plots=True), cells)


def test_one_notebook_leaves_nothing_for_the_next(start: Callable[..., Worker]) -> None:
    """What a student does to given names stays in that student's process."""
    origin = Origin(given=GIVEN)
    start(origin=origin).run_cell("x[:] = 0; double = None; np.pi = 3; import builtins; builtins.abs = None")

    assert text(start(origin=origin), "float(double(x).sum()), np.pi > 3.1, abs(-2)") == "(30.0, True, 2)"


def test_what_given_cells_draw_at_random_is_followed(start: Callable[..., Worker]) -> None:
    """A seed that the instructor sets counts in later cells too; otherwise each student has an own one."""
    draw = "import numpy as np, random; np.random.rand(), random.random()"
    seeded = Origin(
        given=("import numpy as np, random\nnp.random.seed(3); random.seed(5); np.random.rand()",)
    )
    plain = Origin(given=("1 + 1",))
    in_one = text(
        start(),
        "import numpy as np, random\nnp.random.seed(3); random.seed(5); np.random.rand()\n" + draw,
    )

    assert [text(start(origin=seeded, seed=seed), draw) for seed in (1, 2)] == [in_one, in_one]
    assert text(start(origin=plain, seed=1), draw) != text(start(origin=plain, seed=2), draw)
    assert text(start(origin=plain, seed=2), draw) == text(start(seed=2), draw)


@pytest.mark.parametrize(
    "source",
    [
        "1 / 0",
        "open('data.txt')",
        "while True: pass",
        "open('left.txt', 'w').close()",
        "import os\nos.makedirs('left')",
        "f = open('/dev/null')",
        "import socket\npair = socket.socketpair()",
        "import asyncio\nawait asyncio.sleep(0)",
        "import mmap\nshared = mmap.mmap(-1, 4096)",
        "import multiprocessing.sharedctypes as s\nshared = s.RawArray('b', 9)",
        "import threading\nt = threading.Thread(target=threading.Event().wait, daemon=True); t.start()",
        "import subprocess\np = subprocess.Popen(['sleep', '9'])",
        "import subprocess\np = subprocess.Popen(['true'])",
        "def f(:",
    ],
)
def test_what_a_fork_would_not_inherit_is_left_to_each_notebook(
    start: Callable[..., Worker], source: str
) -> None:
    """Errors, files, descriptors, threads and processes: such cells run where they always did."""
    worker = start(origin=Origin(given=("ok = 1", source)))

    assert worker.outputs == ()
    assert text(worker, "ok") == "NameError"
    assert start(origin=Origin(given=("ok = 1",))).outputs == ([],)


def test_what_given_cells_draw_without_a_seed_is_the_same_at_every_grading(limits: Limits) -> None:
    """A score must not hang on when the sandbox was started."""
    origin = Origin(given=("import random, numpy as np\ndrawn = random.random(), np.random.rand()",))
    seen = []
    for _ in range(2):
        with Sandbox(probe()) as sandbox:
            worker = sandbox.start(limits, origin=origin)
            assert len(worker.outputs) == 1
            seen.append(text(worker, "drawn, random.random(), np.random.rand()"))
            worker.close()

    assert seen[0] == seen[1]


def test_files_beside_a_notebook_are_there_for_its_first_cell(
    start: Callable[..., Worker], tmp_path: Path
) -> None:
    """A given cell may look whether there is a file, and do something else without."""
    given = ("import os\nfound = os.path.exists('data.txt')",)
    (tmp_path / "data.txt").touch()

    worker = start(origin=Origin(given=given), files=[tmp_path])

    assert worker.outputs == ()
    assert text(worker, given[0] + "\nfound") == "True"


def test_what_nbgrader_writes_at_handing_in_is_no_file_of_a_notebooks(
    start: Callable[..., Worker], tmp_path: Path
) -> None:
    """Nearly every submission has a timestamp, and would do without cells that have run already."""
    given = ("import os\nfound = os.listdir()",)
    for name in ("timestamp.txt", "submission_secret.txt"):
        (tmp_path / name).touch()

    worker = start(origin=Origin(given=given), files=[tmp_path])

    assert worker.outputs == ([],)
    assert text(worker, "found + os.listdir()") == "[]"

    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "timestamp.txt").touch()
    assert text(start(files=[tmp_path]), "import os\nos.listdir('data')") == "['timestamp.txt']"


def test_a_process_that_dies_starts_again_behind_given_cells(sandbox: Sandbox, limits: Limits) -> None:
    """Whatever ended it; the zygotes that only make others stay."""
    cells = (*GIVEN, "import os; os._exit(3)", "x.size", "import os; os.kill(os.getpid(), 9)", "x.ndim")

    shown = run(sandbox, limits, Origin(given=GIVEN), cells)

    assert [cell[-1].get("ename") for cell in shown[3::2]] == ["WorkerDied", "PermissionError"]
    assert [cell[-1]["data"]["text/plain"] for cell in shown[4::2]] == ["6", "2"]
