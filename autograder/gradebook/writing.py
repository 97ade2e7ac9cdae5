"""
How graded submissions become rows: many at a time, each table read once and written once.

The rows are those that ``nbgrader autograde`` leaves. It commits a dozen times
for each submission; here any number of submissions is one transaction.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from autograder.course.late import penalty_of
from autograder.errors import GradebookError
from autograder.gradebook.extensions import as_stored, forget, waiting_extensions
from autograder.gradebook.values import counted, seconds_late
from autograder.results import NotebookResult, Status, SubmissionResult

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from sqlalchemy import Connection
    from sqlalchemy.engine import Row

    from autograder.course.late import Penalty
    from autograder.gradebook.database import Database

NO_RESPONSE = "No response."


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
        What the result depended on, see `autograder.grading.fingerprint`; empty if
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
    late_penalty : Penalty or None
        What late work loses. None leaves the penalties as they are.
    """

    def __init__(
        self,
        database: Database,
        connection: Connection,
        assignment: Row[Any],
        books: Mapping[str, Book],
        late_penalty: Penalty | None,
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
            key, late_s = submissions[student]
            results = {result.name: result for result in entry.result.notebooks}
            for name, book in self._books.items():
                result = results.get(name)
                if result is None:
                    self._put_untouched(key, book)
                else:
                    total = self._put(key, book, result, unanswered=entry.unanswered.get(name, ()))
                    self._put_notebook(key, book, self._loses(student, total, late_s))
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

    def _submissions(self, entries: Mapping[str, Entry]) -> dict[str, tuple[str, float]]:
        """Return for each student the id of the submission, and by how many seconds it is late."""
        table = self._database.table("submitted_assignment")
        query = select(table).where(table.c.assignment_id == self._assignment.id)
        found = self._database.rows_in(self._connection, query, table.c.student_id, entries)
        there = {row.student_id: row for row in found}
        waiting = waiting_extensions(self._connection, self._assignment.name)
        changes = _Changes()
        submissions = {}
        for student, entry in entries.items():
            row = there.get(student)
            key = new_id() if row is None else str(row.id)
            new = {"id": key, "assignment_id": self._assignment.id, "student_id": student, "timestamp": None}
            stored, extension = (None, None) if row is None else (row.timestamp, row.extension)
            values: dict[str, Any] = {"timestamp": entry.timestamp} if entry.timestamp is not None else {}
            if extension is None and student in waiting:
                extension = values["extension"] = as_stored(self._database, waiting[student])
            changes.put(row, new | {"extension": None}, values)
            late_s = seconds_late(entry.timestamp or stored, extension, self._assignment.duedate)
            submissions[student] = key, late_s
        _apply(self._database, self._connection, "submitted_assignment", changes)
        forget(self._connection, self._assignment.name, waiting.keys() & entries.keys())
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
        self, submission: str, book: Book, result: NotebookResult, *, unanswered: Collection[str]
    ) -> Decimal:
        """Put the rows of a notebook's cells; return what it counts."""
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
            total += counted(score, row)
        for name, cell_id in book.commented.items():
            text = NO_RESPONSE if name in unanswered else None
            self._put_comment(key, cell_id, {"auto_comment": text} if there else {})
        return total

    def _loses(self, student: str, total: Decimal, late_s: float) -> dict[str, Any]:
        if self._late_penalty is None:
            return {}
        return {"late_submission_penalty": penalty_of(self._late_penalty, student, float(total), late_s)}

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


def new_id() -> str:
    """Return an id for a new row."""
    return uuid.uuid4().hex
