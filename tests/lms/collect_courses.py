"""A course to collect into, and downloads of it; what a collect has left, as one value."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from canvas_zips import Upload, entry_name
from click.testing import CliRunner
from crafted_zips import write_zip

from autograder.cli import main
from autograder.course.course import Course

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = "multi_head_attention"
FIRST, SECOND, THIRD = "exercise1_parameter_count", "exercise2_split_heads", "exercise3_forward"
LOCK = ".autograder/collecting"

ROSTER = """Student,ID,SIS User ID,SIS Login ID,Section,HW1 (4021)
    Points Possible,,,,,10
"Ruiz, Ana",501,S0001,aruiz,Sec 1,
"Lindqvist, Bo",502,S0002,blind,Sec 1,
"Müller, Jean-Luc",503,S0003,jmuller,Sec 1 and Sec 2,
"Student, Test",999,,,Sec 1,
"""
NAMES = {"501": "Ruiz, Ana", "502": "Lindqvist, Bo", "503": "Müller, Jean-Luc"}


def light_course(root: Path, *, assignments: tuple[str, ...] = (ASSIGNMENT,)) -> Course:
    """Copy what a course needs in order to collect, with nobody in it."""
    root.mkdir()
    for part in ("nbgrader_config.py", "gradebook.db"):
        shutil.copyfile(ROOT / part, root / part)
    for assignment in assignments:
        shutil.copytree(ROOT / "source" / assignment, root / "source" / assignment)
    return Course(root=root)


def roster(folder: Path) -> Path:
    """Write the roster of three students."""
    path = folder / "gradebook.csv"
    path.write_text(ROSTER, encoding="utf-8")
    return path


def upload(
    user: str, attachment: int, data: bytes, display: str = f"{FIRST}.ipynb", *, late: bool = False
) -> dict[str, bytes]:
    """Return one entry of Canvas's zip."""
    one = Upload(sortable=NAMES[user], user=user, attachment=attachment, display=display, late=late)
    return {entry_name(one): data}


def download(path: Path, *uploads: Mapping[str, bytes]) -> Path:
    """Write a zip of some uploads."""
    return write_zip(path, {name: data for one in uploads for name, data in one.items()})


def collect(course: Course, *words: object) -> tuple[int, str]:
    """Collect as a person does; return the exit code and what was printed, lines put together."""
    command = ["collect", *map(str, words), "--course-dir", str(course.root)]
    done = CliRunner().invoke(main, command, catch_exceptions=False)
    return done.exit_code, " ".join(f"{done.stdout} {done.stderr}".split())


def everything(root: Path) -> dict[str, tuple[bytes, int]]:
    """Return all that is below a folder, with the times of change, folders included."""
    return {
        path.relative_to(root).as_posix(): (
            path.read_bytes() if path.is_file() else b"",
            path.lstat().st_mtime_ns,
        )
        for path in root.rglob("*")
    }


def files(root: Path) -> dict[str, bytes]:
    """Return the files below a folder."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()
    }


def submitted(course: Course) -> dict[str, dict[str, bytes]]:
    """Return what is in each student's submission."""
    students = course.layout.students_in("submitted", ASSIGNMENT)  # type: ignore[arg-type] # a step is its name
    return {student: files(course.submitted(student, ASSIGNMENT)) for student in students}


def earlier(course: Course, student: str) -> list[dict[str, bytes]]:
    """Return what is kept of a student's earlier attempts."""
    folder = course.root / ".autograder" / "earlier" / student / ASSIGNMENT
    return [files(one) for one in sorted(folder.iterdir())] if folder.is_dir() else []


def course_with_students(folder: Path) -> Course:
    """Return a course whose gradebook has the three students, and nothing is collected."""
    course = light_course(folder / "course")
    first = download(folder / "none.zip", upload("501", 1, b""))
    assert collect(course, first, "--roster", roster(folder))[0] == 0
    shutil.rmtree(course.submitted("aruiz", ASSIGNMENT))
    (course.root / ".autograder/collected" / f"{ASSIGNMENT}.json").unlink()
    return course


def inbound(path: Path, *attempts: tuple[str, str, bytes]) -> Path:
    """Write what lies in nbgrader's exchange: student, time, notebook."""
    return write_zip(
        path, {f"{student}+{ASSIGNMENT}+{time}+x/{FIRST}.ipynb": data for student, time, data in attempts}
    )
