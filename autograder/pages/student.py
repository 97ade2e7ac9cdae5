"""
From what grading and the gradebook hold of a student to what a page shows.

Scores are those of the gradebook where it has them, because a person may have
changed them there; otherwise those of the grader.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.checks.outcomes import OUTCOMES, cell_outcome, check_outcome
from autograder.pages.repairs import mendings
from autograder.pages.views import BookView, CellView, CheckView, Mistake, StudentView, words
from autograder.results import CellResult, CheckResult, Outcome, Status, SubmissionResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from autograder.pages.lessons import Lesson, Section
    from autograder.results import NotebookResult
    from autograder.scores import CellScore, StudentScore

NOT_HANDED_IN, NOT_ANSWERED, WAITS = "not handed in", "not answered", "waits for a person"
"""How a cell may end besides the outcomes of grading."""
UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def student_view(
    result: SubmissionResult,
    lessons: Mapping[str, Lesson],
    *,
    score: StudentScore | None = None,
    comments: Mapping[tuple[str, str], str] | None = None,
    causes: Mapping[tuple[str, str], str] | None = None,
) -> StudentView:
    """
    Return what a page shows of a submission.

    Parameters
    ----------
    result : SubmissionResult
        What grading returned.
    lessons : mapping of str to Lesson
        What was handed out, by notebook.
    score : StudentScore, optional
        What the gradebook holds of the student.
    comments : mapping of tuple to str, optional
        What a person wrote, by notebook and grade_id.
    causes : mapping of tuple to str, optional
        What broke before the checks could look, by notebook and grade_id.

    Returns
    -------
    StudentView
        The submission.
    """
    stored = score if score is not None and score.submitted else None
    scores = {(cell.notebook, cell.grade_id): cell for cell in stored.cells} if stored is not None else {}
    told = _Told(scores, comments or {}, causes or {})
    books = tuple(_book(book, lessons[book.name], told) for book in result.notebooks)
    repairs = {book.name: book.repairs for book in books}
    return StudentView(
        student=result.student,
        name=f"{score.first_name} {score.last_name}".strip() if score is not None else "",
        books=books,
        late=late_in_words(stored.seconds_late) if stored is not None else "",
        penalty=stored.penalty if stored is not None else Decimal(0),
        sandbox=result.sandbox,
        mendings=mendings(repairs, {book.name: lessons[book.name].names for book in books}),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """What is known of cells beside their results, by notebook and grade_id."""

    scores: Mapping[tuple[str, str], CellScore]
    comments: Mapping[tuple[str, str], str]
    causes: Mapping[tuple[str, str], str]


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


def _book(book: NotebookResult, lesson: Lesson, told: _Told) -> BookView:
    missing = book.status is Status.MISSING
    cells = []
    for cell in book.cells:
        key = (book.name, cell.grade_id)
        view = _cell(cell, key, told)
        task = lesson.tasks.get(cell.grade_id)
        cells.append(
            replace(
                view,
                missing=missing,
                ended=NOT_HANDED_IN if missing else view.ended,
                anchor=f"cell-{lesson.number}-{cell.grade_id}",
                heading=task.title if task is not None else "",
                read=_read(view, lesson),
            )
        )
    return BookView(
        name=book.name,
        title=lesson.title,
        number=lesson.number,
        missing=missing,
        not_graded=_not_graded(book),
        cells=tuple(cells),
        repairs=book.repairs,
        evidence=book.evidence,
        mendings=mendings({book.name: book.repairs}, {book.name: lesson.names}),
    )


def _not_graded(book: NotebookResult) -> str:
    """Return why a notebook could not be graded as a whole; "" if any of its cells was."""
    reasons = {cell.not_graded for cell in book.cells}
    if book.status is not Status.UNREADABLE or "" in reasons or not reasons:
        return ""
    reason = book.cells[0].not_graded
    # The page names the file already.
    return reason if reason == (rest := reason.removeprefix(f"{book.name}.ipynb: ")) else f"It {rest}"


def _read(cell: CellView, lesson: Lesson) -> tuple[Section, ...]:
    """Return the sections to read again: the one that sets the task, and what explains the mistake."""
    if not cell.reason:
        return ()
    # An exception or a limit says little about what was not understood.
    words = [mistake.text for mistake in cell.mistakes] or [check.hint for check in cell.checks if check.hint]
    near = lesson.near(cell.grade_id, " ".join(words)) if words else None
    found = (lesson.tasks.get(cell.grade_id), near)
    return tuple(section for section in found if section is not None)


def _cell(cell: CellResult, key: tuple[str, str], told: _Told) -> CellView:
    score, stored = cell.auto_score, told.scores.get(key)
    by_hand = stored is not None and stored.manual_score is not None
    if stored is not None and (by_hand or not (stored.needs_manual_grade or cell.not_graded)):
        score = stored.score
    not_graded = cell.not_graded if score is None else ""
    failed = [check for check in cell.checks if check.outcome is not Outcome.PASSED]
    found = {(check.rationale, check_outcome(check)) for check in failed}
    same = len(failed) > 1 and len(found) == 1 and bool(failed[0].rationale)
    return CellView(
        notebook=key[0],
        grade_id=cell.grade_id,
        title=cell.grade_id.removeprefix("test_"),
        anchor="",
        score=score,
        max_score=cell.max_score,
        state="blocked" if not_graded else _state(score, cell.max_score),
        ended=_ended(cell, score),
        manual=cell.manual,
        answered=cell.answered,
        missing=False,
        again=by_hand and stored is not None and stored.needs_manual_grade,
        comment=told.comments.get(key, ""),
        found=failed[0].rationale if same else "",
        outcome=check_outcome(failed[0]) if same else "",
        checks=_checks(cell.checks, same=same),
        mistakes=_mistakes(failed),
        not_graded=not_graded,
        cause=told.causes.get(key, ""),
        illustrations=cell.illustrations,
    )


def _ended(cell: CellResult, score: Decimal | None) -> str:
    """Return how a cell ended, in words; of one that a person grades whether it was graded."""
    if cell.not_graded and score is None:
        return OUTCOMES[Outcome.NOT_GRADED]
    if cell.manual and not cell.answered:
        return NOT_ANSWERED
    if cell.manual or cell.not_graded:
        return WAITS if score is None else OUTCOMES[Outcome.MANUAL]
    return cell_outcome(cell)


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


def _checks(checks: Iterable[CheckResult], *, same: bool) -> tuple[CheckView, ...]:
    told: set[tuple[str, str, str]] = set()
    views = []
    for check in checks:
        view = _check(check, same=same)
        what = (view.outcome, view.found, view.hint)
        views.append(replace(view, again=bool(view.found) and what in told))
        told.add(what)
    return tuple(views)


def _check(check: CheckResult, *, same: bool) -> CheckView:
    passed = check.outcome is Outcome.PASSED
    return CheckView(
        claim=check.claim,
        found="" if passed or same else check.rationale,
        hint="" if passed or check.misconception else check.hint,
        points=check.points,
        earned=check.earned,
        passed=passed,
        outcome=check_outcome(check),
        mistake=words(check.misconception) if not passed else "",
        judged=check.outcome is not Outcome.NOT_JUDGED,
    )
