"""The hidden checks on trial: right solutions earn everything, known mistakes lose where they are made."""

from __future__ import annotations

import ast
import io
import json
import textwrap
import tokenize
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.checks.suite import CheckSuite, LocalNames
from autograder.results import CheckResult, Outcome
from autograder.statements import cut, names_bound
from autograder.variants import Variant, load_variants, program, solved_cells, touched_cells

if TYPE_CHECKING:
    from collections.abc import Iterator

ASSIGNMENT = "multi_head_attention"
ROOT = Path(__file__).parents[2]
RIGHT = load_variants(ROOT, "alternatives", ASSIGNMENT)
WRONG = load_variants(ROOT, "misconceptions", ASSIGNMENT)
NOTEBOOKS = [json.loads(path.read_text()) for path in sorted((ROOT / "source" / ASSIGNMENT).glob("*.ipynb"))]

AUTOMATIC_POINTS = Decimal(18)
LIBRARIES = {"numpy", "functools", "itertools", "math", "typing"}

# "grade cell::check" -> why it stays although no known mistake needs it.
KEPT_WITH_REASON: dict[str, str] = {}

Results = dict[str, list[CheckResult]]


class Corpus:
    """Grades known solutions in this process; a notebook that a solution leaves alone is graded once."""

    def __init__(self, suite: CheckSuite) -> None:
        self._suite = suite
        self._graded: dict[object, Results] = {}

    def grade(self, variant: Variant | None = None, *, seed: bytes = b"corpus") -> Results:
        """Return the results of every grade cell of the assignment."""
        results: Results = {}
        for number, notebook in enumerate(NOTEBOOKS):
            key = (number, seed, tuple(solved_cells(notebook, variant).items()))
            if key not in self._graded:
                names = program(notebook, variant)()
                self._graded[key] = {
                    grade_id: [run.result for run in self._suite.run(grade_id, LocalNames(names), seed=seed)]
                    for grade_id in grade_cells(notebook)
                }
            results |= self._graded[key]
        return results


def grade_cells(notebook: dict[str, Any]) -> list[str]:
    """Return the grade ids of the cells with hidden checks."""
    metas = [cell["metadata"].get("nbgrader", {}) for cell in notebook["cells"]]
    return [meta["grade_id"] for meta in metas if meta.get("grade") and not meta.get("solution")]


def lost(results: Results) -> dict[str, dict[str, str]]:
    """Return what did not pass, by grade cell and check."""
    missed = {
        grade_id: {check.name: f"{check.outcome}: {check.rationale}" for check in checks if not check.earned}
        for grade_id, checks in results.items()
    }
    return {grade_id: checks for grade_id, checks in missed.items() if checks}


def points(results: Results) -> Decimal:
    """Return the points earned in all cells."""
    return sum((check.earned for checks in results.values() for check in checks), Decimal(0))


@pytest.fixture(scope="session")
def corpus(request: pytest.FixtureRequest) -> Iterator[Corpus]:
    """The corpus, with a report of it at the end of the run."""
    with CheckSuite(ASSIGNMENT) as suite:
        yield Corpus(suite)
    plugins = request.config.pluginmanager
    reporter, capture = plugins.get_plugin("terminalreporter"), plugins.get_plugin("capturemanager")
    if reporter is not None and capture is not None:
        with capture.global_and_fixture_disabled():
            reporter.ensure_newline()
            reporter.section("known solutions")
            for line in overview():
                reporter.write_line(line)


def overview() -> Iterator[str]:
    """Yield lines that list the known solutions with their numbers."""
    yield from listed(f"{len(RIGHT)} right solutions", [variant.name for variant in RIGHT])
    yield f"{len(WRONG)} misconceptions"
    for grade_id in (grade_id for notebook in NOTEBOOKS for grade_id in grade_cells(notebook)):
        names = [variant.name for variant in WRONG if variant.loses == grade_id]
        yield from listed(f"  {len(names)} in {grade_id}", names)


def listed(title: str, names: list[str]) -> list[str]:
    """Return a title and names in lines that fit a terminal."""
    return textwrap.wrap(
        f"{title}: {', '.join(names)}", 100, subsequent_indent="    ", break_on_hyphens=False
    )


def named(variant: Variant) -> str:
    """Return the id of a parametrised case."""
    return variant.name


def test_the_instructors_solution_earns_everything(corpus: Corpus) -> None:
    """An exercise whose own solution fails cannot be handed out."""
    results = corpus.grade()

    assert lost(results) == {}
    assert points(results) == AUTOMATIC_POINTS


@pytest.mark.parametrize("seed", [b"ana", b"bo"])
@pytest.mark.parametrize("variant", RIGHT, ids=named)
def test_a_right_solution_earns_everything(corpus: Corpus, variant: Variant, seed: bytes) -> None:
    """A student who solves it in another way, and draws other numbers, is as right."""
    results = corpus.grade(variant, seed=seed)

    assert lost(results) == {}
    assert points(results) == AUTOMATIC_POINTS


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


def test_every_hidden_check_is_needed(corpus: Corpus) -> None:
    """A check that catches no known mistake costs time and may one day fail a right answer."""
    failed = {
        f"{grade_id}::{name}"
        for variant in WRONG
        for grade_id, checks in lost(corpus.grade(variant)).items()
        for name in checks
    }
    checks = {f"{grade_id}::{check.name}" for grade_id, found in corpus.grade().items() for check in found}

    assert checks - failed == set(KEPT_WITH_REASON)
    assert all(reason.endswith(".") for reason in KEPT_WITH_REASON.values())


def test_right_solutions_cover_every_graded_name() -> None:
    """A function that only the instructor has solved is tried in one style only."""
    graded = {
        name
        for notebook in NOTEBOOKS
        for grade_id, text in solved_cells(notebook).items()
        if grade_id in code_cells(notebook)
        for name in names_bound(cut(text))
    }
    tried = {name for variant in RIGHT for name in names_bound(cut(variant.source))}

    assert graded - tried == set()


def code_cells(notebook: dict[str, Any]) -> set[str]:
    """Return the grade ids of the solution cells with code."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return {cell["metadata"].get("nbgrader", {}).get("grade_id", "") for cell in cells}


def test_every_grade_cell_has_a_misconception() -> None:
    """A cell without a known mistake has no test of its checks."""
    cells = {grade_id for notebook in NOTEBOOKS for grade_id in grade_cells(notebook)}

    assert {variant.loses for variant in WRONG} == cells


@pytest.mark.parametrize("variant", WRONG, ids=named)
def test_a_misconception_is_in_the_notebook_of_its_cell(variant: Variant) -> None:
    """A mistake elsewhere could not lose there."""
    touched = [notebook for notebook in NOTEBOOKS if touched_cells(notebook, variant)]

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
    written = "\n".join(text for notebook in NOTEBOOKS for text in solved_cells(notebook, variant).values())

    assert [token.string for token in tokens if token.type == tokenize.COMMENT] == []
    assert variant.claim not in written
    assert "LOSES" not in written


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
    for notebook in NOTEBOOKS:
        base, solved, touched = (
            solved_cells(notebook),
            solved_cells(notebook, variant),
            touched_cells(notebook, variant),
        )
        assert {grade_id for grade_id in base if base[grade_id] != solved[grade_id]} <= set(touched)
        found |= {undocumented(node) for grade_id in touched for node in functions(solved[grade_id])}

    assert wanted <= found


def functions(source: str) -> list[ast.FunctionDef]:
    """Return all functions and methods of a text."""
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


def undocumented(node: ast.FunctionDef) -> str:
    """Return what a function is, without its docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return "\n".join([node.name, ast.dump(node.args), *map(ast.dump, body)])
