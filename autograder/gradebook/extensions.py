"""
Extensions per student, and the penalties that follow from them.

An extension stands in nbgrader's own column of a submission. There is none
before something is handed in; until then it is kept in a table of the kit's
own, which nbgrader ignores, and which is made at first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Float, MetaData, String, Table, bindparam, inspect, select

from autograder.course.late import penalty_of
from autograder.gradebook.values import EPOCH, counted, interval, seconds_late

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from datetime import datetime

    from sqlalchemy import Connection
    from sqlalchemy.engine import Row

    from autograder.course.late import Penalty
    from autograder.gradebook.database import Database

_NAME = String(128)
"""As long as nbgrader's names."""
TABLE = Table(
    "autograder_extension",
    MetaData(),
    Column("assignment", _NAME, primary_key=True),
    Column("student", _NAME, primary_key=True),
    Column("extension_s", Float, nullable=False),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """
    One student's extension.

    Parameters
    ----------
    student : str
        The student's id.
    more : timedelta or None
        Time after the due date; None if there is none.
    submitted : bool
        False if nothing was handed in yet, as far as the gradebook knows.
    timestamp : datetime or None
        When it was handed in: naive, in UTC.
    seconds_late : float
        Seconds after the due date and the extension; 0 if in time.
    """

    student: str
    more: timedelta | None
    submitted: bool = False
    timestamp: datetime | None = None
    seconds_late: float = 0.0


class Extensions:
    """
    The extensions of one assignment, and what late work loses.

    Parameters
    ----------
    database : Database
        The gradebook.
    assignment : str
        The assignment.

    Raises
    ------
    GradebookError
        If the gradebook cannot be used, or has no such assignment.
    """

    def __init__(self, database: Database, assignment: str) -> None:
        self._database = database
        self._name = assignment
        with self._database.reading() as connection:
            self._assignment = self._database.assignment(connection, assignment)

    @property
    def due(self) -> datetime | None:
        """When the assignment is due: naive, in UTC."""
        due: datetime | None = self._assignment.duedate
        return due

    def students(self) -> list[str]:
        """Return the ids of all students of the gradebook, sorted."""
        with self._database.reading() as connection:
            return sorted(str(row.id) for row in self._database.rows(connection, "student"))

    def all(self) -> dict[str, Extension]:
        """Return the extensions by student, sorted."""
        with self._database.reading() as connection:
            found = [self._told(row) for row in self._submissions(connection) if row.extension is not None]
            waiting = waiting_extensions(connection, self._name)
        kept = [Extension(student=student, more=more) for student, more in waiting.items()]
        known = {one.student: one for one in (*kept, *found)}
        return dict(sorted(known.items()))

    def grant(
        self, students: Collection[str], more: timedelta | None, penalty: Callable[[], Penalty]
    ) -> dict[str, Extension]:
        """
        Give students an extension, in place of the one they have, and penalties that fit.

        Parameters
        ----------
        students : collection of str
            Their ids.
        more : timedelta or None
            Time after the due date; None for none.
        penalty : callable
            Returns what late work loses; asked only if some is late.

        Returns
        -------
        dict of str to Extension
            What each has now.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written.
        CourseError
            If the course's late-penalty plug-in fails; then nothing is changed.
        """
        table = self._database.table("submitted_assignment")
        with self._database.writing() as connection:
            there = {row.student_id: row for row in self._submissions(connection, students)}
            forget(connection, self._name, students)
            absent = [student for student in students if student not in there]
            if more is not None and absent:
                TABLE.create(connection, checkfirst=True)
                rows = [
                    {"assignment": self._name, "student": student, "extension_s": more.total_seconds()}
                    for student in absent
                ]
                connection.execute(TABLE.insert(), rows)
            if there:
                query = table.update().where(table.c.id == bindparam("key"))
                stored = as_stored(self._database, more)
                connection.execute(query, [{"key": row.id, "extension": stored} for row in there.values()])
            now = self._submissions(connection, students)
            self._penalize(connection, now, penalty)
        told = {row.student_id: self._told(row) for row in now}
        return {student: told.get(student, Extension(student=student, more=more)) for student in students}

    def update_penalties(self, penalty: Callable[[], Penalty]) -> None:
        """
        Give all late work the penalties that follow from due date, extensions and scores as they are now.

        Parameters
        ----------
        penalty : callable
            Returns what late work loses; asked only if some is late.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written.
        CourseError
            If the course's late-penalty plug-in fails; then nothing is changed.
        """
        with self._database.reading() as connection:
            changes = self._changes(connection, self._submissions(connection), penalty)
        if changes:
            # They may be others by now.
            with self._database.writing() as connection:
                self._penalize(connection, self._submissions(connection), penalty)

    def _submissions(self, connection: Connection, students: Iterable[str] | None = None) -> list[Row[Any]]:
        table = self._database.table("submitted_assignment")
        query = select(table).where(table.c.assignment_id == self._assignment.id)
        if students is None:
            return list(connection.execute(query))
        return self._database.rows_in(connection, query, table.c.student_id, students)

    def _late_s(self, row: Row[Any]) -> float:
        return seconds_late(row.timestamp, row.extension, self.due)

    def _told(self, row: Row[Any]) -> Extension:
        return Extension(
            student=row.student_id,
            more=interval(row.extension),
            submitted=True,
            timestamp=row.timestamp,
            seconds_late=self._late_s(row),
        )

    def _penalize(
        self, connection: Connection, rows: Iterable[Row[Any]], penalty: Callable[[], Penalty]
    ) -> None:
        """Write the penalties of submissions where they are not what they should be."""
        if changes := self._changes(connection, rows, penalty):
            table = self._database.table("submitted_notebook")
            connection.execute(table.update().where(table.c.id == bindparam("key")), changes)

    def _changes(
        self, connection: Connection, rows: Iterable[Row[Any]], penalty: Callable[[], Penalty]
    ) -> list[dict[str, Any]]:
        """Return the notebooks whose penalty is not what it should be, with what it should be."""
        submissions = {str(row.id): row for row in rows}
        book, grade = self._database.table("submitted_notebook"), self._database.table("grade")
        late = {key for key, row in submissions.items() if self._late_s(row) > 0}
        books = self._database.rows_in(connection, select(book), book.c.assignment_id, submissions)
        doubtful = [
            one for one in books if one.assignment_id in late or one.late_submission_penalty is not None
        ]
        totals: dict[str, Decimal] = dict.fromkeys((str(one.id) for one in doubtful), Decimal(0))
        for row in self._database.rows_in(connection, select(grade), grade.c.notebook_id, totals):
            totals[row.notebook_id] += counted(row.auto_score, row)
        rule = penalty() if late else None
        changes = []
        for one in doubtful:
            row = submissions[one.assignment_id]
            score = float(totals[one.id])
            points = None if rule is None else penalty_of(rule, row.student_id, score, self._late_s(row))
            if points != one.late_submission_penalty:
                changes.append({"key": one.id, "late_submission_penalty": points})
        return changes


def waiting_extensions(connection: Connection, assignment: str) -> dict[str, timedelta]:
    """
    Return the extensions of students who have not handed in yet.

    Parameters
    ----------
    connection : Connection
        The gradebook's.
    assignment : str
        The assignment.

    Returns
    -------
    dict of str to timedelta
        By student.
    """
    if not inspect(connection).has_table(TABLE.name):
        return {}
    rows = connection.execute(select(TABLE).where(TABLE.c.assignment == assignment))
    return {row.student: timedelta(seconds=row.extension_s) for row in rows}


def forget(connection: Connection, assignment: str, students: Iterable[str]) -> None:
    """
    Keep extensions no longer, as they stand in nbgrader's column now.

    Parameters
    ----------
    connection : Connection
        The gradebook's, in a transaction that writes.
    assignment : str
        The assignment.
    students : iterable of str
        Whose.
    """
    rows = [{"a": assignment, "s": student} for student in students]
    if rows and inspect(connection).has_table(TABLE.name):
        mine = (TABLE.c.assignment == bindparam("a")) & (TABLE.c.student == bindparam("s"))
        connection.execute(TABLE.delete().where(mine), rows)


def as_stored(database: Database, more: timedelta | None) -> datetime | timedelta | None:
    """
    Return an extension as nbgrader's column holds it.

    Parameters
    ----------
    database : Database
        The gradebook.
    more : timedelta or None
        The extension; None for none.

    Returns
    -------
    datetime or timedelta or None
        What to store: SQLite has no intervals.
    """
    column = database.table("submitted_assignment").c.extension
    has_intervals = column.type.python_type is timedelta
    return more if more is None or has_intervals else EPOCH + more
