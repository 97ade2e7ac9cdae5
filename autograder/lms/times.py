"""Times as an LMS writes them for people, in English."""

from __future__ import annotations

import re
from datetime import datetime

_CLOCK = r"(?P<hour>\d{1,2})[:_.]?(?P<minute>\d{2})(?: ?(?P<half>[AP]M))?"
_FORMS = [
    re.compile(
        rf"(?:[A-Z][a-z]+, )?(?P<month>[A-Z][a-z]{{2,8}})\.? (?P<day>\d{{1,2}}), (?P<year>\d{{4}}),? {_CLOCK}"
    ),
    re.compile(
        rf"(?:[A-Z][a-z]+, )?(?P<day>\d{{1,2}}) (?P<month>[A-Z][a-z]{{2,8}}) (?P<year>\d{{4}}),? {_CLOCK}"
    ),
]
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_HALF = 12
"""Hours of half a day."""


def english_time(text: str) -> datetime | None:
    """
    Return a time that is written in English.

    Parameters
    ----------
    text : str
        "Sep 24, 2026 926 PM", "Monday, 1 March 2027, 10:05 AM": with or without the day of
        the week, either order of day and month, a clock of 12 hours or 24.

    Returns
    -------
    datetime or None
        Naive, to the minute; None if it is no such time.
    """
    plain = " ".join(text.split())
    found = next((match for form in _FORMS if (match := form.fullmatch(plain))), None)
    if found is None:
        return None
    months = [one for one in _MONTHS if one.startswith(found["month"].lower())]
    hour = int(found["hour"])
    if found["half"]:
        if not 1 <= hour <= _HALF:
            return None
        hour = hour % _HALF + (_HALF if found["half"] == "PM" else 0)
    if len(months) != 1:
        return None
    month = _MONTHS.index(months[0]) + 1
    try:
        # Whoever reads it knows the zone.
        return datetime(int(found["year"]), month, int(found["day"]), hour, int(found["minute"]))  # noqa: DTZ001
    except ValueError:
        return None
