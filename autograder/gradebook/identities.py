"""
By which ids and names each LMS knows a student: a table of the kit's own in the gradebook.

nbgrader has one column for one id of one LMS and ignores tables that it does
not know. The table is made at first use.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from sqlalchemy import Column, Integer, MetaData, String, Table, Text, and_, inspect, select

from autograder.gradebook.writing import add_students
from autograder.lms.model import IdKind, Lms, Person

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import Connection
    from sqlalchemy.engine import Row

    from autograder.gradebook.database import Database

_NAME = String(128)
"""As long as nbgrader's names."""
_KIND = String(16)

TABLE = Table(
    "autograder_identity",
    MetaData(),
    Column("student", _NAME, primary_key=True),
    Column("lms", _KIND, primary_key=True),
    Column("kind", _KIND, primary_key=True),
    Column("assignment", _NAME, primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("value", Text, nullable=False),
)
"""An assignment is empty but for what means something in one only; the place counts several of a kind."""

_TEXTS = ("name", "first_name", "last_name", "email")
_SECTION = "section"

_Key = tuple[str, str, str, str]
"""Student, LMS, kind, assignment."""


def read_people(database: Database, connection: Connection, assignment: str = "") -> tuple[Person, ...]:
    """
    Return the students of a gradebook, as it knows them and as each LMS does.

    Parameters
    ----------
    database : Database
        The gradebook.
    connection : Connection
        Its open transaction.
    assignment : str
        Whose numbers of participants count; by default none do.

    Returns
    -------
    tuple of Person
        By student one as the gradebook knows them (`Lms.PLAIN`), then one for each LMS.
    """
    known: dict[str, dict[str, dict[str, list[str]]]] = defaultdict(lambda: defaultdict(dict))
    for (student, lms, kind, _), values in sorted(_stored(database, connection, assignment).items()):
        known[student][lms][kind] = values
    people: list[Person] = []
    for row in sorted(database.rows(connection, "student"), key=lambda one: str(one.id)):
        by_lms = known[row.id]
        people.append(_of_gradebook(row, by_lms.pop(Lms.PLAIN.value, {})))
        people += [_of_lms(row.id, Lms(lms), values) for lms, values in by_lms.items()]
    return tuple(people)


def has_news(database: Database, connection: Connection, people: Sequence[Person], assignment: str) -> bool:
    """
    Return whether writing some people would change anything.

    Parameters
    ----------
    database : Database
        The gradebook.
    connection : Connection
        Its open transaction.
    people : sequence of Person
        As for `write_people`.
    assignment : str
        As for `write_people`.

    Returns
    -------
    bool
        False if everything is there already.
    """
    students = _students(database, connection, people)
    if any(one.student not in students or _missing(students[one.student], one) for one in people):
        return True
    there = _stored(database, connection, assignment, {one.student for one in people})
    return any(there.get(key) != values for key, values in _wanted(people, assignment).items())


def write_people(
    database: Database, connection: Connection, people: Sequence[Person], assignment: str
) -> None:
    """
    Add students, and keep by what an LMS knows them, in a transaction that writes.

    Parameters
    ----------
    database : Database
        The gradebook.
    connection : Connection
        Its open transaction.
    people : sequence of Person
        As an LMS knows them, with their ids in the course. Of each kind of id what the LMS
        said before is replaced; names and addresses that the gradebook has stay.
    assignment : str
        Of which their numbers of participants are; if empty, these are not kept.
    """
    add_students(database, connection, {one.student for one in people})
    table, students = database.table("student"), _students(database, connection, people)
    missing: dict[str, dict[str, str]] = defaultdict(dict)
    there = _stored(database, connection, assignment, {one.student for one in people})
    for one in people:
        missing[one.student] = _missing(students[one.student], one) | missing[one.student]
        # The number in nbgrader's column is the LMS's, if that said so before: it changes with it.
        column, number = students[one.student].lms_user_id, one.ids.get(IdKind.USER)
        if column and number and [column] == there.get((one.student, one.lms.value, IdKind.USER.value, "")):
            missing[one.student]["lms_user_id"] = number
    for student, values in missing.items():
        if values:
            connection.execute(table.update().where(table.c.id == student).values(**values))
    wanted = _wanted(people, assignment)
    if not wanted:
        return
    TABLE.create(connection, checkfirst=True)
    news = {key: values for key, values in wanted.items() if there.get(key) != values}
    columns = (TABLE.c.student, TABLE.c.lms, TABLE.c.kind, TABLE.c.assignment)
    for key in news:
        same = (column == part for column, part in zip(columns, key, strict=True))
        connection.execute(TABLE.delete().where(and_(*same)))
    rows = [
        dict(zip((column.name for column in columns), key, strict=True)) | {"place": place, "value": value}
        for key, values in news.items()
        for place, value in enumerate(values)
    ]
    if rows:
        connection.execute(TABLE.insert(), rows)


def _stored(
    database: Database, connection: Connection, assignment: str, students: Iterable[str] | None = None
) -> dict[_Key, list[str]]:
    """Return what is kept of an LMS's knowledge, of all students by default."""
    if not inspect(connection).has_table(TABLE.name):
        return {}
    query = select(TABLE).where(TABLE.c.assignment.in_({"", assignment})).order_by(TABLE.c.place)
    if students is None:
        rows = list(connection.execute(query))
    else:
        rows = database.rows_in(connection, query, TABLE.c.student, students)
    there: dict[_Key, list[str]] = defaultdict(list)
    for row in rows:
        there[row.student, row.lms, row.kind, row.assignment].append(row.value)
    return dict(there)


def _wanted(people: Iterable[Person], assignment: str) -> dict[_Key, list[str]]:
    """Return what is to be kept."""
    wanted: dict[_Key, list[str]] = {}
    for one in people:
        for kind, values in _told(one):
            if kind != IdKind.PARTICIPANT:
                wanted[one.student, one.lms.value, kind, ""] = values
            elif assignment:
                wanted[one.student, one.lms.value, kind, assignment] = values
    return wanted


def _told(one: Person) -> Iterator[tuple[str, list[str]]]:
    texts = {text: getattr(one, text) for text in _TEXTS} | {kind.value: id_ for kind, id_ in one.ids.items()}
    yield from ((kind, [value]) for kind, value in texts.items() if value)
    if one.sections:
        yield _SECTION, list(one.sections)


def _students(database: Database, connection: Connection, people: Iterable[Person]) -> dict[str, Row[Any]]:
    table = database.table("student")
    rows = database.rows_in(connection, select(table), table.c.id, {one.student for one in people})
    return {row.id: row for row in rows}


def _missing(row: Row[Any], one: Person) -> dict[str, str]:
    """Return what the gradebook does not have of a student, and an LMS knows."""
    first, last = _names(one)
    known = {
        "first_name": first,
        "last_name": last,
        "email": one.email,
        "lms_user_id": one.ids.get(IdKind.USER, ""),
    }
    if row.first_name or row.last_name:
        # Half a name of one and half of another would be nobody's.
        known = {column: value for column, value in known.items() if not column.endswith("_name")}
    return {column: value for column, value in known.items() if value and not getattr(row, column)}


def _names(one: Person) -> tuple[str, str]:
    """Return first and last name; a name that nobody has taken apart is a last name."""
    if one.first_name or one.last_name:
        return one.first_name, one.last_name
    last, comma, first = one.name.partition(",")
    return (first.strip(), last.strip()) if comma else ("", one.name.strip())


def _of_gradebook(row: Row[Any], told: Mapping[str, list[str]]) -> Person:
    """Return a student as the gradebook knows them, with the ids that a plain list told."""
    user = {IdKind.USER: row.lms_user_id} if row.lms_user_id else {}
    return Person(
        lms=Lms.PLAIN,
        student=row.id,
        first_name=row.first_name or "",
        last_name=row.last_name or "",
        email=row.email or "",
        ids=user | _ids(told),
        sections=tuple(told.get(_SECTION, ())),
    )


def _of_lms(student: str, lms: Lms, told: Mapping[str, list[str]]) -> Person:
    name, first_name, last_name, email = (told.get(text, [""])[0] for text in _TEXTS)
    return Person(
        lms=lms,
        student=student,
        first_name=first_name,
        last_name=last_name,
        name=name,
        email=email,
        ids=_ids(told),
        sections=tuple(told.get(_SECTION, ())),
    )


def _ids(told: Mapping[str, list[str]]) -> dict[IdKind, str]:
    return {kind: told[kind.value][0] for kind in IdKind if kind.value in told}
