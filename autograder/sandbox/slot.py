"""A place for one student's process at a time: its zygotes, started inside the wall, and what they fork."""

from __future__ import annotations

import contextlib
import itertools
import os
import select
import signal
import socket
import subprocess
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from autograder.errors import SandboxError
from autograder.sandbox.wall import BOX, Tier
from autograder.sandbox.zygote import NOTHING, Branch, Origin, Zygote, ZygoteError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from autograder.sandbox.limits import Limits
    from autograder.sandbox.runtime import Runtime
    from autograder.sandbox.wall import Wall

_START_TIMEOUT_S = 60.0
_JOBS_BEFORE_RENEWAL = 200
# What the zygote lets a notebook write, of files that may each be file_mib large.
_BOX_PER_FILE = 2


@dataclass(frozen=True, slots=True)
class Child:
    """
    A forked process, not reaped yet.

    Parameters
    ----------
    pidfd : int
        A descriptor that stands for it here.
    socket : socket
        The grader's end of its socket.
    zygote : Zygote
        What it was forked from.
    """

    pidfd: int
    socket: socket.socket
    zygote: Zygote

    def ends_within(self, timeout_s: float) -> bool:
        """Wait; return True if it has ended by itself."""
        # Not `select`: it knows no descriptor above 1023, and whoever grades may have more.
        poll = select.poll()
        poll.register(self.pidfd, select.POLLIN)
        return bool(poll.poll(timeout_s * 1000))

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

    In it a tree of zygotes grows by need: the first has numpy and IPython, a
    fork of it matplotlib as well, and forks of these have run given cells.
    None of them forks a student's process: that is done by one more fork of
    each, which is replaced after 200 of them, and after any that ended by
    itself. After one that broke the protocol the whole tree is replaced.

    Parameters
    ----------
    runtime : Runtime
        Where the worker's modules are.
    wall : Wall
        What stands around it.
    """

    def __init__(self, runtime: Runtime, wall: Wall) -> None:
        self._runtime = runtime
        self._wall = wall
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._folder: Path | None = None
        self._confinement: dict[str, object] = {}
        self._root: Zygote | None = None
        self._is_ready = False
        # What only makes zygotes, and what only makes students' processes.
        self._trunks: dict[Origin, Zygote] = {}
        self._forking: dict[Origin, Zygote] = {}
        self._unfit: set[Origin] = set()
        self._growing: dict[Origin, Branch] = {}

    def close(self) -> None:
        """End all zygotes and whatever they started, and remove the folder."""
        for zygote in (*self._forking.values(), *self._trunks.values()):
            zygote.close()
        for branch in self._growing.values():
            branch.close()
        self._forking.clear()
        self._growing.clear()
        self._trunks.clear()
        if self._root is not None:
            self._root.close()
            self._root = None
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

    def launch(self, limits: Limits) -> None:
        """
        Start the first zygote and do not wait for it; launching again does nothing.

        Parameters
        ----------
        limits : Limits
            What the slot's notebooks may use; of it only `file_mib` counts here.
        """
        if self._root is not None:
            return
        self._confinement = self._wall.confinement(self._runtime.shared)
        self._folder = self._runtime.new_folder(self._wall)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                self._wall.command(
                    self._runtime.command(theirs.fileno()),
                    readable=[self._runtime.shared],
                    box_mib=_BOX_PER_FILE * limits.file_mib,
                ),
                pass_fds=(theirs.fileno(),),
                env=self._runtime.environment(self._wall, self._folder),
                cwd="/" if self._wall.tier is Tier.A else self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        self._root, self._is_ready = Zygote(ours), False

    def get_ready(self, origins: Sequence[Origin], limits: Limits) -> None:
        """
        Begin all zygotes that will be needed, side by side, and wait for none of the last.

        Parameters
        ----------
        origins : sequence of Origin
            What processes will be forked from.
        limits : Limits
            What each given cell may use.

        Raises
        ------
        SandboxError
            If a zygote cannot be started.
        """
        try:
            for origin in origins:
                if origin != NOTHING and origin not in self._trunks and origin not in self._unfit:
                    self._begin(origin, limits)
        except ZygoteError:
            self._fail()

    def fork(self, limits: Limits, *, seed: int, origin: Origin) -> Child:
        """
        Return a new process, confined and waiting for its first cell.

        Parameters
        ----------
        limits : Limits
            What it may use.
        seed : int
            Seeds its global random generators.
        origin : Origin
            What it is forked from. If its given cells turn out to be unfit,
            they are left for the notebook to run: see `Child.zygote`.

        Returns
        -------
        Child
            The process; it must be reaped before the next is forked.

        Raises
        ------
        SandboxError
            If a zygote cannot be started or does not answer.
        """
        ours, theirs = socket.socketpair()
        try:
            with theirs:
                zygote = self._ready_to_fork(origin, limits)
                folder = self._new_folder()
                request = {"op": "fork", "folder": folder, "limits": asdict(limits), "seed": seed}
                _, descriptors = zygote.ask(request | self._confinement, theirs.fileno())
        except ZygoteError:
            ours.close()
            self._fail()
        zygote.jobs += 1
        return Child(descriptors[0], ours, zygote)

    def reap(self, child: Child, *, renew: bool = False, restart: bool = False) -> End:
        """
        Kill a child, clear away what it left, and tell how it ended.

        Parameters
        ----------
        child : Child
            The process.
        renew : bool
            True to replace the zygote that forked it before the next child.
        restart : bool
            True to replace all zygotes of the slot.

        Returns
        -------
        End
            How it ended; by our signal, if it had not ended before.
        """
        child.kill()
        child.socket.close()
        os.close(child.pidfd)
        try:
            answer, _ = child.zygote.ask({"op": "reap"})
        except ZygoteError:
            self._fail()
        if restart:
            self.close()
        elif renew or child.zygote.jobs >= _JOBS_BEFORE_RENEWAL:
            self._forget(child.zygote)
        return End(int(answer["status"]), bool(answer["full"]))

    def complaint(self) -> str:
        """End all zygotes; return the last line that one, or a child, wrote before student code ran."""
        process = self._process
        reason = ""
        if process is not None and process.stderr is not None:
            if self._root is not None:
                self._root.close()
            try:
                process.wait(1)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            lines = process.stderr.read().decode("utf-8", "replace").strip().splitlines()
            reason = f": {lines[-1]}" if lines else ""
        self.close()
        return reason

    def _ready_to_fork(self, origin: Origin, limits: Limits) -> Zygote:
        """Return the zygote that forks students' processes with this origin, or without its given cells."""
        if origin in self._unfit:
            origin = replace(origin, given=())
        if origin not in self._forking:
            trunk = self._trunk(origin, limits)
            if trunk is None:
                self._unfit.add(origin)
                return self._ready_to_fork(origin, limits)
            forking = self._branch(trunk, NOTHING, limits).wait()
            assert forking is not None  # noqa: S101 - it has no cells to run
            forking.outputs = trunk.outputs
            self._forking[origin] = forking
        return self._forking[origin]

    def _trunk(self, origin: Origin, limits: Limits) -> Zygote | None:
        """Return the zygote that has loaded and run this, made by need; None if it cannot run it."""
        if origin == NOTHING:
            return self._ready_root(limits)
        if origin not in self._trunks:
            trunk = self._begin(origin, limits).wait()
            del self._growing[origin]
            if trunk is None:
                return None
            self._trunks[origin] = trunk
        return self._trunks[origin]

    def _begin(self, origin: Origin, limits: Limits) -> Branch:
        """Return the beginning zygote that loads and runs this; what it comes from is ready."""
        if origin not in self._growing:
            parent, more = NOTHING, origin
            if origin.given:
                parent, more = replace(origin, given=()), replace(origin, plots=False)
            else:
                self._runtime.list_fonts()
            trunk = self._trunk(parent, limits)
            assert trunk is not None  # noqa: S101 - it has no cells to run
            self._growing[origin] = self._branch(trunk, more, limits)
        return self._growing[origin]

    def _branch(self, trunk: Zygote, more: Origin, limits: Limits) -> Branch:
        return trunk.branch(more, limits, folder=self._new_folder(), timeout_s=_START_TIMEOUT_S)

    def _ready_root(self, limits: Limits) -> Zygote:
        self.launch(limits)
        assert self._root is not None  # noqa: S101 - it was just launched
        if not self._is_ready:
            self._root.receive(_START_TIMEOUT_S)
            self._is_ready = True
        return self._root

    def _new_folder(self) -> str:
        place = BOX if self._wall.tier is Tier.A else self._folder
        return f"{place}/{next(self._numbers)}"

    def _forget(self, zygote: Zygote) -> None:
        zygote.close()
        self._forking = {origin: one for origin, one in self._forking.items() if one is not zygote}

    def _fail(self) -> NoReturn:
        reason = self.complaint()
        what = f"the process for student code does not start{reason}"
        raise SandboxError("sandbox", what, "Run `autograder doctor`.")
