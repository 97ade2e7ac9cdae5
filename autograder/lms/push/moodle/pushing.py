"""
Grades, comments and feedback to one assignment in Moodle: first the plan, then its doing.

To stop anywhere does no harm. Whoever makes the plan again gets what is left,
because it is the difference to what Moodle has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.push.moodle.finding import find
from autograder.lms.push.moodle.planning import look, make_plan
from autograder.lms.push.moodle.sending import Sender
from autograder.lms.push.moodle.service import MoodleTarget, Service
from autograder.lms.push.record import Record
from autograder.lms.push.web import DEFAULT_CLOCK, DEFAULT_POLICY, Clock, Policy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autograder.lms.push.model import Outcome, Plan
    from autograder.lms.push.wanted import Wanted

__all__ = ["MoodlePush", "MoodleTarget"]


class MoodlePush:
    """
    The way to one assignment in Moodle.

    Parameters
    ----------
    target : MoodleTarget
        Where to, and with which token.
    course : Path
        The course folder, where the record of what was sent lies.
    policy : Policy, optional
        Bounds of requests; its `told` is told when we wait.
    clock : Clock, optional
        Time.

    Raises
    ------
    CourseError
        If the address cannot be used, or no single course or assignment is meant.
    OperatorError
        If Moodle cannot be asked, the token may not do what is needed, or the record is damaged.
    """

    def __init__(
        self,
        target: MoodleTarget,
        course: Path,
        *,
        policy: Policy = DEFAULT_POLICY,
        clock: Clock = DEFAULT_CLOCK,
    ) -> None:
        self._service = Service(target, policy=policy, clock=clock)
        # Left, a session closes its connections; it can be used again.
        with self._service.session:
            self._found = find(self._service, target)
        self._record = Record(course, f"moodle {self._service.url} assignment {self._found.id}")

    def plan(self, wanted: Wanted) -> Plan:
        """
        Compare what is wanted with what Moodle has. It only reads.

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
        ServerError
            If Moodle does not answer.
        """
        with self._service.session:
            known = look(self._service, self._found, wanted.grades)
            return make_plan(self._service, self._found, known, wanted, self._record)

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
            If Moodle cannot be reached any more, refuses everybody, or somebody else is sending.
        """
        if not plan.to_send:
            return
        with self._record.held(), self._service.session:
            yield from Sender(self._service, self._found, wanted.assignment, self._record).send(plan)
