"""Which LMS a download is of."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, cast

from autograder.errors import CourseError
from autograder.lms.model import Lms

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.lms.downloads.model import Archive, Reader

READERS: Mapping[Lms, str] = {
    lms: f"autograder.lms.downloads.{lms.value}"
    for lms in (
        *(Lms.CANVAS, Lms.MOODLE, Lms.BLACKBOARD, Lms.BRIGHTSPACE),
        *(Lms.SAKAI, Lms.NBGRADER, Lms.PLAIN),
    )
}
"""The module of each LMS; it is imported when a download is looked at."""

SURE, APART = 0.5, 0.2
"""What an LMS must reach, and how far the next one must be behind."""

_SHOWN = 3


def reader_of(lms: Lms) -> Reader:
    """
    Return the reader of downloads of an LMS.

    Parameters
    ----------
    lms : Lms
        Which.

    Returns
    -------
    Reader
        Its module.

    Raises
    ------
    CourseError
        If it hands out no submissions that could be collected.
    """
    if lms not in READERS:
        known = ", ".join(one.value for one in READERS)
        raise CourseError("--from", f"nothing can be collected from {lms.shown}", f"Say one of: {known}.")
    return cast("Reader", import_module(READERS[lms]))


def recognise(archive: Archive) -> Lms:
    """
    Return which LMS a download is of.

    Parameters
    ----------
    archive : Archive
        The download.

    Returns
    -------
    Lms
        The one whose names it has.

    Raises
    ------
    CourseError
        If it may be of several, or of none.
    """
    sure = {lms: reader_of(lms).fits(archive) for lms in READERS if find_spec(READERS[lms])}
    plain = sure.pop(Lms.PLAIN)
    best, second = sorted(sure, key=lambda lms: sure[lms], reverse=True)[:2]
    if sure[best] >= SURE and sure[best] - sure[second] >= APART:
        return best
    if sure[best] < APART and plain >= SURE / 2:
        return Lms.PLAIN
    seen = ", ".join(entry.name for entry in archive.entries[:_SHOWN]) or "nothing"
    like = [lms.shown for lms in (best, second) if sure[lms] >= APART]
    what = f"looks like {' and like '.join(like)}" if like else "looks like no LMS that is known"
    known = ", ".join(one.value for one in READERS)
    remedy = f"Say where it is from with --from: {known}."
    raise CourseError(archive.where, f"{what} (in it: {seen})", remedy)
