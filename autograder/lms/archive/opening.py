"""Opening what somebody names, or what a student has packed."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING, Any, BinaryIO

from autograder.errors import CourseError, OperatorError, SubmissionError
from autograder.lms.archive.damage import DAMAGED
from autograder.lms.archive.folders import FolderArchive
from autograder.lms.archive.limits import DOWNLOAD, INNER, Limits
from autograder.lms.archive.tars import GZIP, TarArchive
from autograder.lms.archive.zips import ZipArchive

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.lms.archive.limits import Meter
    from autograder.lms.archive.reading import OpenArchive
    from autograder.lms.downloads.model import Entry

PACKED = (".zip", ".tar", ".tar.gz", ".tgz")
"""How the names of archives end that are opened."""

_ZIP = (b"PK\3\4", b"PK\5\6")
_HEAD_BYTES = 512


def open_archive(path: Path, limits: Limits = DOWNLOAD) -> OpenArchive[Any]:
    """
    Open a download.

    Parameters
    ----------
    path : Path
        A zip, a tar (compressed with gzip or not) or a folder.
    limits : Limits
        What is too much.

    Returns
    -------
    OpenArchive
        To be closed; nothing was written to the disk.

    Raises
    ------
    CourseError
        If it is none of these, or damaged, or has too many entries.
    OperatorError
        If it cannot be read.
    """
    if path.is_dir():
        return FolderArchive(path, limits)
    if not path.exists():
        raise CourseError(path, "does not exist", "Check the name.")
    if not path.is_file():
        raise CourseError(path, "is no file", "Name the file that the LMS has sent.")
    try:
        file = path.open("rb")
    except OSError as error:
        raise OperatorError(path, f"cannot be read ({error.strerror})", "Check its rights.") from None
    try:
        return _opened(str(path), file, limits)
    except SubmissionError as error:
        file.close()
        # Here it is the whole download, and nobody's submission.
        raise CourseError(error.where, error.what, error.remedy) from None
    except OperatorError:
        file.close()
        raise


def open_inner(
    outer: OpenArchive[Any], entry: Entry, limits: Limits = INNER, meter: Meter | None = None
) -> OpenArchive[Any]:
    """
    Open an archive that is an entry of another: one that a student has packed.

    Parameters
    ----------
    outer : OpenArchive
        The archive around it.
    entry : Entry
        One of its entries.
    limits : Limits
        What is too much.
    meter : Meter, optional
        What is unpacked counts with all else that this counts; by default with
        all other archives in the outer one.

    Returns
    -------
    OpenArchive
        To be closed. Archives in it are files like any other.

    Raises
    ------
    SubmissionError
        If it is no archive, damaged, or has too many entries.
    OperatorError
        If it cannot be read.
    """
    file = io.BytesIO(outer.read(entry))
    return _opened(f"{outer.where}: {entry.name}", file, limits, outer.packed if meter is None else meter)


def _opened(where: str, file: BinaryIO, limits: Limits, outer: Meter | None = None) -> OpenArchive[Any]:
    head = file.read(_HEAD_BYTES)
    file.seek(0)
    if head.startswith(_ZIP):
        return ZipArchive(where, file, limits, outer)
    if head.startswith(GZIP) or _is_tar(head):
        return TarArchive(where, file, limits, outer)
    what = "is empty" if not head else "is neither a zip nor a tar nor a folder"
    raise SubmissionError(where, what, "Name the file that the LMS has sent, as it is.")


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except DAMAGED:
        return False
    return True
