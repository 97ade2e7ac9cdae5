"""What pages tell of work that is not simply right or wrong: outcomes, and what could not be graded."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from small_course import (
    ASSIGNMENT,
    HALVES,
    WRONG,
    assert_harmless,
    assert_links_lead_somewhere,
    grade,
    make_course,
    read_page,
    spoil_second,
    words_of,
    write_feedback,
)

from autograder.checks.outcomes import LIMITS, OUTCOMES
from autograder.pages.causes import _defines
from autograder.report import write_report
from autograder.results import Outcome
from autograder.scores import CellScore, StudentScore

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

OF_CHECKS = [one for one in Outcome if one not in {Outcome.PASSED, Outcome.MANUAL, Outcome.NOT_GRADED}]
BROKEN = "second.ipynb: breaks off at line 120. Hand it in again."


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a small course without students."""
    return make_course(tmp_path)


def score(student: str, **details: Any) -> StudentScore:
    """Return what the gradebook holds of a student: one cell, the answer."""
    cell = CellScore(notebook="first", grade_id="explain", max_score=Decimal(3), needs_manual_grade=True)
    known: dict[str, Any] = dict.fromkeys(("first_name", "last_name", "email", "lms_user_id"), "")
    known |= {"submitted": True, "timestamp": None, "seconds_late": 0.0, "penalty": Decimal(0)}
    return StudentScore(student=student, **(known | {"cells": (cell,)} | details))


# ----------------------------------------------------------------- outcomes


@pytest.mark.parametrize("outcome", OF_CHECKS)
def test_every_outcome_has_its_own_words_on_both_pages(course: Course, outcome: Outcome) -> None:
    """A student and an instructor can tell a wrong result from one that never came."""
    grade(course, "ana", checks=[replace(WRONG, outcome=outcome, misconception="")])

    feedback, report = write_feedback(course, ASSIGNMENT, "ana"), write_report(course, ASSIGNMENT)

    assert f"{OUTCOMES[outcome].capitalize()} double gives the square." in words_of(feedback)
    assert f"{WRONG.claim} 0 1 1 {OUTCOMES[outcome]}" in words_of(report)


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_is_told_in_plain_words(course: Course, limit: str) -> None:
    """Nobody outside the kit knows the name of a setting."""
    grade(course, "ana", checks=[replace(WRONG, outcome=Outcome.LIMIT, error=limit)])

    for page in (write_feedback(course, ASSIGNMENT, "ana"), write_report(course, ASSIGNMENT)):
        assert LIMITS[limit] in words_of(page).lower()
        assert limit not in words_of(page)


def test_each_task_is_counted_by_how_it_ended(course: Course) -> None:
    """The worst of its checks, answers that wait, notebooks that are not there and those that broke."""
    grade(course, "ana", checks=[HALVES])
    grade(course, "ben")
    grade(course, "cleo", checks=[replace(WRONG, outcome=Outcome.DIED)])
    spoil_second(course, "ben")
    (course.autograded("cleo", ASSIGNMENT) / "second.ipynb").unlink()

    words = words_of(write_report(course, ASSIGNMENT))

    table = words[words.index("How each task ended") : words.index("Tasks and checks")]
    assert (
        "Task passed process ended stopped by the time limit waits for a person could not be graded" in table
    )
    assert table.endswith("not handed in double 1 1 1 explain 3 triple 1 1 1 ")


def test_a_part_of_a_checks_points_is_told(course: Course) -> None:
    """Partial credit is neither all nor nothing."""
    grade(course, "ana", checks=[replace(WRONG, score=Decimal("0.75"))])

    words = words_of(write_feedback(course, ASSIGNMENT, "ana"))

    assert "0.75 / 1" in words
    assert "1.25 of 2 points lost" in words


def test_what_was_not_judged_is_not_marked_as_wrong(course: Course) -> None:
    """Its cause is elsewhere, and is named."""
    grade(course, "ana", checks=[replace(WRONG, outcome=Outcome.NOT_JUDGED, misconception="")])

    page = write_feedback(course, ASSIGNMENT, "ana").read_text(encoding="utf-8")

    assert '<tr class="unjudged">' in page
    assert "✗" not in page


def test_the_same_finding_is_told_once(course: Course) -> None:
    """Five checks that all say the same are one message."""
    blank = replace(
        WRONG, outcome=Outcome.ERROR, rationale="The cell is not filled in.", hint="", misconception=""
    )
    grade(course, "ana", checks=[replace(blank, name=f"c{n}", claim=f"Claim {n}.") for n in range(3)])

    words = read_page(write_feedback(course, ASSIGNMENT, "ana").with_name("first.html")).words

    assert words.count("The cell is not filled in.") == 1
    assert all(f"Claim {n}." in words for n in range(3))


# ------------------------------------------------------------ what comes first

MISSES = replace(
    WRONG, outcome=Outcome.MISSING, rationale="`double` is not defined.", hint="", misconception=""
)


def raised(name: str, message: str, frame: str = "") -> dict[str, Any]:
    """Return the output of a cell that raised."""
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [frame, name]}


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        (
            raised("SyntaxError", "expected ':' (<ipython-input-5-55e6c6c55361>, line 1)"),
            (
                "Your cell double has a syntax error in line 1: expected ':'. "
                "So nothing of it was run, and double is not defined."
            ),
        ),
        (
            raised("NameError", "name 'y' is not defined", "Cell In[3], line 7"),
            "Your cell double raised NameError in line 7, before double was defined.",
        ),
        (
            raised("LimitReached", "the cell took longer than 10 s and was stopped"),
            (
                "Your cell double was stopped before double was defined: "
                "the cell took longer than 10 s and was stopped."
            ),
        ),
    ],
)
def test_what_kept_a_name_from_being_defined_comes_first(
    course: Course, error: dict[str, Any], cause: str
) -> None:
    """That a name is missing is the consequence; what to mend is in the cell above."""
    grade(course, "ana", checks=[MISSES], outputs=[error])

    words = words_of(write_feedback(course, ASSIGNMENT, "ana"))

    assert f"2 of 2 points lost {cause}" in words
    assert words.index(f"This first {cause}") < words.index("Not defined double is not defined.")
    assert "ipython-input" not in words


def test_another_cells_exception_is_no_cause(course: Course) -> None:
    """A cell that would not have defined the name says nothing about it."""
    grade(
        course,
        "ana",
        checks=[replace(MISSES, rationale="`triple` is not defined.")],
        outputs=[raised("E", "x")],
    )

    assert "This first" not in words_of(write_feedback(course, ASSIGNMENT, "ana"))


@pytest.mark.parametrize(
    ("source", "is_there"),
    [
        ("def double(x):", True),
        ("  async def double(x)", True),
        ("class double:", True),
        ("double = 3 +", True),
        ("a, double = (", True),
        ("double: int = (", True),
        ("double(3", False),
        ("double == 3", False),
        ("def doubled(x)", False),
        ("\n" * 200_000 + " " * 200_000, False),
        ("a, " * 200_000, False),
    ],
)
def test_it_is_seen_what_a_broken_cell_would_have_defined(source: str, *, is_there: bool) -> None:
    """The cell is no Python that could be parsed, and a hostile one costs no time."""
    assert _defines(source, "double") is is_there


def test_what_the_sandbox_says_is_no_exception_of_the_students(course: Course) -> None:
    """Names that the grader made up mean nothing to a reader; what happened does."""
    said = "the cell took longer than 10 s and was stopped"
    grade(course, "ana", outputs=[{"output_type": "error", "ename": "LimitReached", "evalue": said}])

    html = write_feedback(course, ASSIGNMENT, "ana").read_text(encoding="utf-8")

    assert f'<p class="raised">{said.capitalize()}</p>' in html
    assert "LimitReached" not in html


# ------------------------------------------------------ could not be graded


def test_what_could_not_be_graded_is_no_zero(course: Course) -> None:
    """Its points are neither earned nor lost, the reason says what to do, and the rest is graded."""
    grade(course, "ana")
    spoil_second(course, "ana")

    overview = write_feedback(course, ASSIGNMENT, "ana")

    words = words_of(overview)
    assert "0.5 of 2 points graded so far 6 points in all. 3 wait for a person" in words
    assert "1 could not be graded: they are not lost" in words
    assert words.count("It breaks off at line 120. Hand it in again.") == 2
    assert "Second steps – of 1 Second steps – of 1 could not be graded" in words
    assert "Second steps" not in words[words.index("Look at this first") : words.index("At a glance")]
    assert "second.ipynb could not be graded. It breaks off" in words
    for page in overview.parent.iterdir():
        assert_links_lead_somewhere(page)
        assert_harmless(read_page(page))
    alone = words_of(overview.with_name("second.html"))
    assert "– of 1 points, none graded so far" in alone
    assert "It breaks off at line 120." in alone
    assert "def triple" not in alone


def test_a_score_by_hand_ends_that_nothing_could_be_graded(course: Course) -> None:
    """A person read the file after all."""
    grade(course, "ana")
    spoil_second(course, "ana")
    cell = CellScore(
        notebook="second", grade_id="test_triple", max_score=Decimal(1), manual_score=Decimal("0.5")
    )

    words = words_of(write_feedback(course, ASSIGNMENT, "ana", score=score("ana", cells=(cell,))))

    assert "could not be graded:" not in words
    assert "1 of 3 points graded so far" in words


def test_one_cell_that_could_not_be_graded_leaves_the_others_as_they_are(course: Course) -> None:
    """The reason stands where the cell's score would."""
    from autograder.notebook import read_notebook, write_notebook  # noqa: PLC0415 - only here

    grade(course, "ana")
    path = course.autograded("ana", ASSIGNMENT) / "first.ipynb"
    notebook = read_notebook(path)
    notebook["cells"][3]["metadata"]["autograder"] |= {
        "not_graded": "the checks' machine had no memory left."
    }
    write_notebook(path, notebook)

    page = write_feedback(course, ASSIGNMENT, "ana")

    assert "The checks' machine had no memory left. Its points are neither earned nor lost." in words_of(page)
    assert "1 of 1 points graded so far" in words_of(page)
    assert '<article class="card blocked" id="cell-1-test_double">' in page.read_text(encoding="utf-8")


def test_no_mean_and_no_bar_holds_what_could_not_be_graded(course: Course) -> None:
    """A total with a hole in it is no total; who has one is named, with the reason."""
    for student in ("ana", "ben"):
        grade(course, student, checks=[replace(HALVES, points=Decimal(2))])
    spoil_second(course, "ben")
    reasons = {"ana": "no disk", "ben": BROKEN, "cleo": "<b>no notebook</b>"}

    report = write_report(course, ASSIGNMENT, reasons=reasons)

    words = words_of(report)
    for fact in ("Graded 2 of 3", "Median 3 of 6", "Mean 3 ", "No point lost 1", "Could not be graded 3"):
        assert fact in words
    assert "1 that could not be graded whole is in no mean and no bar." in words
    why = f"ana The last time it could not be graded: no disk ben {BROKEN} cleo <b>no notebook</b>"
    assert why in words
    assert "cleo <b>no notebook</b>" in words
    assert "triple mean 1 of 1, all points in 1 of 1, 1 could not be graded" in words
    assert "ben 2 • ? 2 of 2" in words
    assert_harmless(read_page(report))


def test_late_work_is_listed_with_what_it_costs(course: Course) -> None:
    """Who has to explain a lower score finds it in one place."""
    for student in ("ana", "ben"):
        grade(course, student)

    words = words_of(
        write_report(
            course,
            ASSIGNMENT,
            scores=[score("ana"), score("ben", seconds_late=7_200.0, penalty=Decimal("0.5"))],
        )
    )

    assert "Late 1" in words
    assert "Student How late Points taken off ben 2 hours 0.5" in words
