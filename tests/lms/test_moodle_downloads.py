"""Moodle's downloads: every mode is read back to the right student, or refused."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import TYPE_CHECKING

import pytest
from downloads_read import assert_nobody_has_anothers, assert_taken, enrolled, understood
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_people import ANA, NASTY, TWINS, Nasty, classes
from written_downloads import ZONE, Handed, MoodleSite, Written, handed, moodle, moodle_name, moodle_teams
from written_rosters import moodle_grades, moodle_worksheet, php_table, table

from autograder.lms.downloads import moodle as reader
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.rosters import roster_of
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from written_rosters import Written as WrittenRoster

    WriteRoster = Callable[[Sequence[Nasty]], WrittenRoster]

SITES = [
    MoodleSite(flat=flat, underscore=underscore, last_first=last_first)
    for flat, underscore, last_first in product([False, True], repeat=3)
]
ROSTERS: list[WriteRoster] = [moodle_grades, moodle_worksheet]
FILES = st.lists(
    st.sampled_from(["hw1.ipynb", "my notebook (2).ipynb", "a_1_assignsubmission_file_b.ipynb", "_.ipynb"]),
    min_size=1,
    max_size=3,
    unique=True,
)


def with_groups(roster: WriteRoster) -> WriteRoster:
    """Return a writer whose file has a column of groups."""
    if roster is moodle_worksheet:
        return roster

    def write(nasty: Sequence[Nasty]) -> WrittenRoster:
        rows = [["First name", "Last name", "ID number", "Email address", "Groups"]]
        rows += [[one.first, one.last, one.sis, one.email, ", ".join(one.groups)] for one in nasty]
        return table(rows).encode(), []

    return write


def short(nasty: tuple[Nasty, ...]) -> list[Nasty]:
    """Return people whose names a disk can hold."""
    return [one for one in nasty if len(one.full.encode()) < 150]


@pytest.mark.parametrize("roster", ROSTERS)
@pytest.mark.parametrize("site", SITES, ids=str)
def test_everybody_who_can_be_told_apart_is_read(site: MoodleSite, roster: WriteRoster) -> None:
    """Folders or flat, old or new, either order of names: O'Hara is found as OHara."""
    people = enrolled(short(NASTY), roster)
    work = [handed(one, "hw1.ipynb", "data in.csv", text="<p>words</p>") for one in short(NASTY)]
    if site.last_first and roster is moodle_worksheet:
        # The worksheet has names in the order of the site, too.
        people = [
            replace(person, name=f"{one.last} {one.first}")
            for person, one in zip(people, short(NASTY), strict=True)
        ]

    read = understood(moodle(work, site), reader, people)

    assert read.refused == ()
    assert read.sure == 1
    # The worksheet has the times, the zip has none.
    assert_taken(read, work, times=roster is moodle_worksheet)
    assert all(one.files["onlinetext.html"] == b"<p>words</p>" for one in read.taken)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    nasty=classes(),
    files=FILES,
    site=st.sampled_from(SITES),
    roster=st.sampled_from(ROSTERS),
    absent=st.integers(0, 2),
)
def test_nobody_gets_anothers_work(
    nasty: tuple[Nasty, ...], files: list[str], site: MoodleSite, roster: WriteRoster, absent: int
) -> None:
    """Whoever hands in, those whom the roster does not have included, nothing lands with a namesake."""
    work = [handed(one, *files) for one in nasty]
    people = enrolled(nasty[: len(nasty) - absent] or nasty, roster)

    read = understood(moodle(work, site), reader, people)

    assert_nobody_has_anothers(read, work)


@pytest.mark.parametrize("roster", ROSTERS)
def test_namesakes_are_told_apart_by_their_numbers_alone(roster: WriteRoster) -> None:
    """Two of one name, composed or not, with an apostrophe or without: only the worksheet knows."""
    work = [handed(one) for one in TWINS]

    read = understood(moodle(work), reader, enrolled(TWINS, roster))

    if roster is moodle_worksheet:
        assert_taken(read, work, times=False)
    else:
        assert read.taken == ()
        assert "who are called the same. Download the grading worksheet" in read.problems


def test_two_participants_are_not_one_student() -> None:
    """Somebody whom the roster lacks is called like somebody whom it has: which is which, nobody knows."""
    work = [handed(one) for one in TWINS[:2]]

    read = understood(moodle(work), reader, enrolled(TWINS[:1], moodle_grades))

    assert read.taken == ()
    assert "can only be one student of the roster" in read.problems


def test_the_worksheet_of_another_assignment_is_refused() -> None:
    """Its numbers mean other people; the name in front of the number tells."""
    first, second = NASTY[:2]
    people = enrolled([replace(first, user=second.user), replace(second, user=first.user)], moodle_worksheet)

    read = understood(moodle([handed(first), handed(second)]), reader, people)

    assert read.taken == ()
    assert "it is of another assignment, or this is a team" in read.problems


@pytest.mark.parametrize("word", ["Participant", "Teilnehmer/in", "Участник"])
def test_hidden_names_need_the_worksheet(word: str) -> None:
    """Blind marking leaves the number; a word that several share is no name, in any language."""
    site = MoodleSite(blind=moodle_name(word))
    work = [handed(one) for one in NASTY[:3]]

    without = understood(moodle(work, site), reader, enrolled(NASTY, moodle_grades))
    with_it = understood(moodle(work, site), reader, enrolled(NASTY, moodle_worksheet))

    assert without.taken == ()
    assert "Names are hidden in this download" in without.problems
    assert_taken(with_it, work, times=False)


def test_names_hidden_on_both_sides_are_nobodys() -> None:
    """A number alone is no student."""
    rows = [["Identifier", "Status", "Grade", "Last modified (grade)"], ["Participant 5501", "-", "", "-"]]
    people = roster_of(parse_sheet(php_table(rows).encode(), "blind.csv")).people

    read = understood(moodle([handed(ANA)], MoodleSite(blind="Participant")), reader, people)

    assert "Reveal the students' identities" in read.problems


LUC, JEAN_LUC = NASTY[4], NASTY[3]


@pytest.mark.parametrize("roster", ROSTERS)
def test_a_group_before_the_name_must_be_the_students(roster: WriteRoster) -> None:
    """Old Moodle writes ``Group A-Ana Ruiz``; the roster says that she is in Group A."""
    people = [replace(ANA, groups=("Group A",)), replace(LUC, groups=("Lab-1", "Team_Red"))]
    work = [handed(one) for one in people]

    read = understood(moodle(work, MoodleSite(groups=True)), reader, enrolled(people, with_groups(roster)))

    assert_taken(read, work, times=False)


def test_the_end_of_a_double_name_is_not_its_owner() -> None:
    """Jean-Luc Müller, whom the roster does not have, is not Luc Müller in a group called Jean."""
    read = understood(moodle([handed(JEAN_LUC)]), reader, enrolled([LUC, ANA], moodle_grades))

    assert read.taken == ()
    assert "Nobody in the roster is called 'Jean-Luc Müller'" in read.problems


def test_a_double_name_and_a_group_with_its_beginning_are_refused() -> None:
    """If Luc Müller is in a group called Jean, ``Jean-Luc Müller`` may be either of them."""
    luc = replace(LUC, groups=("Jean",))
    people = enrolled([luc, JEAN_LUC], with_groups(moodle_grades))

    read = understood(moodle([handed(luc)], MoodleSite(groups=True)), reader, people)

    assert read.taken == ()
    assert "Jean-Luc Müller" in read.problems


def test_a_team_hands_in_for_all_of_its_members() -> None:
    """The number is the group's, though a participant may have the same one."""
    nasty = [replace(one, groups=("Team_Red", "Lab 1")) for one in NASTY[:3]]
    nasty += [replace(NASTY[3], groups=("Lab 1",))]
    files = {"hw1.ipynb": b"red"}

    for roster in ROSTERS:
        people = enrolled(nasty, with_groups(roster))
        read = understood(moodle_teams({"Team_Red": files}), reader, people)
        assert sorted(one.student for one in read.taken) == sorted(one.login for one in nasty[:3])
        assert {one.attempt.key for one in read.taken} == {"Team Red_5501_assignsubmission_file"}


def test_a_team_that_the_roster_does_not_know_is_refused() -> None:
    """Who is in it cannot be guessed; the message says which roster tells."""
    for roster in ROSTERS:
        read = understood(
            moodle_teams({"Team Blue": {"hw1.ipynb": b"blue"}}), reader, enrolled(NASTY, roster)
        )
        assert read.taken == ()
        assert "name a roster that has a column Groups" in read.problems


def test_a_team_called_like_a_student_is_refused() -> None:
    """It may be the student or the team."""
    nasty = [ANA, replace(NASTY[1], groups=("Ana Ruiz",))]

    read = understood(
        moodle_teams({"Ana Ruiz": {"hw1.ipynb": b"?"}}), reader, enrolled(nasty, with_groups(moodle_grades))
    )

    assert read.taken == ()
    assert "or a team, who are called the same" in read.problems


EVE = Nasty("Eve", "Evil", "evil", "S7", "777")


@pytest.mark.parametrize("roster", ROSTERS)
def test_a_student_called_like_a_group_does_not_hand_in_for_it(roster: WriteRoster) -> None:
    """Whoever takes a group's name harms neither those in it nor their own work of sure owners."""
    lab = [replace(one, groups=("Lab 1",)) for one in NASTY[:3]]
    people = enrolled([*lab, EVE], with_groups(roster))
    named = replace(EVE, first="Lab", last="1")

    read = understood(moodle([*map(handed, lab[:2]), handed(named)]), reader, people)

    assert_taken(read, [handed(one) for one in lab[:2]], times=False)
    assert len(read.taken) == 2
    assert len(read.refused) == 1


def test_a_number_of_somebody_else_makes_no_team() -> None:
    """Alone in a download, too: the worksheet says whose the number is."""
    lab = [replace(one, groups=("Lab 1",)) for one in NASTY[:3]]

    read = understood(
        moodle([handed(replace(EVE, first="Lab", last="1"))]),
        reader,
        enrolled([*lab, EVE], moodle_worksheet),
    )

    assert read.taken == ()
    assert "'Lab 1' is a team in the roster, but 5777 is the number of Eve Evil" in read.problems


def test_a_group_is_before_all_names_or_before_none() -> None:
    """``Lab 1-Ana Ruiz`` is what somebody is called where others have no group before their names."""
    people = [replace(one, groups=("Lab 1",)) for one in (ANA, *NASTY[1:3])]
    roster = enrolled([*people, EVE], with_groups(moodle_grades))
    eve = replace(EVE, first="Lab 1-Ana", last="Ruiz")

    read = understood(moodle([handed(people[1]), handed(eve)]), reader, roster)

    assert_taken(read, [handed(people[1])], times=False)
    assert len(read.taken) == 1
    assert "Nobody in the roster is called 'Lab 1-Ana Ruiz'" in read.problems


def test_the_team_of_those_without_one_has_no_number() -> None:
    """Moodle calls it the default team."""
    written = Written({"Default group_assignsubmission_file/hw1.ipynb": b"x"})

    read = understood(written, reader, enrolled(NASTY, moodle_grades))

    assert read.sure == 1
    assert "Nobody in the roster is called 'Default group'" in read.problems


def test_folders_around_the_download_do_not_count() -> None:
    """Unpacked by hand and packed again, with whatever a system leaves behind."""
    work = [handed(ANA)]
    inside = moodle(work).entries
    entries = {f"CS101/HW 1 (all)/{name}": data for name, data in inside.items()}
    entries |= {f"__MACOSX/CS101/._{name}": b"" for name in inside}
    entries["CS101/.DS_Store"] = b""

    read = understood(Written(entries), reader, enrolled(NASTY, moodle_grades))

    assert_taken(read, work, times=False)
    assert read.sure == 1
    assert all(one.harmless for one in read.left)


def test_a_student_cannot_name_a_file_into_anothers_folder() -> None:
    """Only the first part of a path is Moodle's; what follows is the student's."""
    bait = f"{NASTY[1].full}_5502_assignsubmission_file_hw1.ipynb"
    work = [handed(ANA, bait, f"{bait}/hw1.ipynb")]

    for site in (MoodleSite(), MoodleSite(flat=True)):
        read = understood(moodle([work[0]], site), reader, enrolled(NASTY, moodle_worksheet))
        assert {one.student for one in read.taken} == {ANA.login}


def test_two_downloads_side_by_side_stay_two_attempts() -> None:
    """Files of Monday's and of Tuesday's download are not mixed."""
    entries = {f"monday/{name}": data for name, data in moodle([handed(ANA)]).entries.items()}
    entries |= {f"tuesday/{name}": data for name, data in moodle([handed(ANA, number=1)]).entries.items()}

    read = understood(Written(entries), reader, enrolled(NASTY, moodle_grades))

    assert sorted(one.files["hw1.ipynb"] for one in read.of(ANA.login)) == [
        b"aruiz 0 hw1.ipynb",
        b"aruiz 1 hw1.ipynb",
    ]


def test_feedback_and_strange_files_are_left() -> None:
    """Feedback that was uploaded is not the student's; a file of another name is told."""
    written = moodle([handed(ANA)])
    written.entries["Ana Ruiz_5501_assignfeedback_file/hw1.html"] = b"feedback"
    written.entries["notes.txt"] = b"notes"

    read = understood(written, reader, enrolled(NASTY, moodle_grades))

    assert {one.name: one.harmless for one in read.left} == {
        "Ana Ruiz_5501_assignfeedback_file/hw1.html": True,
        "notes.txt": False,
    }
    assert 0.3 < read.sure < 0.7
    assert [one.files for one in read.taken] == [{"hw1.ipynb": b"aruiz 0 hw1.ipynb"}]


def test_online_text_does_not_replace_a_file_of_its_name() -> None:
    """Both are there."""
    work = Handed(ANA, {"onlinetext.html": b"a file"}, text="a text")

    (read,) = understood(moodle([work]), reader, enrolled([ANA], moodle_grades)).taken

    assert read.files == {"onlinetext.html": b"a file", "onlinetext/onlinetext.html": b"a text"}


@pytest.mark.parametrize(("minutes", "is_told"), [(-60, False), (0, False), (1, True), (20_000, True)])
def test_files_later_than_the_worksheet_are_told(minutes: int, *, is_told: bool) -> None:
    """The worksheet may be older than the zip: then a late resubmission has the time of the first."""
    work = [handed(ANA)]
    at = work[0].at.astimezone(ZONE).replace(tzinfo=None)
    written = replace(moodle(work), made=at + timedelta(minutes=minutes, seconds=30))

    read = understood(written, reader, enrolled([ANA], moodle_worksheet))
    untold = understood(written, reader, enrolled([ANA], moodle_grades))

    assert_taken(read, work)
    assert bool(read.notes) == is_told
    assert all("Ana Ruiz are later in the zip than the worksheet says" in note for note in read.notes)
    assert untold.notes == ()


def test_students_of_other_lists_are_found_by_name() -> None:
    """The worksheet says which number it is, another list says who that is in the course."""
    person = Person(lms=Lms.MOODLE, name="Ana Ruiz", ids={IdKind.PARTICIPANT: "5501"}, student="aruiz")
    known = Person(lms=Lms.CANVAS, name="Ruiz, Ana", ids={IdKind.USER: "9"}, student="aruiz")

    read = understood(moodle([handed(ANA)], MoodleSite(last_first=True)), reader, [person, known])

    assert_taken(read, [handed(ANA)], times=False)
