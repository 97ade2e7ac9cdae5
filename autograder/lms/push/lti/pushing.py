"""
Grades to one line item of a platform: first the plan, then its doing.

To stop anywhere does no harm. Whoever makes the plan again gets what is left,
because it is the difference to what the platform has.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.errors import ConfigError
from autograder.lms.push.lti.access import Access
from autograder.lms.push.lti.finding import find_column, make_column
from autograder.lms.push.lti.keys import key_source, read_private_key
from autograder.lms.push.lti.members import read_members
from autograder.lms.push.lti.planning import look, make_plan
from autograder.lms.push.lti.registration import find_registration, read_registration
from autograder.lms.push.lti.sending import Sender
from autograder.lms.push.lti.service import SCORES
from autograder.lms.push.matching import match_members
from autograder.lms.push.record import Record
from autograder.lms.push.web import DEFAULT_POLICY, Policy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autograder.lms.model import Person, Roster
    from autograder.lms.push.lti.access import Column
    from autograder.lms.push.lti.planning import Known
    from autograder.lms.push.model import Outcome, Plan
    from autograder.lms.push.wanted import Wanted


class LtiPush:
    """
    The way to one line item of a platform.

    Parameters
    ----------
    access : Access
        The platform.
    course : Path
        The course folder, where the record of what was sent lies.
    """

    def __init__(self, access: Access, course: Path) -> None:
        self._access = access
        self._course = course
        self._column: Column | None = None
        self._known: Known | None = None

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
            A row for each grade.

        Raises
        ------
        CourseError
            If it cannot be told which line item is meant, or there is none and the tool may make none.
        ServerError
            If the platform does not answer.
        """
        # Left, a session closes its connections; it can be used again.
        with self._access.connector.session:
            return self._planned(wanted)

    def _planned(self, wanted: Wanted) -> Plan:
        # Whoever may not send scores learns it before anything is looked at.
        self._access.connector.get_access_token([SCORES])
        self._column = find_column(self._access, wanted.assignment)
        if self._column is None and not self._access.may_make_columns:
            raise ConfigError(
                self._access.registration.where,
                f"the LMS has no line item of {wanted.assignment}, and does not let the tool make one",
                "Allow the tool to manage line items, or name one as lineitem.",
            )
        self._known = look(self._access, self._column, wanted.grades)
        record = None if self._column is None else self._record(self._column)
        return make_plan(self._access, self._known, wanted, record)

    def send(self, plan: Plan, wanted: Wanted) -> Iterator[Outcome]:
        """
        Do what a plan says.

        Parameters
        ----------
        plan : Plan
            As `plan` returned it.
        wanted : Wanted
            What it was made of.

        Yields
        ------
        Outcome
            One for each row of `Plan.to_send`; nothing is sent until it is asked for one.

        Raises
        ------
        OperatorError
            If the platform cannot be reached any more, refuses everybody, or somebody else is sending.
        """
        if not plan.to_send or wanted.max_points is None or self._known is None:
            return
        with self._access.connector.session:
            if self._column is None:
                self._column = make_column(self._access, wanted.assignment, wanted.max_points)
            record = self._record(self._column)
            with record.held():
                yield from Sender(self._access, self._column, record, self._known).send(plan, wanted)

    def people(self, wanted: Wanted) -> tuple[Person, ...]:
        """
        Return the students whom the plan found on the platform, for the gradebook to keep their ids.

        Parameters
        ----------
        wanted : Wanted
            What the plan was made of.

        Returns
        -------
        tuple of Person
            As the platform knows them, with their ids in this course; empty before a plan is made.
        """
        if self._known is None:
            return ()
        members = match_members(self._known.people, wanted.grades)
        return tuple(replace(person, student=student) for student, person in members.people.items())

    def _record(self, column: Column) -> Record:
        return Record(self._course, f"lti {column.url}")


def connect(
    course: Path,
    *,
    registration: Path | None = None,
    key_file: Path | None = None,
    policy: Policy = DEFAULT_POLICY,
) -> Access:
    """
    Return the platform of a course, as its registration tells of it.

    Parameters
    ----------
    course : Path
        The course folder.
    registration : Path, optional
        The file of the registration. By default ``lti.toml`` or ``lti.json`` of the course.
    key_file : Path, optional
        The file of the private key that the command line names.
    policy : Policy, optional
        Bounds of requests; its `told` is told when we wait.

    Returns
    -------
    Access
        The platform; it is not asked anything yet.

    Raises
    ------
    ConfigError
        If the registration cannot be used.
    OperatorError
        If there is no key that can be used, or a file cannot be read.
    """
    found = read_registration(registration or find_registration(course))
    key = read_private_key(key_source(found, key_file))
    return Access(found, key, policy=policy)


def read_roster(access: Access) -> Roster:
    """
    Read who is in the course.

    Parameters
    ----------
    access : Access
        The platform.

    Returns
    -------
    Roster
        The learners.

    Raises
    ------
    ConfigError
        If the registration does not say where.
    ServerError
        If the platform does not tell.
    """
    registration = access.registration
    if not registration.context_memberships_url:
        what = "context_memberships_url is missing"
        raise ConfigError(registration.where, what, "It says who is in the course.")
    with access.connector.session:
        return read_members(access.connector, registration.context_memberships_url, registration.lms)
