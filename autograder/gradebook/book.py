"""
nbgrader's gradebook, read and written without nbgrader.

Importing nbgrader takes seconds and its interface commits a dozen times for
one submission. Here the tables are read from the database itself, and a
submission is stored in one transaction that leaves the rows which
``nbgrader autograde`` leaves: formgrader, feedback and export see no difference.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import bindparam, select

from autograder.errors import GradebookError, nearest
from autograder.gradebook.database import Database
from autograder.results import NotebookResult, Status, SubmissionResult
from autograder.scores import CellScore, StudentScore

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from sqlalchemy import Connection
    from sqlalchemy.engine import Row

NO_RESPONSE = "No response."
EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - nbgrader stores naive times, in UTC


@dataclass(frozen=True, slots=True)
class _Book:
    """One notebook of an assignment in the gradebook: its id, and ids of its cells by name."""

    key: str
    graded: Mapping[str, tuple[str, Decimal]]
    commented: Mapping[str, str]


class Gradebook:
    """
    nbgrader's gradebook; a context manager.

    Parameters
    ----------
    db_url : str
        Its SQLAlchemy address.

    Raises
    ------
    GradebookError
        If it does not exist, cannot be reached, or is of another version of
        nbgrader.
    """

    def __init__(self, db_url: str) -> None:
        self._database = Database(db_url)
        self._known: dict[str, dict[str, _Book]] = {}

    def __enter__(self) -> Self:
        """Return the gradebook."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    # ----------------------------------------------------------- storing

    def enroll(self, student: str, **details: str) -> None:
        """
        Add a student, or change what is known of one.

        Parameters
        ----------
        student : str
            The student's id.
        **details : str
            Any of ``first_name``, ``last_name``, ``email``, ``lms_user_id``;
            others stay as they are.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written.
        """
        with self._database.writing() as connection:
            self._student(connection, student)
            if details:
                table = self._database.table("student")
                connection.execute(table.update().where(table.c.id == student).values(**details))

    def store(
        self,
        result: SubmissionResult,
        *,
        timestamp: datetime | None = None,
        unanswered: Mapping[str, Collection[str]] | None = None,
        late_penalty: str | None = "none",
    ) -> None:
        """
        Store one graded submission, whole or not at all.

        Scores that a person gave stay; such a cell is marked to be looked at
        again. Storing twice is storing once.

        Parameters
        ----------
        result : SubmissionResult
            What grading returned. Notebooks that it leaves out are not touched.
        timestamp : datetime, optional
            When it was handed in: naive, in UTC. By default what is stored stays.
        unanswered : mapping of str to collection of str, optional
            For each notebook the solution cells left as they were handed out.
        late_penalty : str or None
            ``none``, or ``zero``: late work loses all its points. None leaves
            the penalties as they are.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written, or knows another release.
        """
        with self._database.writing() as connection:
            assignment, books = self._structure(connection, result.assignment)
            self._student(connection, result.student)
            submission = self._submission(connection, assignment.id, result.student, timestamp)
            keys = {name: self._skeleton(connection, submission.id, book) for name, book in books.items()}
            for book in result.notebooks:
                if book.name not in books:
                    raise self._stale(result.assignment, f"no notebook {book.name!r}")
                self._grades(connection, keys[book.name], books[book.name], book)
                if book.status is not Status.MISSING:
                    names = (unanswered or {}).get(book.name, ())
                    self._comments(connection, keys[book.name], books[book.name], names)
                    if late_penalty is not None:
                        late = _seconds_late(submission, assignment) > 0 and late_penalty == "zero"
                        self._penalty(connection, keys[book.name], late=late)

    def _student(self, connection: Connection, student: str) -> None:
        table = self._database.table("student")
        if connection.execute(select(table.c.id).where(table.c.id == student)).first() is None:
            connection.execute(table.insert().values(id=student))

    def _submission(
        self, connection: Connection, assignment: str, student: str, timestamp: datetime | None
    ) -> Row[Any]:
        table = self._database.table("submitted_assignment")
        mine = (table.c.assignment_id == assignment) & (table.c.student_id == student)
        if connection.execute(select(table.c.id).where(mine)).first() is None:
            values = {"id": _new_id(), "assignment_id": assignment, "student_id": student}
            connection.execute(table.insert().values(**values, timestamp=timestamp))
        elif timestamp is not None:
            connection.execute(table.update().where(mine).values(timestamp=timestamp))
        return connection.execute(select(table).where(mine)).one()

    def _skeleton(self, connection: Connection, submission: str, book: _Book) -> str:
        """Return the id of a submitted notebook, with a row for every cell of it."""
        table = self._database.table("submitted_notebook")
        mine = (table.c.assignment_id == submission) & (table.c.notebook_id == book.key)
        row = connection.execute(select(table.c.id).where(mine)).first()
        key = row.id if row is not None else _new_id()
        if row is None:
            values = {"id": key, "assignment_id": submission, "notebook_id": book.key, "flagged": False}
            connection.execute(table.insert().values(**values))
        graded = [cell for cell, _ in book.graded.values()]
        self._add_rows(connection, "grade", key, graded, needs_manual_grade=True)
        self._add_rows(connection, "comment", key, list(book.commented.values()))
        return str(key)

    def _add_rows(
        self, connection: Connection, name: str, notebook: str, cells: list[str], **values: object
    ) -> None:
        table = self._database.table(name)
        query = select(table.c.cell_id).where(table.c.notebook_id == notebook)
        there = set(connection.execute(query).scalars())
        new = [
            {"id": _new_id(), "notebook_id": notebook, "cell_id": cell, **values}
            for cell in cells
            if cell not in there
        ]
        if new:
            connection.execute(table.insert(), new)

    def _grades(self, connection: Connection, key: str, book: _Book, result: NotebookResult) -> None:
        table = self._database.table("grade")
        query = select(table.c.cell_id, table.c.manual_score).where(table.c.notebook_id == key)
        manual = {row.cell_id: row.manual_score for row in connection.execute(query)}
        if {cell.grade_id for cell in result.cells} != set(book.graded):
            raise self._stale(result.name, "other graded cells")
        values = []
        for cell in result.cells:
            cell_id, points = book.graded[cell.grade_id]
            if cell.max_score != points:
                raise self._stale(
                    result.name, f"{points} points, not {cell.max_score}, for {cell.grade_id!r}"
                )
            score = None if cell.auto_score is None else float(cell.auto_score)
            looked_at = manual[cell_id] is not None and result.status is not Status.MISSING
            values.append(
                {"cell": cell_id, "auto_score": score, "needs_manual_grade": score is None or looked_at}
            )
        self._update(connection, "grade", key, values)

    def _comments(self, connection: Connection, key: str, book: _Book, names: Collection[str]) -> None:
        self._update(
            connection,
            "comment",
            key,
            [
                {"cell": cell, "auto_comment": NO_RESPONSE if name in names else None}
                for name, cell in book.commented.items()
            ],
        )

    def _update(self, connection: Connection, name: str, notebook: str, values: list[dict[str, Any]]) -> None:
        table = self._database.table(name)
        mine = (table.c.notebook_id == notebook) & (table.c.cell_id == bindparam("cell"))
        if values:
            connection.execute(table.update().where(mine), values)

    def _penalty(self, connection: Connection, key: str, *, late: bool) -> None:
        grade, book = self._database.table("grade"), self._database.table("submitted_notebook")
        penalty = None
        if late:
            rows = connection.execute(select(grade).where(grade.c.notebook_id == key)).all()
            penalty = float(
                max(sum((_cell_score("", "", 0, row).score for row in rows), Decimal(0)), Decimal(0))
            )
        connection.execute(book.update().where(book.c.id == key).values(late_submission_penalty=penalty))

    # ----------------------------------------------------------- reading

    def scores(self, assignment: str) -> tuple[StudentScore, ...]:
        """
        Return the scores of every student of the gradebook in an assignment.

        Parameters
        ----------
        assignment : str
            The assignment.

        Returns
        -------
        tuple of StudentScore
            Sorted by the student's id; those who handed in nothing included.

        Raises
        ------
        GradebookError
            If the gradebook cannot be read, or has no such assignment.
        """
        with self._database.reading() as connection:
            row, books = self._structure(connection, assignment)
            submissions = self._database.rows(connection, "submitted_assignment", assignment_id=row.id)
            students = self._database.rows(connection, "student")
            grades, penalties = self._grades_of(connection, row.id)
        by_student = {one.student_id: one for one in submissions}
        scores = []
        for student in sorted(students, key=lambda one: str(one.id)):
            submission = by_student.get(student.id)
            key = submission.id if submission is not None else ""
            cells = tuple(
                _cell_score(name, grade_id, points, grades.get(key, {}).get(cell))
                for name, book in books.items()
                for grade_id, (cell, points) in book.graded.items()
            )
            late = _seconds_late(submission, row) if submission is not None else 0.0
            penalty = penalties.get(key, Decimal(0))
            scores.append(_student_score(student, submission, cells, (late, penalty)))
        return tuple(scores)

    def _grades_of(
        self, connection: Connection, assignment: str
    ) -> tuple[dict[str, dict[str, Row[Any]]], dict[str, Decimal]]:
        """Return grades by submission and cell, and penalties by submission, in two queries."""
        submission, book, grade = map(
            self._database.table, ("submitted_assignment", "submitted_notebook", "grade")
        )
        joined = book.join(submission, submission.c.id == book.c.assignment_id)
        mine = submission.c.assignment_id == assignment
        owner: dict[str, str] = {}
        penalties: dict[str, Decimal] = {}
        for row in connection.execute(select(book).select_from(joined).where(mine)):
            owner[row.id] = row.assignment_id
            penalty = _decimal(row.late_submission_penalty) or Decimal(0)
            penalties[row.assignment_id] = penalties.get(row.assignment_id, Decimal(0)) + penalty
        grades: dict[str, dict[str, Row[Any]]] = {}
        query = select(grade).select_from(grade.join(joined, book.c.id == grade.c.notebook_id)).where(mine)
        for row in connection.execute(query):
            grades.setdefault(owner[row.notebook_id], {})[row.cell_id] = row
        return grades, penalties

    def _structure(self, connection: Connection, assignment: str) -> tuple[Row[Any], dict[str, _Book]]:
        rows = self._database.rows(connection, "assignment", name=assignment)
        if not rows:
            known = [row.name for row in self._database.rows(connection, "assignment")]
            what = f"the gradebook has no assignment {assignment!r}"
            where = self._database.where
            raise GradebookError(where, what, f"{nearest(assignment, known)} Or release it first.")
        if assignment not in self._known:
            self._known[assignment] = self._books(connection, rows[0].id)
        return rows[0], self._known[assignment]

    def _books(self, connection: Connection, assignment: str) -> dict[str, _Book]:
        books = {}
        found = self._database.rows(connection, "notebook", assignment_id=assignment)
        for book in sorted(found, key=lambda one: str(one.name)):
            cells = self._database.rows(connection, "base_cell", notebook_id=book.id)
            books[str(book.name)] = _Book(
                book.id,
                {cell.name: (cell.id, points) for cell, points in self._points(connection, cells)},
                {cell.name: cell.id for cell in cells if cell.type in {"SolutionCell", "TaskCell"}},
            )
        return books

    def _points(self, connection: Connection, cells: list[Row[Any]]) -> Iterator[tuple[Row[Any], Decimal]]:
        for cell in cells:
            if cell.type in {"GradeCell", "TaskCell"}:
                table = self._database.table("grade_cells" if cell.type == "GradeCell" else "task_cells")
                points = connection.execute(
                    select(table.c.max_score).where(table.c.id == cell.id)
                ).scalar_one()
                yield cell, _decimal(points) or Decimal(0)

    def _stale(self, what: str, has: str) -> GradebookError:
        where = self._database.where
        return GradebookError(where, f"the gradebook has {has} in {what!r}", "Release the assignment again.")


def _new_id() -> str:
    return uuid.uuid4().hex


def _decimal(value: float | None) -> Decimal | None:
    return None if value is None else Decimal(repr(float(value)))


def _cell_score(notebook: str, grade_id: str, points: Decimal | int, grade: Row[Any] | None) -> CellScore:
    if grade is None:
        return CellScore(notebook=notebook, grade_id=grade_id, max_score=Decimal(points))
    return CellScore(
        notebook=notebook,
        grade_id=grade_id,
        max_score=Decimal(points),
        auto_score=_decimal(grade.auto_score),
        manual_score=_decimal(grade.manual_score),
        extra_credit=_decimal(grade.extra_credit),
        needs_manual_grade=bool(grade.needs_manual_grade),
    )


def _student_score(
    student: Row[Any], submission: Row[Any] | None, cells: tuple[CellScore, ...], late: tuple[float, Decimal]
) -> StudentScore:
    return StudentScore(
        student=student.id,
        first_name=student.first_name or "",
        last_name=student.last_name or "",
        email=student.email or "",
        lms_user_id=student.lms_user_id or "",
        submitted=submission is not None,
        timestamp=submission.timestamp if submission is not None else None,
        seconds_late=late[0],
        penalty=late[1],
        cells=cells,
    )


def _seconds_late(submission: Row[Any], assignment: Row[Any]) -> float:
    if submission.timestamp is None or assignment.duedate is None:
        return 0.0
    due = assignment.duedate + _extension(submission.extension)
    return float(max((submission.timestamp - due).total_seconds(), 0.0))


def _extension(value: datetime | timedelta | None) -> timedelta:
    # SQLite has no intervals; there SQLAlchemy keeps one as a time since 1970.
    if isinstance(value, datetime):
        return value - EPOCH
    return value or timedelta()
