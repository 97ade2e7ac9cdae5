"""Which cells IPython leaves as they are; IPython itself is asked."""

from __future__ import annotations

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st
from IPython.core.inputtransformer2 import TransformerManager

from autograder.sandbox.worker.shell import _is_as_written

ROOT = Path(__file__).parents[2]
LINES = (
    *("x = 1", "x = a % b", "y %= 3", "if x != y:", "    pass", "f(a, b=!c)", "f(a, b=%c)", "", "    ", "\t"),
    *("%magic", "  %magic", "%%cell", "!ls", "x = !ls", "x = %magic 1", "x=!ls", "x != !y", "x == %y"),
    *("x?", "?x", "x??", "x.y? ", "# why?", "'what?'", "a ? b", ",f a", ";f a", "/f a", "f(a)  # 100%"),
    *(
        ">>> x",
        "... y",
        "...",
        "In [1]: x",
        "   ...: y",
        "[1]: x",
        '"""',
        "'''",
        "(",
        ")",
        "\\",
        "x = (",
        "%y)",
    ),
    *(
        "async def f():",
        "await x",
        "@d",
        "x: int = 5",
        "\x0c",
        "a\rb",
        "a\u2029!b",
        "\x85%c",
        "é = 1",
        "def f(:",
        "'unfinished",
    ),
)
"""Pieces of cells that mean something special, or look so."""


def as_ipython(cell: str) -> str:
    """Return what IPython makes of a cell."""
    return TransformerManager().transform_cell(cell)


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=5).map("\n".join))
def test_a_cell_that_is_left_alone_would_stay_as_it_is(cell: str) -> None:
    """Whether it is Python or not."""
    if _is_as_written(cell):
        assert as_ipython(cell) == cell.removesuffix("\n") + "\n"


def test_cells_of_the_course_are_left_alone() -> None:
    """Nearly all of several lines, or nothing is saved."""
    paths = (ROOT / "solutions" / "multi_head_attention").glob("*.ipynb")
    books = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    cells = [
        "".join(cell["source"]) for book in books for cell in book["cells"] if cell["cell_type"] == "code"
    ]
    longer = [cell for cell in cells if "\n" in cell]
    alone = [cell for cell in longer if _is_as_written(cell)]

    assert len(alone) > 0.9 * len(longer) > 20
    assert [as_ipython(cell) for cell in alone] == [cell + "\n" for cell in alone]
