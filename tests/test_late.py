"""Late work: penalties are those of nbgrader and of its plug-ins, and a student may be given more time."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import warnings
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from gradebook_rows import gradebook_rows
from graded_submissions import ASSIGNMENT, DUE, IN_TIME, LATE, ROOT, Submission
from hypothesis import given
from hypothesis import strategies as st

from autograder.cli import USAGE, main
from autograder.configuration import read_config
from autograder.course import Course
from autograder.errors import ConfigError, CourseError
from autograder.extending import in_words
from autograder.gradebook import Gradebook
from autograder.gradebook.extensions import TABLE
from autograder.late import all_points, course_penalty, no_penalty, penalty_of
from autograder.settings import load_settings
from autograder.storage import Store
from autograder.timestamps import parse_time, read_time

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from autograder.late import Penalty

PLUGIN = """
from nbgrader.plugins import BasePlugin
from traitlets import Float


class SubMarks(BasePlugin):
    per_hour = Float(1.0).tag(config=True)

    def late_submission_penalty(self, student_id, score, total_seconds_late):
        {body}
"""
ANSWERS = """return {
            "hour": round(total_seconds_late / 3600 * self.per_hour, 2),
            "share": score * 0.25,
            "nothing": None,
            "less": -3.0,
            "more": 1e6,
            "integer": 1,
        }[student_id]"""
"""What a plug-in may answer, by student."""


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with a due date and a gradebook, and no notebooks on disk."""
    shutil.copyfile(ROOT / "gradebook.db", tmp_path / "gradebook.db")
    (tmp_path / "source").mkdir()
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    for part in ("source", "release"):
        shutil.copytree(ROOT / part, tmp_path / part, dirs_exist_ok=True)
    course = Course(root=tmp_path)
    set_due(course.gradebook, DUE)
    return course


def set_due(path: Path, due: datetime | None) -> None:
    """Set the due date as nbgrader stores it."""
    stored = None if due is None else due.isoformat(sep=" ") + ".000000"
    change(path, "UPDATE assignment SET duedate = ?", stored)


def change(path: Path, statement: str, *values: object) -> None:
    """Change a gradebook as another program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def add_plugin(course: Course, body: str, *lines: str) -> None:
    """Give a course a late-penalty plug-in of its own; imported modules stay, so each has another name."""
    name = f"late_{abs(hash((course.root, body)))}"
    (course.root / f"{name}.py").write_text(PLUGIN.format(body=body))
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("\n".join((f"c.AssignLatePenalties.plugin_class = '{name}.SubMarks'", *lines, "")))


def penalty(course: Course) -> Penalty:
    """Return what late work loses in a course."""
    return course_penalty(course, load_settings(course.root))


def store(course: Course, student: str, timestamp: datetime | None, rule: Penalty, **details: Any) -> None:
    """Store a graded submission."""
    one = Submission(student, **details)
    with Gradebook(course.db_url) as gradebook:
        gradebook.store(one.result, timestamp=timestamp, unanswered=one.unanswered, late_penalty=rule)


def penalties(course: Course) -> dict[str, float]:
    """Return what each student loses."""
    with Gradebook(course.db_url) as gradebook:
        return {score.student: float(score.penalty) for score in gradebook.scores(ASSIGNMENT)}


# ----------------------------------------------------------------- plug-ins


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_plug_in_takes_what_nbgrader_would_let_it_take(course: Course, tmp_path: Path) -> None:
    """It is asked for each notebook, with its traits set, and bounded by nothing and everything."""
    from nbgrader.preprocessors import AssignLatePenalties  # noqa: PLC0415 - it takes seconds

    add_plugin(course, ANSWERS, "c.SubMarks.per_hour = 0.75")
    stock, rule = Path(shutil.copyfile(course.gradebook, tmp_path / "stock.db")), penalty(course)

    for student in ("hour", "share", "nothing", "less", "more", "integer"):
        store(course, student, LATE, rule)
        ours = Submission(student)
        ours.store_with_nbgrader(stock, LATE)
        for name in ours.notebooks:
            names = {"notebook": name, "assignment": ASSIGNMENT, "student": student}
            step = AssignLatePenalties(config=read_config(course.root))
            step.preprocess(_empty(), {"nbgrader": names | {"db_url": f"sqlite:///{stock}"}})

    assert gradebook_rows(course.gradebook) == gradebook_rows(stock)
    assert penalties(course)["hour"] == pytest.approx(3 * 1.12)


def _empty() -> Any:
    from nbformat.v4 import new_notebook  # noqa: PLC0415 - it takes seconds

    return new_notebook()  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("raise ValueError('no\\nsuch day')", r"cannot tell what ana loses \(ValueError: no such day\)"),
        ("return 'half'", "answers 'half' for ana, which is no number"),
        ("return '2'", "answers '2' for ana, which is no number"),
        ("return float('nan')", "answers 'nan' for ana, which is no number"),
        ("return [1]", r"answers '\[1\]' for ana"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_a_plug_in_that_fails_is_told_and_nothing_is_stored(course: Course, body: str, told: str) -> None:
    """A penalty that nobody knows is no penalty of 0."""
    add_plugin(course, body)
    before = gradebook_rows(course.gradebook)

    with pytest.raises(CourseError, match=told) as error:
        store(course, "ana", LATE, penalty(course))

    assert "nothing was stored" in error.value.remedy
    assert gradebook_rows(course.gradebook) == before


@pytest.mark.parametrize("name", ["no_such_module.SubMarks", "fractions.Fraction", "autograder.late.Nothing"])
@pytest.mark.filterwarnings("ignore")
def test_a_plug_in_that_cannot_be_used_is_told_before_anything_is_graded(course: Course, name: str) -> None:
    """A batch of a thousand must not find out at its end."""
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write(f"c.AssignLatePenalties.plugin_class = {name!r}\n")
    settings = load_settings(course.root)

    with (
        Gradebook(course.db_url) as gradebook,
        pytest.raises(ConfigError, match=f"{name!r} cannot be used"),
        Store(course, gradebook, settings),
    ):
        pytest.fail("grading would begin here")


def test_nbgraders_own_methods_do_without_nbgrader() -> None:
    """It takes seconds to import, and most courses need none of it."""
    code = (
        "import sys; from autograder.course import Course; from autograder.late import course_penalty;"
        "from pathlib import Path; course = Course(root=Path.cwd());"
        "course_penalty(course, course.settings()); assert 'nbgrader' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@given(
    points=st.none() | st.floats(allow_nan=False),
    score=st.floats(-10, 10),
    late_s=st.sampled_from([0.0, 0.5, 1e9]),
)
def test_a_penalty_lies_between_nothing_and_all(points: float | None, score: float, late_s: float) -> None:
    """Whatever a plug-in says; and who is in time loses nothing."""

    def rule(_student: str, _score: float, seconds_late: float, /) -> float | None:
        assert seconds_late > 0
        return points

    lost = penalty_of(rule, "ana", score, late_s)

    if points is None or late_s == 0:
        assert lost is None
    else:
        assert lost is not None
        assert 0 <= lost <= max(score, 0)
        assert lost == points or points < 0 or points > max(score, 0)


def test_a_notebook_that_is_gone_loses_no_points_of_the_others(course: Course) -> None:
    """The penalty of an earlier hand-in must not outlive its notebook."""
    store(course, "ana", LATE, lambda *_: 2.0)
    assert penalties(course) == {"ana": 6.0}

    store(course, "ana", LATE, lambda *_: 2.0, missing="exercise2_split_heads")

    assert penalties(course) == {"ana": 4.0}


# --------------------------------------------------------------- extensions


def extensions(course: Course) -> dict[str, timedelta | None]:
    """Return what each student was given."""
    with Gradebook(course.db_url) as gradebook:
        return {name: one.more for name, one in gradebook.extensions(ASSIGNMENT).all().items()}


def grant(course: Course, student: str, more: timedelta | None, rule: Penalty = no_penalty) -> None:
    """Give a student more time."""
    with Gradebook(course.db_url) as gradebook:
        gradebook.extensions(ASSIGNMENT).grant([student], more, lambda: rule)


@pytest.mark.filterwarnings("ignore")
def test_an_extension_is_nbgraders_own(course: Course) -> None:
    """Whoever grants it, both see the same one, and it does not add to the one before."""
    from nbgrader.api import Gradebook as Stock  # noqa: PLC0415 - it takes seconds

    store(course, "ana", LATE, no_penalty)
    for more in (timedelta(days=2), timedelta(minutes=30.5), timedelta(days=400)):
        grant(course, "ana", more)

        with Stock(course.db_url, "") as stock:
            assert stock.find_submission(ASSIGNMENT, "ana").extension == more
    with Stock(course.db_url, "") as stock:
        stock.grant_extension(ASSIGNMENT, "ana", hours=5)
    assert extensions(course) == {"ana": timedelta(hours=5)}

    grant(course, "ana", None)

    assert extensions(course) == {}
    with Stock(course.db_url, "") as stock:
        assert stock.find_submission(ASSIGNMENT, "ana").extension is None


def test_an_extension_waits_for_the_first_submission(course: Course) -> None:
    """It is granted before the work comes in; then it is nbgrader's."""
    grant(course, "ana", timedelta(hours=1))
    grant(course, "ben", timedelta(hours=1))
    grant(course, "ana", timedelta(hours=2))
    grant(course, "ben", None)
    assert extensions(course) == {"ana": timedelta(hours=2)}

    for student in ("ana", "ben"):
        store(course, student, LATE, all_points)

    assert penalties(course) == {"ana": 0.0, "ben": 9.0}
    stored = {row[1]: row[3] for row in gradebook_rows(course.gradebook)["submitted_assignment"]}
    assert stored == {"ana": "1970-01-01 02:00:00.000000", "ben": None}
    with closing(sqlite3.connect(course.gradebook)) as connection:
        assert connection.execute(f"SELECT * FROM {TABLE.name}").fetchall() == []  # noqa: S608 - our own name


def test_an_extension_waits_for_a_submission_that_nbgrader_stores(course: Course) -> None:
    """The kit puts it there at the next grading; one that somebody else has granted since then stays."""
    grant(course, "ana", timedelta(days=3))
    grant(course, "ben", timedelta(days=3))
    for student in ("ana", "ben"):
        Submission(student).store_with_nbgrader(course.gradebook, LATE)
    hours = "1970-01-01 05:00:00.000000"
    change(course.gradebook, "UPDATE submitted_assignment SET extension = ? WHERE student_id = 'ben'", hours)

    for student in ("ana", "ben"):
        store(course, student, LATE, no_penalty)

    assert extensions(course) == {"ana": timedelta(days=3), "ben": timedelta(hours=5)}


def test_penalties_follow_an_extension_at_once(course: Course) -> None:
    """LATE is an hour and a half after the due date."""
    store(course, "ana", LATE, all_points)
    assert penalties(course) == {"ana": 9.0}

    grant(course, "ana", timedelta(hours=1), all_points)
    assert penalties(course) == {"ana": 9.0}
    grant(course, "ana", timedelta(hours=2), all_points)
    assert penalties(course) == {"ana": 0.0}
    grant(course, "ana", None, all_points)
    assert penalties(course) == {"ana": 9.0}


@pytest.mark.filterwarnings("ignore")
def test_an_extension_whose_penalty_fails_is_not_granted(course: Course) -> None:
    """Both or neither."""
    store(course, "ana", LATE, all_points)
    add_plugin(course, "raise ValueError('broken')")

    with pytest.raises(CourseError, match="broken"):
        grant(course, "ana", timedelta(minutes=1), penalty(course))

    assert (extensions(course), penalties(course)) == ({}, {"ana": 9.0})


def test_penalties_follow_a_due_date_and_a_score_by_hand(course: Course) -> None:
    """Grading again asks for them, whether there is anything to grade or not."""
    store(course, "ana", LATE, all_points)
    store(course, "ben", IN_TIME, all_points)

    def update() -> dict[str, float]:
        with Gradebook(course.db_url) as gradebook:
            gradebook.extensions(ASSIGNMENT).update_penalties(lambda: all_points)
        return penalties(course)

    change(course.gradebook, "UPDATE grade SET manual_score = 2.5 WHERE auto_score IS NULL")
    assert update() == {"ana": 11.5, "ben": 0.0}
    set_due(course.gradebook, LATE)
    assert update() == {"ana": 0.0, "ben": 0.0}
    set_due(course.gradebook, IN_TIME - timedelta(days=1))
    assert update() == {"ana": 11.5, "ben": 11.5}
    set_due(course.gradebook, None)
    assert update() == {"ana": 0.0, "ben": 0.0}


def test_nobody_late_asks_no_plug_in_and_changes_nothing(course: Course) -> None:
    """A run that has nothing to do does nothing."""
    store(course, "ana", IN_TIME, no_penalty)
    before = course.gradebook.read_bytes()

    with Gradebook(course.db_url) as gradebook:
        gradebook.extensions(ASSIGNMENT).update_penalties(lambda: pytest.fail("nobody is late"))

    assert course.gradebook.read_bytes() == before


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_nbgrader_lives_with_the_table_of_the_kit(course: Course) -> None:
    """Its upgrade and its own start find a gradebook as they expect it."""
    from nbgrader import dbutil  # noqa: PLC0415 - it takes seconds
    from nbgrader.api import Gradebook as Stock  # noqa: PLC0415 - it takes seconds

    grant(course, "ana", timedelta(hours=2))
    before = gradebook_rows(course.gradebook)

    # What `nbgrader db upgrade` starts.
    with dbutil._temp_alembic_ini(course.db_url) as ini:
        subprocess.run([sys.executable, "-m", "alembic", "-q", "-c", ini, "upgrade", "head"], check=True)
    with Stock(course.db_url, "") as stock:
        stock.update_or_create_student("ben")

    assert extensions(course) == {"ana": timedelta(hours=2)}
    change(course.gradebook, "DELETE FROM student")
    assert gradebook_rows(course.gradebook) == before


# -------------------------------------------------------------- the command


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

    code, said = run("--json")

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
