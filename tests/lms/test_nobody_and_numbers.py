"""A course without students, and numbers that no course has, end no export with a traceback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_grades import MAXIMA, made_grade, made_request
from their_files import LIKE, export

from autograder.commands.exporting import FORMATS
from autograder.errors import CourseError
from autograder.lms.exports.columns import LARGEST, number_in
from autograder.lms.model import points_text

if TYPE_CHECKING:
    from autograder.lms.exports.model import Export, Request


@pytest.mark.parametrize("number", ["9" * 27, "1" + "0" * 12, "-" + "9" * 400, "0." + "9" * 27])
@pytest.mark.parametrize("name", LIKE)
def test_a_number_that_is_no_score_is_told_with_its_place(name: str, number: str) -> None:
    """A line, not a traceback; many decimals are a score."""
    request = made_request([made_grade("s1")], LIKE[name].format(number))
    line = 3 if name == "canvas" else 2

    if number.startswith("0."):
        assert export(name, request).files
        return
    where = rf"theirs.csv, line {line}, column [0-9]+ \(.+\): "
    with pytest.raises(CourseError, match=f"{where}.*no number of points"):
        export(name, request)


@pytest.mark.parametrize("name", ["canvas", "moodle-worksheet"])
def test_a_maximum_is_a_number_too(name: str) -> None:
    """It stands in a row of its own, or in a cell."""
    text = LIKE[name].replace("10.00", "9" * 30).replace(",,,,,10", f",,,,,{'9' * 30}").format("")

    with pytest.raises(CourseError, match=r"line 2, column 6 .*no number of points"):
        export(name, made_request([made_grade("s1")], text))


@given(st.text("0123456789.,- \u2019", max_size=60))
def test_whatever_a_cell_holds_is_a_number_that_can_be_shown_or_none(cell: str) -> None:
    """Every number that is read can be rounded."""
    number = number_in(cell)

    assert number is None or (abs(number) < LARGEST and points_text(number))


def tried(name: str, request: Request) -> tuple[Export | None, list[str]]:
    """Return what a format makes, if it does, and all that it says."""
    try:
        done = export(name, request)
    except CourseError as error:
        return None, [str(error)]
    return done, [name, *done.notes, *(change.reason for change in done.changes)]


@pytest.mark.parametrize("by_exercise", [False, True])
@pytest.mark.parametrize("with_file", [False, True])
@pytest.mark.parametrize("name", FORMATS)
def test_a_course_without_students_is_an_empty_file_or_a_clear_line(
    name: str, *, with_file: bool, by_exercise: bool
) -> None:
    """Columns are those of the assignment's notebooks, as nobody's grade tells them."""
    if with_file and name not in LIKE:
        return
    like = LIKE[name].format("1") if with_file else None
    done, texts = tried(name, made_request([], like, by_exercise=by_exercise))

    assert texts
    assert not [text for text in texts if "()" in text or "called :" in text or "''" in text]
    if done and by_exercise and name in {"canvas", "moodle-grades", "brightspace", "sakai"}:
        assert all(key.encode() in done.files[0].data for key in MAXIMA)


def test_without_students_and_notebooks_there_is_nothing_to_export_by() -> None:
    """As a file without a column would be."""
    with pytest.raises(CourseError, match="has no notebook"):
        export("sakai", made_request([], by_exercise=True, notebooks=()))
