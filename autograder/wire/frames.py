"""
Length-prefixed frames over a stream socket, each with one deadline.

A frame is an 8-byte call id and a 4-byte length, both big-endian, then the
payload. The id of an answer repeats the id of its call, which the caller
draws at random, so an answer can never be taken for that of another call.
"""

from __future__ import annotations

import select
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


class FrameError(WireError):
    """
    A frame is too long, or bytes follow it.

    Parameters
    ----------
    message : str
        What is wrong.
    start : bytes
        What was read of it.
    """

    def __init__(self, message: str, start: bytes) -> None:
        super().__init__(message)
        self.start = start


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
    _arm(sock, deadline_s)
    try:
        while view:
            try:
                view = view[sock.send(view) :]
            except BlockingIOError:
                _wait(sock, select.POLLOUT, deadline_s)
    except OSError as error:
        raise ClosedError(str(error)) from None


def receive_frame(
    sock: socket.socket, *, limit_bytes: int = MAX_FRAME_BYTES, deadline_s: float | None = None
) -> tuple[int, bytes]:
    """
    Receive one frame.

    The length is checked before more is read, and the deadline holds for the
    frame as a whole, so that neither a huge length nor a slow drip costs more
    than it may. Nothing may follow a frame: both sides take turns.

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
    FrameError
        If the frame is longer than `limit_bytes`, or bytes follow it.
    """
    _arm(sock, deadline_s)
    # Most frames come in one piece.
    piece = bytearray(_PIECE_BYTES)
    read = bytes(piece[: _receive_into(sock, piece, deadline_s)])
    if len(read) < _HEADER.size:
        read = _complete(sock, read, _HEADER.size, deadline_s)
    call_id, length = _HEADER.unpack_from(read)
    if length > limit_bytes:
        msg = f"a frame of {length} bytes where {limit_bytes} are allowed"
        raise FrameError(msg, read)
    missing = _HEADER.size + length - len(read)
    if missing < 0:
        msg = "bytes after a frame"
        raise FrameError(msg, read)
    payload = read[_HEADER.size :]
    return call_id, payload if not missing else _complete(sock, payload, length, deadline_s)


def has_waiting_bytes(sock: socket.socket) -> bool:
    """Return True if bytes wait to be read, or the other side has closed."""
    _arm(sock, 0.0)
    try:
        sock.recv(1, _MSG_PEEK)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


_MSG_PEEK = 2
# What is asked of the kernel at once; it makes room for all of it.
_PIECE_BYTES = 2**14


def _complete(sock: socket.socket, start: bytes, length: int, deadline_s: float | None) -> bytes:
    """Return the start with as many bytes after it as make it so long, however small their pieces."""
    whole = bytearray(length)
    whole[: len(start)] = start
    view = memoryview(whole)[len(start) :]
    while view:
        view = view[_receive_into(sock, view, deadline_s) :]
    return bytes(whole)


def _receive_into(sock: socket.socket, buffer: bytearray | memoryview, deadline_s: float | None) -> int:
    """Wait for bytes and return how many came; descriptors sent along are dropped."""
    try:
        while True:
            try:
                count = sock.recv_into(buffer)
                break
            except BlockingIOError:
                _wait(sock, select.POLLIN, deadline_s)
    except OSError as error:
        raise ClosedError(str(error)) from None
    if not count:
        msg = "the connection ended inside a frame"
        raise ClosedError(msg)
    return count


def _arm(sock: socket.socket, deadline_s: float | None) -> None:
    """Let the socket wait for ever, or let it not wait, so that we do; each change is a system call."""
    timeout_s = None if deadline_s is None else 0.0
    if sock.gettimeout() != timeout_s:
        sock.settimeout(timeout_s)


def _wait(sock: socket.socket, event: int, deadline_s: float | None) -> None:
    left_s = None if deadline_s is None else deadline_s - time.monotonic()
    if left_s is not None and left_s <= 0:
        raise DeadlineError
    poll = select.poll()
    poll.register(sock, event)
    poll.poll(None if left_s is None else left_s * 1000)
