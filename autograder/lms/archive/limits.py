"""How much of an archive is taken: what stands in its headers is not believed, what is read is counted."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.errors import SubmissionError

MIB = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    What is too much.

    Parameters
    ----------
    entries : int
        Files and folders in an archive.
    total_bytes : int
        Bytes of all files of an archive together, unpacked.
    entry_bytes : int
        Bytes of one file, unpacked.
    ratio : int
        How many times larger than packed a file may be, if it is larger than `ratio_from_bytes`.
    ratio_from_bytes : int
        Bytes up to which a file may be packed as well as it likes: a notebook that
        repeats one line may be.
    """

    entries: int = 500_000
    total_bytes: int = 1024 * 1024 * MIB
    entry_bytes: int = 256 * MIB
    ratio: int = 200
    ratio_from_bytes: int = 32 * MIB


DOWNLOAD = Limits()
"""For what an LMS packed: far more than a class hands in, as it is shared by all of it."""

ATTEMPT = Limits(entries=10_000, total_bytes=512 * MIB)
"""For what a student handed in at once, with all that is packed in it."""

INNER = Limits(entries=2_000, total_bytes=256 * MIB)
"""For what a student packed."""


@dataclass(slots=True)
class Meter:
    """
    Counts the bytes that are unpacked of an archive, or of all archives in one together.

    Parameters
    ----------
    limits : Limits
        What is too much.
    outer : Meter, optional
        One that counts the same bytes with those of other archives.
    """

    limits: Limits
    outer: Meter | None = None
    _by_name: dict[str, int] = field(default_factory=dict)
    _total: int = 0

    def count(self, name: str, size: int, packed: int | None = None) -> None:
        """
        Count what was unpacked of a file so far; reading it again counts once.

        Parameters
        ----------
        name : str
            The file, with the archive that it is in.
        size : int
            Bytes so far.
        packed : int, optional
            Bytes that it takes up in the archive.

        Raises
        ------
        SubmissionError
            If it is too much.
        """
        limits = self.limits
        if size > limits.entry_bytes:
            raise SubmissionError(name, *too_large(limits))
        if packed is not None and size > max(limits.ratio * packed, limits.ratio_from_bytes):
            what = f"unpacks to more than {limits.ratio} times its size, as a zip bomb does"
            raise SubmissionError(name, what, "Look at it, and ask for a smaller one.")
        more = size - self._by_name.get(name, 0)
        if more > 0:
            self._by_name[name] = size
            self._total += more
        if self._total > limits.total_bytes:
            # What is refused takes no room from others.
            self.forget(name)
            what = f"unpacks, with what is beside it, to more than {limits.total_bytes // MIB} MiB"
            raise SubmissionError(name, what, "Collect it in parts, or ask for less.")
        if self.outer is not None:
            self.outer.count(name, size)

    def forget(self, start: str) -> None:
        """
        Count no longer what was read in vain.

        Parameters
        ----------
        start : str
            How the names of the files begin.
        """
        for name in [one for one in self._by_name if one.startswith(start)]:
            self._total -= self._by_name.pop(name)


def too_large(limits: Limits) -> tuple[str, str]:
    """Return what is wrong with a file that is too large, and what to do."""
    return f"is larger than {limits.entry_bytes // MIB} MiB", "Ask for a smaller one."
