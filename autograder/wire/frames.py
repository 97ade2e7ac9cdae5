"""
Length-prefixed frames over a stream socket, each with one deadline.

A frame is an 8-byte call id and a 4-byte length, both big-endian, then the
payload. The id of an answer repeats the id of its call, which the caller
draws at random, so an answer can never be taken for that of another call.
"""

from __future__ import annotations

import struct
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket

_HEADER = struct.Struct(">QI")
MAX_FRAME_BYTES = 0xFFFFFFFF


class WireError(Exception):
    """The other side broke the protocol; nothing it says can be used any more."""


class ClosedError(WireError):
    """The other side closed the connection, or its process is gone."""


class DeadlineError(Exception):
    """The other side did not answer in time."""


def send_frame(sock: socket.socket, call_id: int, payload: bytes, *, deadline_s: float | None = None) -> None:
    """
    Send one frame.

    Parameters
    ----------
    sock : socket
        A connected stream socket.
    call_id : int
        0 <= call_id < 2**64; the answer repeats it.
    payload : bytes
        At most 2**32 - 1 bytes.
    deadline_s : float, optional
        `time.monotonic` time, in seconds, at which to give up. None waits for ever.

    Raises
    ------
    DeadlineError
        If the other side does not take the bytes in time.
    ClosedError
        If the connection is gone.
    """
    view = memoryview(_HEADER.pack(call_id, len(payload)) + payload)
    try:
        while view:
            _arm(sock, deadline_s)
            view = view[sock.send(view) :]
    except TimeoutError:
        raise DeadlineError from None
    except OSError as error:
        raise ClosedError(str(error)) from None


def receive_frame(
    sock: socket.socket, *, limit_bytes: int = MAX_FRAME_BYTES, deadline_s: float | None = None
) -> tuple[int, bytes]:
    """
    Receive one frame.

    The length is checked before anything is read, and the deadline holds for
    the frame as a whole, so that neither a huge length nor a slow drip costs
    more than it may.

    Parameters
    ----------
    sock : socket
        A connected stream socket.
    limit_bytes : int
        The longest payload that is accepted.
    deadline_s : float, optional
        `time.monotonic` time, in seconds, at which to give up. None waits for ever.

    Returns
    -------
    tuple of (int, bytes)
        The call id and the payload.

    Raises
    ------
    DeadlineError
        If the whole frame has not come in time.
    ClosedError
        If the connection ends before the frame does.
    WireError
        If the frame is longer than `limit_bytes`.
    """
    call_id, length = _HEADER.unpack(_receive(sock, _HEADER.size, deadline_s))
    if length > limit_bytes:
        msg = f"a frame of {length} bytes where {limit_bytes} are allowed"
        raise WireError(msg)
    return call_id, bytes(_receive(sock, length, deadline_s))


def has_waiting_bytes(sock: socket.socket) -> bool:
    """Return True if bytes wait to be read, or the other side has closed."""
    sock.settimeout(0)
    try:
        sock.recv_into(bytearray(1), 1, _MSG_PEEK)
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True
    return True


_MSG_PEEK = 2


def _receive(sock: socket.socket, length: int, deadline_s: float | None) -> bytearray:
    buffer = bytearray(length)
    view = memoryview(buffer)
    try:
        while view:
            _arm(sock, deadline_s)
            # Not recvmsg: descriptors sent along are dropped by the kernel.
            count = sock.recv_into(view)
            if count == 0:
                msg = "the connection ended inside a frame"
                raise ClosedError(msg)
            view = view[count:]
    except TimeoutError:
        raise DeadlineError from None
    except OSError as error:
        raise ClosedError(str(error)) from None
    return buffer


def _arm(sock: socket.socket, deadline_s: float | None) -> None:
    if deadline_s is None:
        sock.settimeout(None)
        return
    left_s = deadline_s - time.monotonic()
    if left_s <= 0:
        raise DeadlineError
    sock.settimeout(left_s)
