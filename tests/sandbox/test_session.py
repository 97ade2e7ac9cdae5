"""A session brings a notebook through, whatever dies on the way."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from autograder.checks.student import Student, StudentMissing
from autograder.sandbox.limits import LimitReached, Limits, WorkerDied
from autograder.sandbox.session import CodeCell, NotebookSession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.sandbox.process import Worker
    from autograder.sandbox.sandbox import Sandbox

    Start = Callable[..., NotebookSession]

pytestmark = pytest.mark.sandbox


@pytest.fixture
def start(sandbox: Sandbox, limits: Limits) -> Iterator[Start]:
    """Return a session of some cells; a cell given as a pair has a name."""
    sessions = []

    def start(*cells: str | tuple[str, str], limits: Limits = limits) -> NotebookSession:
        code = [CodeCell(*cell) if isinstance(cell, tuple) else CodeCell(cell) for cell in cells]
        sessions.append(NotebookSession(lambda: sandbox.start(limits), code, limits))
        return sessions[-1]

    yield start
    for session in sessions:
        session.close()


def shown(session: NotebookSession) -> list[str]:
    """Run a session and return the last thing each cell showed."""
    return [
        (cell[-1].get("ename") or cell[-1].get("text") or cell[-1]["data"]["text/plain"]) if cell else ""
        for cell in session.run()
    ]


def names(session: NotebookSession, name: str) -> Student:
    """Return the student's names as of a named cell."""
    session.scope(name)
    return Student(session.request)


def test_an_error_does_not_stop_later_cells(start: Start) -> None:
    """Each cell is worth its own points."""
    assert shown(start("x = 1", "1 / 0", "x")) == ["", "ZeroDivisionError", "1"]


def test_a_cell_that_kills_its_process_costs_itself_alone(start: Start) -> None:
    """The cells before it run again, those after it follow."""
    cells = ("x = 1", "import os; os._exit(1)", "x", "sum(range(10**12))", "x + 1")

    assert shown(start(*cells)) == ["", "WorkerDied", "1", "LimitReached", "2"]


def test_names_are_those_of_the_test_cells_place(start: Start) -> None:
    """A scratch cell below may bind them anew; nbgrader would not have seen it."""
    session = start("d_k = 64", ("", "test"), "d_k = 3", ("", "later"))
    session.run()

    assert names(session, "test").d_k == 64
    assert names(session, "later").d_k == 3
    assert names(session, "test").d_k == 64


def test_a_helper_bound_anew_later_does_not_reach_back(start: Start) -> None:
    """A function looks its helper up when it is called, and finds that of the test's place."""
    session = start(
        "def helper(): return 1\ndef f(): return helper()", ("", "test"), "def helper(): return 2"
    )
    session.run()

    assert names(session, "test").f() == 1


def test_a_call_that_kills_costs_itself_alone(start: Start) -> None:
    """The next check gets a process in which the cells have run again."""
    session = start("import os\ndef bad(): os._exit(1)\ndef good(): return 7", ("", "test"))
    session.run()

    with pytest.raises(WorkerDied):
        names(session, "test").bad()
    assert names(session, "test").good() == 7


def test_a_call_that_never_returns_costs_itself_alone(start: Start) -> None:
    """An honest loop is interrupted, a stubborn one is killed; both are limits."""
    source = (
        "def honest():\n    while True: pass\ndef stubborn(): return sum(range(10**12))\ndef good(): return 7"
    )
    session = start(source, ("", "test"))
    session.run()

    for name in ("honest", "stubborn"):
        with pytest.raises(LimitReached, match="wall_time_s"):
            getattr(names(session, "test"), name)()
    assert names(session, "test").good() == 7


def test_a_missing_name_is_told(start: Start) -> None:
    """A name of the shell's own is not the student's."""
    session = start(("", "test"))
    session.run()

    with pytest.raises(StudentMissing):
        _ = names(session, "test").split_heads


def test_prints_of_calls_do_not_reach_the_outputs(start: Start) -> None:
    """A student may print the hidden inputs; nobody shall read them in the feedback."""
    session = start("def f(x):\n    print('seen', x)\n    return x", ("", "test"), "print('last')")
    outputs = session.run()
    names(session, "test").f(41)

    assert "seen" not in str(outputs)


def test_hidden_inputs_cannot_be_shown_by_a_later_cell(start: Start) -> None:
    """All cells have run before the first check asks anything."""
    session = start("seen = []\ndef f(x): seen.append(x)", ("", "test"), "print(seen)")
    outputs = session.run()
    names(session, "test").f(41)

    assert outputs[-1][0]["text"] == "[]\n"


def test_a_cell_that_breaks_the_next_one_does_not_use_up_the_time(start: Start) -> None:
    """The next cell is told to have died; then the one before it is left out, and the rest follow."""
    breaks = "import autograder.sandbox.worker.main as worker\nworker.decode = None"

    assert shown(start("x = 1", breaks, "x", "x + 1")) == ["", "", "WorkerDied", "2"]


def test_what_a_cell_does_to_the_streams_ends_with_it(start: Start) -> None:
    """As in a kernel, where such a cell harms nobody but itself."""
    cells = ("import sys\nsys.stdout = sys.stderr = None", "print('out')", "1 / 0", "3")

    assert shown(start(*cells)) == ["", "out\n", "ZeroDivisionError", "3"]


def test_a_notebook_has_a_time_of_its_own(start: Start) -> None:
    """Many slow cells end, and the rest say why they did not run."""
    limits = Limits(wall_time_s=1, notebook_time_s=2)
    cells = ["while True: pass"] * 5

    ends = shown(start(*cells, ("x = 1", "test"), limits=limits))

    assert ends[0] == "WallTimeExceeded"
    assert ends[-1] == "LimitReached"


def test_the_start_of_the_first_process_takes_none_of_it(sandbox: Sandbox) -> None:
    """What the sandbox has to load first is not the student's doing."""
    limits = Limits(wall_time_s=1, notebook_time_s=1.5)

    def slow_start() -> Worker:
        time.sleep(2)
        return sandbox.start(limits)

    with NotebookSession(slow_start, [CodeCell("'ran'")], limits) as session:
        assert shown(session) == ["'ran'"]
