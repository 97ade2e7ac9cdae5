"""Blackboard: it takes no feedback files in bulk, so they are sorted by user, to be attached one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.model import IdKind
from autograder.lms.returns.model import Given, Returned, plain
from autograder.lms.zipping import Packed

if TYPE_CHECKING:
    from autograder.lms.returns.model import Work

_NOTES = (
    "Blackboard has no upload for feedback files: attach each page by hand, to the user that it is named by.",
    "Words go in without clicks: `autograder export blackboard --comments` fills the columns of feedback.",
)


def pack(work: Work) -> Returned:
    """
    Pack feedback for Blackboard.

    Parameters
    ----------
    work : Work
        What is to be given back.

    Returns
    -------
    Returned
        Each page, called by the username and sorted by it.
    """
    named: dict[str, str] = {}
    taken: set[str] = set()
    for one in work.collected:
        user = plain(one.ids.get(IdKind.LOGIN) or one.student)
        name, number = f"{user}_{work.file_name}", 1
        while name.casefold() in taken:
            number += 1
            name = f"{user}-{number}_{work.file_name}"
        taken.add(name.casefold())
        named[one.student] = name
    order = sorted(named, key=lambda student: named[student].casefold())
    return Returned(
        files=tuple(Packed(name=named[one], data=work.feedback[one].whole) for one in order),
        given=tuple(Given(student=one, entry=named[one], shown=work.file_name) for one in order),
        notes=_NOTES,
    )
