"""
Timestamps of scores: with a zone, finer than a second, and for each student later than the one before.

Platforms refuse a score that is not later than the last one they took. So the
last one is kept on disk before it is used, over runs and over clocks that are
set back.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from autograder.errors import OperatorError

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.lms.push.record import Record

STEP = timedelta(milliseconds=1)
"""The next timestamp that is later than another one."""
AHEAD = timedelta(days=366)
"""How far the clock of a platform may be ahead of ours, to be believed: a time once sent holds for good."""
FACT = "timestamp"
"""What the record calls it."""

_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


class Stamps:
    """
    The timestamps of one line item.

    Parameters
    ----------
    record : Record
        Where the last ones are kept.
    wall : callable, optional
        Returns seconds since 1970; it may run backwards.
    """

    def __init__(self, record: Record, wall: Callable[[], float] = time.time) -> None:
        self._record = record
        self._wall = wall

    def next(self, user: str, later_than: datetime | None = None) -> datetime:
        """
        Return the timestamp of a student's next score; it is on the disk already.

        Parameters
        ----------
        user : str
            The student's id on the platform.
        later_than : datetime, optional
            Aware; the timestamp is later than this, too.

        Returns
        -------
        datetime
            In UTC, in whole milliseconds, later than any other that was ever returned for the student.

        Raises
        ------
        OperatorError
            If it cannot be kept, or what was kept is damaged.
        """
        floors = [one + STEP for one in (self._last(user), later_than) if one is not None]
        stamp = max([_whole(datetime.fromtimestamp(self._wall(), UTC)), *map(_whole, floors)])
        self._record.note(user, **{FACT: written(stamp)})
        self._record.save()
        return stamp

    def is_sane(self, told: datetime) -> bool:
        """
        Return whether a time that a platform tells may be one of now.

        Parameters
        ----------
        told : datetime
            Aware.

        Returns
        -------
        bool
            False if it is more than `AHEAD` later than ours.
        """
        return told.timestamp() - self._wall() <= AHEAD.total_seconds()

    def _last(self, user: str) -> datetime | None:
        text = self._record.of(user).get(FACT)
        if text is None:
            return None
        try:
            last = datetime.fromisoformat(text).astimezone(UTC)
            # Later ones follow, up to the end of the calendar.
            return min(last, _LATEST)
        except (ValueError, OverflowError):
            remedy = "Put it back from a copy; without it a platform may refuse scores for a while."
            raise OperatorError(self._record.path, "holds a timestamp that is none", remedy) from None


def written(time: datetime) -> str:
    """Return an aware time as LTI wants it: 2027-01-31T22:59:00.125+00:00."""
    return time.astimezone(UTC).isoformat(timespec="milliseconds")


def _whole(time: datetime) -> datetime:
    return time.astimezone(UTC).replace(microsecond=time.microsecond // 1000 * 1000)
