"""What no score and no id should be, and a server tells nevertheless: one clear line, never a traceback."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from canvas_scenes import Scene, grade
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer

from autograder.errors import ServerError
from autograder.lms.model import MOST_DIGITS, read_number, rounded
from autograder.lms.push.model import same_score, score_text
from autograder.lms.push.record import Record
from autograder.lms.push.tokens import MIN_LENGTH, Secret, scrubbed

if TYPE_CHECKING:
    from pathlib import Path

ABSURD = ["1e15", "1" * 27, "9" * 400, "1e400", "-1e30", "NaN", "Infinity", "0x10", "1_000", "٣", ""]
NONE: list[object] = [True, False, None, [], {"a": 1}, float("nan"), float("inf"), 1e30, -(10**40), b"1"]


@pytest.mark.parametrize("value", [*ABSURD, *NONE], ids=repr)
def test_what_is_no_sane_number_is_refused_as_such(value: object) -> None:
    """Beyond some digits arithmetic itself breaks, and a truth value passes for 0 or 1."""
    with pytest.raises(ValueError, match="is no number"):
        read_number(value)


@given(st.decimals(-(10**14), 10**14, places=4), st.sampled_from(["", " ", "\n"]))
def test_a_number_is_read_as_it_is_written(number: Decimal, space: str) -> None:
    """As text, as a number, with spaces around it."""
    assert read_number(f"{space}{number}{space}") == read_number(number) == number
    assert read_number(float(number)) == Decimal(str(float(number)))
    assert read_number(int(number)) == int(number)


@pytest.mark.parametrize("value", ["1e15", "1" * 27, "-1e30", "1e400"])
def test_no_absurd_number_is_rounded_and_a_plan_shows_it_as_none(value: str) -> None:
    """Rounding has one kind of refusal, whatever is wrong."""
    with pytest.raises(ValueError, match="no score"):
        rounded(Decimal(value))
    assert score_text(value) == "?"
    assert not same_score(value, value)
    assert rounded(Decimal("9" * MOST_DIGITS)) == Decimal("9" * MOST_DIGITS)


@pytest.mark.parametrize("value", [1e30, 10**40, float("nan"), float("inf"), True, "9_5", [9]], ids=repr)
@pytest.mark.parametrize("fact", ["entered_score", "points_deducted"])
def test_a_score_of_canvas_that_is_none_ends_the_plan_in_one_line(
    tmp_path: Path, fact: str, value: object
) -> None:
    """It would be compared, rounded and shown as a score."""
    with Scene(tmp_path) as scene:
        facts = scene.world.work[501].facts
        scene.world.work[501].facts = lambda: facts() | {fact: value}  # type: ignore[method-assign]
        with pytest.raises(ServerError, match="the submissions: Canvas answers what nobody can use"):
            scene.plan(grade("ana"))


FACTS: list[dict[str, Any]] = [
    {"group_category_id": "abc"},
    {"group_category_id": [5]},
    {"group_category_id": {"id": 5}},
    {"group_category_id": float("inf")},
    {"points_possible": 1e30},
    {"points_possible": "abc"},
    {"points_possible": [1]},
    {"points_possible": 1e30, "grading_type": "pass_fail"},
    {"grading_type": ["points"]},
    {"grading_type": {"a": 1}},
    {"name": ["HW"], "published": "no", "anonymize_students": None},
]


@pytest.mark.parametrize("facts", FACTS, ids=repr)
def test_facts_of_another_shape_end_in_one_line_or_do_no_harm(tmp_path: Path, facts: dict[str, Any]) -> None:
    """What an assignment has is whatever a server says."""
    with Scene(tmp_path) as scene:
        told = Answer.of(scene.world.assignment | facts)
        scene.canvas._assignment = lambda *_: told  # type: ignore[method-assign]
        try:
            outcomes = scene.done(grade("ana", "9"))
        except ServerError as problem:
            assert "Canvas answers what nobody can use" in str(problem)  # noqa: PT017 - either will do
        else:
            assert set(outcomes) <= {"ana"}


def test_an_id_that_is_half_a_character_can_be_recorded(tmp_path: Path) -> None:
    """JSON may hold half a surrogate pair, and UTF-8 does not."""
    record = Record(tmp_path, "lti https://lms.example/item/\ud800")
    record.note("\udfff", comment_id="\ud83d", score="9.5")
    record.save()

    assert Record(tmp_path, "lti https://lms.example/item/\ud800").of("\udfff") == {
        "comment_id": "\ud83d",
        "score": "9.5",
    }


@pytest.mark.parametrize("value", ["", ".", "a", "in", "1" * (MIN_LENGTH - 1)])
def test_a_secret_that_is_none_tears_no_text_apart(value: str) -> None:
    """A server may call its token "" or ".", and that is in every text."""
    text = "1111111 in one line: a server answers 503. Try again."

    assert scrubbed(text, [Secret(value, "the platform")]) == text
