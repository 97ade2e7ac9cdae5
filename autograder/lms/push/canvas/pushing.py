"""
Grades, comments and feedback to one assignment in Canvas: first the plan, then its doing.

To stop anywhere does no harm. Whoever makes the plan again gets what is left,
because it is the difference to what Canvas has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.push.canvas.access import Access, CanvasTarget
from autograder.lms.push.canvas.finding import find
from autograder.lms.push.canvas.planning import make_plan
from autograder.lms.push.canvas.sending import Sender
from autograder.lms.push.record import Record
from autograder.lms.push.web import DEFAULT_CLOCK, DEFAULT_POLICY, Clock, Policy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from autograder.lms.push.model import Outcome, Plan
    from autograder.lms.push.wanted import Wanted

__all__ = ["CanvasPush", "CanvasTarget"]


class CanvasPush:
    """
    The way to one assignment in Canvas.

    Parameters
    ----------
    target : CanvasTarget
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
        If the address cannot be used, or no single course or assignment has the name.
    OperatorError
        If Canvas cannot be asked, or the record is damaged.
    """

    def __init__(
        self,
        target: CanvasTarget,
        course: Path,
        *,
        policy: Policy = DEFAULT_POLICY,
        clock: Clock = DEFAULT_CLOCK,
    ) -> None:
        self._access = Access(target, policy=policy, clock=clock)
        # Left, a session closes its connections; it can be used again.
        with self._access.session:
            self._found = find(self._access, target.course, target.assignment)
        where = f"canvas {self._access.url} course {self._found.course.id} assignment {self._found.id}"
        self._record = Record(course, where)

    def plan(self, wanted: Wanted) -> Plan:
        """
        Compare what is wanted with what Canvas has. It only reads.

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
            If Canvas does not answer.
        """
        with self._access.session:
            return make_plan(self._access, self._found, wanted, self._record)

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
            If Canvas cannot be reached any more or somebody else is sending.
        """
        with self._access.session:
            yield from Sender(self._access, self._found, wanted.assignment, self._record).send(plan)
