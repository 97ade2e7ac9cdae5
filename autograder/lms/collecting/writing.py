"""Writing what was planned: each submission whole or not at all, and a record that fits whatever ends it."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from autograder.errors import OperatorError, SubmissionError
from autograder.lms.collecting.handed import order
from autograder.lms.collecting.planning import WRITES, Action, Planned
from autograder.lms.collecting.record import FOLDER, save_record
from autograder.lms.downloads.model import Left
from autograder.terminal import short

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from autograder.lms.collecting.folders import Shelf
    from autograder.lms.collecting.handed import Handed
    from autograder.lms.collecting.record import Collected, Record

_LETTERS = 80
"""How much of a path is told: a path that a disk refuses may be of any length."""


@contextmanager
def alone(root: Path) -> Iterator[None]:
    """
    Keep others from collecting into a course at the same time.

    Parameters
    ----------
    root : Path
        The course folder.

    Raises
    ------
    OperatorError
        If another process is collecting, or the file system knows no locks.
    """
    path = root / FOLDER / "collecting"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise OperatorError(path, f"cannot be opened ({error.strerror})", "Check its rights.") from None
    try:
        # The system lets go of it when the process ends, however it ends.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        what = "another process is collecting into this course"
        raise OperatorError(root, what, "Wait until it is done, and try again.") from None
    finally:
        os.close(descriptor)


def settled(record: Record, shelf: Shelf) -> Record:
    """
    Return a record after looking at what a collect that did not end has left.

    Parameters
    ----------
    record : Record
        What was collected before.
    shelf : Shelf
        Where submissions are.

    Returns
    -------
    Record
        What was pending and is in its folder, is collected; what is not there, is
        pending only while nobody knows what is in the folder.

    Raises
    ------
    OperatorError
        If a folder cannot be read.
    """
    students, pending = dict(record.students), dict(record.pending)
    for student, one in record.pending.items():
        before = students.get(student)
        if shelf.holds(one):
            students[student] = pending.pop(student)
        elif before is not None and shelf.holds(before):
            del pending[student]
    return replace(record, students=students, pending=pending)


def write(planned: Sequence[Planned], record: Record, shelf: Shelf, left: list[Left]) -> Iterator[Planned]:
    """
    Write what was planned.

    The record tells what is to be written before the first folder changes, so
    that after a kill each folder is one that is known.

    Parameters
    ----------
    planned : sequence of Planned
        One for each student.
    record : Record
        What was collected before, as it was loaded.
    shelf : Shelf
        Where submissions are.
    left : list of Left
        What could not be written is added: a name that a disk refuses concerns its owner alone.

    Yields
    ------
    Planned
        Each, when it is done.

    Raises
    ------
    OperatorError
        If something cannot be written. What was written is recorded.
    """
    root, saved = shelf.layout.root, record
    now = settled(record, shelf)
    students, pending = dict(now.students), dict(now.pending)

    def save() -> None:
        nonlocal saved
        told = replace(record, students=dict(students), pending=dict(pending))
        if told != saved:
            save_record(root, told)
            saved = told

    for one in planned:
        if one.action in WRITES:
            pending[one.student] = one.handed.collected
        elif one.action is Action.UNCHANGED:
            _adopt(one, students, pending)
    try:
        save()
        for one in planned:
            if one.action in WRITES or one.student in record.pending:
                shelf.sweep(one.student)
            _put_aside(one, shelf, left)
            if one.action in WRITES and not _put(one, shelf, left):
                # It is as it was, and so is what is known of it.
                del pending[one.student]
                pending.update({one.student: now.pending[one.student]} if one.student in now.pending else {})
                continue
            if one.action in WRITES:
                students[one.student] = pending.pop(one.student)
            yield one
    finally:
        save()


def _put(one: Planned, shelf: Shelf, left: list[Left]) -> bool:
    """Put an attempt into its folder, and return whether that worked; if not, it is told."""
    try:
        shelf.put(one.handed, one.before)
    except SubmissionError as error:
        left.append(_left(one.handed, error))
        return False
    return True


def _put_aside(one: Planned, shelf: Shelf, left: list[Left]) -> None:
    """Keep the attempts of a student that do not count; one that cannot be kept is told."""
    for earlier in (*one.earlier, *([one.handed] if one.action is Action.OLDER else [])):
        try:
            shelf.put_aside(earlier)
        except SubmissionError as error:
            left.append(_left(earlier, error))


def _left(handed: Handed, error: SubmissionError) -> Left:
    reason = f"{handed.student}: {short(error.where, _LETTERS)} {error.what}. {error.remedy}"
    return Left(name=handed.attempt.key, reason=reason)


def _adopt(one: Planned, students: dict[str, Collected], pending: dict[str, Collected]) -> None:
    """Record what is in a folder already, if that is news: the same may have been handed in once more."""
    if one.before is None or (order(one.handed.collected, one.before) or 0) > 0:
        students[one.student] = one.handed.collected
        pending.pop(one.student, None)
