"""
Tokens and keys: where they may come from, and how they are kept out of everything that is shown.

A token is as good as the password of whoever made it. It comes from the
environment or from a file that only its owner may read, never from an argument:
arguments are seen by everybody on the machine, and kept in a shell's history.
"""

from __future__ import annotations

import base64
import errno
import json
import os
import re
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING, Never
from urllib.parse import quote, quote_plus

from autograder.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_BYTES = 64 * 2**10
"""Bytes of a file with a token or a key; a chain of large keys has fewer."""
MIN_LENGTH = 8
"""Characters of the shortest token: what is shorter would be found in innocent text."""
HIDDEN = "[secret]"
"""What stands where a secret stood."""

_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_TOKEN = re.compile(r"[!-~]+")
_LIKE_A_TOKEN = re.compile(r"[\w~+=.-]{20,}")
_KEY = re.compile(r"-----BEGIN ([A-Z ]+)-----\s.+\s-----END \1-----", re.DOTALL)
_LINE_OF_A_KEY = 16


class Secret:
    """
    A text that is shown nowhere: its `repr` and `str` say only where it is from.

    Parameters
    ----------
    value : str
        The text itself.
    source : str
        Where it is from: a variable or a file.
    """

    __slots__ = ("_forms", "_value", "source")

    def __init__(self, value: str, source: str) -> None:
        self._value = value
        self.source = source
        # Looked for in every request and answer; a key has hundreds.
        self._forms = self._all_forms()

    def reveal(self) -> str:
        """Return the text itself, to be put into a request and nowhere else."""
        return self._value

    def forms(self) -> tuple[str, ...]:
        """
        Return all texts that would give it away.

        Returns
        -------
        tuple of str
            The value as it stands and as an address, a header or JSON may hold it;
            of a key also its lines. The longest first; none shorter than `MIN_LENGTH`, which
            a server may have made up to have every text torn apart.
        """
        return self._forms

    def _all_forms(self) -> tuple[str, ...]:
        lines = [line.strip() for line in self._value.splitlines()] if "\n" in self._value else []
        values = {
            self._value,
            *(line for line in lines if len(line) >= _LINE_OF_A_KEY and "-----" not in line),
        }
        forms = set(values)
        for value in values:
            encoded = base64.b64encode(value.encode()).decode()
            in_json = json.dumps(value)[1:-1]
            forms |= {quote(value, safe=""), quote_plus(value), encoded}
            forms |= {in_json, in_json.replace("/", "\\/"), repr(value)[1:-1], repr(value.encode())[2:-1]}
        telling = (form for form in forms if len(form) >= MIN_LENGTH)
        return tuple(sorted(telling, key=len, reverse=True))

    def __repr__(self) -> str:
        return f"<secret from {self.source}>"

    def __reduce__(self) -> Never:
        raise TypeError(f"{self!r} is not to be written anywhere")


def scrubbed(text: str, secrets: Iterable[Secret]) -> str:
    """
    Return a text without any secret.

    Parameters
    ----------
    text : str
        Of a request, a server or a library.
    secrets : iterable of Secret
        What must not be in it.

    Returns
    -------
    str
        The text, `HIDDEN` standing for each form of each secret.
    """
    for secret in secrets:
        for form in secret.forms():
            text = text.replace(form, HIDDEN)
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """
    Where a secret may be.

    Parameters
    ----------
    what : str
        What it is, with its article: "the token of Canvas".
    variable : str
        The environment variable that may hold it.
    option : str
        The option of the command line that names a file, with its dashes.
    named : Path or None
        The file that the option names; it comes first.
    setting : str
        The setting in ``nbgrader_config.py`` that names a file.
    configured : Path or None
        The file that the setting names; it comes last, after the variable.
    """

    what: str
    variable: str
    option: str
    named: Path | None = None
    setting: str = ""
    configured: Path | None = None

    @property
    def _remedy(self) -> str:
        return f"Set the variable {self.variable}, or name a file that only you may read by {self.option}."

    def read(self) -> tuple[str, str]:
        """
        Return the text that is there, without spaces around it.

        Returns
        -------
        text, source : str
            The secret, and the variable or file it is from.

        Raises
        ------
        OperatorError
            If there is none, if the file is a link, no plain file, too long or empty, cannot be read,
            or may be read by others than its owner.
        """
        if self.named is None:
            given = os.environ.get(self.variable, "").strip()
            if given:
                return given, self.variable
        path = self.named or self.configured
        if path is None:
            raise OperatorError(self.variable, f"{self.what} is needed, and there is none", self._remedy)
        by = self.option if self.named is not None else self.setting
        text = self._decoded(path, self._bytes(path, by)).strip()
        if not text:
            raise OperatorError(path, "is empty", f"Put {self.what} into it.")
        return text, str(path)

    def _bytes(self, path: Path, by: str) -> bytes:
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        try:
            with os.fdopen(os.open(path, flags), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise OperatorError(path, "is no plain file", self._remedy)
                if os.name == "posix" and status.st_mode & _OTHERS:
                    what = f"others than its owner may use it (mode {stat.S_IMODE(status.st_mode):04o})"
                    remedy = f"Run `chmod 600` on it; if others had access, make {self.what} anew."
                    raise OperatorError(path, what, remedy)
                data = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            raise self._not_there(path, by) from None
        except OSError as problem:
            if problem.errno == errno.ELOOP:
                what = "is a link: it could lead to a file that others know"
                raise OperatorError(path, what, "Name the file itself.") from None
            what = f"cannot be read ({problem.strerror})"
            raise OperatorError(self._shown(path, by), what, self._remedy) from None
        if len(data) > MAX_BYTES:
            raise OperatorError(path, f"is longer than {MAX_BYTES // 2**10} KiB", self._remedy)
        return data

    def _not_there(self, path: Path, by: str) -> OperatorError:
        if self._shown(path, by) == str(path):
            return OperatorError(path, f"does not exist; {by} names it", self._remedy)
        # Whoever gives the token itself must not find it in a log as well.
        what = "names no file; if that is the secret itself, others have seen it"
        return OperatorError(by, what, f"Revoke it and make a new one. {self._remedy}")

    @staticmethod
    def _shown(path: Path, by: str) -> str:
        return by if _LIKE_A_TOKEN.fullmatch(str(path)) or "-----" in str(path) else str(path)

    def _decoded(self, path: Path, data: bytes) -> str:
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise OperatorError(path, "is no text", f"Put {self.what} into it, and nothing else.") from None


def read_token(source: Source) -> Secret:
    """
    Return a token: one word that goes into a header or a field.

    Parameters
    ----------
    source : Source
        Where it may be.

    Returns
    -------
    Secret
        Printable ASCII without spaces, at least `MIN_LENGTH` characters.

    Raises
    ------
    OperatorError
        As of `Source.read`, and if it is no such word.
    """
    text, where = source.read()
    if not _TOKEN.fullmatch(text):
        what = "holds something else than one word of plain characters"
        raise OperatorError(where, what, f"Put {source.what} there, and nothing else.")
    if len(text) < MIN_LENGTH:
        raise OperatorError(where, "is too short for a token", f"Copy {source.what} again, all of it.")
    return Secret(text, where)


def read_key(source: Source) -> Secret:
    """
    Return a private key in PEM.

    Parameters
    ----------
    source : Source
        Where it may be.

    Returns
    -------
    Secret
        All of the text, from the first BEGIN to the last END.

    Raises
    ------
    OperatorError
        As of `Source.read`, and if it is no private key in PEM.
    """
    text, where = source.read()
    found = _KEY.search(text)
    if found is None or "PRIVATE KEY" not in found[1]:
        what = "holds no private key in PEM"
        remedy = "It begins with the line -----BEGIN PRIVATE KEY-----."
        raise OperatorError(where, what, remedy)
    return Secret(text[found.start() : text.rindex("-----") + 5] + "\n", where)
