"""The hidden checks of an assignment, collected once and run on notebook after notebook."""

from __future__ import annotations

import os
import queue
import sys
import threading
import warnings
from collections import defaultdict
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import pytest

from autograder.checks.plugin import CheckPlugin, CheckRun, claim_of, points_of
from autograder.checks.student import Student
from autograder.errors import CheckError, nearest
from autograder.sandbox.worker.dispatcher import Dispatcher

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

CHECKS = Path(__file__).parent
"""The folder that holds a folder of check modules for each assignment."""

_OPTIONS = (
    *("-c", str(CHECKS / "pytest.ini"), "--import-mode=importlib"),
    *("--disable-plugin-autoload", "--assert=plain", "--capture=no", "--noconftest"),
    *("-p", "no:terminal", "-p", "no:cacheprovider", "-p", "no:warnings", "-p", "no:faulthandler"),
    *("-p", "no:threadexception", "-p", "no:unraisableexception", "-p", "no:logging"),
)
_OUTER = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_CURRENT_TEST")


class Names(Protocol):
    """A notebook's names, open to requests as of each of its test cells."""

    def scope(self, name: str) -> None:
        """Answer the next requests as of the test cell of this grade_id."""

    def request(self, request: bytes) -> bytes:
        """Return the encoded answer to an encoded request."""


class LocalNames:
    """
    The names of a namespace of this very process.

    For an instructor's own kernel, and for code that we wrote ourselves;
    never for a student's while grading.

    Parameters
    ----------
    namespace : mapping
        Names and what they stand for.
    """

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self._namespace = namespace
        self._dispatcher = Dispatcher(namespace)

    def scope(self, name: str) -> None:  # noqa: ARG002 - a kernel's namespace is always as of now
        """Forget the objects of the check before."""
        self._dispatcher = Dispatcher(self._namespace)

    def request(self, request: bytes) -> bytes:
        """Return the encoded answer to an encoded request."""
        return self._dispatcher.answer(request)


def assignments(root: Path = CHECKS) -> list[str]:
    """Return the assignments that have hidden checks below a folder."""
    return sorted({path.parent.name for path in root.glob("*/test_*.py")})


def modules(assignment: str, root: Path = CHECKS) -> dict[str, Path]:
    """
    Return the check modules of an assignment by the grade_id of their test cell.

    Parameters
    ----------
    assignment : str
        The assignment.
    root : Path
        The folder that holds a folder for each assignment.

    Returns
    -------
    dict of str to Path
        The modules.

    Raises
    ------
    CheckError
        If the assignment has none.
    """
    found = {path.stem: path for path in sorted((root / assignment).glob("test_*.py"))}
    if not found:
        raise CheckError(
            assignment, "there are no hidden checks for it", nearest(assignment, assignments(root))
        )
    return found


class CheckSuite:
    """
    The checks of an assignment, ready to run; a context manager.

    pytest runs in a thread of its own, started once: an item then costs well
    under a millisecond, where starting pytest costs some seventy.

    Parameters
    ----------
    assignment : str
        A folder of check modules.
    grade_ids : sequence of str, optional
        The test cells whose checks are wanted. By default all.
    root : Path
        The folder that holds a folder for each assignment.

    Raises
    ------
    CheckError
        If a module is missing or cannot be imported, or a check lacks its
        docstring or its points.
    """

    def __init__(
        self, assignment: str, grade_ids: Sequence[str] | None = None, *, root: Path = CHECKS
    ) -> None:
        self.assignment = assignment
        found = modules(assignment, root)
        wanted = list(found) if grade_ids is None else list(grade_ids)
        for grade_id in wanted:
            if grade_id not in found:
                raise CheckError(
                    grade_id, "there are no hidden checks for this cell", nearest(grade_id, found)
                )
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._ready: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._items: dict[str, list[pytest.Item]] = defaultdict(list)
        self._points: dict[str, Decimal] = {}
        self._plugin = CheckPlugin(self._serve)
        self._paths = [str(found[grade_id]) for grade_id in wanted]
        self._thread = threading.Thread(target=self._main, args=(root,), daemon=True, name="checks")
        self._thread.start()
        problem = self._ready.get()
        if problem:
            self.close()
            raise CheckError(
                f"checks of {assignment}", f"they cannot be collected ({problem})", "Mend the module."
            )

    def __enter__(self) -> Self:
        """Return the suite."""
        return self

    def __exit__(self, *_: object) -> None:
        """End pytest's session."""
        self.close()

    def close(self) -> None:
        """End pytest's session."""
        self._jobs.put(None)
        self._thread.join()

    def points(self) -> dict[str, Decimal]:
        """Return the points of each test cell: those of its checks, added up."""
        return dict(self._points)

    def run(self, grade_id: str, names: Names, *, seed: bytes) -> list[CheckRun]:
        """
        Run the checks of one test cell on one notebook.

        Parameters
        ----------
        grade_id : str
            The test cell.
        names : Names
            The notebook's names.
        seed : bytes
            Secret of this course and student; seeds the checks' random numbers.

        Returns
        -------
        list of CheckRun
            One for each check, in the module's order.

        Raises
        ------
        AutograderError
            If a check is broken or the machine fails; there is no result then.
        """
        outcome: queue.SimpleQueue[list[CheckRun] | Exception] = queue.SimpleQueue()

        def job() -> None:
            try:
                outcome.put(self._run_cell(grade_id, names, seed))
            except Exception as error:  # noqa: BLE001 - raised again in the caller's thread
                outcome.put(error)

        self._jobs.put(job)
        result = outcome.get()
        if isinstance(result, Exception):
            raise result
        return result

    def _run_cell(self, grade_id: str, names: Names, seed: bytes) -> list[CheckRun]:
        items = self._items[grade_id]
        # For every check the names stand again for the same things.
        known: dict[tuple[str, str], str] = {}
        runs = []
        key = grade_id.encode() + b"\0" + seed
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for item in items:
                student = Student(_scoped(names, grade_id), known)
                runs.append(self._plugin.run(item, student, key, last=item is items[-1]))
        return runs

    def _main(self, root: Path) -> None:
        outer = {name: os.environ.pop(name) for name in _OUTER if name in os.environ}
        try:
            pytest.main([*_OPTIONS, f"--rootdir={root}", *self._paths], plugins=[self._plugin])
        except BaseException as error:  # noqa: BLE001 - told to the thread that waits
            self._ready.put(repr(error))
        else:
            self._ready.put(self._plugin.collect_error or "pytest ended")
        finally:
            os.environ.update(outer)
            self._forget()

    def _forget(self) -> None:
        # A module that an author has changed since must be read anew next time, and what stands beside it.
        folders = {Path(path).parent for path in self._paths}
        for name, module in list(sys.modules.items()):
            path = Path(getattr(module, "__file__", None) or "")
            if path.parent in folders and path.stem != "__init__":
                del sys.modules[name]

    def _serve(self, plugin: CheckPlugin) -> None:
        """Run jobs until there are no more; called by pytest in its thread."""
        for item in plugin.items:
            self._items[item.path.stem].append(item)
        problem = plugin.collect_error or _incomplete(plugin.items)
        if not problem:
            self._points = {
                grade_id: sum(map(points_of, items), Decimal(0)) for grade_id, items in self._items.items()
            }
        self._ready.put(problem)
        while (job := self._jobs.get()) is not None:
            job()


def _scoped(names: Names, grade_id: str) -> Callable[[bytes], bytes]:
    """Return a function that sends requests, from the first on as of a test cell."""
    scoped = False

    def send(request: bytes) -> bytes:
        # Inside the check, so that a limit hit here is this check's outcome.
        nonlocal scoped
        if not scoped:
            scoped = True
            names.scope(grade_id)
        return names.request(request)

    return send


def _incomplete(items: list[pytest.Item]) -> str:
    for item in items:
        if not claim_of(item):
            return f"{item.nodeid} has no docstring"
        try:
            points_of(item)
        except CheckError as error:
            return str(error)
    return "" if items else "there is no check in it"
