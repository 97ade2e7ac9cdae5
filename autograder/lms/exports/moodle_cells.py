r"""
Moodle: texts that PHP's reader of CSV brings through unharmed, and comments as HTML.

To that reader a quote after a backslash is no end of a cell: a text that ends in
one swallows the cells behind it.
"""

from __future__ import annotations

import html
import re

from autograder.lms.sheets import PLAIN, sheet_bytes
from autograder.lms.texts import storable

_TRAP = re.compile(r'\\(?="|\Z)')


def html_comment(comment: str) -> str:
    """
    Return a comment as Moodle shows it.

    Parameters
    ----------
    comment : str
        Plain text; what looks like HTML in it is text too.

    Returns
    -------
    str
        A paragraph of HTML, which no spreadsheet takes for a formula; empty if there is no text.
    """
    lines = html.escape(storable(comment).strip()).replace("\\", "&#92;").splitlines()
    return f"<p>{'<br>'.join(lines)}</p>" if lines else ""


def safe_html(text: str) -> str:
    r"""
    Return HTML that Moodle reads as it stands, or that shows the same.

    Parameters
    ----------
    text : str
        HTML from Moodle.

    Returns
    -------
    str
        A backslash before a quote or at the end is written ``&#92;``.
    """
    return _TRAP.sub("&#92;", text)


def safe_cell(text: str) -> str:
    """
    Return a cell that does not swallow the next ones.

    Parameters
    ----------
    text : str
        What Moodle does not read, a name for example.

    Returns
    -------
    str
        A space follows a backslash before a quote or at the end.
    """
    return _TRAP.sub(lambda found: found[0] + " ", text)


def swallows(text: str) -> bool:
    """Return whether a cell would swallow the next ones."""
    return _TRAP.search(text) is not None


def moodle_bytes(rows: list[list[str]]) -> bytes:
    """
    Return a table as Moodle takes it by default.

    Parameters
    ----------
    rows : list of list of str
        The header and all rows, none with a cell that `swallows`.

    Returns
    -------
    bytes
        UTF-8 with commas.
    """
    if any(swallows(cell) for row in rows for cell in row):
        msg = "a cell would swallow the next ones"
        raise ValueError(msg)
    return sheet_bytes(rows, PLAIN)
