"""The check suite: how a check ends is told, and only what may be shown is told."""

from __future__ import annotations

from decimal import Decimal
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from autograder.checks.suite import CheckSuite, LocalNames, assignments, modules
from autograder.errors import CheckError, OperatorError, SandboxError
from autograder.released import Kind
from autograder.results import Outcome
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.wire.codec import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from autograder.checks.plugin import CheckRun
    from autograder.checks.student import Exchange

    Suite = Callable[..., CheckSuite]

HEAD = """
import numpy as np
import pytest
from autograder.checks.asserts import Mismatch
from autograder.checks.student import StudentError

"""
CLAIMED = "@pytest.mark.points(1)\ndef test_it(student, rng):\n    'It holds.'\n"


@pytest.fixture
def suite(tmp_path: Path) -> Iterator[Suite]:
    """Return a suite of one module, written by the test."""
    made = []

    def suite(text: str) -> CheckSuite:
        (tmp_path / "lesson").mkdir()
        (tmp_path / "lesson" / "test_cell.py").write_text(HEAD + dedent(text))
        made.append(CheckSuite("lesson", root=tmp_path))
        return made[-1]

    yield suite
    for one in made:
        one.close()


def run(suite: CheckSuite, seed: bytes = b"ana", **namespace: Any) -> list[CheckRun]:
    """Run a suite's cell on some names."""
    return suite.run("test_cell", LocalNames(namespace), seed=seed)


def refuse(*_: object) -> None:
    """Raise what a student's function might."""
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("body", "outcome", "rationale"),
    [
        ("assert student.f(2) == 4", Outcome.PASSED, ""),
        ("assert student.f(2) == 5", Outcome.FAILED, ""),
        ("raise Mismatch('one entry differs')", Outcome.FAILED, "one entry differs"),
        ("np.testing.assert_array_equal(student.f(2), 5)", Outcome.FAILED, ""),
        ("student.nothing(2)", Outcome.MISSING, "`nothing` is not defined."),
        ("student.bad(2)", Outcome.ERROR, "Your code raised ZeroDivisionError."),
        ("student.f(2)[0]", Outcome.FAILED, "The result is of a kind that cannot be compared."),
        ("with pytest.raises(StudentError): student.bad(2)", Outcome.PASSED, ""),
        ("with pytest.raises(StudentError): student.f(2)", Outcome.FAILED, ""),
        (
            "with pytest.raises(StudentError): student.nothing(2)",
            Outcome.MISSING,
            "`nothing` is not defined.",
        ),
    ],
)
def test_how_a_check_ends_is_told(suite: Suite, body: str, outcome: Outcome, rationale: str) -> None:
    """Each way to end has its outcome; only texts made to be shown are shown."""
    made = suite(f"{CLAIMED}    {body}")

    (only,) = run(made, f=lambda x: x * x, bad=refuse)

    assert (only.result.outcome, only.result.rationale) == (outcome, rationale)
    assert only.result.claim == "It holds."


def test_hidden_numbers_are_in_no_message(suite: Suite) -> None:
    """An ordinary assertion's message holds the expected value, so it is not shown."""
    made = suite(f"{CLAIMED}    assert student.f(2) == 123456, 'expected 123456'")

    (only,) = run(made, f=lambda x: x)

    assert "123456" not in str(only.result)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(LimitReached("wall_time_s"), Outcome.LIMIT), (WorkerDied("SIGSEGV"), Outcome.ERROR)],
)
def test_an_end_of_the_worker_is_an_outcome(suite: Suite, error: Exception, outcome: Outcome) -> None:
    """Never a pass, and never the end of the batch; even where a check expects an exception."""
    made = suite(f"{CLAIMED}    with pytest.raises(StudentError): student.f(2)")

    class Dying(LocalNames):
        def request(self, _: bytes) -> bytes:
            raise error

    (only,) = made.run("test_cell", Dying({}), seed=b"")

    assert only.result.outcome is outcome


def test_an_operators_failure_is_no_result(suite: Suite) -> None:
    """A machine that fails has graded nobody."""
    made = suite(f"{CLAIMED}    student.f(2)")

    class Failing(LocalNames):
        def request(self, _: bytes) -> bytes:
            raise SandboxError("worker", "does not start", "Look.")

    with pytest.raises(OperatorError, match="does not start"):
        made.run("test_cell", Failing({}), seed=b"")
    (only,) = run(made, f=abs)
    assert only.result.outcome is Outcome.PASSED


@pytest.mark.parametrize("answer", [b"", b"junk", b"\0\0\0\4null", b'\0\0\0\x08["l",[]]'])
def test_a_malformed_answer_fails_the_check(suite: Suite, answer: bytes) -> None:
    """Bytes that are no answer earn nothing."""
    made = suite(f"{CLAIMED}    student.f(2)")

    class Forging(LocalNames):
        def request(self, _: bytes) -> bytes:
            return answer

    (only,) = made.run("test_cell", Forging({}), seed=b"")

    assert only.result.outcome is Outcome.FAILED


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.points(1)\ndef test_it(student): pass",
        "def test_it(student):\n    'It holds.'",
        "@pytest.mark.points(0)\ndef test_it(student):\n    'It holds.'",
        "@pytest.mark.points('many')\ndef test_it(student):\n    'It holds.'",
        "@pytest.mark.points()\ndef test_it(student):\n    'It holds.'",
        "import no_such_module",
        "def broken(:",
        "x = 1",
    ],
)
def test_an_incomplete_module_is_the_instructors_error(suite: Suite, text: str) -> None:
    """A check without a sentence or points, or that cannot be imported, is never skipped in silence."""
    with pytest.raises(CheckError):
        suite(text)


def test_a_skipped_check_is_an_error(suite: Suite) -> None:
    """A check that did not run has earned nothing and cost nothing: it must be mended."""
    made = suite(f"{CLAIMED}    pytest.skip('not today')")

    with pytest.raises(CheckError, match="broken"):
        run(made)


def test_points_of_cases_add_up(suite: Suite) -> None:
    """Each parametrised case is a check with points of its own."""
    made = suite(
        """
        @pytest.mark.points("0.5")
        @pytest.mark.parametrize("x", [1, 2, 3])
        def test_squares(student, x):
            "Squares are right."
            assert student.f(x) == x * x
        """
    )

    runs = run(made, f=lambda x: x * x if x < 3 else 0)

    assert made.points() == {"test_cell": Decimal("1.5")}
    assert [one.result.earned for one in runs] == [Decimal("0.5"), Decimal("0.5"), Decimal(0)]


def test_random_inputs_differ_by_student_and_repeat(suite: Suite) -> None:
    """No input can be hard-coded, and every re-grade repeats."""
    made = suite(
        f"{CLAIMED}    student.f(rng.normal())\n\n"
        + CLAIMED.replace("test_it", "test_two")
        + "    student.f(rng.normal())"
    )

    def drawn(seed: bytes) -> list[float]:
        seen: list[float] = []
        run(made, seed=seed, f=seen.append)
        return seen

    assert drawn(b"ana") == drawn(b"ana")
    assert len({*drawn(b"ana"), *drawn(b"bob")}) == 4


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
    assert student.measure.map([(layer,), (3,)])[0] == 10
    assert isinstance(student.measure.map([(3,)])[0], StudentError)
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


def test_checks_run_again_for_each_notebook(suite: Suite) -> None:
    """Pytest is started once; nothing of one student stays for the next."""
    made = suite(f"{CLAIMED}    assert student.f(2) == 4")
    right, wrong = (lambda x: x * x), (lambda x: x)

    outcomes = [run(made, f=f)[0].result.outcome for f in (right, wrong, right)]

    assert outcomes == [Outcome.PASSED, Outcome.FAILED, Outcome.PASSED]


def test_an_unknown_assignment_or_cell_offers_the_nearest() -> None:
    """A typo in a notebook is told at once."""
    with pytest.raises(CheckError, match="Did you mean 'multi_head_attention'"):
        CheckSuite("multi_head_atention")
    with pytest.raises(CheckError, match="Did you mean 'test_split_heads'"):
        CheckSuite("multi_head_attention", ["test_split_head"])


@pytest.mark.parametrize("assignment", assignments())
def test_checks_add_up_to_the_points_of_their_cells(assignment: str) -> None:
    """Every test cell of the course has its module, and the points agree."""
    from autograder.course import Course  # noqa: PLC0415 - the course at hand

    cells = {
        cell.hidden_check: cell.points
        for book in Course.find().released(assignment)
        for cell in book.graded
        if cell.kind is Kind.TEST
    }
    with CheckSuite(assignment) as suite:
        assert suite.points() == cells
    assert set(modules(assignment)) == set(cells)


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


def operation(exchange: Exchange) -> str:
    """Return what was asked."""
    request = decode(exchange.request, resolve=lambda handle: handle.type_name)
    return str(request["op"])


def test_what_can_be_called_is_asked_for_once(suite: Suite) -> None:
    """For each test cell, not for each call; what comes back is the same."""
    (one, two) = run(suite(TWO_CHECKS), Layer=Layer, total=total, name_of=lambda layer: layer.__name__)

    assert (one.result.outcome, two.result.outcome) == (Outcome.PASSED, Outcome.PASSED)
    asked = [[operation(exchange) for exchange in run.exchanges] for run in (one, two)]
    assert asked == [
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


def test_a_module_is_set_up_anew_for_each_notebook(suite: Suite) -> None:
    """A fixture of wider scope lasts for the checks of one cell on one notebook, no longer."""
    made = suite(
        """
        @pytest.fixture(scope="module")
        def seen():
            return []

        @pytest.mark.points(1)
        def test_one(student, seen):
            'One.'
            seen.append(student.x)
            assert seen == [student.x]

        @pytest.mark.points(1)
        def test_two(student, seen):
            'Two.'
            assert seen == [student.x]
        """
    )

    for x in (1, 2):
        outcomes = [one.result.outcome for one in run(made, x=x)]
        assert outcomes == [Outcome.PASSED, Outcome.PASSED]
