"""What is in an attempt: its files under safe paths, archives that a student made opened."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from autograder.course.timestamps import FILE
from autograder.errors import SubmissionError
from autograder.lms.archive import open_inner
from autograder.lms.archive.limits import ATTEMPT, MIB, Limits, Meter
from autograder.lms.archive.names import LEFT_REASON, clean, is_left_behind, name_problem
from autograder.lms.archive.opening import PACKED
from autograder.lms.collecting.record import CollectedFile
from autograder.lms.downloads.model import Left
from autograder.lms.texts import same_on_disk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.lms.archive import OpenArchive
    from autograder.lms.downloads.model import Attempt, Entry

_NOTEBOOK = ".ipynb"
_LESS = "Ask for the notebooks, and for less beside them."
_TRIES = 9
"""So many folders are tried for a file whose place is taken."""


@dataclass(frozen=True, slots=True)
class Content:
    """
    A file of an attempt, read.

    Parameters
    ----------
    file : CollectedFile
        Where it goes and where it came from.
    data : bytes
        What is in it.
    """

    file: CollectedFile
    data: bytes


@dataclass(slots=True)
class Reading:
    """
    Reads an attempt; each time the same files come in the same order.

    Parameters
    ----------
    archive : OpenArchive
        The download.
    attempt : Attempt
        Of the download.
    limits : Limits
        What is too much for an attempt.
    left : list of Left
        What was left out of it, and why.
    """

    archive: OpenArchive[Any]
    attempt: Attempt
    limits: Limits = ATTEMPT
    left: list[Left] = field(default_factory=list)
    # What is called as the kit's own file is no folder either.
    _files: dict[str, str] = field(default_factory=lambda: {FILE: ""})
    """By the path as a disk may take it, the hash of the file there."""
    _folders: set[str] = field(default_factory=set)

    def contents(self) -> Iterator[Content]:
        """
        Yield the files.

        Yields
        ------
        Content
            No two have one path, and no path leads out.

        Raises
        ------
        SubmissionError
            If a file is damaged, or too much.
        OperatorError
            If the download cannot be read.
        """
        meter = self._meter()
        packed = []
        for path, entry in self.attempt.files:
            if path.lower().endswith(PACKED):
                packed.append((path, entry))
            else:
                yield from self._file(path, entry.name, "", self.archive.read(entry))
        for path, entry in packed:
            yield from self._packed(path, entry, meter)

    def _meter(self) -> Meter:
        """Return what counts the bytes that are unpacked, if what was handed in is not too much."""
        limits, files = self.limits, self.attempt.files
        handed_in = sum(entry.size for _, entry in files)
        if len(files) > limits.entries:
            raise SubmissionError(self.attempt.key, f"holds more than {limits.entries} files", _LESS)
        if handed_in > limits.total_bytes:
            raise SubmissionError(self.attempt.key, f"is larger than {limits.total_bytes // MIB} MiB", _LESS)
        packed = sum(entry.size for path, entry in files if path.lower().endswith(PACKED))
        most = max(limits.ratio * packed, limits.ratio_from_bytes)
        most = min(most, limits.total_bytes - handed_in)
        return Meter(replace(limits, total_bytes=most), self.archive.packed)

    def _packed(self, path: str, entry: Entry, meter: Meter) -> Iterator[Content]:
        """Yield what is in an archive, or the archive itself if no notebook is in it."""
        with ExitStack() as to_close:
            try:
                inner = to_close.enter_context(open_inner(self.archive, entry, meter=meter))
                files = [(one, inner.read(one)) for one in inner.entries] if _has_notebook(inner) else []
                self._check_count(entry, len(files))
            except SubmissionError as error:
                # What a library says of it may be the student's words, and never twice the same.
                what = error.what.partition(" (")[0]
                reason = f"It is an archive that {what}, so it stays as it is. {error.remedy}"
                self.left.append(Left(name=entry.name, reason=reason))
                for counted in (meter, self.archive.packed):
                    counted.forget(f"{self.archive.where}: {entry.name}: ")
                files = []
            else:
                self.left += (
                    Left(name=f"{entry.name}: {one.name}", reason=one.reason, harmless=one.harmless)
                    for one in inner.left
                )
        if not files:
            yield from self._file(path, entry.name, "", self.archive.read(entry))
        for one, data in files:
            yield from self._file(one.name, entry.name, one.name, data, beside=PurePosixPath(path).stem)

    def _check_count(self, entry: Entry, more: int) -> None:
        if len(self._files) + more > self.limits.entries:
            what = f"holds, with what is beside it, more than {self.limits.entries} files"
            raise SubmissionError(entry.name, what, _LESS)

    def _file(self, path: str, entry: str, inner: str, data: bytes, beside: str = "") -> Iterator[Content]:
        digest = hashlib.sha256(data).hexdigest()
        wanted = clean(path)
        problem = name_problem(wanted)
        if problem or is_left_behind(wanted) or same_on_disk(wanted) == FILE:
            what = LEFT_REASON
            if same_on_disk(wanted) == FILE:
                what = "When it was handed in, the LMS says, and no file of the student's."
            name = f"{entry}: {inner}" if inner else entry
            self.left.append(Left(name=name, reason=problem or what, harmless=not problem))
            return
        if self._files.get(same_on_disk(wanted)) == digest:
            return
        free = self._free(wanted, beside)
        if not free:
            reason = "Its place is taken by another file of the same name. Look at both."
            self.left.append(Left(name=entry, reason=reason))
            return
        self._take(free, digest)
        file = CollectedFile(path=free, entry=entry, inner=inner, size=len(data), sha256=digest)
        yield Content(file, data)

    def _free(self, wanted: str, beside: str) -> str:
        """Return a path that nothing else has; empty if there is none."""
        folders = [beside] if beside else []
        for folder in ("", *folders, *map(str, range(2, _TRIES))):
            path = f"{folder}/{wanted}" if folder else wanted
            parents = [same_on_disk(str(parent)) for parent in PurePosixPath(path).parents]
            is_taken = same_on_disk(path) in self._files or same_on_disk(path) in self._folders
            if not (is_taken or any(parent in self._files for parent in parents) or name_problem(path)):
                return path
        return ""

    def _take(self, path: str, digest: str) -> None:
        self._files[same_on_disk(path)] = digest
        self._folders |= {same_on_disk(str(parent)) for parent in PurePosixPath(path).parents}


def _has_notebook(archive: OpenArchive[Any]) -> bool:
    return any(entry.name.lower().endswith(_NOTEBOOK) for entry in archive.entries)
