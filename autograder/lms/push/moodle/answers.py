"""What Moodle answers, taken for what it should be, or refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from autograder.errors import ServerError
from autograder.lms.model import read_number

if TYPE_CHECKING:
    from decimal import Decimal

_DIGITS = 19


def score_of(value: object, function: str) -> Decimal | None:
    """Return a score as Moodle writes it: -1 is none."""
    if value is None or value == "":
        return None
    try:
        score = read_number(value)
    except ValueError:
        raise useless(function) from None
    return None if score < 0 else score


def whole(value: object) -> int:
    """Return a whole number; 0 for what is none."""
    text = str(value)
    return int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else 0


def id_of(value: object, function: str) -> int:
    """Return the number of something, or raise a `ServerError`."""
    number = whole(value)
    if not number:
        raise useless(function)
    return number


def as_object(value: object, function: str) -> dict[str, Any]:
    """Return an object, or raise a `ServerError`."""
    if not isinstance(value, dict):
        raise useless(function)
    return value


def as_objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; Moodle leaves lists out that are empty."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def yes(value: object) -> bool:
    """Return whether Moodle says yes, in one of its ways."""
    return str(value) in {"1", "True", "true"}


def useless(function: str) -> ServerError:
    """Return an error: an answer is not what it should be."""
    return ServerError(function, "Moodle answers what nobody can use", "Check that the address is Moodle's.")
