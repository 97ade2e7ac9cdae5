"""
Brightspace: the file of "Import Grades".

Whether a blank cell changes anything is not documented, so students without a score
have no row. Names, addresses and weighted grades must not be sent.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.lms.exports.columns import Item, decimal_mark, number_in, wanted
from autograder.lms.exports.filling import Layout, fill, told
from autograder.lms.exports.listing import list_rows, unknown_ids
from autograder.lms.exports.matching import Who
from autograder.lms.exports.model import Export, File
from autograder.lms.model import IdKind, Lms, points_text
from autograder.lms.sheets import Dialect, sheet_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autograder.lms.exports.columns import Score
    from autograder.lms.exports.model import Request
    from autograder.lms.sheets import Sheet

OPTIONS = {"decimal": "the decimal mark, . or ,; by default the one of the file of --like"}

KEYS = {IdKind.SIS: "OrgDefinedId", IdKind.LOGIN: "Username"}
GRADE = "Points Grade"
END, END_MARK = "End-of-Line Indicator", "#"
ID_MARK = "#"
"""What stands before ids, so that no spreadsheet eats their zeros."""

TAKES_POINTS = frozenset({"", "Numeric", "Pass/Fail", "PassFail"})

_HEADER = re.compile(rf"(?P<title>.+) {GRADE}(?:\s+<(?P<type>\S+)(?P<rest>.*)>)?", re.DOTALL)
_POINTS = re.compile(r"\bMaxPoints:(?P<points>[0-9.,]+)")


def export(request: Request) -> Export:
    """
    Make the file for "Import Grades".

    Parameters
    ----------
    request : Request
        With the instructor's own export as `like`; without it, ids are taken from what the
        course knows, and the item must have the assignment's title.

    Returns
    -------
    Export
        One CSV file, and what Brightspace will do with it.

    Raises
    ------
    CourseError
        If the instructor's file cannot be used, or a column cannot be told.
    """
    made = _made(request) if request.like is None else _filled(request, request.like)
    return replace(made, notes=(*made.notes, *_clicks(request)))


def parse_header(header: str, column: int = 0) -> Item | None:
    """
    Return the item of a header, if it takes points.

    Parameters
    ----------
    header : str
        For example ``HW 1 Points Grade <Numeric MaxPoints:10 Weight:16.6>``.
    column : int
        Where it stands, from 0.

    Returns
    -------
    Item or None
        None if it is an id, text, a letter, a sum or calculated.
    """
    found = _HEADER.fullmatch(header.strip())
    if found is None or (found["type"] or "") not in TAKES_POINTS:
        return None
    points = _POINTS.search(found["rest"] or "")
    return Item(
        column=column,
        header=header,
        title=found["title"],
        max_points=number_in(points["points"]) if points else None,
    )


def _filled(request: Request, sheet: Sheet) -> Export:
    """Return the rows of the instructor's file that a score is sent to."""
    ids = {kind: at for kind, name in KEYS.items() for at in [sheet.column(name)] if at is not None}
    if not ids:
        what = f"there is neither a column {KEYS[IdKind.SIS]} nor {KEYS[IdKind.LOGIN]}"
        remedy = "Export the grades from Brightspace with both as key field, and name the file with --like."
        raise sheet.error(0, None, what, remedy)
    end = sheet.column(END)
    for row in range(1, len(sheet.rows)):
        if end is not None and sheet.cell(row, end).strip() != END_MARK:
            what = f"the row does not end with {END_MARK!r}, so its cells are not below their headers"
            raise sheet.error(row, end, what, "Export the grades from Brightspace again.")
    filled = fill(request, sheet, _layout(sheet, ids))
    header = [sheet.header[at] for at in ids.values()] + [item.header for item in filled.items.values()]
    rows = [
        [*(sheet.cell(row, at) for at in ids.values()), *cells.values(), END_MARK]
        for row, cells in filled.cells.items()
    ]
    dialect = Dialect(
        delimiter=sheet.delimiter, newline="\n" if sheet.newline == "\n" else "\r\n", bom=sheet.bom
    )
    data = sheet_bytes([[*header, END], *rows], dialect)
    return Export(
        files=(File(name=_name(request), data=data),),
        changes=filled.changes,
        notes=(*told(filled, Lms.BRIGHTSPACE, request.grades), filled.mark.note(Lms.BRIGHTSPACE)),
        is_empty=not rows,
    )


def _layout(sheet: Sheet, ids: dict[IdKind, int]) -> Layout:
    items = (parse_header(header, column) for column, header in enumerate(sheet.header))
    who = Who(
        lms=Lms.BRIGHTSPACE,
        ids=ids,
        email=sheet.column("Email"),
        first_name=sheet.column("First Name"),
        last_name=sheet.column("Last Name"),
        clean=lambda cell: cell.strip().removeprefix(ID_MARK),
    )
    nobody = {
        row: "the row has no id"
        for row in range(1, len(sheet.rows))
        if not any(sheet.cell(row, at).strip().removeprefix(ID_MARK) for at in ids.values())
    }
    return Layout(
        who=who,
        items=[item for item in items if item],
        unusable=nobody,
        keys=tuple(ids.values()),
        altered=_capped,
    )


def _capped(score: Score, item: Item) -> Score:
    """Tell what Brightspace does to a score above the item's maximum."""
    if score.points is None or item.max_points is None or score.points <= item.max_points:
        return score
    most = points_text(item.max_points)
    return replace(score, reason=f"above {most} points: Brightspace stores {most} unless the item can exceed")


def _made(request: Request) -> Export:
    """Return rows of what the course knows."""
    headers = {key: f"{name} {GRADE}" for key, name in wanted(request).items()}
    known = [person.ids for grade in request.grades for person in [grade.person(Lms.BRIGHTSPACE)] if person]
    by_login = all(ids.get(IdKind.LOGIN) for ids in known) or not all(ids.get(IdKind.SIS) for ids in known)
    kind = IdKind.LOGIN if by_login else IdKind.SIS
    rows, changes, guessed = list_rows(request, Lms.BRIGHTSPACE, (kind,), headers)
    mark = decimal_mark(None, asked=request.options.get("decimal", ""))
    table = [
        [
            f"{ID_MARK}{row.ids[kind].removeprefix(ID_MARK)}",
            *(score.text(mark.sign) for score in row.scores),
            END_MARK,
        ]
        for row in rows
    ]
    data = sheet_bytes([[KEYS[kind], *headers.values(), END], *table])
    return Export(
        files=(File(name=_name(request), data=data),),
        changes=tuple(changes),
        notes=(
            *([] if rows else ["No score is sent: the file has no row, so there is nothing to upload."]),
            *unknown_ids(guessed, Lms.BRIGHTSPACE, KEYS[kind]),
            mark.note(Lms.BRIGHTSPACE),
            _offers(wanted(request).values()),
        ),
        is_empty=not rows,
    )


def _offers(titles: Iterable[str]) -> str:
    names = ", ".join(repr(title) for title in titles)
    return (
        f"Brightspace offers to make a new item if it has none called {names}: then go back, and name the "
        "item as it is called there with --column. It cuts a score above the item's maximum to that, unless "
        "the item can exceed."
    )


def _name(request: Request) -> str:
    return f"{request.assignment}-brightspace.csv"


def _clicks(request: Request) -> Iterator[str]:
    yield (
        "In Brightspace: Grades, Enter Grades, Import. Its wizard lists errors before it stores anything; "
        "do not let it create an item."
    )
    yield "Students whom the file does not name keep what they have."
    if request.comments:
        yield "No comments are sent: the import has no place for them."
