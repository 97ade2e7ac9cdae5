"""Names in downloads are students' to choose: reading them takes a time that grows with their length."""

from __future__ import annotations

from time import process_time
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest
from nasty_people import NASTY
from written_downloads import context_of

from autograder.lms.downloads.model import Entry
from autograder.lms.downloads.recognising import READERS, reader_of
from autograder.lms.times import english_time

if TYPE_CHECKING:
    from autograder.lms.downloads.model import Archive
    from autograder.lms.model import Lms

LETTERS = 60_000
"""More than any archive lets through: what is square in it takes a minute."""
PIECES = [
    *("1", "1-", "1 - ", "1-1 - ", "1234 ", "1234,", ",", "- ", ", - 1", " ", "-", "_", "(", "()", "a(1)"),
    *("..", "'", "+", "a+", "_attempt_", "_attempt_2027-03-01-10-05-00", "assignsubmission_"),
]
PLACES = [
    *("{}/hw1.ipynb", "{}.ipynb", "1-2 - {} - Sep 24, 2026 926 PM/hw1.ipynb", "1-2 - x - {}/hw1.ipynb"),
    *("{}_5501_assignsubmission_file/hw1.ipynb", "x_{}_attempt_2027-03-01-10-05-00_hw1.ipynb"),
    *("a, {}(x)/timestamp.txt", "{}(aruiz)/timestamp.txt", "a,{}x/hw1.ipynb"),
]


def archive_of(name: str) -> Archive:
    """Return an archive with one empty entry, whatever it is called."""
    entries = (Entry(name=name, size=0),)
    return cast("Archive", SimpleNamespace(where="a.zip", entries=entries, left=(), read=lambda *_: b""))


@pytest.mark.parametrize("lms", list(READERS))
def test_no_name_takes_long(lms: Lms) -> None:
    """No pattern tries each place of a name for each other one."""
    reader = reader_of(lms)
    context = context_of([one.person(lms, student=one.login) for one in NASTY])
    for piece in PIECES:
        for place in PLACES:
            archive = archive_of(place.format(piece * (LETTERS // len(piece))))
            begun = process_time()
            reader.fits(archive)
            reader.read(archive, context)
            assert process_time() - begun < 10, (piece, place)


@pytest.mark.parametrize("piece", ["Mon, ", "M", "a", " ", "1", "Monday, 1 March 2027, 10:05 "])
def test_no_time_takes_long(piece: str) -> None:
    """Nor does what may be a time."""
    begun = process_time()
    assert english_time(piece * (500_000 // len(piece))) is None
    assert process_time() - begun < 20
