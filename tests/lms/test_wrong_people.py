"""No export gives a score to somebody whom the instructor's file knows to be another person."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import pytest
from made_grades import NOW, made_grade, made_person, made_request

from autograder.lms.exports.model import Action
from autograder.lms.model import Lms

if TYPE_CHECKING:
    from autograder.lms.exports.model import Export

TIME = int(NOW.timestamp()) - 60
MOODLE = "Status,Grade,Maximum grade,Last modified (grade)"
FILES = {
    "canvas": (
        'Student,ID,SIS User ID,SIS Login ID,Section,HW 1 (7)\n"Zed, Zoe",501,S777,zzed,S,2\n',
        'Student,ID,SIS Login ID,Section,HW 1 (7)\n"Ruiz, Ana",901,zz9,S,4\n',
    ),
    "moodle-worksheet": (
        f"Identifier,Full name,Email address,{MOODLE}\nParticipant 501,Zoe Zed,zoe@x.test,s,,10.00,-\n",
        f"Identifier,Full name,{MOODLE}\nParticipant 9,Ana Ruiz,s,,10.00,-\n",
    ),
    "moodle-grades": (
        (
            "First name,Last name,ID number,Email address,Assignment: HW 1 (Real),Last downloaded from this"
            f" course\nZoe,Zed,S0001,zoe@x.test,2.00,{TIME}\n"
        ),
        (
            "First name,Last name,Username,Assignment: HW 1 (Real),Last downloaded from this course\n"
            f"Ana,Ruiz,zz9,4.00,{TIME}\n"
        ),
    ),
    "blackboard": (
        "Last Name,First Name,Username,Student ID,HW 1 [Total Pts: 10 Score] |11\nZed,Zoe,aruiz,S777,2\n",
        "Last Name,First Name,Username,HW 1 [Total Pts: 10 Score] |11\nRuiz,Ana,zz9,2\n",
    ),
    "brightspace": (
        (
            "OrgDefinedId,Email,HW 1 Points Grade <Numeric MaxPoints:10>,End-of-Line Indicator\n"
            "#S0001,zoe@x.test,2,#\n"
        ),
        (
            "OrgDefinedId,First Name,Last Name,HW 1 Points Grade <Numeric>,End-of-Line Indicator\n"
            "#zz9,Ana,Ruiz,2,#\n"
        ),
    ),
    "openedx": (
        "user_id,username,full_name,block_id,title,Previous Points,New Points\n501,zzed,Zoe Zed,b,HW 1,2,\n",
        "user_id,username,full_name,block_id,title,Previous Points,New Points\n9,zz9,Ana Ruiz,b,HW 1,2,\n",
    ),
}
LMS = {name: Lms(name.partition("-")[0]) for name in FILES}


def exported(name: str, text: str, *, known: bool) -> Export:
    """Return what one format makes of a file, with Ana, whom its LMS knows by ids or not at all."""
    ids = {"user": "501", "participant": "501", "sis": "S0001", "login": "aruiz"}
    person = made_person(LMS[name], "Ruiz, Ana", "ana@x.test", **ids)
    ana = made_grade("s1", first_name="Ana", last_name="Ruiz", people=(person,) if known else ())
    module = import_module(f"autograder.lms.exports.{name.replace('-', '_')}")
    done: Export = module.export(made_request([ana], text))
    return done


@pytest.mark.parametrize("name", FILES)
def test_an_id_that_fits_beside_one_that_does_not_sends_nothing(name: str) -> None:
    """The row is Zoe's, whatever one number of it says; that is told."""
    done = exported(name, FILES[name][0], known=True)

    assert {change.action for change in done.changes} == {Action.SKIPPED}
    assert any("fits s1, but " in change.reason for change in done.changes)


@pytest.mark.parametrize("name", FILES)
def test_a_match_by_name_alone_is_told(name: str) -> None:
    """Somebody should look whether it is the same Ana Ruiz."""
    done = exported(name, FILES[name][1], known=False)

    assert Action.APPLIED in {change.action for change in done.changes}
    assert [note for note in done.notes if "name alone" in note and "s1 (line 2)" in note]


@pytest.mark.parametrize("name", sorted(FILES.keys() - {"canvas", "openedx"}))
def test_the_decimal_mark_of_a_file_is_told(name: str) -> None:
    """Canvas takes both, and Open edX points only; the others read what their language writes."""
    assert [
        note for note in exported(name, FILES[name][1], known=False).notes if "with a decimal point" in note
    ]
