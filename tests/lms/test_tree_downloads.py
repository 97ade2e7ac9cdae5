"""Trees of nbgrader's and plain folders: a folder is a student's whose id or name it has, or nobody's."""

from __future__ import annotations

import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from crafted_zips import zip_bytes
from hypothesis import given, settings
from nasty_people import NASTY, Nasty, classes

from autograder.errors import CourseError
from autograder.lms.archive.limits import DOWNLOAD
from autograder.lms.archive.zips import ZipArchive
from autograder.lms.downloads import nbgrader, plain
from autograder.lms.downloads.model import Context
from autograder.lms.downloads.recognising import reader_of, recognise
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.people import People

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.lms.downloads.model import Download

TIME = "2027-03-01 10:05:00.123456 UTC"
AT = datetime(2027, 3, 1, 10, 5, 0, 123456)  # noqa: DTZ001 - naive, in UTC
ANA = Person(lms=Lms.PLAIN, student="ana", first_name="Ana", last_name="Ruiz", email="Ana.Ruiz@example.edu")
BEN = Person(lms=Lms.CANVAS, student="ben", name="Lindqvist, Bo", ids={IdKind.LOGIN: "blind"})
PEOPLE = (ANA, BEN)


def opened(files: Mapping[str, bytes]) -> ZipArchive:
    """Open a zip of these files."""
    return ZipArchive("made.zip", io.BytesIO(zip_bytes(files)), DOWNLOAD)


def context(people: Iterable[Person] = PEOPLE, *notebooks: str) -> Context:
    """Return what a reader may use."""
    return Context(people=People(people), notebooks=notebooks or ("hw1", "b_hw1"), assignment="ps1", zone=UTC)


def told(download: Download) -> dict[str, list[str]]:
    """Return by student the files; what is nobody's by what it is called, with a question mark."""
    return {
        one.person.student if one.person else f"?{one.named}": sorted(path for path, _ in one.files)
        for one in download.attempts
    }


TREES = {
    "submitted": {
        "submitted/ana/ps1/hw1.ipynb": b"1",
        "submitted/ana/ps1/data/in.csv": b"2",
        "submitted/ana/ps1/timestamp.txt": TIME.encode(),
        "submitted/ben/ps1/hw1.ipynb": b"3",
        "submitted/ben/ps2/hw2.ipynb": b"4",
    },
    "alone": {
        "ana/ps1/hw1.ipynb": b"1",
        "ana/ps1/data/in.csv": b"2",
        "ana/ps1/timestamp.txt": TIME.encode(),
        "ben/ps1/hw1.ipynb": b"3",
    },
    "deep": {
        "backup/2027/ana/ps1/hw1.ipynb": b"1",
        "backup/2027/ana/ps1/data/in.csv": b"2",
        "backup/2027/ana/ps1/timestamp.txt": TIME.encode(),
        "backup/2027/ben/ps1/hw1.ipynb": b"3",
        "backup/2027/ben/notes.txt": b"5",
    },
    "inbound": {
        f"inbound/ana+ps1+{TIME}+Zq-_0/hw1.ipynb": b"1",
        f"inbound/ana+ps1+{TIME}+Zq-_0/data/in.csv": b"2",
        f"inbound/ana+ps1+{TIME}+Zq-_0/timestamp.txt": b"2001-01-01 00:00:00 UTC",
        "inbound/ben+ps1+2027-03-02 11:00:00.5 UTC/hw1.ipynb": b"3",
        "inbound/ben+ps2+2027-03-02 11:00:00.5 UTC/hw1.ipynb": b"4",
    },
}


@pytest.mark.parametrize("tree", TREES)
def test_nbgraders_trees_are_understood(tree: str) -> None:
    """Below whatever folders, with the time that they tell and without other assignments."""
    archive = opened(TREES[tree])
    download = nbgrader.read(archive, context())

    assert recognise(archive) == Lms.NBGRADER
    assert told(download) == {"ana": ["data/in.csv", "hw1.ipynb"], "ben": ["hw1.ipynb"]}
    by_student = {one.person.student: one for one in download.attempts if one.person}
    assert by_student["ana"].submitted_at == AT
    assert {one.late for one in download.attempts} == {None}
    assert sum(len(one.files) for one in download.attempts) + len(download.left) + (
        any(name.endswith("timestamp.txt") for name in TREES[tree])
    ) == len(TREES[tree])


def test_a_plus_sign_may_be_in_a_students_id() -> None:
    """As nbgrader has it: the last parts are the assignment and the time."""
    people = [Person(lms=Lms.PLAIN, student="ana+2"), ANA]
    archive = opened({f"ana+2+ps1+{TIME}+x/hw1.ipynb": b"1", f"ana+ps1+{TIME}/hw1.ipynb": b"2"})

    assert told(nbgrader.read(archive, context(people))) == {"ana+2": ["hw1.ipynb"], "ana": ["hw1.ipynb"]}


def test_every_attempt_of_the_exchange_is_there() -> None:
    """Which one counts is decided where all of them are known."""
    archive = opened({f"ana+ps1+2027-03-0{day} 10:05:00.1 UTC/hw1.ipynb": b"x" for day in (1, 2, 3)})

    days = {one.submitted_at.day for one in nbgrader.read(archive, context()).attempts if one.submitted_at}
    assert days == {1, 2, 3}


def test_a_time_that_is_none_is_told() -> None:
    """The work is taken, and somebody looks at the time."""
    archive = opened({"ana/ps1/hw1.ipynb": b"1", "ana/ps1/timestamp.txt": b"yesterday-ish \x1b[31m"})
    download = nbgrader.read(archive, context())

    (attempt,) = download.attempts
    assert attempt.submitted_at is None
    assert [(one.name, one.harmless) for one in download.left] == [("ana/ps1/timestamp.txt", False)]


def test_a_tree_without_the_assignment_is_told() -> None:
    """To collect nothing and say nothing would look like success."""
    download = nbgrader.read(opened({"submitted/ana/ps7/hw1.ipynb": b"1"}), context())

    assert download.attempts == ()
    assert [one.name for one in download.left if not one.harmless] == ["made.zip"]


@pytest.mark.parametrize(
    ("name", "student", "path"),
    [
        ("ana/hw1.ipynb", "ana", "hw1.ipynb"),
        ("class/ana/hw1.ipynb", "ana", "hw1.ipynb"),
        ("ana/data/in.csv", "ana", "data/in.csv"),
        ("ana/ps1/hw1.ipynb", "ana", "hw1.ipynb"),
        ("Ana Ruiz/hw1.ipynb", "ana", "hw1.ipynb"),
        ("Ruiz, Ana/hw1.ipynb", "ana", "hw1.ipynb"),
        ("ana.ruiz@example.edu/hw1.ipynb", "ana", "hw1.ipynb"),
        ("blind/hw1.ipynb", "ben", "hw1.ipynb"),
        ("ana_hw1.ipynb", "ana", "hw1.ipynb"),
        ("ana_b_hw1.ipynb", "ana", "b_hw1.ipynb"),
        ("class/blind_hw1.ipynb", "ben", "hw1.ipynb"),
        ("ana.ipynb", "ana", "ana.ipynb"),
        ("Ana Ruiz.zip", "ana", "Ana Ruiz.zip"),
    ],
)
def test_a_plain_name_is_a_students(name: str, student: str, path: str) -> None:
    """A folder or a file that begins with an id, a login, an address or a whole name."""
    download = plain.read(opened({name: b"1"}), context())

    assert told(download) == {student: [path]}
    assert download.left == ()


def test_a_whole_class_in_one_folder() -> None:
    """The folder around it is nobody's, even if a student's folder holds another's name."""
    files = {"down/ana/hw1.ipynb": b"1", "down/zoe/ben/hw1.ipynb": b"2", "down/ben_hw1.ipynb": b"3"}
    download = plain.read(opened(files), context())

    assert told(download) == {"ana": ["hw1.ipynb"], "?zoe": ["ben/hw1.ipynb"], "ben": ["hw1.ipynb"]}
    (zoe,) = (one for one in download.attempts if one.person is None)
    assert "zoe" in zoe.problem


def test_what_may_be_two_students_is_nobodys() -> None:
    """Names that several have, names that can be cut in two ways, and letters of one look."""
    people = [
        Person(lms=Lms.PLAIN, student="k1", first_name="Kim", last_name="Park"),
        Person(lms=Lms.PLAIN, student="k2", first_name="Kim", last_name="Park"),
        Person(lms=Lms.PLAIN, student="ana"),
        Person(lms=Lms.PLAIN, student="ana_b"),
    ]
    files = {"Kim Park/hw1.ipynb": b"1", "ana_b_hw1.ipynb": b"2", "notes.txt": b"3", "k1/hw1.ipynb": b"4"}
    download = plain.read(opened(files), context(people))

    assert told(download) == {"?Kim Park": ["hw1.ipynb"], "k1": ["hw1.ipynb"]}
    assert sorted(one.name for one in download.left if not one.harmless) == ["ana_b_hw1.ipynb", "notes.txt"]


def test_an_id_of_the_course_counts_before_that_of_an_lms() -> None:
    """What is one student's id here may be another's number there."""
    people = [
        Person(lms=Lms.PLAIN, student="501"),
        Person(lms=Lms.CANVAS, student="ana", ids={IdKind.USER: "501"}),
    ]

    assert told(plain.read(opened({"501/hw1.ipynb": b"1"}), context(people))) == {"501": ["hw1.ipynb"]}


@given(classes())
@settings(max_examples=30)
def test_every_student_has_a_folder(people: tuple[Nasty, ...]) -> None:
    """By login each finds their own, whatever the others are called; in both kinds of tree."""
    known = [one.person(Lms.CANVAS, student=one.login) for one in people]
    folders = opened({f"down/{one.login}/hw1.ipynb": b"1" for one in people} | {"down/zz-none/x": b""})
    tree = opened({f"down/{one.login}/ps1/hw1.ipynb": b"1" for one in people})

    for download in (plain.read(folders, context(known)), nbgrader.read(tree, context(known))):
        found = told(download)
        found.pop("?zz-none", None)
        assert found == {one.login: ["hw1.ipynb"] for one in people}


def test_files_are_told_apart_by_their_students() -> None:
    """Underscores in ids, in names of notebooks and in both."""
    people = [one.person(Lms.CANVAS, student=one.login) for one in NASTY]
    archive = opened({f"{one.login}_hw_1_a.ipynb": b"1" for one in NASTY})

    found = told(plain.read(archive, context(people, "hw_1_a")))
    assert found == {one.login: ["hw_1_a.ipynb"] for one in NASTY}


def test_what_is_recognised_and_what_is_not() -> None:
    """A folder for each student is plain; what could be of anybody has to be told."""
    assert recognise(opened({"ana/hw1.ipynb": b"", "ben/hw1.ipynb": b""})) == Lms.PLAIN
    assert recognise(opened({"ana_hw1.ipynb": b"", "ben_hw1.ipynb": b""})) == Lms.PLAIN
    mixed = {f"ruizana_{number}_77_hw1.ipynb": b"" for number in range(4)} | {"a b.txt": b"", "c d.txt": b""}
    half = {f"ana{number}+ps1+{TIME}/1": b"" for number in range(3)} | {
        f"x_{number}_7_hw1.ipynb": b"" for number in range(3)
    }

    assert recognise(opened(mixed)) == Lms.CANVAS
    for files in (half, {"a b.txt": b"", "c d.txt": b""}, {}):
        with pytest.raises(CourseError, match=r"--from: canvas, .*plain"):
            recognise(opened(files))


OWN = "submitted/ben/ps1"
FOREIGN = {
    "a folder called as the exchange's": {f"{OWN}/ana+ps1+2030-01-01 00:00:00 UTC/hw1.ipynb": b"BEN"},
    "folders of another assignment": {f"submitted/ben/ps2/ana/ps1/{number}": b"BEN" for number in range(9)},
    "a tree in a tree": {f"{OWN}/submitted/ana/ps1/hw1.ipynb": b"BEN"},
    "both, many times": {
        f"{OWN}/{number}/ana+ps1+2030-01-01 00:00:00 UTC/ana/ps1/hw1.ipynb": b"BEN" for number in range(20)
    },
}


@pytest.mark.parametrize("around", ["", "backup/2027/", "course/"])
@pytest.mark.parametrize("what", FOREIGN)
def test_what_a_student_names_is_the_students_own(what: str, around: str) -> None:
    """Where students' folders are is decided above them, by the students, not by their files."""
    files = {f"submitted/{one}/ps1/hw1.ipynb": one.encode() for one in ("ana", "ben")} | FOREIGN[what]
    files |= {f"{OWN}/timestamp.txt": TIME.encode()}
    course = {"source/ps1/hw1.ipynb": b"", "notes.txt": b""} if around == "course/" else {}
    archive = opened({f"{around}{name}": data for name, data in (files | course).items()})
    download = nbgrader.read(archive, context())

    assert recognise(archive) == Lms.NBGRADER
    whose = {
        archive.read(entry): attempt.person.student
        for attempt in download.attempts
        if attempt.person
        for _, entry in attempt.files
    }
    assert whose.pop(b"ana") == "ana"
    assert set(whose.values()) == {"ben"}
    assert [one.person.student for one in download.attempts if one.person] == ["ana", "ben"]


def test_what_one_student_names_makes_no_lms() -> None:
    """A plain folder stays one, whatever and however much is in one student's part of it."""
    plainly = {f"handed in/{one}/hw1.ipynb": b"" for one in ("ana", "ben", "cy")}
    named = (
        f"ana+ps1+{TIME}/",
        "ana_5_assignsubmission_file/",
        "ana_501_7_",
        "ps1_ana_attempt_2027-03-01-10-05-06_",
        "1-2 - Ana Ruiz - Mar 1, 2027 926 PM/",
        "Ruiz, Ana(ana)/Submission attachment(s)/",
    )
    for start in named:
        files = {f"handed in/ben/{start}{number}.ipynb": b"" for number in range(20)}
        files |= {f"handed in/ben/{start.rstrip('/')}/timestamp.txt": b"", "handed in/ben/grades.csv": b""}
        assert recognise(opened(plainly | files)) == Lms.PLAIN
        # Of one student alone too, if the student is known.
        alone = {name: data for name, data in files.items() if name.endswith(".ipynb")}
        assert recognise(opened(alone), People(PEOPLE)) == Lms.PLAIN


def test_downloads_in_folders_are_told() -> None:
    """Two sections in a folder each are two downloads, and no folders of two students."""
    files = {"sec1/ruizana_501_11_hw1.ipynb": b"", "sec2/lindqvistbo_502_12_hw1.ipynb": b""}

    with pytest.raises(CourseError, match="like Canvas in sec1 and like Canvas in sec2") as caught:
        recognise(opened(files))
    assert "Name each folder" in caught.value.remedy
    known = [Person(lms=Lms.PLAIN, student="sec1"), Person(lms=Lms.PLAIN, student="sec2")]
    assert recognise(opened(files), People(known)) == Lms.PLAIN


def test_not_every_lms_hands_out_submissions() -> None:
    """An order that cannot be followed is told at once."""
    with pytest.raises(CourseError, match="Open edX"):
        reader_of(Lms.OPENEDX)
    assert reader_of(Lms.PLAIN) is plain
