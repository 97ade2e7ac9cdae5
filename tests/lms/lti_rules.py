"""
What three platforms make of a score: their documented rules, written down again.

None of it is a platform's code. Confidence and places are those of the page on LTI.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

ACTIVITY = {"Initialized", "Started", "InProgress", "Submitted", "Completed"}
GRADING = {"FullyGraded", "Pending", "PendingManual", "Failed", "NotReady"}
CANVAS_SUBMISSION = "https://canvas.instructure.com/lti/submission"
REQUIRED = ("userId", "activityProgress", "gradingProgress", "timestamp")

_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?")


class Kind(StrEnum):
    """Whose rules hold."""

    CANVAS = "canvas"
    MOODLE = "moodle"
    OPENEDX = "openedx"


@dataclass(kw_only=True)
class Result:
    """What a platform keeps of a student in a line item; `score` is in points of the line item."""

    score: float | None = None
    maximum: float | None = None
    """Open edX: the maximum that came with the score, which is kept as it came."""
    timestamp: datetime
    comment: str = ""
    comments: list[str] = field(default_factory=list)
    """Canvas: every comment that came, in order."""
    attempts: int = 0
    """Canvas: how many submissions were made for the student."""


@dataclass(kw_only=True)
class Item:
    """A line item: a column of the gradebook."""

    number: int
    label: str
    maximum: float
    resource_id: str = ""
    tag: str = ""
    results: dict[str, Result] = field(default_factory=dict)
    locked: set[str] = field(default_factory=set)
    """Students whose scores are taken with thanks and not stored."""


class RefusedError(Exception):
    """What a platform answers with another status than 200."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(status, said)
        self.status, self.said = status, said


def when(text: object) -> datetime | None:
    """Return the time of a timestamp; None if it is none. One without a zone is UTC, which not all take."""
    if not isinstance(text, str) or not _ISO.fullmatch(text):
        return None
    time = datetime.fromisoformat(text.replace(",", "."))
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def take_score(kind: Kind, item: Item, score: dict[str, Any], students: set[str]) -> None:
    """Store a score by the rules of a platform, or refuse it."""
    {Kind.CANVAS: _canvas, Kind.MOODLE: _moodle, Kind.OPENEDX: _openedx}[kind](item, score, students)


def _scaled(kind: Kind, item: Item, score: dict[str, Any]) -> float | None:
    if score.get("scoreGiven") is None:
        return None
    if not score.get("scoreMaximum", 0) > 0:
        # The standard wants more than 0; each platform makes something else of less.
        raise RefusedError(422 if kind is Kind.CANVAS else 400, "scoreMaximum must be above 0")
    return float(score["scoreGiven"]) * item.maximum / float(score["scoreMaximum"])


def shown_result(kind: Kind, item: Item, result: Result, score: float | None) -> dict[str, float]:
    """Return the numbers of a result; `score` is what is told, be it stored or not."""
    # Moodle leaves out what it takes for empty, and that is 0, too.
    if score is None or (kind is Kind.MOODLE and not score):
        return {}
    maximum = item.maximum if result.maximum is None else result.maximum
    if kind is Kind.OPENEDX and maximum <= 0:
        maximum = 1
    return {"resultScore": score, "resultMaximum": maximum}


def _canvas(item: Item, score: dict[str, Any], students: set[str]) -> None:
    user = str(score.get("userId"))
    if user not in students:
        raise RefusedError(422, "User not found in course or is not a student")
    missing = [name for name in REQUIRED if not score.get(name)]
    if missing:
        raise RefusedError(400, f"param is missing or the value is empty: {missing[0]}")
    time, known = when(score["timestamp"]), item.results.get(user)
    if time is None:
        raise RefusedError(400, f"Provided timestamp of {score['timestamp']} not a valid timestamp")
    if known is not None and known.timestamp > time:
        raise RefusedError(400, f"Provided timestamp of {score['timestamp']} before last updated timestamp")
    counts = score["gradingProgress"] in {"FullyGraded", "PendingManual"}
    if counts and "scoreMaximum" not in score:
        raise RefusedError(422, "ScoreMaximum not supplied when ScoreGiven present.")
    if user in item.locked:
        return
    found = item.results.setdefault(user, Result(timestamp=time))
    found.timestamp = time
    found.score = _scaled(Kind.CANVAS, item, score) if counts else None
    if score.get("comment"):
        found.comment = score["comment"]
        found.comments.append(score["comment"])
    if score.get(CANVAS_SUBMISSION, {}).get("new_submission", True):
        found.attempts += 1


def _moodle(item: Item, score: dict[str, Any], students: set[str]) -> None:
    user = str(score.get("userId"))
    time = when(score.get("timestamp"))
    numbers = [score[name] for name in ("scoreGiven", "scoreMaximum") if score.get(name) is not None]
    if (
        any(score.get(name) is None for name in REQUIRED)
        or time is None
        or not all(isinstance(number, int | float) for number in numbers)
        or user not in students
    ):
        raise RefusedError(400, "Incorrect score received")
    if score.get("scoreGiven") is not None and score.get("scoreMaximum") is None:
        raise RefusedError(400, "No score maximum")
    # Its database knows whole seconds only, so two scores of one second are as one.
    time, known = time.replace(microsecond=0), item.results.get(user)
    if known is not None and known.timestamp >= time:
        raise RefusedError(409, f"Refusing score with an earlier timestamp for item {item.number}")
    if user in item.locked:
        return
    counted = _scaled(Kind.MOODLE, item, score) if score["gradingProgress"] == "FullyGraded" else None
    item.results[user] = Result(score=counted, timestamp=time, comment=score.get("comment") or "")


def _openedx(item: Item, score: dict[str, Any], _: set[str]) -> None:
    missing = [name for name in REQUIRED if not isinstance(score.get(name), str)]
    if missing:
        raise RefusedError(400, f"{missing[0]}: This field is required.")
    user, time = score["userId"], when(score["timestamp"])
    if time is None:
        raise RefusedError(400, "timestamp: Datetime has wrong format.")
    known = item.results.get(user)
    if known is not None and known.timestamp > time:
        raise RefusedError(400, "timestamp: Score timestamp can only be updated to a later point in time")
    if known is not None and known.timestamp == time:
        raise RefusedError(400, "timestamp: Score already exists for the provided timestamp")
    if user in item.locked:
        return
    found = item.results.setdefault(user, Result(timestamp=time))
    # It keeps both numbers as they came, and asks for no maximum above 0.
    found.timestamp, found.score, found.maximum = time, score.get("scoreGiven"), score.get("scoreMaximum")
    if score.get("comment") is not None:
        found.comment = score["comment"]
