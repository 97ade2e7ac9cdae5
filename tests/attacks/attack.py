"""What an attack is, and what every attack finds when it starts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

WENT_ON = "went on"
"""The cell ended without an error; what it achieved is seen from outside."""

CLOSED = ("PermissionError", "FileNotFoundError")
"""In tier A the file is not there, in tier B it may not be touched."""

UNWRITABLE = (*CLOSED, "OSError")
"""The same, and in tier A what is there may be for reading only."""

DENIED = ("PermissionError",)


_SHORT_S, _LONG_S = 0.5, 15.0


@dataclass(frozen=True, slots=True)
class Attack:
    """
    A cell that a hostile student hands in.

    Parameters
    ----------
    source : str
        The cell. It raises if it fails, and finds `target` and `syscall`.
    ends : tuple of str
        How it may end: the class of its error, "limit <name>", "died <cause>"
        or `WENT_ON`.
    tiers : str
        The tiers that must stop it; limits alone stop only what says C.
    cpu_time_s, memory_mib : int
        Limits that make it short.
    """

    source: str
    ends: tuple[str, ...]
    tiers: str = "AB"
    cpu_time_s: int = 20
    memory_mib: int = 1024

    @property
    def wall_time_s(self) -> float:
        """How long it may take: hardly anything if that must end it, else enough for a busy machine."""
        return _SHORT_S if "limit wall_time_s" in self.ends else _LONG_S


# Numbers of system calls on the processor that the suite knows.
NUMBERS = {
    "open": 2,
    "shmget": 29,
    "ptrace": 101,
    "mount": 165,
    "setxattr": 188,
    "msgget": 68,
    "semget": 64,
    "vfork": 58,
    "tgkill": 234,
    "mlock": 149,
    "add_key": 248,
    "keyctl": 250,
    "unshare": 272,
    "perf_event_open": 298,
    "name_to_handle_at": 303,
    "setns": 308,
    "process_vm_readv": 310,
    "memfd_create": 319,
    "bpf": 321,
    "userfaultfd": 323,
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "clone3": 435,
    "pidfd_getfd": 438,
    "memfd_secret": 447,
}

_PRELUDE = """
import ctypes, os, signal, sys, types
target = types.SimpleNamespace(**TARGET)
libc = ctypes.CDLL(None, use_errno=True)
def syscall(name, *args):
    result = libc.syscall(NUMBERS[name], *args)
    if result == -1:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
"""


def prelude(target: dict[str, Any]) -> str:
    """
    Return the cell that runs before every attack.

    Parameters
    ----------
    target : dict
        What the attack is told of the grader: everything that helps it.
    """
    return f"TARGET = {target!r}\nNUMBERS = {NUMBERS!r}\n{_PRELUDE}"
