"""
Which known misconception gives the very numbers that a student's code gave.

When a check fails, what it asked the student's code is asked again of the
solved notebook and of each misconception that loses in the same cell, in this
trusted process. Where the student's answer is wrong and a misconception's is
the same, the mistake has a name. The student's code is not run again, and no
outcome changes.

A name is a claim about a person's thinking, so three things stand against it:
numbers must agree, since None or an exception has many causes; nothing that
the misconception gets wrong may be right in the student's answers; and answers
of yes or no, which chance hits too, must agree in the whole cell.
"""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.checks import symptoms
from autograder.errors import NotebookError
from autograder.likeness import Answers, Likeness, replayed, steps_of
from autograder.notebook import read_notebook
from autograder.results import CheckResult, Outcome
from autograder.variants import load_variants, program, touched_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from autograder.checks.plugin import CheckRun
    from autograder.course.course import Course
    from autograder.likeness import Step
    from autograder.variants import Variant

MAX_REPLAYED = 6_000
"""
Requests that are asked again for one test cell. Where they do not suffice, no
name is given. A count, unlike a time, is the same at every grading.
"""
MAX_NAMES = 3
"""Mistakes that are named in one test cell."""

ENOUGH, ENOUGH_WRONG = 10, 3
"""
Answers of yes or no that must agree to name a mistake, and how many of them
must be wrong: a single one has many causes, and chance gives each of them.
"""

_ALSO = "And something else: "
_PARTLY = "The known mistake explains a part of this, but not all."


@dataclass(frozen=True, slots=True)
class Misconception:
    """
    A known wrong solution, ready to be asked.

    Parameters
    ----------
    name : str
        Its name in the course.
    claim : str
        The sentence that names the mistake.
    hint : str
        What to look at next.
    start : callable
        Returns a new namespace with the names that it defines, so that what
        one replay leaves behind does not reach the next.
    """

    name: str
    claim: str
    hint: str
    start: Callable[[], Mapping[str, Any]]


def diagnose(
    runs: Sequence[CheckRun],
    known: Sequence[Misconception],
    right: Callable[[], Mapping[str, Any]],
    *,
    max_replayed: int = MAX_REPLAYED,
) -> list[CheckResult]:
    """
    Name the misconception behind each failed check of a test cell, where one fits.

    Parameters
    ----------
    runs : sequence of CheckRun
        The cell's checks as they went.
    known : sequence of Misconception
        Those that lose in this cell.
    right : callable
        Returns a new namespace of the solved notebook.
    max_replayed : int
        How many requests may be asked again.

    Returns
    -------
    list of CheckResult
        The results in order, with the same outcomes. A failed check that a
        misconception explains carries its name, and its sentence and hint as
        the hint; one that it does not explain says so.
    """
    nowhere = contextlib.redirect_stdout(io.StringIO())
    with nowhere, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cell = _Cell(runs, right, max_replayed)
        named = cell.named(known)
        results = [_told(run.result, named) for run in runs]
        return [result if result.misconception else cell.hinted(result) for result in results]


class KnownMistakes:
    """
    The misconceptions of a course, each made ready at the first need.

    Parameters
    ----------
    course : Course
        The course.
    """

    def __init__(self, course: Course) -> None:
        self._course = course
        self._variants: dict[str, tuple[Variant, ...]] = {}
        self._ready: dict[tuple[str, ...], tuple[list[Misconception], Callable[[], dict[str, Any]]]] = {}

    def diagnose(
        self, assignment: str, notebook: str, grade_id: str, runs: Sequence[CheckRun]
    ) -> list[CheckResult]:
        """
        Name the misconceptions behind the failed checks of a test cell, see `diagnose`.

        Parameters
        ----------
        assignment, notebook, grade_id : str
            The test cell, and where it is.
        runs : sequence of CheckRun
            The cell's checks as they went.

        Returns
        -------
        list of CheckResult
            The results in order.

        Raises
        ------
        CourseError
            If a misconception or an instructor's notebook cannot be used.
        """
        key = (assignment, notebook, grade_id)
        if key not in self._ready:
            self._ready[key] = self._read(*key)
        return diagnose(runs, *self._ready[key])

    def _read(
        self, assignment: str, notebook: str, grade_id: str
    ) -> tuple[list[Misconception], Callable[[], dict[str, Any]]]:
        """Return the misconceptions that lose in a cell, and what starts the solved notebook."""
        if assignment not in self._variants:
            folder = self._course.source(assignment)
            found = load_variants(self._course.root, "misconceptions", assignment, folder)
            self._variants[assignment] = found
        source = read_notebook(self._course.source(assignment) / f"{notebook}.ipynb", error=NotebookError)
        known = [
            Misconception(one.name, one.claim, one.hint, program(source, one))
            for one in self._variants[assignment]
            if one.loses == grade_id and touched_cells(source, one)
        ]
        return known, program(source)


class _OutOfRequests(Exception):  # noqa: N818 - an end, not an error
    """The requests that may be asked again are used up."""


class _Suspect:
    """A misconception, and which checks of a cell it explains."""

    def __init__(self, known: Misconception) -> None:
        self.known = known
        self.found: dict[str, Likeness] = {}

    @property
    def explained(self) -> set[str]:
        """Checks that it explains wholly."""
        return {name for name, likeness in self.found.items() if likeness.is_whole}

    @property
    def touched(self) -> set[str]:
        """Checks that it explains wholly or in part."""
        return {name for name, likeness in self.found.items() if likeness.is_whole or likeness.is_part}


class _Cell:
    """The checks of a test cell, and what the solved notebook answers in them."""

    def __init__(
        self, runs: Sequence[CheckRun], right: Callable[[], Mapping[str, Any]], max_replayed: int
    ) -> None:
        self._runs = {run.result.name: run for run in runs}
        self._right = right
        self._answers: dict[str, Answers] = {}
        self._steps: dict[str, list[bytes | Step]] = {}
        self._left = max_replayed

    def named(self, known: Iterable[Misconception]) -> list[list[_Suspect]]:
        """
        Return the mistakes found, the one that explains most first.

        Each is a list: more than one are those that nothing tells apart.
        """
        # Few exchanges are soon asked again, and leave few suspects for the rest.
        failed = sorted(self._of(Outcome.FAILED), key=lambda run: len(run.exchanges))
        suspects = [_Suspect(one) for one in known] if failed else []
        try:
            for run in failed:
                suspects = self._left_by(run, suspects)
            return self._chosen(self._standing([one for one in suspects if one.touched]))
        except _OutOfRequests:
            return []

    def hinted(self, result: CheckResult) -> CheckResult:
        """Return a failed check's result with what all of its answers together suggest."""
        answers = self._answers.get(result.name) if result.outcome is Outcome.FAILED else None
        hint = symptoms.of_heads(answers.by_heads()) if answers is not None else ""
        return replace(result, hint=f"{hint} {result.hint}".strip()) if hint else result

    def _left_by(self, run: CheckRun, suspects: list[_Suspect]) -> list[_Suspect]:
        """Return the suspects that a failed check leaves; the likely ones are met first."""
        likely = [one for one in suspects if one.touched]
        left = [one for one in likely if self._may_be(one, run)]
        others = [one for one in suspects if one not in likely]
        if not any(run.result.name in one.explained for one in left):
            others = [one for one in others if self._may_be(one, run)]
        return left + others

    def _of(self, *outcomes: Outcome) -> list[CheckRun]:
        return [run for run in self._runs.values() if run.result.outcome in outcomes and run.exchanges]

    def _meet(self, suspect: _Suspect, run: CheckRun) -> Likeness:
        """Compare a misconception with the student in one check."""
        name = run.result.name
        if name not in self._answers:
            self._steps[name] = steps_of(run.exchanges)
            self._answers[name] = Answers(run, self._counted(replayed(self._right(), self._steps[name])))
        again = replayed(suspect.known.start(), self._steps[name])
        return self._answers[name].compare(self._counted(again), is_likely=bool(suspect.touched))

    def _counted(self, answers: Iterable[bytes]) -> Iterable[bytes]:
        for answer in answers:
            self._left -= 1
            if self._left < 0:
                raise _OutOfRequests
            yield answer

    def _may_be(self, suspect: _Suspect, run: CheckRun) -> bool:
        likeness = self._meet(suspect, run)
        suspect.found[run.result.name] = likeness
        return not likeness.is_refuted

    def _standing(self, suspects: list[_Suspect]) -> list[_Suspect]:
        """Return the suspects that the other checks leave; those of chance evidence must fit all of them."""
        left = []
        failed = {run.result.name for run in self._of(Outcome.FAILED)}
        # What explains no check wholly may be a consequence, of a wrong split for example, which
        # the check of the cause would tell: so it has to explain a part of every check.
        suspects = [one for one in suspects if one.explained or one.touched >= failed]
        # One that explains no more than another would never be chosen beside it.
        suspects = [one for one in suspects if not any(one.touched < other.explained for other in suspects)]
        for one in suspects:
            is_sure = len(suspects) == 1 and any(like.is_part for like in one.found.values())
            others = (Outcome.ERROR,) if is_sure else (Outcome.ERROR, Outcome.PASSED)
            if all(self._may_be(one, run) for run in self._of(*others)) and self._has_numbers(one):
                left.append(one)
        return left

    def _has_numbers(self, suspect: _Suspect) -> bool:
        """Tell whether numbers speak for a suspect, or all answers of yes or no in the cell."""
        found = suspect.found.values()
        if any(like.is_telling for like in found):
            return True
        enough = (
            sum(like.yes_or_no for like in found) >= ENOUGH
            and sum(like.wrong_yes_or_no for like in found) >= ENOUGH_WRONG
        )
        return enough and all(
            suspect.found[name].agreeing == len(run.exchanges) for name, run in self._runs.items()
        )

    def _chosen(self, suspects: list[_Suspect]) -> list[list[_Suspect]]:
        """Choose what explains most, then what explains most of the rest."""
        rest = {run.result.name for run in self._of(Outcome.FAILED, Outcome.ERROR)}
        chosen: list[list[_Suspect]] = []
        while suspects and len(chosen) < MAX_NAMES:
            # What is only touched needs no second name: it may be the first one's doing.
            keys = {
                id(one): (
                    len(one.explained & rest),
                    0 if chosen else len(one.touched & rest),
                    sum(like.agreeing for like in one.found.values()),
                )
                for one in suspects
            }
            best = max(keys.values())
            if not any(best[:2]):
                break
            chosen.append([one for one in suspects if keys[id(one)] == best])
            rest -= chosen[-1][0].explained
            suspects = [one for one in suspects if one not in chosen[-1]]
        return chosen


def _told(result: CheckResult, named: list[list[_Suspect]]) -> CheckResult:
    """Return a check's result with the name of the mistake, or with what remains."""
    if result.outcome is Outcome.PASSED:
        return result
    if result.outcome is Outcome.ERROR and not result.hint:
        result = replace(result, hint=symptoms.of_exception(result.error))
    whole = next((group for group in named if result.name in group[0].explained), None)
    part = next((group for group in named if result.name in group[0].touched), None)
    group = whole or part
    if group is None:
        is_other = bool(named) and result.outcome in {Outcome.FAILED, Outcome.ERROR}
        return replace(result, rationale=f"{_ALSO}{result.rationale}") if is_other else result
    rationale = result.rationale if whole else f"{result.rationale} {_PARTLY}".strip()
    return replace(result, misconception=group[0].known.name, hint=_sentence(group), rationale=rationale)


def _sentence(group: list[_Suspect]) -> str:
    """Return the sentences of mistakes that give the same numbers, and the hint of the first."""
    claims = [one.known.claim for one in group[:MAX_NAMES]]
    claim = (
        claims[0] if len(claims) == 1 else f"One of these, they give the same numbers: {' Or: '.join(claims)}"
    )
    return f"{claim} {group[0].known.hint}".strip()
