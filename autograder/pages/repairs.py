"""
What was put right before grading, in words: sentences for the student, counts for course staff.

A student reads which cells and what was done, in our own words. What a repair
says in detail is for course staff, and names that a student made up are not
repeated, but for that of a file.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.findings import RepairKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from autograder.findings import Repair
    from autograder.pages.views import StudentView

LISTED = 4
"""Places that are named one by one."""

PLACE = re.compile(r"cell [1-9][0-9]{0,5}")
NOTEBOOK, SEVERAL = "notebook", "several cells"
"""Where a repair was made that is told of many cells at once, and what to call them."""

WHOLE = (RepairKind.FORMAT, RepairKind.ENCODING, RepairKind.OUTPUTS)
"""Repairs of a notebook as a whole."""


@dataclass(frozen=True, slots=True)
class Told:
    """
    The words for one kind of repair.

    Parameters
    ----------
    sentence : str
        What a student reads. ``{places}`` are the cells or files; ``{was}``,
        ``{it}``, ``{its}`` and ``{each}`` agree with their number.
    hint : str
        How to avoid it; may be empty.
    counted : str
        What course staff read behind a number of notebooks.
    """

    sentence: str
    hint: str
    counted: str


_AS_RELEASED = "{places} {was} not as handed out; what was handed out was put back."
_LEAVE = "Write and try things in cells of your own: given cells are put back before grading."

TOLD = {
    RepairKind.COPIED: Told(
        "{places} {was} there more than once, so one copy{each} was graded.",
        "A copied cell keeps its name for the grader. For a new one, use the + button.",
        "with a cell more than once",
    ),
    RepairKind.JOINED: Told(
        "{places} {was} split over several cells, whose parts were put together.",
        "Write each answer into its one cell.",
        "with a split answer",
    ),
    RepairKind.MERGED: Told(
        "{places} {was} merged with other cells, which were taken apart again.",
        "Leave the cells that were handed out apart.",
        "with merged cells",
    ),
    RepairKind.MOVED: Told(
        "{places} stood in another place and {was} moved back.",
        "Leave the order of the cells as it is.",
        "with moved cells",
    ),
    RepairKind.MISSING: Told(
        "{places} {was} missing; what was handed out was put back.",
        "To start afresh, take the notebook as it was handed out; do not delete its cells.",
        "with given cells missing",
    ),
    RepairKind.FOUND: Told(
        "{places} {was} missing, and what you wrote elsewhere was taken for {it}.",
        "Write into the cell that was handed out for it.",
        "with an answer found elsewhere",
    ),
    RepairKind.LOST: Told(
        "{places} {was} missing, and nothing in the notebook stood for {it}.",
        "Look whether you handed in the notebook that you worked on.",
        "with an answer missing",
    ),
    RepairKind.RETYPED: Told(
        "{places} had become another type of cell (code, text or raw) and {was} changed back.",
        "In Jupyter the keys Y, M and R change the type of the chosen cell.",
        "with cells of another type",
    ),
    RepairKind.RENAMED: Told(
        "{places} had lost {its} name for the grader and {was} found by what stands there.",
        "That happens when cells are copied from one notebook to another.",
        "with renamed cells",
    ),
    RepairKind.STRIPPED: Told(
        "{places} had lost what marks {it} for the grader, and {was} found all the same.",
        "Some editors, Google Colab among them, drop these marks. JupyterLab keeps them.",
        "without nbgrader's metadata",
    ),
    RepairKind.FLAGS: Told(
        "{places} had other settings for the grader than those handed out; they were put back.",
        "Leave these settings (nbgrader's metadata) alone.",
        "with changed points or flags",
    ),
    RepairKind.TAGGED: Told(
        "{places} had tags, which can change how a cell is run; they were taken off.",
        "",
        "with tags",
    ),
    RepairKind.SOURCE: Told(_AS_RELEASED, _LEAVE, "with edited given cells"),
    RepairKind.KEPT: Told(
        "What you typed into {places} was put into a cell of its own.",
        "Write into cells of your own: given cells are put back before grading.",
        "with more in given cells",
    ),
    RepairKind.OTHER_RELEASE: Told(
        "{places} {was} of another version of this assignment; the present one took {its} place.",
        "Take the present version of the notebook before you hand in again.",
        "of another release",
    ),
    RepairKind.HIDDEN_TESTS: Told(_AS_RELEASED, _LEAVE, "with hidden tests in them"),
    RepairKind.STRANGE: Told(
        "Cells that are marked as part of another notebook were taken for cells of your own.",
        "That happens when cells are copied from one notebook to another.",
        "with cells of other notebooks",
    ),
    RepairKind.RESULTS: Told(
        "There were results of a grader in it already; they were taken out.",
        "Hand in the notebook that you worked on, not a graded one.",
        "with a grader's results in them",
    ),
    RepairKind.DAMAGED: Told(
        "{places} {was} damaged beyond reading and {was} left out.",
        "Open the notebook in JupyterLab and look whether all your work is in it.",
        "with damaged cells",
    ),
    RepairKind.FORMAT: Told(
        "{places} {was} not in the present format of notebooks and {was} converted.",
        "JupyterLab saves them in the right one.",
        "not in the present format",
    ),
    RepairKind.ENCODING: Told(
        "{places} {was} not saved as plain UTF-8 text and {was} converted.",
        "Save it in JupyterLab, not in a text editor.",
        "not in plain UTF-8",
    ),
    RepairKind.OUTPUTS: Told(
        "{places} came with more output than can be read; it was dropped, and the cells were run anew.",
        "Print less, for example only the first rows of an array.",
        "with too much output",
    ),
    RepairKind.NAME: Told(
        "Handed in under another name: {places}.",
        "Keep the file names of the notebooks.",
        "under another name",
    ),
}
COSTLY = (RepairKind.LOST, RepairKind.DAMAGED)
"""Repairs that tell of work that was not there to be graded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mending:
    """
    What was put right, in words for the student.

    Parameters
    ----------
    text, hint : str
        A sentence, and how to avoid it.
    lost : bool
        True if it tells of work that was not there to be graded.
    """

    text: str
    hint: str
    lost: bool = False


def mendings(
    repairs: Mapping[str, Iterable[Repair]], names: Mapping[str, Mapping[str, str]]
) -> tuple[Mending, ...]:
    """
    Return what was put right, a sentence for each kind.

    Parameters
    ----------
    repairs : mapping of str to iterable of Repair
        By notebook.
    names : mapping of str to mapping of str to str
        By notebook what to call each of its cells, by grade_id.

    Returns
    -------
    tuple of Mending
        In the order of `RepairKind`; a kind that did not occur is absent.
    """
    places: dict[RepairKind, list[str]] = {}
    for book, found in repairs.items():
        for repair in found:
            places.setdefault(repair.kind, []).append(_place(repair, book, names))
    if not places:
        return ()
    return tuple(
        Mending(text=_sentence(TOLD[kind].sentence, places[kind]), hint=TOLD[kind].hint, lost=kind in COSTLY)
        for kind in RepairKind
        if kind in places
    )


def _place(repair: Repair, book: str, names: Mapping[str, Mapping[str, str]]) -> str:
    """Return what to call the place of a repair; "" if it has no name but one that a student gave it."""
    file = f"`{book}.ipynb`"
    if repair.kind is RepairKind.NAME:
        return f"`{repair.where.replace('`', chr(39))}` was taken for {file}"
    if repair.kind in WHOLE:
        return file
    if repair.where == NOTEBOOK:
        return f"{SEVERAL} of {file}"
    name = names[book].get(repair.where, "")
    if not name and PLACE.fullmatch(repair.where):
        name = repair.where
    # The same name may stand in several notebooks.
    shared = sum(repair.where in cells for cells in names.values()) > 1 or name == repair.where
    return f"{name} in {file}" if name and shared and len(names) > 1 else name


def _sentence(template: str, places: Sequence[str]) -> str:
    named = list(dict.fromkeys(filter(None, places)))
    others = len(places) - len([place for place in places if place])
    if len(named) > LISTED:
        named, others = named[: LISTED - 1], others + len(named) - LISTED + 1
    if others:
        count = str(others) if others > 1 or named else "a"
        named.append(f"{count} {'more ' if named else ''}cell{'s' if others > 1 else ''}")
    many = len(named) > 1 or others > 1 or any(name.startswith(SEVERAL) for name in named)
    text = template.format(
        places=listed(named),
        was="were" if many else "was",
        it="them" if many else "it",
        its="their" if many else "its",
        each=" of each" if many else "",
    )
    return text[:1].upper() + text[1:]


def listed(items: Sequence[str]) -> str:
    """Return items as in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


# ---------------------------------------------------------- for course staff


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """
    What was put right in a student's notebooks.

    Parameters
    ----------
    student : str
        Whose.
    lines : tuple of str
        A line for each notebook and thing that was done, its cells joined.
    """

    student: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairCount:
    """
    How many notebooks of a class were repaired.

    Parameters
    ----------
    notebooks, repaired : int
        Notebooks that were handed in and read, and those of them that were repaired.
    kinds : tuple of str
        For each kind the number of notebooks, in words, the most frequent first.
    """

    notebooks: int
    repaired: int
    kinds: tuple[str, ...]


def repaired(students: Iterable[StudentView]) -> tuple[Repaired, ...]:
    """Return what was put right in a class, by student; who has nothing repaired is absent."""
    found = (
        Repaired(
            student=student.student,
            lines=tuple(line for book in student.books for line in _lines(book.name, book.repairs)),
        )
        for student in students
    )
    return tuple(one for one in found if one.lines)


def repair_count(students: Iterable[StudentView]) -> RepairCount:
    """Return how many notebooks of a class were repaired, and in which ways."""
    books = [book for student in students for book in student.books if not (book.missing or book.not_graded)]
    kinds = Counter(kind for book in books for kind in {repair.kind for repair in book.repairs})
    order = list(RepairKind)
    ranked = sorted(kinds.items(), key=lambda item: (-item[1], order.index(item[0])))
    return RepairCount(
        notebooks=len(books),
        repaired=sum(bool(book.repairs) for book in books),
        kinds=tuple(f"{count} {TOLD[kind].counted}" for kind, count in ranked),
    )


def _lines(book: str, repairs: Iterable[Repair]) -> list[str]:
    """Say once what was done to several cells: a notebook without metadata has the same line for each."""
    cells: dict[tuple[RepairKind, str], list[str]] = {}
    for repair in repairs:
        where = cells.setdefault((repair.kind, repair.detail), [])
        where += [repair.where] if repair.where not in {NOTEBOOK, *where} else []
    return [": ".join(filter(None, (book, ", ".join(where), detail))) for (_, detail), where in cells.items()]
