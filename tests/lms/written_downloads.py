"""Downloads, entry for entry as each LMS writes them: the exporters' side of the law of downloads."""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from written_rosters import table

from autograder.lms.archive import open_archive
from autograder.lms.downloads.model import Context
from autograder.lms.people import People

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nasty_people import Nasty

    from autograder.lms.archive import OpenArchive
    from autograder.lms.downloads.model import Attempt
    from autograder.lms.model import Person

ZONE = ZoneInfo("America/New_York")
"""Where the sites of these downloads are."""
NOTEBOOKS = ("hw1", "lab-1")
BEGUN = datetime(2027, 3, 1, 15, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Handed:
    """What one student or team hands in at one time: files with their contents."""

    who: Nasty
    files: Mapping[str, bytes]
    at: datetime = BEGUN
    text: str = ""
    late: bool = False


@dataclass
class Written:
    """A download: what is in the zip, and what the zip is called."""

    entries: dict[str, bytes] = field(default_factory=dict)
    name: str = "download.zip"
    made: datetime | None = None
    """The time of its entries, by the clock of whoever made it; None for that of the test."""


def handed(who: Nasty, *names: str, number: int = 0, **more: Any) -> Handed:
    """Return files that say whose they are and how they are called."""
    files = {name: f"{who.login} {number} {name}".encode() for name in names or ("hw1.ipynb",)}
    return Handed(who, files, BEGUN + timedelta(hours=number), **more)


@contextmanager
def opened(written: Written) -> Iterator[OpenArchive[Any]]:
    """Open a download as a zip on the disk."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / written.name
        with zipfile.ZipFile(path, "w") as file:
            for name, data in written.entries.items():
                at = written.made
                file.writestr(zipfile.ZipInfo(name, at.timetuple()[:6]) if at else name, data)
        with open_archive(path) as archive:
            yield archive


def context_of(people: Iterable[Person]) -> Context:
    """Return what readers are told: these people, two notebooks, a site in New York."""
    return Context(people=People(people), notebooks=NOTEBOOKS, assignment="hw1", zone=ZONE)


def contents(archive: OpenArchive[Any], attempt: Attempt) -> dict[str, bytes]:
    """Return the files of an attempt by their paths."""
    return {path: archive.read(entry) for path, entry in attempt.files}


def moodle_name(name: str) -> str:
    """Return what Moodle makes of a name: characters dropped, and no underscore."""
    return re.sub(r"[\x00-\x1f\x7f&<>\"`|':\\/]", "", name).replace("_", " ")


@dataclass(frozen=True)
class MoodleSite:
    """How a Moodle site and an assignment are set up."""

    flat: bool = False
    underscore: bool = False
    """Before 4.1 folders ended in one."""
    blind: str = ""
    """The word for a hidden name."""
    last_first: bool = False
    groups: bool = False
    """Old Moodle put the group before the name."""


def moodle(work: Sequence[Handed], site: MoodleSite | None = None) -> Written:
    """Moodle's zip of students."""
    site = site or MoodleSite()
    written = Written(name="CS101-HW 1-88.zip")
    for one in work:
        full = f"{one.who.last} {one.who.first}".strip() if site.last_first else one.who.full
        name = site.blind or moodle_name(full)
        if site.groups and one.who.groups:
            name = f"{moodle_name(one.who.groups[0])}-{name}"
        prefix = f"{name}_{int(one.who.user) + 5000}_assignsubmission"
        end = "_" if site.flat else "_/" if site.underscore else "/"
        for path, data in one.files.items():
            written.entries[f"{prefix}_file{end}{path}"] = data
        if one.text:
            written.entries[f"{prefix}_onlinetext{end}onlinetext.html"] = one.text.encode()
    return written


def moodle_teams(teams: Mapping[str, Mapping[str, bytes]]) -> Written:
    """Moodle's zip of teams: each once, with the number of the group."""
    written = Written()
    for number, (team, files) in enumerate(teams.items(), start=5501):
        for path, data in files.items():
            written.entries[f"{moodle_name(team)}_{number}_assignsubmission_file/{path}"] = data
    return written


def blackboard(
    work: Sequence[Handed],
    title: str = "HW 1",
    *,
    notes: bool = True,
    label: str = "Name",
    name: str = "gradebook_CS_101_{title}_2027-03-09-08-07-06.zip",
) -> Written:
    """Blackboard's zip: names of files mangled, a note for each attempt that has them as they were."""
    written = Written(name=name.format(title=title))
    for one in work:
        stamp = one.at.astimezone(ZONE).strftime("%Y-%m-%d-%H-%M-%S")
        prefix = f"{title}_{one.who.login}_attempt_{stamp}"
        pairs = []
        for path, data in one.files.items():
            stored = f"{prefix}_{re.sub(r'[^A-Za-z0-9._ -]', '', path)}"
            written.entries[stored] = data
            pairs += [f"\tOriginal filename: {path}", f"\tFilename: {stored}", ""]
        lines = [f"{label}: {one.who.full} ({one.who.login})", f"Assignment: {title}"]
        lines += [f"Date Submitted: {stamp}", "Current Grade: Not Yet Graded", "", "Submission Field:"]
        lines += [one.text or "There is no student submission text data for this assignment.", ""]
        lines += ["Comments:", "There are no student comments for this assignment.", "", "Files:"]
        lines += pairs or ["\tNo files were attached to this submission."]
        if notes:
            written.entries[f"{prefix}.txt"] = "\r\n".join(lines).encode()
    return written


def brightspace_time(at: datetime) -> str:
    """Return a time as in the folders of Brightspace: no colon, no zeros in front."""
    there = at.astimezone(ZONE)
    half = "AM" if there.hour < 12 else "PM"
    return f"{there:%b} {there.day}, {there.year} {(there.hour + 11) % 12 + 1}{there:%M} {half}"


def brightspace(work: Sequence[Handed], name: str = "{numbers} - {full} - {time}") -> Written:
    """Brightspace's zip: a folder for each submission, and a page that lists them."""
    written = Written(entries={"index.html": b"<html></html>"})
    for number, one in enumerate(work):
        folder = name.format(
            numbers=f"397063-{2557369 + number}",
            full=one.who.full,
            sortable=one.who.sortable,
            sis=one.who.sis,
            time=brightspace_time(one.at),
        )
        for path, data in one.files.items():
            written.entries[f"{folder}/{path}"] = data
    return written


@dataclass(frozen=True)
class Words:
    """What Sakai calls folders and lateness, in the language of a site."""

    submission: str = "Submission attachment(s)"
    feedback: str = "Feedback Attachment(s)"
    late: str = "Late"
    on_time: str = "On time"


def sakai_id(eid: str) -> str:
    """Return an eid, or Sakai's own id instead of one with odd letters."""
    if re.fullmatch(r"[A-Za-z0-9._@-]+", eid):
        return eid
    return f"{zlib.crc32(eid.encode()):08x}-1111-4222-8333-444455556666"


def sakai(work: Sequence[Handed], words: Words | None = None, *, graded: bool = False) -> Written:
    """Sakai's zip: a folder for each student below the title, and the table of grades."""
    words = words or Words()
    written = Written(name="bulk_download.zip")
    header = ["Display ID", "ID", "Last Name", "First Name", "grade", "Submission time", "Late submission"]
    rows = [["HW 1", "SCORE_GRADE_TYPE"], [""], header]
    for one in work:
        named = re.sub(r"[/\\]", "_", one.who.sortable if one.who.first else f"{one.who.last}, ")
        folder = f"HW 1/{named}({sakai_id(one.who.login)})"
        for path, data in one.files.items():
            written.entries[f"{folder}/{words.submission}/{path}"] = data
        text = f"{named}({sakai_id(one.who.login)})_submissionText.html"
        written.entries[f"{folder}/{text}"] = one.text.encode()
        written.entries[f"{folder}/timestamp.txt"] = one.at.strftime("%Y%m%d%H%M%S000").encode()
        written.entries[f"{folder}/feedbackText.html"] = b""
        written.entries[f"{folder}/comments.txt"] = b""
        if graded:
            written.entries[f"{folder}/{words.feedback}/hw1.ipynb"] = b"corrected"
        late = words.late if one.late else words.on_time
        rows.append([one.who.sis, one.who.login, one.who.last, one.who.first, "", "1 Mar", late])
    written.entries["HW 1/grades.csv"] = table(rows, quote_all=True).encode()
    return written
