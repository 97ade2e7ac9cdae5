"""
Open edX: the files of staff-graded points and of the gradebook's bulk overrides.

One wrong row stops a whole file, a mark of byte order too; ``nan`` is taken. Only
scores that are new are sent: a blank or a missing row is no action.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.errors import CourseError, nearest
from autograder.lms.exports.columns import Item, notebooks_of, number_in
from autograder.lms.exports.filling import Layout, fill, max_points_of
from autograder.lms.exports.matching import Who
from autograder.lms.exports.model import WHOLE, Export, File
from autograder.lms.model import IdKind, Lms, points_text
from autograder.lms.sheets import Dialect, sheet_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from decimal import Decimal

    from autograder.lms.exports.columns import Score
    from autograder.lms.exports.filling import Filled
    from autograder.lms.exports.model import Request
    from autograder.lms.sheets import Sheet

OPTIONS = {
    "max_points": "what the staff-graded problem is worth in Open edX, if that is more than the assignment",
    "notebook": "send the score of this notebook, and not the whole",
}

MAX_BYTES = 4 * 2**20
"""Bytes of a file that Open edX takes."""

BLOCK, PREVIOUS, NEW = "block_id", "Previous Points", "New Points"
COURSE, OVERRIDE = "course_id", "new_override-"
PREFIXES = ("name-", "grade-", "original_grade-", "previous_override-", OVERRIDE)

_DIALECT = Dialect(newline="\r\n")
_DOWNLOAD = (
    "Download the scores of the problem, as staff below it, or the file of the gradebook's Bulk Management, "
    "and name it with --like."
)


def export(request: Request) -> Export:
    """
    Make the file for the points of a staff-graded problem, or for overrides of the gradebook.

    Parameters
    ----------
    request : Request
        With Open edX's own file as `like`; which one it is tells what is made.

    Returns
    -------
    Export
        One CSV file, or several where one would be too large.

    Raises
    ------
    CourseError
        If there is no such file or it cannot be used, or a column cannot be told.
    """
    sheet = request.like
    if sheet is None:
        what = "Open edX knows users, problems and courses by ids that only its own file has"
        raise CourseError("export openedx", what, _DOWNLOAD)
    if sheet.column("user_id") is None:
        raise sheet.error(0, None, "there is no column user_id", _DOWNLOAD)
    if len(sheet.rows) == 1:
        raise sheet.error(0, None, "nobody is in the file", _DOWNLOAD)
    for row, cells in enumerate(sheet.rows):
        if len(cells) > len(sheet.header):
            what = f"the row has {len(cells)} cells below {len(sheet.header)} headers"
            raise sheet.error(row, None, what, "Download the file again.")
    request = _one_notebook(request)
    if sheet.column(NEW) is not None:
        return _points(request, sheet)
    if any(header.startswith(OVERRIDE) for header in sheet.header):
        return _overrides(request, sheet)
    what = f"there is neither a column {NEW!r} nor one that begins with {OVERRIDE!r}"
    raise sheet.error(0, None, what, _DOWNLOAD)


def _one_notebook(request: Request) -> Request:
    """Return a request for the whole score whose grades are those of one notebook, if one is asked for."""
    name = request.options.get("notebook", "")
    if not name:
        return request
    names = notebooks_of(request)
    if name not in names:
        what = f"{request.assignment!r} has no notebook {name!r}"
        raise CourseError("--set notebook", what, nearest(name, names))
    if request.by_exercise:
        what = "one notebook is asked for, and a column for each"
        raise CourseError("--set notebook", what, "Leave one of both out.")
    grades = []
    for grade in request.grades:
        part = next(part for part in grade.parts if part.name == name)
        grades.append(replace(grade, points=part.points, max_points=part.max_points))
    return replace(request, grades=tuple(grades))


def _points(request: Request, sheet: Sheet) -> Export:
    """Return the file of a staff-graded problem: its rows with new points."""
    if request.by_exercise:
        what = "the file is of one problem, so it has no column for each notebook"
        raise sheet.error(
            0, None, what, "Export each notebook to a problem of its own, with --set notebook=."
        )
    block = _one_value(sheet, BLOCK)
    title = sheet.cell(1, sheet.column("title"))
    previous, new = sheet.column(PREVIOUS), sheet.column(NEW)
    if previous is None or new is None:
        raise sheet.error(0, None, f"there is no column {PREVIOUS!r}", _DOWNLOAD)
    limit = _limit(request)
    named = _named(request)
    item = Item(column=previous, header=title or NEW, title=title or NEW, key=block, max_points=limit)
    _refuse_other_problem(request, sheet, item)
    # The file is of one problem: unless the instructor names it, no other can be meant.
    request = replace(request, columns={WHOLE: item.header})
    filled = fill(request, sheet, _layout(sheet, [item], "student_uid"))
    width = len(sheet.header)
    rows = []
    for row, cells in filled.cells.items():
        if (row, WHOLE) in filled.new:
            whole = [*sheet.rows[row], *[""] * width][:width]
            whole[new] = cells[WHOLE]
            rows.append(whole)
    shown = points_text(limit) if limit is not None else "all"
    note = (
        f"In the course, as staff, below the problem {item.title!r}: import it. It must be worth {shown} "
        "points in Studio, as Open edX refuses a file with a row above that."
    )
    if not named and title and title not in {request.assignment, request.options.get("notebook")}:
        note += f" See that it is the one of {request.assignment!r}; --title {title!r} says that it is."
    return _export(request, filled, [sheet.header, *rows], note)


def _refuse_other_problem(request: Request, sheet: Sheet, item: Item) -> None:
    """Refuse a file of another problem than the one that the instructor named."""
    named = _named(request)
    other = sorted(set(request.columns) - {WHOLE})
    if other:
        what = f"a column is named for the notebook {other[0]!r}, and the file is of one problem"
        raise CourseError("--column", what, f"Send its score with --set notebook={other[0]}.")
    if named and named not in item.names:
        what = f"the file is of the problem {item.title!r}, and not of {named!r}"
        raise sheet.error(1, sheet.column("title"), what, "Name the file of that problem with --like.")


def _named(request: Request) -> str:
    """Return what the instructor says that the problem is called; empty if nothing."""
    title = request.title if request.title != request.assignment else ""
    return request.columns.get(WHOLE) or title


def _overrides(request: Request, sheet: Sheet) -> Export:
    """Return the file of overrides: its rows and the columns of the subsections that are sent."""
    _one_value(sheet, COURSE)
    filled = fill(request, sheet, _layout(sheet, _subsections(sheet), "student_key"))
    people = [at for at, header in enumerate(sheet.header) if not header.startswith(PREFIXES)]
    columns, new = list(people), {}
    for key, item in filled.items.items():
        for prefix in PREFIXES:
            at = sheet.column(prefix + item.key)
            if at is not None:
                columns.append(at)
        new[sheet.column(OVERRIDE + item.key)] = key
    rows = [
        [
            (filled.cells[row][new[at]] if (row, new[at]) in filled.new else "")
            if at in new
            else sheet.cell(row, at)
            for at in columns
        ]
        for row in filled.cells
        if any((row, key) in filled.new for key in filled.items)
    ]
    note = (
        "In the gradebook: Bulk Management, import it. The scores become overrides: from then on they "
        "count, whatever the problems of the subsection say. They are points, not percents."
    )
    return _export(request, filled, [[sheet.header[at] for at in columns], *rows], note)


def _subsections(sheet: Sheet) -> list[Item]:
    """Return the subsections; what one has already is its effective grade."""
    items = []
    for header in sheet.header:
        if not header.startswith(OVERRIDE):
            continue
        key = header.removeprefix(OVERRIDE)
        grade, name = sheet.column(f"grade-{key}"), sheet.column(f"name-{key}")
        if grade is None:
            raise sheet.error(0, None, f"there is no column 'grade-{key}'", _DOWNLOAD)
        title = sheet.cell(1, name).strip()
        items.append(Item(column=grade, header=header, title=title or key, key=key))
    return items


def _layout(sheet: Sheet, items: Sequence[Item], student_key: str) -> Layout:
    names = {IdKind.USER: "user_id", IdKind.LOGIN: "username", IdKind.SIS: student_key}
    ids = {kind: at for kind, name in names.items() for at in [sheet.column(name)] if at is not None}
    who = Who(lms=Lms.OPENEDX, ids=ids, name=sheet.column("full_name"), email=sheet.column("email"))
    number = ids[IdKind.USER]
    nobody = {
        row: "the row has no user_id"
        for row in range(1, len(sheet.rows))
        if not re.fullmatch("[0-9]+", sheet.cell(row, number).strip())
    }
    return Layout(who=who, items=items, unusable=nobody, keys=(number,), altered=_capped, mark=".")


def _capped(score: Score, item: Item) -> Score:
    """Return a score that is not above the maximum: one above it would stop the whole file."""
    if score.points is None or item.max_points is None or score.points <= item.max_points:
        return score
    most = points_text(item.max_points)
    why = f"{points_text(score.points)} is above {most} points, which Open edX refuses: {most} is sent"
    return replace(score, points=item.max_points, reason=why)


def _limit(request: Request) -> Decimal | None:
    """Return the most points that may be sent."""
    ours = max_points_of(request.grades, WHOLE)
    asked = request.options.get("max_points", "")
    if not asked:
        return ours
    theirs = number_in(asked)
    if theirs is None or theirs <= 0:
        raise CourseError("--set max_points", f"{asked!r} is no number of points", "Write it as 10 or 10.5.")
    if ours is not None and theirs < ours:
        what = f"the problem is worth {points_text(theirs)} points in Open edX and {points_text(ours)} here"
        raise CourseError("--set max_points", what, f"Give it {points_text(ours)} points in Studio.")
    return theirs


def _one_value(sheet: Sheet, name: str) -> str:
    """Return what all rows have in a column: another value in one row stops the whole file."""
    column = sheet.column(name)
    if column is None:
        raise sheet.error(0, None, f"there is no column {name!r}", _DOWNLOAD)
    first = sheet.cell(1, column)
    for row in range(1, len(sheet.rows)):
        if sheet.cell(row, column) != first or not first:
            what = f"{sheet.cell(row, column)!r} is not the {name} of the rows before, {first!r}"
            what = what if first else f"the row has no {name}"
            raise sheet.error(row, column, what, "Keep the rows of one, or download the file again.")
    return first


def _export(request: Request, filled: Filled, table: Sequence[Sequence[str]], note: str) -> Export:
    parts = list(_parts(table))
    stem = f"{request.assignment}-openedx"
    names = [f"{stem}.csv"] if len(parts) == 1 else [f"{stem}-{at}.csv" for at in range(1, len(parts) + 1)]
    notes = [note, *filled.matches.notes]
    if len(table) == 1:
        notes.insert(0, "Nothing is new, so there is nothing to upload.")
    if len(parts) > 1:
        notes.append(f"Open edX takes {MAX_BYTES // 2**20} MiB at once: upload all {len(parts)} files.")
    if request.comments:
        notes.append("No comments are sent: the file has no place for them.")
    return Export(
        files=tuple(File(name=name, data=data) for name, data in zip(names, parts, strict=True)),
        changes=filled.changes,
        notes=tuple(notes),
        is_empty=len(table) == 1,
    )


def _parts(table: Sequence[Sequence[str]]) -> Iterator[bytes]:
    """Yield files that are small enough, each with the header."""
    header, *rows = [sheet_bytes([row], _DIALECT) for row in table]
    size, part = len(header), [header]
    for row in rows:
        if size + len(row) > MAX_BYTES and len(part) > 1:
            yield b"".join(part)
            size, part = len(header), [header]
        part.append(row)
        size += len(row)
    yield b"".join(part)
