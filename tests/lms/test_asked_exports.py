"""What `export` says to words and files that are not quite what it takes."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Protocol

import pytest
from click.testing import CliRunner
from course_copies import copy_course
from graded_submissions import ASSIGNMENT, Submission
from made_grades import made_grade, made_request
from their_files import LIKE, export

from autograder.cli import USAGE, main
from autograder.commands.exporting import FORMATS
from autograder.errors import CourseError
from autograder.lms.exports.kinds import NAMES, kind_of, refuse_other_file
from autograder.lms.model import GradeState
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

CANVAS = f"""Student,ID,SIS Login ID,Section,{ASSIGNMENT} (4022),HW a=b (7)
    Points Possible,,,,21,21
"Ruiz, Ana",501,aruiz,Sec 1,,
"""
NOTEBOOKS = ("exercise1", "exercise2")


class Run(Protocol):
    """Run `export` on the course."""

    def __call__(self, *words: str) -> Result:
        """Return what it did."""
        ...


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a course with one graded student."""
    course = copy_course(tmp_path_factory.mktemp("asked") / "course")
    Submission("aruiz", "1").store(course.db_url)
    return course.root


@pytest.fixture
def run(root: Path) -> Run:
    """Run `export` on the course, as a user would."""
    env = {"COLUMNS": "200"}
    return lambda *words: CliRunner().invoke(main, ["export", *words, "--course-dir", str(root)], env=env)


@pytest.fixture
def like(tmp_path: Path) -> str:
    """Return the instructor's own export of Canvas's gradebook."""
    path = tmp_path / "gradebook.csv"
    path.write_text(CANVAS, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("more", [["--by-exercise"], []])
@pytest.mark.parametrize("with_file", [True, False])
def test_a_notebook_that_there_is_not_is_named(
    run: Run, like: str, more: list[str], *, with_file: bool
) -> None:
    """With those there are; it is no column of that whole name."""
    words = ["--like", like] if with_file else []

    done = run("canvas", ASSIGNMENT, "--column", "exercise1=4022", *words, *more, "--dry-run")

    assert done.exit_code != 0
    assert "there is no notebook 'exercise1'" in done.stderr
    assert "exercise1_" in done.stderr.split("The notebooks: ")[1]


@pytest.mark.parametrize("name", ["HW a=b (7)", "HW a=b"])
def test_a_header_may_hold_the_sign_between_notebook_and_column(run: Run, like: str, name: str) -> None:
    """If the file has such a column, it is meant."""
    done = run("canvas", ASSIGNMENT, "--column", name, "--like", like, "--json", "--dry-run")

    assert {change["column"] for change in json.loads(done.stdout)[0]["changes"]} == {"HW a=b (7)"}


@pytest.mark.parametrize("words", [["moodle"], ["moodle", ASSIGNMENT], ["Moodle", ASSIGNMENT]])
def test_both_ways_into_moodle_are_offered(run: Run, words: list[str]) -> None:
    """Somebody who says Moodle knows of no difference yet."""
    done = run(*words)

    assert done.exit_code == USAGE
    assert "moodle-worksheet (the grading worksheet" in done.output
    assert "moodle-grades (the gradebook's" in done.output


@pytest.mark.parametrize("found", LIKE)
@pytest.mark.parametrize("asked", FORMATS)
def test_a_file_of_another_kind_is_told_for_what_it_is(asked: str, found: str) -> None:
    """Of another LMS, or of another part of the same; which it is, and which is needed."""
    sheet = parse_sheet(LIKE[found].format("").encode(), "theirs.csv")

    assert kind_of(sheet) == found
    if asked in {found, *(FORMATS.keys() - NAMES.keys())}:
        refuse_other_file(asked, sheet)
        return
    with pytest.raises(CourseError) as caught:
        refuse_other_file(asked, sheet)
    assert NAMES[found] in caught.value.what
    assert f"`export {asked}` needs {NAMES[asked]}" in caught.value.what
    assert caught.value.remedy.endswith(f"autograder export {found}.")


@pytest.mark.parametrize(
    "text", ["Name,Email\nAna,a@x.test\n", "Identifier\n", "Student\nAna 1\nBo 2\n", "a,b\nAna 1,\nBo 2,\n"]
)
def test_a_file_that_nobody_knows_is_left_to_the_format(text: str) -> None:
    """It may be in another language, or a list of participants."""
    assert kind_of(parse_sheet(text.encode(), "theirs.csv")) == ""


def test_the_command_refuses_a_file_of_another_kind(run: Run, tmp_path: Path) -> None:
    """A download of submissions too; nothing is written."""
    files = {name: tmp_path / f"{name}.csv" for name in ("moodle-grades", "moodle-worksheet")}
    for name, path in files.items():
        path.write_text(LIKE[name].format(""), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "submissions.zip", "w") as archive:
        archive.writestr("ruizana_501_77_hw1.ipynb", "{}")

    grades = run("moodle-worksheet", ASSIGNMENT, "--like", str(files["moodle-grades"]))
    worksheet = run("moodle-grades", ASSIGNMENT, "--like", str(files["moodle-worksheet"]))
    zipped = run("canvas", ASSIGNMENT, "--like", str(tmp_path / "submissions.zip"))

    assert "looks like an export of Moodle's gradebook" in grades.stderr
    assert "looks like a grading worksheet of Moodle" in worksheet.stderr
    assert "is a zip archive, and a table is needed" in zipped.stderr
    assert all(done.exit_code != 0 for done in (grades, worksheet, zipped))


def test_a_file_without_a_row_is_not_offered_for_an_upload(run: Run, like: str, tmp_path: Path) -> None:
    """Work that waits for a person has no score, so that nothing is in the file."""
    to = tmp_path / "upload.csv"

    written = run("canvas", ASSIGNMENT, "--like", like, "--to", str(to))
    tried = run("canvas", ASSIGNMENT, "--like", like, "--dry-run")
    told = json.loads(run("canvas", ASSIGNMENT, "--like", like, "--dry-run", "--json").stdout)
    sent = run("canvas", ASSIGNMENT, "--like", like, "--unfinished", "--to", str(to))

    assert written.output.splitlines()[0].startswith(f"{ASSIGNMENT} → canvas: nothing to upload (")
    assert written.output.splitlines()[0].endswith("upload.csv, without a row)")
    assert tried.output.splitlines()[0] == f"{ASSIGNMENT} → canvas: nothing to upload (nothing written)"
    assert told[0]["nothing_to_upload"] is True
    assert "nothing" not in sent.output.splitlines()[0]


@pytest.mark.parametrize("name", sorted(LIKE.keys() - {"gradescope"}))
def test_every_format_knows_when_its_file_is_empty(name: str) -> None:
    """And when it is not."""
    like = LIKE[name].format("")
    assert export(name, made_request([made_grade("s1", GradeState.MISSING)], like)).is_empty
    assert not export(name, made_request([made_grade("s1")], like)).is_empty


def test_a_folder_that_does_not_exist_is_made(run: Run, tmp_path: Path) -> None:
    """Of a file, or for it; in a folder that is there the file has its usual name."""
    for to in ("a/b/grades.csv", "c/d/", "c/d"):
        done = run(ASSIGNMENT, "--to", f"{tmp_path}/{to}")
        assert done.exit_code == 0, done.output

    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.csv")) == [
        "a/b/grades.csv",
        f"c/d/{ASSIGNMENT}.csv",
    ]
