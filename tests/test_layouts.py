"""Layouts: the folders of a course are those that nbgrader would use, and names lead nowhere else."""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from nbgrader_courses import cell, make_course, notebook
from traitlets.config import Config

from autograder.course.course import Course
from autograder.course.layout import STRUCTURE, Layout, Step
from autograder.course.nbgrader_settings import course_db_url, layout_of
from autograder.errors import ConfigError, CourseError, SubmissionError
from autograder.notebook import write_notebook
from autograder.terminal import printable

STRUCTURES = (
    STRUCTURE,
    "{nbgrader_step}/{assignment_id}/{student_id}",
    "{student_id}/{nbgrader_step}/{assignment_id}",
    "{assignment_id}/{nbgrader_step}/{student_id}",
    "course/2027/{nbgrader_step}/{student_id}/{assignment_id}",
    "{nbgrader_step}/by.student/{student_id}/{assignment_id}/work",
    "{nbgrader_step}/{student_id}_{assignment_id}",
    "{nbgrader_step}/of-{student_id}/{assignment_id}-1",
    "{nbgrader_step}/{assignment_id}/{student_id}/{student_id}",
)
FOLDERS: tuple[dict[str, str], ...] = (
    {},
    {"submitted": "handed in", "autograded": "graded", "feedback": "given back"},
    {"source": "teachers/source", "submitted": "students/(raw)", "release": "students/release"},
    {"submitted": "/elsewhere/submitted", "autograded": "../graded"},
)
STUDENTS = ("ana", "o'neil", "a b", "x.y+z", "(ben)", "ü", "ana-1", "100%")


@pytest.fixture(scope="module")
def stock() -> Any:
    """Return nbgrader's classes: it takes seconds to import."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from nbgrader.apps.api import NbGraderAPI  # noqa: PLC0415
        from nbgrader.coursedir import CourseDirectory  # noqa: PLC0415
    return SimpleNamespace(CourseDirectory=CourseDirectory, API=NbGraderAPI)


def config_of(root: Path, structure: str, folders: dict[str, str], **more: Any) -> Config:
    """Return a configuration with a structure and some folders' names."""
    names = {f"{step}_directory": name for step, name in folders.items()}
    return Config({"CourseDirectory": {"root": str(root), "directory_structure": structure, **names, **more}})


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("folders", FOLDERS, ids=str)
def test_every_path_is_nbgraders(stock: Any, tmp_path: Path, structure: str, folders: dict[str, str]) -> None:
    """Whatever one of the two writes, the other has to find."""
    config = config_of(tmp_path, structure, folders)
    theirs, ours = stock.CourseDirectory(config=config), layout_of(tmp_path, config)

    for step in Step:
        told = getattr(theirs, f"{step}_directory")
        assert ours.path(Step.SOURCE, "ps1") == Path(theirs.format_path(theirs.source_directory, ".", "ps1"))
        for student in STUDENTS:
            assert ours.path(step, "ps1", student) == Path(theirs.format_path(told, student, "ps1"))


# nbgrader itself cannot read a structure in which a field stands twice.
@pytest.mark.parametrize("structure", STRUCTURES[:-1])
def test_students_and_assignments_are_those_that_nbgrader_finds(
    stock: Any, tmp_path: Path, structure: str
) -> None:
    """Among files, hidden folders, other assignments and folders that only look like submissions."""
    config = config_of(tmp_path, structure, {})
    theirs, ours = stock.CourseDirectory(config=config), layout_of(tmp_path, config)
    for student in STUDENTS:
        ours.path(Step.SUBMITTED, "ps1", student).mkdir(parents=True)
    for assignment in ("ps1", "ps2"):
        ours.path(Step.SOURCE, assignment).mkdir(parents=True)
    ours.path(Step.SUBMITTED, "ps2", "only-ps2").mkdir(parents=True)
    ours._path(Step.SUBMITTED, "ps1", ".hidden").mkdir(parents=True)
    file = ours.path(Step.SUBMITTED, "ps1", "a-file")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.touch()
    api = SimpleNamespace(coursedir=theirs)

    found = stock.API.get_submitted_students(api, "ps1") - {".hidden"}
    # nbgrader matches from the left only: "only-ps2" may stand for "only-ps2_ps2" there.
    assert ours.students_in(Step.SUBMITTED, "ps1") == sorted(found)
    assert ours.students_in(Step.SUBMITTED, "ps1") == sorted(STUDENTS)
    assert {"ps1", "ps2"} <= set(ours.assignments_in(Step.SOURCE))
    assert set(ours.assignments_in(Step.SOURCE)) <= stock.API.get_source_assignments(api)


names = st.text(st.characters(exclude_characters="/\\\0", exclude_categories=["Cs"]), min_size=1, max_size=12)


@hypothesis_settings(deadline=None, max_examples=60)
@given(structure=st.sampled_from(STRUCTURES), student=names, assignment=names)
def test_a_student_is_found_where_the_path_leads(
    structure: str, student: str, assignment: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever signs a name is made of: none of them is a pattern."""
    layout = Layout(root=tmp_path_factory.mktemp("any"), structure=structure, folders={s: s for s in Step})
    try:
        path = layout.path(Step.SUBMITTED, assignment, student)
    except CourseError:
        names = (student, assignment)
        assert any(
            name.startswith(".") or printable(name) != name or len(name.encode()) > 255 for name in names
        )
        return
    path.mkdir(parents=True)

    found = layout.students_in(Step.SUBMITTED, assignment)

    assert student in found
    assert all(layout.path(Step.SUBMITTED, assignment, one).is_dir() for one in found)
    shutil.rmtree(layout.root)


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("directory_structure = '{nbgrader_step}/{student_id}'", r"has no field \{assignment_id\}"),
        ("directory_structure = '{nbgrader_step}/{student_id}/{assignment_id}/{notebook_id}'", "notebook_id"),
        ("directory_structure = '{nbgrader_step}/{student_id:>9}/{assignment_id}'", "formats its fields"),
        ("directory_structure = '{nbgrader_step}/{student_id!r}/{assignment_id}'", "formats its fields"),
        ("directory_structure = '{nbgrader_step'", "is no format string"),
        ("directory_structure = 7", "CourseDirectory cannot be read"),
        ("autograded_directory = 'submitted'", "'submitted', as is submitted_directory"),
        ("release_directory = './source'", "as is source_directory"),
        ("feedback_directory = ''", "is ''"),
        ("ignore = 7", "CourseDirectory cannot be read"),
    ],
)
def test_a_layout_that_cannot_be_is_refused(tmp_path: Path, setting: str, told: str) -> None:
    """Before anything is written where it should not be."""
    (tmp_path / "source").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(f"c = get_config()\nc.CourseDirectory.{setting}\n")

    with pytest.raises(ConfigError, match=told):
        Course.find(tmp_path)


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("", "sqlite:///ROOT/gradebook.db"),
        ("sqlite:///grades/book.db", "sqlite:///ROOT/grades/book.db"),
        ("sqlite+pysqlite:///book.db", "sqlite+pysqlite:///ROOT/book.db"),
        ("sqlite:////srv/book.db", "sqlite:////srv/book.db"),
        ("sqlite:///:memory:", "sqlite:///:memory:"),
        ("sqlite:///file:x?mode=ro&uri=true", "sqlite:///file:x?mode=ro&uri=true"),
        ("postgresql+psycopg://ana:pw@host/grades", "postgresql+psycopg://ana:pw@host/grades"),
    ],
)
def test_a_gradebook_whose_path_is_not_absolute_lies_in_the_course(
    tmp_path: Path, url: str, ours: str
) -> None:
    """From wherever the command is given; nbgrader's commands change into the course first."""
    config = Config({"CourseDirectory": {"db_url": url}})

    assert course_db_url(tmp_path, config) == ours.replace("ROOT", str(tmp_path))


def test_a_configuration_may_name_a_course_elsewhere(tmp_path: Path) -> None:
    """As `CourseDirectory.root` does for nbgrader; the course's own file is read after it."""
    desk, course = tmp_path / "desk", tmp_path / "course"
    (course / "source/ps1").mkdir(parents=True)
    write_notebook(course / "source/ps1/p1.ipynb", notebook([cell("text", "", "Hello")]))
    desk.mkdir()
    lines = f"c = get_config()\nc.CourseDirectory.root = {str(course)!r}\nc.Autograder.jobs = 3\n"
    (desk / "nbgrader_config.py").write_text(lines)

    found = Course.find(desk)

    assert (found.root, found.assignments(), found.settings().jobs) == (course, ["ps1"], 3)
    assert found.db_url == f"sqlite:///{course / 'gradebook.db'}"
    (course / "nbgrader_config.py").write_text("c = get_config()\nc.Autograder.jobs = 4\n")
    assert found.settings().jobs == 4
    assert Course.find(course).root == course


def test_who_is_left_out_is_not_graded(tmp_path: Path) -> None:
    """`student_id_exclude` and the pattern `student_id`, as nbgrader has them."""
    config = config_of(tmp_path, STRUCTURE, {}, student_id="[a-y]*", student_id_exclude="ben, cem,dan")
    layout = layout_of(tmp_path, config)
    for student in ("ana", "ben", "cem", "dan", "eve", "zoe"):
        layout.path(Step.SUBMITTED, "ps1", student).mkdir(parents=True)

    assert layout.students_in(Step.SUBMITTED, "ps1") == ["ana", "eve"]


@pytest.mark.parametrize("structure", STRUCTURES[:4])
def test_a_link_to_another_students_work_is_refused(tmp_path: Path, structure: str) -> None:
    """An archive may hold links; the course itself may be reached through one."""
    (tmp_path / "real").mkdir()
    (tmp_path / "course").symlink_to(tmp_path / "real")
    books = {"p1": notebook([cell("text", "", "Hello")])}
    setting = f"c.CourseDirectory.directory_structure = {structure!r}"
    source = Path(structure.format(nbgrader_step="source", student_id=".", assignment_id="ps1"))
    course = make_course(tmp_path / "course", books, setting, source=str(source))
    ana, eve = course.submitted("ana", "ps1"), course.submitted("eve", "ps1")
    ana.mkdir(parents=True)
    eve.parent.mkdir(parents=True, exist_ok=True)
    eve.symlink_to(ana)

    assert course.handed_in("ana", "ps1") == ana
    assert course.students("ps1") == ["ana", "eve"]
    with pytest.raises(SubmissionError, match="is reached through a link"):
        course.handed_in("eve", "ps1")
