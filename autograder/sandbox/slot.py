"""The trusted side of a zygote: start it inside the wall, let it fork, reap what it forked."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import signal
import socket
import subprocess
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from autograder.errors import SandboxError
from autograder.sandbox.wall import BOX, Tier

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.sandbox.limits import Limits
    from autograder.sandbox.runtime import Runtime
    from autograder.sandbox.wall import Wall

_START_TIMEOUT_S = 60.0
_ANSWER_TIMEOUT_S = 20.0
_ANSWER_BYTES = 4096
_JOBS_BEFORE_RENEWAL = 200
# What the zygote lets a notebook write, of files that may each be file_mib large.
_BOX_PER_FILE = 2


@dataclass(frozen=True, slots=True)
class Child:
    """
    A forked process, not reaped yet.

    Parameters
    ----------
    pid : int
        Its number inside the slot.
    pidfd : int
        A descriptor that stands for it here.
    socket : socket
        The grader's end of its socket.
    folder : str
        Its folder, as it is called inside the slot.
    """

    pid: int
    pidfd: int
    socket: socket.socket
    folder: str

    def ends_within(self, timeout_s: float) -> bool:
        """Wait; return True if it has ended by itself."""
        return bool(select.select([self.pidfd], [], [], timeout_s)[0])

    def kill(self) -> None:
        """Send SIGKILL; whatever the process is doing, it ends."""
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class End:
    """
    How a child ended.

    Parameters
    ----------
    status : int
        As of `os.waitpid`.
    full : bool
        True if it was killed for what it wrote.
    """

    status: int
    full: bool


class Slot:
    """
    A place for one student's process at a time.

    The zygote is replaced by a new one after 200 children, and after any that
    broke the protocol.

    Parameters
    ----------
    runtime : Runtime
        Where the worker's modules are.
    wall : Wall
        What stands around it.
    plots : bool
        True if it has matplotlib loaded.
    """

    def __init__(self, runtime: Runtime, wall: Wall, *, plots: bool) -> None:
        self._runtime = runtime
        self._wall = wall
        self._plots = plots
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._folder: Path | None = None
        self._jobs = 0
        self._confinement: dict[str, object] = {}

    def close(self) -> None:
        """End the zygote and whatever it started, and remove its folder."""
        if self._control is not None:
            self._control.close()
            self._control = None
        if self._process is not None:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stderr is not None:
                self._process.stderr.close()
            self._process = None
        if self._folder is not None:
            self._runtime.remove(self._folder)
            self._folder = None

    def fork(self, limits: Limits, *, seed: int) -> Child:
        """
        Return a new process, confined and waiting for its first cell.

        Parameters
        ----------
        limits : Limits
            What it may use.
        seed : int
            Seeds its global random generators.

        Returns
        -------
        Child
            The process; it must be reaped before the next is forked.

        Raises
        ------
        SandboxError
            If the zygote cannot be started or does not answer.
        """
        if self._control is None or self._jobs >= _JOBS_BEFORE_RENEWAL:
            self.close()
            self._start(limits)
        self._jobs += 1
        root = BOX if self._wall.tier is Tier.A else self._folder
        folder = f"{root}/{next(self._numbers)}"
        ours, theirs = socket.socketpair()
        with theirs:
            request = {"op": "fork", "folder": folder, "limits": asdict(limits), "seed": seed}
            request |= self._confinement
            answer, descriptors = self._ask(request, [theirs.fileno()])
        return Child(answer["pid"], descriptors[0], ours, folder)

    def reap(self, child: Child, *, renew: bool = False) -> End:
        """
        Kill a child, clear away what it left, and tell how it ended.

        Parameters
        ----------
        child : Child
            The process.
        renew : bool
            True to replace the zygote before the next child.

        Returns
        -------
        End
            How it ended; by our signal, if it had not ended before.
        """
        child.kill()
        child.socket.close()
        os.close(child.pidfd)
        answer, _ = self._ask({"op": "reap", "pid": child.pid, "folder": child.folder}, [])
        if renew:
            self.close()
        return End(int(answer["status"]), bool(answer["full"]))

    def _start(self, limits: Limits) -> None:
        self._confinement = self._wall.confinement(self._runtime.shared)
        self._folder = self._runtime.new_folder(self._wall)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        environment = self._runtime.environment(self._wall, self._folder)
        inner = self._runtime.command(theirs.fileno(), plots=self._plots)
        with theirs:
            self._process = subprocess.Popen(
                self._wall.command(
                    inner, readable=[self._runtime.shared], box_mib=_BOX_PER_FILE * limits.file_mib
                ),
                pass_fds=(theirs.fileno(),),
                env=environment,
                cwd="/" if self._wall.tier is Tier.A else self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._control, self._jobs = ours, 0
        self._receive(_START_TIMEOUT_S)

    def _ask(self, request: dict[str, Any], descriptors: list[int]) -> tuple[dict[str, Any], list[int]]:
        control = self._control
        if control is None:
            raise SandboxError("sandbox", "the slot is closed", "Grade again.")
        try:
            socket.send_fds(control, [json.dumps(request).encode()], descriptors)
        except OSError:
            self._fail()
        return self._receive(_ANSWER_TIMEOUT_S)

    def _receive(self, timeout_s: float) -> tuple[dict[str, Any], list[int]]:
        control = self._control
        assert control is not None  # noqa: S101 - started by the callers
        control.settimeout(timeout_s)
        try:
            # The zygote runs no student code; its messages are ours.
            message, descriptors, _, _ = socket.recv_fds(control, _ANSWER_BYTES, 1)
        except OSError:
            message, descriptors = b"", []
        if not message:
            self._fail()
        return json.loads(message), descriptors

    def complaint(self) -> str:
        """End the zygote; return the last line it or a child of it wrote before student code ran."""
        process = self._process
        reason = ""
        if process is not None and process.stderr is not None:
            if self._control is not None:
                self._control.close()
                self._control = None
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            lines = process.stderr.read().decode("utf-8", "replace").strip().splitlines()
            reason = f": {lines[-1]}" if lines else ""
        self.close()
        return reason

    def _fail(self) -> NoReturn:
        reason = self.complaint()
        what = f"the process for student code does not start{reason}"
        raise SandboxError("sandbox", what, "Run `autograder doctor`.")
