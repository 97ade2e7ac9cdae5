"""Pictures of what student code gives: true, small, and harmless whatever that code does."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import known_solutions
import numpy as np
import pytest
from graded_cells import HOMES
from handouts import ASSIGNMENT
from hypothesis import given, settings
from hypothesis import strategies as st
from small_course import Page, assert_harmless

from autograder.checks.illustrating import illustrated
from autograder.checks.suite import LocalNames
from autograder.errors import NotebookError
from autograder.illustration import MOST_NUMBERS, Illustration, Kind, illustrations
from autograder.pages.figures import figures
from autograder.results import CellResult, CheckResult, Outcome
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.variants import Variant, program
from autograder.wire.frames import WireError
from solutions.reference import multi_head_attention as reference

if TYPE_CHECKING:
    from collections.abc import Callable

PICTURED = ("test_split_heads", "test_merge_heads", "test_parameter_count", "test_forward")
VARIANTS = {
    kind: [one for one in known if known_solutions.assignment_of(one) == ASSIGNMENT]
    for kind, known in (("alternatives", known_solutions.RIGHT), ("misconceptions", known_solutions.WRONG))
}
WRONG = CheckResult(name="test_a", claim="A.", points=Decimal(1), outcome=Outcome.FAILED)

SHOWN_WRONG = 0.5
"""Share of the misconceptions of a cell that its picture must show; the others fail elsewhere."""
MOST_BYTES = 4096

HOSTILE: tuple[Callable[..., Any], ...] = (
    lambda *_: None,
    lambda *_: np.zeros((10**5, 10)),
    lambda *_: np.full((2, 5, 3), np.nan),
    lambda *_: np.full((2, 5, 3), 1e300),
    lambda *_: np.array(["<script>"]),
    lambda *_: np.zeros((2, 0, 3)),
    lambda *_: np.zeros((1, 1, 1, 30)),
    lambda *_: np.zeros(30),
    lambda *_: np.full((5, 2, 3), -7.5),
    lambda *_: "<script>alert(1)</script>" * 1000,
    lambda *_: 10**300,
    lambda *_: float("inf"),
    lambda *_: {"shape": (2, 5, 3)},
    lambda *_: [[1, 2], [3]],
    lambda *_: (object(), object()),
    lambda *_: np.complex128(1j),
    lambda *_: 1 / 0,
)


def lost(
    grade_id: str, check: CheckResult = WRONG, illustrations: tuple[Illustration, ...] = ()
) -> CellResult:
    """Return a test cell that lost a point, or with another check."""
    return CellResult(grade_id=grade_id, max_score=Decimal(1), checks=(check,), illustrations=illustrations)


def ask(grade_id: str, names: dict[str, Any]) -> tuple[Illustration, ...]:
    """Return the pictures of a cell that lost points, for names of this process."""
    return illustrated(ASSIGNMENT, grade_id, lost(grade_id), LocalNames(names))


def variants(kind: str, grade_id: str) -> list[Variant]:
    """Return the known solutions whose code a cell judges."""
    home = HOMES[grade_id]
    if kind == "misconceptions":
        return [one for one in VARIANTS[kind] if one.loses == grade_id]
    return [one for one in VARIANTS[kind] if program_of(home, one) is not None]


def program_of(home: Any, one: Variant) -> Callable[[], dict[str, Any]] | None:
    """Return a variant's program in a notebook, or None if it changes nothing there."""
    try:
        return program(home, one)
    except NotebookError:
        return None


def assert_drawn(found: tuple[Illustration, ...]) -> None:
    """Fail unless pictures are small, come back as they were, and are drawn without harm."""
    record = json.dumps([one.to_dict() for one in found])
    assert len(record) < MOST_BYTES
    assert illustrations(json.loads(record)) == found
    parts = "".join(side.drawing for figure in figures(found, "f") for row in figure.rows for side in row)
    meta = "<meta content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"
    assert_harmless(Page(f"<style></style>{meta}{parts}"))


# ------------------------------------------------------------------- truth


@pytest.mark.parametrize("grade_id", PICTURED)
def test_no_picture_blames_a_right_solution(grade_id: str) -> None:
    """However it is written, what a right solution gives is drawn as right."""
    for one in variants("alternatives", grade_id):
        found = ask(grade_id, program(HOMES[grade_id], one)())

        assert found
        assert all(picture.is_right for picture in found), one.name


@pytest.mark.parametrize("grade_id", PICTURED)
def test_most_mistakes_are_seen_in_a_picture(grade_id: str) -> None:
    """A picture of a wrong solution shows what is wrong, unless it is wrong for other inputs only."""
    seen = []
    for one in variants("misconceptions", grade_id):
        found = ask(grade_id, program(HOMES[grade_id], one)())
        assert_drawn(found)
        seen.append(any(not picture.is_right for picture in found))

    assert len(seen) >= 4
    assert sum(seen) >= SHOWN_WRONG * len(seen)


def test_the_right_side_is_the_definition() -> None:
    """Written out number by number, as the lesson defines the split and the merge."""
    (split,) = ask("test_split_heads", {"split_heads": lambda *_: None})
    (merge,) = ask("test_merge_heads", {"merge_heads": lambda *_: None})

    for head, rows in enumerate(split.right):
        for token, numbers in enumerate(rows):
            assert numbers == tuple(token * 6 + head * 3 + feature for feature in range(3))
    assert merge.right == (tuple(tuple(range(6 * token, 6 * token + 6)) for token in range(5)),)


def test_theirs_is_what_the_function_gives() -> None:
    """A picture shows the student's numbers in the student's order, in a wrong shape too."""
    (split,) = ask("test_split_heads", {"split_heads": lambda x, h: x.reshape(5, h, 3)})
    (count,) = ask(
        "test_parameter_count",
        {"parameter_count": lambda d, _: 3 * d * d, "single_head_parameter_count": lambda d: 4 * d * d},
    )

    assert split.shape == (5, 2, 3)
    assert [numbers for rows in split.theirs for numbers in rows][3] == (9, 10, 11)
    assert list(count.theirs[0][0]) == [108]
    assert (
        figures((split,), "f")[0].finding
        == "Your result has the shape (5, 2, 3), the right one has (2, 5, 3)."
    )
    assert "as many as 3 of these matrices" in figures((count,), "f")[0].finding


def test_a_wrong_mask_is_named_by_its_place() -> None:
    """The words say which weight should not be there, and they are those of the drawing."""

    class Open(reference.MultiHeadAttention):
        def forward(self, x: Any, mask: Any = None) -> Any:
            del mask
            return super().forward(x)

    (found,) = ask("test_forward", {"MultiHeadAttention": Open})
    (figure,) = figures((found,), "f")

    weight = found.theirs[0][0][1]
    assert figure.finding == (
        f"In your head 0, query 0 gives the weight {weight:.2f} to key 1, which is hidden from it."
    )
    assert f"{weight:.2f} hidden" in figure.rows[0][0].drawing
    assert [side.label for row in figure.rows for side in row] == [
        "Yours, head 0",
        "Right, head 0",
        "Yours, head 1",
        "Right, head 1",
    ]


# ------------------------------------------------------ whatever code does


@pytest.mark.parametrize("grade_id", PICTURED)
@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_whatever_a_function_gives_is_drawn_or_left_out(grade_id: str, number: int) -> None:
    """Student code lies, raises and returns monsters; pages are written all the same."""
    wrong = HOSTILE[number]
    layer = type(
        "MultiHeadAttention", (), {"__init__": lambda *_, **__: None, "split_heads": wrong, "forward": wrong}
    )
    names = {"split_heads", "merge_heads", "parameter_count", "single_head_parameter_count"}

    found = ask(grade_id, dict.fromkeys(names, wrong) | {"MultiHeadAttention": layer})

    assert found
    assert not any(picture.is_right for picture in found)
    assert_drawn(found)
    assert all(len(figure.finding) < 200 for figure in figures(found, "f"))


@pytest.mark.parametrize("grade_id", PICTURED)
@pytest.mark.parametrize("value", [None, 7, "text", (), np.arange(3), object()], ids=type)
def test_what_is_no_function_is_drawn_or_left_out(grade_id: str, value: Any) -> None:
    """A name may stand for anything; so may what a class makes."""
    names = {"split_heads", "merge_heads", "parameter_count", "single_head_parameter_count"}

    for layer in (value, lambda *_, **__: value):
        found = ask(grade_id, dict.fromkeys(names, value) | {"MultiHeadAttention": layer})

        assert not any(picture.is_right for picture in found)
        assert_drawn(found)


def test_a_students_exception_is_told_without_its_words() -> None:
    """Its message and the name of its class are the student's to choose."""

    class SecretError(Exception):
        """Not to be shown."""

    def split_heads(*_: Any) -> None:
        raise SecretError("secret")

    (found,) = ask("test_split_heads", {"split_heads": split_heads})

    assert found.problem == "raised Exception"
    assert found.right
    assert "ecret" not in json.dumps(found.to_dict())


@pytest.mark.parametrize("end", [LimitReached("wall_time_s"), WorkerDied("exit"), WireError("no answer")])
@pytest.mark.parametrize("grade_id", PICTURED)
def test_an_end_of_the_process_costs_the_picture_only(end: Exception, grade_id: str) -> None:
    """A picture is never a reason for an error of ours."""

    class Ending:
        def scope(self, name: str) -> None:
            """Know every name."""

        def request(self, request: bytes) -> bytes:
            assert request
            raise end

    found = illustrated(ASSIGNMENT, grade_id, lost(grade_id), Ending())

    assert_drawn(found)
    assert not any(picture.theirs for picture in found)


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": Outcome.PASSED},
        {"outcome": Outcome.LIMIT, "error": "wall_time_s"},
        {"outcome": Outcome.MISSING},
        {"outcome": Outcome.ERROR, "error": "NotImplementedError"},
    ],
)
def test_nothing_is_asked_where_there_is_nothing_to_show(changes: dict[str, Any]) -> None:
    """Right code needs no picture, unwritten code has none, and code that hangs would hang again."""
    check = replace(WRONG, **changes)

    def split_heads(*_: Any) -> None:
        pytest.fail("it was called")

    cell = lost("test_split_heads", check)
    names = LocalNames({"split_heads": split_heads})

    assert illustrated(ASSIGNMENT, "test_split_heads", cell, names) == ()
    assert illustrated(ASSIGNMENT, None, lost("test_split_heads"), names) == ()
    assert illustrated("no_assignment", "test_split_heads", lost("test_split_heads"), names) == ()


# ------------------------------------------------------------ reading back

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=12,
)
PANELS = st.lists(
    st.lists(st.lists(st.none() | st.integers() | st.floats(), max_size=4), max_size=4), max_size=4
)


@settings(deadline=None, max_examples=300)
@given(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from([*map(str, Kind), "other"]),
            "asked": st.text(max_size=9),
            "right": PANELS | ANYTHING,
            "theirs": PANELS | ANYTHING,
            "shape": st.lists(st.integers(min_value=-1), max_size=3) | ANYTHING,
            "problem": st.sampled_from(["", "raised <b>"]),
            "width": st.integers(min_value=-1, max_value=9),
            "mask": st.lists(st.lists(st.booleans(), max_size=4), max_size=4) | ANYTHING,
            "parts": st.lists(st.text(max_size=3), max_size=4) | ANYTHING,
        }
    )
    | ANYTHING
)
def test_whatever_stands_in_a_file_is_drawn_or_left_out(record: Any) -> None:
    """A graded notebook may have been edited since."""
    for one in illustrations([record]):
        for side in (one.right, one.theirs):
            assert sum(len(row) for panel in side for row in panel) <= MOST_NUMBERS
        for figure in figures((one,), "f"):
            assert figure.finding


def test_a_result_without_its_picture_is_still_a_result() -> None:
    """A picture that cannot be read is left out; the points stay."""
    cell = lost("test_split_heads", illustrations=ask("test_split_heads", {"split_heads": lambda *_: None}))
    record = json.loads(json.dumps(cell.to_dict()))

    assert CellResult.from_dict(record) == cell
    record["illustrations"][0]["right"] = "much"
    assert CellResult.from_dict(record) == lost("test_split_heads")
    assert "illustrations" not in lost("test_split_heads").to_dict()
