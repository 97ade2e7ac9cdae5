"""Scores in the rows and columns of the instructor's own file, and what becomes of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from autograder.lms.exports.columns import (
    Item,
    Mark,
    Score,
    choose_items,
    decimal_mark,
    number_in,
    same_points,
    score_of,
)
from autograder.lms.exports.matching import match_rows
from autograder.lms.exports.model import Action, Change
from autograder.lms.model import points_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from decimal import Decimal

    from autograder.lms.exports.matching import Matches, Who
    from autograder.lms.exports.model import Request
    from autograder.lms.model import Grade, Lms
    from autograder.lms.sheets import Sheet


def unaltered(score: Score, _: Item) -> Score:
    """Return a score as it is: the LMS takes any."""
    return score


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """
    How an LMS's file is laid out.

    Parameters
    ----------
    who : Who
        Columns that say who a row is about.
    items : sequence of Item
        Columns that scores may go into.
    unusable : mapping of int to str
        Rows that the LMS cannot take, each with the reason.
    keys : tuple of int
        Columns by which the LMS finds whose a row is; rows that share a cell of one are not used.
    altered : callable
        What an LMS does to a score in a column, such as a maximum that counts.
    mark : str
        The decimal mark, if the LMS knows one only; empty to tell it from the file.
    """

    who: Who
    items: Sequence[Item]
    unusable: Mapping[int, str]
    keys: tuple[int, ...] = ()
    altered: Callable[[Score, Item], Score] = unaltered
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """
    What goes into the instructor's file.

    Parameters
    ----------
    items : mapping of str to Item
        The column of the whole score or of each notebook.
    mark : Mark
        The decimal mark.
    cells : mapping of int to dict of str to str
        By row and by the item's key what its cell is to be; only rows to which a score
        is sent. A cell that nothing is sent for keeps what it has.
    new : frozenset of (int, str)
        Rows and keys of those cells that get another score than the LMS has.
    matches : Matches
        Whose the rows are.
    changes : tuple of Change
        One for each student and item.
    """

    items: Mapping[str, Item]
    mark: Mark
    cells: Mapping[int, Mapping[str, str]]
    new: frozenset[tuple[int, str]]
    matches: Matches
    changes: tuple[Change, ...]


def fill(request: Request, sheet: Sheet, layout: Layout) -> Filled:
    """
    Put scores into the rows of the students whose they are.

    Parameters
    ----------
    request : Request
        What is asked for.
    sheet : Sheet
        The instructor's file.
    layout : Layout
        What its columns mean.

    Returns
    -------
    Filled
        Nobody is left out of its changes.

    Raises
    ------
    CourseError
        If a column or the decimal mark cannot be told.
    """
    items = choose_items(request, sheet, layout.items)
    columns = [item.column for item in items.values()]
    mark = decimal_mark(sheet, columns, asked=layout.mark or request.options.get("decimal", ""))
    unusable = _twice(sheet, layout) | dict(layout.unusable)
    rows = [row for row in range(1, len(sheet.rows)) if row not in unusable]
    matches = match_rows(sheet, layout.who, rows, request.grades)
    changes: list[Change] = []
    cells: dict[int, dict[str, str]] = {}
    new: set[tuple[int, str]] = set()
    for row in range(1, len(sheet.rows)):
        grade = matches.grades.get(row)
        student = grade.student if grade is not None else layout.who.person(sheet, row).shown
        done = {}
        for key, item in items.items():
            before = sheet.cell(row, item.column)
            if grade is None:
                reason = unusable.get(row) or matches.strangers[row]
                changes.append(skipped(student, item.header, before, reason))
                continue
            score = layout.altered(score_of(request, grade, key), item)
            text, change = _cell(student, item.header, before, score, mark.sign)
            changes.append(change)
            done[key] = (text, change.action)
        if any(action is not Action.SKIPPED for _, action in done.values()):
            cells[row] = {key: text for key, (text, _) in done.items()}
        new |= {(row, key) for key, (_, action) in done.items() if action is Action.APPLIED}
    left = [
        skipped(grade.student, item.header, "", reason)
        for grade, reason in matches.left
        for item in items.values()
    ]
    return Filled(
        items=items,
        mark=mark,
        cells=cells,
        new=frozenset(new),
        matches=matches,
        changes=(*changes, *left),
    )


def _twice(sheet: Sheet, layout: Layout) -> dict[int, str]:
    """Return rows that the LMS would take for the same person, with the reason to leave them out."""
    found: dict[int, str] = {}
    for column in layout.keys:
        rows: dict[str, list[int]] = {}
        for row in range(1, len(sheet.rows)):
            rows.setdefault(layout.who.clean(sheet.cell(row, column)), []).append(row)
        for cell, places in rows.items():
            if cell and len(places) > 1:
                lines = ", ".join(str(sheet.lines[row]) for row in places)
                reason = f"several rows have the {sheet.header[column].strip()} {cell!r} (lines {lines})"
                found |= dict.fromkeys(places, reason)
    return found


def skipped(student: str, column: str, before: str, reason: str) -> Change:
    """
    Return what becomes of a score that nothing is sent for: what the LMS has stays.

    Parameters
    ----------
    student, column, before, reason : str
        As of `Change`.

    Returns
    -------
    Change
        With what is there as what will be.
    """
    return Change(
        student=student, column=column, action=Action.SKIPPED, before=before, after=before, reason=reason
    )


def sent(student: str, column: str, score: Score, mark: str = ".") -> Change:
    """
    Return what becomes of a score where nobody knows what the LMS has.

    Parameters
    ----------
    student, column : str
        As of `Change`.
    score : Score
        What is sent; nothing without a number.
    mark : str
        The decimal mark.

    Returns
    -------
    Change
        Applied or skipped.
    """
    if score.points is None:
        return skipped(student, column, "", score.reason)
    return Change(
        student=student,
        column=column,
        action=Action.APPLIED,
        after=score.text(mark),
        reason=score.reason,
    )


def _cell(student: str, column: str, before: str, score: Score, mark: str) -> tuple[str, Change]:
    """Return what a cell is to be, and what that does."""
    number = number_in(before)
    kept = "" if number is None else f"{number:f}".replace(".", mark)
    if score.points is None:
        return kept, skipped(student, column, before, score.reason)
    change = Change(
        student=student,
        column=column,
        action=Action.APPLIED,
        before=before,
        after=score.text(mark),
        reason=score.reason,
    )
    if same_points(before, score.points):
        return kept, replace(change, action=Action.UNCHANGED, after=before)
    return score.text(mark), change


def told(filled: Filled, lms: Lms, grades: Sequence[Grade]) -> Iterator[str]:
    """
    Say what the instructor should know of any upload.

    Parameters
    ----------
    filled : Filled
        What goes into the file.
    lms : Lms
        Where it goes to.
    grades : sequence of Grade
        One for each student.

    Yields
    ------
    str
        A note.
    """
    if not filled.cells:
        yield "No score is sent: the file has no row, so there is nothing to upload."
    yield from filled.matches.notes
    for key, item in filled.items.items():
        points = max_points_of(grades, key)
        if points is not None and item.max_points is not None and points != item.max_points:
            yield (
                f"{item.title!r} has {points_text(item.max_points)} points in {lms.shown} and "
                f"{points_text(points)} here; scores are sent as they are."
            )


def max_points_of(grades: Sequence[Grade], key: str) -> Decimal | None:
    """
    Return what the whole assignment, or a notebook, could earn.

    Parameters
    ----------
    grades : sequence of Grade
        One for each student.
    key : str
        A notebook, or `WHOLE`.

    Returns
    -------
    Decimal or None
        None if there is nobody to tell it from.
    """
    if not grades:
        return None
    parts = {part.name: part.max_points for part in grades[0].parts}
    return parts.get(key) if key else grades[0].max_points
