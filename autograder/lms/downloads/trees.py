"""Downloads in which a folder is a student's: what nbgrader's trees and plain folders have in common."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from autograder.course.timestamps import FILE, MAX_TIME, parse_time
from autograder.errors import SubmissionError
from autograder.lms.downloads.model import Attempt, Left
from autograder.lms.downloads.owners import owners

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from autograder.lms.downloads.model import Archive, Context, Entry
    from autograder.lms.model import Person

_ROSTER = "Name a roster with --roster, or add the student: `nbgrader db student add ID`."


@dataclass(slots=True)
class Folders:
    """
    The folders of students, as they are found.

    Parameters
    ----------
    archive : Archive
        The download.
    context : Context
        Who may have handed in, and what.
    left : list of Left
        What belongs to nobody, and what needs a look; more is added.
    """

    archive: Archive
    context: Context
    left: list[Left] = field(default_factory=list)
    _found: dict[tuple[str, str, datetime | None], list[tuple[str, Entry]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def add(self, named: str, key: str, path: str, entry: Entry, at: datetime | None = None) -> None:
        """
        Add a file.

        Parameters
        ----------
        named : str
            Whose it is: a student's id or name.
        key : str
            The folder or file that says so, as it stands in the download.
        path : str
            Where the file is in the submission's folder.
        entry : Entry
            The file.
        at : datetime, optional
            When it was handed in, as far as the folder's name says: naive, in UTC.
        """
        self._found[named, key, at].append((path, entry))

    def attempts(self) -> Iterator[Attempt]:
        """
        Yield what each student handed in.

        Yields
        ------
        Attempt
            One for each folder.
        """
        for (named, key, at), files in self._found.items():
            whose = owners(self.context.people, named)
            stamps = [entry for path, entry in files if path == FILE]
            yield Attempt(
                key=key,
                person=whose[0] if len(whose) == 1 else None,
                problem=_problem(named, whose),
                files=tuple((path, entry) for path, entry in files if path != FILE),
                submitted_at=at or (self._time(stamps[0]) if stamps else None),
                named=named,
            )

    def _time(self, entry: Entry) -> datetime | None:
        """Return the time in a ``timestamp.txt``, read as nbgrader reads it."""
        try:
            words = self.archive.read(entry, MAX_TIME + 1).decode("utf-8", "replace").strip()
            return parse_time(words) if words else None
        except SubmissionError as error:
            self.left.append(Left(name=entry.name, reason=f"It {error.what}. {error.remedy}"))
            return None
        except (ValueError, ArithmeticError):
            reason = "It holds no time. Write it as 2027-01-31 23:59:00 UTC, and collect again."
            self.left.append(Left(name=entry.name, reason=reason))
            return None


def _problem(named: str, whose: tuple[Person, ...]) -> str:
    if len(whose) == 1:
        return ""
    if not whose:
        return f"Nobody in the course has the id, login, address or name {named!r}. {_ROSTER}"
    who = " and ".join(one.student or one.shown for one in whose)
    return f"{named!r} can be {who}. Call the folder by the student's id in the course."
