"""What a page shows of a result: plain records, with every word already chosen."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.results import Outcome

if TYPE_CHECKING:
    from autograder.findings import Evidence, Repair
    from autograder.illustration import Illustration
    from autograder.pages.lessons import Section

OUTCOMES = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "wrong result",
    Outcome.ERROR: "exception",
    Outcome.LIMIT: "stopped by a limit",
    Outcome.DIED: "process ended",
    Outcome.MISSING: "not defined",
    Outcome.NOT_JUDGED: "not judged",
    Outcome.MANUAL: "graded by hand",
    Outcome.NOT_GRADED: "could not be graded",
}
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """
    One grade cell.

    Parameters
    ----------
    notebook, grade_id, title, anchor : str
        Where it is, what it is called, and its place on the notebook's page.
    score : Decimal or None
        Its points; None while a person must grade it.
    max_score : Decimal
        What it is worth.
    state : str
        ``full``, ``part``, ``none`` or ``waiting``.
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
    manual: bool
    answered: bool
    missing: bool
    again: bool
    comment: str
    found: str
    outcome: str
    checks: tuple[CheckView, ...]
    mistakes: tuple[Mistake, ...]
    heading: str = ""
    read: tuple[Section, ...] = ()
    illustrations: tuple[Illustration, ...] = ()

    @property
    def reason(self) -> str:
        """Why it lost points, in a sentence; empty if it lost none, or for a person to say."""
        failed = [check for check in self.checks if not check.passed]
        if not failed or self.state not in {"part", "none"}:
            return ""
        first = self.mistakes[0].text if self.mistakes else self.found or failed[0].found
        return first.split(". ")[0].rstrip(".") + "." if first else failed[0].claim

    @property
    def passed(self) -> int:
        """How many checks passed."""
        return sum(check.passed for check in self.checks)


@dataclass(frozen=True, slots=True, kw_only=True)
class BookView:
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
    repairs : tuple of Repair
        What was put right before grading.
    evidence : tuple of Evidence
        What looks like tampering, for course staff only.
    """

    name: str
    title: str
    number: int
    missing: bool
    cells: tuple[CellView, ...]
    repairs: tuple[Repair, ...] = ()
    evidence: tuple[Evidence, ...] = ()

    @property
    def mended(self) -> tuple[str, ...]:
        """Names of its own cells that were not as they were handed out, and were put back."""
        known = {one.where for one in self.repairs}
        return tuple(cell.grade_id for cell in self.cells if cell.grade_id in known)

    @property
    def score(self) -> Decimal:
        """Points so far."""
        return sum((cell.score or Decimal(0) for cell in self.cells), Decimal(0))

    @property
    def max_score(self) -> Decimal:
        """Points of all its cells."""
        return sum((cell.max_score for cell in self.cells), Decimal(0))

    @property
    def waiting(self) -> Decimal:
        """Points that wait for a person."""
        return sum((cell.max_score for cell in self.cells if cell.score is None), Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentView:
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
    """

    student: str
    name: str
    books: tuple[BookView, ...]
    late: str
    penalty: Decimal
    sandbox: str = ""

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

    @property
    def max_score(self) -> Decimal:
        """Points of the assignment."""
        return sum((book.max_score for book in self.books), Decimal(0))

    @property
    def waiting(self) -> Decimal:
        """Points that wait for a person."""
        return sum((book.waiting for book in self.books), Decimal(0))


def outcome_in_words(outcome: Outcome) -> str:
    """Return how a check ended, in words that a student knows."""
    return OUTCOMES.get(outcome, outcome.value)


def words(name: str) -> str:
    """Return a name of the course as words: "split_reshape_only" is "split reshape only"."""
    return name.replace("_", " ")


def share(part: Decimal | int | None, whole: Decimal | int) -> float:
    """Return a part in percent, inside [0, 100]; of nothing everything is there."""
    if not whole:
        return FULL
    return min(max(round(float(part or 0) / float(whole) * FULL, 2), 0.0), FULL)
