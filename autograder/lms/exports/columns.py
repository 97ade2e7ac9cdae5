"""Which column of the instructor's own file is meant, what its cells say, and what goes into them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.errors import CourseError, nearest
from autograder.lms.exports.model import WHOLE
from autograder.lms.model import GradeState, points_text, rounded
from autograder.scores import NOT_YET

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from autograder.lms.exports.model import Request
    from autograder.lms.model import Grade, Lms
    from autograder.lms.sheets import Sheet

SHOWN = 12
"""Columns that an error lists."""

_SHOWN_DIGITS = 30

LARGEST = Decimal(10) ** 12
"""Any number from here on is no score and no maximum: a spreadsheet's, or somebody's, mistake."""

_REASONS = {
    GradeState.GRADED: "there is no number",
    GradeState.MISSING: "nothing was handed in",
    GradeState.EXCUSED: "excused",
    GradeState.UNGRADED: NOT_YET,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """
    A column of the instructor's file that scores may go into.

    Parameters
    ----------
    column : int
        Which one, from 0.
    header : str
        Its header, byte for byte.
    title : str
        What the LMS calls the item.
    key : str
        The LMS's id of the item; may be empty.
    max_points : Decimal or None
        What the LMS says that it is worth.
    """

    column: int
    header: str
    title: str
    key: str = ""
    max_points: Decimal | None = None

    @property
    def names(self) -> frozenset[str]:
        """All that an instructor may call it."""
        return frozenset(name for name in (self.header, self.header.strip(), self.title, self.key) if name)


def wanted(request: Request) -> dict[str, str]:
    """
    Return what is to be exported and what the LMS calls it.

    Parameters
    ----------
    request : Request
        What is asked for.

    Returns
    -------
    dict of str to str
        For the whole score, or for each notebook, the name that the instructor
        gave its column, else the assignment's title or the notebook's name.

    Raises
    ------
    CourseError
        If the instructor named a column for something else.
    """
    keys = notebooks_of(request)
    if request.by_exercise and not keys:
        what = f"{request.assignment!r} has no notebook, or nobody is in the course who could tell which"
        raise CourseError("--by-exercise", what, "Collect submissions or enter a roster first.")
    titles = dict.fromkeys(keys, "") if request.by_exercise else {WHOLE: request.title}
    unknown = sorted(set(request.columns) - set(titles))
    if unknown and request.by_exercise:
        what = f"a column is named for {unknown[0]!r}, which is no notebook of {request.assignment!r}"
        raise CourseError("--column", what, nearest(unknown[0], titles))
    if unknown:
        what = f"a column is named for the notebook {unknown[0]!r}, but the whole score is exported"
        raise CourseError("--column", what, "Export by exercise, or name one column only.")
    return {key: request.columns.get(key) or title or key for key, title in titles.items()}


def notebooks_of(request: Request) -> list[str]:
    """
    Return the names of the notebooks.

    Parameters
    ----------
    request : Request
        What is asked for.

    Returns
    -------
    list of str
        Those of the grades; in a course without students those of the assignment.
    """
    return [part.name for part in request.grades[0].parts] if request.grades else list(request.notebooks)


def choose_items(request: Request, sheet: Sheet, items: Sequence[Item]) -> dict[str, Item]:
    """
    Return the column of the whole score, or that of each notebook.

    Parameters
    ----------
    request : Request
        What is asked for: columns that it names count first, then titles.
    sheet : Sheet
        The instructor's file.
    items : sequence of Item
        Columns that may take a score.

    Returns
    -------
    dict of str to Item
        By notebook, or by `WHOLE`. No two are the same column.

    Raises
    ------
    CourseError
        If a column is not there, or two have the name, with those there are; if a cell
        of one has a number that is no score.
    """
    chosen: dict[str, Item] = {}
    for key, name in wanted(request).items():
        fit = [item for item in items if name in item.names]
        if len(fit) > 1:
            both = " and ".join(str(item.column + 1) for item in fit[:2])
            what = f"columns {both} are both called {name!r}"
            raise sheet.error(0, fit[1].column, what, "Name one by its whole header.")
        if not fit:
            raise sheet.error(0, None, f"there is no column for {name!r}", _candidates(items))
        taken = next((other for other, item in chosen.items() if item is fit[0]), None)
        if taken is not None:
            what = f"the column is chosen for {taken!r} and for {key!r}"
            raise sheet.error(0, fit[0].column, what, "Give each notebook a column of its own.")
        chosen[key] = fit[0]
    refuse_huge(sheet, [item.column for item in chosen.values()])
    return chosen


def refuse_huge(sheet: Sheet, columns: Iterable[int]) -> None:
    """
    Refuse a file with numbers that no course has.

    Parameters
    ----------
    sheet : Sheet
        The instructor's file.
    columns : iterable of int
        Columns of scores or of maxima, from 0.

    Raises
    ------
    CourseError
        At the first cell with a number of `LARGEST` or more.
    """
    for column in columns:
        for row in range(1, len(sheet.rows)):
            text = plain_number(sheet.cell(row, column))
            if text and number_in(text) is None:
                shown = text if len(text) <= _SHOWN_DIGITS else f"{text[:_SHOWN_DIGITS]}…"
                what = f"{shown} is no number of points that a course can have"
                raise sheet.error(row, column, what, "Correct it in the LMS, and export again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """
    What is to be sent of a grade.

    Parameters
    ----------
    points : Decimal or None
        Rounded; None if nothing is to be sent.
    max_points : Decimal
        What could be earned.
    reason : str
        Why there is no number, or why it is a zero; a clause without a full stop, else empty.
    """

    points: Decimal | None
    max_points: Decimal
    reason: str = ""

    def text(self, mark: str = ".") -> str:
        """Return the points as an LMS reads them, with its decimal mark; empty without a number."""
        return "" if self.points is None else points_text(self.points).replace(".", mark)


def score_of(request: Request, grade: Grade, key: str = WHOLE) -> Score:
    """
    Return what is to be sent of a grade.

    Parameters
    ----------
    request : Request
        What is asked for: whether missing work is a zero.
    grade : Grade
        The student's.
    key : str
        A notebook; `WHOLE` for the whole score.

    Returns
    -------
    Score
        A number only if the work is graded, or missing and a zero was asked for.
    """
    part = next((part for part in grade.parts if part.name == key), None)
    if part is None and key != WHOLE:
        return Score(points=None, max_points=Decimal(0), reason=f"there is no notebook {key}")
    points, max_points = (grade.points, grade.max_points) if part is None else (part.points, part.max_points)
    if grade.state is GradeState.GRADED and points is not None:
        return Score(points=rounded(points), max_points=max_points)
    if grade.state is GradeState.MISSING and request.missing_as_zero:
        why = "nothing was handed in, and a zero was asked for"
        return Score(points=Decimal(0), max_points=max_points, reason=why)
    return Score(points=None, max_points=max_points, reason=grade.reason or _REASONS[grade.state])


def number_in(cell: str) -> Decimal | None:
    """
    Return the number that an LMS has written into a cell, whatever its decimal mark.

    Parameters
    ----------
    cell : str
        "9.5", "9,50", "1.234,50", "1 234,50" with any kind of space, or anything else.

    Returns
    -------
    Decimal or None
        The last point or comma is the decimal mark; None if it is no plain number, or of `LARGEST` or more.
    """
    text = plain_number(cell)
    if not text:
        return None
    whole, mark, decimals = re.fullmatch(r"(.*?)(?:([.,])([0-9]*))?", text).groups()  # type: ignore[union-attr]
    digits = re.sub("[.,]", "", whole) or "0"
    number = Decimal(f"{digits}.{decimals}" if mark and decimals else digits)
    return number if abs(number) < LARGEST else None


def plain_number(cell: str) -> str:
    """
    Return a number as it is written, however large.

    Parameters
    ----------
    cell : str
        As of `number_in`.

    Returns
    -------
    str
        Digits, points, commas and a sign; empty if it is anything else.
    """
    # French and Swiss programs group thousands so.
    text = re.sub(r"(?<=[0-9])[\s'\u2019](?=[0-9]{3}(?![0-9]))", "", cell.strip())
    return text if re.fullmatch(r"-?[0-9.,]*[0-9][0-9.,]*", text) else ""


def same_points(cell: str, points: Decimal) -> bool:
    """Return whether an LMS has these points already: equal after rounding."""
    number = number_in(cell)
    return number is not None and rounded(number) == rounded(points)


@dataclass(frozen=True, slots=True)
class Mark:
    """
    A decimal mark.

    Parameters
    ----------
    sign : str
        "." or ",".
    source : str
        Who or what says so, to follow a comma.
    """

    sign: str
    source: str

    def note(self, lms: Lms) -> str:
        """
        Return what the instructor must know of it.

        Parameters
        ----------
        lms : Lms
            Who reads it.

        Returns
        -------
        str
            A sentence.
        """
        shown, other = ("comma", ".") if self.sign == "," else ("point", ",")
        return (
            f"Scores are written with a decimal {shown}, {self.source}: your language in {lms.shown} must "
            f"read them so, else say --set decimal={other} here."
        )


def decimal_mark(sheet: Sheet | None, columns: Iterable[int] = (), *, asked: str = "") -> Mark:
    """
    Return the decimal mark that an LMS writes, and so reads.

    Parameters
    ----------
    sheet : Sheet or None
        Its own file.
    columns : iterable of int
        Columns of scores in it.
    asked : str
        What the instructor said: "." or ","; empty if nothing.

    Returns
    -------
    Mark
        As asked; else a comma if scores in the file have one and none has a
        point, or, without such scores, if its cells are separated by semicolons.

    Raises
    ------
    CourseError
        If something else was asked for, or scores have both marks.
    """
    if asked:
        if asked not in {".", ","}:
            raise CourseError("--set decimal", f"{asked!r} is no decimal mark", "Write '.' or ','.")
        return Mark(asked, "as you said")
    if sheet is None:
        return Mark(".", "as nobody said otherwise")
    marked: dict[str, list[tuple[int, int]]] = {",": [], ".": []}
    for column in columns:
        for row in range(1, len(sheet.rows)):
            mark = _mark_in(sheet.cell(row, column))
            if mark:
                marked[mark].append((row, column))
    if marked[","] and marked["."]:
        row, column = max(marked[","][0], marked["."][0])
        what = "scores are written with a decimal comma and with a decimal point"
        raise sheet.error(row, column, what, "Say which one the LMS reads, with --set decimal.")
    if marked[","] or marked["."]:
        return Mark("," if marked[","] else ".", "as in your file")
    if sheet.delimiter == ";":
        return Mark(",", "as the cells of your file are separated by semicolons")
    return Mark(".", "which is assumed, as no score in your file has decimals")


def _mark_in(cell: str) -> str:
    """Return the decimal mark of a score; empty if it has none, or only separates thousands."""
    marks = re.findall("[.,]", plain_number(cell))
    return marks[-1] if marks and marks.count(marks[-1]) == 1 else ""


def _candidates(items: Sequence[Item]) -> str:
    """Return a remedy that lists the columns there are."""
    if not items:
        return "No column of it takes a score: make the item in the LMS, and export again."
    shown = ", ".join(repr(item.header) for item in items[:SHOWN])
    more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
    return f"Name one with --column: {shown}{more}."
