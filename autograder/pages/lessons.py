"""
Where to read again: the sections of a released notebook, and which one a student needs.

Nothing here knows a lesson. A task's section is the one above the cells that
students fill in for it; the section that explains a mistake is the one that
shares most telling words with what the feedback says.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.course.released import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.course.released import ReleasedCell, ReleasedNotebook

HEADING = re.compile(r"^(#{1,6})[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
ROOT = re.compile(r"\\sqrt\{?(\w+)\}?")
MARKS = re.compile(r"[*`$]")
WORD = re.compile(r"[a-z]{3,}|√")
TELLING = 0.27
"""Likeness from which on a section is worth naming; see `Lesson.near`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """
    A part of a lesson under a heading of its own.

    Parameters
    ----------
    title : str
        The heading as plain text.
    anchor : str
        Its place on a page.
    text : str
        What stands there.
    """

    title: str
    anchor: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """
    The sections of one notebook.

    Parameters
    ----------
    number : int
        Its place in the assignment, from 1.
    title : str
        Its first heading, or its name.
    sections : tuple of Section
        In order.
    tasks : mapping of str to Section
        By grade_id of a graded cell, the section that sets the task.
    names : mapping of str to str
        By grade_id what to call a cell in a sentence.
    """

    number: int
    title: str
    sections: tuple[Section, ...]
    tasks: Mapping[str, Section]
    names: Mapping[str, str]
    _known: dict[tuple[str, str], Section | None] = field(default_factory=dict, repr=False)

    def near(self, grade_id: str, words: str) -> Section | None:
        """
        Return the section before a task that explains what some words speak of.

        Parameters
        ----------
        grade_id : str
            The graded cell.
        words : str
            What the feedback says about it.

        Returns
        -------
        Section or None
            The one with the most telling words in common, if there are enough:
            a word is the more telling the fewer sections use it.
        """
        key = (grade_id, words)
        if key not in self._known:
            self._known[key] = self._nearest(*key)
        return self._known[key]

    def _nearest(self, grade_id: str, words: str) -> Section | None:
        if grade_id not in self.tasks:
            return None
        # The sections that set a task repeat the words of all its checks, and are told anyway.
        before = self.sections[: self.sections.index(self.tasks[grade_id])]
        rooms = [one for one in before if one not in self.tasks.values()]
        counts = [Counter(_stems(f"{one.title} {one.title} {one.text}")) for one in rooms]
        spread = Counter(stem for count in counts for stem in count)
        rare = {stem: math.log((1 + len(rooms)) / (1 + used)) for stem, used in spread.items()}
        wanted = {stem: rare.get(stem, 0.0) for stem in set(_stems(words))}
        scored = [
            (
                sum(wanted.get(stem, 0) * rare[stem] * (1 + math.log(n)) for stem, n in count.items()),
                count,
                one,
            )
            for count, one in zip(counts, rooms, strict=True)
        ]
        whole = math.sqrt(sum(weight**2 for weight in wanted.values()))
        likeness = [
            (score / (whole * _length(count, rare)) if score else 0.0, one) for score, count, one in scored
        ]
        best, section = max(likeness, key=lambda pair: pair[0], default=(0.0, None))
        return section if best >= TELLING else None


def lessons(released: Iterable[ReleasedNotebook]) -> dict[str, Lesson]:
    """
    Return the lessons of an assignment by notebook.

    Parameters
    ----------
    released : iterable of ReleasedNotebook
        The assignment's notebooks in order.

    Returns
    -------
    dict of str to Lesson
        By name.
    """
    return {book.name: _lesson(book, number) for number, book in enumerate(released, start=1)}


def headings(source: str) -> list[str]:
    """Return the headings of a Markdown source as plain text."""
    return [_plain(match[2]) for match in HEADING.finditer(FENCED.sub("", source))]


def anchor_base(number: int, cell: int) -> str:
    """Return what the anchors of a given cell's headings start with."""
    return f"read-{number}-{cell}"


def _lesson(released: ReleasedNotebook, number: int) -> Lesson:
    sections: list[Section] = []
    tasks: dict[str, Section] = {}
    task: Section | None = None
    for index, cell in enumerate(released.layout):
        # A task stands in the very cell that is graded.
        if cell.cell_type == "markdown" and (cell.kind is Kind.TASK or not cell.kind.graded):
            sections += _sections(cell.released, anchor_base(number, index))
        elif cell.kind in {Kind.SOLUTION, Kind.MANUAL} and sections:
            # Given text between a solution and its tests does not set the task.
            task = task or sections[-1]
        if cell.kind.graded:
            if section := task or (sections[-1] if sections else None):
                tasks[cell.grade_id] = section
            task = None
    title = sections[0].title if sections else released.name
    names = {cell.grade_id: _name(cell) for cell in released.cells}
    return Lesson(number=number, title=title, sections=tuple(sections), tasks=tasks, names=names)


def _name(cell: ReleasedCell) -> str:
    match cell.kind:
        case Kind.TEST if cell.grade_id.startswith("test_"):
            return f"the test cell of `{cell.grade_id.removeprefix('test_')}`"
        case Kind.TEST:
            return f"the test cell `{cell.grade_id}`"
        case Kind.MANUAL:
            return f"your answer `{cell.grade_id}`"
        case Kind.SOLUTION:
            return f"your cell `{cell.grade_id}`"
    return f"the given cell `{cell.grade_id}`"


def _sections(source: str, base: str) -> list[Section]:
    text = FENCED.sub("", source)
    found = list(HEADING.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return [
        Section(title=_plain(match[2]), anchor=f"{base}-{number}", text=text[match.end() : end])
        for number, (match, end) in enumerate(zip(found, ends, strict=True))
    ]


def _plain(heading: str) -> str:
    return MARKS.sub("", ROOT.sub(r"√\1", heading)).strip()


def _stems(text: str) -> list[str]:
    words = WORD.findall(text.lower().replace("\\sqrt", "√").replace("sqrt", "√"))
    return [re.sub(r"(?:ing|ed|es|s|e)$", "", word) or word for word in words]


def _length(count: Counter[str], rare: Mapping[str, float]) -> float:
    return math.sqrt(sum((rare[stem] * (1 + math.log(n))) ** 2 for stem, n in count.items())) or 1.0
