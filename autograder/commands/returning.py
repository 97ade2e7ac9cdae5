"""The command `feedback --zip`: pages on their way back to the LMS that the work came from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.console import Console

from autograder.errors import CourseError
from autograder.gradebook import Gradebook
from autograder.lms.archive import open_archive
from autograder.lms.collecting.record import load_record
from autograder.lms.downloads.model import Left
from autograder.lms.model import Lms
from autograder.lms.people import full_names
from autograder.lms.returns import blackboard, canvas, moodle, trees
from autograder.lms.returns.model import Feedback, Work
from autograder.lms.zipping import write_zip
from autograder.terminal import by_reason, say, short_path, some

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.lms.collecting.record import Collected
    from autograder.lms.model import Person
    from autograder.lms.returns.model import Packer, Returned

PACKERS: Mapping[Lms, Packer] = {
    Lms.CANVAS: canvas.pack,
    Lms.MOODLE: moodle.pack,
    Lms.BLACKBOARD: blackboard.pack,
    Lms.BRIGHTSPACE: trees.brightspace,
    Lms.SAKAI: trees.sakai,
}
"""What packs for each LMS that work can be collected from."""

NAMED = 12
"""Students that are named one by one for a reason."""

_MIB = 2**20
_INDEX = "index.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Packed:
    """
    Feedback that was packed for an LMS.

    Parameters
    ----------
    assignment : str
        The assignment.
    lms : Lms
        For whom.
    path : Path or None
        The archive; None if there is nothing to go into one.
    returned : Returned
        What the LMS will do with it.
    """

    assignment: str
    lms: Lms
    path: Path | None
    returned: Returned

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON types."""
        given = [
            {"student": one.student, "entry": one.entry, "shown": one.shown} for one in self.returned.given
        ]
        return {
            "assignment": self.assignment,
            "lms": self.lms.value,
            "file": None if self.path is None else str(self.path),
            "given": given,
            "left_out": [{"student": one.name, "reason": one.reason} for one in self.returned.left],
            "notes": list(self.returned.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """
    How feedback is to go back.

    Parameters
    ----------
    lms : Lms
        To whom; one of `PACKERS`.
    to : Path or None
        The archive to write. By default one in the course's exports.
    download : Path or None
        What was downloaded from the LMS, where it wants a part of that back.
    """

    lms: Lms
    to: Path | None = None
    download: Path | None = None


def was_collected(course: Course, assignment: str, lms: Lms) -> bool:
    """
    Return whether work of an assignment was collected from an LMS.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    lms : Lms
        The LMS.

    Returns
    -------
    bool
        True if it was.
    """
    return any(one.lms is lms for one in load_record(course.root, assignment).students.values())


def pack_feedback(course: Course, assignment: str, pages: Mapping[str, Path], way: Way) -> Packed:
    """
    Pack feedback pages for the LMS that the work was collected from.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        The assignment.
    pages : mapping of str to Path
        By student the page with all of it; those on the notebooks lie beside it.
    way : Way
        How it is to go back.

    Returns
    -------
    Packed
        What was written, and who is left out.

    Raises
    ------
    CourseError
        If nothing was collected from this LMS, or the download is none.
    OperatorError
        If a file cannot be read or written.
    """
    record = load_record(course.root, assignment)
    collected = [one for one in record.students.values() if one.lms is way.lms]
    if not collected:
        what = f"nothing of {assignment} was collected from {way.lms.shown}, so nobody's feedback can go back"
        raise CourseError("--zip", what, "Collect the download first: autograder collect.")
    with Gradebook(course.db_url) as gradebook:
        people = gradebook.people(assignment)
    known = {one.student for one in collected}
    work = Work(
        assignment=assignment,
        collected=[_known(one, people) for one in collected if one.student in pages],
        feedback={
            student: _feedback(course, assignment, student, page, people)
            for student, page in pages.items()
            if student in known
        },
        index=_index(way.download) if way.download is not None else None,
    )
    returned = PACKERS[way.lms](work)
    elsewhere = f"The work was not collected from {way.lms.shown}. Give the page by another way."
    left = (*returned.left, *(Left(name=one, reason=elsewhere) for one in pages if one not in known))
    returned = replace(returned, left=tuple(sorted(left, key=lambda one: one.name)))
    path = way.to or course.exports / f"{assignment}-feedback-{way.lms}.zip"
    if not returned.given:
        return Packed(assignment=assignment, lms=way.lms, path=None, returned=returned)
    write_zip(path, returned.files)
    size = f"The file has {path.stat().st_size / _MIB:.1f} MiB: if that is too much there, use --student."
    returned = replace(returned, notes=(*returned.notes, size))
    return Packed(assignment=assignment, lms=way.lms, path=path, returned=returned)


def _known(one: Collected, people: Iterable[Person]) -> Collected:
    """Return what was collected with the ids that a later roster has told as well."""
    for person in people:
        if (person.student, person.lms) == (one.student, one.lms):
            return replace(one, ids={**person.ids, **one.ids})
    return one


def _feedback(
    course: Course, assignment: str, student: str, page: Path, people: Iterable[Person]
) -> Feedback:
    parts = {book.name: page.with_name(f"{book.name}.html") for book in course.released(assignment)}
    names = (name for one in people if one.student == student for name in full_names(one))
    return Feedback(
        student=student,
        whole=page,
        parts={name: path for name, path in parts.items() if path.is_file()},
        names=tuple(dict.fromkeys(names)),
    )


def _index(download: Path) -> bytes | None:
    """Return the page of a download that lists its folders."""
    with open_archive(download) as archive:
        found = [entry for entry in archive.entries if entry.name.rpartition("/")[2] == _INDEX]
        nearest = min(found, key=lambda entry: entry.name.count("/"), default=None)
        return archive.read(nearest) if nearest is not None else None


def print_packed(packed: Packed) -> None:
    """
    Print what was packed, who gets nothing by it, and what to do in the LMS.

    Parameters
    ----------
    packed : Packed
        What was packed.
    """
    console = Console(highlight=False)
    students = len({one.student for one in packed.returned.given})
    where = short_path(packed.path) if packed.path is not None else "nothing written"
    say(console, f"{packed.assignment} → {packed.lms}: {where}")
    say(console, f"  feedback for {students} student{'s' if students != 1 else ''}")
    for reason, names in by_reason((one.reason, one.name) for one in packed.returned.left).items():
        say(console, f"  left out: {some(names, NAMED)}: {reason}", "yellow")
    for note in packed.returned.notes if packed.path is not None else ():
        say(console, f"  • {note}")
