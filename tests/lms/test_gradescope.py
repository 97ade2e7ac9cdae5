"""Gradescope takes every ``results.json`` whole, with the score that we mean."""

from __future__ import annotations

import json
from decimal import Decimal

import jsonschema
import pytest
from gradescope_schema import read_results, seen_by_students, total
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.lms.gradescope import (
    GradescopeResults,
    GradescopeTest,
    Markup,
    Visibility,
    failure_json,
    results_json,
)
from autograder.lms.model import rounded

POINTS = st.decimals(0, 1000, allow_nan=False, allow_infinity=False)
TESTS = st.builds(
    GradescopeTest,
    name=st.text(),
    max_score=POINTS,
    score=st.none() | POINTS,
    number=st.sampled_from(["", "1.2"]),
    passed=st.sampled_from([None, True, False]),
    output=st.text(),
    markup=st.sampled_from(Markup),
    visibility=st.sampled_from(Visibility),
    tags=st.lists(st.text(), max_size=2).map(tuple),
)


@settings(max_examples=30)
@given(
    score=POINTS,
    tests=st.lists(TESTS, max_size=4).map(tuple),
    output=st.text(),
    execution_time_s=st.none() | st.floats(0, 1e4),
)
def test_all_results_are_taken(
    score: Decimal, tests: tuple[GradescopeTest, ...], output: str, execution_time_s: float | None
) -> None:
    """Whatever students and checks say: the documented shape, and the whole score counts."""
    data = results_json(
        GradescopeResults(score=score, tests=tests, output=output, execution_time_s=execution_time_s)
    )

    record = read_results(data)
    assert Decimal(str(total(record))) == rounded(score)
    assert "\\u0000" not in data.decode()
    for test, told in zip(tests, record["tests"], strict=True):
        assert ("score" in told, "max_score" in told) == (test.score is not None,) * 2
        if test.score is not None:
            assert abs(Decimal(str(told["score"])) - test.score) <= Decimal("0.000005")
        assert told.get("status", "") == {True: "passed", False: "failed", None: ""}[test.passed]


def test_a_naive_writer_falls_into_each_trap() -> None:
    """The schema refuses what Python's own ``json`` writes gladly, and a result without a score."""
    with pytest.raises(ValueError, match="NaN"):
        read_results(json.dumps({"score": float("nan")}).encode())
    lacking: list[dict[str, object]] = [
        {},
        {"tests": []},
        {"tests": [{"name": "one"}]},
        {"score": "3"},
        {"score": 1, "points": 2},
    ]
    for wrong in lacking:
        with pytest.raises(jsonschema.ValidationError):
            read_results(json.dumps(wrong).encode())
    with pytest.raises(jsonschema.ValidationError):
        read_results(json.dumps({"score": 1, "tests": [{"status": "error"}]}).encode())


def test_no_score_is_refused_and_not_written() -> None:
    """A result without a number would show that the autograder has failed; NaN is no JSON."""
    waits = GradescopeTest(name="essay", max_score=Decimal(3), score=None)
    for tests in ((), (waits,)):
        with pytest.raises(ValueError, match="needs a score"):
            results_json(GradescopeResults(score=None, tests=tests))
    for wrong in ("nan", "inf"):
        with pytest.raises(ValueError, match="no score"):
            results_json(GradescopeResults(score=Decimal(wrong)))
        bad = GradescopeTest(name="one", max_score=Decimal(3), score=Decimal(wrong))
        with pytest.raises(ValueError, match="no score"):
            results_json(GradescopeResults(score=Decimal(1), tests=(bad,)))


def test_a_failure_is_never_a_score() -> None:
    """What could not be graded has words and no number, so Gradescope takes it for a failure."""
    data = failure_json("It breaks off.\x00")

    assert json.loads(data)["output"] == "It breaks off.\N{REPLACEMENT CHARACTER}"
    with pytest.raises(jsonschema.ValidationError):
        read_results(data)
    read_results(json.dumps(json.loads(data) | {"score": 0}).encode())


def test_float_noise_is_not_shown() -> None:
    """Three tenths are 0.3, and a third has five decimals."""
    tests = tuple(
        GradescopeTest(name=str(at), max_score=Decimal(1), score=score)
        for at, score in enumerate([Decimal(0.1 + 0.2), Decimal(1) / 3, Decimal("1.000")])
    )

    record = read_results(results_json(GradescopeResults(score=None, tests=tests)))

    assert [test["score"] for test in record["tests"]] == [0.3, 0.33333, 1]
    assert b'"score": 1,' in results_json(GradescopeResults(score=Decimal("1.00"), output="x"))


def test_students_see_what_is_visible() -> None:
    """Each test has its own visibility; a hidden one takes the total away, which Gradescope does."""
    shown = GradescopeTest(name="shown", max_score=Decimal(1), score=Decimal(1))
    late = GradescopeTest(
        name="late", max_score=Decimal(1), score=Decimal(0), visibility=Visibility.AFTER_DUE_DATE
    )
    hidden = GradescopeTest(name="no", max_score=Decimal(1), score=Decimal(0), visibility=Visibility.HIDDEN)

    def seen(
        *tests: GradescopeTest, whole: Visibility = Visibility.VISIBLE
    ) -> tuple[float | None, list[str]]:
        return seen_by_students(
            read_results(results_json(GradescopeResults(score=Decimal(1), tests=tests, visibility=whole)))
        )

    assert seen(shown, late) == (1, ["shown"])
    assert seen(shown, hidden) == (None, ["shown"])
    assert seen(shown, whole=Visibility.AFTER_PUBLISHED) == (None, [])


def test_what_was_printed_is_for_instructors() -> None:
    """A traceback of a hidden check in the output would give it away."""
    record = read_results(results_json(GradescopeResults(score=Decimal(1))))

    assert record["stdout_visibility"] == "hidden"
