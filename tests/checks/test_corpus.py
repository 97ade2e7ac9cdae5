"""The hidden checks on trial: right solutions earn everything, known mistakes lose where they are made."""

from __future__ import annotations

import ast
import io
import tokenize
from contextlib import ExitStack
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from handouts import COURSE
from known_solutions import (
    ASSIGNMENTS,
    NOTEBOOKS,
    RIGHT,
    ROOT,
    WRONG,
    assignment_of,
    code_cells,
    functions,
    grade_cells,
    listed,
    lost,
    named,
    notebooks_of,
    undocumented,
)
from parallel import print_at_end

from autograder.checks.suite import CheckSuite, LocalNames, assignments
from autograder.results import CheckResult, Outcome
from autograder.statements import cut, names_bound
from autograder.variants import LABELS, Variant, program, solved_cells, touched_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

POINTS = {
    name: sum(
        (cell.points for book in COURSE.released(name) for cell in book.graded if cell.hidden_check),
        Decimal(0),
    )
    for name in ASSIGNMENTS
}
"""What hidden checks earn in each assignment."""

LIBRARIES = {
    "numpy",
    *("collections", "dataclasses", "fractions", "functools", "itertools", "math", "operator", "typing"),
}

FAMILIES = {
    "layout": "splitting, merging, and where numbers go",
    "scale": "what the scores are divided by",
    "projections": "the four weight matrices",
    "scores": "queries against keys, and the maps",
    "softmax": "from scores to weights",
    "masks": "what is hidden from whom",
    "state": "calls that depend on others or change something",
    "types": "what is returned, and how exact",
    "sizes": "uneven heads, sizes of one, fixed sizes",
    "counting": "features and weights counted",
    "comparisons": "answers to a yes-or-no question",
}

Results = dict[str, list[CheckResult]]


class Corpus:
    """Grades known solutions in this process; a notebook that a solution leaves alone is graded once."""

    def __init__(self, suites: Mapping[str, CheckSuite]) -> None:
        self._suites = suites
        self._graded: dict[object, Results] = {}

    def grade(self, variant: Variant, *, seed: bytes = b"corpus") -> Results:
        """Return the results of every grade cell of a known solution's assignment."""
        return self.graded(assignment_of(variant), variant, seed=seed)

    def graded(self, assignment: str, variant: Variant | None = None, *, seed: bytes = b"corpus") -> Results:
        """Return the results of every grade cell of an assignment, as a rule of the instructor's solution."""
        results: Results = {}
        suite = self._suites[assignment]
        for number, notebook in enumerate(NOTEBOOKS[assignment]):
            key = (assignment, number, seed, tuple(solved_cells(notebook, variant).items()))
            if key not in self._graded:
                names = program(notebook, variant)()
                self._graded[key] = {
                    grade_id: [run.result for run in suite.run(grade_id, LocalNames(names), seed=seed)]
                    for grade_id in grade_cells(notebook)
                }
            results |= self._graded[key]
        return results


def points(results: Results) -> Decimal:
    """Return the points earned in all cells."""
    return sum((check.earned for checks in results.values() for check in checks), Decimal(0))


@pytest.fixture(scope="session")
def corpus(request: pytest.FixtureRequest) -> Iterator[Corpus]:
    """The corpus, with a report of it at the end of the run."""
    with ExitStack() as stack:
        yield Corpus({name: stack.enter_context(CheckSuite(name)) for name in ASSIGNMENTS})
    print_at_end(request.config, "known solutions", overview())


def overview() -> Iterator[str]:
    """Yield lines that list the known solutions with their numbers."""
    yield from listed(f"{len(RIGHT)} right solutions", [variant.name for variant in RIGHT])
    yield f"{len(WRONG)} misconceptions"
    for family, what in FAMILIES.items():
        names = [variant.name for variant in WRONG if variant.family == family]
        yield from listed(f"  {len(names)} in {family} ({what})", names)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_instructors_solution_earns_everything(corpus: Corpus, assignment: str) -> None:
    """An exercise whose own solution fails cannot be handed out."""
    results = corpus.graded(assignment)

    assert lost(results) == {}
    assert points(results) == POINTS[assignment]


@pytest.mark.parametrize("seed", [b"ana", b"bo"])
@pytest.mark.parametrize("variant", RIGHT, ids=named)
def test_a_right_solution_earns_everything(corpus: Corpus, variant: Variant, seed: bytes) -> None:
    """A student who solves it in another way, and draws other numbers, is as right."""
    results = corpus.grade(variant, seed=seed)

    assert lost(results) == {}
    assert points(results) == POINTS[assignment_of(variant)]


@pytest.mark.parametrize("variant", WRONG, ids=named)
def test_a_misconception_loses_in_its_own_cell_only(corpus: Corpus, variant: Variant) -> None:
    """A mistake costs points where it was made, and nowhere else."""
    missed = lost(corpus.grade(variant))

    assert list(missed) == [variant.loses], missed


def test_no_misconception_stops_a_check(corpus: Corpus) -> None:
    """A wrong answer ends as a failed check or as the student's exception, never as a limit or a gap."""
    outcomes = {
        (variant.name, check.name): check.outcome
        for variant in WRONG
        for checks in corpus.grade(variant).values()
        for check in checks
    }

    assert set(outcomes.values()) == {Outcome.PASSED, Outcome.FAILED, Outcome.ERROR}


@pytest.mark.parametrize("variant", WRONG, ids=named)
def test_a_misconception_fails_the_check_that_must_catch_it(corpus: Corpus, variant: Variant) -> None:
    """Another check may fail it too, but this one's sentence is about the mistake."""
    checks = [check.name for check in corpus.graded(assignment_of(variant))[variant.loses]]
    where = variant.path.relative_to(ROOT)

    assert variant.check in checks, f"{where}: CHECK is none of the checks of {variant.loses}: {checks}"
    assert variant.check in lost(corpus.grade(variant)).get(variant.loses, {}), (
        f"{where}: CHECK = {variant.check!r} passes it"
    )


def test_every_hidden_check_is_needed(corpus: Corpus) -> None:
    """A check that must catch no known mistake costs time and may one day fail a right answer."""
    needed = {f"{variant.loses}::{variant.check}" for variant in WRONG}
    checks = {
        f"{grade_id}::{check.name}"
        for assignment in ASSIGNMENTS
        for grade_id, found in corpus.graded(assignment).items()
        for check in found
    }

    assert checks - needed == set()


def test_every_assignment_is_on_trial() -> None:
    """One that is not listed would have checks that nobody tries."""
    assert set(assignments()) == set(ASSIGNMENTS)


def test_every_misconception_is_of_a_family() -> None:
    """A mistyped family would be one of its own."""
    assert [variant.name for variant in WRONG if variant.family not in FAMILIES] == []
    assert {variant.family for variant in WRONG} == set(FAMILIES)


def test_the_design_tells_how_many_there_are() -> None:
    """Counts in a document grow old; these fail with it."""
    table = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    counts = {family: sum(variant.family == family for variant in WRONG) for family in FAMILIES}
    rows = [f"| {family}: {FAMILIES[family]} | {count} | {count} |" for family, count in counts.items()]

    assert [row for row in rows if row not in table] == []
    assert f"called by their name | {len(WRONG)} | {len(WRONG)} |" in table
    assert f"for two students each | {len(RIGHT)} |" in table


def test_right_solutions_cover_every_graded_name() -> None:
    """A function that only the instructor has solved is tried in one style only."""
    graded = {
        name
        for notebook in chain.from_iterable(NOTEBOOKS.values())
        for grade_id, text in solved_cells(notebook).items()
        if grade_id in code_cells(notebook)
        for name in names_bound(cut(text))
    }
    tried = {name for variant in RIGHT for name in names_bound(cut(variant.source))}

    assert graded - tried == set()


def test_every_grade_cell_has_a_misconception() -> None:
    """A cell without a known mistake has no test of its checks."""
    notebooks = chain.from_iterable(NOTEBOOKS.values())
    cells = {grade_id for notebook in notebooks for grade_id in grade_cells(notebook)}

    assert {variant.loses for variant in WRONG} == cells


@pytest.mark.parametrize("variant", WRONG, ids=named)
def test_a_misconception_is_in_the_notebook_of_its_cell(variant: Variant) -> None:
    """A mistake elsewhere could not lose there."""
    touched = [notebook for notebook in notebooks_of(variant) if touched_cells(notebook, variant)]

    assert [variant.loses in grade_cells(notebook) for notebook in touched] == [True]


@pytest.mark.parametrize("variant", RIGHT + WRONG, ids=named)
def test_a_known_solution_stands_alone(variant: Variant) -> None:
    """A student's notebook has numpy and the standard library, and nothing of ours."""
    nodes = list(ast.walk(ast.parse(variant.source)))
    imported = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)}

    assert imported <= LIBRARIES


@pytest.mark.parametrize("variant", WRONG, ids=named)
def test_a_misconception_keeps_its_mistake_to_itself(variant: Variant) -> None:
    """It is written as by someone who believes it: no comment, and the notebook shows no sentence of ours."""
    tokens = tokenize.generate_tokens(io.StringIO(variant.source).readline)
    cells = [solved_cells(notebook, variant) for notebook in notebooks_of(variant)]
    written = "\n".join(text for one in cells for text in one.values())

    assert [token.string for token in tokens if token.type == tokenize.COMMENT] == []
    assert variant.claim not in written
    assert [label for label in LABELS if label in written] == []


def test_each_misconception_has_its_own_sentence() -> None:
    """Two mistakes with one sentence are one mistake, or one of them is described badly."""
    claims = [variant.claim for variant in WRONG]

    assert sorted(set(claims)) == sorted(claims)
    assert [claim for claim in claims if not claim.endswith(".")] == []
    assert [variant.name for variant in WRONG if variant.hint[-1] not in ".?"] == []


@pytest.mark.parametrize("variant", RIGHT + WRONG, ids=named)
def test_a_known_solution_reads_like_a_students(variant: Variant) -> None:
    """The filled cells hold its functions word for word, and no other cell has changed."""
    wanted = {undocumented(node) for node in functions(variant.source)}
    found = set()
    for notebook in notebooks_of(variant):
        base, solved, touched = (
            solved_cells(notebook),
            solved_cells(notebook, variant),
            touched_cells(notebook, variant),
        )
        assert {grade_id for grade_id in base if base[grade_id] != solved[grade_id]} <= set(touched)
        found |= {undocumented(node) for grade_id in touched for node in functions(solved[grade_id])}

    assert wanted <= found
