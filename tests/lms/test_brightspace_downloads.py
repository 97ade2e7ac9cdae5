"""Brightspace's downloads: names with hyphens, several submissions, sites that name folders otherwise."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from downloads_read import assert_nobody_has_anothers, assert_taken, enrolled, understood
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from nasty_people import ANA, NASTY, TWINS, Nasty, classes
from written_downloads import Written, brightspace, brightspace_time, handed
from written_rosters import brightspace as roster

from autograder.lms.downloads import brightspace as reader
from autograder.lms.model import Lms
from autograder.lms.people import fold, full_names

FOLDERS = [
    "{numbers} - {full} - {time}",
    "6606 - {numbers} - {full} - {time}",
    "6606-{numbers} - {full} - {time}",
    "{numbers} - {sortable} - {sis} - {time}",
    "{numbers} - {sortable} - {time}",
    "{sortable} - {sis} - {time}",
    "{numbers} - {sortable} - {sis}",
]
"""Of sites; the last ones are so unlike the others that Brightspace must be named."""
USUAL = [one for one in FOLDERS if one.startswith(("{numbers}", "6606")) and one.endswith("{time}")]


def nameable(nasty: tuple[Nasty, ...]) -> list[Nasty]:
    """Return people whose names can be those of folders."""
    return [one for one in nasty if len(one.full) < 100 and not set("/\\") & set(one.full + one.sis)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_everybody_who_can_be_told_apart_is_read(folder: str) -> None:
    """Hyphens with spaces around and commas in names, ids of every form, times without a colon."""
    nasty = nameable(NASTY)
    work = [handed(one, "hw1.ipynb", "data in (2).csv", number=number) for number, one in enumerate(nasty)]

    read = understood(brightspace(work, folder), reader, enrolled(nasty, roster))

    assert read.refused == ()
    assert (read.sure == 1) == (folder in USUAL)
    assert_taken(read, work, times="{time}" in folder)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nasty=classes(), folder=st.sampled_from(FOLDERS), absent=st.integers(0, 2), around=st.booleans())
def test_nobody_gets_anothers_work(
    nasty: tuple[Nasty, ...], folder: str, absent: int, *, around: bool
) -> None:
    """A name that two have, or that has the form of a folder, is refused, not guessed."""
    work = [handed(one, number=number) for number, one in enumerate(nasty)]
    people = enrolled(nasty[: len(nasty) - absent] or nasty, roster)
    written = brightspace(work, folder)
    if around:
        entries = {f"CS101 - Sep 24, 2026 926 PM/{name}": data for name, data in written.entries.items()}
        written = Written(entries)

    read = understood(written, reader, people)

    # A name is all that there is of a stranger who is called like somebody.
    strangers = {fold(way) for one in nasty[len(people) :] for way in full_names(one.person(Lms.PLAIN))}
    assume(not strangers & {fold(way) for person in people for way in full_names(person)})
    assert_nobody_has_anothers(read, work)
    assert {one.student for one in read.taken} <= {person.student for person in people}


def test_namesakes_are_refused_unless_the_site_adds_ids() -> None:
    """Only an id tells them apart."""
    people, work = enrolled(TWINS[:4], roster), [handed(one) for one in TWINS[:4]]

    by_name = understood(brightspace(work), reader, people)
    by_id = understood(brightspace(work, "{numbers} - {sortable} - {sis} - {time}"), reader, people)

    assert by_name.taken == ()
    assert "Kim Park (kpark1) or Kim Park (kpark2), who are called the same" in by_name.problems
    assert_taken(by_id, work)


def test_an_id_counts_only_with_its_name() -> None:
    """A number behind a name may be something else than this student's id."""
    other = replace(ANA, sis=NASTY[1].sis)

    read = understood(
        brightspace([handed(other)], "{numbers} - {sortable} - {sis} - {time}"),
        reader,
        enrolled(NASTY, roster),
    )

    assert read.taken == ()
    assert "Nobody in the roster is called 'Ruiz, Ana - 00042'" in read.problems


def test_a_time_that_nobody_can_read_is_none() -> None:
    """The submission is there; its time is in another language."""
    written = Written({"1-2 - Ana Ruiz - 24 sept. 2026 2126/hw1.ipynb": b"x"})

    (one,) = understood(written, reader, enrolled([ANA], roster)).taken

    assert one.attempt.submitted_at is None


def test_every_submission_is_read_with_its_time() -> None:
    """A second folder is a later attempt; midnight and noon are not mixed up."""
    noon = datetime(2026, 9, 24, 16, 0, tzinfo=UTC)
    work = [
        replace(handed(ANA, number=number), at=noon.replace(hour=hour)) for number, hour in enumerate((16, 4))
    ]
    assert [brightspace_time(one.at) for one in work] == ["Sep 24, 2026 1200 PM", "Sep 24, 2026 1200 AM"]

    read = understood(brightspace(work), reader, enrolled(NASTY, roster))

    assert len(read.of(ANA.login)) == 2
    assert_taken(read, work)


def test_a_group_hands_in_for_all_of_its_members() -> None:
    """Its name stands where a student's would; one that is called like a student is refused."""
    nasty = [replace(one, groups=("Team Red",)) for one in NASTY[:3]]
    people = [one.person(Lms.BRIGHTSPACE, student=one.login) for one in nasty]
    team = Nasty("Team", "Red", "team", "", "")

    read = understood(brightspace([handed(team)]), reader, people)
    unknown = understood(brightspace([handed(team)]), reader, enrolled(NASTY, roster))
    both = [
        *people,
        replace(people[0], student="red", first_name="Team", last_name="Red", ids={}, sections=()),
    ]

    assert sorted(one.student for one in read.taken) == sorted(one.login for one in nasty)
    assert "name a roster that has a column Groups" in unknown.problems
    assert understood(brightspace([handed(team)]), reader, both).taken == ()


def test_the_index_is_left_and_other_files_are_told() -> None:
    """The page lists the folders; it is nobody's."""
    written = brightspace([handed(ANA)])
    written.entries["readme.txt"] = b"mine"

    read = understood(written, reader, enrolled(NASTY, roster))

    assert {one.name: one.harmless for one in read.left} == {"index.html": True, "readme.txt": False}
    assert [list(one.files) for one in read.taken] == [["hw1.ipynb"]]


def test_a_name_of_digits_is_a_name() -> None:
    """Whoever is called 007 is not a part of the numbers before."""
    bond = replace(ANA, first="", last="007")

    assert_taken(understood(brightspace([handed(bond)]), reader, enrolled([bond], roster)), [handed(bond)])


def test_a_name_with_a_slash_is_not_its_beginning() -> None:
    """If a site leaves the slash, the folder is two, and neither is Ana's."""
    ana = replace(ANA, last="")
    name = f"1-2 - Ana/Bel - {brightspace_time(handed(ANA).at)}/hw1.ipynb"

    read = understood(Written({name: b"x", "index.html": b""}), reader, enrolled([ana], roster))

    assert read.taken == ()
    assert read.sure < 0.5


EVE = Nasty("Eve", "Evil", "evil", "S7", "777")
BO, *OTHERS = NASTY[1:4]


@pytest.mark.parametrize("is_fresh", [True, False], ids=["roster of today", "roster of yesterday"])
@pytest.mark.parametrize("numbers", ["9-9 - ", "9 - 9-9 - ", "9 - ", "397063-2557369 - "])
@pytest.mark.parametrize("folder", [*USUAL, "{sortable} - {time}", "{sortable} - {sis} - {time}"])
def test_numbers_in_a_name_are_not_the_sites(folder: str, numbers: str, *, is_fresh: bool) -> None:
    """Whoever calls themselves by numbers and a name hands in for nobody else, however often they do."""
    eve = replace(EVE, first=f"{numbers}{BO.first}", last=BO.last)
    if folder.startswith("{sortable}"):
        eve = replace(EVE, first=BO.first, last=f"{numbers}{BO.last}")
    work = [handed(BO), *(handed(one, number=2) for one in OTHERS)]
    bait = [handed(eve, number=number) for number in range(3, 23)]

    read = understood(
        brightspace([*work, *bait], folder), reader, enrolled([BO, *OTHERS, eve if is_fresh else EVE], roster)
    )

    # To refuse what may be another's is right; to take it for another's is not.
    assert_nobody_has_anothers(read, [*work, *bait])
    assert_taken(read, work)
    assert {one.student for one in read.taken} <= {one.who.login for one in work} | {"evil"}


def test_what_fits_two_ways_is_refused() -> None:
    """A folder alone says not where its numbers end and the name begins."""
    written = brightspace([handed(replace(EVE, first="9-9 - Ana", last="Ruiz"))])
    people = enrolled([ANA, replace(EVE, first="9-9 - Ana", last="Ruiz")], roster)

    read = understood(written, reader, people)

    assert read.taken == ()
    assert "It may be 9-9 - Ana Ruiz (evil) or Ana Ruiz (aruiz), who are called the same" in read.problems


def test_an_id_behind_one_name_is_a_part_of_it() -> None:
    """Where the site puts no ids behind names, nobody can put another's there."""
    eve = replace(EVE, last=f"{BO.last} - {BO.sis}", first=BO.first)
    work = [handed(BO), *map(handed, OTHERS)]

    read = understood(brightspace([*work, handed(eve)]), reader, enrolled([BO, *OTHERS, EVE], roster))

    assert_taken(read, work)
    assert len(read.taken) == len(work)
    assert "Nobody in the roster is called" in read.problems


def test_what_ends_in_a_time_is_the_end_of_a_name() -> None:
    """If a site leaves the slash, whoever has one in their name does not end it before."""
    time = brightspace_time(handed(ANA).at)
    eve = f"1-3 - Ana Ruiz - {time}/x - {time}/hw1.ipynb"
    written = brightspace([handed(ANA)])
    written.entries[eve] = b"bait"

    read = understood(written, reader, enrolled([ANA, EVE], roster))

    assert_taken(read, [handed(ANA)])
    assert len(read.taken) == 1
    assert [one.name for one in read.left if not one.harmless] == [eve]


def test_a_student_called_like_a_group_does_not_hand_in_for_it() -> None:
    """Where students hand in for themselves, a group's name is refused, however often it is used."""
    people = [
        replace(one.person(Lms.BRIGHTSPACE, student=one.login), sections=("Lab 1",)) for one in NASTY[:4]
    ]
    work = [handed(one) for one in NASTY[:2]]
    eve = replace(EVE, first="Lab", last="1")

    read = understood(
        brightspace([*work, *(handed(eve, number=number) for number in range(1, 9))]), reader, people
    )

    assert_taken(read, work)
    assert len(read.taken) == len(work)
    assert "It is called like a group, but here students hand in for themselves" in read.problems


def test_several_folders_of_one_name_are_told() -> None:
    """Attempts of one student, or of two of whom one took the other's name: only a person can see."""
    work = [handed(ANA), handed(ANA, number=1), handed(BO)]

    by_name = understood(brightspace(work), reader, enrolled([ANA, BO], roster))
    by_id = understood(
        brightspace(work, "{numbers} - {sortable} - {sis} - {time}"), reader, enrolled([ANA, BO], roster)
    )

    (note,) = by_name.notes
    assert "by the name alone: Ana Ruiz (2). Somebody else may have taken that name" in note
    assert by_id.notes == ()
    assert len(by_name.of(ANA.login)) == len(by_id.of(ANA.login)) == 2
