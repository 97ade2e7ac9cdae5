"""
What a student's function gives for an input that everybody may see, ready to be drawn.

An `Illustration` is made while grading, kept with the result of its cell, and
drawn when feedback is written. Its numbers come from student code and it may
have lain in a file since, so it is small, and checked when it is read back.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable

Panels = tuple[tuple[tuple[float | None, ...], ...], ...]
"""Numbers by panel, row and column; None stands for one that cannot be shown."""

MOST_NUMBERS = 64
"""Numbers on one side of a picture."""

CLOSE = 0.002
"""Numbers that are nearer to each other look alike in a picture."""

MOST_COLUMNS = 12
MOST_CHARACTERS = 160
MOST_ILLUSTRATIONS = 3
"""Pictures of one cell."""

LARGEST = 1e9
"""A number beyond this is not shown."""


class Kind(StrEnum):
    """What the numbers are, and so how they are drawn."""

    PLACES = "places"
    """Places in an array that was moved around, each number its own name: token = number // width."""
    WEIGHTS = "weights"
    """Attention weights: a panel for each head, a row for each query, a column for each key."""
    VALUES = "values"
    """Any numbers, a row for each token."""
    COUNT = "count"
    """One number, beside the parts that add up to the right one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Illustration:
    """
    One call with a public input: what a student's function gives and what is right.

    Parameters
    ----------
    kind : Kind
        What the numbers are.
    asked : str
        The call, as a student would write it.
    right : Panels
        What is right. It is computed by the course, never by a student.
    theirs : Panels
        What the student's function gives; empty if it cannot be drawn.
    shape : tuple of int
        The shape of the student's array.
    problem : str
        Why it cannot be drawn, to follow "Your code"; empty if it can.
    width : int
        Of `PLACES` the number of features of a token.
    mask : tuple of tuple of bool
        Of `WEIGHTS` the keys (columns) that are hidden from each query (row); may be empty.
    parts : tuple of str
        Of `COUNT` the names of the parts.
    """

    kind: Kind
    asked: str
    right: Panels
    theirs: Panels = ()
    shape: tuple[int, ...] = ()
    problem: str = ""
    width: int = 1
    mask: tuple[tuple[bool, ...], ...] = ()
    parts: tuple[str, ...] = ()

    @property
    def is_right(self) -> bool:
        """True if what the student's function gives is what is right, as far as a picture shows it."""
        if self.problem:
            return False
        if self.kind is Kind.COUNT:
            return self.theirs == (((self.total,),),)
        return self.fits and not self.wrong

    @property
    def fits(self) -> bool:
        """True if there is a student's number for each right one."""
        return _sizes(self.theirs) == _sizes(self.right)

    @property
    def wrong(self) -> frozenset[tuple[int, int, int]]:
        """Panel, row and column of each number that differs from the right one; empty if they do not fit."""
        return frozenset(
            (panel, row, column)
            for panel, rows in enumerate(self.right if self.fits else ())
            for row, numbers in enumerate(rows)
            for column, number in enumerate(numbers)
            if not _close(number, self.theirs[panel][row][column])
        )

    @property
    def total(self) -> float:
        """The right numbers added up."""
        return sum(number or 0 for panel in self.right for row in panel for number in row)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON types."""
        return {
            "kind": self.kind.value,
            "asked": self.asked,
            "right": self.right,
            "theirs": self.theirs,
            "shape": self.shape,
            "problem": self.problem,
            "width": self.width,
            "mask": self.mask,
            "parts": self.parts,
        }

    @classmethod
    def from_dict(cls, record: Any) -> Self:
        """
        Build the record from what `to_dict` returned, or from anything else.

        Raises
        ------
        ValueError
            If it is no such record, or too large for a picture.
        """
        if not isinstance(record, dict) or not _panels(record.get("right")):
            raise ValueError("an illustration that is no record")
        return cls(
            kind=Kind(str(record.get("kind"))),
            asked=_text(record.get("asked")),
            right=_panels(record.get("right")),
            theirs=_panels(record.get("theirs")),
            shape=tuple(_whole(size) for size in _items(record.get("shape"))),
            problem=_text(record.get("problem")),
            width=max(_whole(record.get("width")), 1),
            mask=tuple(tuple(hidden is True for hidden in _items(row)) for row in _items(record.get("mask"))),
            parts=tuple(_text(part) for part in _items(record.get("parts"))),
        )


def illustrations(records: Any) -> tuple[Illustration, ...]:
    """
    Return the illustrations in a list of records; one that cannot be drawn is left out.

    Parameters
    ----------
    records : object
        Records as of `Illustration.to_dict`, or anything.

    Returns
    -------
    tuple of Illustration
        At most three. No picture is worth a page that cannot be written.
    """
    found = []
    for record in records[:MOST_ILLUSTRATIONS] if isinstance(records, list | tuple) else ():
        try:
            found.append(Illustration.from_dict(record))
        except ValueError:
            continue
    return tuple(found)


def shown(number: object, digits: int) -> float | None:
    """Return a number rounded for a picture, or None for what is none, not finite or far too large."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    if not (abs(number) <= LARGEST and math.isfinite(number)):
        return None
    return round(number, digits) + 0  # no negative zero


def _sizes(panels: Panels) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(len, rows)) for rows in panels)


def _close(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= CLOSE * max(1.0, abs(one))


def _panels(value: Any) -> Panels:
    panels: Panels = tuple(
        tuple(tuple(_number(x) for x in _items(row)) for row in _items(p)) for p in _items(value)
    )
    rows = [row for panel in panels for row in panel]
    if sum(map(len, rows)) > MOST_NUMBERS or len(rows) > MOST_NUMBERS:
        raise ValueError("an illustration that is too large")
    sizes = ({len(panel) for panel in panels}, {len(row) for row in rows})
    if panels and not (sizes[0] == {len(panels[0])} - {0} and sizes[1] == {len(rows[0])} - {0}):
        raise ValueError("an illustration that is no array")
    return panels


def _number(value: Any) -> float | None:
    if value is None:
        return None
    number = shown(value, 9)
    if number is None:
        raise ValueError("an illustration of what is no number")
    return number


def _whole(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= LARGEST:
        raise ValueError("an illustration with a size that is none")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str) or len(value) > MOST_CHARACTERS:
        raise ValueError("an illustration with a text that is none")
    return value


def _items(value: Any) -> Iterable[Any]:
    if not isinstance(value, list | tuple) or len(value) > MOST_NUMBERS:
        raise ValueError("an illustration with a list that is none")
    return value
