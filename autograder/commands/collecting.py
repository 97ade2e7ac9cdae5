"""The command `collect`: from the downloads of an LMS to the submissions of the course."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.commands.collection import Collection
from autograder.commands.lateness import Deadlines
from autograder.errors import CourseError, nearest
from autograder.gradebook import Gradebook
from autograder.lms.archive import open_archive
from autograder.lms.collecting.enrolment import Enrolment, enrol, kept, matching
from autograder.lms.collecting.expected import check_expected, votes
from autograder.lms.collecting.folders import Shelf
from autograder.lms.collecting.handed import read_attempt
from autograder.lms.collecting.planning import Planned, plan
from autograder.lms.collecting.record import load_record
from autograder.lms.collecting.writing import alone, settled, write
from autograder.lms.downloads.model import Context, Left
from autograder.lms.downloads.recognising import reader_of, recognise
from autograder.lms.model import Lms
from autograder.lms.people import People
from autograder.lms.rosters import read_roster
from autograder.progress import progress_bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import tzinfo

    from autograder.course.course import Course
    from autograder.lms.archive import OpenArchive
    from autograder.lms.collecting.handed import Handed
    from autograder.lms.collecting.record import Record
    from autograder.lms.collecting.students import StudentId
    from autograder.lms.downloads.model import Attempt, Download
    from autograder.lms.model import Person


_WITHOUT_ZONE = {Lms.MOODLE, Lms.BLACKBOARD, Lms.BRIGHTSPACE}
"""Whose downloads tell times of no zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    What is to be collected, and how.

    Parameters
    ----------
    files : tuple of Path
        Downloads; at least one.
    assignment : str
        The assignment; empty to find out which it is.
    lms : Lms or None
        Whose the downloads are; None to find out.
    rosters : tuple of Path
        Exports of the LMS that tell who is in the course.
    student_id : StudentId or None
        What the ids of the course are, see `enrol`.
    zone : tzinfo
        The zone of times that a download writes without one.
    force : bool
        True if a later attempt and what was changed by hand are to be replaced, and work
        without any notebook of the assignment is to be taken.
    dry_run : bool
        True if nothing is to be written.
    quiet : bool
        True if no progress is to be shown.
    """

    files: tuple[Path, ...]
    assignment: str = ""
    lms: Lms | None = None
    rosters: tuple[Path, ...] = ()
    student_id: StudentId | None = None
    zone: tzinfo = UTC
    force: bool = False
    dry_run: bool = False
    quiet: bool = False


@dataclass(slots=True)
class _Source:
    """A download, opened and understood."""

    archive: OpenArchive[Any]
    lms: Lms
    people: People
    download: Download


def collect(course: Course, wanted: Wanted) -> Collection:
    """
    Collect submissions.

    Parameters
    ----------
    course : Course
        The course.
    wanted : Wanted
        What is to be collected, and how.

    Returns
    -------
    Collection
        What became of each, and what was not collected. With the same files again nothing changes.

    Raises
    ------
    CourseError
        If a download or a roster cannot be used, or it is not clear of which assignment it is.
    OperatorError
        If something cannot be read or written. Each submission is there whole or not at all;
        the same command goes on.
    """
    with ExitStack() as to_close:
        archives = [to_close.enter_context(open_archive(file)) for file in wanted.files]
        assignment, notes = _assignment(course, wanted.assignment, archives)
        notebooks = notebooks_of(course, assignment)
        if not wanted.dry_run:
            to_close.enter_context(alone(course.root))
        gradebook = to_close.enter_context(Gradebook(course.db_url))
        known = gradebook.people(assignment)
        deadlines = Deadlines.of(gradebook.extensions(assignment))
        rosters = [read_roster(file) for file in wanted.rosters]
        enrolment = enrol(known, rosters, wanted.student_id, force=wanted.force)
        people = known, enrolment
        sources = [_understood(archive, course, assignment, wanted, people) for archive in archives]
        left = [one for source in sources for one in (*source.archive.left, *source.download.left)]
        handed = _read(sources, left, quiet=wanted.quiet)
        if not wanted.force:
            check_expected(handed, assignment, course.source(assignment), notebooks)
        attempts = [one for source in sources for one in source.download.attempts]
        enrolment, told = kept(enrolment, attempts)
        shelf, loaded = Shelf(course.layout, assignment), load_record(course.root, assignment)
        planned = _planned(handed, settled(loaded, shelf), shelf, left, force=wanted.force)
        if not wanted.dry_run:
            gradebook.enroll_people(enrolment.people, assignment)
            planned = _written(planned, loaded, shelf, left, quiet=wanted.quiet)
    return Collection(
        assignment=assignment,
        notebooks=notebooks,
        planned=tuple(planned),
        enrolment=enrolment,
        left=(*enrolment.left, *left),
        deadlines=deadlines,
        notes=(*notes, *told, *_notes(sources, wanted)),
        names={one.student: shown for one in (*known, *enrolment.people) if (shown := _called(one))},
        dry_run=wanted.dry_run,
    )


def _called(person: Person) -> str:
    """Return the first and the last name of a person, as far as they are known."""
    return " ".join(part for part in (person.first_name, person.last_name) if part) or person.name


# ------------------------------------------------------------- understanding


def notebooks_of(course: Course, assignment: str) -> tuple[str, ...]:
    """
    Return the names of an assignment's notebooks, released or not.

    Parameters
    ----------
    course : Course
        The course.
    assignment : str
        An assignment of it.

    Returns
    -------
    tuple of str
        Sorted, without suffix; those that the configuration counts.
    """
    names = sorted(path.stem for path in course.source(assignment).glob("*.ipynb"))
    return tuple(name for name in names if fnmatchcase(name, course.layout.notebooks))


def _assignment(
    course: Course, named: str, archives: Sequence[OpenArchive[Any]]
) -> tuple[str, tuple[str, ...]]:
    """Return the assignment, and what to tell if nobody has named it."""
    if named:
        return course.check_assignment(named), ()
    known = course.assignments()
    if len(known) == 1:
        return known[0], ()
    found, parts = votes(archives, {one: notebooks_of(course, one) for one in known})
    # One student's stray file is not what the others have handed in.
    most = [one for one, count in found.items() if 2 * count > parts]
    if len(most) == 1:
        (best,) = most
        words = f"only {best} has notebooks that are called so"
        if len(found) > 1:
            words = f"{found[best]} of {parts} students have notebooks of {best}"
        return best, (f"{words}: collected for it",)
    what = "the course has no assignment" if not known else f"the course has several ({', '.join(known)})"
    raise CourseError("collect", what, "Name the assignment behind the files.")


def _understood(
    archive: OpenArchive[Any],
    course: Course,
    assignment: str,
    wanted: Wanted,
    people: tuple[Sequence[Person], Enrolment],
) -> _Source:
    lms = wanted.lms or recognise(archive, _anybody(*people))
    context = Context(
        people=People(matching(*people, lms)),
        notebooks=notebooks_of(course, assignment),
        assignment=assignment,
        zone=wanted.zone,
    )
    return _Source(archive, lms, context.people, reader_of(lms).read(archive, context))


def _anybody(known: Sequence[Person], enrolment: Enrolment) -> People:
    return People((*known, *enrolment.people, *enrolment.unknown))


def _read(sources: Iterable[_Source], left: list[Left], *, quiet: bool) -> dict[str, list[Handed]]:
    """Return by student what was handed in; what is nobody's is told."""
    attempts = [(source, attempt) for source in sources for attempt in source.download.attempts]
    handed: dict[str, list[Handed]] = defaultdict(list)
    with progress_bar(quiet=quiet) as progress:
        for source, attempt in progress.track(attempts, description="reading"):
            if problem := _problem(attempt):
                left.append(Left(name=attempt.key, reason=problem))
            elif one := read_attempt(source.archive, source.lms, source.people, attempt, left):
                handed[one.student].append(one)
    return dict(sorted(handed.items()))


def _problem(attempt: Attempt) -> str:
    if attempt.problem or attempt.person is None:
        return attempt.problem or "Nobody can tell whose it is."
    if not attempt.person.student:
        return "The student is in a roster, but not in the course yet: see what is said of the roster."
    return ""


# --------------------------------------------------------- planning, writing


def _planned(
    handed: dict[str, list[Handed]], record: Record, shelf: Shelf, left: list[Left], *, force: bool
) -> list[Planned]:
    planned = []
    for attempts in handed.values():
        found = plan(attempts, record, shelf, force=force)
        if isinstance(found, Left):
            left.append(found)
        else:
            planned.append(found)
    return planned


def _written(
    planned: Sequence[Planned], record: Record, shelf: Shelf, left: list[Left], *, quiet: bool
) -> list[Planned]:
    """Write what was planned, and return what could be written."""
    done = []
    with progress_bar(quiet=quiet) as progress:
        task = progress.add_task("writing", total=len(planned))
        for one in write(planned, record, shelf, left):
            done.append(one)
            progress.advance(task)
    return done


def _notes(sources: Sequence[_Source], wanted: Wanted) -> Iterator[str]:
    """Yield what the downloads themselves give to know."""
    for source in sources:
        yield from source.download.notes
    yield from _zone_note(sources, wanted.zone)


def _zone_note(sources: Iterable[_Source], zone: tzinfo) -> Iterator[str]:
    """Yield what people should know whose downloads tell times of no zone."""
    for lms in sorted({source.lms for source in sources} & _WITHOUT_ZONE):
        attempts = (one for source in sources if source.lms == lms for one in source.download.attempts)
        if any(one.submitted_at is not None for one in attempts):
            name = getattr(zone, "key", None) or f"this machine ({datetime.now(zone).tzname()})"
            yield f"{lms.shown} tells times without their zone: they are read as those of {name} (--zone)"


# ------------------------------------------------------------- command line


def asked(course: Course, words: Sequence[str]) -> tuple[tuple[Path, ...], str]:
    """
    Return which words of a command line are files, and which is the assignment.

    Parameters
    ----------
    course : Course
        The course.
    words : sequence of str
        Files, and behind them the name of an assignment or not.

    Returns
    -------
    files : tuple of Path
        At least one.
    assignment : str
        Empty if none was named.

    Raises
    ------
    CourseError
        If a word is neither, or there is no file.
    """
    known = course.assignments()
    files, assignment = list(words), ""
    # A folder of that name in the current one is no download, or is written as ./name.
    if files and files[-1] in known:
        assignment = files.pop()
    for word in files:
        if not Path(word).exists():
            what = "there is no such file, and no assignment of that name"
            raise CourseError(word, what, nearest(word, known))
    if not files:
        raise CourseError("collect", "no file is named", "Name what you have downloaded from the LMS.")
    return tuple(map(Path, files)), assignment
