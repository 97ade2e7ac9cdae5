"""From a graded submission to what Gradescope shows of it: what a feedback page would tell, as plain text."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from autograder.checks.outcomes import check_outcome
from autograder.checks.report import number
from autograder.lms.gradescope import GradescopeResults, GradescopeTest, Visibility
from autograder.pages.student import late_in_words, student_view
from autograder.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from autograder.pages.lessons import Lesson
    from autograder.pages.views import BookView, CellView, StudentView
    from autograder.results import CellResult, CheckResult, GradedSubmission

BY_HAND = "A person reads this answer ({points} {unit}); it is not scored here."


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """
    When students see what hidden checks found.

    Parameters
    ----------
    usually : Visibility
        Where nothing else is said.
    of : mapping of str to Visibility
        By grade_id of a test cell, or by name of a check, which goes before.
    """

    usually: Visibility = Visibility.AFTER_PUBLISHED
    of: Mapping[str, Visibility] = field(default_factory=dict)

    def check(self, grade_id: str, name: str) -> Visibility:
        """Return when a check is seen."""
        return self.of.get(name.partition("[")[0], self.of.get(grade_id, self.usually))


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """
    What is told beside the result of grading.

    Parameters
    ----------
    lessons : mapping of str to Lesson
        What was handed out, by notebook.
    causes : mapping of (str, str) to str
        What broke before the checks could look, by notebook and grade_id.
    late_s : float
        Seconds after the due date.
    taken_s : float
        Seconds that grading took.
    """

    lessons: Mapping[str, Lesson]
    causes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    late_s: float = 0.0
    taken_s: float


def results_of(graded: GradedSubmission, shown: Shown, beside: Beside) -> GradescopeResults:
    """
    Return what Gradescope is told of a submission that was graded whole.

    Parameters
    ----------
    graded : GradedSubmission
        The submission.
    shown : Shown
        When students see what.
    beside : Beside
        What else is told.

    Returns
    -------
    GradescopeResults
        A test for each check, and for each answer that a person grades one without a score.
        What names a file or repeats a student's words is text, and never markup.
    """
    result = graded.result
    view = student_view(result, beside.lessons, causes=beside.causes)
    tests: list[GradescopeTest] = []
    for book, notebook in zip(view.books, result.notebooks, strict=True):
        for place, (cell, graded_cell) in enumerate(zip(book.cells, notebook.cells, strict=True), start=1):
            tests += _tests(f"{book.number}.{place}", book, cell, graded_cell, shown)
    return GradescopeResults(
        score=result.auto_score,
        tests=tuple(tests),
        output="\n\n".join(_above(view, graded, beside)),
        execution_time_s=beside.taken_s,
        extra_data={
            "assignment": result.assignment,
            "sandbox": result.sandbox,
            "late_s": beside.late_s,
            "by_hand": str(view.waiting),
        },
    )


def _tests(
    where: str, book: BookView, cell: CellView, graded: CellResult, shown: Shown
) -> Iterator[GradescopeTest]:
    title = f"{cell.title}: " if cell.title else ""
    if cell.manual:
        unit = "point" if cell.max_score == 1 else "points"
        text = BY_HAND.format(points=number(cell.max_score), unit=unit)
        text += "" if cell.answered or cell.missing else " It was left as it was handed out."
        name = f"{title}{cell.heading or 'written answer'}"
        yield GradescopeTest(name=name, number=where, max_score=cell.max_score, score=None, output=text)
        return
    for place, check in enumerate(graded.checks, start=1):
        yield GradescopeTest(
            name=f"{title}{check.claim}",
            number=f"{where}.{place}",
            max_score=check.points,
            score=check.earned,
            passed=check.outcome is Outcome.PASSED,
            output=_found(check, cell.cause),
            visibility=shown.check(cell.grade_id, check.name),
        )
    if not graded.checks:
        yield GradescopeTest(
            name=f"{title}{cell.heading or cell.title}",
            number=where,
            max_score=cell.max_score,
            score=cell.score,
            passed=False,
            output=f"{book.name}.ipynb was not handed in." if cell.missing else "",
            visibility=shown.check(cell.grade_id, ""),
        )


def _found(check: CheckResult, cause: str) -> str:
    """Return what was found and what to look at next, as the feedback page says it."""
    if check.outcome is Outcome.PASSED:
        return ""
    outcome = check_outcome(check)
    lines = [cause, f"{outcome[:1].upper()}{outcome[1:]}. {check.rationale}".rstrip(), check.hint]
    return "\n\n".join(line for line in lines if line)


def _above(view: StudentView, graded: GradedSubmission, beside: Beside) -> Iterator[str]:
    """Yield what stands above all tests; everybody sees it at once, so it tells of no hidden check."""
    missing = [f"{book.name}.ipynb" for book in view.books if book.missing]
    found = [f"{book.name}.ipynb" for book in view.books if not book.missing]
    yield f"Graded: {', '.join(found)}." if found else "No notebook was graded."
    if missing:
        yield f"Not handed in: {', '.join(missing)}. It counts as 0 until you hand it in."
    if graded.ignored:
        # Names that a student chose: a line each would let them write lines of ours.
        names = ", ".join(" ".join(name.split()) for name in graded.ignored)
        yield f"Not part of the assignment, and ignored: {names}."
    if view.mendings:
        lines = [f"- {one.text} {one.hint}".rstrip() for one in view.mendings]
        yield "Before grading we put some things right:\n" + "\n".join(lines)
    if beside.late_s > 0:
        yield f"Handed in {late_in_words(beside.late_s)} late. Nothing is taken off for that here."
    by_hand = sum((cell.max_score for cell in view.cells if cell.manual), Decimal(0))
    if by_hand:
        yield f"{number(by_hand)} of {number(view.max_score)} points are given by a person."
