"""
What this machine can put around student code, found by trying.

Tier A: a bubblewrap with namespaces of its own for each slot, and in it for
each notebook Landlock, a system-call filter and limits. Tier B: the same
without bubblewrap. Tier C: limits only; it is used only when asked for.
"""

from __future__ import annotations

import base64
import ctypes
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import SandboxError
from autograder.sandbox.reading import DEVICES, hidden_paths, mounts, readable_paths, site_packages
from autograder.sandbox.syscalls import build_filter
from autograder.sandbox.uid import slot_uid

if TYPE_CHECKING:
    from collections.abc import Sequence

_LANDLOCK_CREATE, _LANDLOCK_VERSION = 444, 1
_PROBE_TIMEOUT_S = 20
# Threads that one notebook may have beside what its user runs already.
_TASKS = 256
BOX = Path("/box")
"""Where a slot's folder lies inside bubblewrap."""


class Tier(StrEnum):
    """How much stands around student code."""

    A = "A"
    B = "B"
    C = "C"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wall:
    """
    The wall that this machine can build.

    Parameters
    ----------
    tier : Tier
        The best tier that works.
    missing : tuple of str
        What keeps it from a better one, each with what to do.
    landlock_abi : int
        Version of the kernel's Landlock; 0 for none.
    seccomp : bytes
        The system-call filter; empty for none.
    root : bool
        True if the grader runs as root; students then get a user id of their own.
    refusal : str
        Why not even an unsafe grading is possible; empty if it is.
    """

    tier: Tier
    missing: tuple[str, ...]
    landlock_abi: int
    seccomp: bytes
    root: bool
    refusal: str = ""

    @property
    def text(self) -> str:
        """What stands around student code, in one sentence."""
        return _TEXTS[self.tier]

    def confinement(self, readable: Path) -> dict[str, object]:
        """
        Return what each child takes from itself, as data for `worker.confine`.

        Parameters
        ----------
        readable : Path
            A folder that it reads, beside the system's and Python's.

        Returns
        -------
        dict
            ``tasks``, ``landlock`` and ``seccomp``; the last two are None
            where there is none.
        """
        # A user id of its own has nothing else that runs.
        tasks: dict[str, object] = {"tasks": _TASKS + (0 if self.root else _tasks_of(os.getuid()))}
        if self.tier is Tier.C:
            return tasks | {"landlock": None, "seccomp": None}
        read, listed = readable_paths()
        rules = {
            "abi": self.landlock_abi,
            "read": [*read, str(readable)],
            "list": listed,
            "write": list(DEVICES),
        }
        return tasks | {"landlock": rules, "seccomp": base64.b64encode(self.seccomp).decode()}

    def command(self, inner: list[str], *, readable: Sequence[Path] = (), box_mib: int = 64) -> list[str]:
        """
        Return the command that runs another one inside the wall.

        Parameters
        ----------
        inner : list of str
            The command.
        readable : sequence of Path
            Folders it reads, beside the system's and Python's.
        box_mib : int
            Size in MiB of the folder that it may write to, where that is in memory.

        Returns
        -------
        list of str
            For `subprocess`.
        """
        if self.root:
            inner = [*_setpriv(slot_uid()), *inner]
        if self.tier is not Tier.A:
            return inner
        return [*_bubblewrap(readable, root=self.root, box_mib=box_mib), *inner]


_TEXTS = {
    Tier.A: "a bubblewrap with namespaces of its own, Landlock, a list of allowed system calls, and limits",
    Tier.B: "Landlock, a list of allowed system calls, and limits",
    Tier.C: "limits only: student code can read files and use the network",
}


@cache
def probe(best: Tier = Tier.A) -> Wall:
    """
    Return the best wall that works on this machine.

    Parameters
    ----------
    best : Tier
        The best one that is tried.

    Returns
    -------
    Wall
        Found by trying each part; nothing is assumed from versions.
    """
    abi, root = _landlock_abi(), hasattr(os, "geteuid") and os.geteuid() == 0
    if platform.system() != "Linux":
        what = f"{platform.system()} has nothing that student code can be run in"
        remedy = "grade on Linux, in WSL2, in a container or in a virtual machine"
        text = f"{what}: {remedy}"
        return Wall(tier=Tier.C, missing=(text,), landlock_abi=0, seccomp=b"", root=root, refusal=text)
    missing, seccomp = _missing_for_b(abi)
    wall = Wall(tier=Tier.B, missing=(), landlock_abi=abi, seccomp=seccomp, root=root)
    if not missing and best is Tier.A:
        wall = replace(wall, tier=Tier.A)
        problem = _bubblewrap_problem(wall)
        if not problem:
            return wall
        wall = replace(wall, tier=Tier.B, missing=(problem,))
    refusal = _uid_problem(wall) if root else ""
    if missing or refusal or best is Tier.C:
        missing = tuple(text for text in (*wall.missing, *missing, refusal) if text)
        return replace(wall, tier=Tier.C, missing=missing, refusal=refusal)
    return wall


def _landlock_abi() -> int:
    if platform.system() != "Linux":
        return 0
    version = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)
    return max(int(version), 0)


def _missing_for_b(abi: int) -> tuple[tuple[str, ...], bytes]:
    missing, seccomp = [], b""
    if not abi:
        missing.append("the kernel has no Landlock: use Linux 5.13 or later with Landlock switched on")
    try:
        seccomp = build_filter()
    except (RuntimeError, OSError, ImportError):
        missing.append("libseccomp is missing: install the package libseccomp2")
    return tuple(missing), seccomp


def _uid_problem(wall: Wall) -> str:
    """Return why root cannot hand student code to a user of its own, who needs to read Python."""
    if not shutil.which("setpriv"):
        return "setpriv is missing, which drops root's rights: install the package util-linux"
    # A Python that cannot read its own library may take another one that it finds.
    start = (
        f"import os, ctypes; assert os.__file__ == {os.__file__!r}; "
        f"[os.listdir(path) for path in {site_packages()!r} if os.path.lexists(path)]"
    )
    command = replace(wall, tier=Tier.B).command([sys.executable, "-I", "-S", "-B", "-c", start])
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"setpriv does not start ({error}): grade as an ordinary user"
    if done.returncode == 0:
        return ""
    return (
        f"as root, student code runs as another user, who cannot read {sys.executable} and its packages: "
        "grade as an ordinary user, install bubblewrap, or put Python where everybody can read it"
    )


def _tasks_of(uid: int) -> int:
    """Return how many threads a user's processes have now."""
    count = 0
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = dict(line.partition(":\t")[::2] for line in path.read_text(errors="replace").splitlines())
            count += int(lines["Threads"]) if int(lines["Uid"].split()[0]) == uid else 0
        except (OSError, KeyError, ValueError):
            # It ended while we looked.
            continue
    return count


def _bubblewrap_problem(wall: Wall) -> str:
    if not shutil.which("bwrap"):
        return "bubblewrap is missing: install the package bubblewrap"
    if wall.root and not shutil.which("setpriv"):
        return "setpriv is missing, which drops root's rights: install the package util-linux"
    command = wall.command(["/usr/bin/env", "true"])
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PROBE_TIMEOUT_S, check=False, cwd="/")
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not start ({error})"
    if done.returncode == 0:
        return ""
    reason = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["it ends at once"]
    return (
        f"bubblewrap does not work here ({reason[0]}): allow user namespaces, or grade outside the container"
    )


def _setpriv(uid: int) -> list[str]:
    rights = ["--bounding-set=-all", "--inh-caps=-all", "--no-new-privs"]
    return ["setpriv", "--reuid", str(uid), "--regid", str(uid), "--clear-groups", *rights, "--"]


def _bubblewrap(readable: Sequence[Path], *, root: bool, box_mib: int) -> list[str]:
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net"]
    command += ["--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"]
    if root:
        # No user namespace: in one made by root, the kernel's uid 0 would be mapped.
        for right in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            command += ["--cap-add", right]
    else:
        command += ["--unshare-user", "--unshare-cgroup-try"]
    made: set[Path] = set()
    command += ["--dev", "/dev"]
    for path, target in mounts():
        command += _parents(path, made)
        command += ["--symlink", str(target), str(path)] if target else ["--ro-bind", str(path), str(path)]
    for path in readable:
        command += [*_parents(path, made), "--ro-bind", str(path), str(path)]
    for path in hidden_paths():
        command += ["--tmpfs", str(path)]
    mode = "0777" if root else "0700"
    command += ["--perms", mode, "--size", str(box_mib * 2**20), "--tmpfs", str(BOX)]
    return [*command, "--remount-ro", "/", "--chdir", str(BOX), "--"]


def _parents(path: Path, made: set[Path]) -> list[str]:
    """Return options that make a path's parents readable; bubblewrap's own are root's alone."""
    options = []
    for parent in reversed(path.parents):
        if parent != Path("/") and parent not in made:
            made.add(parent)
            options += ["--perms", "0755", "--dir", str(parent)]
    return options


def require(*, allow_unsafe: bool) -> Wall:
    """
    Return the wall to grade with.

    Parameters
    ----------
    allow_unsafe : bool
        True if grading without a wall was asked for.

    Returns
    -------
    Wall
        The best one that works here.

    Raises
    ------
    SandboxError
        If there is none and grading without was not asked for, or if not even
        that is possible.
    """
    wall = probe()
    if wall.refusal:
        what = f"student code cannot be run here ({'; '.join(wall.missing)})"
        raise SandboxError("sandbox", what, "Run `autograder doctor`.")
    if wall.tier is Tier.C and not allow_unsafe:
        raise SandboxError(
            "sandbox",
            f"this machine has no wall for student code ({'; '.join(wall.missing)})",
            "Run `autograder doctor`; with --unsafe-no-sandbox student code has your rights.",
        )
    return wall
