"""A tool that is registered on the platform of `loopback_lti`, ready to push."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from jwcrypto.jwk import JWK
from loopback_lti import CLIENT, LtiPlatform, Setup, member
from lti_rules import Item, Kind
from made_grades import made_grade, made_person

from autograder.lms.model import Lms
from autograder.lms.push.lti.access import Access
from autograder.lms.push.lti.keys import ToolKey
from autograder.lms.push.lti.pushing import LtiPush
from autograder.lms.push.lti.registration import read_registration
from autograder.lms.push.model import State
from autograder.lms.push.tokens import Secret
from autograder.lms.push.wanted import Wanted
from autograder.lms.push.web import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loopback import Mishaps

    from autograder.lms.model import Grade
    from autograder.lms.push.model import Outcome, Plan

USERS = {"ana": "u-Ana-1", "bo": "u-Bo-2", "cy": "u-Cy-3", "di": "u-Di-4", "ed": "u-Ed-5"}
"""Students and their ids on a platform that makes them up; on Moodle they are numbers."""
NUMBERS = {name: str(70 + at) for at, name in enumerate(USERS)}


@cache
def a_key(number: int = 0) -> tuple[str, dict[str, str]]:
    """Return a private key in PEM, and its public half as a JWK; the same for the same number."""
    del number
    key = JWK.generate(kty="RSA", size=2048)
    return key.export_to_pem(private_key=True, password=None).decode(), json.loads(key.export_public())


@cache
def ready_key() -> ToolKey:
    """Return the key that platforms know; to read and check it takes longer than a push."""
    return ToolKey(Secret(a_key()[0], "lti.key"))


def ids_on(kind: Kind) -> dict[str, str]:
    """Return by student the id on a platform."""
    return NUMBERS if kind is Kind.MOODLE else USERS


def members_of(kind: Kind) -> list[dict[str, Any]]:
    """Return the course's members: five students, a teacher, and somebody who has left."""
    found = [
        member(user, name=name.title(), email=f"{name}@example.edu", lis_person_sourcedid=f"00{at}")
        for at, (name, user) in enumerate(ids_on(kind).items())
    ]
    teacher = member(
        "990", role="http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor", name="Teacher"
    )
    return [*found[:2], teacher, *found[2:], member("991", name="Gone") | {"status": "Inactive"}]


class PassingClock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now_s = 1000.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Let time pass at once."""
        self.now_s += seconds
        self.slept.append(seconds)

    @property
    def clock(self) -> Clock:
        """The clock that sessions take."""
        return Clock(now=lambda: self.now_s, sleep=self.sleep, chance=lambda: 0.5)


class Wall:
    """A clock on the wall, which somebody may set; from reading to reading it runs a bit."""

    def __init__(self, start_s: float | None = None) -> None:
        self.now_s = time.time() if start_s is None else start_s

    def __call__(self) -> float:
        """Return seconds since 1970."""
        self.now_s += 0.0004
        return self.now_s


@dataclass(kw_only=True)
class Tool:
    """The tool, its platform, and its course folder."""

    platform: LtiPlatform
    course: Path
    wall: Wall = field(default_factory=Wall)
    passing: PassingClock = field(default_factory=PassingClock)

    def register(self, **facts: Any) -> Path:
        """Write the registration, and the key beside it; facts that are None are left out."""
        pem, _ = a_key()
        key = self.course / "lti.key"
        key.write_text(pem)
        key.chmod(0o600)
        known: dict[str, Any] = {
            "platform": self.platform.setup.kind.value,
            "issuer": "https://lms.example.edu",
            "client_id": CLIENT,
            "token_url": self.platform.token_url,
            "lineitems": self.platform.items_url,
            "context_memberships_url": self.platform.members_url,
        }
        told = {name: fact for name, fact in (known | facts).items() if fact is not None}
        path = self.course / "lti.json"
        path.write_text(json.dumps(told))
        return path

    def access(self) -> Access:
        """Return the platform as the tool sees it now, with nothing remembered."""
        registration = read_registration(self.course / "lti.json")
        return Access(registration, ready_key(), clock=self.passing.clock, wall=self.wall)

    def push(self, wanted: Wanted) -> tuple[Plan, list[Outcome]]:
        """Do what one command does."""
        way = LtiPush(self.access(), self.course)
        plan = way.plan(wanted)
        return plan, list(way.send(plan, wanted))

    def push_until_done(self, wanted: Wanted, times: int = 6) -> Plan:
        """Repeat the command until nothing is left to send."""
        for _ in range(times):
            plan, outcomes = self.push(wanted)
            if all(outcome.state is not State.FAILED for outcome in outcomes):
                return plan
        raise AssertionError([outcome.reason for outcome in outcomes])

    @property
    def item(self) -> Item:
        """The only line item of the platform."""
        (item,) = self.platform.items.values()
        return item

    def scores(self) -> dict[str, float | None]:
        """Return what the platform has, by student."""
        names = {user: name for name, user in ids_on(self.platform.setup.kind).items()}
        return {names[user]: result.score for user, result in self.item.results.items()}


@contextmanager
def registered(course: Path, setup: Setup | None = None, mishaps: Mishaps | None = None) -> Iterator[Tool]:
    """Run a platform, Canvas by default, on which the tool is registered."""
    setup = setup or Setup()
    if not setup.members:
        setup.members = members_of(setup.kind)
    with LtiPlatform(a_key()[1], setup, mishaps) as platform:
        tool = Tool(platform=platform, course=course)
        tool.register()
        yield tool


def wanted(grades: dict[str, Any] | list[Grade], **more: Any) -> Wanted:
    """Return what is wanted; by student the points of 10, or a state."""
    if isinstance(grades, dict):
        grades = [
            made_grade(name, points, email=f"{name}@example.edu", comment=f"Well done, {name}.\nGo on.")
            for name, points in grades.items()
        ]
    return Wanted(assignment="hw1", grades=tuple(grades), **more)


def known_by_lti(name: str, kind: Kind, points: str = "9.5") -> Grade:
    """Return the grade of a student whose id on the platform is known from before."""
    person = made_person(Lms(kind.value), lti=ids_on(kind)[name])
    return made_grade(name, points, people=(person,))
