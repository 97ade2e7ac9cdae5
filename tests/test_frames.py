"""The frames: what is sent arrives, in time or not at all."""

from __future__ import annotations

import socket
import struct
import threading
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.wire.frames import (
    ClosedError,
    DeadlineError,
    WireError,
    has_waiting_bytes,
    receive_frame,
    send_frame,
)


@pytest.fixture
def pair() -> Any:
    """Two connected sockets."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


SMALL = 2**14
"""A frame below this is read in one piece."""


def soon() -> float:
    """Return a deadline in a fifth of a second."""
    return time.monotonic() + 0.2


@given(payload=st.binary(max_size=5000), call_id=st.integers(0, 2**64 - 1))
def test_a_frame_arrives_as_it_was_sent(payload: bytes, call_id: int) -> None:
    """Receiving undoes sending."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send_frame(theirs, call_id, payload, deadline_s=soon())

        assert receive_frame(ours, deadline_s=soon()) == (call_id, payload)


@given(payload=st.binary(max_size=40), cuts=st.sets(st.integers(1, 51)))
def test_a_frame_may_come_in_any_pieces(payload: bytes, cuts: set[int]) -> None:
    """Its header too; a piece comes when the one before it was read."""
    ours, theirs = socket.socketpair()
    whole = struct.pack(">QI", 5, len(payload)) + payload
    ends = [*sorted(cut for cut in cuts if cut < len(whole)), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise([0, *ends])]

    class Pieces:
        """A socket on which each piece is sent at the last moment."""

        settimeout, gettimeout = ours.settimeout, ours.gettimeout

        def recv_into(self, buffer: bytearray) -> int:
            if not has_waiting_bytes(ours):
                theirs.sendall(pieces.pop(0))
            return ours.recv_into(buffer)

    with ours, theirs:
        assert receive_frame(Pieces(), deadline_s=soon()) == (5, payload)  # type: ignore[arg-type]
        assert not pieces


@pytest.mark.parametrize("size", [0, 7, SMALL, 300_000])
def test_bytes_after_a_frame_are_noticed(pair: Any, size: int) -> None:
    """Two answers to one call are none: at once if they came together, else before the next call."""
    ours, theirs = pair
    thread = threading.Thread(target=theirs.sendall, args=(struct.pack(">QI", 1, size) + bytes(size) + b"x",))
    thread.start()
    thread.join(0.1)

    if size < SMALL:
        with pytest.raises(WireError):
            receive_frame(ours, deadline_s=soon())
    else:
        receive_frame(ours, deadline_s=soon())
        thread.join()
        assert has_waiting_bytes(ours)


def test_a_large_frame_passes_both_ways(pair: Any) -> None:
    """More than the kernel buffers at once."""
    ours, theirs = pair
    payload = bytes(3_000_000)
    thread = threading.Thread(target=send_frame, args=(theirs, 1, payload))
    thread.start()

    assert receive_frame(ours, deadline_s=time.monotonic() + 10) == (1, payload)
    thread.join()


def test_a_huge_length_is_refused_before_reading(pair: Any) -> None:
    """A claim of 4 GiB costs nothing."""
    ours, theirs = pair
    theirs.sendall(struct.pack(">QI", 1, 0xFFFFFFFF))

    with pytest.raises(WireError):
        receive_frame(ours, limit_bytes=1000, deadline_s=soon())


def test_a_slow_drip_meets_the_deadline(pair: Any) -> None:
    """The deadline holds for the frame, not for each piece of it."""
    ours, theirs = pair
    stop = threading.Event()

    def drip() -> None:
        theirs.sendall(struct.pack(">QI", 1, 1000))
        while not stop.wait(0.02):
            theirs.sendall(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    start = time.monotonic()
    with pytest.raises(DeadlineError):
        receive_frame(ours, deadline_s=soon())

    assert time.monotonic() - start < 5
    stop.set()
    thread.join()


def test_silence_meets_the_deadline(pair: Any) -> None:
    """A worker that never answers is left."""
    with pytest.raises(DeadlineError):
        receive_frame(pair[0], deadline_s=soon())


def test_a_receiver_that_never_reads_meets_the_deadline(pair: Any) -> None:
    """A worker that never takes its request is left."""
    with pytest.raises(DeadlineError):
        send_frame(pair[0], 1, bytes(20_000_000), deadline_s=soon())


def test_an_end_inside_a_frame_is_told(pair: Any) -> None:
    """A worker that dies in the middle of an answer has given none."""
    ours, theirs = pair
    theirs.sendall(struct.pack(">QI", 1, 1000) + b"half")
    theirs.close()

    with pytest.raises(ClosedError):
        receive_frame(ours, deadline_s=soon())


def test_bytes_before_a_call_are_seen(pair: Any) -> None:
    """A forged answer that waits for its call is noticed; so is a closed connection."""
    ours, theirs = pair
    assert not has_waiting_bytes(ours)

    theirs.sendall(b"x")
    assert has_waiting_bytes(ours)


def test_descriptors_sent_along_are_dropped(pair: Any) -> None:
    """A flood of descriptors does not fill the grader's table."""
    ours, theirs = pair
    frame = struct.pack(">QI", 9, 2) + b"ok"
    with socket.socket() as extra:
        socket.send_fds(theirs, [frame], [extra.fileno()])

        assert receive_frame(ours, deadline_s=soon()) == (9, b"ok")
