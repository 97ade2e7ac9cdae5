"""Every LMS by one command: the roster and the zip that it hands out, and everybody has their own work."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
import written_downloads as downloads
import written_rosters as rosters
from canvas_zips import Upload, canvas_zip, entry_name
from collect_courses import ASSIGNMENT, FIRST, SECOND, collect, everything, light_course, submitted
from crafted_zips import write_zip
from nasty_people import NASTY

from autograder.lms.archive.names import name_problem
from autograder.lms.collecting.record import load_record

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from nasty_people import Nasty

    Write = Callable[[Sequence[downloads.Handed]], downloads.Written]

NAMES = (f"{FIRST}.ipynb", "my data (2).csv")


def canvas(work: Sequence[downloads.Handed]) -> downloads.Written:
    """Canvas's zip of uploads."""
    entries: dict[str, bytes] = {}
    for number, one in enumerate(work):
        for place, (path, data) in enumerate(one.files.items()):
            attachment = 8000 + 10 * number + place
            upload = Upload(sortable=one.who.sortable, user=one.who.user, attachment=attachment, display=path)
            assert canvas_zip([upload])
            entries[entry_name(upload)] = data
    return downloads.Written(entries, "submissions.zip")


def exchange(work: Sequence[downloads.Handed]) -> downloads.Written:
    """What lies in nbgrader's exchange."""
    entries: dict[str, bytes] = {}
    for one in work:
        folder = f"{one.who.login}+{ASSIGNMENT}+{one.at:%Y-%m-%d %H:%M:%S.%f} UTC+Zq"
        entries |= {f"{folder}/{path}": data for path, data in one.files.items()}
    return downloads.Written(entries, "inbound.zip")


def plain(work: Sequence[downloads.Handed]) -> downloads.Written:
    """A folder for each student."""
    entries = {f"class/{one.who.login}/{path}": data for one in work for path, data in one.files.items()}
    return downloads.Written(entries, "class.zip")


def flat_moodle(work: Sequence[downloads.Handed]) -> downloads.Written:
    """Moodle's zip without folders."""
    return downloads.moodle(work, downloads.MoodleSite(flat=True))


SYSTEMS: dict[str, tuple[Write, tuple[Callable[[Sequence[Nasty]], rosters.Written], ...], bool]] = {
    "canvas": (canvas, (rosters.canvas_gradebook,), False),
    "moodle": (downloads.moodle, (rosters.moodle_upload, rosters.moodle_worksheet), False),
    "moodle-flat": (flat_moodle, (rosters.moodle_upload, rosters.moodle_worksheet), False),
    "blackboard": (downloads.blackboard, (rosters.blackboard,), True),
    "brightspace": (downloads.brightspace, (rosters.brightspace,), True),
    "sakai": (downloads.sakai, (rosters.sakai_gradebook,), True),
    "nbgrader": (exchange, (rosters.nbgrader,), True),
    "plain": (plain, (rosters.nbgrader,), False),
}
"""How each writes, its rosters, and whether the download tells times."""


@pytest.mark.parametrize("system", SYSTEMS)
def test_everybody_gets_their_own_work(tmp_path: Path, system: str) -> None:
    """Recognised by names alone; whom a system cannot tell apart is told; the second time nothing happens."""
    write, tables, has_times = SYSTEMS[system]
    people = [one for one in NASTY if len(one.full.encode()) < 120]
    if system == "brightspace":
        # What it makes of a slash in a name of a folder, nobody has seen.
        people = [one for one in people if not {"/", "\\"} & {*one.full}]
    work = [downloads.handed(one, *NAMES, number=number) for number, one in enumerate(people)]
    written = write(work)
    assert not any(name_problem(name) for name in written.entries)
    path = write_zip(tmp_path / written.name, written.entries)
    words: list[object] = [path, "--zone", downloads.ZONE.key]
    for number, roster in enumerate(tables):
        table = tmp_path / f"roster{number}.csv"
        table.write_bytes(roster(people)[0])
        words += ["--roster", table]
    course = light_course(tmp_path / "course")
    code, told = collect(course, *words)

    found = submitted(course)
    for one in found.values():
        one.pop("timestamp.txt", None)
    assert (code, found) == (0, {one.who.login: dict(one.files) for one in work}), told
    record = load_record(course.root, ASSIGNMENT).students
    times = {one.who.login: record[one.who.login].submitted_at for one in work}
    if has_times:
        exact = {one.who.login: one.at.astimezone(UTC).replace(tzinfo=None) for one in work}
        assert {who: at and at.replace(second=0, microsecond=0) for who, at in times.items()} == exact
    before = everything(course.root)
    assert collect(course, *words)[0] == 0
    assert everything(course.root) == before
    # The gradebook remembers who is who; Moodle's numbers of participants as well.
    assert collect(course, path, "--zone", downloads.ZONE.key)[0] == 0
    assert everything(course.root) == before


def test_what_a_name_alone_tells_is_told_and_kept(tmp_path: Path) -> None:
    """Several folders of one name are collected, told outside of what is harmless, and known for feedback."""
    ana, other = NASTY[0], NASTY[1]
    work = [
        downloads.handed(ana, *NAMES),
        downloads.handed(ana, *NAMES, number=1),
        downloads.handed(other, *NAMES),
    ]
    path = write_zip(tmp_path / "a.zip", downloads.brightspace(work).entries)
    table = tmp_path / "roster.csv"
    table.write_bytes(rosters.brightspace([ana, other])[0])
    course = light_course(tmp_path / "course")

    code, told = collect(course, path, "--roster", table)

    assert code == 0
    assert f"attempts of one student by the name alone: {ana.full} (2). Somebody else" in told
    record = load_record(course.root, ASSIGNMENT).students
    assert {who: record[who].same_name for who in record} == {ana.login: 2, other.login: 1}


def test_a_later_attempt_follows_the_clocks_of_the_site(tmp_path: Path) -> None:
    """An hour that comes twice when summer ends, and a submission at the exact second."""
    people = NASTY[:2]
    at = [datetime(2027, 11, 7, 5, 59, 59, tzinfo=UTC), datetime(2027, 11, 7, 7, 0, 0, tzinfo=UTC)]
    work = [
        downloads.Handed(who, {f"{SECOND}.ipynb": f"{who.login} {number}".encode()}, time)
        for number, time in enumerate(at)
        for who in people
    ]
    path = write_zip(tmp_path / "a.zip", downloads.blackboard(work).entries)
    table = tmp_path / "roster.xls"
    table.write_bytes(rosters.blackboard(people)[0])
    course = light_course(tmp_path / "course")

    code, told = collect(course, path, "--roster", table, "--zone", downloads.ZONE.key)
    assert code == 0, told
    for who in people:
        assert submitted(course)[who.login][f"{SECOND}.ipynb"] == f"{who.login} 1".encode()
        stamp = submitted(course)[who.login]["timestamp.txt"]
        assert stamp == b"2027-11-07 07:00:00.000000 UTC"
