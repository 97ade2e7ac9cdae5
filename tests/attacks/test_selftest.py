"""The wall is attacked before anything is graded, and one with a hole is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from attacks.walls import WALLS

if TYPE_CHECKING:
    from attacks.conftest import Armoury
    from attacks.walls import Wall

pytestmark = pytest.mark.sandbox

# In tier A files that Landlock would protect are not there in the first place.
HOLES = [("A", "seccomp"), ("B", "seccomp"), ("B", "landlock"), ("A", "place"), ("B", "place")]
NAMED = {"seccomp": "start a process", "landlock": "read a file", "place": "read /"}


@pytest.mark.parametrize(
    ("wall", "shot", "named"),
    [
        pytest.param(wall, json.dumps({"without": layer}), NAMED[layer], id=f"{'-'.join(wall)}-{layer}")
        for wall in WALLS
        for tier, layer in HOLES
        if wall[0] == tier
    ],
)
def test_a_wall_with_a_hole_is_refused(armoury: Armoury, wall: Wall, shot: str, named: str) -> None:
    """And the hole is named."""
    assert named in armoury.fire(wall, shot)["refusal"]


@pytest.mark.parametrize("wall", [pytest.param(wall, id="-".join(wall)) for wall in WALLS])
@pytest.mark.parametrize("shot", [json.dumps({"without": "nothing"})], ids=["nothing"])
def test_a_whole_wall_is_not_refused(armoury: Armoury, wall: Wall, shot: str) -> None:
    """Nor is tier C, which claims to be none."""
    assert armoury.fire(wall, shot)["refusal"] == ""
