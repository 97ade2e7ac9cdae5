"""Releases that nbgrader built, by whatever configuration: what is graded is what nbgrader would grade."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from nbgrader_courses import PYTHON, cell, make_course, nbgrader_files, notebook, release_with_nbgrader

from autograder.cli import USAGE, main
from autograder.course.course import Course
from autograder.errors import CourseError, NotebookError, ReleaseError
from autograder.gradebook import Gradebook
from autograder.notebook import read_notebook, write_notebook
from autograder.release import build_release, check_release

if TYPE_CHECKING:
    from pathlib import Path

DOUBLE = {
    "p1": notebook(
        [
            cell("text", "", "# Doubling"),
            cell("readonly", "given", "import math"),
            cell(
                "solution",
                "double",
                "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION",
            ),
            cell(
                "test",
                "test_double",
                "assert double(1) == 2\n### BEGIN HIDDEN TESTS\nassert double(3) == 6\n### END HIDDEN TESTS",
                2,
            ),
            cell("answer", "why", "Because 2 is two.", 3),
            cell("task", "draw", "Draw.\n\n== BEGIN MARK SCHEME\nA line.\n== END MARK SCHEME", 1),
        ]
    )
}
OWN_MARKS = (
    "c.ClearSolutions.begin_solution_delimeter = 'ANSWER KEY'",
    "c.ClearSolutions.end_solution_delimeter = 'END KEY'",
    "c.ClearSolutions.code_stub = {'python': '# to do\\nraise NotImplementedError'}",
    "c.ClearSolutions.text_stub = 'Your words'",
    "c.ClearHiddenTests.begin_test_delimeter = 'SECRET'",
    "c.ClearHiddenTests.end_test_delimeter = 'PUBLIC'",
    "c.ClearMarkScheme.begin_mark_scheme_delimeter = 'FOR GRADERS'",
    "c.ClearMarkScheme.end_mark_scheme_delimeter = 'BACK TO ALL'",
)
OWN = {
    "p1": notebook(
        [
            cell("solution", "double", "def double(x):\n    # ANSWER KEY\n    return 2 * x\n    # END KEY"),
            cell(
                "test", "test_double", "assert double(1) == 2\n# SECRET\nassert double(3) == 6\n# PUBLIC", 2
            ),
            cell("answer", "why", "Because.", 3),
            cell("task", "draw", "Draw BEGIN HIDDEN TESTS.\nFOR GRADERS\nA line.\nBACK TO ALL", 1),
        ]
    )
}


def edit(path: Path, grade_id: str, old: str, new: str, **flags: Any) -> None:
    """Change a cell of a notebook on disk."""
    book = read_notebook(path, error=NotebookError)
    for one in book["cells"]:
        if one["metadata"].get("nbgrader", {}).get("grade_id", "") == grade_id:
            assert old in one["source"]
            one["source"] = one["source"].replace(old, new)
            one["metadata"].get("nbgrader", {}).update(flags)
            break
    write_notebook(path, book)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course that nbgrader released, and nobody may change."""
    course = make_course(tmp_path_factory.mktemp("built") / "course", DOUBLE)
    release_with_nbgrader(course)
    return course


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return the same of a course with marks and stubs of its own."""
    course = make_course(tmp_path_factory.mktemp("marked") / "course", OWN, *OWN_MARKS)
    release_with_nbgrader(course)
    return course


def copy_of(course: Course, root: Path) -> Course:
    """Return a copy to change."""
    shutil.copytree(course.root, root)
    return Course.find(root)


@pytest.mark.parametrize("name", ["built", "marked"])
def test_what_nbgrader_released_is_up_to_date(name: str, request: pytest.FixtureRequest) -> None:
    """By whatever marks; and what is hidden is known in full, but no solution."""
    course = request.getfixturevalue(name)
    check_release(course, "ps1")
    (book,) = course.released("ps1")
    double, test, draw = (book.cell(one) for one in ("double", "test_double", "draw"))

    assert "double(3) == 6" in test.source
    assert "double(3) == 6" not in test.released
    assert "A line." in draw.source
    assert "A line." not in draw.released
    assert "2 * x" not in double.source + double.released
    assert [cell.points for cell in book.graded] == [2, 3, 1]
    assert {one.checksum for one in book.cells} >= {
        one["metadata"]["nbgrader"]["checksum"]
        for one in read_notebook(course.release("ps1") / "p1.ipynb")["cells"]
        if one["metadata"].get("nbgrader", {}).get("grade_id") in {"double", "why", "given"}
    }


@pytest.mark.parametrize("name", ["built", "marked"])
@pytest.mark.parametrize(
    ("grade_id", "old"),
    [
        ("test_double", "== 6"),
        ("test_double", "== 2"),
        ("draw", "A line"),
        ("draw", "Draw"),
        ("double", "double(x)"),
    ],
)
def test_a_change_of_what_is_graded_makes_it_stale(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, grade_id: str, old: str
) -> None:
    """Hidden or shown."""
    course = copy_of(request.getfixturevalue(name), tmp_path / "copy")
    edit(course.source("ps1") / "p1.ipynb", grade_id, old, "something else")

    with pytest.raises(ReleaseError, match=r"p1 has changed. Run `autograder release ps1`"):
        check_release(course, "ps1")


@pytest.mark.parametrize("name", ["built", "marked"])
@pytest.mark.parametrize(("grade_id", "old"), [("double", "2 * x"), ("why", "Because")])
def test_a_change_of_a_solution_leaves_the_release_as_it_is(
    name: str, request: pytest.FixtureRequest, tmp_path: Path, grade_id: str, old: str
) -> None:
    """Students never had it."""
    course = copy_of(request.getfixturevalue(name), tmp_path / "copy")
    edit(course.source("ps1") / "p1.ipynb", grade_id, old, "something else")

    check_release(course, "ps1")


def test_a_course_with_steps_of_its_own_is_compared_in_what_must_agree(built: Course, tmp_path: Path) -> None:
    """Nobody knows what they make of a text; which cells are graded, and for how much, is known."""
    course = copy_of(built, tmp_path / "copy")
    with (course.root / "nbgrader_config.py").open("a") as config:
        config.write("c.GenerateAssignment.preprocessors = ['nbgrader.preprocessors.SaveCells']\n")
    release = course.release("ps1") / "p1.ipynb"
    edit(release, "test_double", "== 2", "== 2  # signed by a step of the course")
    edit(course.source("ps1") / "p1.ipynb", "test_double", "== 6", "== 7")

    check_release(course, "ps1")
    assert "double(3) == 6" in course.released_notebook("ps1", "p1").cell("test_double").source

    edit(release, "test_double", "== 2", "== 2", points=5)
    with pytest.raises(ReleaseError, match="not what the gradebook knows"):
        check_release(course, "ps1")


def test_cells_from_a_header_are_those_of_the_gradebook(tmp_path: Path) -> None:
    """A notebook's own source does not hold them."""
    books = {"p1": notebook([cell("test", "test_own", "assert True", 1)])}
    course = make_course(tmp_path / "course", books, "c.IncludeHeaderFooter.header = 'source/header.ipynb'")
    test = "assert name\n### BEGIN HIDDEN TESTS\nassert name != 'you'\n### END HIDDEN TESTS"
    header = notebook([cell("text", "", "# Who?"), cell("test", "test_name", test, 1)])
    write_notebook(course.root / "source/header.ipynb", header)
    release_with_nbgrader(course)

    check_release(course, "ps1")
    assert "'you'" in course.released_notebook("ps1", "p1").cell("test_name").source
    edit(course.root / "source/header.ipynb", "", "Who?", "Who are you?")
    with pytest.raises(ReleaseError, match="is older than its source"):
        check_release(course, "ps1")


@pytest.mark.parametrize("name", ["test-v0", "test-v1", "test-v2", "too-new"])
def test_metadata_of_another_nbgrader_are_told(built: Course, tmp_path: Path, name: str) -> None:
    """With the command that mends them."""
    course = copy_of(built, tmp_path / "copy")
    for folder in (course.source("ps1"), course.release("ps1")):
        shutil.copyfile(nbgrader_files() / f"{name}.ipynb", folder / "p1.ipynb")

    for use in (course.released, lambda assignment: check_release(course, assignment)):
        with pytest.raises(ReleaseError, match=r"have version \d+, not 3.*`nbgrader update \.`"):
            use("ps1")


@pytest.mark.parametrize(
    "metadata",
    [
        {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}},
        {"kernelspec": {"name": "ir"}, "language_info": {"name": "R"}},
        {"kernelspec": None, "language_info": {"name": "julia"}},
        {"kernelspec": {"name": "sas", "language": "sas"}},
    ],
    ids=str,
)
def test_a_notebook_in_another_language_is_told(
    built: Course, tmp_path: Path, metadata: dict[str, Any]
) -> None:
    """The sandbox runs Python, and a kernel's name must not be taken for a wrong answer."""
    course = copy_of(built, tmp_path / "copy")
    for folder in (course.source("ps1"), course.release("ps1")):
        write_notebook(folder / "p1.ipynb", read_notebook(folder / "p1.ipynb") | {"metadata": metadata})

    with pytest.raises(CourseError, match=r"in (R|Julia|SAS).*Python.*with `nbgrader autograde`"):
        check_release(course, "ps1")


@pytest.mark.parametrize("metadata", [{}, {"kernelspec": {"name": "conda-env"}}, PYTHON], ids=str)
def test_a_kernel_without_a_language_is_pythons(
    built: Course, tmp_path: Path, metadata: dict[str, Any]
) -> None:
    """As nbgrader has it."""
    course = copy_of(built, tmp_path / "copy")
    for folder in (course.source("ps1"), course.release("ps1")):
        write_notebook(folder / "p1.ipynb", read_notebook(folder / "p1.ipynb") | {"metadata": metadata})

    check_release(course, "ps1")


@pytest.mark.parametrize("points", [None, "many", float("nan")])
def test_points_that_are_no_number_are_told(built: Course, tmp_path: Path, points: object) -> None:
    """Whoever edits metadata by hand gets a line, not a traceback."""
    course = copy_of(built, tmp_path / "copy")
    for folder in (course.source("ps1"), course.release("ps1")):
        edit(folder / "p1.ipynb", "test_double", "", "", points=points)

    with pytest.raises(CourseError, match=r"p1 has changed|points that are no number"):
        check_release(course, "ps1")


def test_without_a_release_the_remedy_is_told(built: Course, tmp_path: Path) -> None:
    """By every command that needs one."""
    course = copy_of(built, tmp_path / "copy")
    shutil.rmtree(course.root / "release")
    course.submitted("ana", "ps1").mkdir(parents=True)

    done = CliRunner().invoke(main, ["grade", "ps1", "--course-dir", str(course.root)])

    assert done.exit_code == USAGE
    assert "has not been built. Run `autograder release ps1`" in done.output


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_kit_releases_any_course_and_keeps_its_due_date(built: Course, tmp_path: Path) -> None:
    """What nbgrader and the kit build is the same."""
    course = copy_of(built, tmp_path / "copy")
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute("UPDATE assignment SET duedate = '2027-01-31 23:59:00.000000'")
    before = (course.release("ps1") / "p1.ipynb").read_bytes()

    build_release(course, "ps1")

    assert (course.release("ps1") / "p1.ipynb").read_bytes() == before
    assert (course.root / "solution/ps1/p1.ipynb").is_file()
    with Gradebook(course.db_url) as gradebook:
        assert str(gradebook.extensions("ps1").due) == "2027-01-31 23:59:00"
