"""The gradebook: the kit leaves the rows that nbgrader leaves, whole or not at all."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradebook_rows import gradebook_rows
from graded_submissions import ASSIGNMENT, COURSE, DUE, IN_TIME, LATE, ROOT, Submission
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from autograder.course.late import all_points
from autograder.errors import GradebookError
from autograder.gradebook import Entry, Gradebook, database
from autograder.results import NotebookResult, SubmissionResult

if TYPE_CHECKING:
    from datetime import datetime


@pytest.fixture
def seed(tmp_path: Path) -> Path:
    """Return a copy of the course's gradebook."""
    return Path(shutil.copyfile(ROOT / "gradebook.db", tmp_path / "gradebook.db"))


@pytest.fixture
def stock(tmp_path: Path) -> Path:
    """Return another copy, for nbgrader."""
    return Path(shutil.copyfile(ROOT / "gradebook.db", tmp_path / "stock.db"))


def change(path: Path, statement: str, *values: object) -> None:
    """Change a gradebook as another program would."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


GRADE_BY_HAND = """UPDATE grade SET manual_score = ?, needs_manual_grade = 0
    WHERE cell_id IN (SELECT id FROM base_cell WHERE name = ? AND type = 'GradeCell')"""


@pytest.mark.parametrize(
    "submission",
    [
        {"share": "1"},
        {"share": "0.5"},
        {"share": "0"},
        {"share": "0", "answered": False},
        {"missing": "exercise2_split_heads"},
        {"missing": "exercise3_forward", "answered": False},
    ],
    ids=str,
)
def test_the_rows_are_those_of_nbgrader(seed: Path, stock: Path, submission: dict[str, Any]) -> None:
    """Formgrader, feedback and export must see no difference; and nbgrader reads the same scores."""
    ana = Submission("ana", **submission)

    ana.store(seed, IN_TIME)
    ana.store_with_nbgrader(stock, IN_TIME)

    assert gradebook_rows(seed) == gradebook_rows(stock)


def test_a_second_grading_keeps_what_a_person_gave(seed: Path, stock: Path) -> None:
    """The person is asked to look again, and the score stays."""
    for path in (seed, stock):
        Submission("ana", "0").store(path, IN_TIME)
        change(path, GRADE_BY_HAND, 2.5, "explain_reshape_order")
        change(path, GRADE_BY_HAND, 1.0, "test_head_dim")

    Submission("ana", "1").store(seed, LATE)
    Submission("ana", "1").store_with_nbgrader(stock, LATE)

    rows = gradebook_rows(seed)
    assert rows == gradebook_rows(stock)
    assert ("ana", "explain_reshape_order", None, 2.5, None, 1) in rows["grade"]
    assert ("ana", "test_head_dim", 1.0, 1.0, None, 1) in rows["grade"]


def test_a_notebook_that_is_gone_the_second_time_is_zero(seed: Path, stock: Path) -> None:
    """A student who hands in again replaces everything."""
    for path in (seed, stock):
        Submission("ana").store(path, IN_TIME)
        change(path, GRADE_BY_HAND, 2.5, "explain_reshape_order")
    again = Submission("ana", missing="exercise2_split_heads")

    again.store(seed)
    again.store_with_nbgrader(stock)

    assert gradebook_rows(seed) == gradebook_rows(stock)


@pytest.mark.parametrize("late_penalty", ["none", "zero"])
@pytest.mark.parametrize("timestamp", [IN_TIME, DUE, LATE], ids=str)
@pytest.mark.parametrize("extension", ["", "1970-01-01 01:00:00.000000", "1970-01-03 00:00:00.000000"])
def test_late_work_loses_what_nbgrader_takes(
    seed: Path, stock: Path, timestamp: datetime, late_penalty: str, extension: str
) -> None:
    """Due dates, extensions and scores given by hand count as they do there."""
    ana = Submission("ana")
    for path in (seed, stock):
        change(path, "UPDATE assignment SET duedate = ?", DUE.isoformat(sep=" ") + ".000000")
        ana.store(path, IN_TIME)
        change(path, GRADE_BY_HAND, 2.5, "explain_reshape_order")
        change(path, "UPDATE submitted_assignment SET extension = ?", extension or None)

    ana.store(seed, timestamp, late_penalty)
    ana.store_with_nbgrader(stock, timestamp, late_penalty)

    assert gradebook_rows(seed) == gradebook_rows(stock)


@hypothesis_settings(deadline=None, max_examples=15)
@given(shares=st.lists(st.sampled_from(["0", "0.25", "1"]), min_size=1, max_size=3))
def test_storing_twice_is_storing_once(shares: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    """A batch that is run again changes nothing."""
    folder = tmp_path_factory.mktemp("twice")
    path = Path(shutil.copyfile(ROOT / "gradebook.db", folder / "gradebook.db"))
    for share in shares:
        Submission("ana", share).store(path, IN_TIME)
    before = gradebook_rows(path)

    Submission("ana", shares[-1]).store(path, IN_TIME)

    assert gradebook_rows(path) == before


def test_scores_are_read_as_they_were_stored(seed: Path) -> None:
    """Reports and exports show what the gradebook holds."""
    Submission("ana", "0.5").store(seed, LATE)
    with Gradebook(f"sqlite:///{seed}") as gradebook:
        gradebook.enroll(
            "ben", first_name="Ben", last_name="O'Neil", email="ben@uni.example", lms_user_id="7"
        )

    with Gradebook(f"sqlite:///{seed}") as gradebook:
        ana, ben = gradebook.scores(ASSIGNMENT)

    assert (ana.student, ana.submitted) == ("ana", True)
    assert (ana.raw_score, ana.max_score) == (Decimal(9), Decimal(21))
    assert (ana.timestamp, ana.seconds_late, ana.needs_manual_grade) == (LATE, 0, True)
    assert (ben.student, ben.submitted, ben.last_name, ben.lms_user_id) == ("ben", False, "O'Neil", "7")
    assert (ben.score, ben.max_score, ben.needs_manual_grade) == (Decimal(0), Decimal(21), False)
    order = [cell.grade_id for released in COURSE.released(ASSIGNMENT) for cell in released.graded]
    assert [cell.grade_id for cell in ana.cells] == [cell.grade_id for cell in ben.cells] == order


def test_extra_credit_and_manual_scores_count(seed: Path) -> None:
    """As in nbgrader: the manual score wins, extra credit is added."""
    Submission("ana", "0").store(seed)
    change(seed, GRADE_BY_HAND, 1.5, "test_split_heads")
    change(seed, "UPDATE grade SET extra_credit = 0.25")

    with Gradebook(f"sqlite:///{seed}") as gradebook:
        (ana,) = gradebook.scores(ASSIGNMENT)

    # 9 test cells with extra credit; the answer by hand has no score to add it to.
    assert ana.raw_score == Decimal("1.5") + 9 * Decimal("0.25")


def test_enrolling_again_changes_only_what_is_given(seed: Path) -> None:
    """A roster without e-mail addresses deletes none."""
    with Gradebook(f"sqlite:///{seed}") as gradebook:
        gradebook.enroll("ana", email="ana@uni.example")
        gradebook.enroll("ana", last_name="Sol")
        gradebook.enroll("ana")
        (ana,) = gradebook.scores(ASSIGNMENT)

    assert (ana.last_name, ana.email) == ("Sol", "ana@uni.example")


def test_a_failure_in_the_middle_stores_nothing(seed: Path) -> None:
    """A submission is stored whole or not at all."""
    before = gradebook_rows(seed)
    ana = Submission("ana")
    *first, last = ana.result.notebooks
    broken = NotebookResult(name=last.name, cells=last.cells[1:])
    ana.result = SubmissionResult(assignment=ASSIGNMENT, student="ana", notebooks=(*first, broken))

    with pytest.raises(GradebookError, match="other graded cells"):
        ana.store(seed)

    assert gradebook_rows(seed) == before


def test_another_release_is_refused(seed: Path) -> None:
    """Scores of other points or notebooks are never mixed."""
    change(seed, "UPDATE grade_cells SET max_score = 5 WHERE max_score = 6")
    with pytest.raises(GradebookError, match=r"5\.0 points, not 6, for 'test_forward'"):
        Submission("ana").store(seed)

    change(seed, "UPDATE notebook SET name = 'other' WHERE name = 'exercise3_forward'")
    with pytest.raises(GradebookError, match="no notebook 'exercise3_forward'"):
        Submission("ana").store(seed)


def test_an_unknown_assignment_offers_the_nearest(seed: Path) -> None:
    """The gradebook's own names are offered."""
    with (
        Gradebook(f"sqlite:///{seed}") as gradebook,
        pytest.raises(GradebookError, match="Did you mean 'multi_head_attention'"),
    ):
        gradebook.scores("multihead_attention")


def test_what_is_no_gradebook_is_told(tmp_path: Path, seed: Path) -> None:
    """Each case says what to do."""
    with pytest.raises(GradebookError, match=r"there is no gradebook. Run `autograder release`"):
        Gradebook(f"sqlite:///{tmp_path / 'absent.db'}")
    assert not (tmp_path / "absent.db").exists()
    (tmp_path / "text.db").write_text("this is no database, but long enough to be looked at as one" * 20)
    with pytest.raises(GradebookError, match="cannot be used"):
        Gradebook(f"sqlite:///{tmp_path / 'text.db'}")
    (tmp_path / "empty.db").touch()
    with pytest.raises(GradebookError, match="no table assignment"):
        Gradebook(f"sqlite:///{tmp_path / 'empty.db'}")
    with pytest.raises(GradebookError, match="no usable address"):
        Gradebook("no address")
    change(seed, "UPDATE alembic_version SET version_num = '167914646830'")
    with pytest.raises(GradebookError, match=r"another version of nbgrader .*nbgrader db upgrade"):
        Gradebook(f"sqlite:///{seed}")


def test_a_gradebook_without_a_version_is_used(seed: Path) -> None:
    """Old set-ups without the alembic program on the PATH left such ones behind."""
    change(seed, "DELETE FROM alembic_version")
    Submission("ana").store(seed)
    change(seed, "DROP TABLE alembic_version")

    Submission("ana").store(seed)


def test_a_locked_gradebook_is_told(seed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waiting for ever would look like grading."""
    monkeypatch.setattr(database, "BUSY_S", 0.1)
    ana = Submission("ana")
    with closing(sqlite3.connect(seed, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")

        with pytest.raises(GradebookError, match="is locked"):
            ana.store(seed)


def test_the_cost_of_a_submission_does_not_grow_with_the_class(seed: Path) -> None:
    """Every look-up has an index."""
    Submission("ana").store(seed)

    with closing(sqlite3.connect(seed)) as connection:
        for query in (
            "SELECT * FROM grade WHERE notebook_id = 'x'",
            "SELECT * FROM comment WHERE notebook_id = 'x'",
            "SELECT * FROM submitted_notebook WHERE assignment_id = 'x'",
            "SELECT * FROM submitted_assignment WHERE assignment_id = 'x' AND student_id = 'y'",
            "UPDATE grade SET auto_score = 1 WHERE notebook_id = 'x' AND cell_id = 'y'",
        ):
            plan = connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall()
            assert all("USING INDEX" in row[3] or "USING COVERING INDEX" in row[3] for row in plan), query


def entry(student: str, share: str, timestamp: datetime | None = None, **details: Any) -> Entry:
    """Return a submission to store with others."""
    submission = Submission(student, share, **details)
    return Entry(submission.result, timestamp, submission.unanswered)


def test_many_at_once_are_as_one_by_one(seed: Path, tmp_path: Path) -> None:
    """New ones and known ones, late and in time, whole and with a notebook missing."""
    single = Path(shutil.copyfile(seed, tmp_path / "single.db"))
    entries = [
        entry("ana", "1", LATE),
        entry("ben", "0.5", IN_TIME, missing="exercise2_split_heads"),
        entry("cem", "0", answered=False),
        entry("dana", "0.25", LATE, missing="exercise3_forward"),
    ]
    for path in (seed, single):
        change(path, "UPDATE assignment SET duedate = ?", DUE.isoformat(sep=" ") + ".000000")
        Submission("ana", "0").store(path, IN_TIME)
        Submission("cem", "1").store(path, LATE)
        change(path, GRADE_BY_HAND, 2.5, "explain_reshape_order")

    with Gradebook(f"sqlite:///{seed}") as gradebook:
        gradebook.store_many(entries, late_penalty=all_points)
    with Gradebook(f"sqlite:///{single}") as gradebook:
        for one in entries:
            gradebook.store(
                one.result, timestamp=one.timestamp, unanswered=one.unanswered, late_penalty=all_points
            )

    assert gradebook_rows(seed) == gradebook_rows(single)


def test_many_at_once_are_stored_together_or_not_at_all(seed: Path) -> None:
    """A failure of one leaves the gradebook as it was."""
    before = gradebook_rows(seed)
    good, bad = entry("ana", "1"), entry("ben", "1")
    unknown = NotebookResult(name="exercise9", cells=())
    result = SubmissionResult(assignment=ASSIGNMENT, student="ben", notebooks=(unknown,))

    with Gradebook(f"sqlite:///{seed}") as gradebook:
        with pytest.raises(GradebookError, match="no notebook 'exercise9'"):
            gradebook.store_many([good, Entry(result)])
        assert gradebook_rows(seed) == before

        gradebook.store_many([good, bad])
        assert len(gradebook.scores(ASSIGNMENT)) == 2


def test_a_class_larger_than_a_statement_may_be(seed: Path) -> None:
    """Databases limit the values in one statement; a class may be larger."""
    one = Submission("ana", "0.5")
    many = [
        Entry(
            SubmissionResult(assignment=ASSIGNMENT, student=f"s{number:04}", notebooks=one.result.notebooks)
        )
        for number in range(600)
    ]

    with Gradebook(f"sqlite:///{seed}") as gradebook:
        gradebook.store_many(many)
        gradebook.store_many(many)
        scores = gradebook.scores(ASSIGNMENT)

    assert {score.raw_score for score in scores} == {Decimal(9)}
    assert len(scores) == 600


@pytest.mark.parametrize("address", ["postgresql+nothing://me:s3cret@host/db", "me:s3cret@host", "://s3cret"])
def test_a_password_is_not_repeated(address: str) -> None:
    """An address that cannot be used is told without what is in it."""
    with pytest.raises(GradebookError) as caught:
        Gradebook(address)

    assert "s3cret" not in str(caught.value)
