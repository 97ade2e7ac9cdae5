"""What readers of downloads share: paths that do not clash, times of a site."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import PurePosixPath
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.lms.downloads.attempts import in_utc, own_paths
from autograder.lms.downloads.model import Entry

NAMES = st.sampled_from(["a", "A", "b", "1", "2", "a.ipynb"])
PATHS = st.lists(st.lists(NAMES, min_size=1, max_size=3).map("/".join), max_size=6)


def placed(*paths: str) -> list[str]:
    """Return where files with these paths go, in the order of the result."""
    entries = [(path, Entry(name=f"entry {number}", size=1)) for number, path in enumerate(paths)]
    return [path for path, _ in own_paths(entries)]


@given(paths=PATHS)
def test_no_file_replaces_another(paths: list[str]) -> None:
    """On a disk without case too: no two paths are one, and none is a folder of another."""
    entries = [(path, Entry(name=f"entry {number}", size=1)) for number, path in enumerate(paths)]

    out = own_paths(entries)

    folded = [PurePosixPath(path.casefold()) for path, _ in out]
    assert len(set(folded)) == len(paths)
    assert not {parent for path in folded for parent in path.parents} & set(folded)
    before = {entry.name: path for path, entry in entries}
    assert all(path.endswith(before[entry.name]) for path, entry in out)
    assert {entry.name for _, entry in out} == set(before)


def test_only_what_clashes_moves() -> None:
    """A notebook that has its name alone keeps its place."""
    assert placed("hw1.ipynb", "x.csv", "X.csv") == ["1/X.csv", "2/x.csv", "hw1.ipynb"]
    assert placed("a", "a/b", "c") == ["1/a", "a/b", "c"]


@pytest.mark.parametrize(
    ("written", "utc"),
    [
        ("2027-01-15T12:00", "2027-01-15T17:00"),
        ("2027-07-15T12:00", "2027-07-15T16:00"),
        ("2026-11-01T01:30", "2026-11-01T05:30"),
        ("2027-03-14T02:30", "2027-03-14T07:30"),
    ],
)
def test_times_of_a_site_are_utc(written: str, utc: str) -> None:
    """Summer and winter count; of the hour that is there twice the first, which is never too late."""
    at = in_utc(datetime.fromisoformat(written), ZoneInfo("America/New_York"))

    assert at == datetime.fromisoformat(utc)
    assert in_utc(at, UTC) == at
    assert in_utc(at, timezone(timedelta(hours=2))) == at - timedelta(hours=2)


@pytest.mark.parametrize("at", [datetime.min, datetime.max])  # noqa: DTZ901 - naive as in a download
@pytest.mark.parametrize("hours", [-14, 14])
def test_a_time_at_the_end_of_the_calendar_stops_nobody(at: datetime, hours: int) -> None:
    """A student may have written it into the name of a file."""
    assert abs(in_utc(at, timezone(timedelta(hours=hours))) - at) <= timedelta(hours=14)
