"""
Moodle: the CSV of the gradebook's import.

Moodle takes all of it or nothing: one student whom it does not know, one word where a
number is expected, one score above the limit, and it refuses the file. Whoever could
be the cause is left out and told.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports.columns import (
    choose_items,
    decimal_mark,
    number_in,
    same_points,
    score_of,
    wanted,
)
from autograder.lms.exports.filling import skipped
from autograder.lms.exports.matching import match_people
from autograder.lms.exports.model import Action, Change, Export, File
from autograder.lms.exports.moodle_cells import html_comment, moodle_bytes, safe_cell
from autograder.lms.exports.moodle_gradebook import (
    BLANK,
    IDENTITIES,
    chosen_identity,
    identities,
    read_book,
    usable,
)
from autograder.lms.model import GradeState, Lms, points_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.lms.exports.columns import Item, Mark, Score
    from autograder.lms.exports.model import Request
    from autograder.lms.exports.moodle_gradebook import Book
    from autograder.lms.model import Grade
    from autograder.lms.sheets import Sheet

OPTIONS = {
    "identity": f"what Moodle finds students by: {', '.join(IDENTITIES)}; by default what finds most",
    "decimal": "the decimal mark, . or ,; by default the one of the file of --like",
    "limit": "the highest grade that the site takes, if its unlimited grades are on; by default 100",
}
"""What may be asked for beyond what every format knows."""

NOTHING = "Nothing is sent, so there is nothing to import."
LIMIT = Decimal(100)
"""Above it Moodle refuses the file, unless its site allows unlimited grades."""


def export(request: Request) -> Export:
    """
    Make the file for the gradebook's import.

    Parameters
    ----------
    request : Request
        With an export of grades or participants as `like`, only students are sent whom
        Moodle knows. Without it, by what the course knows of them.

    Returns
    -------
    Export
        One CSV file, or two where some students have a comment and some have none.

    Raises
    ------
    CourseError
        If the file cannot be used, a column cannot be told, or nothing says who a student is.
    """
    if request.like is None:
        return _from_ids(request)
    return _from_book(request, request.like)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """
    A student's row: who they are, what Moodle has, and why nothing can be sent.

    Cells of `who` come first in the row, those of `end` last.
    """

    student: str
    who: list[str]
    end: list[str] = field(default_factory=list)
    before: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


class _Import:
    """The rows of the file, and what becomes of each score."""

    def __init__(self, request: Request, titles: Mapping[str, str], mark: Mark) -> None:
        self.request, self.titles, self.mark = request, titles, mark
        limit = number_in(request.options.get("limit", str(LIMIT)))
        if limit is None or limit <= 0:
            raise CourseError("--set limit", f"{request.options['limit']!r} is no grade", "Write a number.")
        self.limit = limit
        self.changes: list[Change] = []
        self.rows: dict[bool, list[list[str]]] = {True: [], False: []}
        """With a comment, and without one: an empty cell for it might erase one."""

    def add(self, place: _Place, grade: Grade | None) -> None:
        """Add a student, or tell why not."""
        scores = {key: score_of(self.request, grade, key) for key in self.titles} if grade is not None else {}
        reason = place.reason or next(filter(None, map(self._why_not, scores.values())), "")
        if grade is None or reason:
            if grade is not None and grade.state is GradeState.EXCUSED and not place.reason:
                reason = "excused, for which the import has no word: exclude them in Moodle's gradebook"
            for key, title in self.titles.items():
                self.changes.append(skipped(place.student, title, place.before.get(key, ""), reason))
            return
        changes = [self._change(place, key, score) for key, score in scores.items()]
        self.changes += changes
        if any(change.action is Action.APPLIED for change in changes):
            comment = html_comment(grade.comment) if self.request.comments else ""
            beside = [comment] if comment else []
            texts = [score.text(self.mark.sign) for score in scores.values()]
            self.rows[bool(comment)].append([*place.who, *texts, *beside, *place.end])

    def _why_not(self, score: Score) -> str:
        """Return why a score would be refused, and everybody's with it."""
        if score.points is None:
            return score.reason
        highest = min(self.limit, score.max_points)
        if 0 <= score.points <= highest:
            return ""
        shown = f"{points_text(score.points)} is not between 0 and {points_text(highest)}"
        return f"{shown}: Moodle would refuse the file or cut it; enter it by hand"

    def _change(self, place: _Place, key: str, score: Score) -> Change:
        before = place.before.get(key, "")
        same = score.points is not None and same_points(before, score.points)
        return Change(
            student=place.student,
            column=self.titles[key],
            action=Action.UNCHANGED if same else Action.APPLIED,
            before=before,
            after=before if same else score.text(self.mark.sign),
            reason=score.reason,
        )

    def export(self, who: list[str], end: list[str], notes: Iterator[str]) -> Export:
        """Return the files; headers of who a row is about, and of what ends it, are given."""
        files = []
        for commented, rows in self.rows.items():
            if not rows and (commented or self.rows[True]):
                continue
            beside = [f"Feedback: {next(iter(self.titles.values()))}"] if commented else []
            split = all(self.rows.values()) and not commented
            name = f"{self.request.assignment}-moodle-grades{'-without-comments' if split else ''}.csv"
            header = [*who, *self.titles.values(), *beside, *end]
            files.append(File(name=name, data=moodle_bytes([header, *rows])))
        is_empty = not any(self.rows.values())
        told = (NOTHING,) if is_empty else (*notes, *self._notes())
        return Export(files=tuple(files), changes=tuple(self.changes), notes=told, is_empty=is_empty)

    def _notes(self) -> Iterator[str]:
        titles = ", ".join(repr(title) for title in self.titles.values())
        yield self.mark.note(Lms.MOODLE)
        yield f"Map {titles} to the grade items, and all other columns to nothing."
        if self.rows[True]:
            first = next(iter(self.titles.values()))
            yield f"Map 'Feedback: {first}' to the feedback for its item."
        if all(self.rows.values()):
            yield "There are two files, so that no empty comment takes one away: import both."
        yield (
            "Moodle takes all of a file or nothing: a grade that is locked, an item whose grades are words "
            "of a scale, a student who has left the course or is not in your group makes it refuse the file."
        )


def _from_book(request: Request, sheet: Sheet) -> Export:
    book = read_book(sheet, request.now)
    items = _items(request, book)
    titles = {key: safe_cell(items[key].header if key in items else name) for key, name in _wanted(request)}
    columns = [item.column for item in items.values()]
    mark = decimal_mark(sheet, columns, asked=request.options.get("decimal", ""))
    matches = match_people(book.people, request.grades)
    there = {kind: usable(kind, book.values(kind)) for kind in book.found_by}
    known = {kind: [row for row in rows if row in matches.grades] for kind, rows in there.items()}
    kind = chosen_identity(request.options.get("identity", ""), known)
    end = [] if book.downloaded is None else [book.downloaded]
    made = _Import(request, titles, mark)
    for row, person in book.people.items():
        grade = matches.grades.get(row)
        place = _Place(
            student=grade.student if grade is not None else person.shown,
            who=[safe_cell(sheet.cell(row, at)) for at in book.identity],
            end=[sheet.cell(row, at) for at in end],
            before={key: _before(sheet.cell(row, item.column)) for key, item in items.items()},
            reason=matches.strangers.get(row) or ("" if row in there[kind] else _no_identity(kind)),
        )
        made.add(place, grade)
    for grade, reason in matches.left:
        made.add(
            _Place(student=grade.student, who=[], reason=f"{reason}, and Moodle would refuse the file"), grade
        )
    who = [safe_cell(sheet.header[at]) for at in book.identity]
    found_by = sheet.header[book.found_by[kind]]
    notes = chain(
        _found_by_notes(kind, found_by), matches.notes, _time_notes(book), _new_notes(titles, items)
    )
    return made.export(who, [safe_cell(sheet.header[at]) for at in end], notes)


def _from_ids(request: Request) -> Export:
    asked = request.options.get("identity", "")
    known = [identities(grade, folders=asked == "username") for grade in request.grades]
    values = {kind: {at: one[kind] for at, one in enumerate(known) if one[kind]} for kind in IDENTITIES}
    there = {kind: usable(kind, rows) for kind, rows in values.items()}
    kind = chosen_identity(asked, there)
    mark = decimal_mark(None, asked=request.options.get("decimal", ""))
    made = _Import(request, {key: safe_cell(title) for key, title in _wanted(request)}, mark)
    for at, grade in enumerate(request.grades):
        reason = "" if at in there[kind] else _no_identity(kind)
        made.add(_Place(student=grade.student, who=[values[kind].get(at, "")], reason=reason), grade)
    return made.export([IDENTITIES[kind]], [], _unknown_notes(kind, IDENTITIES[kind]))


def _wanted(request: Request) -> list[tuple[str, str]]:
    """Return what is exported under which header; no two are the same."""
    names = wanted(request)
    title, times = Counter(names.values()).most_common(1)[0]
    if times > 1:
        raise CourseError("--column", f"{title!r} is named twice", "Give each notebook a column of its own.")
    return list(names.items())


def _items(request: Request, book: Book) -> dict[str, Item]:
    """Return the columns of what Moodle has; none where it has no column of such a name yet."""
    named = {name for item in book.items for name in item.names}
    book.refuse_others(wanted(request).values())
    if request.columns or any(name in named for _, name in _wanted(request)):
        return choose_items(request, book.sheet, book.items)
    return {}


def _before(cell: str) -> str:
    return "" if cell.strip() in BLANK else cell


def _no_identity(kind: str) -> str:
    return f"no {IDENTITIES[kind]} that is theirs alone is known, and Moodle would refuse the file"


def _found_by_notes(kind: str, header: str) -> Iterator[str]:
    yield f"In Moodle's import choose UTF-8 and commas, and map {header!r} to {IDENTITIES[kind]!r}."


def _time_notes(book: Book) -> Iterator[str]:
    if book.downloaded is not None:
        header = book.sheet.header[book.downloaded].strip()
        yield (
            f"The file keeps {header!r}: if anybody gets a grade in Moodle after you downloaded it, Moodle "
            "refuses the file, so that nothing is overwritten. Then export from Moodle again."
        )


def _new_notes(titles: Mapping[str, str], items: Mapping[str, Item]) -> Iterator[str]:
    new = ", ".join(repr(title) for key, title in titles.items() if key not in items)
    if new:
        yield (
            f"Your file has no column for {new}, so nobody knows what Moodle has there: a grade is "
            "overwritten if you map it to an item that has some."
        )


def _unknown_notes(kind: str, header: str) -> Iterator[str]:
    yield from _found_by_notes(kind, header)
    yield "Without --like nobody knows whom Moodle knows and what it has: its grades are overwritten."
