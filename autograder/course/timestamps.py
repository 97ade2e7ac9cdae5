"""When a submission was handed in, from the file that nbgrader, or who collects for it, puts beside it."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING

from autograder.errors import SubmissionError

if TYPE_CHECKING:
    from datetime import datetime, tzinfo
    from pathlib import Path

FILE = "timestamp.txt"
WRITTEN = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d?:\d\d")
MAX_TIME = 100
"""Characters of a time, which a student may have written."""


def read_timestamp(folder: Path) -> datetime | None:
    """
    Return when a submission was handed in.

    Parameters
    ----------
    folder : Path
        Its folder.

    Returns
    -------
    datetime or None
        Naive, in UTC, read as nbgrader reads it: formgrader compares the
        two. None if there is no ``timestamp.txt`` or it is empty.

    Raises
    ------
    SubmissionError
        If it cannot be read or holds no time.
    """
    path = folder / FILE
    if not path.is_file() or path.is_symlink():
        return None
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            words = file.read(MAX_TIME + 1).strip()
    except OSError as problem:
        what = f"cannot be read ({problem.strerror})"
        raise SubmissionError(path, what, "Make it readable, or remove it.") from None
    try:
        return parse_time(words) if words else None
    except (ValueError, ArithmeticError):
        what = f"holds no time: {words[:40]!r}"
        raise SubmissionError(path, what, "Write it as 2027-01-31 23:59:00 UTC.") from None


def parse_time(words: str) -> datetime:
    """
    Return the time that some words name, as nbgrader reads them.

    Parameters
    ----------
    words : str
        A date and a time, and where they are not UTC the zone.

    Returns
    -------
    datetime
        Naive, in UTC.

    Raises
    ------
    ValueError, ArithmeticError
        If they name none.
    """
    if len(words) > MAX_TIME:
        msg = "longer than any time"
        raise ValueError(msg)
    from dateutil import parser  # noqa: PLC0415 - it takes long to import, and few folders have a timestamp

    parts = words.split(" ")
    if len(parts) == len(("date", "time", "zone")):
        zone = int(parts[2]) if parts[2].lstrip("+-").isdigit() else _zone(parts[2])
        time: datetime = parser.parse(" ".join([*parts[:2], "TZ"]), tzinfos={"TZ": zone})
    else:
        with warnings.catch_warnings():
            # A short name of a zone counts as UTC, as in nbgrader; whoever grades cannot mend that.
            warnings.simplefilter("ignore", parser.UnknownTimezoneWarning)
            time = parser.parse(words)
    return _in_utc(time)


def read_time(words: str) -> datetime:
    """
    Return the time that a person has written, with nothing guessed.

    Parameters
    ----------
    words : str
        Year-month-day and a time, and where they are not UTC the zone: its
        name, or its offset as ``+02:00``.

    Returns
    -------
    datetime
        Naive, in UTC.

    Raises
    ------
    ValueError, ArithmeticError
        If they name none: a part of the date is missing, or the zone is not known.
    """
    if len(words) > MAX_TIME:
        msg = "longer than any time"
        raise ValueError(msg)
    from dateutil import parser  # noqa: PLC0415 - as above

    text, zone = words.strip(), None
    if WRITTEN.match(text) is None:
        msg = "a part of it is missing, or could be another"
        raise ValueError(msg)
    head, _, last = text.rpartition(" ")
    if last[:1].isalpha():
        text, zone = head, _zone(last)
        if zone is None:
            msg = "a zone that is not known"
            raise ValueError(msg)
    time: datetime = parser.parse(text)
    return _in_utc(time.replace(tzinfo=zone) if zone is not None else time)


def _in_utc(time: datetime) -> datetime:
    offset = time.utcoffset()
    return time if offset is None else (time - offset).replace(tzinfo=None)


def _zone(name: str) -> tzinfo | None:
    # dateutil opens a zone that is a path, and a student may have written this one.
    if name.startswith("/") or ".." in name:
        msg = "a zone that is a path"
        raise ValueError(msg)
    from dateutil import tz  # noqa: PLC0415 - as above

    return tz.gettz(name)
