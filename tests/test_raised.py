"""What exceptions say: their own words and the line, none of IPython's names for a cell."""

from __future__ import annotations

import pytest

from autograder.raised import said


@pytest.mark.parametrize(
    ("message", "words", "line"),
    [
        ("expected ':' (<ipython-input-5-55e6c6c55361>, line 1)", "expected ':'", 1),
        ("invalid syntax (1234567890.py, line 12)", "invalid syntax", 12),
        ("'(' was never closed (<unknown>, line 3)", "'(' was never closed", 3),
        ("two\n lines (<string>, line 2)", "two lines", 2),
        ("no place", "no place", None),
        ("(<ipython-input-5-55e6c6c55361>, line 1) is not at the end", None, None),
        (f"a line of (<string>, line {'9' * 5000})", None, None),
    ],
)
def test_a_syntax_error_is_told_without_the_cells_file(
    message: str, words: str | None, line: int | None
) -> None:
    """A name such as ipython-input-5 is in no student's notebook; the line is."""
    assert said("SyntaxError", message) == (message if words is None else words, line)


def test_what_other_exceptions_say_is_theirs() -> None:
    """A student's own message may speak of a file and a line."""
    assert said("ValueError", "bad table (data.py, line 3)") == ("bad table (data.py, line 3)", None)
