"""A course with a due date: submissions handed in late, penalties and extensions."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from graded_submissions import ASSIGNMENT, DUE, ROOT, Submission

from autograder.course.course import Course
from autograder.course.late import course_penalty, no_penalty
from autograder.course.settings import load_settings
from autograder.gradebook import Gradebook

if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from pathlib import Path

    from autograder.course.late import Penalty

PLUGIN = """
from nbgrader.plugins import BasePlugin
from traitlets import Float


class SubMarks(BasePlugin):
    per_hour = Float(1.0).tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        {body}
"""


def make_late_course(root: Path) -> Course:
    """Return a course with a due date and a gradebook, and no notebooks on disk."""
    shutil.copyfile(ROOT / "gradebook.db", root / "gradebook.db")
    (root / "source").mkdir()
    (root / "nbgrader_config.py").write_text("c = get_config()\n")
    for part in ("source", "release"):
        shutil.copytree(ROOT / part, root / part, dirs_exist_ok=True)
    course = Course(root=root)
    set_due(course.gradebook, DUE)
    return course


def set_due(path: Path, due: datetime | None) -> None:
    """Set the due date as nbgrader stores it."""
    stored = None if due is None else due.isoformat(sep=" ") + ".000000"
    change(path, "UPDATE assignment SET duedate = ?", stored)


def change(path: Path, statement: str, *values: object) -> None:
    """Change a gradebook as another program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def add_plugin(course: Course, body: str, *lines: str) -> None:
    """Give a course a late-penalty plug-in of its own; imported modules stay, so each has another name."""
    name = f"late_{abs(hash((course.root, body)))}"
    (course.root / f"{name}.py").write_text(PLUGIN.format(body=body))
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("\n".join((f"c.AssignLatePenalties.plugin_class = '{name}.SubMarks'", *lines, "")))


def penalty(course: Course) -> Penalty:
    """Return what late work loses in a course."""
    return course_penalty(course, load_settings(course.root))


def store(course: Course, student: str, timestamp: datetime | None, rule: Penalty, **details: Any) -> None:
    """Store a graded submission."""
    one = Submission(student, **details)
    with Gradebook(course.db_url) as gradebook:
        gradebook.store(one.result, timestamp=timestamp, unanswered=one.unanswered, late_penalty=rule)


def penalties(course: Course) -> dict[str, float]:
    """Return what each student loses."""
    with Gradebook(course.db_url) as gradebook:
        return {score.student: float(score.penalty) for score in gradebook.scores(ASSIGNMENT)}


def extensions(course: Course) -> dict[str, timedelta | None]:
    """Return what each student was given."""
    with Gradebook(course.db_url) as gradebook:
        return {name: one.more for name, one in gradebook.extensions(ASSIGNMENT).all().items()}


def grant(course: Course, student: str, more: timedelta | None, rule: Penalty = no_penalty) -> None:
    """Give a student more time."""
    with Gradebook(course.db_url) as gradebook:
        gradebook.extensions(ASSIGNMENT).grant([student], more, lambda: rule)
