"""Two notebooks of an assignment with the same grade_ids: each keeps its own results, pages and columns."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from small_course import (
    ASSIGNMENT,
    HALVES,
    WRONG,
    assert_links_lead_somewhere,
    grade,
    make_course,
    read_page,
    write_feedback,
)

from autograder.graded import read_result
from autograder.notebook import read_notebook, write_notebook
from autograder.report import write_report
from autograder.results import CellResult
from autograder.scores import CellScore, StudentScore

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with a student who is right in the first twin and wrong in the second."""
    course = make_course(tmp_path, twins=True)
    folder = grade(course, "ana", checks=[replace(HALVES, points=Decimal(2))])
    notebook = read_notebook(folder / "first.ipynb")
    wrong = CellResult(grade_id="test_double", max_score=Decimal(2), checks=(WRONG,))
    notebook["cells"][3]["metadata"]["autograder"] = wrong.to_dict()
    write_notebook(folder / "second.ipynb", notebook)
    return course


def scores() -> list[StudentScore]:
    """Return what a person gave for the answer in each twin."""
    cells = tuple(
        CellScore(notebook=name, grade_id="explain", max_score=Decimal(3), manual_score=Decimal(points))
        for name, points in (("first", 3), ("second", 1))
    )
    names = dict.fromkeys(("first_name", "last_name", "email", "lms_user_id"), "")
    late = {"timestamp": None, "seconds_late": 0.0, "penalty": Decimal(0)}
    return [StudentScore(student="ana", submitted=True, cells=cells, **names, **late)]  # type: ignore[arg-type]


def test_results_are_read_back_for_each(course: Course) -> None:
    """The name of a cell is not enough to know it by."""
    result = read_result(course, ASSIGNMENT, "ana")

    assert [book.auto_score for book in result.notebooks] == [2, 0]


def test_the_feedback_links_each_to_its_own(course: Course) -> None:
    """Two cells of one name have two places on the page, two scores and two comments."""
    comments = {("first", "explain"): "Well said.", ("second", "explain"): "Too short."}

    page = write_feedback(course, ASSIGNMENT, "ana", score=scores()[0], comments=comments)

    seen = read_page(page)
    assert {"cell-1-test_double", "cell-2-test_double", "cell-1-explain", "cell-2-explain"} <= set(seen.ids)
    assert len(seen.ids) == len(set(seen.ids))
    assert_links_lead_somewhere(page)
    words = " ".join(seen.words.split())
    assert "6 of 10 points" in words
    assert words.index("Well said.") < words.index("Too short.")
    assert "Too short." not in read_page(page.with_name("first.html")).words


def test_the_report_tells_them_apart(course: Course) -> None:
    """Each has its own line of counts, its own mistakes and its own column."""
    words = " ".join(read_page(write_report(course, ASSIGNMENT, scores=scores())).words.split())

    assert "first: double mean 2 of 2, all points in 1 of 1" in words
    assert "second: double mean 0 of 2, all points in 0 of 1" in words
    assert "double squares second: double ana" in words
    assert "ana 2 3 0 1 6" in words
