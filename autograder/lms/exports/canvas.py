"""
Canvas: the CSV that the gradebook's Import takes.

A blank cell takes a score away, so a row is written only for students whom a score
is sent to, and beside it each other cell of the row keeps what is in the instructor's file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports.canvas_gradebook import (
    POINTS_POSSIBLE,
    checked_title,
    has_number,
    read_gradebook,
    safe_header,
)
from autograder.lms.exports.columns import number_in, same_points, score_of, wanted
from autograder.lms.exports.filling import max_points_of, skipped
from autograder.lms.exports.matching import match_rows
from autograder.lms.exports.model import Action, Change, Export, File
from autograder.lms.model import GradeState, IdKind, Lms, points_text
from autograder.lms.sheets import PLAIN, Dialect, harmless, sheet_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.lms.exports.canvas_gradebook import Gradebook
    from autograder.lms.exports.model import Request
    from autograder.lms.model import Grade, Person

OPTIONS = {"clear": "yes: take the score in Canvas away from students who handed in nothing"}
"""What may be asked for beyond what every format knows."""

EXCUSED = "EX"
NOT_ASSIGNED = "N/A"
BLANK = frozenset({"", "-"})
"""How Canvas writes that there is no score."""

NOTHING = "Nothing is sent, so there is nothing to import."

_SENT = frozenset({Action.APPLIED, Action.UNCHANGED, Action.CLEARED})
_READ_FOR_DELIMITER = 3
"""Canvas chooses between comma and semicolon by as many lines."""
_QUOTED = Dialect(quote_all=True)


@dataclass(frozen=True, slots=True)
class _Cell:
    """What becomes of one cell, and what is written into it."""

    action: Action
    text: str
    reason: str = ""


def export(request: Request) -> Export:
    """
    Make the file for the gradebook's Import.

    Parameters
    ----------
    request : Request
        With the instructor's own gradebook export as `like`: their rows and columns are
        copied. Without it, rows are made for students whose Canvas id the course knows.

    Returns
    -------
    Export
        One CSV file, and what Canvas will do with it.

    Raises
    ------
    CourseError
        If the gradebook export cannot be used, a column cannot be told, or Canvas would
        misread a title.
    """
    if request.like is None:
        return _from_ids(request)
    return _Filled(request, read_gradebook(request, request.like)).export()


class _Filled:
    """The instructor's gradebook with scores in it."""

    def __init__(self, request: Request, book: Gradebook) -> None:
        self.request = request
        self.book = book
        self.changes: list[Change] = []
        self.rows: list[list[str]] = []
        self.kept = 0

    def export(self) -> Export:
        """Return the file."""
        book, sheet = self.book, self.book.sheet
        matches = match_rows(sheet, book.who, book.students, self.request.grades)
        for row in (*book.students, *book.others):
            stranger = book.others.get(row) or matches.strangers.get(row, "")
            self._row(row, matches.grades.get(row), stranger)
        for grade, reason in matches.left:
            self.changes += [skipped(grade.student, item.header, "", reason) for item in book.items.values()]
        header = [*book.identity(0), *(safe_header(item.header) for item in book.items.values())]
        # An empty cell would make an assignment worth nothing.
        worth = {row: [sheet.cell(row, item.column) for item in book.items.values()] for row in book.points}
        points = [
            [*book.identity(row), *map(_points, cells)]
            for row, cells in worth.items()
            if all(number_in(cell) is not None for cell in cells)
        ]
        return Export(
            files=(_file(self.request, [header, *points, *self.rows]),),
            changes=tuple(self.changes),
            notes=(*matches.notes, *self._notes(), *_clicks(self.request, sent=bool(self.rows))),
            is_empty=not self.rows,
        )

    def _row(self, row: int, grade: Grade | None, stranger: str) -> None:
        """Tell what becomes of a student's cells, and write the row if anything is sent."""
        book = self.book
        student = book.who.person(book.sheet, row).shown if grade is None else grade.student
        reason = book.unreadable.get(row) or stranger
        cells = []
        for key, item in book.items.items():
            before = book.sheet.cell(row, item.column)
            if reason or grade is None:
                cell = _Cell(Action.SKIPPED, before, reason)
            else:
                cell = self._cell(grade, key, before)
            stays = cell.action in {Action.SKIPPED, Action.UNCHANGED}
            change = Change(
                student=student,
                column=item.header,
                action=cell.action,
                before=before,
                after=before if stays else cell.text,
                reason=cell.reason,
            )
            self.changes.append(change)
            cells.append(cell)
        if any(cell.action in _SENT for cell in cells):
            self.rows.append([*book.identity(row), *(cell.text for cell in cells)])
            self.kept += sum(cell.action is Action.SKIPPED and bool(cell.text) for cell in cells)

    def _cell(self, grade: Grade, key: str, before: str) -> _Cell:
        """Return what is to be in a cell of one of our students."""
        current = before.strip()
        score = score_of(self.request, grade, key)
        excused = current.upper() == EXCUSED
        if current == NOT_ASSIGNED:
            return _Cell(Action.SKIPPED, before, "Canvas has not assigned it to them")
        if grade.state is GradeState.EXCUSED:
            action = Action.UNCHANGED if excused else Action.APPLIED
            return _Cell(action, EXCUSED, score.reason)
        if excused:
            return _Cell(Action.SKIPPED, before, "excused in Canvas, which stays so")
        if score.points is not None:
            action = Action.UNCHANGED if same_points(current, score.points) else Action.APPLIED
            return _Cell(action, points_text(score.points, places=2), score.reason)
        asked = self.request.options.get("clear") == "yes" and grade.state is GradeState.MISSING
        if asked and current not in BLANK:
            return _Cell(Action.CLEARED, "", f"{score.reason}, and clearing was asked for")
        return _Cell(Action.SKIPPED, _kept(before), score.reason)

    def _notes(self) -> Iterator[str]:
        for key, item in self.book.items.items():
            yield from _renamed(item.header)
            points = max_points_of(self.request.grades, key)
            if points is not None and item.max_points is not None and item.max_points != points:
                yield (
                    f"{item.header!r} has {points_text(item.max_points)} points in Canvas and "
                    f"{points_text(points)} here: scores are sent as they are, and Canvas's points stay."
                )
        if self.kept:
            yield (
                f"Beside what is sent, {self.kept} scores of your file are written again: "
                "what was changed in Canvas since you exported it would be put back."
            )
        if not self.rows:
            yield NOTHING
        elif not any(change.action in {Action.APPLIED, Action.CLEARED} for change in self.changes):
            yield "Canvas has all of these scores already, and will say that nothing changes."


def _from_ids(request: Request) -> Export:
    """Make a file from what the course knows, for who has no gradebook export at hand."""
    titles = {
        key: checked_title("--column" if key in request.columns else "--title", title)
        for key, title in wanted(request).items()
    }
    title, times = Counter(titles.values()).most_common(1)[0]
    if times > 1:
        what = f"{title!r} is named for two notebooks"
        raise CourseError("--column", what, "Give each notebook a column of its own.")
    ids = Counter(_canvas_id(grade) for grade in request.grades)
    changes, rows = [], []
    for grade in request.grades:
        canvas_id = _canvas_id(grade)
        cells = [_cell_without(request, grade, key) for key in titles]
        if canvas_id and ids[canvas_id] == 1 and all(cell.text for cell in cells):
            name = _name(grade.person(Lms.CANVAS), canvas_id)
            rows.append([name, canvas_id, "", *(cell.text for cell in cells)])
        else:
            cells = [_Cell(Action.SKIPPED, "", _why_not(canvas_id, ids, cells))] * len(titles)
        changes += [
            Change(
                student=grade.student,
                column=title,
                action=cell.action,
                after=cell.text,
                reason=cell.reason,
            )
            for title, cell in zip(titles.values(), cells, strict=True)
        ]
    return Export(
        files=(_file(request, [*_head(request, titles), *rows]),),
        changes=tuple(changes),
        notes=(*_notes_without(request, titles, sent=bool(rows)), *_clicks(request, sent=bool(rows))),
        is_empty=not rows,
    )


def _canvas_id(grade: Grade) -> str:
    """Return the number by which Canvas knows a student; empty if it is not known or is none."""
    person = grade.person(Lms.CANVAS)
    number = person.ids.get(IdKind.USER, "").strip() if person is not None else ""
    return number if number.isascii() and number.isdigit() else ""


def _cell_without(request: Request, grade: Grade, key: str) -> _Cell:
    score = score_of(request, grade, key)
    if grade.state is GradeState.EXCUSED:
        return _Cell(Action.APPLIED, EXCUSED, score.reason)
    if score.points is None:
        return _Cell(Action.SKIPPED, "", score.reason)
    return _Cell(Action.APPLIED, points_text(score.points, places=2), score.reason)


def _why_not(canvas_id: str, ids: Mapping[str, int], cells: Sequence[_Cell]) -> str:
    if not canvas_id:
        return "their Canvas id is not known: collect with --roster, or export with --like"
    if ids[canvas_id] > 1:
        return f"several students have the Canvas id {canvas_id}"
    return next(cell.reason for cell in cells if not cell.text)


def _name(person: Person | None, canvas_id: str) -> str:
    """Return a name for people to read, which is nobody's: Canvas goes by names where it misses an id."""
    name = person.shown if person is not None else ""
    return harmless(f"{name} ({canvas_id})") if POINTS_POSSIBLE not in name else f"({canvas_id})"


def _head(request: Request, titles: Mapping[str, str]) -> list[list[str]]:
    """Return the header and, where Canvas may make an assignment of a title, the row of points."""
    header = ["Student", "ID", "Section", *titles.values()]
    if all(map(has_number, titles.values())):
        return [header]
    points = (max_points_of(request.grades, key) for key in titles)
    texts = ("" if one is None else points_text(one, places=2) for one in points)
    return [header, [f"    {POINTS_POSSIBLE}", "", "", *texts]]


def _notes_without(request: Request, titles: Mapping[str, str], *, sent: bool) -> Iterator[str]:
    if not sent:
        yield NOTHING
        return
    yield (
        "Without --like nobody knows what Canvas has: a score or an excuse that is there is overwritten. "
        "A student whom Canvas no longer has must be ignored in its dialog."
    )
    for key, title in titles.items():
        yield from _renamed(request.columns.get(key, title), title)
    if not all(map(has_number, titles.values())):
        points = " and ".join(_head(request, titles)[1][3:])
        yield (
            f"An assignment of this title gets {points} points from the file. If Canvas has no published "
            "one, it offers to make a new one: leave its dialog if that is not what you want."
        )


def _clicks(request: Request, *, sent: bool) -> Iterator[str]:
    """Yield what comes next, and what the import cannot do."""
    if request.comments:
        yield (
            "No comments are sent: Canvas's import has no place for them. "
            "`autograder push canvas --comments` sends them."
        )
    if sent:
        yield (
            "In Canvas: Grades, Import, this file; compare what it shows with the above before you save. It "
            "refuses a closed grading period, and an anonymous assignment until its grades are posted."
        )


def _renamed(header: str, safe: str = "") -> Iterator[str]:
    safe = safe or safe_header(header)
    if safe != header:
        yield (
            f"Canvas ignores a column that is called {header!r}, so the file calls it {safe!r}: "
            "Canvas finds it by its number, and its title stays."
        )


def _points(cell: str) -> str:
    """Return what an assignment is worth, as it stands if Canvas reads it so."""
    number = number_in(cell)
    return cell if number is None or re.fullmatch(r"[0-9.,]*", cell.strip()) else f"{number:f}"


def _kept(before: str) -> str:
    """Return a score of the file so that Canvas reads it in any language."""
    number = number_in(before)
    if number is not None:
        return f"{number:f}"
    return "" if before.strip() in BLANK else before


def _file(request: Request, rows: Sequence[Sequence[str]]) -> File:
    """Return the file: with commas, in which a semicolon never looks like what separates cells."""
    first = [cell for row in rows[:_READ_FOR_DELIMITER] for cell in row]
    quoted = any(char in cell for cell in first for char in ";\r\n")
    data = sheet_bytes(rows, _QUOTED if quoted else PLAIN)
    return File(name=f"{request.assignment}-canvas.csv", data=data)
