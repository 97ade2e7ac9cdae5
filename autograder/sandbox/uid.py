"""The user id of student code where root grades: nobody's, and one grading process's at a time."""

from __future__ import annotations

import contextlib
import os
import random
import socket

# Unused by systemd, by distributions' ranges and by people; within what containers map.
_FIRST, _COUNT = 60578, 606
# What each process has claimed: a fork starts with its parent's, and claims one of its own.
_CLAIMED: dict[int, tuple[int, int]] = {}


def slot_uid() -> int:
    """
    Return a user id that nobody uses, another one for each grading process of this machine.

    Processes of one user id count against one limit, and without a wall they
    could end each other.

    Returns
    -------
    int
        The same one for as long as this process lives.
    """
    pid = os.getpid()
    if pid not in _CLAIMED:
        mine = _claim()
        if _CLAIMED.setdefault(pid, mine) is not mine:
            # Another thread was first.
            _release(mine)
    return _CLAIMED[pid][0]


def _claim() -> tuple[int, int]:
    """Return a user id with the descriptor that holds it, or with none if there are more graders than ids."""
    # Not by the process's number: those of two containers, or hours apart, may be alike.
    ids = random.SystemRandom().sample(range(_FIRST, _FIRST + _COUNT), _COUNT)
    for uid in ids:
        holder = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            # A name without a file: the kernel gives it to one, and takes it back when that one ends.
            holder.bind(f"\0autograder-uid-{uid}")
        except OSError:
            holder.close()
        else:
            return uid, holder.detach()
    return ids[0], -1


def _release(claim: tuple[int, int]) -> None:
    with contextlib.suppress(OSError):
        os.close(claim[1])
