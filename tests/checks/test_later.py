"""Calls that are put off: one request, in order, each result as it was, each error told once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from own_checks import CLAIMED, run

from autograder.checks.student import Student, StudentError, StudentMissing
from autograder.checks.suite import LocalNames
from autograder.results import Outcome
from autograder.sandbox.limits import LimitReached
from autograder.wire.codec import Handle, decode, encode
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.checks.suite import CheckSuite

    Suite = Callable[..., CheckSuite]


LOOKED_AT = "    with pytest.raises(StudentError): call.result()"


class Layer:
    """What a student might write: a width that may be refused, and a sum."""

    def __init__(self, width: int) -> None:
        if width < 0:
            raise ValueError
        self.width = width

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse a name."""
        if name == "fixed":
            raise TypeError
        object.__setattr__(self, name, value)

    def plus(self, other: int) -> int:
        """Return the width and a number, added."""
        return self.width + other


class Counted:
    """The names of this process, and how many requests came."""

    def __init__(self, **names: Any) -> None:
        self.names, self.requests = LocalNames(names), 0

    def __call__(self, request: bytes) -> bytes:
        """Answer."""
        self.requests += 1
        return self.names.request(request)


def test_what_is_put_off_travels_in_one_request() -> None:
    """Objects, attributes and calls of objects that are not there yet, in the order of the check."""
    send = Counted(Layer=Layer)
    student = Student(send)
    made = student.Layer
    before = send.requests

    layers = [made.later(width) for width in (1, 2)]
    firsts = [layer.plus.later(10) for layer in layers]
    layers[0].width = 5
    seconds = [layer.plus.later(10) for layer in layers]

    assert [one.result() for one in firsts] == [11, 12]
    assert [one.result() for one in seconds] == [15, 12]
    assert layers[1].plus(1) == 3
    assert send.requests == before + 2


def test_arguments_are_those_of_the_call() -> None:
    """What a check does to an array afterwards is not sent."""
    x = np.arange(3.0)
    student = Student(Counted(f=lambda x: x.sum(), Layer=Layer))
    layer, call = student.Layer.later(1), student.f.later(x)
    layer.width = x
    x[:] = 9

    assert call.result() == 3
    assert layer.read("width")[0].tolist() == [0, 1, 2]


def test_each_result_is_as_it_was_returned() -> None:
    """A buffer that is used again would otherwise hold the last result in all of them, right or wrong."""
    buffer = np.zeros(2)

    def f(x: float) -> np.ndarray[Any, Any]:
        buffer[:] = x
        return buffer

    student = Student(Counted(f=f))
    calls = [student.f.later(x) for x in (1, 2, 3)]

    assert [call.result().tolist() for call in calls] == [[1, 1], [2, 2], [3, 3]]


def test_one_call_does_not_see_the_arguments_of_the_next() -> None:
    """Equal arrays of two calls are two arrays."""
    x = np.zeros(2)

    def f(x: np.ndarray[Any, Any]) -> float:
        x += 1
        return float(x[0])

    student = Student(Counted(f=f))

    assert [call.result() for call in [student.f.later(x), student.f.later(x)]] == [1, 1]


def test_an_error_is_that_of_its_call() -> None:
    """The calls before and after it have results."""
    student = Student(Counted(f=lambda x: 6 // x))
    calls = {x: student.f.later(x) for x in (1, 0, 2)}

    assert (calls[1].result(), calls[2].result()) == (6, 3)
    with pytest.raises(StudentError, match="ZeroDivisionError"):
        calls[0].result()


def test_what_needs_a_failed_object_fails_alike() -> None:
    """Whether the class refuses at once or later is all the same to a check."""
    student = Student(Counted(Layer=Layer, double=lambda layer: 2 * layer.width))
    broken, whole = student.Layer.later(-1), student.Layer.later(1)
    double = student.double

    for call in (broken.plus.later(1), double.later(broken), broken.plus.later(2)):
        with pytest.raises(StudentError, match="ValueError"):
            call.result()
    with pytest.raises(StudentError, match="ValueError"):
        broken.read("width")
    assert double(whole) == 2
    student.settle()


def test_an_attribute_that_cannot_be_set_is_told_by_the_next_use() -> None:
    """It is no reason to go on with another value in the object."""
    student = Student(Counted(Layer=Layer))
    for layer in (student.Layer.later(1), student.Layer(1)):
        layer.fixed = 2

        with pytest.raises(StudentError, match="TypeError"):
            layer.plus.later(1).result() if hasattr(layer, "result") else layer.plus(1)
        student.settle()


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("student.Layer.later(-1)", Outcome.ERROR),
        ("student.Layer.later(-1); assert student.f(1) == 1", Outcome.ERROR),
        ("student.Layer.later(1).fixed = 2", Outcome.ERROR),
        ("student.Layer(1).fixed = 2", Outcome.ERROR),
        ("student.Layer.later(1).nothing.later()", Outcome.MISSING),
        ("student.f.later(student.f.nothing)", Outcome.MISSING),
        ("student.Layer.later(1)", Outcome.PASSED),
        (f"call = student.Layer.later(-1)\n{LOOKED_AT}", Outcome.PASSED),
        (f"call = student.Layer.later(-1).plus.later(1).real.later()\n{LOOKED_AT}", Outcome.PASSED),
        ("student.Layer.later(-1); raise Mismatch('worse')", Outcome.FAILED),
    ],
)
def test_an_error_that_a_check_does_not_look_at_costs_it(suite: Suite, body: str, outcome: Outcome) -> None:
    """As an ordinary call would; an error that the check was told does not count again."""
    made = suite(f"{CLAIMED}    {body}")

    (only,) = run(made, Layer=Layer, f=lambda x: x)

    assert only.result.outcome is outcome, only.result


def test_a_missing_name_is_told_by_its_name() -> None:
    """Even if what fails is the use of something that came from it."""
    names: dict[str, Any] = {"Layer": Layer}
    student = Student(Counted(**names), {("", "Gone"): "type"})

    with pytest.raises(StudentMissing) as missing:
        student.Gone.later(1).plus.later(1).result()

    assert missing.value.name == "Gone"


def test_an_attribute_as_argument_is_looked_up_on_the_way() -> None:
    """It costs no exchange of its own, and is what it was at this point."""
    send = Counted(Layer=Layer, name_of=lambda kind: kind.__name__)
    student = Student(send)
    kind, name_of = student.Layer, student.name_of
    before = send.requests
    layer = kind.later(1)

    assert name_of([layer.plus, layer.plus][1]) == "plus"
    assert send.requests == before + 1


def test_exchanges_are_told_step_by_step(suite: Suite) -> None:
    """Diagnosis asks each step again of a known mistake, and compares answer by answer."""
    made = suite(f"{CLAIMED}    calls = [student.f.later(x) for x in (1, 2)]; assert calls[1].result() == 2")
    (only,) = run(made, f=lambda x: x)
    again = LocalNames({"f": lambda x: -x})

    assert [decode(again.request(one.request)) for one in only.exchanges][1:] == [
        [{"value": -1}],
        [{"value": -2}],
    ]
    assert [decode(one.answer) for one in only.exchanges][1:] == [[{"value": 1}], [{"value": 2}]]


FORGED = {
    "no list": encode({"value": 1}),
    "a text": encode("value"),
    "no answer at all": encode([]),
    "an answer too few": encode([{"value": 1}]),
    "an answer too many": encode([{"value": 1}] * 3),
    "no dict": encode([{"value": 1}, 1]),
    "no value": encode([{"value": 1}, {}]),
    "a verdict": encode([{"value": 1}, {"passed": True, "points": 99}]),
    "a limit for one step": encode([{"value": 1}, {"limit": "wall_time_s"}]),
    "a limit that there is not": encode({"limit": "none"}),
    "an error that is no text": encode([{"value": 1}, {"raised": 1}]),
    "bytes after the end": encode([{"value": 1}] * 2) + b"x",
}


@pytest.mark.parametrize("answer", FORGED.values(), ids=FORGED)
def test_a_forged_answer_to_several_steps_is_none(answer: bytes) -> None:
    """Not even those of the steps whose own answers look well; nor is it asked again."""
    answers = [encode([{"value": Handle(0, "function", callable=True)}]), answer]
    student = Student(lambda _: answers.pop(0))
    calls = [student.f.later(x) for x in (1, 2)]

    for call in (calls[1], calls[0], calls[1]):
        with pytest.raises(WireError):
            call.result()


def test_a_limit_stops_all_that_travelled_together() -> None:
    """They share the time of one call."""
    answers = [encode([{"value": Handle(0, "function", callable=True)}]), encode({"limit": "wall_time_s"})]
    student = Student(lambda _: answers.pop(0))
    call = student.f.later(1)

    with pytest.raises(LimitReached, match="wall_time_s"):
        call.result()


@pytest.mark.parametrize("number", [-1, 7, 10**9])
def test_a_handle_of_another_object_is_only_a_handle(number: int) -> None:
    """It can name what lives in the student's own process, or nothing: the process is asked, and may fail."""
    asked = []

    def send(request: bytes) -> bytes:
        asked.append(request)
        return encode([{"value": Handle(number, "Layer")}] * len(decode(request)))

    student = Student(send)
    student.thing.width = 3

    assert student.other.type_name == "Layer"
    assert decode(asked[1])[0]["path"] == (Handle(number, "Layer"),)
    with pytest.raises(WireError):
        LocalNames({"other": 1}).request(asked[1])


def test_text_of_a_student_is_in_no_error() -> None:
    """Of names and classes only those that the check asked for, or that everybody knows."""
    student = Student(lambda _: encode([{"missing": "x is [0.123, 0.456]"}]))
    with pytest.raises(StudentMissing) as missing:
        _ = student.f
    assert missing.value.name == "f"

    student = Student(lambda _: encode([{"raised": "Seen0123"}]))
    with pytest.raises(StudentError) as error:
        _ = student.f
    assert error.value.class_name == "Exception"
