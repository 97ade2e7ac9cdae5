"""The command `push lti`: the tool's key, the roster that the LMS tells, and the way of scores."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from autograder.gradebook import Gradebook
from autograder.lms.model import IdKind, Person
from autograder.lms.push.lti.keys import KEY_FILE, VARIABLE, key_source, make_private_key, read_private_key
from autograder.lms.push.lti.members import roster_bytes
from autograder.lms.push.lti.pushing import LtiPush, connect, read_roster
from autograder.lms.push.lti.registration import FILES, read_registration
from autograder.lms.push.tokens import Source
from autograder.lms.push.web import DEFAULT_POLICY
from autograder.lms.sheets import write_whole
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.lms.push.lti.access import Access
    from autograder.lms.push.model import Outcome, Plan
    from autograder.lms.push.wanted import Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFiles:
    """
    Where the command line says that the tool's files are.

    Parameters
    ----------
    registration : Path or None
        How the LMS knows the tool; by default ``lti.toml`` or ``lti.json`` of the course.
    key_file : Path or None
        The private key; by default what the registration says.
    """

    registration: Path | None = None
    key_file: Path | None = None


class KeepingPush:
    """
    The way of scores over LTI, which keeps the ids that it finds in the gradebook.

    Parameters
    ----------
    course : Course
        The course.
    access : Access
        The platform.
    """

    def __init__(self, course: Course, access: Access) -> None:
        self._course = course
        self._way = LtiPush(access, course.root)

    def plan(self, wanted: Wanted) -> Plan:
        """
        Compare what is wanted with what the platform has. It only reads.

        Parameters
        ----------
        wanted : Wanted
            What is to be there.

        Returns
        -------
        Plan
            As of `LtiPush.plan`.
        """
        return self._way.plan(wanted)

    def send(self, plan: Plan, wanted: Wanted) -> Iterator[Outcome]:
        """
        Do what a plan says, and know the students by their ids from now on.

        Parameters
        ----------
        plan : Plan
            As `plan` returned it.
        wanted : Wanted
            What it was made of.

        Yields
        ------
        Outcome
            As of `LtiPush.send`.
        """
        sent = {row.student for row in plan.to_send}
        with Gradebook(self._course.db_url) as gradebook:
            gradebook.enroll_people(
                [
                    # Names and other ids are what the LMS's own roster says.
                    Person(lms=one.lms, student=one.student, ids={IdKind.LTI: one.ids[IdKind.LTI]})
                    for one in self._way.people(wanted)
                    if one.student in sent
                ]
            )
        yield from self._way.send(plan, wanted)


def to_lti(course: Course, files: ToolFiles, *, told: Callable[[str], None]) -> KeepingPush:
    """
    Return the way to the platform of a course.

    Parameters
    ----------
    course : Course
        The course.
    files : ToolFiles
        Where the tool's files are.
    told : callable
        Is told, in a sentence, that and why we wait.

    Returns
    -------
    KeepingPush
        The way.

    Raises
    ------
    ConfigError
        If the registration cannot be used.
    OperatorError
        If there is no key that can be used.
    """
    return KeepingPush(course, _connected(course, files, told))


def write_roster(
    course: Course, files: ToolFiles, to: Path, *, told: Callable[[str], None]
) -> dict[str, Any]:
    """
    Write who is in the course, as the platform tells it, for ``collect --roster``.

    Parameters
    ----------
    course : Course
        The course.
    files : ToolFiles
        Where the tool's files are.
    to : Path
        The file to write.
    told : callable
        As of `to_lti`.

    Returns
    -------
    dict
        The file, how many people are in it, and notes.

    Raises
    ------
    OperatorError
        If the platform does not tell, or the file cannot be written.
    """
    roster = read_roster(_connected(course, files, told))
    write_whole(to, roster_bytes(roster), private=True)
    return {"file": str(to), "people": len(roster.people), "notes": list(roster.notes)}


def show_keys(course: Course, files: ToolFiles) -> dict[str, Any]:
    """
    Return the public half of the tool's key, which is made if there is none yet.

    Parameters
    ----------
    course : Course
        The course.
    files : ToolFiles
        Where the tool's files are; the registration need not be there.

    Returns
    -------
    dict
        ``jwks`` and ``pem``, and as ``made`` the file of a new key.

    Raises
    ------
    OperatorError
        If there is a key that cannot be used, or none can be written.
    """
    source = _source(course, files)
    path, made = source.named or source.configured, ""
    elsewhere = source.named is None and os.environ.get(VARIABLE, "").strip()
    if path is not None and not elsewhere and not os.path.lexists(path):
        make_private_key(path)
        made = str(path)
    key = read_private_key(source)
    return {"made": made, "jwks": key.public_keys(), "pem": key.public_pem()}


def print_keys(keys: dict[str, Any]) -> None:
    """
    Print the public half of the tool's key.

    Parameters
    ----------
    keys : dict
        As of `show_keys`.
    """
    if keys["made"]:
        click.echo(printable(f"made {keys['made']}: it is secret; only you may read it"), err=True)
    click.echo(json.dumps(keys["jwks"], indent=2))
    click.echo(keys["pem"].rstrip())


def print_roster(written: dict[str, Any]) -> None:
    """
    Print what was written.

    Parameters
    ----------
    written : dict
        As of `write_roster`.
    """
    click.echo(printable(f"{written['people']} people: {written['file']}"))
    for note in written["notes"]:
        click.echo(printable(f"  {note}"))


def _connected(course: Course, files: ToolFiles, told: Callable[[str], None]) -> Access:
    return connect(
        course.root,
        registration=files.registration,
        key_file=files.key_file,
        policy=replace(DEFAULT_POLICY, told=told),
    )


def _source(course: Course, files: ToolFiles) -> Source:
    """Return where the key may be; before the tool is registered that is beside the course's settings."""
    places = [files.registration] if files.registration else [course.root / name for name in FILES]
    for place in places:
        if place.is_file():
            return key_source(read_registration(place), files.key_file)
    return Source(
        what="the private key of the tool",
        variable=VARIABLE,
        option="--key-file",
        named=files.key_file,
        setting="the course",
        configured=course.root / KEY_FILE,
    )
