"""Times in English as LMSs write them."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.lms.times import english_time

FORMS = [
    "%A, %-d %B %Y, %I:%M %p",
    "%A, %B %-d, %Y, %I:%M %p",
    "%-d %B %Y, %H:%M",
    "%b %-d, %Y %-I%M %p",
    "%b %-d, %Y %H%M",
    "%B %d, %Y %-I:%M %p",
]


@given(at=st.datetimes(datetime(1000, 1, 1)), form=st.sampled_from(FORMS))  # noqa: DTZ001 - no zone is written
def test_what_is_written_is_read(at: datetime, form: str) -> None:
    """Midnight, noon and every month, to the minute."""
    assert english_time(at.strftime(form)) == at.replace(second=0, microsecond=0)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("Sep 24, 2026 1201 AM", (0, 1)),
        ("Sep 24, 2026 1230 PM", (12, 30)),
        ("Sep 24, 2026 926\u202fPM", (21, 26)),
        ("Thursday, 24 September 2026, 9:05 AM", (9, 5)),
    ],
)
def test_half_days_are_twelve_hours(written: str, read: tuple[int, int]) -> None:
    """12 AM is midnight; a narrow space before PM is a space."""
    assert english_time(written) == datetime(2026, 9, 24, *read)  # noqa: DTZ001 - no zone is written


@pytest.mark.parametrize(
    "written",
    [
        *("", "-", "yesterday", "24.09.2026 21:26", "24 sept. 2026 2126", "lunes, 1 de marzo de 2027, 10:05"),
        *("Sep 31, 2026 926 PM", "Sep 24, 2026 1326 PM", "Sep 24, 2026 026 AM", "Sep 24, 2026 961 PM"),
        *("Ju 24, 2026 926 PM", "Abc 24, 2026 926 PM", "24 Sep 26 9:26", "Sep 24, 2026 926 PM CET"),
    ],
)
def test_anything_else_is_no_time(written: str) -> None:
    """A time is read whole or not at all."""
    assert english_time(written) is None
