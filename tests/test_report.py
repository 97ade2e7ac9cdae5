"""The report: what an instructor must see of a class at a glance."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from browser import PHONE, cut_off_on_a_phone, dump_dom, needs_browser, width_on_a_phone
from small_course import (
    ASSIGNMENT,
    HALVES,
    STOPPED,
    WRONG,
    assert_harmless,
    assert_links_lead_somewhere,
    grade,
    lose_second,
    make_course,
    read_page,
    spoil_second,
    words_of,
    write_feedback,
)

from autograder.errors import CourseError
from autograder.graded import read_results
from autograder.pages.classroom import _bins
from autograder.report import write_report
from autograder.results import Outcome
from autograder.scores import CellScore, StudentScore

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

RIGHT = tuple(replace(check, outcome=Outcome.PASSED, misconception="") for check in (WRONG, HALVES, STOPPED))


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a small course with a class of four, one of them not graded."""
    course = make_course(tmp_path)
    grade(course, "ana", checks=RIGHT)
    grade(course, "ben")
    grade(course, "chloe", checks=[WRONG, *RIGHT[1:]])
    lose_second(course, "chloe")
    course.submitted("dilan", ASSIGNMENT).mkdir(parents=True)
    return course


def score(student: str, manual: str = "", late_s: float = 0) -> StudentScore:
    """Return what the gradebook holds of a student whose answer was read."""
    cell = CellScore(
        notebook="first",
        grade_id="explain",
        max_score=Decimal(3),
        manual_score=Decimal(manual) if manual else None,
        needs_manual_grade=not manual,
    )
    return StudentScore(
        student=student,
        first_name=student.title(),
        last_name="Lima",
        email="",
        lms_user_id="",
        submitted=True,
        timestamp=None,
        seconds_late=late_s,
        penalty=Decimal(1) if late_s else Decimal(0),
        cells=(cell,),
    )


def test_the_class_is_counted(course: Course) -> None:
    """Submissions, middle, what waits, and what a person should look at."""
    words = words_of(write_report(course, ASSIGNMENT))

    for fact in (
        "Graded 3 of 4",
        "Median 1.5 of 6",
        "Mean 1.83",
        "No point lost 1",
        "With an answer to read 3",
    ):
        assert fact in words


def test_the_histogram_holds_every_submission(course: Course) -> None:
    """Every total is in one bar, and the bars are told in words as well."""
    page = read_page(write_report(course, ASSIGNMENT))

    heights = [value for value in page.values("style") if value.startswith("height: ")]
    assert sorted(heights) == [*5 * ["height: 0.0%"], "height: 100.0%", "height: 50.0%"]
    told = "Number of submissions by points: 2 with 1 to less than 2 points; 1 with 3 to less than 4 points"
    assert told in page.values("aria-label")


def test_every_check_is_counted(course: Course) -> None:
    """A check that everybody fails says as much about the lesson as about the class."""
    words = words_of(write_report(course, ASSIGNMENT))

    assert f"{WRONG.claim.replace('`', '')} 1 2 2 wrong result" in words
    assert f"{HALVES.claim} 3 0" in words
    assert f"{STOPPED.claim} 2 1 1 stopped by the time limit" in words
    assert "triple mean 0.67 of 1, all points in 2 of 3" in words
    assert "explain 3 to be read" in words


def test_recurring_mistakes_come_first(course: Course) -> None:
    """The most common misconception is what tomorrow's lecture is about."""
    other = replace(WRONG, misconception="double_halves", hint="You halve it. What is more, 3 or 6?")
    grade(course, "emeka", checks=[other])

    view = words_of(write_report(course, ASSIGNMENT))

    squares, halves = (
        view.index(f"2 {WRONG.hint} double squares"),
        view.index(f"1 {other.hint} double halves"),
    )
    assert squares < halves
    assert "double ben, chloe" in view


def test_who_needs_a_look_is_named_with_the_reason(course: Course) -> None:
    """Work that is not graded, notebooks that are missing, and limits."""
    words = words_of(write_report(course, ASSIGNMENT))

    assert "dilan handed in, but not graded yet" in words
    assert "chloe second.ipynb was not handed in" in words
    assert "ben double: 1 of 3 checks stopped by the time limit" in words
    assert "To look at 2" in words


def test_the_gradebook_goes_before_the_grader(course: Course) -> None:
    """Scores given by hand and penalties are in the totals."""
    scores = [score("ana", "2.5"), score("ben", "3", late_s=7_200), score("chloe")]

    words = words_of(write_report(course, ASSIGNMENT, scores=scores))

    assert "ana Ana Lima 2 2.5 1 5.5" in words
    assert "ben Ben Lima 0.5 3 1 3.5 2 hours (−1)" in words
    assert "chloe Chloe Lima 1 • – 1" in words
    assert "With an answer to read 1 Late 1" in words


def test_students_are_linked_to_their_feedback(course: Course) -> None:
    """From a number to its reason in one step."""
    write_feedback(course, ASSIGNMENT, "ana")

    report = write_report(course, ASSIGNMENT)

    assert len([link for link in read_page(report).values("href") if "feedback/ana" in link]) > 0
    assert_links_lead_somewhere(report)


def test_results_at_hand_are_used(course: Course) -> None:
    """After a batch nothing needs to be read back, and the page is the same."""
    results = read_results(course, ASSIGNMENT)

    given = write_report(course, ASSIGNMENT, reversed(results)).read_bytes()

    assert given == write_report(course, ASSIGNMENT).read_bytes()


def test_a_hostile_class_makes_a_harmless_report(course: Course) -> None:
    """Names, rationales and notes are what students can influence."""
    name = "<script>document.title = 'owned'<&\"'> {{ 7 * 7 }}"
    grade(course, name, checks=[replace(WRONG, hint="<img src=x onerror=alert(1)>", misconception="<b>")])
    write_feedback(course, ASSIGNMENT, name)

    report = write_report(course, ASSIGNMENT)

    page = read_page(report)
    assert_harmless(page)
    assert_links_lead_somewhere(report)
    assert name in page.words


def test_a_class_of_nobody_has_a_report_too(tmp_path: Path) -> None:
    """An empty page is an answer; a crash is none."""
    course = make_course(tmp_path)

    words = words_of(write_report(course, ASSIGNMENT))

    assert "Graded 0" in words
    assert "Median –" in words


def test_an_unknown_assignment_offers_the_nearest(course: Course) -> None:
    """A typo costs one look."""
    with pytest.raises(CourseError, match="Did you mean 'small_steps'"):
        write_report(course, "small_step")


@pytest.mark.parametrize("points", [1, 21, 30, 31, 1000])
def test_a_histogram_has_few_bars(points: int) -> None:
    """However many points an assignment has, and with more than all of them earned."""
    totals = [Decimal(0), Decimal(points), Decimal(points) * 2, Decimal(points) / 3]

    bins = _bins(totals, Decimal(points))

    assert len(bins) <= 31
    assert sum(one.count for one in bins) == len(totals)


@needs_browser
def test_a_browser_shows_it_on_a_phone(course: Course, tmp_path: Path) -> None:
    """It is read without scrolling sideways, but for two tables with a column for each task or outcome."""
    long = replace(
        WRONG, claim="A long sentence about what is checked here, " * 4, hint="Words of advice. " * 9
    )
    grade(course, "x" * 120, checks=[long, STOPPED])
    spoil_second(course, "ben")
    reasons = {
        "eva": "exercise_with_a_long_name (1).ipynb: breaks off in line 242: the rest is missing. " * 2
    }
    report = write_report(course, ASSIGNMENT, scores=[score("ana", late_s=7_200)], reasons=reasons)

    assert width_on_a_phone(report, tmp_path) == PHONE
    assert cut_off_on_a_phone(report, tmp_path, ".scroll:not(:has(.grades))") == 0
    assert 'class="column" style="height: 100.0%"' in dump_dom(report, tmp_path)
