"""Test cells run as they were handed out, whatever cells before have done to the shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.sandbox.process import Worker

    Start = Callable[..., Worker]

pytestmark = pytest.mark.sandbox

WRONG = "def f(x):\n    {trick}\n    return 0"
ASSERTS = "assert f(2) == 4, 'the square of 2 is 4'\nassert f(3) == 9"
SCORE = "score = 0.0\nif f(2) == 4:\n    score += 2\nscore"

DROPPING = """
import ast
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.copy_location(ast.Pass(), node)
ip = get_ipython()
"""
# What a cell before, or the function itself while it is tested, does to make a wrong answer pass.
BEFORE = {
    "drops asserts from trees": DROPPING + "ip.ast_transformers.append(Drop())",
    "drops asserts from lines": (
        "ip = get_ipython()\n"
        "ip.input_transformers_post.append(lambda lines: [line.replace('assert', '') for line in lines])"
    ),
    "drops asserts while cleaning": (
        "get_ipython().input_transformer_manager.cleanup_transforms.append("
        "lambda lines: [line.replace('assert', '0,') for line in lines])"
    ),
    "compiles without asserts": DROPPING
    + (
        "import builtins\nown = builtins.compile\n"
        "def compiled(source, *args, **kwargs):\n"
        "    tree = own(source, *args, **kwargs)\n"
        "    return Drop().visit(tree) if isinstance(tree, ast.AST) else tree\n"
        "builtins.compile = compiled"
    ),
    "has a compiler of its own": DROPPING
    + (
        "class Mine(type(ip.compile)):\n"
        "    def ast_parse(self, *args, **kwargs): return Drop().visit(super().ast_parse(*args, **kwargs))\n"
        "    def __call__(self, source, *args, **kwargs):\n"
        "        return super().__call__(Drop().visit(source), *args, **kwargs)\n"
        "ip.compile = Mine()"
    ),
    "runs nothing": (
        "ip = get_ipython()\nold = ip.run_cell\ndone = old('0;')\nip.run_cell = lambda *a, **k: done"
    ),
    "runs no code": (
        "ip = get_ipython()\nasync def run_code(*args, **kwargs): return False\nip.run_code = run_code"
    ),
    "runs no code, whatever the shell": (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "async def run_code(*args, **kwargs): return False\nInteractiveShell.run_code = run_code"
    ),
    "shows no values": "get_ipython().ast_node_interactivity = 'none'",
    "shows no values, whatever the shell": (
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "InteractiveShell.ast_node_interactivity = 'none'"
    ),
    "makes the display hook do nothing": (
        "from IPython.core.displayhook import DisplayHook\n"
        "DisplayHook.__call__ = lambda self, value=None: None"
    ),
    "cannot show a traceback": (
        "from IPython.core.interactiveshell import InteractiveShell\nInteractiveShell.showtraceback = None"
    ),
    "takes the error back": (
        "def forgive(result): result.error_in_exec = result.error_before_exec = None\n"
        "get_ipython().events.register('post_run_cell', forgive)"
    ),
    "leaves steps out": (
        "import sys\ndef leave(frame, event, arg):\n"
        "    if event == 'line' and frame.f_code.co_name == '<module>':\n"
        "        try: frame.f_lineno += 1\n        except ValueError: pass\n"
        "    return leave\nsys.settrace(leave)"
    ),
    "shows no traceback": (
        "ip = get_ipython()\nip.showtraceback = ip._showtraceback = lambda *args, **kwargs: None"
    ),
}
DURING = {
    "replaces the display hook": "import sys; sys.displayhook = lambda value: None",
    "replaces what it does": "get_ipython().displayhook.fill_exec_result = lambda value: None",
    "ends the line with a semicolon": (
        "h = get_ipython().history_manager; h.input_hist_parsed[-1] += ';'; h.input_hist_raw[-1] += ';'"
    ),
    "shows a score of its own": "get_ipython().displayhook(2.0)",
    "clears the outputs": "from IPython.display import clear_output; clear_output()",
    "exits": "import sys; sys.exit(0)",
    "asks to exit": "exit()",
    "stops the cell": "raise KeyboardInterrupt",
    "stops a generator": "raise StopIteration",
}


@pytest.mark.parametrize("trick", BEFORE.values(), ids=BEFORE)
def test_what_a_cell_before_changes_does_not_reach_a_test_cell(start: Start, trick: str) -> None:
    """Asserts stand in it, it is run, and its value is the one of its last expression."""
    worker = start()
    worker.run_cell(trick)
    # What is no test cell may not run any more, so the answer comes in one that is.
    worker.run_cell(WRONG.format(trick="pass"), graded=True)
    asserts = worker.run_cell(ASSERTS, graded=True)
    score = worker.run_cell(SCORE, graded=True)

    assert (asserts.error, asserts.reached) == ("AssertionError", False)
    assert (score.error, score.reached, score.value) == ("", True, 0)


@pytest.mark.parametrize("trick", DURING.values(), ids=DURING)
def test_what_the_tested_code_changes_does_not_make_it_right(start: Start, trick: str) -> None:
    """Either the cell does not come to its end, or its own value is told."""
    worker = start()
    worker.run_cell(WRONG.format(trick=trick))
    asserts = worker.run_cell(ASSERTS, graded=True)
    score = worker.run_cell(SCORE, graded=True)

    assert asserts.error
    assert not asserts.reached
    assert (score.reached, score.value) in {(True, 0), (False, None)}


@pytest.mark.parametrize("trick", BEFORE.values(), ids=BEFORE)
def test_a_right_answer_passes_all_the_same(start: Start, trick: str) -> None:
    """Who changes the shell for reasons of their own loses nothing by it."""
    worker = start()
    worker.run_cell(trick)
    worker.run_cell("def f(x): return x * x", graded=True)
    asserts = worker.run_cell(ASSERTS, graded=True)
    score = worker.run_cell(SCORE, graded=True)

    assert (asserts.error, asserts.reached, asserts.value_type) == ("", True, "")
    assert (score.error, score.reached, score.value) == ("", True, 2)


def test_the_shell_is_the_students_again_afterwards(start: Start) -> None:
    """A transformer of units or of symbols goes on working in their own cells."""
    worker = start()
    worker.run_cell(
        "import ast\nclass Twice(ast.NodeTransformer):\n"
        "    def visit_Constant(self, node):\n"
        "        return ast.copy_location(ast.Constant(2 * node.value), node)\n"
        "get_ipython().ast_transformers.append(Twice())"
    )

    assert [worker.run_cell("5", graded=graded).value for graded in (False, True, False)] == [10, 5, 10]


SOURCES = {
    "": None,
    "\n\n": None,
    "# a comment": None,
    "x = 3": None,
    "x = 3\n\nx * 0.5": 1.5,
    "for _ in range(3):\n    pass": None,
    "%time 0.5": 0.5,
    "%%time\n0.25": 0.25,
    "%precision 3\n0.5": 0.5,
    "import asyncio\nawait asyncio.sleep(0)\n0.5": 0.5,
    "async def one(): return 1\nawait one()": 1,
    "from __future__ import annotations\n2": 2,
    "'''text'''\n1;": 1,
    "def g():\n    return 1\ng()  # a remark": 1,
    ">>> 1 + 1": 2,
    "  4": 4,
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_test_cell_is_still_a_cell(start: Start, source: str) -> None:
    """With magics, top-level await, prompts and empty lines; a value hidden by a semicolon is one."""
    run = start().run_cell(source, graded=True)

    assert (run.error, run.value) == ("", SOURCES[source])
    assert run.reached or not source.strip()


def test_it_shows_what_it_would_show(start: Start) -> None:
    """Its outputs and the names it leaves behind are those of any cell."""
    source = "import sys\nprint('one')\nprint('two', file=sys.stderr)\ny = 3\ny"
    plain, graded = (start().run_cell(source, graded=graded) for graded in (False, True))
    worker = start()
    names = []
    for graded_too in (False, True):
        worker.run_cell("x = 1", graded=graded_too)
        names.append(worker.run_cell("print(sorted(globals()))").outputs[0]["text"])

    assert plain.outputs == graded.outputs
    assert len(names[0].split(",")) <= len(names[1].split(",")) <= len(names[0].split(",")) + 4


def test_a_failed_assert_shows_its_line(start: Start) -> None:
    """The traceback points into the cell as the student sees it."""
    run = start().run_cell("x = 2\n\nassert x == 3, 'x should be 3'\nx", graded=True)

    assert run.error == "AssertionError"
    assert run.outputs[-1]["evalue"] == "x should be 3"
    assert "----> 3 assert x == 3" in "\n".join(run.outputs[-1]["traceback"])
