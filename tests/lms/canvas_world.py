"""
What a Canvas knows and does: scores, excuses, comments, files, groups, jobs.

Written from the reference's description of Canvas's own rules, so that a push is
judged by what Canvas would have made of it. `loopback_canvas` puts it on the wire.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import Any

TOKEN = "7053~Zq1YhVbN0tSecretOfTheTeacher42"  # noqa: S105 - of no server
COURSE, ASSIGNMENT, CATEGORY = 4021, 70311, 55
TEACHER = 11
"""Whose the token is."""
SEE_ATTACHED = "See attached files."
"""What Canvas writes itself where a comment has files and no text."""


class GradeError(Exception):
    """What Canvas says of a score that it does not take."""


@dataclass(kw_only=True)
class Pupil:
    """A student of the course."""

    id: int
    name: str
    sis: str = ""
    login: str = ""
    email: str = ""
    states: tuple[str, ...] = ("active",)

    def facts(self) -> dict[str, Any]:
        """Return what Canvas tells of them."""
        ids = {"sis_user_id": self.sis, "login_id": self.login, "email": self.email}
        enrollments = [{"type": "StudentEnrollment", "enrollment_state": state} for state in self.states]
        named = {"id": self.id, "name": self.name, "sortable_name": self.name, "enrollments": enrollments}
        return named | {name: value for name, value in ids.items() if value}


@dataclass(kw_only=True)
class Work:
    """A submission: what one student has for the assignment."""

    user: int
    entered: float | None = None
    excused: bool = False
    deducted: float = 0.0
    comments: list[dict[str, Any]] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """Return what Canvas tells of it."""
        score = None if self.entered is None else max(self.entered - self.deducted, 0.0)
        return {
            "id": self.user * 10,
            "user_id": self.user,
            "assignment_id": ASSIGNMENT,
            "score": score,
            "entered_score": self.entered,
            "points_deducted": self.deducted or None,
            "grade": None if score is None else str(score),
            "excused": self.excused,
            "submitted_at": "2026-10-30T21:04:00Z",
            "workflow_state": "graded" if self.entered is not None or self.excused else "submitted",
        }


@dataclass(kw_only=True)
class Stored:
    """A file, announced or there."""

    id: int
    uuid: str
    name: str
    size: int
    user: int
    data: bytes | None = None
    ready: bool = False

    def facts(self) -> dict[str, Any]:
        """Return what Canvas tells of it."""
        shown = {"display_name": self.name, "filename": self.name.replace(" ", "+")}
        return {"id": self.id, "size": len(self.data or b""), "content-type": "text/html"} | shown


@dataclass(kw_only=True)
class Job:
    """Scores that Canvas is to enter when it has time."""

    id: int
    data: dict[str, dict[str, str]]
    steps: int
    state: str = "queued"
    message: str | None = None

    def facts(self) -> dict[str, Any]:
        """Return what Canvas tells of it."""
        done = {"queued": 0, "running": 40, "completed": 100, "failed": 40}[self.state]
        told = {"id": self.id, "tag": "submissions_update", "completion": done, "message": self.message}
        return told | {"context_id": COURSE, "context_type": "Course", "workflow_state": self.state}


def assignment_facts(**other: Any) -> dict[str, Any]:
    """Return what Canvas tells of an assignment of 10 points."""
    usual: dict[str, Any] = {
        "id": ASSIGNMENT,
        "course_id": COURSE,
        "name": "HW 1: Heads",
        "points_possible": 10.0,
        "grading_type": "points",
        "published": True,
        "muted": False,
        "post_manually": False,
        "moderated_grading": False,
        "anonymize_students": False,
        "group_category_id": None,
        "grade_group_students_individually": False,
        "in_closed_grading_period": False,
        "due_at": "2026-10-31T22:59:59Z",
    }
    return usual | other


class World:
    """
    One course with one assignment to push to, and others beside them.

    Parameters
    ----------
    pupils : list of Pupil
        Who is in the course.
    **facts : Any
        What is special about the assignment.
    """

    def __init__(self, pupils: list[Pupil], **facts: Any) -> None:
        self.pupils = {pupil.id: pupil for pupil in pupils}
        self.assignment = assignment_facts(**facts)
        self.work = {pupil.id: Work(user=pupil.id) for pupil in pupils}
        self.groups: dict[int, list[int]] = {}
        self.files: dict[int, Stored] = {}
        self.jobs: dict[int, Job] = {}
        self.scheme: dict[str, float] = {}
        """Names of letters, and the share of the points that each is worth."""
        self.job_steps = 3
        self.job_drops: set[int] = set()
        """Whose scores a job forgets, and ends well."""
        self.job_breaks_after: int | None = None
        """After how many scores jobs end with an error."""
        self.stores_wrong: dict[int, float] = {}
        """What Canvas enters for some students, whatever it is sent."""
        self.forgets_comments: set[int] = set()
        self.rewrites_comments = False
        self.closed_for: set[int] = set()
        self.numbers = iter(range(900_001, 10**9))

    def visible(self) -> list[Work]:
        """Return the submissions that a teacher sees: not those of who has left."""
        return [self.work[user] for user in sorted(self.work) if self._graded_here(user)]

    def _graded_here(self, user: int) -> bool:
        return user in self.pupils and set(self.pupils[user].states) != {"completed"}

    def comments(self, user: int) -> list[tuple[str, list[str]]]:
        """Return texts and file names of a student's comments."""
        return [
            (one["comment"], [file["display_name"] for file in one.get("attachments", [])])
            for one in self.work[user].comments
        ]

    # ------------------------------------------------------------ scores

    def enter(self, user: int, grade: str | None, *, excuse: bool, points_first: bool = False) -> None:
        """Enter a score, as Canvas does for one student and whoever gets the same."""
        if not self._graded_here(user):
            raise GradeError("Student must be enrolled in the course as a student to be graded")
        if excuse and grade:
            raise GradeError("Cannot simultaneously grade and excuse an assignment")
        if user in self.closed_for:
            raise GradeError("Cannot grade this submission at this time: it is in a closed grading period")
        members = (
            [user] if excuse or self.assignment["grade_group_students_individually"] else self._group(user)
        )
        score = self._score(grade, points_first=points_first)
        for member in members:
            work = self.work.setdefault(member, Work(user=member))
            if member != user and work.excused:
                continue
            work.excused = excuse and score is None
            work.entered = None if excuse else self.stores_wrong.get(member, score)

    def _group(self, user: int) -> list[int]:
        if not self.assignment["group_category_id"]:
            return [user]
        return next((members for members in self.groups.values() if user in members), [user])

    def _score(self, grade: str | None, *, points_first: bool) -> float | None:
        """Read a grade as Canvas does: what it cannot read is none, and takes away what was there."""
        most = float(self.assignment["points_possible"])
        if not grade:
            return None
        by_scheme = self.assignment["grading_type"] in {"letter_grade", "gpa_scale"} and grade in self.scheme
        if re.fullmatch(r"[+-]?\d*\.?\d+%", grade):
            score: float | None = float(grade[:-1]) / 100 * most
        elif re.fullmatch(r"[+-]?\d*\.?\d+", grade):
            score = self.scheme[grade] * most if by_scheme and not points_first else float(grade)
        elif grade in {"pass", "complete"}:
            score = most
        elif grade in {"fail", "incomplete"}:
            score = 0.0
        else:
            score = self.scheme[grade] * most if by_scheme else None
        if self.assignment["grading_type"] == "pass_fail":
            return score if score in {0.0, most} else None
        return None if self.assignment["grading_type"] == "not_graded" else score

    # ------------------------------------------------------------ jobs

    def start(self, data: dict[str, dict[str, str]]) -> Job:
        """Take scores to be entered later."""
        job = Job(id=next(self.numbers), data=data, steps=self.job_steps)
        self.jobs[job.id] = job
        return job

    def tick(self) -> None:
        """Let some time pass for the jobs."""
        for job in self.jobs.values():
            if job.state in {"queued", "running"}:
                job.steps -= 1
                job.state = "running"
                if job.steps <= 0:
                    self._run(job)

    def _run(self, job: Job) -> None:
        unknown = []
        for count, (key, wanted) in enumerate(job.data.items()):
            user = self._user(key)
            if self.job_breaks_after is not None and count >= self.job_breaks_after:
                job.state, job.message = "failed", "Unexpected error, ID: 9007"
                return
            if user is None or not self._graded_here(user):
                unknown.append(key)
            elif user not in self.job_drops:
                try:
                    excuse = wanted.get("excuse") == "true"
                    self.enter(user, wanted.get("posted_grade"), excuse=excuse)
                except GradeError as error:
                    job.state, job.message = "failed", str(error)
                    return
        job.state = "failed" if unknown else "completed"
        job.message = f"Couldn't find User(s) with API ids {unknown}" if unknown else None

    def _user(self, key: str) -> int | None:
        if key.isdigit():
            return int(key)
        sis = key.removeprefix("sis_user_id:")
        return next((pupil.id for pupil in self.pupils.values() if pupil.sis == sis), None)

    # ------------------------------------------------------------ comments and files

    def announce(self, user: int, name: str, size: int) -> Stored:
        """Take note of a file that is to come."""
        number = next(self.numbers)
        self.files[number] = Stored(id=number, uuid=f"u{number}x", name=name, size=size, user=user)
        return self.files[number]

    def say(self, user: int, text: str, file_ids: list[int], by: int = TEACHER) -> None:
        """Add a comment."""
        files = [self.files[number].facts() for number in file_ids]
        if self.rewrites_comments:
            text = f"<p>{html.escape(text, quote=False)}</p>" if text else ""
        comment: dict[str, Any] = {"id": next(self.numbers), "author_id": by, "author_name": f"User {by}"}
        comment |= {"comment": text or SEE_ATTACHED, "created_at": "2026-11-03T09:30:00Z"}
        if files:
            comment["attachments"] = files
        if user not in self.forgets_comments:
            self.work[user].comments.append(comment)
