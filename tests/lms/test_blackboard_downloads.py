"""Blackboard's downloads: underscores everywhere, several attempts, notes that students write into."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from time import process_time

import pytest
from downloads_read import assert_nobody_has_anothers, assert_taken, enrolled, understood
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_people import ANA, NASTY, TWINS, Nasty, classes
from written_downloads import Written, blackboard, handed
from written_rosters import blackboard as roster

from autograder.lms.downloads import blackboard as reader
from autograder.lms.model import IdKind, Lms, Person

TITLES = ["HW 1", "Lab_2_intro", "HW_1_jl", "x_attempt_1", "a"]
LUC, JEAN_LUC = NASTY[4], NASTY[3]
FILES = st.lists(
    st.sampled_from(
        [
            *("hw1.ipynb", "mein Heft (2) ü.ipynb", "_.ipynb"),
            "a_muller_attempt_2027-01-01-01-01-01_hw1.ipynb",
            "x_attempt_2027-01-01-01-01-01.txt",
        ]
    ),
    min_size=1,
    max_size=3,
    unique=True,
)


@pytest.mark.parametrize("title", TITLES)
@pytest.mark.parametrize("label", ["Name", "Nombre"])
def test_everybody_is_read_with_the_names_that_files_had(title: str, label: str) -> None:
    """The note has names that the zip has mangled, in any language; usernames tell twins apart."""
    nasty = [*NASTY, *TWINS]
    work = [handed(one, "hw1.ipynb", "mein Heft (2) ü.ipynb") for one in nasty]

    read = understood(blackboard(work, title, label=label), reader, enrolled(nasty, roster))

    assert read.refused == ()
    assert read.sure == 1
    assert_taken(read, work)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    nasty=classes(),
    files=FILES,
    title=st.sampled_from(TITLES),
    absent=st.integers(0, 2),
    told=st.tuples(
        st.booleans(), st.sampled_from(["gradebook_C_1_{title}_2027-03-09-08-07-06.zip", "a.zip"])
    ),
)
def test_nobody_gets_anothers_work(
    nasty: tuple[Nasty, ...], files: list[str], title: str, absent: int, told: tuple[bool, str]
) -> None:
    """With notes or without, in a zip of its own name or not, no file lands with the wrong student."""
    notes, name = told
    work = [handed(one, *files) for one in nasty]
    people = enrolled(nasty[: len(nasty) - absent] or nasty, roster)

    read = understood(blackboard(work, title, notes=notes, name=name), reader, people)

    known = {person.student for person in people}
    assert_nobody_has_anothers(read, work)
    assert {one.student for one in read.taken} <= known
    if notes:
        assert {one.student for one in read.taken} == known


def test_without_notes_the_name_of_the_zip_tells_the_assignment() -> None:
    """``HW_1_jl_muller`` is jl_muller's of HW_1 or muller's of HW_1_jl: the zip's name says which."""
    people = enrolled(NASTY, roster)
    work = [handed(JEAN_LUC)]

    named = understood(blackboard(work, "HW_1", notes=False), reader, people)
    renamed = understood(blackboard(work, "HW_1", notes=False, name="renamed.zip"), reader, people)

    assert_taken(named, work)
    assert renamed.taken == ()
    assert "the note (.txt) that tells is missing" in renamed.problems


def test_the_end_of_a_username_is_not_its_owner() -> None:
    """Without the roster's jl_muller, his work is not muller's, with a note or without."""
    people = enrolled([LUC, ANA], roster)

    for notes in (True, False):
        read = understood(blackboard([handed(JEAN_LUC)], "HW_1", notes=notes), reader, people)
        assert read.taken == ()
        assert "No student has the username jl_muller in the roster" in read.problems


def test_a_note_of_somebody_else_is_no_proof() -> None:
    """Its name and what it says must agree; other notes still tell the assignment's name."""
    written = blackboard([handed(ANA), handed(NASTY[1])])
    note = next(name for name in written.entries if name.endswith(".txt") and ANA.login in name)
    written.entries[note] = b"Name: Siobhan O'Hara (sohara)\r\n"

    read = understood(written, reader, enrolled(NASTY, roster))

    assert_taken(read, [handed(ANA), handed(NASTY[1])])


def test_every_attempt_is_read_with_its_time() -> None:
    """Attempts of one student do not mix; the time is the site's, also when the clocks go back."""
    late = datetime(2026, 11, 1, 5, 30, tzinfo=UTC)
    work = [handed(ANA, number=0), handed(ANA, number=1), replace(handed(ANA, number=2), at=late)]

    read = understood(blackboard(work), reader, enrolled(NASTY, roster))

    times = {one.files["hw1.ipynb"]: one.attempt.submitted_at for one in read.of(ANA.login)}
    assert times == {
        b"aruiz 0 hw1.ipynb": datetime(2027, 3, 1, 15, 5),  # noqa: DTZ001 - in UTC, as attempts have it
        b"aruiz 1 hw1.ipynb": datetime(2027, 3, 1, 16, 5),  # noqa: DTZ001
        b"aruiz 2 hw1.ipynb": late.replace(tzinfo=None),
    }


def test_a_student_cannot_write_into_the_note() -> None:
    """A text that looks like Blackboard's list of files names no file anew."""
    written = blackboard([handed(ANA)])
    stored = next(name for name in written.entries if name.endswith(".ipynb"))
    forged = f"\tOriginal filename: ../../evil.ipynb\r\n\tFilename: {stored}\r\nName: Eve (muller)\r\n"
    written = blackboard([replace(handed(ANA), text=forged)])

    (one,) = understood(written, reader, enrolled(NASTY, roster)).taken

    assert (one.student, list(one.files)) == (ANA.login, ["hw1.ipynb"])


@pytest.mark.parametrize(
    "typed",
    ["a:" + " " * 200_000, "a:x" + " " * 100_000 + "y" + "\t" * 100_000, ":" * 200_000, "(" * 200_000],
    ids=["spaces", "tabs", "colons", "brackets"],
)
def test_what_a_student_has_typed_takes_no_time(typed: str) -> None:
    """A note is read once from its beginning to its end, whatever is in it: never square in its length."""
    work = replace(handed(ANA, "mein Heft (2) ü.ipynb"), text=f"{typed}\r\n{typed}")
    written = blackboard([work])
    begun = process_time()

    read = understood(written, reader, enrolled(NASTY, roster))

    assert process_time() - begun < 20
    assert_taken(read, [work])


@pytest.mark.parametrize("name", ["../evil.ipynb", "/etc/passwd", "a\\b.ipynb", "..", "C:x", "x" * 300])
def test_an_original_name_that_leads_elsewhere_is_not_taken(name: str) -> None:
    """The note is text in a zip; the name in the zip counts then."""
    work = handed(ANA)
    written = blackboard([work])
    note = next(name for name in written.entries if name.endswith(".txt"))
    written.entries[note] = written.entries[note].replace(
        b"Original filename: hw1.ipynb", f"Original filename: {name}".encode()
    )

    (one,) = understood(written, reader, enrolled(NASTY, roster)).taken

    assert list(one.files) == ["hw1.ipynb"]


def test_two_files_of_one_name_are_both_there() -> None:
    """Blackboard lets a student attach two files called alike."""
    prefix = "HW 1_aruiz_attempt_2027-03-01-10-05-00"
    note = "Name: Ana Ruiz (aruiz)\n\nFiles:\n"
    for stored in ("hw1.ipynb", "hw1(1).ipynb"):
        note += f"\tOriginal filename: hw1.ipynb\n\tFilename: {prefix}_{stored}\n\n"
    entries = {f"{prefix}_hw1.ipynb": b"1", f"{prefix}_hw1(1).ipynb": b"2", f"{prefix}.txt": note.encode()}

    (one,) = understood(Written(entries), reader, enrolled(NASTY, roster)).taken

    assert sorted(one.files.items()) == [("1/hw1.ipynb", b"2"), ("2/hw1.ipynb", b"1")]


def test_a_group_hands_in_for_all_of_its_members() -> None:
    """Its name stands where a username would."""
    team = Nasty("", "Team_Red", "Team_Red", "", "")
    people = [
        Person(lms=Lms.PLAIN, student=one.login, ids={IdKind.LOGIN: one.login}, sections=("Team_Red",))
        for one in NASTY[:3]
    ]

    read = understood(blackboard([handed(team)]), reader, people)
    unknown = understood(blackboard([handed(team)]), reader, enrolled(NASTY, roster))

    assert sorted(one.student for one in read.taken) == sorted(one.login for one in NASTY[:3])
    assert unknown.taken == ()
    assert "name a roster with a column Group" in unknown.problems


def test_groups_and_students_do_not_hand_in_for_one_assignment() -> None:
    """Of the two kinds, the one that there is less of is refused: a group may be called like a username."""
    members = {"Lab 1": NASTY[:2], "Lab 2": NASTY[2:4], "Lab 3": NASTY[4:6]}
    people = [
        Person(lms=Lms.PLAIN, student=one.login, ids={IdKind.LOGIN: one.login}, sections=(lab,))
        for lab, its in members.items()
        for one in its
    ]
    labs = [handed(Nasty("", lab, lab, "", "")) for lab in members]
    singles = [handed(one) for one in NASTY[:3]]

    of_students = understood(blackboard([*singles, labs[0]]), reader, people)
    of_groups = understood(blackboard([*labs, singles[0]]), reader, people)

    assert_taken(of_students, singles)
    assert len(of_students.taken) == len(singles)
    assert "It is called like a group" in of_students.problems
    assert sorted(one.student for one in of_groups.taken) == sorted(one.student for one in people)
    assert "It is called like a student, but here groups hand in" in of_groups.problems


def test_text_without_a_file_is_told() -> None:
    """There is an attempt, and nothing that could be graded."""
    work = replace(handed(ANA), files={}, text="see my answer")

    (one,) = understood(blackboard([work]), reader, enrolled(NASTY, roster)).refused

    assert one.student == ANA.login
    assert one.attempt.problem == "No file is attached: see in Blackboard what was handed in."


def test_an_impossible_time_is_no_time() -> None:
    """What looks like a time need not be one."""
    work = [handed(ANA)]
    entries = {
        name.replace("2027-03-01", "2027-13-41"): data.replace(b"2027-03-01", b"2027-13-41")
        for name, data in blackboard(work).entries.items()
    }

    read = understood(Written(entries), reader, enrolled(NASTY, roster))

    assert [one.attempt.submitted_at for one in read.of(ANA.login)] == [None]


def test_other_files_and_wrapper_folders() -> None:
    """A download unpacked and packed again is read; what Blackboard does not write is told."""
    work = [handed(ANA, number=1), handed(LUC)]
    entries = {f"CS/HW/{name}": data for name, data in blackboard(work).entries.items()}
    entries["CS/readme.txt"] = b"mine"

    read = understood(Written(entries), reader, enrolled(NASTY, roster))

    assert_taken(read, work)
    assert [one.name for one in read.left if not one.harmless] == ["CS/readme.txt"]
    assert timedelta(hours=1) == work[0].at - work[1].at


def test_two_assignments_in_one_folder_are_not_mixed_up() -> None:
    """``HW_1_jl_muller`` without its note is jl_muller's of HW_1, or muller's of HW_1_jl."""
    entries = blackboard([handed(ANA)], "HW_1").entries | blackboard([handed(ANA)], "HW_1_jl").entries
    entries |= blackboard([handed(JEAN_LUC)], "HW_1", notes=False).entries

    read = understood(Written(entries), reader, enrolled([ANA, LUC], roster))

    assert {one.student for one in read.taken} == {ANA.login}
    assert "It may be of jl_muller or muller" in read.problems
