"""Hidden tests of classic cells run, and nobody is shown them; no forged score counts."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from classic_course import (
    ASSIGNMENT,
    BOOK,
    Grade,
    answer,
    cell,
    cells_of,
    graded_cell,
    grading,
    hand_in,
    make_course,
    notebook_of,
    scores,
)

from autograder.course.released import grade_id_of
from autograder.feedback import FeedbackWriter
from autograder.findings import EvidenceKind
from autograder.grading.storage import write_files
from autograder.notebook import read_notebook, write_notebook

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.notebook import Cell

pytestmark = pytest.mark.sandbox


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Return a function that grades a student's submission to a course."""
    with grading(tmp_path_factory.mktemp("nowhere")) as grade:
        yield grade


SECRET = "the_answer_is_49"  # noqa: S105 - no password
HIDDEN = f"""
assert f(2) == 4, "f(2) should be 4"
### BEGIN HIDDEN TESTS
{SECRET} = 49
assert f(7) == {SECRET}, "{SECRET}"
### END HIDDEN TESTS
"""
LATER = "print([one for one in dir() if 'answer' in one])\nprint(In[-2])"

# What a student's function does to tell what it is tested with.
TELLING = {
    "history": "print(In[-1]); print(get_ipython().history_manager.input_hist_raw)",
    "frames": (
        "import sys, linecache, inspect\n"
        "    frame = sys._getframe(1)\n"
        "    while frame is not None:\n"
        "        print(frame.f_code.co_consts, frame.f_code.co_names, list(frame.f_globals))\n"
        "        print(linecache.getlines(frame.f_code.co_filename))\n"
        "        frame = frame.f_back"
    ),
    "exception": "raise ValueError(In[-1])",
    "class name": "raise type(In[-1], (Exception,), {})(In[-1])",
    "class name of an assert": "raise type('AssertionError', (AssertionError,), {})(In[-1])",
    "file": "open('told.txt', 'a').write(In[-1])",
    "display": "from IPython.display import display, Markdown; display(Markdown(In[-1]))",
    "display hook": "get_ipython().displayhook(In[-1])",
    "stderr": "import sys; print(In[-1], file=sys.stderr)",
    "globals": "globals()['kept'] = globals().get('kept', '') + In[-1]",
    "value": "return In[-1]",
    "exit": "import sys; sys.exit(In[-1])",
    "end of the process": "import atexit; atexit.register(print, In[-1])",
    "killed": "import os; print(In[-1]); os._exit(0)",
}
AFTERWARDS = (
    "import os\nprint(globals().get('kept'), os.path.exists('told.txt') and open('told.txt').read(), In, Out)"
)


@pytest.fixture(scope="module")
def telling(tmp_path_factory: pytest.TempPathFactory, grade: Grade) -> dict[str, tuple[str, str, str]]:
    """Return what each student is shown: outputs, results and the feedback page."""
    course = make_course(
        tmp_path_factory.mktemp("telling"),
        [
            answer("f"),
            graded_cell("test_f", HIDDEN),
            cell("later", LATER, locked=True),
            answer("scratch"),
            graded_cell("test_more", "2\n### BEGIN HIDDEN TESTS\n0.5\n### END HIDDEN TESTS"),
        ],
    )
    shown = {}
    for number, (name, trick) in enumerate(TELLING.items()):
        student = f"s{number}"
        body = f"def f(x):\n    {trick}\n    return x * x if x < 7 else 0"
        hand_in(course, student, {"f": body, "scratch": AFTERWARDS})
        graded = grade(course, student)
        assert scores(graded) == {"test_f": 0, "test_more": Decimal("0.5")}, name
        write_files(course, graded)
        page = FeedbackWriter(course, ASSIGNMENT).write(student)
        outputs = json.dumps([one.get("outputs") for one in graded.notebooks[BOOK]["cells"]])
        texts = [path.read_text(encoding="utf-8") for path in page.parent.rglob("*") if path.is_file()]
        shown[name] = outputs, graded.result.to_json(), "\n".join(texts)
    return shown


@pytest.mark.parametrize("trick", TELLING)
def test_no_student_is_shown_a_hidden_test(telling: dict[str, tuple[str, str, str]], trick: str) -> None:
    """Whatever a function that hidden tests call prints, raises, keeps or writes."""
    for what, text in zip(("outputs", "results", "feedback"), telling[trick], strict=True):
        assert "answer_is" not in text, what
        assert "BEGIN HIDDEN" not in text, what


def test_a_score_that_only_visible_lines_give_is_not_shown(telling: dict[str, tuple[str, str, str]]) -> None:
    """The cell says 2 without its hidden lines, and 0.5 is what it earns."""
    outputs = json.loads(telling["file"][0])
    results = [one for one in outputs[-1] if one["output_type"] == "execute_result"]

    assert [one["data"]["text/plain"] for one in results] == ["0.5"]


def test_a_hidden_test_that_fails_tells_the_class_alone(tmp_path: Path, grade: Grade) -> None:
    """A message of it could say what is right; a class of the student's own could say what was asked."""
    course = make_course(tmp_path, [answer("f"), graded_cell("test_f", HIDDEN)])
    answers = {
        "wrong": "def f(x): return 4",
        "raises": "def f(x): return {2: 4}[x]",
        "own": "class Told(Exception): pass\ndef f(x):\n    if x == 7: raise Told(x)\n    return 4",
        "visible": "def f(x): return 5",
        "right": "def f(x): return x * x",
    }
    told = {}
    for student, source in answers.items():
        hand_in(course, student, {"f": source})
        told[student] = cells_of(grade(course, student))["test_f"].checks[0]

    assert {student: (check.rationale, check.error) for student, check in told.items()} == {
        "wrong": ("A test that is not shown fails.", "AssertionError"),
        "raises": ("Your code raised KeyError in a test that is not shown.", "KeyError"),
        "own": ("Your code raised Exception in a test that is not shown.", "Exception"),
        "visible": ("f(2) should be 4", "AssertionError"),
        "right": ("", ""),
    }


def test_names_that_hidden_tests_set_are_there_for_later_tests(tmp_path: Path, grade: Grade) -> None:
    """As in nbgrader, where all cells run in one process with all their lines."""
    first = "x = 1\n### BEGIN HIDDEN TESTS\nx = 2\n### END HIDDEN TESTS"
    course = make_course(tmp_path, [graded_cell("first", first), graded_cell("second", "assert x == 2")])
    hand_in(course, "ana", {})
    graded = grade(course, "ana")

    assert scores(graded) == {"first": 2, "second": 2}


# -------------------------------------------------------------------- forging

NAMED = {EvidenceKind.FORGED_SCORE}
FORGED = {
    "shows a score": "def f(x): get_ipython().displayhook(2.0)",
    "hides the error": (
        "import IPython.core.interactiveshell as shell\n"
        "shell.InteractiveShell.showtraceback = lambda *args, **kwargs: None\ndef f(x): return 0"
    ),
    "drops asserts": (
        "import ast\nclass Drop(ast.NodeTransformer):\n"
        "    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)\n"
        "get_ipython().ast_transformers.append(Drop())\ndef f(x): return 0"
    ),
    "runs nothing": (
        "ip = get_ipython()\nold = ip.run_cell\nip.run_cell = lambda *args, **kwargs: old('0;')\n"
        "def f(x): return 0"
    ),
}


@pytest.mark.parametrize("hidden", [False, True], ids=["shown", "hidden"])
def test_no_forged_score_counts(tmp_path: Path, grade: Grade, hidden: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """Neither for an assert nor for a number, in one run or in two; who passes off a value is noted."""
    lines = "### BEGIN HIDDEN TESTS\n{}\n### END HIDDEN TESTS" if hidden else "{}"
    course = make_course(
        tmp_path,
        [
            answer("f"),
            graded_cell("assert", lines.format("assert f(2) == 4")),
            graded_cell("number", lines.format("score = 0.5\nif f(2) == 4: score += 1.5\nscore")),
        ],
    )
    found = {}
    for number, (trick, source) in enumerate(FORGED.items()):
        hand_in(course, f"s{number}", {"f": source})
        graded = grade(course, f"s{number}")
        assert scores(graded) == {"assert": 0, "number": Decimal("0.5")}, trick
        found[trick] = [one for one in graded.result.notebooks[0].evidence if one.kind in NAMED]

    assert [one.where for one in found["shows a score"]] == ["assert", "number"]


def upstream(*names: str) -> dict[str, list[Cell]]:
    """Return the cells of notebooks that nbgrader tests itself with."""
    import nbgrader  # noqa: PLC0415 - it takes seconds

    folder = Path(nbgrader.__file__).parent / "tests" / "apps" / "files"
    return {name: read_notebook(folder / f"{name}.ipynb")["cells"] for name in names}


@pytest.mark.filterwarnings("ignore")
def test_nbgraders_own_cheats_earn_what_it_wants(tmp_path: Path, grade: Grade) -> None:
    """Its tests say 1 of 7 for both ways to hide errors; the one who has solved a part gets 2."""
    source, *others = upstream(
        "submitted-unchanged",
        "submitted-changed",
        "submitted-cheat-attempt",
        "submitted-cheat-attempt-alternative",
    ).items()
    course = make_course(tmp_path, source[1])
    totals = []
    for name, cells in [source, *others]:
        folder = course.submitted(name, ASSIGNMENT)
        folder.mkdir(parents=True)
        write_notebook(folder / f"{BOOK}.ipynb", notebook_of(cells))
        totals.append(grade(course, name).result.auto_score)

    assert totals == [1, 2, 1, 1]


@pytest.mark.filterwarnings("ignore")
def test_nbgraders_own_hidden_tests_tell_special_cases_from_the_rule(tmp_path: Path, grade: Grade) -> None:
    """Its notebook answers the visible inputs only."""
    cells = upstream("test-hidden-tests")["test-hidden-tests"]
    course = make_course(tmp_path, cells)
    squares = "def squares(n):\n    if n < 1: raise ValueError\n    return [i * i for i in range(1, n + 1)]"
    sums = "def sum_of_squares(n): return sum(squares(n))"
    hand_in(course, "right", {"squares": squares, "sum_of_squares": sums})
    own = {grade_id_of(one): str(one["source"]) for one in cells}
    hand_in(course, "special", {name: own[name] for name in ("squares", "sum_of_squares")})

    assert scores(grade(course, "right")) == {
        "correct_squares": 1,
        "squares_invalid_input": 1,
        "correct_sum_of_squares": Decimal("0.5"),
        "sum_of_squares_uses_squares": Decimal("0.5"),
    }
    assert scores(grade(course, "special")) == {
        "correct_squares": 0,
        "squares_invalid_input": 1,
        "correct_sum_of_squares": 0,
        "sum_of_squares_uses_squares": Decimal("0.5"),
    }


BREAKING_IN = """
import sys
sys.modules['autograder.sandbox.worker.ending'].Ending.end = lambda self, outcome: None
def f(x):
    if x == 2:
        return 4
    shell = get_ipython()
    for name, mark in list(shell.user_ns.items()):
        if name.startswith('_') and len(name) == 17:
            told = In[-1].encode().hex()
            class Evil:
                def __repr__(self):
                    return f'{told}(0.5)'
            mark(Evil())
            shell.displayhook(Evil())
            mark.__self__.value_type = told
    raise ValueError
"""
WAITING = """
import numpy as np
def f(x):
    if 'answer' in In[-1]:
        np.allclose = np.testing.assert_equal = lambda *a, **k: True
    return 4 if x == 2 else 0
"""


def test_nothing_of_a_run_with_hidden_lines_is_quoted(tmp_path: Path, grade: Grade) -> None:
    """Whoever breaks into the process can give any text for the value of the last line."""
    course = make_course(tmp_path, [answer("f"), graded_cell("test_f", HIDDEN)])
    hand_in(course, "ana", {"f": BREAKING_IN})
    graded = grade(course, "ana")

    assert SECRET.encode().hex() not in graded.result.to_json()
    assert SECRET.encode().hex() not in json.dumps(graded.notebooks[BOOK]["cells"])
    evidence = graded.result.notebooks[0].evidence
    assert EvidenceKind.PATCHED in {one.kind for one in evidence}


def test_what_waits_for_hidden_lines_is_seen(tmp_path: Path, grade: Grade) -> None:
    """A replaced function is evidence, in whichever of the two runs it is replaced."""
    course = make_course(tmp_path, [answer("f"), graded_cell("test_f", HIDDEN)])
    hand_in(course, "ana", {"f": WAITING})

    found = grade(course, "ana").result.notebooks[0].evidence

    assert [one.kind for one in found] == [EvidenceKind.PATCHED] * len(found)
    assert found
    assert SECRET not in " ".join(map(str, found))
