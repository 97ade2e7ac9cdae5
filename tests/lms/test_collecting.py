"""Collecting: everybody gets their own work, the latest of it, once; what is in doubt is left alone."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from collect_courses import (
    ASSIGNMENT,
    FIRST,
    SECOND,
    collect,
    course_with_students,
    download,
    earlier,
    everything,
    inbound,
    light_course,
    roster,
    submitted,
    upload,
)
from crafted_zips import RawZip, zip_bytes

from autograder.cli import main
from autograder.commands.collected import TOLD
from autograder.gradebook import Gradebook
from autograder.lms.collecting.record import load_record
from autograder.lms.model import IdKind, Lms

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

NOTEBOOK, OTHER = f"{FIRST}.ipynb", f"{SECOND}.ipynb"


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with nobody in it."""
    return light_course(tmp_path / "course")


@pytest.fixture
def known(tmp_path: Path) -> Course:
    """Return a course whose gradebook has the three students."""
    return course_with_students(tmp_path)


def test_the_whole_way(course: Course, tmp_path: Path) -> None:
    """Folders, names that Canvas changed put right, students, ids, and a record of what came whence."""
    path = download(
        tmp_path / "submissions.zip",
        upload("501", 8801, b"a1"),
        upload("501", 8802, b"a2", f"{SECOND}-1.ipynb"),
        upload("503", 8810, b"m1", late=True),
    )
    code, told = collect(course, path, "--roster", roster(tmp_path))

    assert code == 0
    assert submitted(course) == {"aruiz": {NOTEBOOK: b"a1", OTHER: b"a2"}, "jmuller": {NOTEBOOK: b"m1"}}
    with Gradebook(course.db_url) as gradebook:
        people = {(one.student, one.lms): one for one in gradebook.people()}
        assert sorted({student for student, _ in people}) == ["aruiz", "blind", "jmuller"]
    assert people["jmuller", Lms.PLAIN].first_name == "Jean-Luc"
    assert people["blind", Lms.CANVAS].ids == {IdKind.USER: "502", IdKind.SIS: "S0002", IdKind.LOGIN: "blind"}
    record = load_record(course.root, ASSIGNMENT)
    assert list(record.students) == ["aruiz", "jmuller"]
    assert not record.pending
    ana = record.students["aruiz"]
    assert ana.entries == ("ruizana_501_8801_" + NOTEBOOK, f"ruizana_501_8802_{SECOND}-1.ipynb")
    assert [(one.path, one.size) for one in ana.files] == [(NOTEBOOK, 2), (OTHER, 2)]
    assert (ana.archive, ana.key, ana.number, ana.late) == ("submissions.zip", "ruizana_501", 8802, False)
    assert record.students["jmuller"].late is True
    assert "3 (aruiz, blind, jmuller)" in told
    assert "2 new" in told


def test_the_same_once_more_changes_nothing(course: Course, tmp_path: Path) -> None:
    """Not a byte and not a time of anything in the course."""
    path = download(tmp_path / "a.zip", upload("501", 8801, b"a1"), upload("502", 8802, b"b1", late=True))
    words = (path, "--roster", roster(tmp_path))
    assert collect(course, *words)[0] == 0
    before = everything(course.root)

    for again in (words, (path, path), (path,)):
        code, told = collect(course, *again)
        assert code == 0
        assert "2 unchanged" in told
        assert everything(course.root) == before


def test_a_dry_run_writes_nothing(course: Course, tmp_path: Path) -> None:
    """And shows the same table."""
    words = (download(tmp_path / "a.zip", upload("501", 8801, b"a1")), "--roster", roster(tmp_path))
    before = everything(course.root)
    dry = collect(course, *words, "--dry-run")

    assert everything(course.root) == before
    code, told = collect(course, *words)
    assert dry[0] == code == 0
    table, _, rest = dry[1].partition(" new in the gradebook")
    assert "Nothing was written (--dry-run)." in rest
    assert "Nothing was written" not in told
    assert told.startswith(table)


def test_what_a_person_has_changed_stays(known: Course, tmp_path: Path) -> None:
    """The same download leaves it alone and says so, a later attempt asks, --force keeps it aside."""
    first = download(tmp_path / "1.zip", upload("501", 8801, b"first"))
    second = download(tmp_path / "2.zip", upload("501", 8899, b"second"))
    collect(known, first)
    mine = known.submitted("aruiz", ASSIGNMENT) / NOTEBOOK
    mine.write_bytes(b"mended")
    before = everything(known.root)

    code, told = collect(known, first)
    assert (code, everything(known.root)) == (0, before)
    assert "1 changed by hand" in told
    code, told = collect(known, second)
    assert (code, everything(known.root)) == (1, before)
    assert "--force" in told
    assert collect(known, second, "--force")[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"second"}
    assert {NOTEBOOK: b"mended"} in earlier(known, "aruiz")
    mine.write_bytes(b"mended again")
    assert collect(known, first)[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"mended again"}
    assert collect(known, first, "--force")[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"first"}
    assert {NOTEBOOK: b"mended again"} in earlier(known, "aruiz")


def test_what_was_changed_by_hand_hides_no_other_work_of_the_same_time(known: Course, tmp_path: Path) -> None:
    """It is no mere edit of what was collected: somebody has to look."""
    attempt = "aruiz", "2027-03-03 10:05:00.0 UTC"
    assert collect(known, inbound(tmp_path / "1.zip", (*attempt, b"one")))[0] == 0
    (known.submitted("aruiz", ASSIGNMENT) / NOTEBOOK).write_bytes(b"mended")
    code, told = collect(known, inbound(tmp_path / "2.zip", (*attempt, b"two")))

    assert (code, submitted(known)["aruiz"][NOTEBOOK]) == (1, b"mended")
    assert "differs from what was collected from 1.zip" in told


def test_work_of_another_assignment_is_refused(known: Course, tmp_path: Path) -> None:
    """All of it, in the words of what is in it; with --force it is taken."""
    assert collect(known, download(tmp_path / "1.zip", upload("501", 8801, b"mine")))[0] == 0
    before = everything(known.root)
    other = download(
        tmp_path / "2.zip",
        upload("501", 8901, zip_bytes({"other.ipynb": b"{}"}), "hw2.zip"),
        upload("502", 8902, b"[]", "other.ipynb"),
    )
    code, told = collect(known, other, ASSIGNMENT)

    assert (code, everything(known.root)) == (2, before)
    assert f"nobody handed in a notebook of {ASSIGNMENT}; in it are other.ipynb (2 times)" in told
    assert collect(known, other, ASSIGNMENT, "--force")[0] == 0
    assert submitted(known)["blind"] == {"other.ipynb": b"[]"}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", [f"{FIRST} (1).ipynb", "mine.ipynb", "notebook.txt"])
def test_one_notebook_of_the_assignment_will_do(
    known: Course, tmp_path: Path, name: str, *, packed: bool
) -> None:
    """Called as a browser calls it, or told by its cells, in an archive or not."""
    notebook = (known.source(ASSIGNMENT) / NOTEBOOK).read_bytes()
    inside = {name: b"" if FIRST in name else notebook, "more.ipynb": b"{broken"}
    mine = upload("501", 1, zip_bytes(inside), "a.zip") if packed else upload("501", 1, inside[name], name)
    code, told = collect(known, download(tmp_path / "1.zip", upload("502", 2, b"x", "a.ipynb"), mine))

    assert code == 0, told
    assert set(submitted(known)) == {"aruiz", "blind"}


@pytest.mark.parametrize(
    "junk", [".ipynb_checkpoints/a-checkpoint.ipynb", ".DS_Store", "__pycache__/a.pyc", ""]
)
def test_to_look_at_it_is_not_to_change_it(known: Course, tmp_path: Path, junk: str) -> None:
    """What Jupyter and systems leave behind does not count, nor does a time that Canvas did not tell."""
    collect(known, download(tmp_path / "1.zip", upload("501", 8801, b"first")))
    path = known.submitted("aruiz", ASSIGNMENT) / (junk or "timestamp.txt")
    path.parent.mkdir(exist_ok=True)
    path.write_text("2027-03-01 10:00:00 UTC")

    assert "1 unchanged" in collect(known, tmp_path / "1.zip")[1]
    assert collect(known, download(tmp_path / "2.zip", upload("501", 8802, b"second")))[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"second"}


def test_what_was_there_before_the_first_collect_stays(known: Course, tmp_path: Path) -> None:
    """Somebody else has put it there; if it is the same, it is taken over."""
    mine = known.submitted("aruiz", ASSIGNMENT)
    mine.mkdir(parents=True)
    (mine / NOTEBOOK).write_bytes(b"mine")
    code, told = collect(known, download(tmp_path / "1.zip", upload("501", 8801, b"theirs")))

    assert (code, submitted(known)["aruiz"]) == (1, {NOTEBOOK: b"mine"})
    assert "was not collected by this command" in told
    assert collect(known, download(tmp_path / "2.zip", upload("501", 8801, b"mine")))[0] == 0
    assert load_record(known.root, ASSIGNMENT).students["aruiz"].archive == "2.zip"


def test_a_later_attempt_does_not_come_back_as_an_older_one(known: Course, tmp_path: Path) -> None:
    """Whose folder is gone gets the same again, and an older one only on demand."""
    first = download(tmp_path / "1.zip", upload("501", 8801, b"first"))
    second = download(tmp_path / "2.zip", upload("501", 8899, b"second"))
    collect(known, second)
    folder = known.submitted("aruiz", ASSIGNMENT)
    (folder / NOTEBOOK).unlink()
    folder.rmdir()

    assert collect(known, first)[0] == 1
    assert submitted(known) == {}
    assert collect(known, second)[0] == 0
    assert submitted(known)["aruiz"] == {NOTEBOOK: b"second"}


def test_what_cannot_be_taken_costs_nobody_else(known: Course, tmp_path: Path) -> None:
    """A damaged file, a file that leads out and a stranger: each is told, the others are collected."""
    raw = RawZip()
    for name, data in {**upload("501", 8801, b"good"), **upload("503", 8803, b"fine")}.items():
        raw.add(name, data)
    raw.add(f"lindqvistbo_502_8802_{NOTEBOOK}", b"damaged", crc=7)
    raw.add("../../../evil.ipynb", b"x").add(f"nobodyny_777_9_{NOTEBOOK}", b"x")
    path = tmp_path / "a.zip"
    path.write_bytes(raw.bytes())
    code, told = collect(known, path)

    assert code == 1
    assert submitted(known) == {"aruiz": {NOTEBOOK: b"good"}, "jmuller": {NOTEBOOK: b"fine"}}
    for words in (
        "is damaged",
        "leads out of the archive",
        "nobodyny_777: No student has this number",
        "3 not collected",
    ):
        assert words in told


def test_thousands_of_refusals_are_counted(known: Course, tmp_path: Path) -> None:
    """Archives of a student's that are full of tricks do not push everything else off the screen."""
    tricks = RawZip().add(NOTEBOOK, b"x")
    for number in range(300):
        tricks.add(f"../{number:0900}", b"x").add(f"{number:0200}a.csv", b"x").add(
            f"{number:0200}A.csv", b"y"
        )
    evil = [upload("501", 1, tricks.bytes(), "work.zip")]
    for number in range(2 * TOLD):
        damaged = RawZip().add(f"{number}.ipynb", b"x").add(f"{number}.csv", b"y", crc=number)
        evil.append(upload("501", 2 + number, damaged.bytes(), f"{number}.zip"))
    link = RawZip().add(NOTEBOOK, b"m").add("../out.csv", b"x")
    code, told = collect(
        known, download(tmp_path / "a.zip", *evil, upload("503", 999, link.bytes(), "m.zip"))
    )

    assert code == 1
    assert submitted(known)["jmuller"] == {NOTEBOOK: b"m"}
    for reason in ("leads out of the archive", "by case alone", "an archive that is damaged"):
        assert told.count(reason) == 1
    assert "(and 299 more in it): Its name leads out" in told
    assert "not collected: müllerjeanluc_503_999_m.zip: ../out.csv, ruizana_501_1_work.zip: ../0000" in told
    assert len(told) < 8000


def test_whoever_is_in_doubt_gets_nothing(course: Course, tmp_path: Path) -> None:
    """A person of the roster whose ids name two students is told, and so is their work."""
    with Gradebook(course.db_url) as gradebook:
        gradebook.enroll("aruiz", lms_user_id="7")
        gradebook.enroll("ana", lms_user_id="501")
    path = download(tmp_path / "a.zip", upload("501", 8801, b"x"), upload("502", 8802, b"b"))
    code, told = collect(course, path, "--roster", roster(tmp_path))

    assert code == 1
    assert set(submitted(course)) == {"blind"}
    assert "names 2 students: ana and aruiz" in told
    with Gradebook(course.db_url) as gradebook:
        known = {one.student for one in gradebook.people() if one.lms == Lms.CANVAS}
    assert known == {"blind", "jmuller"}


def test_a_link_is_not_followed(known: Course, tmp_path: Path) -> None:
    """A submission's folder that is another's, or no folder, is left alone."""
    other = tmp_path / "other"
    other.mkdir()
    known.submitted("aruiz", ASSIGNMENT).parent.mkdir(parents=True, exist_ok=True)
    known.submitted("aruiz", ASSIGNMENT).symlink_to(other)
    known.submitted("blind", ASSIGNMENT).parent.mkdir(parents=True)
    known.submitted("blind", ASSIGNMENT).write_text("no folder")
    uploads = (upload(user, int(user), b"x") for user in ("501", "502", "503"))
    code, told = collect(known, download(tmp_path / "a.zip", *uploads))

    assert code == 1
    assert list(other.iterdir()) == []
    assert "through a link" in told
    assert "is no folder" in told
    assert submitted(known)["jmuller"] == {NOTEBOOK: b"x"}


def test_late_is_told_where_two_say_otherwise(known: Course, tmp_path: Path) -> None:
    """Canvas's mark without a time, and nbgrader's time against a due date with an extension."""
    with Gradebook(known.db_url) as gradebook, gradebook._database.writing() as connection:
        table = gradebook._database.table("assignment")
        due = datetime(2027, 3, 1, 12, 0)  # noqa: DTZ001 - naive, in UTC
        connection.execute(table.update().where(table.c.name == ASSIGNMENT).values(duedate=due))
    _, told = collect(known, download(tmp_path / "a.zip", upload("501", 8801, b"x", late=True)))
    assert "late for Canvas, which does not say when; a penalty needs a time in timestamp.txt: aruiz" in told

    path = inbound(
        tmp_path / "b.zip",
        ("blind", "2027-03-01 12:00:00.5 UTC", b"x"),
        ("jmuller", "2027-03-01 12:00:00.0 UTC", b"y"),
    )
    done = CliRunner().invoke(main, ["collect", str(path), "--json", "--course-dir", str(known.root)])
    late = {one["student"]: one["seconds_late"] for one in json.loads(done.stdout)["students"]}
    assert late == {"blind": 0.5, "jmuller": 0.0}
