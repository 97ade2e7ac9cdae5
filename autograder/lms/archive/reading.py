"""What archives of any kind have in common: entries, what was left, and bytes within limits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Generic, Self

from autograder.errors import SubmissionError
from autograder.lms.archive.limits import Meter
from autograder.lms.archive.names import Handle, sift

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import BinaryIO

    from autograder.lms.archive.limits import Limits
    from autograder.lms.archive.names import Member
    from autograder.lms.downloads.model import Entry

CHUNK_BYTES = 2**18


class OpenArchive(ABC, Generic[Handle]):
    """
    An archive, opened; a context manager. See `autograder.lms.downloads.model.Archive`.

    Parameters
    ----------
    where : str
        What errors call it.
    found : iterable of Member
        All its files.
    limits : Limits
        What is too much.
    outer : Meter, optional
        That of the archive around it.
    """

    def __init__(
        self, where: str, found: Iterable[Member[Handle]], limits: Limits, outer: Meter | None = None
    ) -> None:
        sifted = sift(found, limits)
        self.where = where
        self.entries = sifted.entries
        self.left = sifted.left
        self.meter = Meter(limits, outer)
        # Archives that students have packed share what they may take, and take nothing from files.
        self.packed = Meter(limits)
        self._members = sifted.members

    def __enter__(self) -> Self:
        """Return the archive."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close it; nothing can be read any more."""

    def read(self, entry: Entry, limit_bytes: int | None = None) -> bytes:
        """
        Return what is in an entry.

        Parameters
        ----------
        entry : Entry
            One of `entries`.
        limit_bytes : int, optional
            Read no more than this many bytes from its beginning.

        Returns
        -------
        bytes
            At most `Entry.size`.

        Raises
        ------
        SubmissionError
            If it is damaged, or too much.
        OperatorError
            If it cannot be read.
        """
        member = self._members[entry.name]
        name = f"{self.where}: {entry.name}"
        wanted = member.size if limit_bytes is None else min(limit_bytes, member.size)
        packed = self._packed_bytes(member.handle)
        parts, done = [], 0
        with self._opened(member.handle, name) as stream:
            # One byte more shows that it does not keep its promise; at its end a checksum is compared.
            while part := stream.read(min(CHUNK_BYTES, max(wanted - done, 1))):
                done += len(part)
                if done > wanted:
                    if limit_bytes is not None and wanted < member.size:
                        break
                    what = "is longer than the archive says"
                    raise SubmissionError(name, what, "Download it again, or ask for it again.")
                self.meter.count(name, done, packed)
                parts.append(part)
        if done < wanted:
            raise SubmissionError(name, "breaks off", "Download it again, or ask for it again.")
        return b"".join(parts)

    @abstractmethod
    @contextmanager
    def _opened(self, handle: Handle, name: str) -> Iterator[BinaryIO]:
        """Open a file of the archive; what goes wrong while it is open is told as an error of the kit."""

    def _packed_bytes(self, _handle: Handle) -> int | None:
        """Return how many bytes it takes up in the archive, if it is packed."""
        return None
