"""A course on disk: it is found, and its names are checked."""

from __future__ import annotations

import shutil
import warnings
from typing import TYPE_CHECKING

import pytest

from autograder.course.course import Course
from autograder.course.layout import plain_name
from autograder.errors import CourseError, NotebookError, ReleaseError, SubmissionError
from autograder.notebook import read_notebook, write_notebook

if TYPE_CHECKING:
    from pathlib import Path

ASSIGNMENT = "multi_head_attention"


def test_a_course_is_found_from_inside_it(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """One need not stand in the root."""
    monkeypatch.chdir(course.root / "source" / ASSIGNMENT)

    assert Course.find() == course
    assert Course.find(course.root) == course


def test_a_folder_that_is_no_course_says_what_it_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first error that a new user meets."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(CourseError, match=r"it has no nbgrader_config.py beside a folder source"):
        Course.find()
    with pytest.raises(CourseError):
        Course.find(tmp_path)


def test_an_unknown_assignment_offers_the_nearest(course: Course) -> None:
    """A typo costs one look."""
    with pytest.raises(CourseError, match=f"Did you mean '{ASSIGNMENT}'"):
        course.released("multihead_attention")


def test_a_folder_without_a_notebook_is_no_assignment(course: Course) -> None:
    """Neither are the hidden folders of editors."""
    (course.root / "source" / "notes").mkdir()
    (course.root / "source" / ".ipynb_checkpoints").mkdir()
    (course.root / "source" / "README.md").touch()

    assert course.assignments() == ["attention_warmup", ASSIGNMENT]


def test_nothing_handed_in_is_an_error_with_the_place(course: Course) -> None:
    """It names where submissions go."""
    with pytest.raises(CourseError, match=r"submitted/<student>/multi_head_attention: nothing was handed in"):
        course.students(ASSIGNMENT)


def test_students_are_the_folders_that_hold_the_assignment(course: Course) -> None:
    """Another assignment's folder and stray files are nobody."""
    for path in (
        "ben/multi_head_attention",
        "ana/multi_head_attention",
        "eve/other",
        ".git/multi_head_attention",
    ):
        (course.root / "submitted" / path).mkdir(parents=True)
    (course.root / "submitted" / "zip.zip").touch()

    assert course.students(ASSIGNMENT) == ["ana", "ben"]


@pytest.mark.parametrize("name", ["", ".", "..", "../ana", "a/b", "a\\b", "/etc", ".hidden", "a\0b"])
def test_a_name_never_leaves_its_folder(course: Course, name: str) -> None:
    """An id from a file or a command line becomes a path only if it is a plain name."""
    for of_assignment in (course.source, course.release):
        with pytest.raises(CourseError):
            of_assignment(name)
    for of_student in (course.submitted, course.autograded, course.feedback):
        with pytest.raises(CourseError):
            of_student(name, ASSIGNMENT)
        with pytest.raises(CourseError):
            of_student("ana", name)


UNSEEN = [
    "\u202e",
    "\u200b",
    "\u200d",
    "\u061c",
    "\ufeff",
    "\u2066",
    "\xad",
    "\n",
    "\x1b",
    "\ud800",
    "\U000e0041",
]


@pytest.mark.parametrize(
    "name", [*(f"x{sign}y" for sign in UNSEEN), "x\u200b", "\u200bx", "x" * 256, "ä" * 128]
)
def test_a_name_that_looks_like_another_is_none(course: Course, name: str) -> None:
    """Two folders that a person and a terminal take for one, or that no disk has, are no students'."""
    with pytest.raises(CourseError) as raised:
        plain_name(name)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) < 300
    if len(name) < 100 and "\ud800" not in name:
        for student in (name, "x"):
            (course.root / "submitted" / student / ASSIGNMENT).mkdir(parents=True)
        assert course.students(ASSIGNMENT) == ["x"]


@pytest.mark.parametrize(
    "name",
    ["ana", "o'neil", "007", "a b", "ana@uni.example", "名前", "a..b", "~ana", "می\u200cشوم", "x" * 255],
)
def test_odd_but_plain_names_are_names(name: str) -> None:
    """Ids come from many systems."""
    assert plain_name(name) == name


def test_a_release_that_is_not_built_says_so(course: Course) -> None:
    """Grading must not guess what students got."""
    shutil.rmtree(course.root / "release")

    with pytest.raises(
        ReleaseError, match=r"has not been released. Run `autograder release multi_head_attention`"
    ):
        course.released(ASSIGNMENT)


def test_a_damaged_source_is_the_instructors_error(course: Course) -> None:
    """Its file is named."""
    next(course.source(ASSIGNMENT).glob("*.ipynb")).write_text("{")

    with pytest.raises(NotebookError, match="exercise"):
        course.released(ASSIGNMENT)


def test_released_notebooks_are_read_again_after_a_change(course: Course) -> None:
    """A formgrader server runs for weeks."""
    before = course.released(ASSIGNMENT)[0]
    path = course.source(ASSIGNMENT) / f"{before.name}.ipynb"
    notebook = read_notebook(path)
    for cell in notebook["cells"]:
        if "run_checks" in cell["source"]:
            cell["source"] += "\n# new"
    write_notebook(path, notebook)

    again = course.released(ASSIGNMENT)[0]

    assert course.released(ASSIGNMENT)[0] is again
    assert [cell.source for cell in again.cells] != [cell.source for cell in before.cells]


def test_no_solution_travels_with_a_released_cell(course: Course) -> None:
    """What graders use must not hold what students are to write."""
    for released in course.released(ASSIGNMENT):
        for cell in released.cells:
            assert "BEGIN SOLUTION" not in cell.source
            assert "HIDDEN TESTS" not in cell.released


def test_an_unknown_cell_offers_the_nearest(course: Course) -> None:
    """Names of cells are typed by people too."""
    with pytest.raises(NotebookError, match="Did you mean 'test_head_dim'"):
        course.released(ASSIGNMENT)[0].cell("test_head_dims")


@pytest.mark.parametrize(
    "words",
    [
        "2026-11-01 12:00:00 UTC",
        "2026-11-01 12:00:00.123456 UTC",
        "2026-11-01 12:00:00 America/Los_Angeles",
        "2026-11-01 12:00:00 Europe/Berlin",
        "2026-11-01T12:00:00+02:00",
        "2026-11-01T12:00:00Z",
        "2026-11-01T12:00:00.000+0000",
        "20261101T120000Z",
        "Sunday, November 1, 2026 12:00:00 PM EST",
        "2026-11-01 12:00:00 -3600",
        "2026-11-01 12:00:00",
        "2026-11-01",
        "Sun Nov 1 12:00:00 2026",
    ],
)
def test_times_are_read_as_nbgrader_reads_them(course: Course, words: str) -> None:
    """Formgrader asks for a new grading where the stored time differs from its own reading."""
    folder = course.submitted("ana", ASSIGNMENT)
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text(words + "\n")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbgrader.utils import parse_utc  # noqa: PLC0415 - it takes seconds

        theirs = parse_utc(words)

    assert course.handed_in_at("ana", ASSIGNMENT) == theirs


def test_without_a_time_there_is_none(course: Course) -> None:
    """Then nothing is late."""
    folder = course.submitted("ana", ASSIGNMENT)
    folder.mkdir(parents=True)
    assert course.handed_in_at("ana", ASSIGNMENT) is None
    (folder / "timestamp.txt").write_text("\n")
    assert course.handed_in_at("ana", ASSIGNMENT) is None


@pytest.mark.parametrize(
    "words",
    [
        "yesterday, I think",
        "122311111111111111111111111111111101M3.2.020260159",
        "1793534400",
        "1793534400000",
        "2026-11-01 12:00:00 " + "A" * 100_000,
        "2026-11-01 12:00:00 /etc/localtime",
        "2026-11-01 12:00:00 ../../../etc/localtime",
        "2026-11-01 12:00:00 99999999999999999999",
        "9999999999999999999999-11-01",
    ],
    ids=lambda words: words[:40],
)
def test_nonsense_for_a_time_is_the_submissions_error(course: Course, words: str) -> None:
    """Nobody may guess it, and a student's nonsense must not stop the class."""
    folder = course.submitted("ana", ASSIGNMENT)
    folder.mkdir(parents=True)
    (folder / "timestamp.txt").write_text(words)

    with pytest.raises(SubmissionError, match="holds no time"):
        course.handed_in_at("ana", ASSIGNMENT)
