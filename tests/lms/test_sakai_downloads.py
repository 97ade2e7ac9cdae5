"""Sakai's downloads: ids in brackets, folders in any language, lateness from the table."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest
from downloads_read import assert_nobody_has_anothers, assert_taken, enrolled, understood
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_people import ANA, NASTY, TWINS, Nasty, classes
from written_downloads import Words, Written, handed, sakai, sakai_id
from written_rosters import sakai_gradebook, sakai_grades, table

from autograder.lms.downloads import sakai as reader
from autograder.lms.model import IdKind, Lms, Person

ROSTERS = [sakai_gradebook, sakai_grades]
SPANISH = Words("Anexos del envío", "Anexos de comentarios", "Tarde", "A tiempo")
FILES = st.lists(
    st.sampled_from(["hw1.ipynb", "timestamp.txt", "grades.csv", "x(muller)", "feedbackText.html"]),
    min_size=1,
    max_size=3,
    unique=True,
)
EVERYBODY = [one for one in (*NASTY, *TWINS) if len(one.full.encode()) < 150]


@pytest.mark.parametrize("graded", [False, True])
@pytest.mark.parametrize("roster", ROSTERS)
@pytest.mark.parametrize("words", [Words(), SPANISH], ids=["English", "Spanish"])
def test_everybody_is_read(words: Words, roster: type, *, graded: bool) -> None:
    """With time and lateness, before and after feedback; of Spanish all but lateness is understood."""
    work = [
        handed(one, "hw1.ipynb", "data.csv", number=at, late=at % 2 == 0) for at, one in enumerate(EVERYBODY)
    ]
    words_known = words == Words()
    read = understood(sakai(work, words, graded=graded and words_known), reader, enrolled(EVERYBODY, roster))

    assert read.refused == ()
    assert read.sure == 1
    assert all(one.harmless for one in read.left)
    assert_taken(read, work, late=words_known)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nasty=classes(), files=FILES, absent=st.integers(0, 2), words=st.sampled_from([Words(), SPANISH]))
def test_nobody_gets_anothers_work(
    nasty: tuple[Nasty, ...], files: list[str], absent: int, words: Words
) -> None:
    """Whatever files are called, they stay with the id in the folder's name; strangers are refused."""
    work = [handed(one, *files) for one in nasty]
    people = enrolled(nasty[: len(nasty) - absent] or nasty, sakai_gradebook)

    read = understood(sakai(work, words), reader, people)

    assert_nobody_has_anothers(read, work)
    assert {one.student for one in read.taken} <= {person.student for person in people}


def test_a_stranger_of_the_same_name_is_refused() -> None:
    """The roster's Kim Park has another id."""
    read = understood(sakai([handed(TWINS[1])]), reader, enrolled(TWINS[:1], sakai_gradebook))

    assert read.taken == ()
    assert "No student has the id kpark2 in the roster" in read.problems


def test_sakais_own_id_stands_for_an_odd_one_alone() -> None:
    """Whose eid Sakai does not write is found by name; who has a plain one is not meant."""
    odd = replace(ANA, login="ana/ruiz+1")
    plain = replace(ANA, login="aruiz")
    assert sakai_id(odd.login) != odd.login
    written = sakai([handed(odd, late=True)])

    read = understood(written, reader, enrolled([odd, NASTY[1]], sakai_gradebook))
    namesake = understood(written, reader, enrolled([plain, NASTY[1]], sakai_gradebook))
    both = understood(written, reader, enrolled([odd, replace(odd, login="a b")], sakai_gradebook))

    assert_taken(read, [handed(odd, late=True)], late=True)
    assert namesake.taken == ()
    assert both.taken == ()


def test_two_ids_of_sakais_own_are_not_one_student() -> None:
    """One of them has taken the name of somebody with an odd id: which one, nobody knows."""
    odd = replace(ANA, login="ana+ruiz")
    one, other = (replace(ANA, login=f"{digit * 8}-1111-4222-8333-444455556666") for digit in "ab")

    read = understood(sakai([handed(one), handed(other)]), reader, enrolled([odd], sakai_gradebook))
    alone = understood(sakai([handed(one)]), reader, enrolled([odd], sakai_gradebook))

    assert len(alone.taken) == 1
    assert read.taken == ()
    assert "can only be one student of the roster" in read.problems


def test_a_plain_id_of_a_stranger_is_never_sakais_own() -> None:
    """Ana Ruiz of the roster has an odd eid; another Ana Ruiz has a plain one, which says who she is."""
    odd = replace(ANA, login="ana.ruiz")

    read = understood(sakai([handed(ANA)]), reader, enrolled([odd, NASTY[1]], sakai_gradebook))

    assert read.taken == ()
    assert "No student has the id aruiz in the roster" in read.problems


def test_an_anonymous_assignment_is_refused() -> None:
    """There is no id in the folder's name, whatever the folder is called."""
    for folder in ("k3h5x", "aruiz"):
        entries = {
            f"HW 1/{folder}/{name}": b"x" for name in ("timestamp.txt", "Submission attachment(s)/hw1.ipynb")
        }
        read = understood(Written(entries), reader, enrolled(NASTY, sakai_gradebook))
        assert read.taken == ()
        assert "If the assignment is anonymous" in read.problems


def test_folders_that_nobody_can_tell_apart_are_refused() -> None:
    """Two folders in another language: one is what was handed in, one is feedback."""
    work = [handed(one) for one in NASTY[:2]]

    read = understood(sakai(work, SPANISH, graded=True), reader, enrolled(NASTY, sakai_gradebook))
    named = understood(
        sakai(work, replace(SPANISH, feedback=Words().feedback), graded=True),
        reader,
        enrolled(NASTY, sakai_gradebook),
    )

    assert read.taken == ()
    assert "Call the one that was handed in 'Submission attachment(s)' everywhere" in read.problems
    assert_taken(named, work)


def test_feedback_alone_is_not_what_was_handed_in() -> None:
    """One folder in another language, without a notebook of the assignment, may be feedback."""
    entries = {
        "HW 1/Ruiz, Ana(aruiz)/timestamp.txt": b"20270301150500000",
        "HW 1/Ruiz, Ana(aruiz)/Anexos de comentarios/notes.pdf": b"feedback",
        "HW 1/Ruiz, Ana(aruiz)/Ruiz, Ana(aruiz)_submissionText.html": b"words",
    }

    read = understood(Written(entries), reader, enrolled(NASTY, sakai_gradebook))

    assert read.taken == ()
    assert "or feedback" in read.problems


def test_a_text_is_handed_in_too() -> None:
    """What was typed is a file; who has typed nothing and attached nothing has handed in nothing."""
    typed = replace(handed(ANA), files={}, text="<p>words</p>")
    nothing = replace(handed(NASTY[1]), files={})

    read = understood(sakai([typed, nothing]), reader, enrolled(NASTY, sakai_gradebook))

    assert [one.files for one in read.taken] == [{"submissionText.html": b"<p>words</p>"}]
    assert [one.attempt.problem for one in read.refused] == [
        "Nothing is attached: see in Sakai what was handed in."
    ]


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        (b"20270301150500123", datetime(2027, 3, 1, 15, 5)),  # noqa: DTZ001 - in UTC, as attempts have it
        (b"2027-03-01T15:05:00Z\n", datetime(2027, 3, 1, 15, 5)),  # noqa: DTZ001
        (b"2027-03-01T10:05:00-05:00", datetime(2027, 3, 1, 15, 5)),  # noqa: DTZ001
        (b"2027-03-01T15:05:00", None),
        (b"20271301150500123", None),
        (b"0001-01-01T00:00:00+14:00", None),
        (b"yesterday", None),
        (b"", None),
        (b"\xff\xfe\x00", None),
    ],
)
def test_a_time_without_a_zone_is_not_guessed(stamp: bytes, at: datetime | None) -> None:
    """Digits are UTC by Sakai's own rule; a written time must have its zone."""
    written = sakai([handed(ANA)])
    name = next(name for name in written.entries if name.endswith("timestamp.txt"))
    written.entries[name] = stamp

    (one,) = understood(written, reader, enrolled(NASTY, sakai_gradebook)).taken

    assert one.attempt.submitted_at == at


GROUP = Nasty("", "Team Red", "1f0c9a52-1111-4222-8333-444455556666", "", "")


@pytest.mark.parametrize(
    "listed", ["Ruiz, Ana (aruiz), O'Hara, Ana María (aohara)", "aruiz, aohara", "aruiz;aohara"]
)
def test_a_group_hands_in_for_the_members_in_the_table(listed: str) -> None:
    """The table lists who is in it; if the roster does not know one of them, nobody gets it."""
    written = sakai([handed(GROUP)])
    rows = [
        ["HW 1", "SCORE"],
        [""],
        ["Group", "ID", "Members", "grade", "Submission time", "Late submission"],
    ]
    rows.append([GROUP.last, GROUP.login, listed, "", "1 Mar", "Late"])
    written.entries["HW 1/grades.csv"] = table(rows).encode()

    read = understood(written, reader, enrolled(NASTY, sakai_gradebook))
    partly = understood(written, reader, enrolled(NASTY[:1], sakai_gradebook))

    assert sorted(one.student for one in read.taken) == ["aohara", "aruiz"]
    assert {one.attempt.late for one in read.taken} == {True}
    assert partly.taken == ()


def test_an_id_in_a_name_makes_nobody_a_member() -> None:
    """Whoever calls themselves ``Ana (aruiz)`` does not hand in for Ana."""
    eve = Nasty("Eve (aruiz)", "Evil", "evil", "7", "7")
    for listed in ("Evil, Eve (aruiz) (evil)", "Ruiz, Ana (aruiz), Evil (evil)", "(aruiz) Eve (evil)"):
        written = sakai([handed(GROUP)])
        header = ["Group", "ID", "Members", "grade", "Submission time", "Late submission"]
        rows = [["HW 1", "SCORE"], [""], header, [GROUP.last, GROUP.login, listed, "", "1 Mar", "Late"]]
        written.entries["HW 1/grades.csv"] = table(rows).encode()

        assert understood(written, reader, enrolled([ANA, eve], sakai_gradebook)).taken == ()


def test_a_student_called_like_a_group_does_not_hand_in_for_it() -> None:
    """Others hand in under their own ids, so this is no assignment of groups."""
    people = [
        Person(lms=Lms.SAKAI, student=one.login, ids={IdKind.LOGIN: one.login}, sections=("Lab, 1",))
        for one in NASTY[:3]
    ]
    eve = Nasty("1", "Lab", "evil", "7", "7")

    alone = understood(sakai([handed(eve)]), reader, people)
    read = understood(sakai([handed(eve), handed(ANA)]), reader, people)

    assert len(alone.taken) == len(people)
    assert_taken(read, [handed(ANA)], late=True)
    assert len(read.taken) == 1
    assert "It is called like a group, but here students hand in for themselves" in read.problems


def test_a_group_of_the_roster_hands_in_for_its_members() -> None:
    """A table that lists nobody leaves it to the roster."""
    people = [
        Person(lms=Lms.PLAIN, student=one.login, ids={IdKind.LOGIN: one.login}, sections=("Team Red",))
        for one in NASTY[:2]
    ]
    entries = {
        f"HW 1/Team Red({GROUP.login})/{name}": b"20270301150500000"
        for name in ("timestamp.txt", "Submission attachment(s)/hw1.ipynb")
    }

    read = understood(Written(entries), reader, people)

    assert sorted(one.student for one in read.taken) == ["aohara", "aruiz"]


@pytest.mark.parametrize("data", [b"\xd0\xcf\x11\xe0 an Excel file", b"", b"a,b\n1,2\n", b'"never closed'])
def test_a_table_that_cannot_be_read_costs_lateness_alone(data: bytes) -> None:
    """The work is there; that nobody knows what is late is told."""
    written = sakai([handed(ANA)])
    written.entries["HW 1/grades.csv"] = data

    read = understood(written, reader, enrolled(NASTY, sakai_gradebook))

    assert_taken(read, [handed(ANA)])
    assert [one.reason for one in read.left if not one.harmless] == [
        "It cannot be read, so nobody knows from it what is late."
    ]


def test_folders_around_the_download_and_strange_files() -> None:
    """Unpacked and packed again, with a file of somebody's in it."""
    work = [handed(ANA)]
    entries = {f"all/{name}": data for name, data in sakai(work).entries.items()}
    entries |= {"all/HW 1/notes.txt": b"mine", "all/HW 1/Ruiz, Ana(aruiz)/plan.txt": b"mine"}

    read = understood(Written(entries), reader, enrolled(NASTY, sakai_gradebook))

    assert_taken(read, work, late=True)
    assert sorted(one.name for one in read.left if not one.harmless) == [
        "all/HW 1/Ruiz, Ana(aruiz)/plan.txt",
        "all/HW 1/notes.txt",
    ]


def test_what_is_no_download_of_sakai_is_left_whole() -> None:
    """Without a time and a table there is no structure to go by."""
    read = understood(Written({"a/b/hw1.ipynb": b"x"}), reader, enrolled(NASTY, sakai_gradebook))

    assert (read.sure, read.taken, read.refused) == (0, (), ())
    assert [one.name for one in read.left] == ["a/b/hw1.ipynb"]
