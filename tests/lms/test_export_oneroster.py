"""OneRoster's sets are whole in both versions, and hold a number for graded work only."""

from __future__ import annotations

import io
import zipfile
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from export_scenes import points_of, scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_person, made_request
from nasty_people import NASTY, TWINS
from oneroster_reader import read_set

from autograder.errors import CourseError
from autograder.lms.exports.model import Action
from autograder.lms.exports.oneroster import export
from autograder.lms.exports.oneroster_options import safe_id
from autograder.lms.model import GradeState, Lms

if TYPE_CHECKING:
    from collections.abc import Callable

    from export_scenes import Scene

TITLES = st.sampled_from(["HW 1", "HW 1: Lists, part 2", 'Say "hi"', "Übung 3", "=SUM(A1)", "李"])
STATUSES = {
    GradeState.MISSING: "not submitted",
    GradeState.EXCUSED: "exempt",
    GradeState.UNGRADED: "submitted",
    GradeState.GRADED: "submitted",
}


@settings(max_examples=60)
@given(
    scene=scenes(Lms.PLAIN, TITLES),
    version=st.sampled_from(["1.1", "1.2"]),
    mode=st.sampled_from(["bulk", "delta"]),
    comments=st.booleans(),
)
def test_sets_are_whole_and_say_what_is_told(
    *, scene: Scene, version: str, mode: str, comments: bool
) -> None:
    """Any class: every key leads somewhere, and every student has the result that their state asks for."""
    asked = dict(scene.asked) | {"comments": comments}
    options = {"version": version, "mode": mode}
    request = made_request(scene.grades, columns=dict(scene.titles), options=options, **asked)

    exported = export(request)

    book = read_set(exported.files[0].data)
    assert book.errors == []
    told = {(change.column, change.student): change for change in exported.changes}
    assert len(told) == len(exported.changes) == len(book.results) == len(scene.grades) * len(scene.titles)
    for grade in scene.grades:
        for key, title in scene.titles.items():
            status, score = book.results[title, grade.student]
            points = points_of(grade, key)
            if grade.state is GradeState.MISSING and asked["missing_as_zero"]:
                points = Decimal(0)
            assert score == points
            assert status == ("fully graded" if points is not None else STATUSES[grade.state])
            change = told[title, grade.student]
            assert (change.action is Action.APPLIED) == (points is not None)
            assert points is None or Decimal(change.after) == points
    written = {row["comment"] for row in book.tables["results"]}
    assert comments or written <= {""}
    assert not any(comment.startswith(("=", "+", "-", "@")) or "\n" in comment for comment in written)


@given(st.lists(st.text(max_size=300) | st.sampled_from([one.sis for one in (*NASTY, *TWINS)]), unique=True))
def test_ids_are_allowed_and_stay_different(ids: list[str]) -> None:
    """Whatever the registrar writes; an id that is allowed stays as it is."""
    made = [safe_id(one) for one in ids]

    assert len(set(made)) == len(ids)
    assert all(safe_id(one) == one and 0 < len(one) <= 255 for one in made)


def test_students_are_known_by_the_registrar_s_id() -> None:
    """In whatever LMS it was read; two students with one id do not become one."""
    grades = [
        made_grade(
            "ana", people=(made_person(Lms.MOODLE, login="aruiz"), made_person(Lms.CANVAS, sis="S 1"))
        ),
        made_grade("ben", "4", people=(made_person(Lms.CANVAS, sis="S2"),), last_name="Sukarno"),
        made_grade("cleo", "3", people=(made_person(Lms.CANVAS, sis="S2"),)),
    ]

    exported = export(made_request(grades))

    book = read_set(exported.files[0].data)
    assert book.errors == []
    users = {row["username"]: row for row in book.tables["users"]}
    assert users["aruiz"]["identifier"] == "S 1"
    assert users["aruiz"]["sourcedId"].startswith("S-1-")
    assert (users["ben"]["sourcedId"], users["cleo"]["identifier"]) == ("S2", "S2")
    assert (users["ben"]["givenName"], users["ben"]["familyName"]) == ("Sukarno", "Sukarno")
    assert {score for _, score in book.results.values()} == {Decimal("9.5"), Decimal(4), Decimal(3)}
    assert any("not allow" in note for note in exported.notes)


def test_ids_of_the_school_s_system_are_taken_over() -> None:
    """With them nothing is new there; without them it is said that they are made up."""
    names = ("school", "course", "class", "year", "term", "period", "category")
    options = {name: f"{name}/42" for name in names} | {
        "school_name": "Invented School",
        "class_title": "Year 9",
        "start": "2026-09-01",
        "end": "2027-06-30",
        "assigned": "2026-10-01",
        "due": "2026-10-15",
    }

    exported = export(made_request([made_grade("ana")], options=options))

    book = read_set(exported.files[0].data)
    assert book.errors == []
    (item,) = book.tables["lineItems"]
    assert (item["classSourcedId"], item["gradingPeriodSourcedId"], item["dueDate"]) == (
        "class/42",
        "period/42",
        "2026-10-15",
    )
    assert [row["schoolYear"] for row in book.tables["academicSessions"]] == ["2027"] * 3
    assert not any("made up" in note for note in exported.notes)
    assert any("made up" in note for note in export(made_request([made_grade("ana")])).notes)
    assert any("bulk" in note for note in exported.notes)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"version": "1.3"}, "--set version: '1.3' is not known. Write 1.1 or 1.2"),
        ({"mode": "all"}, "Write bulk or delta"),
        ({"class": "9 b"}, "'9 b' is no sourcedId"),
        ({"start": "1.9.2026"}, "--set start: '1.9.2026' is no day"),
        ({"start": "2026-09-01", "end": "2026-08-01"}, "--set end: is before"),
        ({"assigned": "2026-09-02", "due": "2026-09-01"}, "--set due: is before"),
    ],
)
def test_an_option_that_cannot_be_used_is_told(options: dict[str, str], words: str) -> None:
    """In one line."""
    with pytest.raises(CourseError) as caught:
        export(made_request([made_grade("ana")], options=options))
    assert words in str(caught.value)


def _cells(name: str, old: str, new: str) -> Callable[[dict[str, str]], None]:
    def change(files: dict[str, str]) -> None:
        assert old in files[name]
        files[name] = files[name].replace(old, new, 1)

    return change


def _in_folder(files: dict[str, str]) -> None:
    files["set/users.csv"] = files.pop("users.csv")


def _left_out(files: dict[str, str]) -> None:
    del files["classes.csv"]


@pytest.mark.parametrize(
    "change",
    [
        _in_folder,
        _left_out,
        lambda files: files.pop("manifest.csv"),
        _cells("manifest.csv", "file.demographics,absent\r\n", ""),
        _cells("manifest.csv", "file.users,bulk", "file.users,absent"),
        _cells("manifest.csv", "1.1", "1.3"),
        _cells("users.csv", "sourcedId", "sourcedid"),
        _cells("users.csv", "\r\nana", "\r\nana b"),
        _cells("users.csv", ",student,", ",pupil,"),
        _cells("enrollments.csv", ",ana,", ",ben,"),
        _cells("results.csv", "fully graded,9.5", "not submitted,0"),
        _cells("results.csv", "fully graded,9.5", "fully graded,"),
        _cells("results.csv", "fully graded,9.5", "fully graded,nan"),
        _cells("results.csv", "hw1/ana,,", "hw1/ana,active,"),
        _cells("lineItems.csv", "class-1", ""),
        _cells("lineItems.csv", "sourcedId", "\ufeffsourcedId"),
    ],
)
def test_the_reader_refuses_what_the_standard_forbids(change: Callable[[dict[str, str]], None]) -> None:
    """Each mistake of a naive set is found, so that none found means something."""
    exported = export(made_request([made_grade("ana")]))
    with zipfile.ZipFile(io.BytesIO(exported.files[0].data)) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    assert read_set(exported.files[0].data).errors == []

    change(files)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)

    assert read_set(stream.getvalue()).errors


def test_a_name_that_looks_like_a_formula_is_written_as_it_is_and_told() -> None:
    """An apostrophe before it would rename the student in the records; a spreadsheet would calculate it."""
    grades = [made_grade("ana", first_name="=1+1", last_name="@Ruiz"), made_grade("ben", first_name="Ben")]

    exported = export(made_request(grades))

    with zipfile.ZipFile(io.BytesIO(exported.files[0].data)) as archive:
        users = archive.read("users.csv").decode()
    assert ",=1+1,@Ruiz," in users
    (note,) = [note for note in exported.notes if "spreadsheet" in note]
    assert note.endswith("those of ana.")
    assert not any("spreadsheet" in note for note in export(made_request(grades[1:])).notes)
