"""
What a forked child takes from itself before any student code runs.

The order matters: descriptors, session, death signal, folder, limits, then
Landlock, then the system-call filter, which would forbid the steps before it.
Everything is given as data by the trusted side; nothing is decided here.
"""

from __future__ import annotations

import base64
import ctypes
import os
import resource
import signal
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

_MIB = 2**20
_MAX_OPEN_FILES = 64
_MAX_FD = 65536

_PR_SET_PDEATHSIG, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 22, 38
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_CREATE, _LANDLOCK_ADD, _LANDLOCK_RESTRICT = 444, 445, 446
_LANDLOCK_RULE_PATH_BENEATH = 1
_O_PATH = 0o10000000

_libc = ctypes.CDLL(None, use_errno=True)
# Looked up once for all children.
_prctl, _syscall = _libc.prctl, _libc.syscall


def confine(descriptor: int, folder: Path, request: dict[str, Any]) -> None:
    """
    Give up everything but one socket, one folder and some processor time.

    Parameters
    ----------
    descriptor : int
        The only file descriptor, beside the standard ones, that is kept.
    folder : Path
        The child's own folder; its sub-folder ``notebook`` becomes the current one.
    request : dict
        ``limits`` as in `autograder.sandbox.limits.Limits`; ``tasks``, how
        many threads and processes its user may have; ``landlock`` (``abi``,
        paths to ``read``, ``list`` and ``write``) or None; ``seccomp``, a
        filter in base64, or None.

    Raises
    ------
    OSError
        If any layer that was asked for cannot be put in place.
    """
    os.closerange(3, descriptor)
    os.closerange(descriptor + 1, _MAX_FD)
    os.setsid()
    _check(_prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    os.chdir(folder / "notebook")
    names = ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR")
    os.environ.update(dict.fromkeys(names, str(folder / "home")))
    _limit(request["limits"], int(request["tasks"]))
    _check(_prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    if request["landlock"] is not None:
        _landlock(request["landlock"], folder)
    if request["seccomp"] is not None:
        _seccomp(base64.b64decode(request["seccomp"]))


def _limit(limits: dict[str, Any], tasks: int) -> None:
    cpu_time_s = int(limits["cpu_time_s"])
    for limit, soft, hard in (
        (resource.RLIMIT_AS, limits["memory_mib"] * _MIB, 0),
        (resource.RLIMIT_FSIZE, limits["file_mib"] * _MIB, 0),
        (resource.RLIMIT_NOFILE, _MAX_OPEN_FILES, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, tasks, 0),
        # SIGXCPU comes first and can be ignored; the hard limit one second later kills.
        (resource.RLIMIT_CPU, cpu_time_s, cpu_time_s + 1),
    ):
        # What we were started with may be lower already, and cannot be raised.
        given = resource.getrlimit(limit)[1]
        highest = max(soft, hard) if given == resource.RLIM_INFINITY else min(max(soft, hard), given)
        resource.setrlimit(limit, (min(soft, highest), highest))


# ---------------------------------------------------------------- Landlock

# Rights of the kernel's interface, bit by bit, and the version that added each group.
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_ALL_OF_1 = (1 << 13) - 1
_REFER_2, _TRUNCATE_3, _IOCTL_DEV_5 = 1 << 13, 1 << 14, 1 << 15
_NET_4 = 0b11
_SCOPED_6 = 0b11


def _landlock(rules: dict[str, Any], folder: Path) -> None:
    abi = int(rules["abi"])
    handled = _ALL_OF_1
    for version, right in ((2, _REFER_2), (3, _TRUNCATE_3), (5, _IOCTL_DEV_5)):
        handled |= right if abi >= version else 0
    network = _NET_4 if abi >= 4 else 0  # noqa: PLR2004 - a version of the interface
    scoped = _SCOPED_6 if abi >= 6 else 0  # noqa: PLR2004 - the same
    attributes = struct.pack("=QQQ", handled, network, scoped)
    size = 8 if abi < 4 else 16 if abi < 6 else 24  # noqa: PLR2004 - the same
    ruleset = _check(_syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0))
    for path in rules["read"]:
        _allow(ruleset, path, _EXECUTE | _READ_FILE | _READ_DIR)
    for path in rules["list"]:
        _allow(ruleset, path, _READ_DIR)
    for path in rules["write"]:
        _allow(ruleset, path, handled & (_WRITE_FILE | _READ_FILE | _TRUNCATE_3 | _IOCTL_DEV_5))
    _allow(ruleset, str(folder), handled & ~_EXECUTE)
    _check(_syscall(_LANDLOCK_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, _O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        # What we cannot reach stays closed.
        return
    try:
        if not os.path.isdir(path):  # noqa: PTH112 - pathlib is not loaded for this
            rights &= _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE_3 | _IOCTL_DEV_5
        attributes = struct.pack("=Qi", rights, descriptor)
        _check(_syscall(_LANDLOCK_ADD, ruleset, _LANDLOCK_RULE_PATH_BENEATH, attributes, 0))
    finally:
        os.close(descriptor)


# ----------------------------------------------------------------- seccomp


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _seccomp(program: bytes) -> None:
    # Eight bytes are one instruction.
    loaded = _Program(len(program) // 8, program)
    _check(_prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0))


def _check(result: int) -> int:
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
