"""
The secret of a course, and the seeds of hidden inputs that are made from it.

Whoever knows it can compute the inputs of all hidden checks. Whoever loses it
gives every student other inputs when grading again.
"""

from __future__ import annotations

import errno
import hashlib
import hmac
import os
import re
import secrets
import stat
from typing import TYPE_CHECKING

from autograder.errors import OperatorError

if TYPE_CHECKING:
    from pathlib import Path

SECRET_FILE = ".autograder_secret"  # noqa: S105 - a file's name, not a secret
SECRET_VARIABLE = "AUTOGRADER_SECRET"  # noqa: S105 - the variable's name, not a secret
SECRET_BYTES = 32
MIN_LENGTH = 32
"""Characters that a secret must have, whoever chose it."""
MIN_DIFFERENT = 8
"""How many of its characters must differ."""
MAX_LENGTH = 4096

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_HEX = re.compile(rb"[0-9a-fA-F]+")
_ANOTHER = f"Put it back from a copy; if there is none, delete it, or set {SECRET_VARIABLE}."


def course_secret(root: Path) -> bytes:
    """
    Return the secret that seeds the inputs of a course's hidden checks.

    It is the variable AUTOGRADER_SECRET if set, else the file
    ``.autograder_secret`` of the course, written at first use for its owner's
    eyes only. With the same secret a re-grade repeats exactly.

    Parameters
    ----------
    root : Path
        The course folder.

    Returns
    -------
    bytes
        At least 32 characters, not all of them alike.

    Raises
    ------
    OperatorError
        If it is too short, was cut off or repeats few characters, if the file is a link or cannot be
        read or written, or if others than its owner may read it.
    """
    path = root / SECRET_FILE
    if given := os.environ.get(SECRET_VARIABLE, "").strip():
        return _checked(given.encode(), SECRET_VARIABLE, "Set it to 32 random characters or more.")
    try:
        if not os.path.lexists(path):
            _create(path)
        return _checked(_read(path), path, _ANOTHER)
    except OSError as problem:
        what = f"cannot be read or written ({problem.strerror})"
        raise OperatorError(path, what, f"Make it readable, or set {SECRET_VARIABLE}.") from None


def seed_of(secret: bytes, assignment: str, version: int, student: str) -> bytes:
    """
    Return what seeds the hidden checks of one student's notebooks.

    Parameters
    ----------
    secret : bytes
        The course's secret.
    assignment : str
        The assignment's name.
    version : int
        The version of its inputs, see the setting ``inputs_version``.
    student : str
        The student's id.

    Returns
    -------
    bytes
        A seed that says nothing about any other.
    """
    # Neither name can hold the byte that parts them.
    parts = "\0".join((assignment, str(version), student))
    return hmac.digest(secret, parts.encode("utf-8", "surrogateescape"), hashlib.sha256)


def _read(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError as problem:
        if problem.errno != errno.ELOOP:
            raise
        what = "is a link: it could lead to a file that others know"
        raise OperatorError(path, what, f"Replace it by the file itself, or set {SECRET_VARIABLE}.") from None
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if os.name == "posix" and status.st_mode & _OTHERS:
            what = f"others than its owner may use it (mode {stat.S_IMODE(status.st_mode):04o})"
            raise OperatorError(path, what, f"Run `chmod 600 {SECRET_FILE}` in the course folder.")
        return file.read(MAX_LENGTH + 1).strip()


def _checked(secret: bytes, where: object, remedy: str) -> bytes:
    """Return a secret that can be one; a file that was cut off would change all inputs unnoticed."""
    if not secret:
        raise OperatorError(where, "is empty", remedy)
    if len(secret) > MAX_LENGTH:
        raise OperatorError(where, "is too long for a secret", remedy)
    if len(secret) < MIN_LENGTH or (_HEX.fullmatch(secret) and len(secret) < 2 * SECRET_BYTES):
        raise OperatorError(where, "is too short for a secret, or was cut off", remedy)
    if len(set(secret)) < MIN_DIFFERENT:
        raise OperatorError(where, "repeats a few characters, and could be guessed", remedy)
    return secret


def _create(path: Path) -> None:
    # Linked into place whole: of several processes that start at once, one
    # wins and none ever reads half a secret.
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(secrets.token_hex(SECRET_BYTES) + "\n")
            file.flush()
            # Grades are stored that need it again.
            os.fsync(descriptor)
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        temporary.unlink()
