"""The student's names in a check: asked for, called, looked at again, and never believed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from own_checks import CLAIMED, run

from autograder.checks.suite import LocalNames
from autograder.results import Outcome
from autograder.wire.codec import decode

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from autograder.checks.plugin import CheckRun
    from autograder.checks.student import Exchange
    from autograder.checks.suite import CheckSuite

    Suite = Callable[..., CheckSuite]


def test_arguments_are_copies_and_can_be_asked_back(suite: Suite) -> None:
    """What a student does to an argument shows only where a check looks."""
    made = suite(
        f"""
{CLAIMED}    x = np.arange(3.0)
    made = student.f.record(x)
    assert x.tolist() == [0, 1, 2]
    assert made.args[0].tolist() == [9, 1, 2]
    student.f(np.arange(3.0))
    assert made.reread() is None
"""
    )

    def f(x: np.ndarray[Any, Any]) -> None:
        x[0] = 9

    (only,) = run(made, f=f)

    assert only.result.outcome is Outcome.PASSED, only.result


def test_a_result_that_changes_later_is_seen(suite: Suite) -> None:
    """A function that returns its own buffer is caught by reading the first result again."""
    made = suite(
        f"""
{CLAIMED}    first = student.f.record(1)
    student.f(2)
    assert first.result.tolist() == [1]
    assert first.reread().tolist() == [2]
"""
    )
    buffer = np.zeros(1)

    def f(x: float) -> np.ndarray[Any, Any]:
        buffer[:] = x
        return buffer

    (only,) = run(made, f=f)

    assert only.result.outcome is Outcome.PASSED, only.result


def test_objects_are_used_where_they_are(suite: Suite) -> None:
    """Classes, instances, attributes, set and get."""
    made = suite(
        f"""
{CLAIMED}    layer = student.Layer(3, scale=2)
    assert layer.type_name == "Layer"
    assert layer.width == 3
    layer.width = np.float64(5)
    assert layer.area() == 10
    assert student.Layer.kind == "square"
    assert student.measure(layer) == 10
    put_off, refused = student.measure.later(layer), student.measure.later(3)
    assert put_off.result() == 10
    with pytest.raises(StudentError): refused.result()
"""
    )

    class Layer:
        kind = "square"

        def __init__(self, width: float, scale: float) -> None:
            self.width, self.scale = width, scale

        def area(self) -> float:
            return self.width * self.scale

    (only,) = run(made, Layer=Layer, measure=lambda layer: layer.area())

    assert only.result.outcome is Outcome.PASSED, only.result


def test_what_students_print_in_calls_is_not_seen(suite: Suite, capsys: pytest.CaptureFixture[str]) -> None:
    """They could print the hidden inputs."""
    made = suite(f"{CLAIMED}    student.f('hidden input')")
    run(made, f=print)

    assert "hidden input" not in capsys.readouterr().out


def test_a_class_name_of_a_students_is_shown_only_if_plain(suite: Suite) -> None:
    """It is text from the student's process, on its way to a page."""
    made = suite(f"{CLAIMED}    student.f()")
    evil = type("<script>", (Exception,), {})

    def f() -> None:
        raise evil

    (only,) = run(made, f=f)

    assert only.result.error == "Exception"


TWO_CHECKS = """
@pytest.mark.points(1)
def test_one(student):
    'One.'
    made = student.Layer(2)
    assert made.double() == 4

@pytest.mark.points(1)
def test_two(student):
    'Two.'
    made = student.Layer(3)
    assert made.double() == 6 and student.Layer.width == 1
    assert student.total([made, student.Layer(4)]) == 7
    assert student.name_of(student.Layer) == 'Layer'
"""


class Layer:
    """What a student might write."""

    width = 1

    def __init__(self, size: int) -> None:
        self.size = size

    def double(self) -> int:
        """Return twice the size."""
        return 2 * self.size


def total(layers: list[Layer]) -> int:
    """Return the sizes, added up."""
    return sum(layer.size for layer in layers)


def operations(exchange: Exchange) -> list[str]:
    """Return what was asked in one exchange."""
    return [step["op"] for step in decode(exchange.request)]


def asked(run: CheckRun) -> list[str]:
    """Return what a check asked, step by step."""
    return [operation for exchange in run.exchanges for operation in operations(exchange)]


def test_what_can_be_called_is_asked_for_once(suite: Suite) -> None:
    """For each test cell, not for each call; what comes back is the same."""
    (one, two) = run(suite(TWO_CHECKS), Layer=Layer, total=total, name_of=lambda layer: layer.__name__)

    assert (one.result.outcome, two.result.outcome) == (Outcome.PASSED, Outcome.PASSED)
    assert [asked(run) for run in (one, two)] == [
        ["get", "call", "get", "call"],  # Layer, Layer(), its double, double()
        # Layer(3), double(), width, total, Layer(4), total(...), name_of, Layer itself, name_of(Layer)
        ["call", "call", "get", "get", "call", "call", "get", "get", "call"],
    ]


def test_a_name_that_is_gone_when_it_is_called_is_missing(suite: Suite) -> None:
    """That it was there for the check before does not make it there."""
    made = suite(
        """
        @pytest.mark.points(1)
        def test_one(student):
            'One.'
            student.f(1)
            student.forget()
            student.f(1)
        """
    )
    names: dict[str, Any] = {"f": abs}
    names["forget"] = lambda *_: names.pop("f")

    (one,) = made.run("test_cell", LocalNames(names), seed=b"ana")

    assert (one.result.outcome, one.result.rationale) == (Outcome.MISSING, "`f` is not defined.")
