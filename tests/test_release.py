"""The release: what is in the repository is what its sources give, and stale ones are refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from gradebook_rows import gradebook_rows

from autograder.course.course import Course
from autograder.course.released import grade_id_of
from autograder.errors import CourseError, GradebookError, ReleaseError
from autograder.notebook import read_notebook, write_notebook
from autograder.release import _check_solved, build_release, check_release

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parent.parent
ASSIGNMENTS = ("attention_warmup", "multi_head_attention")
ASSIGNMENT = "multi_head_attention"
STUDENT_TABLES = ("student", "submitted_assignment", "submitted_notebook", "grade", "comment")


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return the course built from its sources alone, in a shell where no environment is activated."""
    root = tmp_path_factory.mktemp("rebuilt")
    for part in ("source", "solutions"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
    for assignment in ASSIGNMENTS:
        shutil.rmtree(root / "solutions" / assignment, ignore_errors=True)
    shutil.copy(ROOT / "nbgrader_config.py", root)
    code = (
        "from autograder.course.course import Course; from autograder.release import build_release;"
        f"[build_release(Course.find(), name) for name in {ASSIGNMENTS!r}]"
    )
    environment = {name: value for name, value in os.environ.items() if name not in {"VIRTUAL_ENV", "PATH"}}
    subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=root,
        env=environment | {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
        check=True,
        timeout=300,
    )
    return Course(root=root)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_release_is_what_the_sources_give(rebuilt: Course, assignment: str) -> None:
    """What students get is never edited by hand, nor forgotten."""
    for path in sorted(rebuilt.release(assignment).iterdir()):
        assert (ROOT / "release" / assignment / path.name).read_bytes() == path.read_bytes(), path.name
    names = [path.name for path in (ROOT / "release" / assignment).iterdir()]
    assert sorted(names) == sorted(path.name for path in rebuilt.release(assignment).iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_the_solved_notebooks_are_what_the_sources_give(rebuilt: Course, assignment: str) -> None:
    """Their code, that is: pictures differ by a version of matplotlib."""
    for path in sorted((rebuilt.solutions / assignment).iterdir()):
        ours = read_notebook(ROOT / "solutions" / assignment / path.name)
        theirs = read_notebook(path)

        assert [cell["source"] for cell in ours["cells"]] == [cell["source"] for cell in theirs["cells"]]
        assert "execution" not in str([cell["metadata"] for cell in ours["cells"]])


@pytest.mark.slow
def test_the_gradebook_is_what_the_sources_give(rebuilt: Course) -> None:
    """Compared by rows: nbgrader's keys are random."""
    assert gradebook_rows(ROOT / "gradebook.db") == gradebook_rows(rebuilt.gradebook)


def test_the_gradebook_knows_the_assignments_and_no_student() -> None:
    """It is handed out; nobody's name or grade may be in it."""
    rows = gradebook_rows(ROOT / "gradebook.db")

    for table in STUDENT_TABLES:
        assert rows[table] == [], table
    assert rows["course"] == [(ASSIGNMENT,)]
    assert [name for name, *_ in rows["assignment"]] == list(ASSIGNMENTS)
    assert rows["alembic_version"] == [("e43177bfe90b",)]
    points = [row[3] if row[2] == "GradeCell" else row[5] for row in rows["cells"]]
    assert sum(filter(None, points)) == 10 + 21
    with closing(sqlite3.connect(ROOT / "gradebook.db")) as connection:
        courses = connection.execute("SELECT id FROM course").fetchall()
    assert courses == [(ASSIGNMENT,)]


@pytest.mark.parametrize("path", sorted(ROOT.glob("release/*/*")), ids=lambda path: path.name)
def test_the_release_holds_nothing_hidden(path: Path) -> None:
    """Students read every byte of it."""
    text = path.read_text(encoding="utf-8")

    for secret in ("HIDDEN TESTS", "run_checks", "BEGIN SOLUTION", "MARK SCHEME", "autograder", "reference"):
        assert secret not in text, secret
    assert 'execution_count": 1' not in text


def test_a_fresh_release_passes(course: Course) -> None:
    """Grading asks every time, so it must be quick and right."""
    check_release(course, ASSIGNMENT)


def edit(path: Path, change: Callable[[dict[str, Any]], None], grade_id: str = "") -> None:
    """Change a notebook, or one cell of it, on disk."""
    notebook = read_notebook(path)
    for cell in notebook["cells"]:
        if grade_id_of(cell) == grade_id:
            change(cell)
            break
    write_notebook(path, notebook)


def append(cell: dict[str, Any]) -> None:
    """Change a cell's source."""
    cell["source"] += "\n# changed"


def worth_more(cell: dict[str, Any]) -> None:
    """Change a cell's points."""
    cell["metadata"]["nbgrader"]["points"] = 17


@pytest.mark.parametrize("folder", ["source", "release"])
@pytest.mark.parametrize(
    ("grade_id", "change"),
    [("", append), ("test_split_heads", append), ("split_heads", append), ("test_split_heads", worth_more)],
)
def test_any_change_makes_it_stale(
    course: Course, folder: str, grade_id: str, change: Callable[[dict[str, Any]], None]
) -> None:
    """Students would be graded for other work than they were given."""
    edit(course.root / folder / ASSIGNMENT / "exercise2_split_heads.ipynb", change, grade_id)

    with pytest.raises(ReleaseError, match=r"exercise2_split_heads has changed. Run `autograder release"):
        check_release(course, ASSIGNMENT)


def test_a_change_of_hidden_lines_makes_the_gradebook_stale(course: Course) -> None:
    """The release does not show it, the gradebook's copy of the tests does."""

    def change(cell: dict[str, Any]) -> None:
        cell["source"] = cell["source"].replace("run_checks", "pass; run_checks")

    edit(course.source(ASSIGNMENT) / "exercise2_split_heads.ipynb", change, "test_split_heads")

    with pytest.raises(ReleaseError, match="is not what the gradebook knows: exercise2_split_heads"):
        check_release(course, ASSIGNMENT)


def test_a_change_of_a_solution_alone_is_no_change_of_the_release(course: Course) -> None:
    """Students never had it."""

    def change(cell: dict[str, Any]) -> None:
        cell["source"] = cell["source"].replace("### END SOLUTION", "# better\n### END SOLUTION")

    edit(course.source(ASSIGNMENT) / "exercise2_split_heads.ipynb", change, "split_heads")

    check_release(course, ASSIGNMENT)


def test_points_changed_in_the_gradebook_are_found(course: Course) -> None:
    """A score would not fit its maximum."""
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute("UPDATE grade_cells SET max_score = 100 WHERE max_score = 6")

    with pytest.raises(ReleaseError, match="is not what the gradebook knows: exercise3_forward"):
        check_release(course, ASSIGNMENT)


def test_what_is_missing_is_told(course: Course) -> None:
    """Release, notebook, gradebook or assignment."""
    moved = course.release(ASSIGNMENT) / "exercise3_forward.ipynb"
    moved.rename(course.root / "moved.ipynb")
    with pytest.raises(ReleaseError, match="has other notebooks than its source"):
        check_release(course, ASSIGNMENT)
    shutil.rmtree(course.root / "release")
    with pytest.raises(ReleaseError, match="has not been built"):
        check_release(course, ASSIGNMENT)
    with pytest.raises(CourseError, match="Did you mean"):
        check_release(course, "multi_head_attentions")


def test_without_a_gradebook_nothing_is_built(course: Course) -> None:
    """The question leaves no empty gradebook behind."""
    course.gradebook.unlink()

    with pytest.raises(ReleaseError, match="has not been built"):
        check_release(course, ASSIGNMENT)
    assert not course.gradebook.exists()


def test_the_gradebook_may_lie_elsewhere(course: Course, tmp_path: Path) -> None:
    """Where the course says it is, and nowhere else."""
    elsewhere = course.gradebook.rename(tmp_path / "grades.db")
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"\nc.CourseDirectory.db_url = 'sqlite:///{elsewhere}'\n")

    check_release(course, ASSIGNMENT)


def test_a_file_that_is_no_gradebook_is_told(course: Course) -> None:
    """It is the operator's to mend."""
    course.gradebook.write_text("no database" * 100)

    with pytest.raises(GradebookError, match="cannot be read"):
        check_release(course, ASSIGNMENT)


@pytest.mark.parametrize("address", ["nonsense", "postgresql+no_such_driver://anna:secret@here/book"])
@pytest.mark.parametrize("use", [build_release, check_release])
def test_an_address_of_no_gradebook_is_told(
    course: Course, address: str, use: Callable[[Course, str], object]
) -> None:
    """By the setting's name, and without the password in it."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write(f"\nc.CourseDirectory.db_url = {address!r}\n")

    with pytest.raises(GradebookError, match=r"^CourseDirectory\.db_url: no gradebook") as told:
        use(course, ASSIGNMENT)
    assert "secret" not in str(told.value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_source_that_nbgrader_refuses_is_told_with_its_reason(course: Course) -> None:
    """One line, in place of a traceback."""

    def change(cell: dict[str, Any]) -> None:
        cell["source"] = cell["source"].replace("### END SOLUTION", "")

    edit(course.source(ASSIGNMENT) / "exercise2_split_heads.ipynb", change, "split_heads")

    with pytest.raises(ReleaseError, match=r"exercise2_split_heads.ipynb: RuntimeError: no end solution"):
        build_release(course, ASSIGNMENT)
    assert len(list(course.release(ASSIGNMENT).iterdir())) == 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_release_that_is_refused_changes_nothing(course: Course) -> None:
    """Students, solutions and points in the gradebook stay what they were."""
    before = {path: path.read_bytes() for path in course.release(ASSIGNMENT).iterdir()}
    rows = gradebook_rows(course.gradebook)

    def change(cell: dict[str, Any]) -> None:
        cell["metadata"]["nbgrader"]["points"] = 5
        cell["source"] = f"# new\n{cell['source']}"

    edit(course.source(ASSIGNMENT) / "exercise1_parameter_count.ipynb", change, "test_head_dim")

    with pytest.raises(ReleaseError, match=r"of 5 points in 'test_head_dim'"):
        build_release(course, ASSIGNMENT)
    assert before == {path: path.read_bytes() for path in course.release(ASSIGNMENT).iterdir()}
    assert rows == gradebook_rows(course.gradebook)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_file_that_is_no_gradebook_is_not_a_notebook_s_fault(course: Course) -> None:
    """The notebooks are right then."""
    course.gradebook.write_text("no database" * 100)

    with pytest.raises(GradebookError, match="cannot be read"):
        build_release(course, ASSIGNMENT)
    assert len(list(course.release(ASSIGNMENT).iterdir())) == 3


SOLVED = {"cell_type": "code", "source": "1", "metadata": {}, "id": "a"}
TEST = SOLVED | {
    "source": '### BEGIN HIDDEN TESTS\nrun_checks("test_a")\n### END HIDDEN TESTS',
    "metadata": {"nbgrader": {"grade": True, "grade_id": "test_a", "points": 2}},
}
RAISED = {"output_type": "error", "ename": "ValueError", "evalue": "no"}


@pytest.mark.parametrize(
    ("cell", "outputs", "message"),
    [
        (SOLVED, [RAISED], "the solved cell 'a' raises ValueError: no"),
        (TEST, [RAISED], "the solved cell 'test_a' raises ValueError: no"),
        (TEST, [], "the solution earns nothing of 2 points in 'test_a'"),
        (TEST, [{"output_type": "execute_result", "data": {"text/plain": "1.5"}}], r"earns 1\.5 of 2 points"),
    ],
)
def test_a_solution_that_its_own_tests_refuse_is_not_released(
    cell: dict[str, Any], outputs: list[dict[str, Any]], message: str
) -> None:
    """Nobody could earn the points."""
    with pytest.raises(ReleaseError, match=message):
        _check_solved(ROOT / "a.ipynb", cell | {"outputs": outputs})


CLASSIC = TEST | {"source": "assert a == 1"}
SHOWN = {"output_type": "execute_result", "data": {}}


@pytest.mark.parametrize(
    ("shown", "message"),
    [
        ("1.5", r"earns 1\.5 of 2 points in 'test_a'"),
        ("0", "earns 0 of 2 points"),
        ("True", "'test_a' its last line gives True, which is no score"),
        ("np.False_", "gives False, which is no score"),
        ("nan", "gives nan"),
        ("-1", "gives -1.0, which is not between 0 and 2"),
        ("Decimal('2')", r"gives Decimal\('2'\), which is no plain number. End the cell in a plain number"),
    ],
)
def test_a_classic_test_that_no_solution_can_pass_is_not_released(shown: str, message: str) -> None:
    """Every student would lose the points, or wait for a person."""
    outputs = [SHOWN | {"data": {"text/plain": shown}}]

    with pytest.raises(ReleaseError, match=message):
        _check_solved(ROOT / "a.ipynb", CLASSIC | {"outputs": outputs})


@pytest.mark.parametrize(
    "shown", ["2", "2.0", "np.float64(2.0)", "2.0000000000000004", "[1]", "<Figure>", ""]
)
def test_a_classic_test_that_its_solution_passes_is_released(shown: str) -> None:
    """Whatever it shows that is no other score."""
    outputs = [SHOWN | {"data": {"text/plain": shown}}] if shown else []

    _check_solved(ROOT / "a.ipynb", CLASSIC | {"outputs": outputs})


def test_a_solution_that_earns_everything_is_released() -> None:
    """Other output than the score does not matter."""
    right = [
        {"output_type": "stream", "text": "x"},
        {"output_type": "execute_result", "data": {"text/plain": "2.0"}},
    ]

    _check_solved(ROOT / "a.ipynb", TEST | {"outputs": right})
    _check_solved(ROOT / "a.ipynb", SOLVED | {"outputs": right})
