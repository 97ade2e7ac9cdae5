"""How a cell ended is told by the shell, whatever its outputs show."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.cells import CellRun
from autograder.sandbox.session import CodeCell, NotebookSession

if TYPE_CHECKING:
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.process import Worker
    from autograder.sandbox.sandbox import Sandbox

VALUES = {
    "0.5": (0.5, "float"),
    "1 == 1": (True, "bool"),
    "-1": (-1, "int"),
    "np.float64(0.25)": (0.25, "float64"),
    "np.int64(3)": (3, "int64"),
    "np.bool_(False)": (False, "bool"),
    "2**70": (None, "int"),
    "'3.0'": (None, "str"),
    "np.ones(2)": (None, "ndarray"),
    "class Full(float): pass\nFull(3)": (None, "Full"),
    "x = 3": (None, ""),
    "None": (None, ""),
    "3;": (None, ""),
    "3\nx = 4": (None, ""),
    "%time 0.5": (0.5, "float"),
    "import asyncio\nawait asyncio.sleep(0)\n0.5": (0.5, "float"),
}
ERRORS = {
    "1 / 0": "ZeroDivisionError",
    "def f(:": "SyntaxError",
    "return 3": "SyntaxError",
    "assert False": "AssertionError",
    "import sys; sys.exit(0)": "SystemExit",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
    "%no_such_magic": "UsageError",
    "%%no_such_magic\n3": "UsageError",
    "while True: pass": "WallTimeExceeded",
    "class Mine(BaseException): pass\nraise Mine": "Mine",
    "try: 1 / 0\nexcept ZeroDivisionError: get_ipython().showtraceback()": "",
    "get_ipython().run_cell('1 / 0');": "",
    "import sys\nprint('careful', file=sys.stderr)": "",
    "import warnings\nwarnings.warn('careful')": "",
}
HIDDEN = (
    "def quiet(*args, **kwargs): pass\nip = get_ipython()\n"
    "ip.showtraceback = ip._showtraceback = ip.showsyntaxerror = quiet"
)
# A value that code passes off as the cell's.
FORGED = {
    "calls the display hook": "def f(): get_ipython().displayhook(3.0)",
    "calls it by its other name": "import sys\ndef f(): sys.displayhook(3.0)",
    "runs a cell": "def f(): get_ipython().run_cell('3.0')",
    "compiles an expression": "def f(): exec(compile('3.0', 'x', 'single'))",
    "fills the result in": "def f(): get_ipython().displayhook.fill_exec_result(3.0)",
    "calls it from what is shown": (
        "class Shown:\n    def __repr__(self):\n        get_ipython().displayhook(3.0)\n        return ''\n"
        "def f(): display(Shown())"
    ),
}


@pytest.mark.sandbox
@pytest.mark.parametrize("source", VALUES)
def test_the_value_of_the_last_expression_is_told(worker: Worker, source: str) -> None:
    """As a number if it is one, with its class; a plain number, whatever class of numpy it has."""
    worker.run_cell("import numpy as np")
    run = worker.run_cell(source)

    assert (run.value, run.value_type) == VALUES[source]
    assert type(run.value) is type(VALUES[source][0])
    assert (run.error, run.results, run.extra_results) == ("", bool(VALUES[source][1]), 0)


@pytest.mark.sandbox
@pytest.mark.parametrize("hidden", [False, True], ids=["shown", "hidden"])
@pytest.mark.parametrize("source", ERRORS)
def test_an_exception_is_told_whether_it_is_shown_or_not(worker: Worker, source: str, hidden: bool) -> None:  # noqa: FBT001 - a parameter of the test
    """It is what ended the cell, not what stands in its outputs."""
    worker.run_cell(HIDDEN if hidden else "")

    assert worker.run_cell(source).error == ERRORS[source]


@pytest.mark.sandbox
@pytest.mark.parametrize("source", FORGED.values(), ids=FORGED)
@pytest.mark.parametrize("last", ["", "\n0.5"], ids=["without", "with"])
def test_a_value_that_called_code_shows_is_none_of_the_cells(worker: Worker, source: str, last: str) -> None:
    """A grader that takes the first value that is shown is fooled; here they are told apart."""
    worker.run_cell(source)
    run = worker.run_cell(f"f(){last}" if last else "f()\nx = 0")

    assert run.extra_results <= 1
    assert run.value == (0.5 if last else None)
    assert run.results == bool(last)


@pytest.mark.sandbox
def test_every_expression_that_is_shown_counts_for_those_who_want_to_see_all(worker: Worker) -> None:
    """Students turn this on; then the last of them is the value."""
    worker.run_cell(
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.ast_node_interactivity = 'all'"
    )
    run = worker.run_cell("1\n2\nx = 3")

    assert (run.value, run.results, run.extra_results) == (2, 2, 0)


@pytest.mark.sandbox
def test_a_session_tells_how_each_cell_ended(sandbox: Sandbox, limits: Limits) -> None:
    """Those that kill their process as well."""
    sources = ("0.5", "1 / 0", "import os; os._exit(1)", "sum(range(10**12))", "3")
    with NotebookSession(
        lambda: sandbox.start(limits), [CodeCell(one) for one in sources], limits
    ) as session:
        outputs = session.run()

    assert [run.error for run in session.runs] == ["", "ZeroDivisionError", "WorkerDied", "LimitReached", ""]
    assert [run.value for run in session.runs] == [0.5, None, None, None, 3]
    assert [run.outputs for run in session.runs] == outputs


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(10**4000),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(CellRun.__slots__, json_like)))
def test_whatever_is_told_becomes_a_record(answer: dict[str, Any]) -> None:
    """Of bounded size, which a file can hold; what does not say that no exception was met has met one."""
    run = CellRun.told(answer)

    assert isinstance(run.outputs, list)
    assert len(run.error.encode()) <= 800
    assert len(run.value_type.encode()) <= 800
    assert all(0 <= count <= 10**6 for count in (run.results, run.extra_results))
    assert run.value is None or math.isnan(run.value) or abs(run.value) < 2**64 or type(run.value) is float
    assert run.error or answer["error"] == ""
