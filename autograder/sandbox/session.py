"""One notebook from its first cell to its last check, whatever dies on the way."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from autograder.sandbox.cells import CellRun
from autograder.sandbox.evidence import Gathered
from autograder.sandbox.limits import LimitReached, WorkerDied
from autograder.sandbox.outputs import error_output, shown_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from autograder.findings import Evidence
    from autograder.sandbox.limits import Limits
    from autograder.sandbox.process import Worker

_MESSAGES = {
    "wall_time_s": "the cell took longer than {value:g} s and was stopped",
    "cpu_time_s": "the notebook used more than {value:g} s of processor time and was stopped",
    "file_mib": "the notebook wrote too many files, or more than twice {value:g} MiB, and was stopped",
    "notebook_time_s": "the notebook took longer than {value:g} s, so this cell was not run",
}

DIED = "died"
"""What stopped a cell that ended its process."""

# Cells of a notebook together may show this many times what one may.
_SHOWN_PER_CELL = 8
_KIB = 2**10


@dataclass(frozen=True, slots=True)
class CodeCell:
    """
    A cell to run.

    Parameters
    ----------
    source : str
        Its source.
    name : str
        If not empty, the names are remembered after this cell under this name.
    graded : bool
        True for a test cell: it is run as it was handed out.
    where : str
        What to call it where evidence is told.
    given : bool
        True if it is as it was handed out, so that a student has no part in
        what it says.
    """

    source: str
    name: str = ""
    graded: bool = False
    where: str = ""
    given: bool = False


@dataclass(slots=True)
class NotebookSession:
    """
    Runs a notebook's cells, then answers requests as of any named cell.

    A cell that kills its process is told as that cell's error; the cells
    before it are run again in a new process, the killer is left out, and the
    rest follow. A request that kills the process costs that request alone.

    Parameters
    ----------
    start : callable
        Returns a new `Worker`; the given cells that it has run are the first
        of `cells`.
    cells : sequence of CodeCell
        The notebook's code cells in order.
    limits : Limits
        What the notebook may use.

    Attributes
    ----------
    runs : list of CellRun
        How each cell ended, once `run` has run it.
    """

    start: Callable[[], Worker]
    cells: Sequence[CodeCell]
    limits: Limits
    runs: list[CellRun] = field(default_factory=list, init=False)
    _worker: Worker | None = None
    _killers: set[int] = field(default_factory=set)
    _ran: int = 0
    _deadline_s: float = 0.0
    _started: bool = False
    _shown_bytes: int = 0
    _gathered: Gathered = field(default_factory=Gathered)
    _asked: str = ""

    def __enter__(self) -> Self:
        """Return the session."""
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self.close()

    def close(self) -> None:
        """Kill the process, if there is one."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def run(self) -> list[list[dict[str, Any]]]:
        """
        Run every cell once.

        Returns
        -------
        list of list of dict
            Each cell's outputs, cleaned, in nbformat's form.
        """
        self.runs.clear()
        while len(self.runs) < len(self.cells):
            self._run_from(len(self.runs))
        return [run.outputs for run in self.runs]

    def evidence(self) -> tuple[Evidence, ...]:
        """
        Return what looks like tampering in what has run so far.

        It is for people alone. Most of it is what the process says in which
        student code runs, so that a student can keep it from being said, or
        accuse themself.

        Returns
        -------
        tuple of Evidence
            The worst first, alike ones joined, at most 20.
        """
        return self._gathered.evidence()

    def scope(self, name: str) -> None:
        """
        Answer the next requests as of the cell of this name.

        Parameters
        ----------
        name : str
            The name of a `CodeCell`.

        Raises
        ------
        LimitReached
            If the notebook's time is used up.
        """
        position = next(index for index, cell in enumerate(self.cells) if cell.name == name)
        worker = self._rerun(position + 1)
        if worker is None:
            raise LimitReached("notebook_time_s")
        self._asked = self.cells[position].where
        worker.scope(name)

    def request(self, request: bytes) -> bytes:
        """
        Return the answer to a request about the notebook's names.

        Parameters
        ----------
        request : bytes
            See `autograder.sandbox.worker.dispatcher`.

        Returns
        -------
        bytes
            The answer, not to be trusted.

        Raises
        ------
        LimitReached
            If a limit stopped the code.
        WorkerDied
            If the code ended its process.
        """
        if self._worker is None:
            raise WorkerDied("exit")
        self._check_time()
        worker = self._worker
        try:
            return worker.request(request)
        except (LimitReached, WorkerDied) as end:
            self._worker = None
            self._saw(end, self._asked)
            raise
        finally:
            if worker.notes:
                self._gathered.add_notes(self._asked, worker.notes, hidden=True)
                worker.notes.clear()

    def _run_from(self, first: int) -> None:
        """Run cells from `first` on until one kills the process, and remember how each ended."""
        worker = self._rerun(first)
        if worker is not None and not self.runs:
            self.runs += [CellRun(self._bounded(shown)) for shown in worker.outputs]
        for index in range(len(self.runs), len(self.cells)):
            if worker is None:
                self.runs.append(self._told("notebook_time_s"))
                continue
            cell = self.cells[index]
            try:
                self._check_time()
                run = worker.run_cell(cell.source, snapshot=cell.name, graded=cell.graded)
                self.runs.append(replace(run, outputs=self._bounded(run.outputs)))
                self._ran = index + 1
                self._heard(worker, cell)
            except (LimitReached, WorkerDied) as end:
                self._saw(end, cell.where)
                self._killed_by(index)
                self.runs.append(self._told(end.name) if isinstance(end, LimitReached) else _told_death(end))
                return

    def _rerun(self, stop: int) -> Worker | None:
        """Return a worker in which the cells before `stop` have run, killers left out."""
        while not self._out_of_time():
            if self._worker is None:
                began_s = time.monotonic()
                self._worker = self.start()
                if not self._started:
                    self._gathered.add_files(self._worker.handed_in)
                    # What the first process had to wait for is not the notebook's doing.
                    self._started = True
                    self._deadline_s += time.monotonic() - began_s
                self._ran = len(self._worker.outputs)
            try:
                while self._ran < stop:
                    cell = self.cells[self._ran]
                    source = "" if self._ran in self._killers else cell.source
                    self._worker.run_cell_again(source, snapshot=cell.name, graded=cell.graded)
                    self._ran += 1
            except (LimitReached, WorkerDied):
                self._killed_by(self._ran)
            else:
                # All of it was heard when these cells ran first.
                self._worker.notes.clear()
                return self._worker
        self.close()
        return None

    def _heard(self, worker: Worker, cell: CodeCell) -> None:
        """Keep what a worker has noted of a cell."""
        if worker.notes:
            self._gathered.add_notes(cell.where, worker.notes, given=cell.source if cell.given else "")
            worker.notes.clear()

    def _saw(self, end: LimitReached | WorkerDied, where: str) -> None:
        """Keep what was seen of the end of a worker."""
        if isinstance(end, WorkerDied) and end.forged is not None:
            self._gathered.add_forged(where, end.forged)

    def _bounded(self, outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return a cell's outputs, or one line if the notebook has shown too much already."""
        self._shown_bytes += shown_bytes(outputs)
        limit_kib = _SHOWN_PER_CELL * self.limits.output_kib
        if self._shown_bytes <= limit_kib * _KIB:
            return outputs
        errors = [output for output in outputs if output["output_type"] == "error"][:1]
        return [
            *({**error, "traceback": [], "evalue": ""} for error in errors),
            error_output("OutputCut", f"the notebook shows more than {limit_kib} KiB"),
        ]

    def _killed_by(self, index: int) -> None:
        # A cell that is left out ends nothing: one before it has done what shows only now.
        while index in self._killers and index > 0:
            index -= 1
        self._killers.add(index)
        self.close()

    def _out_of_time(self) -> bool:
        now_s = time.monotonic()
        self._deadline_s = self._deadline_s or now_s + self.limits.notebook_time_s
        return now_s > self._deadline_s

    def _check_time(self) -> None:
        if self._out_of_time():
            raise LimitReached("notebook_time_s")

    def _told(self, limit: str) -> CellRun:
        value = getattr(self.limits, limit)
        return _killed("LimitReached", _MESSAGES[limit].format(value=value), limit)


def _told_death(death: WorkerDied) -> CellRun:
    return _killed("WorkerDied", f"the cell ended the notebook's process ({death.cause})", DIED)


def _killed(error: str, message: str, stopped: str) -> CellRun:
    return CellRun([error_output(error, message)], error, stopped=stopped)
