"""The wall is found by trying, and refuses with words that help."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest

from autograder.errors import SandboxError
from autograder.sandbox import reading, wall
from autograder.sandbox.limits import Limits
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wall import Tier, probe, require

linux = pytest.mark.skipif(platform.system() != "Linux", reason="there is a wall on Linux only")
PROBE = wall.probe.__wrapped__
"""The probe without its memory."""


@pytest.mark.parametrize("tier", Tier)
def test_no_better_tier_is_given_than_asked_for(tier: Tier) -> None:
    """Tests try each by itself."""
    assert probe(tier).tier >= tier


@linux
@pytest.mark.parametrize(
    ("missing", "told"), [("_landlock_abi", "Landlock"), ("build_filter", "libseccomp2")]
)
def test_without_a_layer_nothing_is_graded_unless_asked_for(
    monkeypatch: pytest.MonkeyPatch, missing: str, told: str
) -> None:
    """There is no silent step down, and the message says what to install or switch on."""

    def fail(*_: object) -> int:
        if missing == "build_filter":
            raise RuntimeError
        return 0

    monkeypatch.setattr(wall, missing, fail)
    found = PROBE()
    monkeypatch.setattr(wall, "probe", lambda: found)

    assert found.tier is Tier.C
    with pytest.raises(SandboxError, match=told):
        require(allow_unsafe=False)
    assert bool(found.refusal) or require(allow_unsafe=True) is found


def test_another_system_is_refused_even_if_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even the limits are there."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(wall, "probe", PROBE)

    with pytest.raises(SandboxError, match="WSL2"):
        require(allow_unsafe=True)


@linux
@pytest.mark.skipif(os.geteuid() != 0, reason="only root hands student code to another user")
def test_root_is_refused_where_others_cannot_read_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Python below /root, and no bubblewrap to show it."""

    def unreadable(*_: object, **__: object) -> subprocess.CompletedProcess[bytes]:
        return subprocess.CompletedProcess([], 1, b"", b"Permission denied")

    monkeypatch.setattr(subprocess, "run", unreadable)
    found = PROBE()
    monkeypatch.setattr(wall, "probe", lambda: found)

    assert found.tier is Tier.C
    with pytest.raises(SandboxError, match="ordinary user, install bubblewrap"):
        require(allow_unsafe=True)


@linux
@pytest.mark.sandbox
def test_a_course_that_can_be_read_is_refused() -> None:
    """A course where Python's libraries are is found out before anything is graded."""
    if probe().tier is Tier.C:
        pytest.skip("this machine has no wall")
    with (
        Sandbox(probe(), secrets=[Path(os.__file__).parent]) as sandbox,
        pytest.raises(SandboxError, match="keep the course out"),
    ):
        sandbox.start(Limits())


@linux
def test_the_kit_is_left_out_of_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also when it is installed among the packages: around it, everything is granted piece by piece."""
    packages = tmp_path / "lib" / "site-packages"
    for name in ("numpy", "autograder/checks", "solutions/reference"):
        (packages / name).mkdir(parents=True)
    (tmp_path / "lib64").symlink_to("lib")
    monkeypatch.setattr(reading, "mounts", lambda: ((tmp_path / "lib", None), (tmp_path / "lib64", None)))
    monkeypatch.setattr(
        reading, "_kit", lambda: ((packages / "autograder").resolve(), (packages / "solutions").resolve())
    )
    read, listed = reading.readable_paths.__wrapped__()

    assert str(packages / "numpy") in read
    assert not [path for path in read if "autograder" in path.split(str(tmp_path))[-1] or "solutions" in path]
    assert listed == [str(tmp_path / "lib"), str(packages)]
    assert reading.hidden_paths.__wrapped__() == (packages / "autograder", packages / "solutions")
