"""The command `extend`: it grants, lists and takes back more time, and guesses nothing."""

from __future__ import annotations

import json
import warnings
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from graded_submissions import ASSIGNMENT, DUE, LATE
from hypothesis import given
from hypothesis import strategies as st
from late_courses import extensions, make_late_course, set_due, store

from autograder.cli import USAGE, main
from autograder.commands.extending import in_words
from autograder.course.late import no_penalty
from autograder.course.timestamps import parse_time, read_time

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.course.course import Course


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with a due date."""
    return make_late_course(tmp_path)


@pytest.fixture
def run(course: Course) -> Callable[..., tuple[int, str]]:
    """Run `autograder extend` on the course; return its exit code and what it says."""

    def run(*args: str) -> tuple[int, str]:
        done = CliRunner().invoke(main, ["extend", *args, "--course-dir", str(course.root)])
        return done.exit_code, done.output

    return run


def test_the_command_grants_lists_and_takes_back(course: Course, run: Callable[..., tuple[int, str]]) -> None:
    """DUE is the third of the month, noon."""
    store(course, "ana", LATE, no_penalty)
    due = f"{DUE:%Y-%m-%d %H:%M} UTC"
    until = f"{DUE + timedelta(days=1, hours=12):%Y-%m-%d %H:%M} UTC"

    assert run(ASSIGNMENT) == (0, f"{ASSIGNMENT}: due {due}; nobody has an extension\n")
    code, said = run(ASSIGNMENT, "--student", "ana", "--days", "1", "--hours", "12")
    assert (code, said) == (0, f"{ASSIGNMENT}: due {due}\n  ana  1 day 12 hours, until {until}\n")
    assert run(ASSIGNMENT) == (code, said)
    code, said = run(ASSIGNMENT, "--student", "ana", "--until", f"{DUE + timedelta(hours=1):%Y-%m-%d %H:%M}")
    assert "ana  1 hour, until" in said
    assert "handed in 30 minutes late" in said
    assert run(ASSIGNMENT, "--student", "ana", "--none")[1].endswith(
        "ana  no extension, handed in 1 hour 30 minutes late\n"
    )
    assert extensions(course) == {}


def test_the_command_speaks_json(course: Course, run: Callable[..., tuple[int, str]]) -> None:
    """Seconds and UTC, for machines."""
    store(course, "ana", LATE, no_penalty)
    run(ASSIGNMENT, "--student", "ana", "--minutes", "30")

    code, said = run(ASSIGNMENT, "--json")

    assert code == 0
    assert json.loads(said) == [
        {
            "assignment": ASSIGNMENT,
            "due": f"{DUE:%Y-%m-%d %H:%M} UTC",
            "extensions": [
                {
                    "student": "ana",
                    "extension_s": 1800.0,
                    "until": f"{DUE + timedelta(minutes=30):%Y-%m-%d %H:%M} UTC",
                    "submitted": True,
                    "timestamp": f"{LATE:%Y-%m-%d %H:%M} UTC",
                    "seconds_late": 3600.0,
                }
            ],
        }
    ]


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["--days", "1"], "it is not clear who is to get how much"),
        (["--student", "ana", "--days", "1", "--none"], "it is not clear"),
        (["--student", "ana", "--until", "soon"], "there is no time 'soon'"),
        (["--student", "ana", "--until", "2027-02-01"], "there is no time '2027-02-01'"),
        (["--student", "ana", "--until", "2000-01-01 00:00 UTC"], "is none"),
        (["--student", "ana", "--days", "1e9"], "that is too long"),
        (["--student", "ana", "--days", "1e300"], "that is too long"),
        (["--student", "ana", "--days", "nan"], "is none"),
        (["--student", "anna", "--days", "1"], "Did you mean 'ana'"),
        (["--student", "../ana", "--days", "1"], "cannot be the name of a folder"),
    ],
)
def test_what_is_not_clear_is_refused(
    course: Course, run: Callable[..., tuple[int, str]], args: list[str], told: str
) -> None:
    """It names what is missing, and changes nothing."""
    store(course, "ana", LATE, no_penalty)

    code, said = run(ASSIGNMENT, *args)

    assert code == USAGE
    assert told in said
    assert extensions(course) == {}


def test_until_needs_a_due_date(course: Course, run: Callable[..., tuple[int, str]]) -> None:
    """What is kept is a time after it."""
    set_due(course.gradebook, None)

    code, said = run(ASSIGNMENT, "--student", "ana", "--until", "2027-02-01 12:00")

    assert code == USAGE
    assert "nbgrader db assignment add NAME --duedate" in said


def test_time_without_a_due_date_is_kept_and_told(
    course: Course, run: Callable[..., tuple[int, str]]
) -> None:
    """Whoever gives it should know that it does nothing yet, and how it will."""
    set_due(course.gradebook, None)
    store(course, "ana", LATE, no_penalty)

    code, said = run(ASSIGNMENT, "--student", "ana", "--days", "2")

    assert (code, said) == run(ASSIGNMENT)
    assert code == 0
    assert "ana  2 days\n" in said
    assert f"nbgrader db assignment add {ASSIGNMENT} --duedate" in said
    assert "no effect" not in run(ASSIGNMENT, "--student", "ana", "--none")[1]


def test_without_a_roster_any_student_may_be_given_time(
    course: Course, run: Callable[..., tuple[int, str]]
) -> None:
    """Nobody is known before the first submission; and who has handed in is known without a roster."""
    assert run(ASSIGNMENT, "--student", "ana", "--days", "2")[0] == 0
    assert run(ASSIGNMENT, "--student", "ben", "--days", "2")[0] == USAGE
    course.submitted("ben", ASSIGNMENT).mkdir(parents=True)

    code, said = run(ASSIGNMENT, "--student", "ben", "--student", "ana", "--days", "3")

    assert (code, said.count("3 days, until"), said.count("nothing graded yet")) == (0, 2, 2)


@given(seconds=st.integers(-(10**6), 10**6))
def test_a_time_in_words_is_that_time(seconds: int) -> None:
    """Read back unit by unit."""
    sizes = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}

    words = in_words(timedelta(seconds=seconds))

    parts = words.lstrip("-").split()
    total = (
        sum(int(count) * sizes[unit.rstrip("s")] for count, unit in zip(parts[::2], parts[1::2], strict=True))
        if words != "no time"
        else 0
    )
    assert total * (-1 if words.startswith("-") else 1) == seconds


@pytest.mark.parametrize(
    "words", ["2027-01-31 23:59 UTC", "2027-01-31T23:59Z", "2027-01-31 23:59:00", "2027-01-31 23:59 Etc/UTC"]
)
def test_a_persons_time_is_read_as_nbgrader_reads_it(words: str) -> None:
    """Where nothing has to be guessed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert read_time(words) == parse_time(words)


@pytest.mark.parametrize(
    "words",
    [
        "2027-01-31",
        "23:59",
        "31.01.2027 23:59",
        "2027-01-31 23:59 Mars/Phobos",
        "2027-01-31 23:59 ../zone",
        "2027-13-31 23:59",
        "9" * 200,
    ],
)
def test_a_persons_time_is_never_guessed(words: str) -> None:
    """A deadline that is off by a day, or by a zone, is a wrong grade."""
    with pytest.raises((ValueError, ArithmeticError)):
        read_time(words)
