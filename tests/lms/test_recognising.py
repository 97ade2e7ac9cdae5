"""Whose a download is: told by what is in it, for one student or many, in any of its forms."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, assume, given, settings
from nasty_people import ANA, NASTY, Nasty, classes
from written_downloads import (
    MoodleSite,
    Words,
    Written,
    blackboard,
    brightspace,
    handed,
    moodle,
    opened,
    sakai,
)

from autograder.errors import CourseError
from autograder.lms.downloads.recognising import recognise
from autograder.lms.model import Lms

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from written_downloads import Handed

WRITERS: dict[str, tuple[Lms, Callable[[Sequence[Handed]], Written]]] = {
    "Moodle": (Lms.MOODLE, moodle),
    "Moodle, flat": (Lms.MOODLE, lambda work: moodle(work, MoodleSite(flat=True))),
    "Moodle, hidden": (Lms.MOODLE, lambda work: moodle(work, MoodleSite(blind="Participant"))),
    "Blackboard": (Lms.BLACKBOARD, blackboard),
    "Blackboard, no notes": (Lms.BLACKBOARD, lambda work: blackboard(work, notes=False)),
    "Brightspace": (Lms.BRIGHTSPACE, brightspace),
    "Sakai": (Lms.SAKAI, sakai),
    "Sakai, Spanish": (Lms.SAKAI, lambda work: sakai(work, Words("Anexos", "Notas", "Tarde", "A tiempo"))),
}


@pytest.mark.parametrize("name", sorted(WRITERS))
@pytest.mark.parametrize("who", [(ANA,), NASTY[:21]], ids=["one", "many"])
def test_every_form_is_recognised(name: str, who: tuple[Nasty, ...]) -> None:
    """Also inside folders, and with a file of somebody else in it."""
    lms, write = WRITERS[name]
    written = write([handed(one, "hw1.ipynb", "1_2_3_data.csv", number=at) for at, one in enumerate(who)])
    around = {f"CS101 (all)/2027/{entry}": data for entry, data in written.entries.items()}

    for entries in (written.entries, around, around | {"notes to self.txt": b"x"}):
        with opened(Written(entries)) as archive:
            assert recognise(archive) == lms


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nasty=classes(3))
def test_nobodys_name_makes_it_another_lms(nasty: tuple[Nasty, ...]) -> None:
    """Names, ids and files of students are not what a download is told by."""
    names = ["a_1_assignsubmission_file_b.ipynb", "x_y_attempt_2027-01-01-01-01-01_z.ipynb", "timestamp.txt"]
    assume(all(len(one.full.encode()) < 100 and not set("/\\") & set(one.full) for one in nasty))
    for lms, write in WRITERS.values():
        with opened(write([handed(one, *names) for one in nasty])) as archive:
            assert recognise(archive) == lms


@pytest.mark.parametrize(
    ("one", "other"), list(combinations(["Moodle", "Blackboard, no notes", "Brightspace"], 2))
)
def test_two_downloads_in_one_are_refused(one: str, other: str) -> None:
    """Half and half is nobody's; both are named."""
    work = [handed(who) for who in NASTY[:6]]
    entries = {f"a/{name}": data for name, data in WRITERS[one][1](work).entries.items()}
    entries |= {f"b/{name}": data for name, data in WRITERS[other][1](work).entries.items()}

    with (
        opened(Written(entries)) as archive,
        pytest.raises(CourseError, match="Say where it is from") as caught,
    ):
        recognise(archive)

    assert all(WRITERS[name][0].shown in caught.value.what for name in (one, other))


ODD = ("x_y_attempt_2027-03-01-10-05-{:02}_a", "b_{}_assignsubmission_file_a", "c_{}_7_a")


@pytest.mark.parametrize("odd", ODD, ids=["Blackboard", "Moodle", "Canvas"])
@pytest.mark.parametrize("name", sorted(WRITERS))
def test_one_student_makes_no_doubt(name: str, odd: str) -> None:
    """Forty files that are called as another LMS calls them have no more to say than one."""
    lms, write = WRITERS[name]
    many = [odd.format(number) for number in range(40)]
    with opened(write([handed(NASTY[0]), handed(NASTY[1], "hw1.ipynb", *many)])) as archive:
        assert recognise(archive) == lms


def test_names_of_two_lms_are_refused() -> None:
    """An assignment called lab_2_1 makes of Blackboard's names such as Canvas gives, all of them."""
    written = blackboard([handed(who) for who in NASTY[:3]], "lab_2_1", notes=False)

    with opened(written) as archive, pytest.raises(CourseError, match="like Canvas and like Blackboard"):
        recognise(archive)
