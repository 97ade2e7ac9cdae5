"""The walls that every attack is tried against, for the tests to name them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attacks.forgeries import NOTHING

if TYPE_CHECKING:
    from collections.abc import Iterable

Wall = tuple[str, str]

WALLS: list[Wall] = [("A", "root"), ("B", "root"), ("A", "user"), ("B", "user"), ("C", "user")]
"""Each tier, and who grades behind it; without a wall nobody should grade as root."""

FORGERS: list[Wall] = [("A", "root"), ("B", "user")]
"""The same for forgeries, which the wall neither helps nor hinders."""

HONEST = json.dumps({"forgery": NOTHING})
"""The request with which all forgeries are compared."""


def shots(kind: str, aimed: Iterable[tuple[Wall, str]]) -> pytest.MarkDecorator:
    """Return a test's parameters: each attack, or forgery, behind each wall."""
    return pytest.mark.parametrize(
        ("wall", "shot"),
        [pytest.param(wall, json.dumps({kind: name}), id=f"{'-'.join(wall)}-{name}") for wall, name in aimed],
    )
