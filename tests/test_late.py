"""Late work: penalties are those of nbgrader and of its plug-ins, and a student may be given more time."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradebook_rows import gradebook_rows
from graded_submissions import ASSIGNMENT, IN_TIME, LATE, ROOT, Submission
from hypothesis import given
from hypothesis import strategies as st
from late_courses import (
    add_plugin,
    change,
    extensions,
    grant,
    make_late_course,
    penalties,
    penalty,
    set_due,
    store,
)

from autograder.course.configuration import read_config
from autograder.course.late import all_points, no_penalty, penalty_of
from autograder.course.settings import load_settings
from autograder.errors import ConfigError, CourseError
from autograder.gradebook import Gradebook
from autograder.gradebook.extensions import TABLE
from autograder.grading.storage import Store

if TYPE_CHECKING:
    from autograder.course.course import Course

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
    """Return a course with a due date."""
    return make_late_course(tmp_path)


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
        ("raise SystemExit(0)", "cannot tell what ana loses"),
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


@pytest.mark.parametrize(
    "name", ["no_such_module.SubMarks", "fractions.Fraction", "autograder.course.late.No"]
)
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
        "import sys; from autograder.course.course import Course;"
        "from autograder.course.late import course_penalty;"
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
