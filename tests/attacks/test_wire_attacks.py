"""Bytes that a student's own process writes to the grader's socket are an answer or its end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from autograder.findings import Severity
from autograder.sandbox import process
from autograder.sandbox.limits import LimitReached, Limits, WorkerDied
from autograder.sandbox.sandbox import Sandbox
from autograder.sandbox.wall import Tier, probe
from autograder.wire.codec import encode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.sandbox.process import Worker

pytestmark = pytest.mark.sandbox

FIND = """
import os, socket, stat, struct, sys, threading, time
def is_socket(n):
    try: return stat.S_ISSOCK(os.fstat(n).st_mode)
    except OSError: return False
fd = next(filter(is_socket, range(3, 64)))
grader = socket.socket(fileno=os.dup(fd))
def frame(call_id, payload): return struct.pack('>QI', call_id, len(payload)) + payload
def call_id():
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get('call_id'), int): frame = frame.f_back
    return frame.f_locals['call_id']
"""
GET = encode([{"op": "get", "path": ("x",)}])
DIES = {
    "a frame before the call": "grader.send(frame(0, b'mine'))",
    "one byte before the call": "grader.send(b'x')",
    "two answers": "grader.send(frame(call_id(), b'\\0\\0\\0\\4true') * 2)",
    "a length of four gigabytes": "grader.send(struct.pack('>QI', call_id(), 0xFFFFFFFF))",
    "a frame by a thread": "threading.Thread(target=grader.send, args=(frame(0, b'x'),)).start()\n"
    "time.sleep(0.1)",
    "a flood": "grader.setblocking(False)\n"
    "try:\n    while True: grader.send(frame(1, bytes(10_000)))\nexcept BlockingIOError: pass",
    "half a frame, then its end": "grader.send(struct.pack('>QI', call_id(), 100)); os._exit(0)",
    "an end to the connection": "grader.shutdown(socket.SHUT_RDWR)",
    "descriptors": "socket.send_fds(grader, [frame(0, b'mine')], [0, 1, 2])",
}
"""What a cell does to the socket, so that the worker is gone at the latest when it is asked again."""


# What is told of it; where nothing is, it may have been a crash.
TOLD = {
    **dict.fromkeys(DIES, Severity.ATTACK),
    "one byte before the call": Severity.DOUBT,
    **dict.fromkeys(("an end to the connection", "half a frame, then its end")),
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """The best wall of this machine."""
    if probe().tier is Tier.C:
        pytest.skip("this machine has no wall")
    with Sandbox(probe()) as sandbox:
        yield sandbox


@pytest.fixture
def worker(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """A process in which the attacker has found the socket."""
    monkeypatch.setattr(process, "_GRACE_S", 0.3)
    worker = sandbox.start(Limits(wall_time_s=0.5))
    outputs = worker.run_cell("x = 41\n" + FIND).outputs
    assert outputs == []
    yield worker
    worker.close()


def open_descriptors() -> int:
    """Count what this process has open."""
    import os  # noqa: PLC0415 - the only use

    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, not paths


@pytest.mark.parametrize("name", DIES)
def test_a_forged_answer_ends_the_worker(worker: Worker, name: str) -> None:
    """It is never taken for the answer to a later call, costs the grader nothing, and is told."""
    before = open_descriptors()

    def attack() -> None:
        worker.run_cell(DIES[name])
        worker.request(GET)

    with pytest.raises(WorkerDied) as end:
        attack()
    assert (None if end.value.forged is None else end.value.forged.severity) is TOLD[name]
    with pytest.raises(WorkerDied):
        worker.request(GET)
    assert open_descriptors() <= before


def test_a_slow_drip_meets_the_deadline(worker: Worker) -> None:
    """One byte at a time does not buy time."""
    began = time.monotonic()
    with pytest.raises(LimitReached, match="wall_time_s"):
        worker.run_cell(
            "import signal; signal.setitimer(signal.ITIMER_REAL, 0)\n"
            "grader.send(struct.pack('>QI', call_id(), 1000))\n"
            "while True: grader.send(b'x'); time.sleep(0.01)"
        )

    assert time.monotonic() - began < 5


def test_a_worker_that_does_not_read_meets_the_deadline(worker: Worker) -> None:
    """A request that is larger than the kernel keeps is not waited for."""
    worker.run_cell(
        "def patch(frame):\n"
        "    while frame.f_code.co_name != 'serve': frame = frame.f_back\n"
        "    frame.f_globals['receive_frame'] = lambda sock: time.sleep(100)\n"
        "(lambda: patch(sys._getframe()))()"
    )

    began = time.monotonic()
    with pytest.raises(LimitReached, match="wall_time_s"):
        worker.request(GET + bytes(20_000_000))
    assert time.monotonic() - began < 5


def test_what_a_patched_worker_says_is_only_its_own_answer(worker: Worker) -> None:
    """With the call's name it may answer itself: that is what its code returned, and nothing more."""
    worker.run_cell(
        "import autograder.sandbox.worker.dispatcher as d\nfrom autograder.wire.codec import encode\n"
        "d.Dispatcher.answer = lambda self, request: encode([{'value': 42, 'passed': True}])"
    )

    assert worker.request(GET) == encode([{"value": 42, "passed": True}])


def test_the_next_worker_is_untouched(sandbox: Sandbox) -> None:
    """Whatever the one before did."""
    worker = sandbox.start(Limits())
    worker.run_cell("x = 41")

    assert worker.request(GET) == encode([{"value": 41}])
    worker.close()
