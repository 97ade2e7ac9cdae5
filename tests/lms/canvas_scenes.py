"""Pushes to a Canvas on this machine, in a few words: who is there, what is wanted, what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from canvas_world import ASSIGNMENT, COURSE, TOKEN, Pupil, Work, World
from loopback_canvas import LoopbackCanvas
from made_grades import made_grade, made_person

from autograder.lms.model import Lms
from autograder.lms.push.canvas.pushing import CanvasPush, CanvasTarget
from autograder.lms.push.tokens import Secret
from autograder.lms.push.wanted import Wanted
from autograder.lms.push.web import Clock, Policy

if TYPE_CHECKING:
    from pathlib import Path

    from loopback import Mishaps

    from autograder.lms.model import Grade, GradeState
    from autograder.lms.push.model import Outcome, Plan


class Hours:
    """A clock whose hours pass as soon as somebody sleeps."""

    def __init__(self) -> None:
        self.time = 0.0
        self.slept: list[float] = []

    def clock(self) -> Clock:
        """Return it as pushes want it."""
        return Clock(now=lambda: self.time, sleep=self.sleep, chance=lambda: 0.5)

    def sleep(self, seconds: float) -> None:
        """Let time pass, and take none."""
        self.time += seconds
        self.slept.append(seconds)


def pupils() -> list[Pupil]:
    """Return four students with all kinds of ids."""
    return [
        Pupil(id=501, name="Ruiz, Ana", sis="S0001", login="aruiz", email="ana@example.edu"),
        Pupil(id=502, name="Lindqvist, Bo", sis="S0002", login="blind", email="bo@example.edu"),
        Pupil(id=503, name="Müller, Cem", sis="007", login="cmuller", email="cem@example.edu"),
        Pupil(id=504, name="Nguyễn, Dia", sis="S0004", login="dnguyen", email="dia@example.edu"),
    ]


USERS = {"ana": 501, "bo": 502, "cem": 503, "dia": 504}


def grade(student: str, points: str | GradeState = "9.5", **details: Any) -> Grade:
    """Return a grade of somebody whom Canvas knows by a number."""
    known = (made_person(Lms.CANVAS, user=str(USERS[student])),) if student in USERS else ()
    return made_grade(student, points, **{"people": known} | details)


def pages(folder: Path, *students: str, text: str = "") -> dict[str, Path]:
    """Write feedback pages, all different."""
    found = {}
    for student in students:
        found[student] = folder / "feedback" / student / "index.html"
        found[student].parent.mkdir(parents=True, exist_ok=True)
        found[student].write_text(f"<h1>{student}: {'well done ' * 40}{text}</h1>", encoding="utf-8")
    return found


class Scene:
    """
    A course folder, and a Canvas that runs while it is entered.

    Parameters
    ----------
    folder : Path
        The course folder.
    mishaps : Mishaps, optional
        What goes wrong on the wire.
    policy : Policy, optional
        Bounds of requests.
    **facts : Any
        What is special about the assignment.
    """

    def __init__(
        self, folder: Path, mishaps: Mishaps | None = None, *, policy: Policy | None = None, **facts: Any
    ) -> None:
        self.folder = folder
        self.hours = Hours()
        self.world = World(pupils(), **facts)
        self.canvas = LoopbackCanvas(self.world, self.hours.clock(), mishaps)
        self.policy = policy or Policy()
        self.token = TOKEN

    def __enter__(self) -> Self:
        self.canvas.__enter__()
        return self

    def __exit__(self, *rest: object) -> None:
        self.canvas.__exit__(*rest)

    def target(self, **other: str) -> CanvasTarget:
        """Return where to push."""
        where = {"url": self.canvas.url, "course": str(COURSE), "assignment": str(ASSIGNMENT)} | other
        return CanvasTarget(**where, token=Secret(self.token, "CANVAS_TOKEN"))

    def push(self, **other: str) -> CanvasPush:
        """Return the way there, anew: nothing of an earlier one is remembered."""
        return CanvasPush(self.target(**other), self.folder, policy=self.policy, clock=self.hours.clock())

    def wanted(self, *grades: Grade, **wanted: Any) -> Wanted:
        """Return what is to be there."""
        return Wanted(assignment="hw1", grades=grades, **wanted)

    def plan(self, *grades: Grade, **wanted: Any) -> Plan:
        """Return a plan, nothing being sent."""
        return self.push().plan(self.wanted(*grades, **wanted))

    def done(self, *grades: Grade, **wanted: Any) -> dict[str, Outcome]:
        """Send all of it; return what became of whom."""
        push = self.push()
        what = self.wanted(*grades, **wanted)
        return {outcome.row.student: outcome for outcome in push.send(push.plan(what), what)}

    def scores(self) -> dict[int, float | str | None]:
        """Return what Canvas has now."""
        return {user: "EX" if one.excused else one.entered for user, one in self.world.work.items()}


def states(outcomes: dict[str, Outcome]) -> dict[str, str]:
    """Return what became of each, in a word."""
    return {student: str(outcome.state) for student, outcome in outcomes.items()}


def verified(*students: str) -> dict[str, str]:
    """Return what states are when all went well."""
    return dict.fromkeys(students, "verified")


def many(scene: Scene, count: int) -> list[Grade]:
    """Put a class into Canvas; return their grades, all different."""
    scene.canvas.page = 7
    for user in range(1001, 1001 + count):
        scene.world.pupils[user] = Pupil(id=user, name=f"Pupil, No {user}")
        scene.world.work[user] = Work(user=user)
    people = {user: (made_person(Lms.CANVAS, user=str(user)),) for user in range(1001, 1001 + count)}
    return [made_grade(f"s{user}", f"{user % 97 / 10}", people=person) for user, person in people.items()]
