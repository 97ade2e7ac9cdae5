"""OneRoster: the ids that it allows, and what the instructor may say of them."""

from __future__ import annotations

import hashlib
import re
from datetime import date
from typing import TYPE_CHECKING

from autograder.errors import CourseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.lms.exports.model import Request

ID_LENGTH = 255
ID = re.compile(rf"[0-9A-Za-z._/@-]{{1,{ID_LENGTH}}}")
"""What a sourcedId may be."""


def safe_id(text: str) -> str:
    """
    Return an id that OneRoster allows.

    Parameters
    ----------
    text : str
        Any id.

    Returns
    -------
    str
        The same if it is allowed: letters and digits of ASCII and ``. - _ / @``, at most 255.
        Else what is left of it and a hash, so that different ids stay different.
    """
    if ID.fullmatch(text):
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    plain = re.sub("[^0-9A-Za-z._/@-]+", "-", text).strip("-")[: ID_LENGTH - 17]
    return f"{plain}-{digest}" if plain else digest


def choice(request: Request, name: str, values: Sequence[str]) -> str:
    """
    Return one of the words that an option may have.

    Parameters
    ----------
    request : Request
        With the options.
    name : str
        Which.
    values : sequence of str
        What it may be, the usual one first.

    Returns
    -------
    str
        As given, else the usual one.

    Raises
    ------
    CourseError
        If it is something else.
    """
    value = request.options.get(name) or values[0]
    if value not in values:
        raise CourseError(f"--set {name}", f"{value!r} is not known", f"Write {' or '.join(values)}.")
    return value


def given_id(request: Request, name: str) -> str:
    """
    Return the sourcedId that was given for something.

    Parameters
    ----------
    request : Request
        With the options.
    name : str
        For what.

    Returns
    -------
    str
        Empty if none was given.

    Raises
    ------
    CourseError
        If OneRoster does not allow it.
    """
    value = request.options.get(name, "")
    if value and not ID.fullmatch(value):
        remedy = "It has letters and digits of ASCII and . - _ / @, at most 255."
        raise CourseError(f"--set {name}", f"{value!r} is no sourcedId", remedy)
    return value


def day_of(request: Request, name: str, usual: date) -> date:
    """
    Return a day.

    Parameters
    ----------
    request : Request
        With the options.
    name : str
        Which.
    usual : date
        Where none was given.

    Returns
    -------
    date
        As given, else the usual one.

    Raises
    ------
    CourseError
        If it is no day.
    """
    value = request.options.get(name, "")
    if not value:
        return usual
    try:
        return date.fromisoformat(value)
    except ValueError:
        raise CourseError(f"--set {name}", f"{value!r} is no day", "Write it as 2026-09-01.") from None
