"""
What was graded already, and what could not be: a table of the kit's own in the gradebook.

It is written in the transaction that stores the scores, so that the two never
disagree, whatever ends the process. nbgrader ignores tables that it does not
know. The table is made at first use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Boolean, Column, MetaData, Table, Text, inspect, select

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlalchemy import Connection

TABLE = Table(
    "autograder_record",
    MetaData(),
    Column("assignment", Text, primary_key=True),
    Column("student", Text, primary_key=True),
    Column("fingerprint", Text, nullable=False),
    Column("failure", Text, nullable=False),
    Column("graded", Boolean, nullable=False),
)
"""Names, not nbgrader's ids: a submission that could not be graded has no row of nbgrader's."""


@dataclass(frozen=True, slots=True)
class Record:
    """
    What became of a submission when it was last graded.

    Parameters
    ----------
    fingerprint : str
        What it depended on, see `autograder.grading.fingerprint`; empty if that is not known.
    failure : str
        Why it, or a part of it, could not be graded, and what to do; empty if all was graded.
    graded : bool
        False if none of it was.
    """

    fingerprint: str
    failure: str = ""
    graded: bool = True


def make_table(connection: Connection) -> None:
    """Make the table if it is not there, in a transaction that writes."""
    TABLE.create(connection, checkfirst=True)


def read_records(connection: Connection, assignment: str, student: str | None = None) -> dict[str, Record]:
    """
    Return what became of an assignment's submissions.

    Parameters
    ----------
    connection : Connection
        The gradebook's.
    assignment : str
        The assignment.
    student : str, optional
        This student's only.

    Returns
    -------
    dict of str to Record
        By student; one whose submission was never graded by the kit is absent.
    """
    if not inspect(connection).has_table(TABLE.name):
        return {}
    query = select(TABLE).where(TABLE.c.assignment == assignment)
    if student is not None:
        query = query.where(TABLE.c.student == student)
    rows = connection.execute(query)
    return {row.student: Record(row.fingerprint, row.failure, row.graded) for row in rows}


def write_records(connection: Connection, assignment: str, records: Mapping[str, Record]) -> None:
    """
    Put records in the place of those that are there, in a transaction that writes.

    Parameters
    ----------
    connection : Connection
        The gradebook's.
    assignment : str
        The assignment.
    records : mapping of str to Record
        By student.
    """
    _forget(connection, assignment, records)
    rows = [
        {
            "assignment": assignment,
            "student": student,
            "fingerprint": record.fingerprint,
            "failure": record.failure,
            "graded": record.graded,
        }
        for student, record in records.items()
    ]
    if rows:
        connection.execute(TABLE.insert(), rows)


def _forget(connection: Connection, assignment: str, students: Iterable[str]) -> None:
    for student in students:
        mine = (TABLE.c.assignment == assignment) & (TABLE.c.student == student)
        connection.execute(TABLE.delete().where(mine))
