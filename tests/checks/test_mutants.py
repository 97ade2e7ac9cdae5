"""The hidden checks on trial by machine: a right solution that is changed in one place loses points."""

from __future__ import annotations

import resource
from collections import Counter
from contextlib import suppress
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from graded_cells import Suites
from known_solutions import (
    NOTEBOOKS,
    RIGHT,
    code_cells,
    functions,
    grade_cells,
    judge_of,
    lost,
    notebooks_of,
    undocumented,
)
from mutants import mutants
from parallel import print_at_end

from autograder.checks.suite import LocalNames
from autograder.variants import Variant, solved_cells, touched_cells

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from mutants import Mutant

INSTRUCTOR = "instructor"
BY_NAME = {variant.name: variant for variant in RIGHT}
STYLES: dict[str, Variant | None] = {INSTRUCTOR: None} | {
    name: BY_NAME[name]
    for name in (
        "einsum",
        "lambdas_and_partials",
        "log_of_the_sum",
        "log_sum_exp",
        "moveaxis",
        "naive_by_arithmetic",
        "naive_by_experiment",
        "pairwise_differences",
        "scaled_queries",
        "split_and_stack",
    )
}
"""The instructor's solution, and right ones that are written with quite other operations."""

# The weights that it draws are replaced by the checks, so most of its mutants are as right as it is.
GIVEN = "__init__"

MEMORY = 2**28
"""Bytes that a mutant may ask for; some build endless lists."""


def equivalents() -> dict[str, list[str]]:
    """Return the mutants that are as right as what they were made of, by the reason why."""
    found: dict[str, list[str]] = {}
    reason = ""
    for line in Path(__file__).with_name("equivalents.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(" "):
            found[reason].append(line.strip())
        elif line:
            reason = line
            found[reason] = []
    return found


EQUIVALENT = equivalents()


@pytest.fixture(scope="module", autouse=True)
def memory() -> Iterator[None]:
    """Bound the memory of this process while it runs mutants, where the system can."""
    used = Path("/proc/self/statm")
    if not used.exists():
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    bound = int(used.read_text().split()[0]) * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (bound, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


class Gate:
    """Grades mutants in this process, each in the test cell of what was changed, and counts them."""

    def __init__(self, suites: Suites) -> None:
        self._suites = suites
        self.counts = Counter[str]()

    def survivors(self, style: str) -> tuple[set[str], set[str]]:
        """Return the keys of all mutants of a style, and of those that lose nothing."""
        made, alive = set(), set()
        for notebook in written_in(style):
            cells = code_of(notebook, STYLES[style])
            for grade_id, mutant in mutants_of(notebook, cells, STYLES[style]):
                key = f"{style} · {grade_id} · {mutant.key}"
                assert key not in made
                made.add(key)
                if not self.lost(cells | {grade_id: mutant.source}, judge_of(notebook, grade_id)):
                    alive.add(key)
        self.counts.update(made=len(made), killed=len(made) - len(alive), alive=len(alive))
        return made, alive

    def lost(self, cells: dict[str, str], grade_id: str) -> dict[str, dict[str, str]]:
        """Return what a notebook with these solution cells loses in one test cell."""
        names = LocalNames(run_cells(cells))
        return lost({grade_id: [run.result for run in self._suites.run(grade_id, names, seed=b"mutants")]})


def written_in(style: str) -> list[dict[str, Any]]:
    """Return the notebooks that are solved in a style: the instructor has solved all."""
    variant = STYLES[style]
    return notebooks_of(variant) if variant else list(chain.from_iterable(NOTEBOOKS.values()))


def code_of(notebook: dict[str, Any], variant: Variant | None) -> dict[str, str]:
    """Return the text of the solution cells with code."""
    code = code_cells(notebook)
    return {grade_id: text for grade_id, text in solved_cells(notebook, variant).items() if grade_id in code}


def run_cells(cells: dict[str, str]) -> dict[str, Any]:
    """Run cells as a notebook does: one that raises leaves the names it had set."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for text in ("import numpy as np", *cells.values()):
        with suppress(Exception):
            exec(compiled(text), names)  # noqa: S102 - the course's own code
    return names


@lru_cache(maxsize=64)
def compiled(text: str) -> CodeType:
    """Compile a cell; all but one of a mutant's cells are those of the mutant before."""
    return compile(text, "<mutant>", "exec")


def mutants_of(
    notebook: dict[str, Any], cells: dict[str, str], variant: Variant | None
) -> Iterator[tuple[str, Mutant]]:
    """Yield the mutants of what a known solution writes itself, with the cell that each is in."""
    base = solved_cells(notebook)
    for grade_id in touched_cells(notebook, variant) if variant else cells:
        own = {undocumented(node) for node in functions(base[grade_id])} if variant else set()
        leave = {node.name for node in functions(cells[grade_id]) if undocumented(node) in own}
        if not judge_of(notebook, grade_id):
            continue
        yield from ((grade_id, mutant) for mutant in mutants(cells[grade_id], leave=leave | {GIVEN}))


@pytest.fixture(scope="module")
def gate(request: pytest.FixtureRequest) -> Iterator[Gate]:
    """The gate, with its counts at the end of the run."""
    with Suites() as suites:
        gate = Gate(suites)
        yield gate
    counts = "{made} made, {killed} killed, {alive} as right as before".format_map(gate.counts)
    print_at_end(request.config, "machine-made mutants", [counts])


@pytest.mark.parametrize("style", STYLES)
def test_a_mutant_loses_points_or_is_known_to_be_right(gate: Gate, style: str) -> None:
    """A mistake that no check sees is one that a student may make; a change that is none has a reason."""
    made, alive = gate.survivors(style)
    known = {key for keys in EQUIVALENT.values() for key in keys if key.startswith(f"{style} · ")}

    assert sorted(alive - known) == [], "no check sees these mistakes"
    assert sorted(known - made) == [], "these mutants are not made any more: take them off the list"
    assert sorted(known - alive) == [], "these mutants lose points: take them off the list"


@pytest.mark.parametrize("style", STYLES)
def test_what_is_mutated_is_right(gate: Gate, style: str) -> None:
    """A mutant of something that fails would say nothing."""
    for notebook in written_in(style):
        cells = code_of(notebook, STYLES[style])
        assert [gate.lost(cells, grade_id) for grade_id in grade_cells(notebook)] == [{}] * len(
            grade_cells(notebook)
        )


def test_a_mutant_that_eats_memory_is_stopped(gate: Gate) -> None:
    """It loses its points, and the tests go on."""
    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory of a process cannot be bounded here")
    cells = {"head_dim": "from itertools import repeat\ndef head_dim(*_): return [*repeat(0)]"}

    assert "test_size_is_an_integer" in gate.lost(cells, "test_head_dim")["test_head_dim"]


def test_each_reason_is_a_sentence_about_a_style_that_is_tried() -> None:
    """A key of a style that is not tried would never be looked at."""
    assert all(reason.endswith(".") for reason in EQUIVALENT)
    assert {key.partition(" · ")[0] for keys in EQUIVALENT.values() for key in keys} <= set(STYLES)
    assert max(Counter(key for keys in EQUIVALENT.values() for key in keys).values()) == 1


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("def f(a, b):\n    return a @ b", "f: return b @ a"),
        ("def f(a, b):\n    return a @ b", "f: return a.T @ b"),
        ("def f(a, b):\n    return a @ b", "f: return a * b"),
        ("def f(a, b):\n    return a - b", "f: return a"),
        ("def f(a):\n    return a % 3 != 0", "f: return a % 3 > 0"),
        ("def f(a):\n    return a % 3 != 0", "f: return a % 2 != 0"),
        ("def f(a):\n    if a:\n        return 1", "f: if not a:"),
        ("def f(a):\n    if a:\n        return 1", "f: without `if a:`"),
        ("def f(a):\n    return a.sum(axis=-1, keepdims=True)", "f: return a.sum(axis=-1, keepdims=False)"),
        ("def f(a):\n    return a.sum(axis=-1, keepdims=True)", "f: return a.sum(axis=1, keepdims=True)"),
        ("def f(a):\n    return a.sum(axis=-1, keepdims=True)", "f: return a.mean(axis=-1, keepdims=True)"),
        ("def f(a):\n    return a.transpose(1, 0, 2)", "f: return a.transpose(2, 0, 1)"),
        ("def f(a):\n    return a.transpose(1, 0, 2)", "f: return a"),
        ("def f(a):\n    return a.T", "f: return a"),
        ("def f(a, i):\n    return a[i, 0:3]", "f: return a[0:3, i]"),
        ("def f(a, i):\n    return a[i, 0:3]", "f: return a[i, 0:]"),
        ("def f(a):\n    b = a\n    a += b\n    return a", "f: without `a += b`"),
        ("def f(a):\n    b = a\n    a += b\n    return a", "f: return b"),
        ("class C:\n    def f(self):\n        return self.a @ self.b", "C.f: return self.b @ self.b"),
        ("import numpy as np\ne = np.einsum('ij->i', 1)", ": e = np.einsum('ij->j', 1)"),
    ],
)
def test_a_change_is_named_by_the_line_as_it_now_is(source: str, line: str) -> None:
    """The name of a mutant stays the same when other lines move."""
    assert line in {mutant.key for mutant in mutants(source)}
    assert line in {mutant.key for mutant in mutants("# moved\n\n" + source)}


def test_every_mutant_is_another_program() -> None:
    """One that is written twice is counted once."""
    made = mutants("def f(a, b):\n    return a + a * b")

    assert len({mutant.source for mutant in made}) == len({mutant.key for mutant in made}) == len(made)


def test_what_may_never_end_is_not_mutated() -> None:
    """A mutant runs in this process, where nothing would stop it."""
    with pytest.raises(ValueError, match="may never end"):
        mutants("def f(a):\n    while a:\n        a -= 1")
