"""A wrong solution that claims to be right is worth no more than without the claim."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

import pytest
from attacks.forgeries import FORGERIES
from attacks.traces import OF_FORGERIES, left_by
from attacks.walls import FORGERS, HONEST, shots

if TYPE_CHECKING:
    from attacks.conftest import Armoury
    from attacks.walls import Wall

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(platform.system() != "Linux", reason="there is a wall on Linux only"),
]


@shots("forgery", [(wall, name) for name in FORGERIES for wall in FORGERS])
def test_a_forgery_scores_what_the_wrong_solution_scores(armoury: Armoury, wall: Wall, shot: str) -> None:
    """Or less, where it breaks what was right; and people read nothing that is not ours."""
    honest = armoury.fire(wall, HONEST)

    forged = armoury.fire(wall, shot)

    # What is out of time is judged by nobody, and nothing could be more than that.
    assert not [text for text in honest["texts"] if text.endswith("time_s")]
    assert all(float(forged["scores"][cell]) <= float(score) for cell, score in honest["scores"].items())
    assert forged["scores"].keys() == honest["scores"].keys()
    assert not [text for text in forged["texts"] if "<" in text or len(text) > 500]
    expected, found = left_by(json.loads(shot)["forgery"], OF_FORGERIES), {*forged["evidence"]}
    if "forged_frame attack" in expected:
        # With it, or without: it was to be told with an answer that was not one.
        found.discard("patched attack")
    assert found == expected


def test_what_forgeries_leave_is_known_of_each() -> None:
    """A trace of a forgery that there is not would be looked for in vain."""
    assert set().union(*OF_FORGERIES.values()) <= set(FORGERIES)


def test_there_are_as_many_forgeries_as_claimed() -> None:
    """Each part of a notebook, and of a wire, can be forged in several ways."""
    assert len(FORGERIES) >= 30
