"""
Moodle: *Upload multiple feedback files in a zip* finds students by the number in a folder's name.

The number in a download may be that of a team. Moodle would take it for a
participant's, so that somebody else would get the page: it goes back only where
it is known whose number it is.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from autograder.lms.downloads.model import Left
from autograder.lms.downloads.moodle import fold_name
from autograder.lms.model import IdKind
from autograder.lms.returns.model import Given, Returned, is_their_own, shared
from autograder.lms.zipping import Packed

if TYPE_CHECKING:
    from autograder.lms.collecting.record import Collected
    from autograder.lms.returns.model import Feedback, Work

NO_PARTICIPANT = (
    "It is not sure which participant this student is: the number in the download may be a team's. "
    "Download the grading worksheet from Moodle, name it with --roster, and collect again."
)
THEIR_OWN = (
    "The page is a file that the student has handed in, and Moodle skips those. "
    "Write the feedback anew: autograder feedback."
)

_KEY = re.compile(r"(?P<name>[^_]*)_(?P<number>\d+)_assignsubmission_file", re.DOTALL)
_NUMBER = re.compile(r"\d+")


def pack(work: Work) -> Returned:
    """
    Pack feedback for Moodle.

    Parameters
    ----------
    work : Work
        What is to be given back.

    Returns
    -------
    Returned
        A page for each participant, in folders or flat as the download was.
    """
    files: list[Packed] = []
    given: list[Given] = []
    left: list[Left] = []
    teams = shared(work.collected)
    for one in work.collected:
        feedback = work.feedback[one.student]
        place = _place(one, feedback, is_shared=one.key in teams)
        if not place:
            left.append(Left(name=one.student, reason=NO_PARTICIPANT))
        elif is_their_own(feedback.whole, one):
            left.append(Left(name=one.student, reason=THEIR_OWN))
        else:
            name = f"{place}{work.file_name}"
            files.append(Packed(name=name, data=feedback.whole))
            given.append(Given(student=one.student, entry=name, shown=work.file_name))
    return Returned(files=tuple(files), given=tuple(given), left=tuple(left), notes=_NOTES)


_NOTES = (
    "In Moodle: View all submissions, Upload multiple feedback files in a zip, and this file.",
    "The assignment's settings must allow feedback files, or there is no such choice.",
    "Moodle says how many files it added, and not whose it ignored: compare the number.",
)


def _place(one: Collected, feedback: Feedback, *, is_shared: bool) -> str:
    """Return what stands before the page's name; empty if it is not sure whose it would be."""
    match = _KEY.fullmatch(one.key)
    participant = one.ids.get(IdKind.PARTICIPANT, "")
    if not participant and match and not is_shared and _is_name_of(match["name"], feedback):
        participant = match["number"]
    if not _NUMBER.fullmatch(participant):
        return ""
    if match is None or match["number"] != participant:
        # A team's folder, or one without a number: the member's own is named by what Moodle calls everybody.
        return f"Participant_{participant}_assignsubmission_file/"
    is_flat = any(part.startswith(f"{one.key}_") and part != f"{one.key}_" for part in _parts(one))
    # Moodle ignores files whose name begins so; in a folder it is the folder's name.
    return f"{one.key}{'_' if is_flat and one.key[0] not in '.~' else '/'}"


def _parts(one: Collected) -> set[str]:
    return {part for entry in one.entries for part in entry.split("/")}


def _is_name_of(name: str, feedback: Feedback) -> bool:
    return fold_name(name) in {fold_name(way) for way in feedback.names} - {""}
