"""The command line: what it says, what it ends with, and that errors name what to do."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

from autograder.cli import FAILED, USAGE, main
from autograder.course.settings import help_texts
from autograder.grading.batch import NotGraded
from autograder.grading.run import Batch
from autograder.grading.summary import print_summary
from autograder.results import CellResult, NotebookResult, SubmissionResult
from autograder.submission.misplaced import Misplaced
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from click.testing import Result

    from autograder.course.course import Course

ASSIGNMENT = "multi_head_attention"


@pytest.fixture
def run(course: Course) -> Callable[..., Result]:
    """Run a command on the copy of the course."""

    def run(command: str, *args: str) -> Result:
        return CliRunner().invoke(main, [command, *args, "--course-dir", str(course.root)])

    return run


def test_a_mistyped_command_offers_the_nearest() -> None:
    """A typo costs one look."""
    result = CliRunner().invoke(main, ["grde"])

    assert result.exit_code == USAGE
    assert "Did you mean 'grade'?" in result.output


@pytest.mark.parametrize("command", ["release", "grade", "feedback", "report", "export"])
def test_an_unknown_assignment_offers_the_nearest(run: Callable[..., Result], command: str) -> None:
    """Every command that takes an assignment says so alike."""
    result = run(command, "multi_head_atention")

    assert result.exit_code == USAGE
    assert "Did you mean 'multi_head_attention'?" in result.output


@pytest.mark.parametrize("command", ["release", "grade", "feedback", "report", "export"])
def test_a_folder_that_is_no_course_is_told(tmp_path: Path, command: str) -> None:
    """It says what makes a course, and how to name one."""
    result = CliRunner().invoke(main, [command, "--course-dir", str(tmp_path)])

    assert result.exit_code == USAGE
    assert "nbgrader_config.py" in result.output
    assert "--course-dir" in result.output


def test_grading_without_submissions_says_where_they_belong(run: Callable[..., Result]) -> None:
    """The first thing a new user meets."""
    result = run("grade")

    assert result.exit_code == USAGE
    assert "submitted" in result.output


def test_an_unknown_student_offers_the_nearest(
    run: Callable[..., Result], hand_in: Callable[..., Path]
) -> None:
    """A typo in an id does not grade nobody in silence."""
    hand_in("anna")
    result = run("grade", "--student", "ana")

    assert result.exit_code == USAGE
    assert "Did you mean 'anna'?" in result.output


def test_a_stale_release_is_refused(
    run: Callable[..., Result], course: Course, hand_in: Callable[..., Path]
) -> None:
    """Grading by another notebook than the students have would be unfair."""
    hand_in("anna")
    path = course.source(ASSIGNMENT) / "exercise2_split_heads.ipynb"
    path.write_text(
        path.read_text(encoding="utf-8").replace("assert", "assert True and", 1), encoding="utf-8"
    )
    result = run("grade")

    assert result.exit_code == USAGE
    assert f"autograder release {ASSIGNMENT}" in result.output


@pytest.mark.parametrize("spoil", ["missing", "other schema", "no database"])
def test_an_unfit_gradebook_is_told(
    run: Callable[..., Result], course: Course, hand_in: Callable[..., Path], spoil: str
) -> None:
    """Nothing is created or changed in its place."""
    hand_in("anna")
    if spoil == "missing":
        course.gradebook.unlink()
    elif spoil == "other schema":
        with sqlite3.connect(course.gradebook) as connection:
            connection.execute("UPDATE alembic_version SET version_num = 'ffff'")
    else:
        course.gradebook.write_text("this is no database", encoding="utf-8")
    result = run("grade")

    assert result.exit_code in {FAILED, USAGE}
    assert "gradebook" in result.output
    assert result.exception is None or isinstance(result.exception, SystemExit)


def test_a_class_is_graded_and_one_broken_notebook_stops_nobody(
    run: Callable[..., Result], course: Course, hand_in: Callable[..., Path]
) -> None:
    """Grade, look at the results, then feedback, report and export of the same class."""
    hand_in("anna", "einsum")
    hand_in("zoe, jr", "scale_missing", timestamp="2026-03-02 18:00:00 UTC")
    (hand_in("broken") / "exercise3_forward.ipynb").write_text("{ not json", encoding="utf-8")
    hand_in("when", timestamp="last Friday, I think")
    result = run("grade", "--json")
    (batch,) = json.loads(result.stdout)

    assert result.exit_code == FAILED
    assert [one["student"] for one in batch["not_graded"]] == ["broken", "when"]
    assert "exercise3_forward.ipynb" in batch["not_graded"][0]["reason"]
    anna, broken, zoe = batch["results"]
    assert _score(anna) == 18
    assert _lost(zoe) == {"test_forward"}
    assert {check["misconception"] for check in _failed(zoe)} == {"scale_missing"}
    assert [book["status"] for book in broken["notebooks"]] == ["graded", "graded", "unreadable"]
    assert not course.autograded("when", ASSIGNMENT).exists()

    assert run("feedback").exit_code == 0
    assert (course.feedback("anna", ASSIGNMENT) / "index.html").is_file()
    assert run("report").exit_code == 0
    table = course.root / "grades.csv"
    assert run("export", ASSIGNMENT, "--to", str(table)).exit_code == 0
    with table.open(encoding="utf-8", newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"anna", "broken", "when", "zoe, jr"}
    assert rows["when"]["score"] == ""
    assert float(rows["anna"]["exercise3_forward.test_forward"]) == 6
    refused = run("export", ASSIGNMENT, "--to", str(table / "inside_a_file.csv"))
    assert refused.exit_code == FAILED
    assert "cannot be written" in refused.output


def test_a_students_texts_give_the_terminal_no_orders(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Names of folders and files are theirs to choose, and reasons repeat them; bytes may be no text."""
    orders = "\x1b]0;owned\x07\x1b[2J\x9b2J\n\u202e\udcff"
    cell = CellResult(grade_id="test_x", max_score=Decimal(2))
    book = NotebookResult(name="one", cells=(cell,))
    result = SubmissionResult(student=f"ana{orders}", assignment=ASSIGNMENT, notebooks=(book,))
    reason = f"broken{orders}: it is empty"
    batch = Batch(
        assignment=ASSIGNMENT,
        elapsed_s=1.0,
        results=(result,),
        not_graded=(NotGraded(f"bo{orders}", reason),),
        ignored={"zoe": (f"own{orders}",)},
        misplaced=(Misplaced(student="", where=f"at{orders}", what="lies there", remedy="Move it."),),
    )

    print_summary(course, batch)
    shown = capsys.readouterr().out

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\udcff]", shown)
    for words in ("ana�]0;owned", "not graded: bo�", "broken�", "ignored: zoe: own�", "it is empty", "at�"):
        assert words in shown


def test_other_letters_are_shown_as_they_are() -> None:
    """A class has names from everywhere; a family is one picture."""
    for name in ("Zoë Ångström", "李 小龍", "שרה", "नेहा", "👩‍👩‍👧", "❤️\u200d🔥", "می\u200cشوم", "a\u00a0b"):
        assert printable(name) == name


@pytest.mark.parametrize(
    "sign", "\xad\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u2060\u2064\u206a\ufeff\U000e0041"
)
def test_what_nobody_sees_is_shown(sign: str) -> None:
    """A name that looks like another one does not look so in the terminal, wherever it stands."""
    for text in (
        f"blind{sign}",
        f"{sign}blind",
        f"bl{sign}ind",
        f"bl{sign}{sign}ind",
        f"شر{sign}",
        f"{sign}שר",
    ):
        assert printable(text) == text.replace(sign, "\N{REPLACEMENT CHARACTER}")


def test_doctor_looks_at_the_course(run: Callable[..., Result]) -> None:
    """It finds nothing to mend in the course as it is handed out."""
    result = run("doctor", "--json")
    findings = json.loads(result.stdout)

    assert result.exit_code == 0, result.output
    assert {"python", "packages", "sandbox", "course", "gradebook", ASSIGNMENT} <= {
        one["name"] for one in findings
    }


def test_doctor_prints_the_settings_that_were_changed(run: Callable[..., Result], course: Course) -> None:
    """Who mends a course reads what is special about it; machines read everything."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("\nc.Autograder.memory_mib = 2048\n")

    printed = run("doctor").output.split("\n")
    told = [one["name"].strip() for one in json.loads(run("doctor", "--json").stdout)]

    assert [line for line in printed if "memory_mib" in line and "2048" in line]
    assert not [line for line in printed if "output_kib" in line]
    assert set(help_texts()) <= set(told)


def _cells(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [cell for book in result["notebooks"] for cell in book["cells"]]


def _failed(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [check for cell in _cells(result) for check in cell["checks"] if check["outcome"] != "passed"]


def _score(result: dict[str, Any]) -> float:
    return sum(
        float(check["points"])
        for cell in _cells(result)
        for check in cell["checks"]
        if check["outcome"] == "passed"
    )


def _lost(result: dict[str, Any]) -> set[str]:
    return {
        cell["grade_id"]
        for cell in _cells(result)
        if any(check["outcome"] != "passed" for check in cell["checks"])
    }
