"""Who is in the course, as a platform tells the tool."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from loopback_lti import Setup, member
from lti_rules import Kind
from lti_tool import members_of, registered

from autograder.errors import ConfigError
from autograder.lms.model import IdKind
from autograder.lms.push.lti.members import roster_bytes
from autograder.lms.push.lti.pushing import read_roster
from autograder.lms.rosters.reading import roster_of
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from pathlib import Path


def test_only_learners_who_are_there_are_on_the_roster(tmp_path: Path) -> None:
    """With what the platform tells of them; who was left out is counted."""
    with registered(tmp_path, Setup(kind=Kind.MOODLE, members=members_of(Kind.MOODLE))) as tool:
        roster = read_roster(tool.access())

        assert [person.name for person in roster.people] == ["Ana", "Bo", "Cy", "Di", "Ed"]
        assert roster.people[0].ids == {IdKind.LTI: "70", IdKind.SIS: "000", IdKind.USER: "70"}
        assert roster.notes == (
            "1 left out: members who are no learners.",
            "1 left out: members who are not active.",
        )


def test_ids_alone_are_enough_and_shared_ids_are_none(tmp_path: Path) -> None:
    """A platform may keep names and addresses to itself, and a registrar's id may be there twice."""
    people: list[dict[str, Any]] = [
        {"user_id": 7, "roles": ["Learner"]},
        {"user_id": "8", "roles": ["http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"]},
        member("9", lis_person_sourcedid="X"),
        member("10", lis_person_sourcedid="X"),
        member("11", name="\x1b[31mred"),
        member("12") | {"roles": ["Learner", "http://purl.imsglobal.org/vocab/lti/system/person#TestUser"]},
        {"roles": ["Learner"]},
    ]
    with registered(tmp_path, Setup(members=people)) as tool:
        tool.platform.setup.page = 50
        roster = read_roster(tool.access())

        assert [person.ids for person in roster.people] == [
            {IdKind.LTI: one} for one in ("7", "8", "9", "10", "11")
        ]
        assert [person.name for person in roster.people] == [""] * 5
        assert "Several people have the sis id 'X', so it is not used." in roster.notes


def test_the_address_of_members_must_be_known(tmp_path: Path) -> None:
    """It says so in one line."""
    with registered(tmp_path) as tool:
        tool.register(context_memberships_url=None)
        with pytest.raises(ConfigError, match="context_memberships_url is missing"):
            read_roster(tool.access())


def test_a_roster_that_is_written_is_read_by_collect(tmp_path: Path) -> None:
    """With each id as what it is; whoever was found by LTI once is found by it again."""
    people = [
        member(
            "u-1",
            given_name="Ana",
            family_name="Ruiz, PhD",
            email="ana@example.edu",
            lis_person_sourcedid="007",
        ),
        member("=1+1", name='Bo "B" Lind'),
    ]
    with registered(tmp_path, Setup(members=people)) as tool:
        roster = read_roster(tool.access())
    sheet = parse_sheet(roster_bytes(roster), "roster.csv")

    found = roster_of(sheet)

    assert sheet.header == ("lti_user_id", "id_number", "email", "first_name", "last_name", "name")
    assert [(one.ids, one.email, one.first_name, one.last_name, one.name) for one in found.people] == [
        (one.ids, one.email, one.first_name, one.last_name, one.name) for one in roster.people
    ]
