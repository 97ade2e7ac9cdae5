"""The trusted side of one zygote: what is asked of it, and what it answers."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from autograder.wire.frames import DeadlineError, WireError, receive_frame, send_frame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from autograder.sandbox.limits import Limits

_PLOTS = "matplotlib"
_ANSWER_TIMEOUT_S = 20.0
_ANSWER_BYTES = 4096
# The worker interrupts honest code itself at the limit; after this it is given up.
_GRACE_S = 1.5


class ZygoteError(Exception):
    """A zygote does not answer, or ends."""


@dataclass(frozen=True, slots=True)
class Origin:
    """
    What a notebook's process is forked from.

    Parameters
    ----------
    plots : bool
        True if matplotlib is loaded.
    given : tuple of str
        The sources of the cells that have run: an assignment's first code
        cells, which no student writes.
    """

    plots: bool = False
    given: tuple[str, ...] = ()

    @classmethod
    def of(cls, code: Sequence[str], given: tuple[str, ...] = ()) -> Self:
        """
        Return what to fork a notebook's process from.

        Parameters
        ----------
        code : sequence of str
            The sources of its code cells.
        given : tuple of str
            The given cells of its assignment; a notebook that does not begin
            with exactly these runs its first cells itself.
        """
        is_given = tuple(code[: len(given)]) == given
        return cls(any(_PLOTS in source for source in code), given if is_given else ())


NOTHING = Origin()
"""The first zygote: no plots, no given cells."""


class Zygote:
    """
    A process from which others are forked.

    No student code runs in it, so its answers are trusted.

    Parameters
    ----------
    control : socket
        The packet socket on which it takes requests.

    Attributes
    ----------
    outputs : tuple of list of dict
        What each given cell has shown, cleaned.
    jobs : int
        How many notebooks' processes it has forked.
    """

    def __init__(self, control: socket.socket) -> None:
        self.outputs: tuple[list[dict[str, Any]], ...] = ()
        self.jobs = 0
        self._control = control

    def close(self) -> None:
        """End it, once it has nothing to do."""
        self._control.close()

    def ask(self, request: dict[str, Any], *descriptors: int) -> tuple[dict[str, Any], list[int]]:
        """
        Send a request and return the answer with its descriptors.

        Raises
        ------
        ZygoteError
            If there is none.
        """
        try:
            socket.send_fds(self._control, [json.dumps(request).encode()], descriptors)
        except OSError as error:
            raise ZygoteError(str(error)) from None
        return self.receive(_ANSWER_TIMEOUT_S)

    def receive(self, timeout_s: float) -> tuple[dict[str, Any], list[int]]:
        """
        Wait for the next answer.

        Raises
        ------
        ZygoteError
            If none comes in time.
        """
        self._control.settimeout(timeout_s)
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, _ANSWER_BYTES, 1)
        except OSError as error:
            raise ZygoteError(str(error)) from None
        if not message:
            raise ZygoteError("it ended")
        return json.loads(message), descriptors

    def branch(self, more: Origin, limits: Limits, *, folder: str, timeout_s: float) -> Branch:
        """
        Begin another zygote, a fork of this one that has more loaded or run.

        Parameters
        ----------
        more : Origin
            What it loads and runs beyond what this one has.
        limits : Limits
            What each given cell may use.
        folder : str
            A new folder that they run in, as it is called inside the slot.
        timeout_s : float
            How long it may take to load what it needs, in seconds.

        Returns
        -------
        Branch
            Wait for it before it is used; several can get ready at a time.

        Raises
        ------
        ZygoteError
            If it does not come up.
        """
        from autograder.wire.codec import encode  # noqa: PLC0415 - it imports numpy, the first zygote need not wait

        control, its_control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        orders, its_orders = socket.socketpair()
        deadline_s = time.monotonic() + timeout_s + len(more.given) * (limits.wall_time_s + _GRACE_S)
        branch = Branch(Zygote(control), orders, deadline_s)
        message = {"plots": more.plots, "cells": list(more.given), "folder": folder}
        try:
            with its_control, its_orders:
                self.ask({"op": "branch"}, its_control.fileno(), its_orders.fileno())
            send_frame(orders, 0, encode(message | {"limits": asdict(limits)}), deadline_s=deadline_s)
        except (DeadlineError, WireError, ZygoteError) as error:
            branch.close()
            raise ZygoteError(str(error)) from None
        return branch


class Branch:
    """
    A zygote that gets ready.

    Parameters
    ----------
    zygote : Zygote
        What it will be.
    orders : socket
        Where it says that it is.
    deadline_s : float
        `time.monotonic` time, in seconds, at which it has failed.
    """

    def __init__(self, zygote: Zygote, orders: socket.socket, deadline_s: float) -> None:
        self._zygote, self._orders, self._deadline_s = zygote, orders, deadline_s

    def close(self) -> None:
        """End it."""
        self._orders.close()
        self._zygote.close()

    def wait(self) -> Zygote | None:
        """
        Return the zygote, once it is ready.

        Returns
        -------
        Zygote or None
            None if the given cells must run in each notebook's own process,
            see `autograder.sandbox.worker.warm.run_given`.

        Raises
        ------
        ZygoteError
            If it does not come up.
        """
        from autograder.sandbox.outputs import clean_outputs  # noqa: PLC0415 - as in `Zygote.branch`
        from autograder.wire.codec import decode  # noqa: PLC0415 - the same

        try:
            _, answer = receive_frame(self._orders, deadline_s=self._deadline_s)
        except (DeadlineError, WireError) as error:
            self.close()
            raise ZygoteError(str(error)) from None
        self._orders.close()
        outputs = decode(answer)["outputs"]
        if outputs is None:
            self._zygote.close()
            return None
        self._zygote.outputs = tuple(clean_outputs(raw) for raw in outputs)
        return self._zygote
