"""Feedback comes back to the student it is of, as each LMS reads the archive, or it is told why not."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from canvas_reupload import CanvasAssignment, upload
from canvas_zips import Upload, canvas_zip, entry_name
from downloads_read import enrolled
from given_back import Back, collected, packed, page, whose, work_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moodle_feedback_importer import MoodleAssignment, import_feedback
from nasty_people import ANA, NASTY, TWINS, Nasty, classes
from tree_uploads import add_feedback_files, upload_all
from written_downloads import MoodleSite, Words, Written, brightspace, handed, moodle, moodle_teams, sakai
from written_downloads import blackboard as blackboard_download
from written_rosters import blackboard as blackboard_roster
from written_rosters import brightspace as brightspace_roster
from written_rosters import canvas_gradebook, moodle_grades, moodle_worksheet, sakai_gradebook, table

from autograder.lms.downloads import blackboard as blackboard_reader
from autograder.lms.downloads import brightspace as brightspace_reader
from autograder.lms.downloads import canvas as canvas_reader
from autograder.lms.downloads import moodle as moodle_reader
from autograder.lms.downloads import sakai as sakai_reader
from autograder.lms.model import IdKind
from autograder.lms.returns import blackboard, canvas, trees
from autograder.lms.returns import moodle as moodle_returns
from autograder.lms.returns.canvas import numbers_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.lms.model import Person

DISPLAYS = st.sampled_from(["hw1.ipynb", "a_1_2_b.ipynb", "1_2.zip"])
MANY = settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])


def folder_in(place: Path) -> Path:
    """Return a new folder; hypothesis calls a test many times with one fixture."""
    return Path(tempfile.mkdtemp(dir=place))


def short(nasty: Sequence[Nasty]) -> list[Nasty]:
    """Return people whose names a disk can hold, and whom a name can be told by."""
    return [one for one in nasty if len(one.full.encode()) < 150]


# -------------------------------------------------------------------- Canvas


def canvas_back(
    people: Sequence[Nasty],
    uploads: Sequence[Upload],
    place: Path,
    parts: Sequence[str] = (),
) -> tuple[Back, CanvasAssignment, list[Person]]:
    """Collect uploads, and pack feedback for them."""
    roster = enrolled(people, canvas_gradebook)
    records = collected(Written(entries=canvas_zip(uploads)), canvas_reader, roster)
    back = packed(canvas.pack, work_of(records, place, roster, parts), place)
    attachments = {(one.user, str(one.attachment)): one.display for one in uploads if one.attachment}
    return back, CanvasAssignment(attachments), roster


def assert_canvas_does_what_we_say(back: Back, assignment: CanvasAssignment, people: Sequence[Nasty]) -> None:
    """Canvas ignores nothing, and gives each page to the student it is of."""
    done = upload(back.files, assignment)
    users = {one.user: one.login for one in people}
    assert done.ignored == []
    for user, comments in done.comments.items():
        assert whose(data for _, data in comments) == {users[user]}
    assert {users[user] for user in done.comments} == set(back.given)
    shown = {(users[user], name) for user, comments in done.comments.items() for name, _ in comments}
    assert shown == {(one.student, one.shown) for one in back.returned.given}


def uploads_of(people: Sequence[Nasty], *displays: str, late: bool = False) -> list[Upload]:
    """Return what everybody has handed in to Canvas."""
    return [
        Upload(sortable=one.sortable, user=one.user, attachment=9000 + 10 * at + nth, display=name, late=late)
        for at, one in enumerate(people)
        for nth, name in enumerate(displays or ("hw1.ipynb",))
    ]


@pytest.mark.parametrize("late", [True, False])
def test_canvas_gives_everybody_their_page(tmp_path: Path, *, late: bool) -> None:
    """Names with numbers, `anon` and `LATE` in them do not lead a page to nobody."""
    people = [*NASTY, *TWINS, Nasty("", "Anon", "anon", "A1", "801"), Nasty("", "7_8", "seven", "A2", "802")]
    back, assignment, _ = canvas_back(people, uploads_of(people, late=late), tmp_path)

    assert set(back.given) == {one.login for one in people}
    assert_canvas_does_what_we_say(back, assignment, people)


def test_canvas_would_ignore_the_names_that_it_gave_itself(tmp_path: Path) -> None:
    """The trap: a name that ends in a number shifts those of student and file."""
    trapped = Nasty("", "Tan_7", "tan7", "T7", "1239")
    (one,) = uploads_of([trapped])
    assignment = CanvasAssignment({(one.user, str(one.attachment)): one.display})

    assert upload({entry_name(one): b"x"}, assignment).ignored == [entry_name(one)]
    assert numbers_read(entry_name(one)) == ("7", trapped.user)
    back, _, _ = canvas_back([trapped], [one], tmp_path)
    assert upload(back.files, assignment).ignored == []


@MANY
@given(
    people=classes(),
    displays=st.lists(st.sampled_from(["hw1.ipynb", "a_1_2_b.ipynb", "1_2.zip"]), max_size=2),
)
def test_canvas_gives_no_page_to_somebody_else(
    tmp_path: Path, people: tuple[Nasty, ...], displays: list[str]
) -> None:
    """Whatever people and files are called."""
    displays = list(dict.fromkeys(displays))
    back, assignment, _ = canvas_back(people, uploads_of(people, *displays), folder_in(tmp_path))

    assert_canvas_does_what_we_say(back, assignment, people)


def test_canvas_shows_each_notebook_its_own_page(tmp_path: Path) -> None:
    """Who handed in each notebook by itself finds the page of each; who zipped them finds one with all."""
    both = uploads_of([ANA], "hw1-1.ipynb", "lab-1.ipynb")
    zipped = uploads_of([NASTY[1]], "work.zip")
    back, assignment, _ = canvas_back([ANA, NASTY[1]], [*both, *zipped], tmp_path, parts=("hw1", "lab-1"))

    comments = upload(back.files, assignment).comments
    assert sorted(comments[ANA.user]) == [
        ("hw1-1.ipynb", page(ANA.login, "hw1")),
        ("lab-1.ipynb", page(ANA.login, "lab-1")),
    ]
    assert comments[NASTY[1].user] == [("work.zip", page(NASTY[1].login))]


def test_canvas_keeps_the_names_that_lead_to_the_right_file(tmp_path: Path) -> None:
    """What needs no change is byte for byte what Canvas gave."""
    uploads = uploads_of([ANA, NASTY[10], NASTY[11]], "hw 1 (final).ipynb")
    back, _, _ = canvas_back([ANA, NASTY[10], NASTY[11]], uploads, tmp_path)

    assert set(back.files) == {entry_name(one) for one in uploads}


def test_canvas_has_nothing_to_attach_to_a_text(tmp_path: Path) -> None:
    """A text or an address was entered: the student is left out, and it is told what to do."""
    text = Upload(sortable=ANA.sortable, user=ANA.user, attachment=0, display="text.html")
    link = Upload(sortable=NASTY[1].sortable, user=NASTY[1].user, attachment=0, display="link.html")
    back, _, _ = canvas_back([ANA, NASTY[1]], [text, link], tmp_path)

    assert back.files == {}
    assert all("SpeedGrader" in reason for reason in back.left.values())


def test_canvas_shows_a_group_one_page(tmp_path: Path) -> None:
    """Canvas posts it to the whole group: a note says so."""
    uploads = uploads_of([ANA])
    back, assignment, _ = canvas_back([ANA], uploads, tmp_path)
    grouped = replace(assignment, groups={"ruiz": (ANA.user, "502")})

    assert set(upload(back.files, grouped).comments) == {ANA.user, "502"}
    assert any("whole group" in note for note in back.returned.notes)


# -------------------------------------------------------------------- Moodle


def moodle_assignment(people: Sequence[Nasty]) -> MoodleAssignment:
    """Return what Moodle knows, by the numbers of the worksheet."""
    return MoodleAssignment({str(int(one.user) + 5000): one.login for one in people})


def assert_moodle_does_what_we_say(back: Back, assignment: MoodleAssignment) -> None:
    """Moodle ignores and skips nothing, and each page reaches the student it is of."""
    done = import_feedback(back.files, assignment)
    assert (done.ignored, done.unchanged) == ([], [])
    assert {student: whose(files) for student, files in done.feedback.items()} == {
        student: {student} for student in back.given
    }
    names = {name for files in done.feedback.values() for name in files}
    assert names <= {"hw1_feedback.html"}


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("underscore", [True, False])
@pytest.mark.parametrize("blind", ["Participant", ""])
def test_moodle_gives_everybody_their_page(
    tmp_path: Path, *, flat: bool, underscore: bool, blind: str
) -> None:
    """Folders or flat, old and new, blind or not: with the worksheet nobody is left out."""
    people = [*short(NASTY), *TWINS, Nasty("~Tilde", ".Dot", "tilde", "T1", "701")]
    site = MoodleSite(flat=flat, underscore=underscore, blind=blind)
    work = [handed(one) for one in people]
    roster = enrolled(people, moodle_worksheet)
    records = collected(moodle(work, site), moodle_reader, roster)

    back = packed(moodle_returns.pack, work_of(records, tmp_path / "x", roster), tmp_path)

    assert set(back.given) == {one.login for one in people}
    assert_moodle_does_what_we_say(back, moodle_assignment(people))
    is_flat = any("/" not in name for name in back.files)
    assert is_flat == flat


@MANY
@given(people=classes(), flat=st.booleans())
def test_moodle_gives_no_page_to_somebody_else(
    tmp_path: Path,
    people: tuple[Nasty, ...],
    flat: bool,  # noqa: FBT001 - hypothesis gives it by name
) -> None:
    """Whatever people are called, with names alone too: everybody gets their own page, or it is told."""
    place = folder_in(tmp_path)
    roster = enrolled(people, moodle_grades)
    records = collected(moodle([handed(one) for one in people], MoodleSite(flat=flat)), moodle_reader, roster)

    back = packed(moodle_returns.pack, work_of(records, place, roster), place)

    assert_moodle_does_what_we_say(back, moodle_assignment(people))


def test_moodle_takes_the_number_of_a_team_for_somebody_elses(tmp_path: Path) -> None:
    """The trap: a team's number is another student's; members get their own folders, or are told."""
    team = [replace(one, groups=("Team Red",)) for one in NASTY[1:4]]
    other = replace(ANA, user="501")
    written = moodle_teams({"Team Red": {"hw1.ipynb": b"theirs"}})
    assert "Team Red_5501_assignsubmission_file/hw1.ipynb" in written.entries
    assignment = moodle_assignment([other, *team])
    naive = import_feedback({"Team Red_5501_assignsubmission_file/hw1_feedback.html": b"x"}, assignment)
    assert set(naive.feedback) == {other.login}, "somebody else would read it"

    roster = enrolled([other, *team], grouped_grades)
    without = packed(
        moodle_returns.pack,
        work_of(collected(written, moodle_reader, roster), tmp_path / "a", roster),
        tmp_path,
    )
    numbered = [
        replace(one, ids={**one.ids, IdKind.PARTICIPANT: number})
        for one, number in zip(roster, assignment.participants, strict=True)
    ]
    found = collected(written, moodle_reader, roster)
    records = [replace(one, ids=_ids(numbered, one.student)) for one in found]
    back = packed(moodle_returns.pack, work_of(records, tmp_path / "b", roster), tmp_path)

    assert set(without.left) == {one.login for one in team}
    assert all("worksheet" in reason for reason in without.left.values())
    assert set(back.given) == {one.login for one in team}
    assert_moodle_does_what_we_say(back, assignment)


def test_a_team_of_one_is_a_team(tmp_path: Path) -> None:
    """Nobody shares its folder, and its number is a group's all the same: without a worksheet it is told."""
    member = replace(NASTY[1], groups=("Team Red",))
    roster = enrolled([ANA, member], grouped_grades)
    written = moodle_teams({"Team Red": {"hw1.ipynb": b"mine"}})

    back = packed(
        moodle_returns.pack,
        work_of(collected(written, moodle_reader, roster), tmp_path / "a", roster),
        tmp_path,
    )

    assert set(back.left) == {member.login}
    assert back.files == {}


def grouped_grades(nasty: Sequence[Nasty]) -> tuple[bytes, list[Person]]:
    """Moodle's participants, with a column of groups."""
    rows = [["First name", "Last name", "ID number", "Email address", "Groups"]]
    rows += [[one.first, one.last, one.sis, one.email, ", ".join(one.groups)] for one in nasty]
    return table(rows).encode(), []


def _ids(people: Sequence[Person], student: str) -> dict[IdKind, str]:
    return dict(next(one for one in people if one.student == student).ids)


def test_moodle_skips_what_the_student_has_handed_in(tmp_path: Path) -> None:
    """Somebody hands in a copy of their feedback: Moodle would skip it in silence, so it is told."""
    roster = enrolled([ANA], moodle_worksheet)
    copy = replace(handed(ANA), files={"hw1.ipynb": page(ANA.login)})
    records = collected(moodle([copy]), moodle_reader, roster)
    assignment = replace(moodle_assignment([ANA]), handed_in={ANA.login: (page(ANA.login),)})
    name = "Ana Ruiz_5501_assignsubmission_file/hw1_feedback.html"
    assert import_feedback({name: page(ANA.login)}, assignment).unchanged == [name]

    back = packed(moodle_returns.pack, work_of(records, tmp_path / "a", roster), tmp_path)

    assert "skips" in back.left[ANA.login]


# --------------------------------------------------- Brightspace, Sakai, Blackboard


def test_brightspace_finds_the_folders_that_it_made(tmp_path: Path) -> None:
    """Each page lies in the folder of the attempt that counts, under its very name, with the index page."""
    people = short(NASTY)
    work = [handed(one, number=nth) for one in people for nth in (0, 30)]
    written = brightspace(work)
    roster = enrolled(people, brightspace_roster)
    records = collected(written, brightspace_reader, roster)
    made = work_of(records, tmp_path / "a", roster)

    back = packed(trees.brightspace, replace(made, index=b"<html></html>"), tmp_path)
    done = add_feedback_files(back.files, {name.split("/")[0] for name in written.entries})

    assert done.ignored == []
    assert back.files["index.html"] == b"<html></html>"
    assert {one.student for one in records} == set(back.given) != set()
    owners = {one.key: one.student for one in records}
    assert {owners[folder]: whose(files) for folder, files in done.files.items()} == {
        one.student: {one.student} for one in records
    }
    without = packed(trees.brightspace, made, tmp_path)
    assert "index.html" not in without.files
    assert any("--download" in note for note in without.returned.notes)


def test_pages_of_a_name_with_several_folders_are_told(tmp_path: Path) -> None:
    """The last folder may be of somebody who has taken the name: the page would reach them."""
    roster = enrolled([ANA, NASTY[1]], brightspace_roster)
    work = [handed(ANA), handed(ANA, number=1), handed(NASTY[1])]
    records = collected(brightspace(work), brightspace_reader, roster)

    back = packed(trees.brightspace, work_of(records, tmp_path / "a", roster), tmp_path)

    (told,) = (note for note in back.returned.notes if "by the name alone" in note)
    assert f"attempts of {ANA.login} by the name alone" in told


def test_sakai_finds_the_folder_for_feedback(tmp_path: Path) -> None:
    """Each page lies in the student's folder for feedback; where its name is not known, it is told."""
    people = [one for one in short(NASTY) if one.login.isalnum()]
    roster = enrolled(people, sakai_gradebook)
    work = [handed(one) for one in people]
    records = collected(sakai(work), sakai_reader, roster)

    back = packed(trees.sakai, work_of(records, tmp_path / "a", roster), tmp_path)
    done = upload_all(back.files, "HW 1", {one.login for one in people})

    assert done.ignored == []
    assert {eid: whose(files) for eid, files in done.files.items()} == {one: {one} for one in back.given}
    assert set(back.given) == {one.login for one in people}
    german = sakai(work, Words(submission="Anhänge der Abgabe"))
    strange = packed(
        trees.sakai, work_of(collected(german, sakai_reader, roster), tmp_path / "b", roster), tmp_path
    )
    assert strange.files == {}
    assert set(strange.left) == {one.login for one in people}


def test_a_group_does_not_read_the_page_of_one(tmp_path: Path) -> None:
    """A folder that several students have would show each the page of the other."""
    roster = enrolled([ANA, NASTY[1]], brightspace_roster)
    records = collected(brightspace([handed(ANA)]), brightspace_reader, roster)
    both = [*records, replace(records[0], student=NASTY[1].login)]

    back = packed(trees.brightspace, work_of(both, tmp_path / "a", roster), tmp_path)

    assert back.files == {}
    assert all("group" in reason for reason in back.left.values())


def test_blackboard_gets_pages_sorted_by_user(tmp_path: Path) -> None:
    """Nothing can be uploaded at once: pages are called by usernames that any disk takes, each once."""
    people = [*NASTY, Nasty("A", "One", "x:y", "1", "901"), Nasty("B", "Two", "X?Y", "2", "902")]
    roster = enrolled(people, blackboard_roster)
    records = collected(blackboard_download([handed(one) for one in people]), blackboard_reader, roster)

    back = packed(blackboard.pack, work_of(records, tmp_path / "a", roster), tmp_path)

    assert set(back.given) == {one.student for one in records} != set()
    assert list(back.files) == sorted(back.files, key=str.casefold)
    assert len({name.casefold() for name in back.files}) == len(records)
    assert not any(set(name) & set('\\/:*?"<>|') or name.startswith((".", "~")) for name in back.files)
    for one in back.returned.given:
        assert whose([back.files[one.entry]]) == {one.student}
    assert any("by hand" in note for note in back.returned.notes)
