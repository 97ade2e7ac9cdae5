"""What is said to an author of how the cells went."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.explaining import Explainer, Finding

SYNTAX = "invalid syntax. Perhaps you forgot a comma? (<ipython-input-1-1a2b3c>, line 2)"


def raised(name: str, words: str, *frames: str) -> list[dict[str, Any]]:
    """Return the outputs of a cell that raised."""
    return [{"output_type": "error", "ename": name, "evalue": words, "traceback": list(frames)}]


def explained(*cells: tuple[str, list[dict[str, Any]]]) -> list[Finding]:
    """Return how cells went: each is its source and what it has shown."""
    names = [f"cell {number}" for number in range(1, len(cells) + 1)]
    sources, outputs = [source for source, _ in cells], [shown for _, shown in cells]
    return Explainer(names, sources, outputs, 10.0).findings()


def test_a_syntax_error_is_told_without_ipythons_names() -> None:
    """The line is one that the author can find."""
    (found,) = explained(("x = (1\n2)", raised("SyntaxError", SYNTAX, "Cell In[1], line 2")))

    assert found.message == "SyntaxError: invalid syntax. Perhaps you forgot a comma? (line 2)"
    assert found.line == 2
    assert found.is_no_python


@pytest.mark.parametrize(
    "source",
    ["def f(x):\n  return (", "class f:\n  x = (", "  f = (", "from m import g, f(", "async def f(: ("],
)
def test_a_name_that_a_broken_cell_should_define_is_blamed_on_it(source: str) -> None:
    """Else the author looks for the mistake in the test."""
    *_, found = explained(
        ("def fg(): 1 / 0", []),
        ("fg()", raised("ZeroDivisionError", "division by zero")),
        (source, raised("SyntaxError", SYNTAX)),
        ("f(1)", raised("NameError", "name 'f' is not defined", "Cell In[4], line 1")),
    )

    assert found.message == "f is not defined, because cell 3 stops with SyntaxError."
    assert (found.error, found.line) == ("NameError", 1)


def test_a_name_that_nobody_should_define_is_nobodys_fault() -> None:
    """A typing mistake is one."""
    *_, found = explained(
        ("print(f)\n1 / 0", raised("ZeroDivisionError", "division by zero")),
        ("f(1)", raised("NameError", "name 'f' is not defined", "Cell In[2], line 1")),
    )

    assert found.message == "NameError: name 'f' is not defined (line 1)"


def test_what_is_not_filled_in_defines_nothing() -> None:
    """Its author knows that already."""
    *_, found = explained(
        ("d_k = None\nraise NotImplementedError()", raised("NotImplementedError", "")),
        ("d_k + 1", raised("NameError", "name 'd_k' is not defined")),
    )

    assert found.message == "cell 1 is not filled in yet."


def test_the_time_limit_is_told_as_a_time() -> None:
    """Its setting's name says nothing to a student."""
    (found,) = explained(
        ("while True: pass", raised("WallTimeExceeded", "took longer than 10 s and was stopped"))
    )

    assert found.message == "It took longer than 10 s and was stopped. Is there a loop that never ends?"


words = st.text(max_size=30) | st.sampled_from(["name '(' is not defined", "name 'f' is not defined", SYNTAX])
frames = st.lists(st.text(max_size=20) | st.from_regex(r"Cell In\[\d+\], line \d+"), max_size=3)
names = st.sampled_from(
    ["NameError", "AssertionError", "SyntaxError", "LimitReached", "WallTimeExceeded", "E"]
)
cells = st.tuples(
    st.text(max_size=20), st.just([]) | st.builds(lambda n, w, f: raised(n, w, *f), names, words, frames)
)


@settings(deadline=None)
@given(book=st.lists(cells, max_size=4))
def test_whatever_cells_show_each_has_a_finding(book: list[tuple[str, list[dict[str, Any]]]]) -> None:
    """Students write the messages, and the classes."""
    found = explained(*book)

    assert [one.passed for one in found] == [not shown for _, shown in book]
    assert all(one.message for one in found if not one.passed)
