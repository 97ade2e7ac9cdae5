"""Every attack ends as it must, harms nobody, and leaves nothing for the next student."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

import pytest
from attacks.forgeries import FORGERIES
from attacks.grounds import ATTACKS
from attacks.walls import FORGERS, WALLS

if TYPE_CHECKING:
    from attacks.conftest import Armoury
    from attacks.walls import Wall

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(platform.system() != "Linux", reason="there is a wall on Linux only"),
]

AIMED = [(wall, name) for name, attack in ATTACKS.items() for wall in WALLS if wall[0] in attack.tiers]
FORGED = [(wall, name) for name in FORGERIES for wall in FORGERS]


def shots(kind: str, aimed: list[tuple[Wall, str]]) -> pytest.MarkDecorator:
    """Return each attack behind each wall."""
    return pytest.mark.parametrize(
        ("wall", "shot"),
        [pytest.param(wall, json.dumps({kind: name}), id=f"{'-'.join(wall)}-{name}") for wall, name in aimed],
    )


@shots("attack", AIMED)
def test_an_attack_ends_as_it_must(armoury: Armoury, wall: Wall, shot: str) -> None:
    """The cell ends so, and files, sockets, processes and the next student see nothing of it."""
    attack = ATTACKS[json.loads(shot)["attack"]]
    if "syscall(" in attack.source and platform.machine() != "x86_64":
        pytest.skip("the suite knows the numbers of system calls on x86-64 only")

    answer = armoury.fire(wall, shot)

    assert answer["harm"] == []
    assert answer["end"] in attack.ends, answer["shown"]


@shots("forgery", FORGED)
def test_a_forgery_scores_what_the_wrong_solution_scores(armoury: Armoury, wall: Wall, shot: str) -> None:
    """Or less, where it breaks what was right; and people read nothing that is not ours."""
    honest = armoury.fire(wall, json.dumps({"forgery": "nothing at all"}))

    forged = armoury.fire(wall, shot)

    assert all(float(forged["scores"][cell]) <= float(score) for cell, score in honest["scores"].items())
    assert forged["scores"].keys() == honest["scores"].keys()
    assert not [text for text in forged["texts"] if "<" in text or len(text) > 500]


def test_the_suite_is_as_large_as_it_claims() -> None:
    """At least sixty attacks, each behind every wall, and forgeries beside them."""
    assert len(ATTACKS) >= 60
    assert all({"A", "B"} <= set(attack.tiers) for attack in ATTACKS.values())
    assert len(FORGERIES) >= 30
