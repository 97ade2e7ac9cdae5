"""
nbgrader's gradebook, read and written without nbgrader.

Importing nbgrader takes seconds and its interface commits a dozen times for
one submission. Here the tables are read from the database itself, and a
submission is stored in one transaction that leaves the rows which
``nbgrader autograde`` leaves: formgrader, feedback and export see no difference.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from sqlalchemy import select

from autograder.course.late import Penalty, no_penalty
from autograder.gradebook.database import Database
from autograder.gradebook.extensions import Extensions
from autograder.gradebook.identities import has_news, read_people, write_people
from autograder.gradebook.records import Record, make_table, read_records, write_records
from autograder.gradebook.scoring import cell_score, grades_of, student_score
from autograder.gradebook.values import decimal, seconds_late
from autograder.gradebook.writing import Book, Entry, Writer, add_students

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy import Connection
    from sqlalchemy.engine import Row

    from autograder.lms.model import Person
    from autograder.results import SubmissionResult
    from autograder.scores import StudentScore


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
        self._known: dict[str, dict[str, Book]] = {}
        self._has_records = False

    @property
    def where(self) -> str:
        """Its address, without a password."""
        return self._database.where

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
            add_students(self._database, connection, [student])
            if details:
                table = self._database.table("student")
                connection.execute(table.update().where(table.c.id == student).values(**details))

    def store(
        self,
        result: SubmissionResult,
        *,
        timestamp: datetime | None = None,
        unanswered: Mapping[str, Collection[str]] | None = None,
        late_penalty: Penalty | None = no_penalty,
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
        late_penalty : Penalty or None
            What late work loses. None leaves the penalties as they are.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written, or knows another release.
        CourseError
            If the course's late-penalty plug-in fails.
        """
        self.store_many([Entry(result, timestamp, unanswered or {})], late_penalty=late_penalty)

    def store_many(self, entries: Sequence[Entry], *, late_penalty: Penalty | None = no_penalty) -> None:
        """
        Store graded submissions in one transaction: all of them or none.

        What `store` says of one holds for each.

        Parameters
        ----------
        entries : sequence of Entry
            The submissions.
        late_penalty : Penalty or None
            As for `store`.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written, or knows another release.
        """
        groups: dict[str, list[Entry]] = {}
        for entry in entries:
            groups.setdefault(entry.result.assignment, []).append(entry)
        with self._database.writing() as connection:
            for name, group in groups.items():
                assignment, books = self._structure(connection, name)
                Writer(self._database, connection, assignment, books, late_penalty).write(group)
                records = {
                    entry.result.student: Record(entry.fingerprint, entry.result.failure) for entry in group
                }
                self._write_records(connection, name, records)
        self._has_records = True

    def store_failures(self, assignment: str, failures: Mapping[str, Record]) -> None:
        """
        Remember which submissions could not be graded, and why; scores stay as they are.

        Parameters
        ----------
        assignment : str
            The assignment.
        failures : mapping of str to Record
            By student.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written.
        """
        with self._database.writing() as connection:
            self._write_records(connection, assignment, failures)
        self._has_records = True

    def _write_records(self, connection: Connection, assignment: str, records: Mapping[str, Record]) -> None:
        if not self._has_records:
            make_table(connection)
        write_records(connection, assignment, records)

    def enroll_people(self, people: Sequence[Person], assignment: str = "") -> None:
        """
        Add students, and keep by what an LMS knows them, in one transaction or none if nothing is new.

        Parameters
        ----------
        people : sequence of Person
            As an LMS knows them, with their ids in the course. Of each kind of id what the LMS
            said before is replaced; names and addresses that the gradebook has stay.
        assignment : str
            Of which their numbers of participants are; if empty, these are not kept.

        Raises
        ------
        GradebookError
            If the gradebook cannot be written.
        """
        with self._database.reading() as connection:
            if not has_news(self._database, connection, people, assignment):
                return
        with self._database.writing() as connection:
            write_people(self._database, connection, people, assignment)

    def extensions(self, assignment: str) -> Extensions:
        """
        Return the extensions of an assignment, to be read and granted.

        Parameters
        ----------
        assignment : str
            The assignment.

        Returns
        -------
        Extensions
            To be used while the gradebook is open.

        Raises
        ------
        GradebookError
            If the gradebook cannot be read, or has no such assignment.
        """
        return Extensions(self._database, assignment)

    # ----------------------------------------------------------- reading

    def people(self, assignment: str = "") -> tuple[Person, ...]:
        """
        Return the students, as the gradebook knows them and as each LMS does.

        Parameters
        ----------
        assignment : str
            Whose numbers of participants count; by default none do.

        Returns
        -------
        tuple of Person
            By student one as the gradebook knows them (`Lms.PLAIN`), then one for each LMS.

        Raises
        ------
        GradebookError
            If the gradebook cannot be read.
        """
        with self._database.reading() as connection:
            return read_people(self._database, connection, assignment)

    def records(self, assignment: str, student: str | None = None) -> dict[str, Record]:
        """
        Return what became of an assignment's submissions when they were last graded.

        Parameters
        ----------
        assignment : str
            The assignment.
        student : str, optional
            This student's only.

        Returns
        -------
        dict of str to Record
            By student; one whose submission was never graded by the kit is absent.

        Raises
        ------
        GradebookError
            If the gradebook cannot be read.
        """
        with self._database.reading() as connection:
            records = read_records(connection, assignment, student)
            rows = self._database.rows(connection, "assignment", name=assignment)
            where = {} if student is None else {"student_id": student}
            stored = {
                row.student_id
                for task in rows
                for row in self._database.rows(
                    connection, "submitted_assignment", assignment_id=task.id, **where
                )
            }
        # Somebody may have removed a submission, or the student.
        return {one: record for one, record in records.items() if one in stored or not record.graded}

    def failures(self, assignment: str) -> dict[str, str]:
        """
        Return why submissions could not be graded.

        Parameters
        ----------
        assignment : str
            The assignment.

        Returns
        -------
        dict of str to str
            By student the reason, of those that could not be graded whole the last time.

        Raises
        ------
        GradebookError
            If the gradebook cannot be read.
        """
        records = self.records(assignment)
        return {student: record.failure for student, record in records.items() if record.failure}

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
            grades, penalties = grades_of(self._database, connection, row.id)
        by_student = {one.student_id: one for one in submissions}
        scores = []
        for student in sorted(students, key=lambda one: str(one.id)):
            submission = by_student.get(student.id)
            key = submission.id if submission is not None else ""
            cells = tuple(
                cell_score(
                    (name, grade_id), points, grades.get(key, {}).get(cell), manual=grade_id in book.commented
                )
                for name, book in books.items()
                for grade_id, (cell, points) in book.graded.items()
            )
            late = 0.0
            if submission is not None:
                late = seconds_late(submission.timestamp, submission.extension, row.duedate)
            penalty = penalties.get(key, Decimal(0))
            scores.append(student_score(student, submission, cells, (late, penalty)))
        return tuple(scores)

    def _structure(self, connection: Connection, assignment: str) -> tuple[Row[Any], dict[str, Book]]:
        row = self._database.assignment(connection, assignment)
        if assignment not in self._known:
            self._known[assignment] = self._books(connection, row.id)
        return row, self._known[assignment]

    def _books(self, connection: Connection, assignment: str) -> dict[str, Book]:
        books = {}
        found = self._database.rows(connection, "notebook", assignment_id=assignment)
        for book in sorted(found, key=lambda one: str(one.name)):
            cells = self._database.rows(connection, "base_cell", notebook_id=book.id)
            books[str(book.name)] = Book(
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
                yield cell, decimal(points) or Decimal(0)
