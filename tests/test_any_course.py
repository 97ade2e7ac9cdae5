"""Any nbgrader course, graded to the end: nbgrader's own examples, odd layouts, files, and many cells."""

from __future__ import annotations

import csv
import shutil
import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from nbgrader_courses import (
    autograde_with_nbgrader,
    cell,
    hand_in,
    make_course,
    nbgrader_files,
    notebook,
    release_quickly,
    release_with_nbgrader,
)

from autograder.cli import main
from autograder.commands.exporting import Asked, export_grades
from autograder.course.late import all_points
from autograder.course.layout import Step
from autograder.gradebook import Gradebook
from autograder.grader.grader import Grader
from autograder.grading.storage import Store
from autograder.notebook import read_notebook, write_notebook
from autograder.publishing import publish_feedback, publish_report
from autograder.release import check_release

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.results import SubmissionResult

pytestmark = [
    pytest.mark.sandbox,
    # nbgrader's models warn under this version of SQLAlchemy.
    pytest.mark.filterwarnings("ignore"),
]


def grade(course: Course, assignment: str = "ps1") -> dict[str, SubmissionResult]:
    """Grade and store everything that was handed in."""
    settings, results = course.settings(), {}
    with (
        Grader(course, settings) as grader,
        Gradebook(course.db_url) as gradebook,
        Store(course, gradebook, settings) as store,
    ):
        for student in course.students(assignment):
            graded = grader.grade_submission(assignment, student)
            store.add(graded)
            results[student] = graded.result
    return results


def scores(result: SubmissionResult) -> dict[str, Decimal | None]:
    """Return the score of each graded cell, by notebook and grade_id."""
    return {
        f"{book.name}.{cell.grade_id}": cell.auto_score for book in result.notebooks for cell in book.cells
    }


def publish(course: Course, assignment: str = "ps1") -> tuple[dict[str, Path], Path, list[dict[str, str]]]:
    """Write feedback, report and grades; return the pages and the rows."""
    students = course.layout.students_in(Step.AUTOGRADED, assignment)
    pages = publish_feedback(course, assignment, students)
    with export_grades(course, assignment, Asked(format="csv")).path.open(
        encoding="utf-8", newline=""
    ) as file:
        rows = list(csv.DictReader(file))
    return pages, publish_report(course, assignment), rows


# ------------------------------------------------------ nbgrader's examples


def test_nbgraders_example_course_is_graded_as_nbgrader_graded_it(tmp_path: Path) -> None:
    """The course of `nbgrader quickstart`, and the submissions of its manual, which holds them graded too."""
    from nbgrader.utils import determine_grade, is_grade  # noqa: PLC0415 - it takes seconds

    guide = nbgrader_files().parents[2] / "docs/source/user_guide"
    course = make_course(tmp_path / "course", {}, "c.IncludeHeaderFooter.header = 'source/header.ipynb'")
    shutil.copytree(guide / "source", course.root / "source", dirs_exist_ok=True)
    shutil.rmtree(course.root / "source/ps1_autotest")
    shutil.copytree(guide / "submitted", course.root / "submitted")
    release_with_nbgrader(course)

    results = grade(course)

    compared = 0
    for path in (guide / "autograded").rglob("*.ipynb"):
        ours = scores(results[path.parent.parent.name])
        for one in _node(path).cells:
            if is_grade(one):
                theirs, _ = determine_grade(one)
                assert ours[f"{path.stem}.{one.metadata.nbgrader.grade_id}"] == theirs, one
                compared += 1
    assert compared == 16
    pages, report, rows = publish(course)
    assert [row["raw_score"] for row in rows] == ["1.5", "3"]
    assert rows[0]["timestamp"] == "2015-02-02 22:58:23.948203 UTC"
    assert (course.autograded("hacker", "ps1") / "jupyter.png").is_file()
    assert "correct_squares" in pages["bitdiddle"].read_text() + report.read_text()


def _node(path: Path) -> Any:
    import nbformat  # noqa: PLC0415 - it takes long

    return nbformat.read(path, 4)  # type: ignore[no-untyped-call]


def test_tests_that_nbgrader_wrote_itself_are_those_that_count(tmp_path: Path) -> None:
    """The source holds directives only; nbgrader's own tests say what the submissions beside it earn."""
    files = nbgrader_files()
    names = ("hidden", "hashed")
    books = {name: read_notebook(files / f"autotest-{name}.ipynb") for name in names}
    course = make_course(tmp_path / "course", books)
    shutil.copyfile(files / "autotests.yml", course.root / "autotests.yml")
    release_with_nbgrader(course)
    handed_in = {
        "foo": {name: f"autotest-{name}-unchanged" for name in names},
        "bar": {"hidden": "autotest-hidden-changed-wrong", "hashed": "autotest-hashed-changed"},
        "baz": {"hidden": "autotest-hidden-changed-right"},
    }
    for student, mine in handed_in.items():
        course.submitted(student, "ps1").mkdir(parents=True)
        for name, file in mine.items():
            shutil.copyfile(files / f"{file}.ipynb", course.submitted(student, "ps1") / f"{name}.ipynb")

    results = grade(course)

    points = {
        student: {book.name: book.auto_score for book in result.notebooks}
        for student, result in results.items()
    }
    assert points["foo"] == {"hidden": 0, "hashed": 0}
    assert points["bar"] == {"hidden": 0, "hashed": 1}
    assert points["baz"]["hidden"] == 1
    pages, _, _ = publish(course)
    assert "BEGIN HIDDEN TESTS" not in "".join(page.read_text() for page in pages.values())


# ------------------------------------------------------------------ layouts


@pytest.mark.slow
def test_a_course_with_another_layout_is_graded_by_the_commands(tmp_path: Path) -> None:
    """Every file is where nbgrader looks for it, and nbgrader finds the work graded."""
    settings = (
        "c.CourseDirectory.directory_structure = 'term/{student_id}/{nbgrader_step}/{assignment_id}'",
        "c.CourseDirectory.submitted_directory = 'handed in'",
        "c.CourseDirectory.autograded_directory = 'graded'",
        "c.CourseDirectory.feedback_directory = 'given back'",
        "c.CourseDirectory.db_url = 'sqlite:///term/book.db'",
        "c.CourseDirectory.student_id_exclude = 'eve'",
    )
    double = cell("solution", "double", "def double(x):\n    return 2 * x")
    book = notebook([double, cell("test", "test_double", "assert double(2) == 4", 1)])
    course = make_course(tmp_path / "course", {"p1": book}, *settings, source="term/source/ps1")
    release_with_nbgrader(course)
    for student in ("ana", "eve"):
        folder = hand_in(course, student, {"double": "def double(x):\n    return x + x"})
        (folder / "timestamp.txt").write_text("2027-01-31 12:00:00 UTC\n")

    for command in ("grade", "feedback", "report", "export", "extend"):
        done = CliRunner().invoke(main, [command, "ps1", "--course-dir", str(course.root)])
        assert done.exit_code == 0, done.output
    done = CliRunner().invoke(main, ["grade", "--student", "eve", "--course-dir", str(course.root)])
    assert "eve: is left out by CourseDirectory.student_id_exclude" in done.output

    term = course.root / "term"
    assert (term / "ana/graded/ps1/p1.ipynb").is_file()
    assert (term / "ana/given back/ps1/index.html").is_file()
    assert (term / "ana/given back/ps1/p1.html").is_file()
    assert not (term / "eve/graded").exists()
    assert "../term/ana/given%20back/ps1/index.html" in (course.root / "reports/ps1.html").read_text()
    assert sorted(path.name for path in course.root.iterdir() if not path.name.startswith(".")) == [
        "exports",
        "nbgrader_config.py",
        "reports",
        "term",
    ]
    assert _graded_for_nbgrader(course) == {"ana"}


@pytest.mark.slow
def test_nbgraders_own_command_follows_the_same_layout(tmp_path: Path) -> None:
    """With the kit's parts in it, and flags of its command line in place of the configuration's."""
    settings = (
        "from autograder.course.settings import configure_nbgrader",
        "configure_nbgrader(c)",
        "c.CourseDirectory.directory_structure = '{nbgrader_step}/{assignment_id}/{student_id}'",
        "c.CourseDirectory.submitted_directory = 'handed in'",
        "c.ClearHiddenTests.begin_test_delimeter = 'SECRET'",
        "c.ClearHiddenTests.end_test_delimeter = 'PUBLIC'",
        "c.LateSubmissionPlugin.penalty_method = 'zero'",
    )
    double = cell("solution", "double", "def double(x):\n    return 2 * x")
    test = "assert double(2) == 4\n# SECRET\nassert double(3) == 6\n# PUBLIC"
    books = {"p1": notebook([double, cell("test", "test_double", test, 1)])}
    course = make_course(tmp_path / "course", books, *settings)
    release_with_nbgrader(course)
    for student, answer in {"ana": "x + x", "ben": "x * x", "cem": "x + x"}.items():
        folder = hand_in(course, student, {"double": f"def double(x):\n    return {answer}"})
        (folder / "timestamp.txt").write_text("2027-02-01 00:30:00 UTC\n")
    due = "UPDATE assignment SET duedate = '2027-01-31 23:59:00.000000'"
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute(due)
    with Gradebook(course.db_url) as gradebook:
        gradebook.extensions("ps1").grant(["ana", "ben"], timedelta(hours=1), lambda: all_points)
    # As of the flag --db.
    book = course.gradebook.rename(tmp_path / "elsewhere.db")

    autograde_with_nbgrader(course, db_url=f"sqlite:///{book}")

    with Gradebook(f"sqlite:///{book}") as gradebook:
        ana, ben, cem = gradebook.scores("ps1")
    assert [one.raw_score for one in (ana, ben, cem)] == [1, 0, 1]
    assert [one.penalty for one in (ana, ben, cem)] == [0, 0, 1]
    assert (course.root / "autograded/ps1/ana/p1.ipynb").is_file()
    assert not course.gradebook.exists()


def _graded_for_nbgrader(course: Course) -> set[str]:
    """Return the students whose work formgrader shows as graded."""
    from nbgrader.api import Gradebook as Stock  # noqa: PLC0415 - it takes seconds
    from nbgrader.apps.api import NbGraderAPI  # noqa: PLC0415 - the same
    from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415 - the same

    config = course.config
    directory = CourseDirectory(config=config, root=str(course.root), db_url=course.db_url)
    with Stock(course.db_url, "") as gradebook:
        api = SimpleNamespace(coursedir=directory, gradebook=gradebook)
        api.get_submitted_timestamp = partial(NbGraderAPI.get_submitted_timestamp, api)
        found: set[str] = NbGraderAPI.get_autograded_students(api, "ps1")
    return found


# -------------------------------------------------------------------- files


def test_files_beside_the_notebooks_reach_the_students_code(tmp_path: Path) -> None:
    """Data and modules of the source, in any folder; not what the course ignores or leaves to students."""
    read = "from helpers import twice\n\ndef value():\n    return twice(int(open('data/one.txt').read()))"
    book = notebook(
        [
            cell("solution", "value", read),
            cell("test", "test_value", "assert value() == 42", 1),
            cell("test", "test_own", "assert open('mine.txt').read() == 'mine'", 1),
            cell("test", "test_key", "import os\nassert not os.path.exists('key.csv')", 1),
        ]
    )
    course = make_course(
        tmp_path / "course",
        {"p1": book},
        "c.CourseDirectory.ignore = ['*.csv', 'old']",
        "c.Autograde.exclude_overwriting = {'ps1': ['mine.txt']}",
    )
    source = course.source("ps1")
    for name, text in {
        "data/one.txt": "21",
        "helpers.py": "def twice(x):\n    return 2 * x",
        "mine.txt": "the course's",
        "key.csv": "answers",
        "old/x.txt": "x",
        "feedback/x.txt": "x",
    }.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text)
    release_quickly(course)
    folder = hand_in(course, "ana", {"value": read})
    (folder / "mine.txt").write_text("mine")
    (folder / "data").mkdir()
    (folder / "data/one.txt").write_text("0")

    (result,) = grade(course).values()

    assert result.auto_score == 3
    graded = course.autograded("ana", "ps1")
    files = sorted(path.relative_to(graded).as_posix() for path in graded.rglob("*") if path.is_file())
    assert files == ["data/one.txt", "feedback/x.txt", "helpers.py", "mine.txt", "p1.ipynb"]
    assert (graded / "data/one.txt").read_text() == "21"


# ------------------------------------------------- one name, many notebooks


def test_cells_of_one_name_in_several_notebooks_stay_apart(tmp_path: Path) -> None:
    """In results, gradebook, graded notebooks, pages and grades."""
    books = {
        f"part{number}": notebook(
            [
                cell("text", "", f"# Part {number}"),
                cell("solution", "f", f"def f():\n    return {number}"),
                cell("test", "test_a", f"assert f() == {number}", number),
                cell("answer", "why", "Because.", 1),
            ]
        )
        for number in (1, 2, 3)
    }
    course = make_course(tmp_path / "course", books)
    release_quickly(course)
    right = {f"part{number}.f": f"def f():\n    return {number}" for number in (1, 2, 3)}
    words = {f"part{number}.why": f"In the words of part {number}." for number in (1, 3)}
    hand_in(course, "ana", right | words)
    hand_in(course, "ben", right | words | {"part2.f": "def f():\n    return 0"})

    results = grade(course)

    assert [scores(results["ana"])[f"part{number}.test_a"] for number in (1, 2, 3)] == [1, 2, 3]
    assert [scores(results["ben"])[f"part{number}.test_a"] for number in (1, 2, 3)] == [1, 0, 3]
    assert scores(results["ben"])["part2.why"] == 0
    with Gradebook(course.db_url) as gradebook:
        ana, ben = gradebook.scores("ps1")
    assert {(one.notebook, one.grade_id): one.auto_score for one in ben.cells} == {
        tuple(name.split(".")): score for name, score in scores(results["ben"]).items()
    }
    assert [ana.raw_score, ben.raw_score] == [6, 4]
    pages, report, (first, second) = publish(course)
    page = pages["ben"].read_text()
    assert all(page.count(f'id="cell-{number}-test_a"') == 1 for number in (1, 2, 3))
    assert "In the words of part 1." in page
    assert [second[f"part{number}.test_a"] for number in (1, 2, 3)] == ["1", "0", "3"]
    assert (first["raw_score"], second["part2.why"]) == ("6", "0")
    assert all(f"part{number}" in report.read_text() for number in (1, 2, 3))
    for number in (1, 2, 3):
        mine = (course.feedback("ben", "ps1") / f"part{number}.html").read_text()
        assert ("part 1." in mine, "part 3." in mine) == (number == 1, number == 3)


# ----------------------------------------------------------------- 200 cells


def test_two_hundred_cells_are_graded_quickly(tmp_path: Path) -> None:
    """Fifty of them for points: nothing takes time that grows with their square."""
    cells = [cell("text", "", "# Many")]
    for number in range(50):
        cells += [
            cell("text", "", f"## Task {number}"),
            cell("solution", f"f{number}", f"def f{number}():\n    return {number}"),
            cell("readonly", f"r{number}", f"x{number} = {number}"),
            cell("test", f"t{number}", f"assert f{number}() == x{number}", 1),
        ]
    course = make_course(tmp_path / "course", {"p1": notebook(cells)})
    release_quickly(course)
    check_release(course, "ps1")
    right = {f"f{number}": f"def f{number}():\n    return {number}" for number in range(50)}
    hand_in(course, "ana", right | {"f7": "def f7():\n    return 0", "f49": "1 / 0"})
    folder = hand_in(course, "ben", right)
    mixed = read_notebook(folder / "p1.ipynb")
    mixed["cells"].reverse()
    for one in mixed["cells"][::3]:
        one["metadata"] = {}
    write_notebook(folder / "p1.ipynb", mixed)

    start_s = time.process_time()
    results = grade(course)
    taken_s = time.process_time() - start_s

    assert {name for name, score in scores(results["ana"]).items() if score != 1} == {"p1.t7", "p1.t49"}
    assert len(results["ben"].notebooks[0].cells) == 50
    assert taken_s < 6
    start_s = time.process_time()
    _, _, rows = publish(course)
    assert rows[0]["raw_score"] == "48"
    assert time.process_time() - start_s < 6
