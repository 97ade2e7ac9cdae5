"""
How graded submissions become rows: many at a time, each table read once and written once.

The rows are those that ``nbgrader autograde`` leaves. It commits a dozen times
for each submission; here any number of submissions is one transaction.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from autograder.errors import GradebookError
from autograder.results import NotebookResult, Status, SubmissionResult
from autograder.scores import CellScore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from sqlalchemy import Connection
    from sqlalchemy.engine import Row

    from autograder.gradebook.database import Database

NO_RESPONSE = "No response."
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - nbgrader stores naive times, in UTC


@dataclass(frozen=True, slots=True)
class Entry:
    """
    A graded submission, to be stored.

    Parameters
    ----------
    result : SubmissionResult
        What grading returned. Notebooks that it leaves out are not touched.
    timestamp : datetime, optional
        When it was handed in: naive, in UTC. By default what is stored stays.
    unanswered : mapping of str to collection of str
        For each notebook the solution cells left as they were handed out.
    fingerprint : str
        What the result depended on, see `autograder.fingerprint`; empty if
        that is not known, so that the submission will be graded again.
    """

    result: SubmissionResult
    timestamp: datetime | None = None
    unanswered: Mapping[str, Collection[str]] = field(default_factory=dict)
    fingerprint: str = ""


@dataclass(frozen=True, slots=True)
class Book:
    """
    One notebook of an assignment in the gradebook.

    Parameters
    ----------
    key : str
        Its id.
    graded : mapping of str to tuple of (str, Decimal)
        Id and points of each graded cell, by name.
    commented : mapping of str to str
        Id of each cell that is commented, by name.
    """

    key: str
    graded: Mapping[str, tuple[str, Decimal]]
    commented: Mapping[str, str]


@dataclass(slots=True)
class _Changes:
    """Rows of one table to be added, and to be changed by their id."""

    added: list[dict[str, Any]] = field(default_factory=list)
    changed: list[dict[str, Any]] = field(default_factory=list)

    def put(self, there: Row[Any] | None, new: dict[str, Any], values: dict[str, Any]) -> None:
        """Change a row if it is there, else add one: `new`, with the values in it."""
        if there is None:
            self.added.append(new | values)
        elif values:
            self.changed.append({"key": there.id} | values)


class Writer:
    """
    Writes submissions of one assignment inside one transaction, once.

    Parameters
    ----------
    database : Database
        The gradebook.
    connection : Connection
        Its open transaction.
    assignment : Row
        The assignment.
    books : mapping of str to Book
        Its notebooks by name.
    late_penalty : str or None
        ``none``, or ``zero``: late work loses all its points. None leaves the
        penalties as they are.
    """

    def __init__(
        self,
        database: Database,
        connection: Connection,
        assignment: Row[Any],
        books: Mapping[str, Book],
        late_penalty: str | None,
    ) -> None:
        self._database = database
        self._connection = connection
        self._assignment = assignment
        self._books = books
        self._late_penalty = late_penalty
        self._changes = {name: _Changes() for name in ("submitted_notebook", "grade", "comment")}
        self._notebooks: dict[tuple[str, str], Row[Any]] = {}
        self._new_keys: dict[tuple[str, str], str] = defaultdict(new_id)
        self._grades: dict[tuple[str, str], Row[Any]] = {}
        self._comments: dict[tuple[str, str], Row[Any]] = {}

    def write(self, entries: Iterable[Entry]) -> None:
        """
        Write submissions; of two of one student the last counts.

        Parameters
        ----------
        entries : iterable of Entry
            The submissions.

        Raises
        ------
        GradebookError
            If the gradebook knows another release.
        """
        by_student = {entry.result.student: entry for entry in entries}
        for entry in by_student.values():
            self._check(entry.result)
        add_students(self._database, self._connection, by_student)
        submissions = self._submissions(by_student)
        self._read([key for key, _ in submissions.values()])
        for student, entry in by_student.items():
            key, late = submissions[student]
            results = {result.name: result for result in entry.result.notebooks}
            for name, book in self._books.items():
                result = results.get(name)
                if result is None:
                    self._put_untouched(key, book)
                else:
                    self._put(key, book, result, unanswered=entry.unanswered.get(name, ()), late=late)
        for name, changes in self._changes.items():
            _apply(self._database, self._connection, name, changes)

    def _check(self, result: SubmissionResult) -> None:
        for notebook in result.notebooks:
            if notebook.name not in self._books:
                raise self._stale(result.assignment, f"no notebook {notebook.name!r}")
            graded = self._books[notebook.name].graded
            if {cell.grade_id for cell in notebook.cells} != set(graded):
                raise self._stale(notebook.name, "other graded cells")
            for cell in notebook.cells:
                _, points = graded[cell.grade_id]
                if cell.max_score != points:
                    what = f"{points} points, not {cell.max_score}, for {cell.grade_id!r}"
                    raise self._stale(notebook.name, what)

    def _submissions(self, entries: Mapping[str, Entry]) -> dict[str, tuple[str, bool]]:
        """Return for each student the id of the submission, and whether it is late."""
        table = self._database.table("submitted_assignment")
        query = select(table).where(table.c.assignment_id == self._assignment.id)
        found = self._database.rows_in(self._connection, query, table.c.student_id, entries)
        there = {row.student_id: row for row in found}
        changes = _Changes()
        submissions = {}
        for student, entry in entries.items():
            row = there.get(student)
            key = new_id() if row is None else str(row.id)
            new = {"id": key, "assignment_id": self._assignment.id, "student_id": student, "timestamp": None}
            changes.put(row, new, {"timestamp": entry.timestamp} if entry.timestamp is not None else {})
            stored, extension = (None, None) if row is None else (row.timestamp, row.extension)
            late_s = seconds_late(entry.timestamp or stored, extension, self._assignment.duedate)
            submissions[student] = key, late_s > 0
        _apply(self._database, self._connection, "submitted_assignment", changes)
        return submissions

    def _read(self, submissions: list[str]) -> None:
        """Read what is there of these submissions."""

        def rows(name: str, column: str, keys: list[str]) -> list[Row[Any]]:
            table = self._database.table(name)
            return self._database.rows_in(self._connection, select(table), table.c[column], keys)

        notebooks = rows("submitted_notebook", "assignment_id", submissions)
        keys = [str(row.id) for row in notebooks]
        self._notebooks = {(row.assignment_id, row.notebook_id): row for row in notebooks}
        self._grades = {(row.notebook_id, row.cell_id): row for row in rows("grade", "notebook_id", keys)}
        self._comments = {(row.notebook_id, row.cell_id): row for row in rows("comment", "notebook_id", keys)}

    def _put_untouched(self, submission: str, book: Book) -> None:
        """Let there be a row for every cell of a notebook that was not graded."""
        key = self._put_notebook(submission, book, {})
        for cell, _ in book.graded.values():
            self._put_grade(key, cell, {})
        for cell in book.commented.values():
            self._put_comment(key, cell, {})

    def _put(
        self, submission: str, book: Book, result: NotebookResult, *, unanswered: Collection[str], late: bool
    ) -> None:
        key = self._key(submission, book)
        there = result.status is not Status.MISSING
        total = Decimal(0)
        for cell in result.cells:
            cell_id, _ = book.graded[cell.grade_id]
            row = self._grades.get((key, cell_id))
            looked_at = row is not None and row.manual_score is not None and there
            score = None if cell.auto_score is None else float(cell.auto_score)
            values = {"auto_score": score, "needs_manual_grade": score is None or looked_at}
            self._put_grade(key, cell_id, values)
            total += _score(score, row)
        for name, cell_id in book.commented.items():
            text = NO_RESPONSE if name in unanswered else None
            self._put_comment(key, cell_id, {"auto_comment": text} if there else {})
        penalty = float(max(total, Decimal(0))) if late and self._late_penalty == "zero" else None
        penalized = there and self._late_penalty is not None
        self._put_notebook(submission, book, {"late_submission_penalty": penalty} if penalized else {})

    def _key(self, submission: str, book: Book) -> str:
        row = self._notebooks.get((submission, book.key))
        return self._new_keys[submission, book.key] if row is None else str(row.id)

    def _put_notebook(self, submission: str, book: Book, values: dict[str, Any]) -> str:
        key = self._key(submission, book)
        new = {"id": key, "assignment_id": submission, "notebook_id": book.key, "flagged": False}
        row = self._notebooks.get((submission, book.key))
        self._changes["submitted_notebook"].put(row, new | {"late_submission_penalty": None}, values)
        return key

    def _put_grade(self, notebook: str, cell: str, values: dict[str, Any]) -> None:
        new = {"id": new_id(), "notebook_id": notebook, "cell_id": cell}
        row = self._grades.get((notebook, cell))
        self._changes["grade"].put(row, new | {"auto_score": None, "needs_manual_grade": True}, values)

    def _put_comment(self, notebook: str, cell: str, values: dict[str, Any]) -> None:
        new = {"id": new_id(), "notebook_id": notebook, "cell_id": cell, "auto_comment": None}
        self._changes["comment"].put(self._comments.get((notebook, cell)), new, values)

    def _stale(self, what: str, has: str) -> GradebookError:
        where = self._database.where
        return GradebookError(where, f"the gradebook has {has} in {what!r}", "Release the assignment again.")


def add_students(database: Database, connection: Connection, students: Iterable[str]) -> None:
    """Add the students that the gradebook does not have."""
    wanted = list(students)
    table = database.table("student")
    there = {row.id for row in database.rows_in(connection, select(table.c.id), table.c.id, wanted)}
    new = [{"id": student} for student in wanted if student not in there]
    if new:
        connection.execute(table.insert(), new)


def _apply(database: Database, connection: Connection, name: str, changes: _Changes) -> None:
    table = database.table(name)
    if changes.added:
        connection.execute(table.insert(), changes.added)
    if changes.changed:
        connection.execute(table.update().where(table.c.id == bindparam("key")), changes.changed)


def _score(auto_score: float | None, grade: Row[Any] | None) -> Decimal:
    """Return what a cell counts with this automatic score, and what a person gave."""
    manual, extra = (None, None) if grade is None else (grade.manual_score, grade.extra_credit)
    cell = CellScore(
        notebook="",
        grade_id="",
        max_score=Decimal(0),
        auto_score=decimal(auto_score),
        manual_score=decimal(manual),
        extra_credit=decimal(extra),
    )
    return cell.score


def new_id() -> str:
    """Return an id for a new row."""
    return uuid.uuid4().hex


def decimal(value: float | None) -> Decimal | None:
    """Return a stored number without what binary floating point adds to it."""
    return None if value is None else Decimal(repr(float(value)))


def seconds_late(
    timestamp: datetime | None, extension: datetime | timedelta | None, due: datetime | None
) -> float:
    """
    Return how long after the due date and the student's extension something was handed in.

    Parameters
    ----------
    timestamp : datetime or None
        When it was handed in.
    extension : datetime or timedelta or None
        The student's. SQLite has no intervals; there SQLAlchemy keeps one as
        a time since 1970.
    due : datetime or None
        When it should have been handed in.

    Returns
    -------
    float
        Seconds; 0 if it was in time, or if either time is not known.
    """
    if timestamp is None or due is None:
        return 0.0
    more = extension - EPOCH if isinstance(extension, datetime) else extension or timedelta()
    return max((timestamp - due - more).total_seconds(), 0.0)
