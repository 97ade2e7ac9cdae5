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
import sysconfig
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from autograder.errors import SandboxError
from autograder.sandbox.syscalls import build_filter

_LANDLOCK_CREATE, _LANDLOCK_VERSION = 444, 1
_PROBE_TIMEOUT_S = 20
_BOX_BYTES = 64 * 2**20
_FIRST_UID, _UIDS = 60000, 4000
_SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin")
_CONFIG = ("/etc/ld.so.cache", "/etc/fonts", "/etc/localtime", "/etc/alternatives")
_DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
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
    """

    tier: Tier
    missing: tuple[str, ...]
    landlock_abi: int
    seccomp: bytes
    root: bool

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
            ``landlock`` and ``seccomp``; None where there is none.
        """
        if self.tier is Tier.C:
            return {"landlock": None, "seccomp": None}
        read = [*_SYSTEM, *_CONFIG, *_DEVICES, *map(str, python_folders()), str(readable)]
        rules = {"abi": self.landlock_abi, "read": read, "write": list(_DEVICES)}
        return {"landlock": rules, "seccomp": base64.b64encode(self.seccomp).decode()}

    def command(self, inner: list[str], *, readable: list[Path]) -> list[str]:
        """
        Return the command that runs another one inside the wall.

        Parameters
        ----------
        inner : list of str
            The command.
        readable : list of Path
            Folders it reads, beside the system's and Python's.

        Returns
        -------
        list of str
            For `subprocess`.
        """
        if self.root and self.tier is not Tier.C:
            inner = [*_setpriv(slot_uid()), *inner]
        if self.tier is not Tier.A:
            return inner
        return [*_bubblewrap(readable, root=self.root), *inner]


_TEXTS = {
    Tier.A: "a bubblewrap with namespaces of its own, Landlock, a list of allowed system calls, and limits",
    Tier.B: "Landlock, a list of allowed system calls, and limits",
    Tier.C: "limits only: student code can read files and use the network",
}


@cache
def probe() -> Wall:
    """
    Return the best wall that works on this machine.

    Returns
    -------
    Wall
        Found by trying each part; nothing is assumed from versions.
    """
    abi, missing = _landlock_abi(), []
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    if platform.system() != "Linux":
        missing.append(
            f"{platform.system()} has no such sandbox: use Linux, WSL2, a container or a virtual machine"
        )
    elif not abi:
        missing.append("the kernel has no Landlock: use Linux 5.13 or later with Landlock switched on")
    try:
        seccomp = build_filter()
    except (RuntimeError, OSError, ImportError):
        seccomp = b""
        missing.append("libseccomp is missing: install the package libseccomp2")
    if root and not shutil.which("setpriv"):
        missing.append("setpriv is missing, which drops root's rights: install the package util-linux")
    if missing:
        return Wall(tier=Tier.C, missing=tuple(missing), landlock_abi=abi, seccomp=seccomp, root=root)
    wall = Wall(tier=Tier.A, missing=(), landlock_abi=abi, seccomp=seccomp, root=root)
    problem = _bubblewrap_problem(wall)
    if problem:
        wall = Wall(tier=Tier.B, missing=(problem,), landlock_abi=abi, seccomp=seccomp, root=root)
    return wall


def slot_uid() -> int:
    """Return a user id that nobody uses, another one for each grading process."""
    return _FIRST_UID + os.getpid() % _UIDS


def python_folders() -> list[Path]:
    """Return the folders of this Python and its packages, outside the system's folders."""
    paths = sysconfig.get_paths()
    names = (sys.base_prefix, sys.prefix, paths["stdlib"], paths["purelib"], paths["platlib"])
    folders = dict.fromkeys(Path(name).resolve() for name in names)
    folders |= dict.fromkeys(Path(name) for name in names)
    inside = [folder for folder in folders if not any(other in folder.parents for other in folders)]
    return [
        folder for folder in inside if not any(Path(name) in (folder, *folder.parents) for name in _SYSTEM)
    ]


def _landlock_abi() -> int:
    if platform.system() != "Linux":
        return 0
    version = ctypes.CDLL(None).syscall(_LANDLOCK_CREATE, None, 0, _LANDLOCK_VERSION)
    return max(int(version), 0)


def _bubblewrap_problem(wall: Wall) -> str:
    if not shutil.which("bwrap"):
        return "bubblewrap is missing: install the package bubblewrap"
    command = wall.command(["/usr/bin/env", "true"], readable=[])
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


def _bubblewrap(readable: list[Path], *, root: bool) -> list[str]:
    command = ["bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-net"]
    command += ["--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL"]
    if root:
        # No user namespace: in one made by root, the kernel's uid 0 would be mapped.
        for right in ("CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"):
            command += ["--cap-add", right]
    else:
        command += ["--unshare-user", "--unshare-cgroup-try"]
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            command += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            command += ["--ro-bind", name, name]
    made: set[Path] = set()
    for name in _CONFIG:
        command += [*_parents(Path(name), made), "--ro-bind-try", name, name]
    command += ["--dev", "/dev"]
    for path in [*python_folders(), *readable]:
        command += _parents(path, made)
        command += ["--ro-bind", str(path), str(path)]
    command += _without_the_kit()
    mode = "0777" if root else "0700"
    return [
        *command,
        "--perms",
        mode,
        "--size",
        str(_BOX_BYTES),
        "--tmpfs",
        str(BOX),
        "--chdir",
        str(BOX),
        "--",
    ]


def _parents(path: Path, made: set[Path]) -> list[str]:
    """Return options that make a path's parents readable; bubblewrap's own are root's alone."""
    options = []
    for parent in reversed(path.parents):
        if parent != Path("/") and parent not in made:
            made.add(parent)
            options += ["--perms", "0755", "--dir", str(parent)]
    return options


def _without_the_kit() -> list[str]:
    """Return options that hide an installed copy of the kit from the box."""
    options = []
    for packages in {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}:
        for name in ("autograder", "solutions"):
            if (Path(packages) / name).is_dir():
                options += ["--tmpfs", str(Path(packages) / name)]
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
        If there is none and it was not asked for.
    """
    wall = probe()
    if wall.tier is Tier.C and not allow_unsafe:
        raise SandboxError(
            "sandbox",
            f"this machine has no wall for student code ({'; '.join(wall.missing)})",
            "Run `autograder doctor`; with --unsafe-no-sandbox student code has your rights.",
        )
    return wall
