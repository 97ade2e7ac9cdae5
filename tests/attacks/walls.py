"""The walls that every attack is tried against, for the tests to name them."""

from __future__ import annotations

Wall = tuple[str, str]

WALLS: list[Wall] = [("A", "root"), ("B", "root"), ("A", "user"), ("B", "user"), ("C", "user")]
"""Each tier, and who grades behind it; without a wall nobody should grade as root."""

FORGERS: list[Wall] = [("A", "root"), ("B", "user")]
"""The same for forgeries, which the wall neither helps nor hinders."""
