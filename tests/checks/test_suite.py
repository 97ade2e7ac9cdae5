"""The check suite: how a check ends is told, and only what may be shown is told."""

from __future__ import annotations

import sys
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from own_checks import CLAIMED, run

from autograder.checks.suite import CheckSuite, LocalNames, assignments, modules
from autograder.errors import CheckError, OperatorError, SandboxError
from autograder.results import Outcome
from autograder.sandbox.limits import LimitReached, WorkerDied

if TYPE_CHECKING:
    from collections.abc import Callable

    Suite = Callable[..., CheckSuite]


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
    [(LimitReached("wall_time_s"), Outcome.LIMIT), (WorkerDied("SIGSEGV"), Outcome.DIED)],
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
    from autograder.course.course import Course  # noqa: PLC0415 - the course at hand

    cells = {
        cell.hidden_check: cell.points
        for book in Course.find().released(assignment)
        for cell in book.graded
        if cell.hidden_check
    }
    with CheckSuite(assignment) as suite:
        assert suite.points() == cells
    assert set(modules(assignment)) == set(cells)


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


SET_UP = {
    "a fixture of the module's own": """
        @pytest.fixture
        def rng():
            return "mine"

        @pytest.mark.points(1)
        def test_it(student, rng):
            'It holds.'
            assert rng == "mine"
    """,
    "a fixture that is used unseen": """
        ready = []

        @pytest.fixture(autouse=True)
        def prepared():
            ready.append(1)
            yield
            ready.clear()

        @pytest.mark.points(1)
        def test_it(student):
            'It holds.'
            assert ready == [1]
    """,
    "a function that sets up": """
        ready = []

        def setup_function():
            ready.append(1)

        def teardown_function():
            ready.clear()

        @pytest.mark.points(1)
        def test_it(student):
            'It holds.'
            assert ready == [1]
    """,
    "a class": """
        class TestIt:
            @pytest.mark.points(1)
            def test_it(self, student, rng):
                'It holds.'
                assert student.x == 1 and rng.normal()
    """,
    "a parameter": """
        @pytest.mark.points(1)
        @pytest.mark.parametrize("rng", [1])
        def test_it(student, rng):
            'It holds.'
            assert rng == 1
    """,
}


@pytest.mark.parametrize("text", SET_UP.values(), ids=SET_UP)
def test_what_pytest_sets_up_is_set_up(suite: Suite, text: str) -> None:
    """Checks that ask for little are called without pytest's fixtures; all others are not."""
    made = suite(text)

    outcomes = [one.result.outcome for _ in range(2) for one in run(made, x=1)]

    assert outcomes == [Outcome.PASSED, Outcome.PASSED]


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.mark.skip\n@pytest.mark.points(1)\ndef test_it(student):\n    'It holds.'",
        (
            "@pytest.fixture\ndef bad():\n    raise TypeError\n\n"
            "@pytest.mark.points(1)\ndef test_it(student, bad):\n    'It holds.'"
        ),
        (
            "@pytest.fixture\ndef bad():\n    yield\n    raise TypeError\n\n"
            "@pytest.mark.points(1)\ndef test_it(student, bad):\n    'It holds.'"
        ),
    ],
)
def test_a_check_that_cannot_run_is_the_instructors_error(suite: Suite, text: str) -> None:
    """Whatever its fixtures raise is not the student's fault, and no skipped check is a pass."""
    made = suite(text)

    with pytest.raises(CheckError, match="broken"):
        run(made)


def test_a_coroutine_is_no_check(suite: Suite) -> None:
    """Calling it does nothing at all, which must not be a pass."""
    made = suite("@pytest.mark.points(1)\nasync def test_it(student):\n    'It holds.'\n    assert False")

    (only,) = run(made)

    assert only.result.outcome is not Outcome.PASSED


def test_what_stands_beside_the_checks_is_read_anew() -> None:
    """An author changes a module that checks share, and runs them again in the same kernel."""
    name = "autograder.checks.multi_head_attention.forward_cases"
    with CheckSuite("multi_head_attention", ["test_forward"]):
        assert name in sys.modules

    assert name not in sys.modules
