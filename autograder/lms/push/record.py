"""
Our own record of what was pushed, so that a push that was stopped goes on and sends nothing twice.

It lies in the course as ``.autograder/pushed/<name>.json``, for its owner's
eyes only: it holds ids and hashes, no grade's text and no secret.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from autograder.errors import OperatorError
from autograder.lms.sheets import write_whole

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FOLDER = ".autograder/pushed"
VERSION = 1
_DELETE = "Delete it: what the LMS has is looked at again."


class Record:
    """
    What was pushed to one assignment of an LMS.

    Parameters
    ----------
    course : Path
        The course folder.
    where : str
        Which assignment of which server: the same text each time.

    Raises
    ------
    OperatorError
        If there is a record that cannot be read, or is of something else.
    """

    def __init__(self, course: Path, where: str) -> None:
        self.where = where
        self.path = course / FOLDER / f"{digest(where)}.json"
        self._students: dict[str, dict[str, str]] = self._read()

    def of(self, key: str) -> Mapping[str, str]:
        """
        Return what was noted of a student.

        Parameters
        ----------
        key : str
            The student's id in the LMS.

        Returns
        -------
        mapping of str to str
            May be empty.
        """
        return self._students.get(key, {})

    def note(self, key: str, **facts: str) -> None:
        """
        Note facts of a student, beside those that are known. `save` keeps them.

        Parameters
        ----------
        key : str
            The student's id in the LMS.
        **facts : str
            Anything but a secret.
        """
        self._students.setdefault(key, {}).update(facts)

    @contextmanager
    def held(self) -> Iterator[None]:
        """
        Keep others from sending to the same assignment.

        Raises
        ------
        OperatorError
            If somebody is sending to it now.
        """
        self._make_folder()
        place = self.path.with_suffix(".lock")
        try:
            file = place.open("ab")
        except OSError as error:
            raise OperatorError(place, f"cannot be made ({error.strerror})", "Check rights.") from None
        with file:
            if fcntl is not None:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    what = "another push to this assignment is running"
                    raise OperatorError(place, what, "Wait for its end.") from None
            self._students = self._read()
            yield

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            what = f"cannot be made ({error.strerror})"
            raise OperatorError(self.path.parent, what, "Check rights and space.") from None

    def save(self) -> None:
        """
        Write the record whole, or leave the one before.

        Raises
        ------
        OperatorError
            If it cannot be written.
        """
        content = {"version": VERSION, "where": self.where, "students": self._students}
        self._make_folder()
        text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True)
        # Ids are whatever a server says; what reads JSON takes half a surrogate pair as well.
        write_whole(self.path, text.encode("utf-8", "surrogatepass"), private=True)

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            with os.fdopen(os.open(self.path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)), "rb") as file:
                content = json.loads(file.read())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise OperatorError(self.path, f"cannot be read ({error.strerror})", _DELETE) from None
        except ValueError:
            raise OperatorError(self.path, "is damaged", _DELETE) from None
        if not _is_record(content) or content["where"] != self.where:
            raise OperatorError(self.path, "is no record of this assignment", _DELETE)
        students: dict[str, dict[str, str]] = content["students"]
        return students


def _is_record(content: object) -> bool:
    if not isinstance(content, dict) or content.get("version") != VERSION:
        return False
    students = content.get("students")
    return isinstance(students, dict) and all(
        isinstance(facts, dict) and all(isinstance(fact, str) for fact in facts.values())
        for facts in students.values()
    )


def digest(content: str | bytes) -> str:
    """
    Return a short hash of what was sent, to be noted and compared.

    Parameters
    ----------
    content : str or bytes
        A comment or a file.

    Returns
    -------
    str
        16 hexadecimal digits.
    """
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]
