"""From the rows of a table to people: what every roster has in common, whoever wrote it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autograder.lms.model import IdKind, Person, Roster
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from autograder.errors import CourseError
    from autograder.lms.model import Lms
    from autograder.lms.sheets import Sheet

ID_NAMES = {
    IdKind.USER: "user id",
    IdKind.LOGIN: "username",
    IdKind.SIS: "SIS id",
    IdKind.PARTICIPANT: "participant number",
    IdKind.LTI: "id in LTI",
}
"""What messages call ids."""

# 20067930 or 00123 after a spreadsheet has shown it as a number and saved what it showed.
_ROUNDED = re.compile(r"\d[.,]\d+E\+\d+")
_SHOWN_HEADERS = 16


def as_given(cell: str) -> str:
    """Return an id as it stands."""
    return cell


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """
    Which column says what of a person, and how a cell is read.

    Parameters
    ----------
    first_name, last_name, name, email, sections, student : int or None
        Columns from 0; None if there is none. `student` is the id in this course.
    ids : mapping of IdKind to (int or None)
        The columns of ids.
    clean_id, clean_name : callable
        What takes off that which the LMS has put around an id, or a name.
    split : callable
        What tells the sections that a cell names.
    """

    first_name: int | None = None
    last_name: int | None = None
    name: int | None = None
    email: int | None = None
    sections: int | None = None
    student: int | None = None
    ids: Mapping[IdKind, int | None] = field(default_factory=dict)
    clean_id: Callable[[str], str] = as_given
    clean_name: Callable[[str], str] = as_given
    split: Callable[[str], tuple[str, ...]] = lambda cell: (cell,)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """
    What is left of a table when rows that are nobody's are gone.

    Parameters
    ----------
    rows : tuple of int
        Rows of people, from 0 as of the sheet.
    notes : tuple of str
        Why others were left out, where somebody might miss them.
    """

    rows: tuple[int, ...]
    notes: tuple[str, ...] = ()


def kept(sheet: Sheet, left_out: Callable[[int], str | None] = lambda _: None) -> Kept:
    """
    Return the rows of people.

    Parameters
    ----------
    sheet : Sheet
        The table.
    left_out : callable, optional
        Says of a row why it is nobody's: a sentence, an empty string if nobody would
        miss it, None if it is somebody's.

    Returns
    -------
    Kept
        Rows without any text are nobody's.
    """
    rows, notes = [], []
    for row in range(1, len(sheet.rows)):
        if not any(cell.strip() for cell in sheet.rows[row]):
            continue
        reason = left_out(row)
        if reason is None:
            rows.append(row)
        elif reason:
            notes.append(f"Line {sheet.lines[row]}: {printable(reason)}")
    return Kept(rows=tuple(rows), notes=tuple(notes))


def roster(sheet: Sheet, lms: Lms, columns: Columns, rows: Kept | None = None) -> Roster:
    """
    Return who is in a table.

    Parameters
    ----------
    sheet : Sheet
        The table.
    lms : Lms
        Whose it is.
    columns : Columns
        What its columns say.
    rows : Kept, optional
        The rows of people. By default all that have any text.

    Returns
    -------
    Roster
        People in the order of the rows. Rows that repeat a person are told.

    Raises
    ------
    CourseError
        If two rows share an id but are not one person, a row has more cells than the
        header, or an id was rounded by a spreadsheet.
    """
    rows = kept(sheet) if rows is None else rows
    people, notes = [], list(rows.notes)
    for row in rows.rows:
        _check(sheet, row)
        person = _person(sheet, row, lms, columns)
        if person.ids or person.email or person.name or person.first_name or person.last_name:
            people.append((row, person))
        else:
            notes.append(f"Line {sheet.lines[row]}: the row names nobody.")
    single, repeated = _without_repeats(sheet, people, columns)
    if repeated:
        lines = ", ".join(str(line) for line in repeated)
        notes.append(f"Lines that repeat somebody above, left out: {lines}.")
    return Roster(lms=lms, where=sheet.where, people=single, notes=tuple(notes))


def below(sheet: Sheet, row: int) -> Sheet:
    """
    Return a table that begins further down: titles stand above its header.

    Parameters
    ----------
    sheet : Sheet
        The whole file.
    row : int
        The header's row, from 0.

    Returns
    -------
    Sheet
        With the lines of the file.
    """
    return replace(sheet, rows=sheet.rows[row:], lines=sheet.lines[row:])


def expected(sheet: Sheet, headers: str) -> CourseError:
    """
    Return an error that says which headers a table has and which it should have.

    Parameters
    ----------
    sheet : Sheet
        The table.
    headers : str
        What is expected: a phrase.

    Returns
    -------
    CourseError
        To be raised.
    """
    return sheet.error(0, None, f"has the headers {shown_headers(sheet)}", f"Expected are {headers}.")


def has(sheet: Sheet, *names: str) -> bool:
    """
    Return whether a table has one of some headers, once or several times.

    Parameters
    ----------
    sheet : Sheet
        Any table.
    *names : str
        Headers. Spaces around and case do not count.

    Returns
    -------
    bool
        True if one is there.
    """
    headers = {cell.strip().casefold() for cell in sheet.header}
    return any(name.casefold() in headers for name in names)


def shown_headers(sheet: Sheet) -> str:
    """
    Return the headers of a table as one line for people.

    Parameters
    ----------
    sheet : Sheet
        The table.

    Returns
    -------
    str
        The first of them, each shortened.
    """
    shown = [printable(cell.strip())[:40] or "(none)" for cell in sheet.header[:_SHOWN_HEADERS]]
    more = len(sheet.header) - len(shown)
    return ", ".join(repr(cell) for cell in shown) + (f" and {more} more" if more else "")


def _check(sheet: Sheet, row: int) -> None:
    """Refuse a row that is longer than the header: a comma without quotes has moved its cells."""
    width, cells = len(sheet.header), sheet.rows[row]
    if any(cell.strip() for cell in cells[width:]):
        what = f"has {len(cells)} cells, but the header has {width}"
        raise sheet.error(row, None, what, "Put names with a comma in quotes, or export the file again.")


def _person(sheet: Sheet, row: int, lms: Lms, columns: Columns) -> Person:
    def name(column: int | None) -> str:
        return columns.clean_name(sheet.cell(row, column).strip()).strip()

    def identity(column: int | None) -> str:
        cell = columns.clean_id(sheet.cell(row, column))
        if _ROUNDED.fullmatch(cell):
            what = f"{cell!r} is an id that a spreadsheet has rounded"
            raise sheet.error(row, column, what, "Export the file again, and do not save it in between.")
        return cell if cell.strip() else ""

    ids = {kind: identity(column) for kind, column in columns.ids.items()}
    section = sheet.cell(row, columns.sections).strip()
    return Person(
        lms=lms,
        first_name=name(columns.first_name),
        last_name=name(columns.last_name),
        name=name(columns.name),
        email=sheet.cell(row, columns.email).strip(),
        ids={kind: value for kind, value in ids.items() if value},
        sections=columns.split(section) if section else (),
        line=sheet.lines[row],
        student=identity(columns.student),
    )


def _without_repeats(
    sheet: Sheet, people: Iterable[tuple[int, Person]], columns: Columns
) -> tuple[tuple[Person, ...], list[int]]:
    """Return each person once and the lines that repeat one; equal names without an id may be two people."""
    by_id: dict[tuple[str, str], Person] = {}
    found, repeated = [], []
    for row, person in people:
        keys = [(kind.value, value) for kind, value in person.ids.items()]
        keys += [("student", person.student)] if person.student else []
        known = [(key, by_id[key]) for key in keys if key in by_id]
        if not known:
            found.append(person)
            by_id |= dict.fromkeys(keys, person)
        elif all(_same(other, person) for _, other in known):
            repeated.append(person.line)
        else:
            (kind, _), other = next(one for one in known if not _same(one[1], person))
            raise _shared(sheet, row, columns, kind, other)
    return tuple(found), repeated


def _same(one: Person, other: Person) -> bool:
    return replace(one, line=0) == replace(other, line=0)


def _shared(sheet: Sheet, row: int, columns: Columns, kind: str, other: Person) -> CourseError:
    column = columns.student if kind == "student" else columns.ids[IdKind(kind)]
    called = "id" if kind == "student" else ID_NAMES[IdKind(kind)]
    what = f"has the {called} of line {other.line} ({printable(other.shown)}), but is not the same person"
    return sheet.error(row, column, what, "Correct one of the two rows.")
