"""Every attack ends as it must, harms nobody, and leaves nothing for the next student."""

from __future__ import annotations

import json
import platform
from typing import TYPE_CHECKING

import pytest
from attacks.grounds import ATTACKS
from attacks.traces import OF_ATTACKS, left_by
from attacks.walls import WALLS, shots

if TYPE_CHECKING:
    from attacks.conftest import Armoury
from attacks.walls import Wall

pytestmark = [
    pytest.mark.sandbox,
    pytest.mark.slow,
    pytest.mark.skipif(platform.system() != "Linux", reason="there is a wall on Linux only"),
]

AIMED = [(wall, name) for name, attack in ATTACKS.items() for wall in WALLS if wall[0] in attack.tiers]


@shots("attack", AIMED)
def test_an_attack_ends_as_it_must(armoury: Armoury, wall: Wall, shot: str) -> None:
    """Files, sockets, processes and the next student see nothing of it; people see what was tried."""
    name = json.loads(shot)["attack"]
    attack = ATTACKS[name]
    if "syscall(" in attack.source and platform.machine() != "x86_64":
        pytest.skip("the suite knows the numbers of system calls on x86-64 only")

    answer = armoury.fire(wall, shot)

    assert answer["harm"] == []
    assert answer["end"] in attack.ends, answer["shown"]
    # A process that ends tells nothing of what it did before, and without a wall calls succeed.
    if wall[0] != "C" and not answer["end"].startswith(("died", "limit")):
        assert {*answer["evidence"]} == left_by(name, OF_ATTACKS)


def test_what_attacks_leave_is_known_of_each() -> None:
    """A trace of an attack that there is not would be looked for in vain."""
    assert set().union(*OF_ATTACKS.values()) <= set(ATTACKS)


def test_the_suite_is_as_large_as_it_claims() -> None:
    """At least sixty attacks, each behind every wall."""
    assert len(ATTACKS) >= 60
    assert all({"A", "B"} <= set(attack.tiers) for attack in ATTACKS.values())
