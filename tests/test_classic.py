"""Classic test cells: what each ending is worth, in nbgrader and here, and what is told of a loss."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from classic_course import BOOK, Grade, answer, cell, cells_of, graded_cell, grading, hand_in, make_course

from autograder.course.released import grade_id_of
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.results import GradedSubmission

pytestmark = pytest.mark.sandbox

NOT_GRADED = None
SAME, OTHER = True, False

# How a cell of 2 points ends, what it earns, and whether nbgrader gives the same.
ENDINGS: dict[str, tuple[str, float | None, bool]] = {
    "nothing": ("# nothing", 2, SAME),
    "an assert": ("assert one == 1", 2, SAME),
    "an assignment": ("score = 0.5", 2, SAME),
    "a half": ("0.5", 0.5, SAME),
    "nothing earned": ("0", 0, SAME),
    "everything": ("2", 2, SAME),
    "everything as a float": ("2.0", 2, SAME),
    "a third": ("1 / 3", 1 / 3, SAME),
    "tenths": ("0.1 + 0.2", 0.3, SAME),
    "a little above": ("2.0000000000000004", 2, OTHER),
    "a little below": ("-1e-17", 0, OTHER),
    "negative": ("-1", NOT_GRADED, OTHER),
    "too much": ("2.0000001", NOT_GRADED, OTHER),
    "far too much": ("10 ** 300", NOT_GRADED, OTHER),
    "not a number": ("float('nan')", NOT_GRADED, OTHER),
    "infinite": ("float('inf')", NOT_GRADED, OTHER),
    "True": ("one == 1", NOT_GRADED, OTHER),
    "False": ("one == 2", NOT_GRADED, OTHER),
    "numpy's True": ("np.True_", NOT_GRADED, OTHER),
    "numpy's half": ("np.float64(0.5)", 0.5, OTHER),
    "numpy's one": ("np.int64(1)", 1, OTHER),
    "numpy's short half": ("np.float32(0.5)", 0.5, OTHER),
    "numpy's long half": ("np.longdouble(0.5)", NOT_GRADED, OTHER),
    "text of a number": ("'0.5'", NOT_GRADED, OTHER),
    "text of a truth": ("str(one == 1)", NOT_GRADED, OTHER),
    "a decimal": ("Decimal('0.5')", NOT_GRADED, OTHER),
    "a fraction": ("Fraction(1, 2)", NOT_GRADED, OTHER),
    "a complex number": ("0.5 + 0j", NOT_GRADED, OTHER),
    "an array without axes": ("np.array(0.5)", NOT_GRADED, OTHER),
    "a number of its own kind": ("class Full(float): pass\nFull(0.5)", NOT_GRADED, OTHER),
    "text": ("'fine'", 2, SAME),
    "a list": ("[0.1, 0.2]", 2, SAME),
    "an array": ("np.array([0.5])", 2, SAME),
    "an object": ("object()", 2, SAME),
    "what cannot be shown": ("class Mute:\n    def __repr__(self): raise ValueError\nMute()", 2, OTHER),
    "None": ("None", 2, SAME),
    "a printed number": ("print(0.1)", 2, SAME),
    "a displayed number": ("display(0.5)", 2, SAME),
    "a hidden half": ("0.5;", 0.5, OTHER),
    "a warning": ("import warnings\nwarnings.warn('careful')", 2, OTHER),
    "stderr": ("import sys\nprint('careful', file=sys.stderr)\n0.5", 0.5, OTHER),
    "a log": ("import logging\nlogging.getLogger('x').warning('careful')", 2, OTHER),
    "an error": ("assert one == 2", 0, SAME),
    "an error after a result": ("display(0.5)\nget_ipython().displayhook(2)\nassert one == 2", 0, OTHER),
    "a syntax error": ("def f(:", 0, SAME),
    "an exit": ("import sys\nsys.exit(0)", 0, SAME),
    "an error that is caught": ("try: 1 / 0\nexcept ZeroDivisionError: pass\n1.5", 1.5, SAME),
    "a magic": ("%time 0.5", 0.5, SAME),
}
GIVEN = "import numpy as np\nfrom decimal import Decimal\nfrom fractions import Fraction\none = 1"


@pytest.fixture(scope="module")
def grade(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grade]:
    """Return a function that grades a student's submission to a course."""
    with grading(tmp_path_factory.mktemp("nowhere")) as grade:
        yield grade


@pytest.fixture(scope="module")
def endings(tmp_path_factory: pytest.TempPathFactory, grade: Grade) -> GradedSubmission:
    """Return a graded notebook with a test cell of every ending."""
    tests = [graded_cell(f"t{number}", source) for number, (source, *_) in enumerate(ENDINGS.values())]
    course = make_course(tmp_path_factory.mktemp("endings"), [cell("given", GIVEN, locked=True), *tests])
    hand_in(course, "ana", {})
    return grade(course, "ana")


@pytest.mark.parametrize("ending", ENDINGS)
def test_what_each_ending_is_worth(endings: GradedSubmission, ending: str) -> None:
    """A number inside the points is the score, an exception is 0, and what is neither clear is nobody's."""
    number, (_, wanted, _) = list(ENDINGS).index(ending), ENDINGS[ending]
    found = cells_of(endings)[f"t{number}"]

    if wanted is NOT_GRADED:
        assert (found.auto_score, found.needs_manual_grade, found.outcome) == (None, True, Outcome.NOT_GRADED)
        assert "End the cell in a plain number" in found.not_graded
    else:
        assert found.auto_score is not None
        assert float(found.auto_score) == pytest.approx(wanted, abs=1e-9)
        assert sum(check.earned for check in found.checks) == found.auto_score


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("ending", ENDINGS)
def test_nbgrader_gives_the_same_where_its_rule_is_sound(endings: GradedSubmission, ending: str) -> None:
    """Its own function is asked, with the outputs that the cell has shown."""
    import nbformat  # noqa: PLC0415 - it takes seconds
    from nbgrader.utils import determine_grade  # noqa: PLC0415 - the same

    number, (_, wanted, is_same) = list(ENDINGS).index(ending), ENDINGS[ending]
    node = nbformat.from_dict(  # type: ignore[no-untyped-call]
        next(one for one in endings.notebooks[BOOK]["cells"] if grade_id_of(one) == f"t{number}")
    )
    ours = 1 if wanted is NOT_GRADED else 2
    node.outputs = node.outputs[ours:]
    try:
        theirs, _ = determine_grade(node)
    except (ValueError, KeyError, AttributeError):
        # The whole submission fails then.
        theirs = -1.0

    assert (theirs == pytest.approx(wanted if wanted is not None else -2)) is is_same


def test_the_page_for_instructors_lists_each_difference() -> None:
    """Who comes from nbgrader has to know what counts otherwise."""
    page = (Path(__file__).parents[1] / "docs" / "instructor.md").read_text(encoding="utf-8")
    table = page.partition("| a test cell that |")[2].partition("\n\n")[0]
    shown = {
        *("`-1`", "more than its points", "`nan`", "`inf`", "`True`", "`np.float64(0.5)`", "`'0.5'`"),
        *("stderr", "`0.5;`", "skip-execution"),
    }

    assert [words for words in shown if words not in table] == []


# ---------------------------------------------------------------- what is told


def test_points_may_be_nothing_or_fractions(tmp_path: Path, grade: Grade) -> None:
    """A cell of 0 points is run all the same, and points are exact."""
    course = make_course(
        tmp_path,
        [
            graded_cell("right", "assert True", points=0),
            graded_cell("wrong", "assert False", points=0),
            graded_cell("fraction", "0.1 + 0.1 + 0.1", points=0.1 + 0.2),
            graded_cell("above", "0.3", points=0.25),
            cell("why", "YOUR ANSWER HERE", "markdown", grade=True, solution=True, points=0),
            cell("task", "Draw.", "markdown", task=True, locked=True, points=1.5),
        ],
    )
    hand_in(course, "ana", {"why": "because"})
    found = cells_of(grade(course, "ana"))

    assert {name: one.outcome for name, one in found.items()} == {
        "right": Outcome.PASSED,
        "wrong": Outcome.FAILED,
        "fraction": Outcome.PASSED,
        "above": Outcome.NOT_GRADED,
        "why": Outcome.MANUAL,
        "task": Outcome.MANUAL,
    }
    assert [one.auto_score for one in found.values()][:3] == [0, 0, Decimal(repr(0.1 + 0.2))]


def test_a_cell_that_nbgrader_would_skip_is_no_full_mark(tmp_path: Path, grade: Grade) -> None:
    """Not even if the instructor's own notebook says so; a test cell of text has no score."""
    skipped = graded_cell("skipped", "assert one == 2")
    skipped["metadata"]["tags"] = ["skip-execution"]
    course = make_course(tmp_path, [skipped, graded_cell("text", "It holds.", cell_type="markdown")])
    hand_in(course, "ana", {})
    found = cells_of(grade(course, "ana"))

    assert found["skipped"].auto_score == 0
    assert found["text"].auto_score is None
    assert "no code cell" in found["text"].not_graded


STUDENTS = """
def f(x):
    {body}
"""
TESTS = (
    graded_cell("message", "assert f(2) == 4, f'f(2) should be 4, but is {f(2)}'"),
    graded_cell("line", "x = 3\n\nassert f(x) == 9"),
    graded_cell("other", "f(2).append(1)"),
)


def test_a_failed_test_tells_what_it_says(tmp_path: Path, grade: Grade) -> None:
    """Its message, else its line; what else is raised by its class and message."""
    course = make_course(tmp_path, [answer("f"), *TESTS])
    hand_in(course, "ana", {"f": "def f(x): return 2 * x + 1"})
    hand_in(course, "bo", {})
    found = cells_of(grade(course, "ana"))
    blank = cells_of(grade(course, "bo"))

    assert [found[name].checks[0].rationale for name in ("message", "line", "other")] == [
        "f(2) should be 4, but is 5",
        "This does not hold: assert f(x) == 9",
        "Your code raised AttributeError: 'int' object has no attribute 'append'",
    ]
    assert [found[name].outcome for name in ("message", "line", "other")] == [
        Outcome.FAILED,
        Outcome.FAILED,
        Outcome.ERROR,
    ]
    assert blank["message"].checks[0].rationale == "Your code raised NameError: name 'f' is not defined"
    assert blank["message"].checks[0].hint


def test_what_stops_a_cell_is_told_and_costs_no_other(tmp_path: Path, grade: Grade) -> None:
    """Time, memory and the end of the process are named; the cells after it are judged all the same."""
    killers = {
        "loop": ("while True: pass", Outcome.LIMIT, "wall_time_s"),
        "memory": ("np.zeros(2**40)", Outcome.LIMIT, "memory_mib"),
        "leaves": ("import os; os._exit(0)", Outcome.DIED, ""),
    }
    tests = [graded_cell(name, source) for name, (source, *_) in killers.items()]
    course = make_course(
        tmp_path, [cell("given", GIVEN, locked=True), answer("f"), *tests, graded_cell("last", "f()")]
    )
    hand_in(course, "ana", {"f": "def f(): return 1.5"})
    found = cells_of(grade(course, "ana", wall_time_s=1.0))

    for name, (_, outcome, limit) in killers.items():
        assert (found[name].outcome, found[name].checks[0].error) == (outcome, limit), name
        assert found[name].auto_score == 0
        assert found[name].checks[0].rationale
    assert found["last"].auto_score == Decimal("1.5")


def test_a_cell_that_is_not_reached_is_no_full_mark(tmp_path: Path, grade: Grade) -> None:
    """What the notebook's time did not suffice for was not passed."""
    course = make_course(tmp_path, [answer("slow"), graded_cell("last", "pass")])
    hand_in(course, "ana", {"slow": "import time\ntime.sleep(1.2)"})
    found = cells_of(grade(course, "ana", notebook_time_s=1.0))["last"]

    assert (found.outcome, found.checks[0].error, found.auto_score) == (
        Outcome.LIMIT,
        "notebook_time_s",
        Decimal(0),
    )
