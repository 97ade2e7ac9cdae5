"""Who is in the course, as the platform tells the tool: the roster of NRPS."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from autograder.errors import ServerError
from autograder.lms.model import IdKind, Lms, Person, Roster
from autograder.lms.push.lti.service import MEMBERS, as_object
from autograder.lms.sheets import sheet_bytes
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.lms.push.lti.service import Connector

TYPE = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
MOST = 200_000
"""Members that are read; no course has as many."""

_ID_COLUMNS = {
    "lti_user_id": IdKind.LTI,
    "user_id": IdKind.USER,
    "username": IdKind.LOGIN,
    "id_number": IdKind.SIS,
}
_LEARNER = "learner"
_TEST_USER = "testuser"


def read_members(connector: Connector, url: str, lms: Lms) -> Roster:
    """
    Read who is in the course.

    Parameters
    ----------
    connector : Connector
        The platform.
    url : str
        Its ``context_memberships_url``.
    lms : Lms
        Whose rules hold.

    Returns
    -------
    Roster
        The learners, with the ids, names and addresses that the platform tells the tool. Only the id
        in LTI is always there.

    Raises
    ------
    ServerError
        If the platform does not tell.
    """
    where = url.partition("?")[0]
    people: dict[str, Person] = {}
    left: Counter[str] = Counter()
    for count, member in enumerate(_members(connector, url)):
        if count == MOST:
            raise ServerError(where, f"names more than {MOST} members", "Check context_memberships_url.")
        person, reason = _person(as_object(member, where), lms)
        if person is None:
            left[reason] += 1
        else:
            people.setdefault(person.ids[IdKind.LTI], person)
    notes = [f"{count} left out: {reason}." for reason, count in sorted(left.items())]
    found, shared = _without_shared(tuple(people.values()))
    return Roster(lms=lms, where=where, people=found, notes=(*notes, *shared))


def _members(connector: Connector, url: str) -> Iterator[object]:
    for page in connector.get_paginated_data([MEMBERS], url, accept=TYPE):
        members = as_object(page["body"], url.partition("?")[0]).get("members")
        yield from members if isinstance(members, list) else ()


def _person(member: Mapping[str, Any], lms: Lms) -> tuple[Person | None, str]:
    """Return a member as a person, or None and why they are none who gets grades."""
    told = member.get("roles")
    roles = [
        str(role).rpartition("#")[2].rpartition("/")[2].casefold()
        for role in (told if isinstance(told, list) else [told])
    ]
    user = _text(member, "user_id")
    if not user:
        return None, "members without an id"
    if str(member.get("status") or "Active").casefold() != "active":
        return None, "members who are not active"
    if _TEST_USER in roles:
        return None, "test users"
    if _LEARNER not in roles:
        return None, "members who are no learners"
    ids = {IdKind.LTI: user, IdKind.SIS: _text(member, "lis_person_sourcedid")}
    if lms is Lms.MOODLE:
        # It says the number of its own here; others make one up for LTI.
        ids |= {IdKind.USER: user, IdKind.LOGIN: _text(member, "ext_user_username")}
    person = Person(
        lms=lms,
        first_name=_text(member, "given_name"),
        last_name=_text(member, "family_name"),
        name=_text(member, "name"),
        email=_text(member, "email"),
        ids={kind: value for kind, value in ids.items() if value},
    )
    return person, ""


def _text(member: Mapping[str, Any], name: str) -> str:
    value = member.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.isprintable() else ""


def _without_shared(people: tuple[Person, ...]) -> tuple[tuple[Person, ...], tuple[str, ...]]:
    """Take ids away that several people have: whose they are nobody can tell."""
    counts = Counter((kind, value) for person in people for kind, value in person.ids.items())
    shared = {key for key, count in counts.items() if count > 1}
    if not shared:
        return people, ()
    found = tuple(
        replace(person, ids={key[0]: key[1] for key in person.ids.items() if key not in shared})
        for person in people
    )
    return found, tuple(
        f"Several people have the {kind.value} id {printable(value)!r}, so it is not used."
        for kind, value in sorted(shared)
    )


def roster_bytes(roster: Roster) -> bytes:
    """
    Return a roster as a table that ``collect --roster`` reads.

    Parameters
    ----------
    roster : Roster
        Who is in the course.

    Returns
    -------
    bytes
        CSV in UTF-8, ids letter for letter; columns that nobody has anything in are left out.
    """
    rows = [
        (
            *(person.ids.get(kind, "") for kind in _ID_COLUMNS.values()),
            person.email,
            person.first_name,
            person.last_name,
            person.name,
        )
        for person in roster.people
    ]
    header = (*_ID_COLUMNS, "email", "first_name", "last_name", "name")
    used = [at for at, name in enumerate(header) if name in _ID_COLUMNS and any(row[at] for row in rows)]
    used += [at for at, name in enumerate(header) if name not in _ID_COLUMNS]
    return sheet_bytes([[row[at] for at in used] for row in (header, *rows)])
