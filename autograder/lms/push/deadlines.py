"""
Answers that end in time: a bound in seconds for the whole of one, from its first letter to its last.

What libraries call a timeout is the time between two pieces. A server that sends
one letter now and then, in a header, in a body, or as "100 Continue", would keep
us for ever, and nothing above the connection would notice.
"""

from __future__ import annotations

import io
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

MIN_S = 0.001
"""Seconds that are waited at least: a socket takes 0 for something else."""

_BOUND = "ends_in_time"


def bind(manager: Any, left_s: Callable[[], Callable[[], float]]) -> None:
    """
    Let all answers to connections of a manager end in time.

    Parameters
    ----------
    manager : Any
        The `PoolManager` that makes connections, or the one for a proxy. To bind it again changes nothing.
    left_s : callable
        Is called as soon as an answer is awaited, and returns what tells the seconds that are left of it.
        Once none are left, whoever reads gets a TimeoutError.
    """

    def awaited(_: object, sock: socket.socket, *args: Any, **kwargs: Any) -> HTTPResponse:
        response = HTTPResponse(sock, *args, **kwargs)
        response.fp.close()
        response.fp = io.BufferedReader(_Pieces(sock, left_s()))
        return response

    kinds: dict[str, Any] = dict(manager.pool_classes_by_scheme)
    for scheme, pool in kinds.items():
        if not hasattr(pool.ConnectionCls, _BOUND):
            connection = type(pool.ConnectionCls.__name__, (pool.ConnectionCls,), {"response_class": awaited})
            setattr(connection, _BOUND, True)
            kinds[scheme] = type(pool.__name__, (pool,), {"ConnectionCls": connection})
    manager.pool_classes_by_scheme = kinds


class _Pieces(io.RawIOBase):
    """What comes from a socket, as long as time is left."""

    def __init__(self, sock: socket.socket, left_s: Callable[[], float]) -> None:
        super().__init__()
        self._sock = sock
        self._left_s = left_s
        # It keeps the socket open where the connection lets go of it before the answer is read.
        self._file = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read what is there, waiting no longer than time is left."""
        left_s, silence_s = self._left_s(), self._sock.gettimeout()
        if left_s <= 0:
            raise TimeoutError
        self._sock.settimeout(max(min(left_s, silence_s or left_s), MIN_S))
        try:
            return self._file.readinto(buffer)
        finally:
            self._sock.settimeout(silence_s)

    def close(self) -> None:
        """Let go of the socket."""
        self._file.close()
        super().close()
