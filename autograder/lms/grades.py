"""From the scores of the gradebook to the grade that an LMS is told."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import ROUND_FLOOR, Decimal
from typing import TYPE_CHECKING

from autograder.lms.model import PLACES, Grade, GradeState, Part, points_text, rounded
from autograder.scores import NOT_YET

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from autograder.lms.model import Person
    from autograder.scores import StudentScore

WAITS = "a person has still to grade a part of it"
STEP = Decimal(1).scaleb(-PLACES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """
    What counts for grades beside the scores.

    Parameters
    ----------
    reasons : mapping of str to str
        By student why a submission, or a part of it, could not be graded.
    people : iterable of Person
        The students as the LMSs know them.
    excused : collection of str
        Students who need not hand in.
    unfinished : bool
        True to give a number to work that waits for a person, too: what it has so far.
    comments : mapping of str to mapping
        What people wrote to a student, by notebook and grade_id.
    """

    reasons: Mapping[str, str] = field(default_factory=dict)
    people: tuple[Person, ...] = ()
    excused: Collection[str] = ()
    unfinished: bool = False
    comments: Mapping[str, Mapping[tuple[str, str], str]] = field(default_factory=dict)


def grades_of(scores: Iterable[StudentScore], beside: Beside) -> tuple[Grade, ...]:
    """
    Return each student's grade.

    Parameters
    ----------
    scores : iterable of StudentScore
        As the gradebook holds them.
    beside : Beside
        What else counts.

    Returns
    -------
    tuple of Grade
        Sorted by student.
    """
    known: dict[str, list[Person]] = {}
    for person in beside.people:
        known.setdefault(person.student, []).append(person)
    return tuple(
        _grade(
            score,
            _state(score, beside),
            tuple(known.get(score.student, ())),
            beside.comments.get(score.student, {}),
        )
        for score in sorted(scores, key=lambda one: one.student)
    )


def _state(score: StudentScore, beside: Beside) -> tuple[GradeState, str]:
    """Return what is known, and why there is no number."""
    reason = beside.reasons.get(score.student, "")
    if score.student in beside.excused:
        return GradeState.EXCUSED, "excused"
    if reason:
        return GradeState.UNGRADED, " ".join(reason.split())
    if not score.submitted:
        return GradeState.MISSING, "nothing was handed in"
    if not score.is_whole:
        return GradeState.UNGRADED, NOT_YET
    waits = score.needs_manual_grade or not all(cell.has_score for cell in score.cells)
    if waits and not beside.unfinished:
        return GradeState.UNGRADED, WAITS
    return GradeState.GRADED, ""


def _grade(
    score: StudentScore,
    state: tuple[GradeState, str],
    people: tuple[Person, ...],
    written: Mapping[tuple[str, str], str],
) -> Grade:
    graded = state[0] is GradeState.GRADED
    points = rounded(score.score) if graded else None
    parts = _parts(score, points)
    return Grade(
        student=score.student,
        people=people,
        state=state[0],
        points=points,
        max_points=score.max_score,
        parts=parts,
        reason=state[1],
        submitted_at=score.timestamp,
        late_s=score.seconds_late if score.submitted else 0.0,
        penalty=score.penalty,
        cells=score.cells,
        comment=_comment(score, parts, written) if graded else "",
        first_name=score.first_name,
        last_name=score.last_name,
        email=score.email,
        lms_user_id=score.lms_user_id,
    )


def _parts(score: StudentScore, points: Decimal | None) -> tuple[Part, ...]:
    """Return the notebooks' grades, each with its share of the penalty."""
    earned: dict[str, Decimal] = {}
    possible: dict[str, Decimal] = {}
    for cell in score.cells:
        earned[cell.notebook] = earned.get(cell.notebook, Decimal(0)) + cell.score
        possible[cell.notebook] = possible.get(cell.notebook, Decimal(0)) + cell.max_score
    shares = [None] * len(earned) if points is None else shared_out(points, list(earned.values()))
    return tuple(
        Part(name=name, points=share, max_points=possible[name])
        for name, share in zip(earned, shares, strict=True)
    )


def shared_out(points: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """
    Share points out by weight so that the rounded shares add up to the points.

    Parameters
    ----------
    points : Decimal
        With at most `PLACES` decimals.
    weights : sequence of Decimal
        What each part earned; one below 0 counts as 0. Alike where all are 0.

    Returns
    -------
    list of Decimal
        With `PLACES` decimals. Each is nearer than one step to its exact share.
    """
    positive = [max(weight, Decimal(0)) for weight in weights]
    if not any(positive):
        positive = [Decimal(1)] * len(weights)
    total = sum(positive, Decimal(0))
    exact = [points * weight / total for weight in positive]
    shares = [share.quantize(STEP, ROUND_FLOOR) for share in exact]
    left = int((points - sum(shares, Decimal(0))) / STEP)
    # The largest remainders get the steps that are left; the first of equal ones.
    by_remainder = sorted(range(len(shares)), key=lambda at: (shares[at] - exact[at], at))
    for at in by_remainder[:left]:
        shares[at] += STEP
    return shares


def is_provisional(grade: Grade) -> bool:
    """
    Return whether a grade has a number though a person has still to grade a part of the work.

    Parameters
    ----------
    grade : Grade
        A grade.

    Returns
    -------
    bool
        True only where unfinished work was asked for.
    """
    waits = any(cell.needs_manual_grade or not cell.has_score for cell in grade.cells)
    return grade.state is GradeState.GRADED and waits


def _waiting(score: StudentScore, notebook: str) -> Decimal:
    """Return the points of a notebook's cells that a person has still to grade."""
    cells = (cell for cell in score.cells if cell.notebook == notebook and not cell.has_score)
    return sum((cell.max_score for cell in cells), Decimal(0))


def _comment(score: StudentScore, parts: Iterable[Part], written: Mapping[tuple[str, str], str]) -> str:
    """Return what goes to the student beside the number, plain text."""
    lines = [f"{points_text(rounded(score.score))} of {points_text(score.max_score)} points."]
    parts = tuple(parts)
    waits = {name: _waiting(score, name) for name in (part.name for part in parts)}
    waiting = sum(waits.values(), Decimal(0))
    if waiting:
        lines = [f"{lines[0].rstrip('.')} so far; {points_text(waiting)} wait for a person."]
    if len(parts) > 1:
        lines += [
            f"{part.name}: {points_text(part.points or Decimal(0))} of {points_text(part.max_points)}"
            + (f", {points_text(waits[part.name])} of them wait for a person" if waits[part.name] else "")
            for part in parts
        ]
    if score.penalty > 0:
        lines.append(f"Handed in late: {points_text(score.penalty)} points are taken off.")
    lines += [
        f"{notebook}, {cell}: {text.strip()}" for (notebook, cell), text in written.items() if text.strip()
    ]
    return "\n".join(lines)
