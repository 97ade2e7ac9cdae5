"""What a page shows of a result: plain records, with every word already chosen."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autograder.findings import Evidence, Repair
    from autograder.illustration import Illustration
    from autograder.pages.lessons import Section
    from autograder.pages.repairs import Mending

FULL = 100
UNWALLED = "tier C"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """
    A known misconception that explains failed checks of one cell.

    Parameters
    ----------
    name : str
        Its name in the course, as words.
    text : str
        The sentence that names the mistake, and a hint.
    count : int
        The failed checks that it explains.
    """

    name: str
    text: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckView:
    """
    One hidden check.

    Parameters
    ----------
    claim, found, hint : str
        What was checked, what was found, and what to look at next. The hint
        is empty where the cell's `Mistake` tells it.
    points, earned : Decimal
        What it is worth and what was earned.
    passed : bool
        Whether it passed.
    outcome : str
        How it ended, in words.
    mistake : str
        Name of the misconception that explains it; may be empty.
    again : bool
        True if a check above ended in the same way; it tells what was found.
    judged : bool
        False if what the check builds on is wrong, so that nothing can be said.
    """

    claim: str
    found: str
    hint: str
    points: Decimal
    earned: Decimal
    passed: bool
    outcome: str
    mistake: str
    again: bool = False
    judged: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """
    One grade cell.

    Parameters
    ----------
    notebook, grade_id, title, anchor : str
        Where it is, what it is called, and its place on the notebook's page.
    score : Decimal or None
        Its points; None while a person must grade it, or if it could not be graded.
    max_score : Decimal
        What it is worth.
    state : str
        ``full``, ``part``, ``none``, ``waiting`` or ``blocked`` (it could not be graded).
    ended : str
        How it ended, in words: as the worst of its checks.
    manual, answered, missing, again : bool
        Whether a person grades it, whether it was answered, whether its
        notebook was not handed in, and whether a person will look again.
    comment : str
        What a person wrote about it.
    found, outcome : str
        What was found and how it ended, if every failed check says the same; then the checks do not.
    checks : tuple of CheckView
        Its hidden checks.
    mistakes : tuple of Mistake
        The misconceptions that explain failed ones, most checks first.
    not_graded : str
        Why it could not be graded, and what to do; empty if it was.
    cause : str
        What broke before the checks could look, such as a syntax error; may be empty.
    heading : str
        The heading of the lesson under which it stands; may be empty.
    read : tuple of Section
        What to read again, if it lost points.
    illustrations : tuple of Illustration
        What the student's functions give for public inputs.
    """

    notebook: str
    grade_id: str
    title: str
    anchor: str
    score: Decimal | None
    max_score: Decimal
    state: str
    ended: str
    manual: bool
    answered: bool
    missing: bool
    again: bool
    comment: str
    found: str
    outcome: str
    checks: tuple[CheckView, ...]
    mistakes: tuple[Mistake, ...]
    not_graded: str = ""
    cause: str = ""
    heading: str = ""
    read: tuple[Section, ...] = ()
    illustrations: tuple[Illustration, ...] = ()

    @property
    def reason(self) -> str:
        """Why it lost points, in a sentence; empty if it lost none, or for a person to say."""
        failed = [check for check in self.checks if not check.passed]
        if not failed or self.state not in {"part", "none"}:
            return ""
        if self.cause:
            return self.cause
        first = self.mistakes[0].text if self.mistakes else self.found or failed[0].found
        return first.split(". ")[0].rstrip(".") + "." if first else failed[0].claim

    @property
    def passed(self) -> int:
        """How many checks passed."""
        return sum(check.passed for check in self.checks)


class _Sums:
    """Points of a notebook, or of a whole submission, apart from those earned."""

    __slots__ = ()
    if TYPE_CHECKING:

        @property
        def cells(self) -> tuple[CellView, ...]:
            """The grade cells."""

    @property
    def max_score(self) -> Decimal:
        """Points of all cells."""
        return _points(self.cells)

    @property
    def graded(self) -> Decimal:
        """Points of the cells that have a score."""
        return _points(cell for cell in self.cells if cell.score is not None)

    @property
    def waiting(self) -> Decimal:
        """Points that wait for a person."""
        return _points(cell for cell in self.cells if cell.state == "waiting")

    @property
    def blocked(self) -> Decimal:
        """Points of the cells that could not be graded: neither earned nor lost."""
        return _points(cell for cell in self.cells if cell.state == "blocked")


@dataclass(frozen=True, slots=True, kw_only=True)
class BookView(_Sums):
    """
    One notebook of a submission.

    Parameters
    ----------
    name, title : str
        Its file's name without suffix, and its first heading.
    number : int
        Its place in the assignment, from 1.
    missing : bool
        True if it was not handed in.
    cells : tuple of CellView
        Its grade cells.
    not_graded : str
        Why it could not be graded as a whole, and what to do; empty if it was.
    repairs : tuple of Repair
        What was put right before grading.
    evidence : tuple of Evidence
        What looks like tampering, for course staff only.
    mendings : tuple of Mending
        The repairs in words for the student.
    """

    name: str
    title: str
    number: int
    missing: bool
    cells: tuple[CellView, ...]
    not_graded: str = ""
    repairs: tuple[Repair, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    mendings: tuple[Mending, ...] = ()

    @property
    def score(self) -> Decimal:
        """Points so far."""
        return sum((cell.score or Decimal(0) for cell in self.cells), Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentView(_Sums):
    """
    One submission.

    Parameters
    ----------
    student, name : str
        The student's id, and the name in the gradebook, which may be empty.
    books : tuple of BookView
        The assignment's notebooks, missing ones included.
    late : str
        How late it was, in words; empty if it was in time.
    penalty : Decimal
        Points taken off for that.
    sandbox : str
        What stood around the student's code.
    mendings : tuple of Mending
        What was put right in all its notebooks, in words for the student.
    """

    student: str
    name: str
    books: tuple[BookView, ...]
    late: str
    penalty: Decimal
    sandbox: str = ""
    mendings: tuple[Mending, ...] = ()

    @property
    def cells(self) -> tuple[CellView, ...]:
        """The grade cells of all notebooks."""
        return tuple(cell for book in self.books for cell in book.cells)

    @property
    def first(self) -> tuple[CellView, ...]:
        """The cells to look at first: those that lost points, as they come in the lesson."""
        return tuple(cell for cell in self.cells if cell.reason)

    @property
    def unwalled(self) -> bool:
        """True if nothing stood around the student's code while it ran."""
        return UNWALLED in self.sandbox

    @property
    def score(self) -> Decimal:
        """Points so far, after the penalty, at least 0."""
        return max(sum((book.score for book in self.books), Decimal(0)) - self.penalty, Decimal(0))


def words(name: str) -> str:
    """Return a name of the course as words: "split_reshape_only" is "split reshape only"."""
    return name.replace("_", " ")


def share(part: Decimal | int | None, whole: Decimal | int) -> float:
    """Return a part in percent, inside [0, 100]; of nothing everything is there."""
    if not whole:
        return FULL
    return min(max(round(float(part or 0) / float(whole) * FULL, 2), 0.0), FULL)


def _points(cells: Iterable[CellView]) -> Decimal:
    return sum((cell.max_score for cell in cells), Decimal(0))
