"""
What a page shows of a result: plain records, with every word already chosen.

Scores are those of the gradebook where it has them, because a person may have
changed them there; otherwise those of the grader.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.results import CellResult, CheckResult, Outcome, Status, SubmissionResult

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.results import NotebookResult
    from autograder.scores import CellScore, StudentScore

OUTCOMES = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "wrong result",
    Outcome.ERROR: "exception",
    Outcome.LIMIT: "stopped by a limit",
    Outcome.MISSING: "not defined",
}
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
FULL = 100


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
    """

    claim: str
    found: str
    hint: str
    points: Decimal
    earned: Decimal
    passed: bool
    outcome: str
    mistake: str


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
    missing : bool
        True if it was not handed in.
    cells : tuple of CellView
        Its grade cells.
    notes : tuple of str
        For course staff only.
    """

    name: str
    title: str
    missing: bool
    cells: tuple[CellView, ...]
    notes: tuple[str, ...] = ()

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


def student_view(
    result: SubmissionResult,
    titles: Mapping[str, str],
    *,
    score: StudentScore | None = None,
    comments: Mapping[tuple[str, str], str] | None = None,
) -> StudentView:
    """
    Return what a page shows of a submission.

    Parameters
    ----------
    result : SubmissionResult
        What grading returned.
    titles : mapping of str to str
        Titles of the notebooks by name.
    score : StudentScore, optional
        What the gradebook holds of the student.
    comments : mapping of tuple to str, optional
        What a person wrote, by notebook and grade_id.

    Returns
    -------
    StudentView
        The submission.
    """
    stored = score if score is not None and score.submitted else None
    scores = {(cell.notebook, cell.grade_id): cell for cell in stored.cells} if stored is not None else {}
    said = comments or {}
    books = tuple(_book(book, titles.get(book.name, book.name), scores, said) for book in result.notebooks)
    return StudentView(
        student=result.student,
        name=f"{score.first_name} {score.last_name}".strip() if score is not None else "",
        books=books,
        late=late_in_words(stored.seconds_late) if stored is not None else "",
        penalty=stored.penalty if stored is not None else Decimal(0),
        sandbox=result.sandbox,
    )


def late_in_words(seconds: float) -> str:
    """Return a time in seconds in its two largest units, such as "2 days 3 hours"; "" for none."""
    if seconds <= 0:
        return ""
    parts = []
    for name, size in UNITS:
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count:.0f} {name}{'s' if count > 1 else ''}")
    return " ".join(parts[:2]) or "less than a minute"


def words(name: str) -> str:
    """Return a name of the course as words: "split_reshape_only" is "split reshape only"."""
    return name.replace("_", " ")


def share(part: Decimal | int | None, whole: Decimal | int) -> float:
    """Return a part in percent, inside [0, 100]; of nothing everything is there."""
    if not whole:
        return FULL
    return min(max(round(float(part or 0) / float(whole) * FULL, 2), 0.0), FULL)


def _book(
    book: NotebookResult,
    title: str,
    scores: Mapping[tuple[str, str], CellScore],
    comments: Mapping[tuple[str, str], str],
) -> BookView:
    missing = book.status is Status.MISSING
    cells = []
    for cell in book.cells:
        key = (book.name, cell.grade_id)
        cells.append(_cell(cell, key[0], scores.get(key), comments.get(key, ""), missing=missing))
    return BookView(name=book.name, title=title, missing=missing, cells=tuple(cells), notes=book.notes)


def _cell(
    cell: CellResult, notebook: str, stored: CellScore | None, comment: str, *, missing: bool
) -> CellView:
    score = cell.auto_score
    by_hand = stored is not None and stored.manual_score is not None
    if stored is not None and (by_hand or not stored.needs_manual_grade):
        score = stored.score
    failed = [check for check in cell.checks if check.outcome is not Outcome.PASSED]
    found = {(check.rationale, OUTCOMES[check.outcome]) for check in failed}
    same = len(failed) > 1 and len(found) == 1 and bool(failed[0].rationale)
    return CellView(
        notebook=notebook,
        grade_id=cell.grade_id,
        title=cell.grade_id.removeprefix("test_"),
        anchor=f"cell-{cell.grade_id}",
        score=score,
        max_score=cell.max_score,
        state=_state(score, cell.max_score),
        manual=cell.manual,
        answered=cell.answered,
        missing=missing,
        again=by_hand and stored is not None and stored.needs_manual_grade,
        comment=comment,
        found=failed[0].rationale if same else "",
        outcome=OUTCOMES[failed[0].outcome] if same else "",
        checks=tuple(_check(check, same=same) for check in cell.checks),
        mistakes=_mistakes(failed),
    )


def _state(score: Decimal | None, max_score: Decimal) -> str:
    if score is None:
        return "waiting"
    if score >= max_score:
        return "full"
    return "part" if score > 0 else "none"


def _mistakes(failed: list[CheckResult]) -> tuple[Mistake, ...]:
    texts = {check.misconception: check.hint for check in reversed(failed) if check.misconception}
    counts = Counter(check.misconception for check in failed if check.misconception)
    return tuple(
        Mistake(name=words(name), text=texts[name], count=count) for name, count in counts.most_common()
    )


def _check(check: CheckResult, *, same: bool) -> CheckView:
    passed = check.outcome is Outcome.PASSED
    return CheckView(
        claim=check.claim,
        found="" if passed or same else check.rationale,
        hint="" if passed or check.misconception else check.hint,
        points=check.points,
        earned=check.earned,
        passed=passed,
        outcome=OUTCOMES[check.outcome],
        mistake=words(check.misconception) if not passed else "",
    )
