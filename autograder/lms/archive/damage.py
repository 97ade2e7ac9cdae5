"""What goes wrong while an archive is read: whether it is the fault of who packed it, or of the machine."""

from __future__ import annotations

import errno
import gzip
import lzma
import struct
import tarfile
import zipfile
import zlib

from autograder.errors import OperatorError, SubmissionError

AGAIN = "Download it again, or ask for it again."
"""What to do about an archive that is damaged."""

DAMAGED = (
    *(zipfile.BadZipFile, tarfile.TarError, gzip.BadGzipFile, zlib.error, lzma.LZMAError, struct.error),
    *(ValueError, EOFError, ArithmeticError, LookupError, RuntimeError, TypeError, AttributeError),
)
"""All that the libraries which read archives raise of one that is damaged or made up."""

_OF_NAMES = frozenset(
    {
        *(errno.ENAMETOOLONG, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ENOTEMPTY),
        *(errno.EINVAL, errno.EILSEQ, errno.ELOOP),
    }
)


def is_of_names(error: OSError | ValueError) -> bool:
    """
    Return whether a system refuses a name or a place, and would take others.

    A full disk and a right that is missing are the machine's: they concern everybody.

    Parameters
    ----------
    error : OSError or ValueError
        What was raised of a path or of a place in a file.

    Returns
    -------
    bool
        True if it concerns only those whose name or place it is.
    """
    return not isinstance(error, OSError) or error.errno in _OF_NAMES


def words_of(error: Exception) -> str:
    """
    Return what an exception says, in one line.

    Parameters
    ----------
    error : Exception
        Of any kind.

    Returns
    -------
    str
        Its kind, if it says nothing.
    """
    return " ".join(str(error).split()).rstrip(".") or type(error).__name__


def unread(where: str, error: OSError) -> SubmissionError | OperatorError:
    """
    Return what to raise of a read that failed.

    Parameters
    ----------
    where : str
        What errors call the file.
    error : OSError
        What was raised.

    Returns
    -------
    SubmissionError or OperatorError
        A place that no file has is the fault of what leads there.
    """
    if is_of_names(error):
        return SubmissionError(where, f"is damaged ({error.strerror})", AGAIN)
    return OperatorError(where, f"cannot be read ({error.strerror})", "Check its disk.")
