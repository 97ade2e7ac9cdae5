"""What an exception says, without the name that IPython gives to a cell's code."""

from __future__ import annotations

import re

# A student's text may end like this too; numbers of thousands of digits are none of Python's.
_WHERE = re.compile(r"\s*\((?:<[\w -]{1,100}>|[\w.-]{1,100}\.py), line ([0-9]{1,6})\)$")
STOPPED = ("LimitReached", "OutputCut", "WallTimeExceeded", "WorkerDied")
"""What the sandbox calls the end of a cell by a limit, or with its process; their messages say all."""

SYNTAX_ERRORS = ("SyntaxError", "IndentationError", "TabError")
"""Classes of exceptions that say that nothing of a cell was run."""


def said(name: str, message: str) -> tuple[str, int | None]:
    """
    Return what an exception says, and the line that its message tells.

    Parameters
    ----------
    name : str
        Its class.
    message : str
        Its message, such as ``expected ':' (<ipython-input-5-55e6c6c55361>, line 1)``.

    Returns
    -------
    message : str
        In one line, without the place: ``expected ':'``.
    line : int or None
        Line of the cell, if the message of a syntax error tells it.
    """
    message = " ".join(message.split())
    found = _WHERE.search(message) if name in SYNTAX_ERRORS else None
    if found is None:
        return message, None
    return message[: found.start()], int(found[1])
