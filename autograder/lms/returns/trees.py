"""Brightspace and Sakai: feedback goes back in the folders of the download, beside what was handed in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.lms.downloads.model import Left
from autograder.lms.returns.model import Given, Returned, shared
from autograder.lms.zipping import Packed
from autograder.terminal import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from autograder.lms.collecting.record import Collected
    from autograder.lms.returns.model import Work

SUBMISSION, FEEDBACK = "submission attachment(s)", "Feedback Attachment(s)"
"""What Sakai calls the folders in English; the first whatever its case."""

_NAMED = 8
"""Students that are named one by one."""

GROUP = (
    "Several students have this folder, and everybody in the group would see the page of one. "
    "Give it to each by hand."
)
NO_FOLDER = "Its folder in the download is not known. Collect the download as the LMS has sent it."
OTHER_LANGUAGE = (
    "The folders of this Sakai are not in English, so it is not known what it calls the one for feedback. "
    "Put the page there by hand."
)


def brightspace(work: Work) -> Returned:
    """
    Pack feedback for Brightspace.

    Parameters
    ----------
    work : Work
        What is to be given back; with the download's index page, if it is at hand.

    Returns
    -------
    Returned
        Each page in its submission's folder.
    """
    packed = _packed(work, _brightspace_folder)
    notes = (*_BRIGHTSPACE, *_by_name_alone(work))
    if work.index is not None:
        index = Packed(name="index.html", data=work.index)
        return Returned(
            files=(index, *packed.files),
            given=packed.given,
            left=packed.left,
            notes=notes,
        )
    missing = "Its index.html is missing here: name the download with --download, if Brightspace asks for it."
    return Returned(files=packed.files, given=packed.given, left=packed.left, notes=(*notes, missing))


def sakai(work: Work) -> Returned:
    """
    Pack feedback for Sakai.

    Parameters
    ----------
    work : Work
        What is to be given back.

    Returns
    -------
    Returned
        Each page in its student's folder for feedback.
    """
    return _packed(work, _sakai_folder, notes=_SAKAI)


_BRIGHTSPACE = (
    "In Brightspace: the assignment's Submissions, Add Feedback Files, and this file.",
    "Brightspace matches folders by their names: leave them as they are.",
)
_SAKAI = (
    "In Sakai: the assignment, Upload All, this file, and of the choices Feedback Attachments alone.",
    "Choosing grades or comments as well would replace them by what is not in this file.",
)


def _packed(
    work: Work, folder_of: Callable[[Collected], tuple[str, str]], notes: tuple[str, ...] = ()
) -> Returned:
    """Pack each page into the folder that a function names; else it says why not."""
    files: list[Packed] = []
    given: list[Given] = []
    left: list[Left] = []
    groups = shared(work.collected)
    for one in work.collected:
        folder, problem = folder_of(one)
        if problem or one.key in groups:
            left.append(Left(name=one.student, reason=problem or GROUP))
            continue
        name = f"{folder}/{work.file_name}"
        files.append(Packed(name=name, data=work.feedback[one.student].whole))
        given.append(Given(student=one.student, entry=name, shown=work.file_name))
    return Returned(files=tuple(files), given=tuple(given), left=tuple(left), notes=notes)


def _by_name_alone(work: Work) -> Iterator[str]:
    """Yield whose page may reach somebody who has taken their name."""
    several = [one.student for one in work.collected if one.same_name > 1]
    if several:
        yield (
            f"Several folders were collected as attempts of {some(several, _NAMED)} by the name alone, "
            "and the page lies in the last one: before you upload this file, see in Brightspace whose it is."
        )


def _brightspace_folder(one: Collected) -> tuple[str, str]:
    return (one.key, "") if _before(one) is not None else ("", NO_FOLDER)


def _sakai_folder(one: Collected) -> tuple[str, str]:
    before = _before(one)
    if before is None:
        return "", NO_FOLDER
    inside = {
        entry.split("/")[len(before) + 1] for entry in one.entries if entry.count("/") > len(before) + 1
    }
    if not {name.casefold() for name in inside} <= {SUBMISSION}:
        return "", OTHER_LANGUAGE
    return "/".join([*before, one.key, FEEDBACK]), ""


def _before(one: Collected) -> list[str] | None:
    """Return the folders around the attempt's own; None if the entries are not in it."""
    for entry in one.entries:
        parts = entry.split("/")[:-1]
        if one.key in parts:
            return parts[: parts.index(one.key)]
    return None
