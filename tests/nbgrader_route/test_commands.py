"""nbgrader's own commands, through the kit: right scores, no batch stopped, nothing hidden shown."""

from __future__ import annotations

import copy
import csv
import shutil
import subprocess
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autograder.course.course import Course
from autograder.course.released import grade_id_of
from autograder.gradebook import Gradebook
from autograder.notebook import Notebook, read_notebook, write_notebook
from autograder.variants import fill, solved_cells

if TYPE_CHECKING:
    from collections.abc import Callable

    from autograder.scores import StudentScore

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "multi_head_attention"
ONE, TWO = "exercise1_parameter_count", "exercise2_split_heads"
SCRIPT = "It is **because** $a < b$ <script>alert(1)</script> <img src=x onerror=alert(2)>"


def named(notebook: Notebook, grade_id: str) -> dict[str, Any]:
    """Return a cell by its name."""
    return next(cell for cell in notebook["cells"] if grade_id_of(cell) == grade_id)


def metadata(notebook: Notebook, grade_id: str) -> dict[str, Any]:
    """Return a cell's nbgrader metadata by its name."""
    found: dict[str, Any] = named(notebook, grade_id)["metadata"]["nbgrader"]
    return found


def tag_all(notebook: Notebook) -> None:
    """Tell nbclient to skip every cell: full marks with nbgrader's own executor."""
    for cell in notebook["cells"]:
        cell["metadata"]["tags"] = ["skip-execution"]


def delete_test(notebook: Notebook) -> None:
    """Delete a test: for nbgrader the score stays open for ever."""
    notebook["cells"].remove(named(notebook, "test_head_dim"))


def edit_tests(notebook: Notebook) -> None:
    """Make the tests pass, and worth more."""
    for name in ("test_head_dim", "test_parameter_count"):
        named(notebook, name)["source"] = "1"
        metadata(notebook, name)["points"] = 200


def forge_a_result(notebook: Notebook) -> None:
    """Show a result from the tested function: full marks with nbgrader's own executor."""
    source = "def head_dim(d_model, n_heads):\n    get_ipython().displayhook('ok')\n    raise ValueError"
    named(notebook, "head_dim")["source"] = source


def leave(notebook: Notebook) -> None:
    """End the process from the tested function: no grades at all with nbgrader's own executor."""
    source = "import os\ndef head_dim(d_model, n_heads):\n    os._exit(0)"
    named(notebook, "head_dim")["source"] = source


def batter(notebook: Notebook) -> None:
    """Do to a right notebook what students and editors do to notebooks."""
    cells = notebook["cells"]
    cells.append(copy.deepcopy(named(notebook, "test_head_dim")))
    metadata(notebook, "test_parameter_count")["grade"] = False
    metadata(notebook, "parameter_count")["grade_id"] = "mine"
    named(notebook, "test_worked_example")["cell_type"] = "markdown"
    del named(notebook, "head_dim")["metadata"]["nbgrader"]
    cells.insert(0, cells.pop())


@dataclass(frozen=True)
class Doctored:
    """A submission, and the points it must get in the first notebook."""

    solved: bool
    points: int
    change: Callable[[Notebook], None]


DOCTORED = {
    "tagged": Doctored(solved=False, points=0, change=tag_all),
    "deleted": Doctored(solved=False, points=0, change=delete_test),
    "edited": Doctored(solved=False, points=0, change=edit_tests),
    "forged": Doctored(solved=False, points=0, change=forge_a_result),
    "left": Doctored(solved=False, points=0, change=leave),
    "battered": Doctored(solved=True, points=4, change=batter),
}


def hand_in(course: Course, student: str, name: str, *, solved: bool) -> Path:
    """Write a student's notebook, solved or as it was handed out."""
    released = read_notebook(course.release(ASSIGNMENT) / f"{name}.ipynb")
    cells = solved_cells(read_notebook(course.source(ASSIGNMENT) / f"{name}.ipynb")) if solved else {}
    folder = course.submitted(student, ASSIGNMENT)
    folder.mkdir(parents=True, exist_ok=True)
    write_notebook(folder / f"{name}.ipynb", fill(released, cells) if solved else released)
    (folder / "timestamp.txt").write_text("2026-11-01 12:00:00 UTC\n")
    return folder / f"{name}.ipynb"


def nbgrader(course: Course, *args: str) -> subprocess.CompletedProcess[str]:
    """Run a command of nbgrader's in the course, as a person would."""
    program = Path(sys.executable).with_name("nbgrader")
    return subprocess.run(
        [program, *args], cwd=course.root, capture_output=True, text=True, check=False, timeout=600
    )


@dataclass(frozen=True)
class Graded:
    """A course after `nbgrader autograde`."""

    course: Course
    run: subprocess.CompletedProcess[str]
    scores: dict[str, StudentScore]

    def points(self, student: str, notebook: str) -> list[tuple[str, float | None, bool]]:
        """Return name, score and whether it is open, for a student's cells."""
        return [
            (
                cell.grade_id,
                None if cell.auto_score is None else float(cell.auto_score),
                cell.needs_manual_grade,
            )
            for cell in self.scores[student].cells
            if cell.notebook == notebook
        ]


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    """Return a course in which nbgrader has graded an honest and some doctored submissions."""
    root = tmp_path_factory.mktemp("route") / "course"
    root.mkdir()
    for part in ("nbgrader_config.py", "gradebook.db", "source", "release", "solutions"):
        copy_part = shutil.copytree if (ROOT / part).is_dir() else shutil.copyfile
        copy_part(ROOT / part, root / part)
    course = Course(root=root)
    hand_in(course, "honest", ONE, solved=True)
    path = hand_in(course, "honest", TWO, solved=True)
    notebook = read_notebook(path)
    named(notebook, "explain_reshape_order")["source"] = SCRIPT
    write_notebook(path, notebook)
    for student, doctored in DOCTORED.items():
        path = hand_in(course, student, ONE, solved=doctored.solved)
        notebook = read_notebook(path)
        doctored.change(notebook)
        write_notebook(path, notebook)
        if student == "battered":
            path.write_bytes(path.read_text(encoding="utf-8").encode("utf-16"))
    hand_in(course, "broken", ONE, solved=False).write_text('{"cells": [')
    path = hand_in(course, "misnamed", ONE, solved=True)
    path.rename(path.with_name(f"Mia {ONE} (1).ipynb"))
    run = nbgrader(course, "autograde", ASSIGNMENT)
    with Gradebook(course.db_url) as gradebook:
        scores = {score.student: score for score in gradebook.scores(ASSIGNMENT)}
    return Graded(course, run, scores)


def test_a_broken_notebook_waits_for_a_person_and_says_why(graded: Graded) -> None:
    """With nbgrader's own parts one duplicated cell stops the whole batch."""
    reason = f"{ONE}.ipynb: breaks off in line 1: the rest of it is missing"
    stand_in = read_notebook(graded.course.autograded("broken", ASSIGNMENT) / f"{ONE}.ipynb")

    assert graded.run.returncode == 0
    assert f"broken: {ONE}: not graded: {reason}" in graded.run.stderr
    assert reason in stand_in["cells"][0]["source"]
    written = (graded.course.root / "autograded").glob(f"*/{ASSIGNMENT}")
    assert {path.parent.name for path in written} == {"honest", "misnamed", "broken", *DOCTORED}
    assert graded.points("broken", ONE) == [
        ("test_head_dim", None, True),
        ("test_parameter_count", None, True),
        ("test_worked_example", None, True),
    ]
    assert [score for _, score, _ in graded.points("broken", "exercise3_forward")] == [0, 0, 0]


def test_a_misnamed_notebook_is_graded(graded: Graded) -> None:
    """By itself nbgrader skips it, and gives 0 for the one that is missing."""
    assert [score for _, score, _ in graded.points("misnamed", ONE)] == [1, 2, 1]
    assert f"misnamed: {ONE}: Mia {ONE} (1).ipynb: taken for {ONE}.ipynb" in graded.run.stderr


def test_an_honest_submission_earns_its_points(graded: Graded) -> None:
    """And its written answer waits for a person; the notebook not handed in is zero."""
    assert graded.points("honest", ONE) == [
        ("test_head_dim", 1, False),
        ("test_parameter_count", 2, False),
        ("test_worked_example", 1, False),
    ]
    assert graded.points("honest", TWO)[-1] == ("explain_reshape_order", None, True)
    assert [score for _, score, _ in graded.points("honest", "exercise3_forward")] == [0, 0, 0]
    assert "honest: exercise" not in graded.run.stderr


@pytest.mark.parametrize("student", DOCTORED)
def test_a_doctored_submission_earns_what_its_code_is_worth(graded: Graded, student: str) -> None:
    """No more, no less, and nothing stays open."""
    points = graded.points(student, ONE)

    assert sum(score or 0 for _, score, _ in points) == DOCTORED[student].points
    assert not any(is_open for _, _, is_open in points)
    assert [name for name, _, _ in points] == ["test_head_dim", "test_parameter_count", "test_worked_example"]


def test_tampering_is_told_by_student_and_cell(graded: Graded) -> None:
    """Hidden lines in a test are no tampering; with nbgrader's own parts each gives a false warning."""
    for student, note in (
        ("tagged", "test_head_dim: it was tagged skip-execution; tags removed"),
        ("deleted", "test_head_dim: it was missing; put back"),
        ("edited", "test_head_dim: its source was edited; replaced"),
        ("edited", "test_head_dim: its nbgrader metadata was changed (points); put back"),
        ("battered", "test_head_dim: there were 2 copies of it"),
        ("battered", f"{ONE}.ipynb: it is UTF-16 (little-endian), not UTF-8; read as that"),
        ("battered", "parameter_count: its nbgrader metadata was renamed to 'mine'"),
    ):
        assert f"{student}: {ONE}: {note}" in graded.run.stderr
    assert "checksum" not in graded.run.stderr
    for student in ("forged", "left"):
        assert f"{student}: exercise" not in graded.run.stderr


def test_nbgrader_reads_the_same_scores_from_the_notebooks(graded: Graded) -> None:
    """Every other tool of nbgrader's that looks at an autograded notebook agrees with the gradebook."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import nbformat  # noqa: PLC0415 - it takes seconds
        from nbgrader.utils import determine_grade  # noqa: PLC0415 - the same

    for student in ("honest", "misnamed", *DOCTORED):
        path = graded.course.autograded(student, ASSIGNMENT) / f"{ONE}.ipynb"
        cells = nbformat.read(path, 4)["cells"]  # type: ignore[no-untyped-call]
        read = {
            cell.metadata.nbgrader.grade_id: determine_grade(cell)[0]
            for cell in cells
            if cell.metadata.get("nbgrader", {}).get("grade")
        }

        assert read == {name: score for name, score, _ in graded.points(student, ONE)}


def test_formgrader_finds_everybody_graded(graded: Graded) -> None:
    """It compares times and looks for rows, folders and cells."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbgrader.apps import NbGraderAPI  # noqa: PLC0415 - it takes seconds
        from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415 - the same
        from traitlets.config import Config  # noqa: PLC0415 - the same

        config = Config()
        config.CourseDirectory.root = str(graded.course.root)
        config.CourseDirectory.course_id = ASSIGNMENT
        api = NbGraderAPI(CourseDirectory(config=config), config=config)
        students = api.get_autograded_students(ASSIGNMENT)
        submissions = {one["student"]: one for one in api.get_submissions(ASSIGNMENT)}

    assert students == {"honest", "misnamed", "broken", *DOCTORED}
    assert submissions["honest"]["score"] == 10
    assert submissions["honest"]["needs_manual_grade"] is True
    assert submissions["battered"]["score"] == submissions["misnamed"]["score"] == 4
    assert submissions["broken"]["needs_manual_grade"] is True
    assert {submissions[student]["autograded"] for student in students} == {True}


@pytest.fixture(scope="module")
def feedback(graded: Graded) -> dict[str, str]:
    """Return the feedback pages that nbgrader makes, by student and notebook."""
    run = nbgrader(graded.course, "generate_feedback", ASSIGNMENT)
    assert run.returncode == 0, run.stderr
    pages = (graded.course.root / "feedback").glob(f"*/{ASSIGNMENT}/*.html")
    return {f"{path.parent.parent.name}/{path.stem}": path.read_text(encoding="utf-8") for path in pages}


def test_feedback_shows_scores_and_reasons(feedback: dict[str, str]) -> None:
    """A table of checks, not a traceback."""
    assert "Score: 10.0" not in feedback[f"honest/{ONE}"]
    assert "(Score: 4.0 / 4.0)" in feedback[f"honest/{ONE}"]
    assert "1 of 1 points</strong><table>" in feedback[f"honest/{ONE}"]
    assert "0 of 1 points</strong><table>" in feedback[f"forged/{ONE}"]
    assert "breaks off in line 1" in feedback[f"broken/{ONE}"]


def test_feedback_shows_nothing_hidden(feedback: dict[str, str]) -> None:
    """Hidden tests stay useful for the next year only while nobody has seen them."""
    for name, page in feedback.items():
        for secret in ("HIDDEN TESTS", "run_checks", "solutions.reference", "BEGIN SOLUTION"):
            assert secret not in page, (name, secret)


def test_feedback_runs_no_script_of_a_student(feedback: dict[str, str]) -> None:
    """The same text in formgrader would act with the instructor's rights."""
    page = feedback[f"honest/{TWO}"]

    assert "alert(1)" not in page
    assert "onerror" not in page
    assert "<strong>because</strong> $a &lt; b$" in page


def test_the_autograded_notebook_keeps_the_tests_for_a_second_grading(graded: Graded) -> None:
    """As nbgrader's own; it is for course staff only."""
    text = (graded.course.autograded("honest", ASSIGNMENT) / f"{ONE}.ipynb").read_text()

    assert "BEGIN HIDDEN TESTS" in text
    assert "solutions.reference" not in text


def test_export_has_a_column_for_each_cell(graded: Graded) -> None:
    """Through `nbgrader export`, for those who use nothing else."""
    run = nbgrader(graded.course, "export", "--to", "marks.csv", "--student", "['honest', 'edited']")

    assert run.returncode == 0, run.stderr
    with (graded.course.root / "marks.csv").open(newline="") as file:
        rows = {row["student_id"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"honest", "edited"}
    assert rows["honest"]["score"] == "10"
    assert rows["honest"][f"{TWO}.explain_reshape_order"] == ""
    assert rows["edited"][f"{ONE}.test_parameter_count"] == "0"


@pytest.mark.parametrize(
    ("folder", "said"), [("solutions", "Success!"), ("release", "VALIDATION FAILED ON 3 CELL(S)")]
)
def test_validate_still_works(graded: Graded, folder: str, said: str) -> None:
    """Students run the visible tests, instructors all of them."""
    run = nbgrader(graded.course, "validate", f"{folder}/{ASSIGNMENT}/{ONE}.ipynb")

    assert said in run.stdout, run.stderr


def test_an_unbuilt_release_fails_without_a_score(graded: Graded, tmp_path: Path) -> None:
    """An instructor's mistake is no student's zero."""
    root = tmp_path / "course"
    shutil.copytree(graded.course.root, root)
    course = Course(root=root)
    for folder in ("autograded", "submitted"):
        shutil.rmtree(root / folder)
    hand_in(course, "late", ONE, solved=True)
    path = course.source(ASSIGNMENT) / f"{ONE}.ipynb"
    notebook = read_notebook(path)
    named(notebook, "test_head_dim")["source"] += "\n# changed"
    write_notebook(path, notebook)

    run = nbgrader(course, "autograde", ASSIGNMENT)

    assert run.returncode == 1
    assert f"Run `autograder release {ASSIGNMENT}`" in run.stderr
    with Gradebook(course.db_url) as gradebook:
        late = next(score for score in gradebook.scores(ASSIGNMENT) if score.student == "late")
    assert all(cell.auto_score is None for cell in late.cells if cell.notebook == ONE)
