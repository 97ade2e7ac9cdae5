"""Moodle: what is where in an export of grades or participants, and by what Moodle finds a student."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports.columns import Item, plain_number
from autograder.lms.exports.moodle_cells import swallows
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.rosters import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from autograder.lms.model import Grade
    from autograder.lms.sheets import Sheet

IDENTITIES: Mapping[str, str] = {
    "idnumber": "ID number",
    "email": "Email address",
    "username": "Username",
    "id": "User ID",
}
"""By what Moodle's import finds a student, and what it is called; the surest first."""

BLANK = frozenset({"", "-"})
"""How Moodle writes that there is no grade."""

DOWNLOADED = ("Last downloaded from this course",)
_OLDEST_S = 365 * 24 * 60 * 60
_UNIX_TIME = re.compile(r"1[0-9]{9}|[2-9][0-9]{9}")
_ITEM = re.compile(r"(?P<name>(?:[^:]*:\s*)?(?P<title>.*\S))\s+\((?P<shown>[^()]*)\)", re.DOTALL)
_NO_POINTS = frozenset(
    {"percentage", "prozentsatz", "pourcentage", "porcentaje", "porcentagem", "percentuale", "letter"}
)
"""How Moodle says that a column shows something else than points."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_FEEDBACK = re.compile(r".*\((Feedback|Rückmeldung|Commentaires?|Retroalimentación)\)", re.DOTALL)
_AS_POINTS = "Export the grades from Moodle again, shown as points (Real), and name that file."
_IN_POINTS = "Set the item's type of grade to points in Moodle, or show letters as points, and export again."
_AGAIN = "Export the grades from Moodle again, and name that file as it comes."


@dataclass(frozen=True, slots=True, kw_only=True)
class Book:
    """
    An export of grades or participants, understood.

    Parameters
    ----------
    sheet : Sheet
        The file.
    identity : tuple of int
        Columns that say who a row is about.
    downloaded : int or None
        The column that says when it was downloaded.
    items : tuple of Item
        Columns of points.
    others : tuple of Item
        Columns that show the grades of an item as something else.
    people : mapping of int to Person
        Who each row is about.
    found_by : mapping of str to int
        Columns by which Moodle can find students, by the keys of `IDENTITIES`.
    """

    sheet: Sheet
    identity: tuple[int, ...]
    downloaded: int | None
    items: tuple[Item, ...]
    others: tuple[Item, ...]
    people: Mapping[int, Person]
    found_by: Mapping[str, int]

    def values(self, kind: str) -> dict[int, str]:
        """Return by row what Moodle would look for, of rows that have it."""
        cells = {row: self.sheet.cell(row, self.found_by[kind]).strip() for row in self.people}
        return {row: cell for row, cell in cells.items() if cell}

    def refuse_others(self, names: Iterable[str]) -> None:
        """
        Refuse names of items whose points the file does not show: what is there could not be told.

        Parameters
        ----------
        names : iterable of str
            What the instructor calls the items.

        Raises
        ------
        CourseError
            If there is a column of one, but none of its points.
        """
        with_points = {name for item in self.items for name in item.names}
        for name in names:
            other = next((one for one in self.others if name in one.names), None)
            if other is None or name in with_points:
                continue
            cells = {row: self.sheet.cell(row, other.column).strip() for row in self.people}
            at, cell = next(
                ((row, one) for row, one in cells.items() if one not in BLANK and not plain_number(one)),
                (0, ""),
            )
            if not cell or cell.endswith("%"):
                what = f"the file does not show the points of {name!r}, so nobody could tell what changes"
                raise self.sheet.error(at, other.column, what, _AS_POINTS)
            what = (
                f"{cell!r} is no number: where grades are words, as of a scale, Moodle refuses the whole file"
            )
            raise self.sheet.error(at, other.column, what, _IN_POINTS)


def read_book(sheet: Sheet, now: datetime) -> Book:
    """
    Find rows and columns in an export of Moodle.

    Parameters
    ----------
    sheet : Sheet
        The file.
    now : datetime
        When this is, aware: Moodle refuses a file that was downloaded a year ago.

    Returns
    -------
    Book
        Every row is in it.

    Raises
    ------
    CourseError
        If nothing in it says who a student is, a row is too long, or it is too old.
    """
    downloaded = _downloaded(sheet)
    shaped = [at for at, header in enumerate(sheet.header) if _ITEM.fullmatch(header.strip())]
    last = min((at for at in (*shaped, downloaded) if at is not None), default=len(sheet.header))
    identity = tuple(range(last))
    found_by = _found_by(sheet, last)
    if not found_by:
        what = "no column says who a student is: an ID number, an e-mail address or a user name"
        raise sheet.error(0, None, what, _AGAIN)
    items, others = _items(sheet, shaped)
    book = Book(
        sheet=sheet,
        identity=identity,
        downloaded=downloaded,
        items=tuple(items),
        others=tuple(others),
        people=dict(_people(sheet, found_by)),
        found_by=found_by,
    )
    _refuse_old(book, now)
    return book


def usable(kind: str, values: Mapping[int, str]) -> dict[int, str]:
    """
    Return who can be found by what they have.

    Parameters
    ----------
    kind : str
        One of `IDENTITIES`.
    values : mapping of int to str
        What everybody has, by row.

    Returns
    -------
    dict of int to str
        Those who share it with nobody, and whose cell PHP reads as it stands.
    """
    times = Counter(map(str.casefold, values.values()))
    own = {row: value for row, value in values.items() if times[value.casefold()] == 1}
    return {row: value for row, value in own.items() if _is_read(value, number=kind == "id")}


def _is_read(value: str, *, number: bool) -> bool:
    """Return whether Moodle reads what is written: it changes ends of lines and stumbles over backslashes."""
    return not swallows(value) and not _CONTROL.search(value) and (value.isdecimal() or not number)


def identities(grade: Grade, *, folders: bool = False) -> dict[str, str]:
    """
    Return by what Moodle may find a student, as far as the course knows.

    Parameters
    ----------
    grade : Grade
        The student's.
    folders : bool
        True to take the student's id in the course for the user name where none is known.

    Returns
    -------
    dict of str to str
        By the keys of `IDENTITIES`; empty where nothing is known.
    """
    person = grade.person(Lms.MOODLE)
    ids = person.ids if person is not None else {}
    email = person.email if person is not None else ""
    return {
        "idnumber": ids.get(IdKind.SIS, "").strip(),
        "email": (email or grade.email).strip(),
        "username": ids.get(IdKind.LOGIN, "").strip() or (grade.student if folders else ""),
        "id": ids.get(IdKind.USER, "").strip(),
    }


def chosen_identity(asked: str, there: Mapping[str, Iterable[object]]) -> str:
    """
    Return by what Moodle is to find the students.

    Parameters
    ----------
    asked : str
        What the instructor asked for; empty if nothing.
    there : mapping of str to iterable
        Who can be found by each.

    Returns
    -------
    str
        As asked, else what finds most.

    Raises
    ------
    CourseError
        If what is asked for is not there.
    """
    if asked and asked not in there:
        what = f"{asked!r} is nothing by which students can be found"
        raise CourseError("--set identity", what, f"There are: {', '.join(there)}.")
    order = list(IDENTITIES)
    return asked or max(there, key=lambda kind: (len(list(there[kind])), -order.index(kind)))


def _downloaded(sheet: Sheet) -> int | None:
    """Return the column that says when the file was downloaded: its last, all alike, a Unix time."""
    known = sheet.column(*DOWNLOADED)
    last = len(sheet.header) - 1
    cells = {sheet.cell(row, last).strip() for row in range(1, len(sheet.rows))}
    alike = len(cells) == 1 and _UNIX_TIME.fullmatch(cells.pop()) and not _ITEM.fullmatch(sheet.header[last])
    return known if known is not None else last if alike and last else None


def _found_by(sheet: Sheet, last: int) -> dict[str, int]:
    kinds = {"idnumber": words.SIS, "email": words.EMAIL, "username": words.LOGIN}
    found = {kind: sheet.column(*names) for kind, names in kinds.items()}
    if found["email"] is None:
        cells = {at: [sheet.cell(row, at) for row in range(1, len(sheet.rows))] for at in range(last)}
        emails = [at for at, column in cells.items() if column and all("@" in cell for cell in column)]
        found["email"] = emails[0] if len(emails) == 1 else None
    return {kind: at for kind, at in found.items() if at is not None and at < last}


def _items(sheet: Sheet, shaped: Sequence[int]) -> tuple[list[Item], list[Item]]:
    """Return columns that hold points, and those that show grades as percentages, letters or words."""
    items: list[Item] = []
    others: list[Item] = []
    for at in shaped:
        header = sheet.header[at].strip()
        cells = [sheet.cell(row, at).strip() for row in range(1, len(sheet.rows))]
        found = _ITEM.fullmatch(header)
        if found is None or _FEEDBACK.fullmatch(header):
            continue
        points = all(cell in BLANK or plain_number(cell) for cell in cells)
        item = Item(column=at, header=sheet.header[at], title=found["title"], key=found["name"])
        is_points = points and found["shown"].strip().casefold() not in _NO_POINTS
        (items if is_points else others).append(item)
    return items, others


def _people(sheet: Sheet, found_by: Mapping[str, int]) -> Iterable[tuple[int, Person]]:
    names = words.name_columns(sheet)
    kinds = {IdKind.SIS: "idnumber", IdKind.LOGIN: "username"}
    for row in range(1, len(sheet.rows)):
        if len(sheet.rows[row]) > len(sheet.header):
            what = f"has {len(sheet.rows[row])} cells, but the header has {len(sheet.header)}"
            raise sheet.error(row, None, what, _AGAIN)
        ids = {kind: sheet.cell(row, found_by.get(key)).strip() for kind, key in kinds.items()}
        person = Person(
            lms=Lms.MOODLE,
            first_name=sheet.cell(row, names.first).strip(),
            last_name=sheet.cell(row, names.last).strip(),
            name=sheet.cell(row, names.whole).strip(),
            email=sheet.cell(row, found_by.get("email")).strip(),
            ids={kind: value for kind, value in ids.items() if value},
            line=sheet.lines[row],
        )
        if any(cell.strip() for cell in sheet.rows[row]):
            yield row, person


def _refuse_old(book: Book, now: datetime) -> None:
    """Refuse a file that says that it was downloaded when Moodle does not believe it."""
    if book.downloaded is None:
        return
    for row in book.people:
        cell = book.sheet.cell(row, book.downloaded).strip()
        age_s = now.timestamp() - int(cell) if _UNIX_TIME.fullmatch(cell) else -1
        if not 0 <= age_s < _OLDEST_S:
            what = f"{cell!r} is no time of the last year, and Moodle would refuse the whole file"
            raise book.sheet.error(row, book.downloaded, what, _AGAIN)
