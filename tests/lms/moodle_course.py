"""A course folder and the Moodle that it pushes to."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from loopback_moodle import TOKEN, Assign, Graded, MoodleSite
from lti_tool import PassingClock
from made_grades import made_grade

from autograder.lms.model import Grade, GradeState
from autograder.lms.push.model import Plan, State
from autograder.lms.push.moodle.pushing import MoodlePush
from autograder.lms.push.moodle.service import MoodleTarget
from autograder.lms.push.tokens import Secret
from autograder.lms.push.wanted import Wanted

if TYPE_CHECKING:
    from pathlib import Path

    from loopback import Mishaps

    from autograder.lms.push.model import Outcome


NUMBERS = {"ana": 71, "bo": 72, "cy": 73, "di": 74, "ed": 75}
CLASS: dict[str, Any] = {
    "ana": "9.5",
    "bo": "0",
    "cy": GradeState.UNGRADED,
    "di": "10",
    "ed": GradeState.MISSING,
}
SCORED = {"ana": Decimal("9.5"), "bo": Decimal(0), "di": Decimal(10)}


def users() -> list[dict[str, Any]]:
    """Return the course's people: students, and a teacher who is hidden."""
    found: list[dict[str, Any]] = [
        {"id": number, "username": name, "email": f"{name}@example.edu", "fullname": name.title()}
        for name, number in NUMBERS.items()
    ]
    return [*found[:2], {"id": 990, "username": "teacher", "hidden": True}, *found[2:]]


@dataclass(kw_only=True)
class Course:
    """The course folder, and the Moodle that it pushes to."""

    site: MoodleSite
    folder: Path
    passing: PassingClock = field(default_factory=PassingClock)

    def way(self, assignment: str = "Homework 1", **target: str) -> MoodlePush:
        """Return the way to the assignment, with nothing remembered."""
        told = {"url": f"{self.site.url}/moodle", "course": "5", "assignment": assignment} | target
        token = Secret(TOKEN, "AUTOGRADER_MOODLE_TOKEN")
        return MoodlePush(MoodleTarget(token=token, **told), self.folder, clock=self.passing.clock)

    def push(self, wanted: Wanted) -> tuple[Plan, list[Outcome]]:
        """Do what one command does."""
        way = self.way()
        plan = way.plan(wanted)
        return plan, list(way.send(plan, wanted))

    def push_until_done(self, wanted: Wanted, times: int = 6) -> None:
        """Repeat the command until nothing is left to send."""
        for _ in range(times):
            _, outcomes = self.push(wanted)
            if all(outcome.state is not State.FAILED for outcome in outcomes):
                return
        raise AssertionError([outcome.reason for outcome in outcomes])

    @property
    def graded(self) -> dict[str, Graded]:
        """Return what Moodle has, by student."""
        (assign,) = self.site.assigns.values()
        return {name: assign.graded[number] for name, number in NUMBERS.items() if number in assign.graded}

    def scores(self) -> dict[str, Decimal | None]:
        """Return the scores that Moodle has, by student."""
        return {name: one.grade for name, one in self.graded.items()}


def course(tmp_path: Path, mishaps: Mishaps | None = None, **facts: Any) -> Course:
    """Return a course whose assignment in Moodle is as told; its site is to be entered."""
    facts.setdefault("submitted", set(NUMBERS.values()) - {NUMBERS["ed"], NUMBERS["bo"]})
    return Course(site=MoodleSite(users(), [Assign(**facts)], mishaps), folder=tmp_path)


def wanted(grades: dict[str, Any] | list[Grade], **more: Any) -> Wanted:
    """Return what is wanted; by student the points of 10, or a state."""
    if isinstance(grades, dict):
        grades = [
            made_grade(name, points, comment=f"Well done, {name} & co.\n1 < 2")
            for name, points in grades.items()
        ]
    return Wanted(assignment="hw1", grades=tuple(grades), **more)


def pages(folder: Path, *students: str, text: str = "feedback") -> dict[str, Path]:
    """Write a feedback page for some students."""
    found = {}
    for student in students:
        found[student] = folder / f"{student}.html"
        found[student].write_text(f"<p>{text} for {student}</p>")
    return found
