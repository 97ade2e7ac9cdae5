"""The commands `export` and `push`, from a gradebook to the file or the server of an LMS."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

import pytest
from canvas_scenes import Hours
from canvas_world import ASSIGNMENT as ITEM
from canvas_world import COURSE, TOKEN, Pupil, World
from click.testing import CliRunner
from course_copies import ROOT, copy_course
from graded_submissions import ASSIGNMENT, Submission
from loopback_canvas import LoopbackCanvas
from small_course import ASSIGNMENT as SMALL
from small_course import grade, make_course

from autograder.cli import FAILED, USAGE, main
from autograder.commands.pushing import Asked, wanted_of
from autograder.gradebook import Gradebook
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.push import web

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

    from autograder.course.course import Course

STUDENTS = {"aruiz": ("501", "Ruiz, Ana", "1"), "blind": ("502", "Lindqvist, Bo", "0.5")}
"""Number, name, and the share of the automatic points that was earned."""
MISSING = "cmuller"
LIKE = f"""Student,ID,SIS User ID,SIS Login ID,Section,HW1: Heads (4021),{ASSIGNMENT} (4022)
    Points Possible,,,,,10,21
"Ruiz, Ana",501,S0001,aruiz,Sec 1,3.5,7.00
"Lindqvist, Bo",502,S0002,blind,Sec 1,4.5,
"Müller, Jean-Luc",503,007,cmuller,Sec 1,5.5,6.50
"Student, Test",999,,,Sec 1,,
"""


class Run(Protocol):
    """Run a command on the course."""

    def __call__(self, *words: str, token: str | None = None, **settings: str | None) -> Result:
        """Return what it did."""
        ...


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course with two graded students, and one who handed in nothing."""
    course = copy_course(tmp_path_factory.mktemp("sending") / "course")
    for student, (_, _, share) in STUDENTS.items():
        Submission(student, share).store(course.db_url)
    people = [
        Person(
            lms=Lms.CANVAS,
            student=student,
            name=name,
            email=f"{student}@example.edu",
            ids={IdKind.USER: number},
        )
        for student, (number, name, _) in STUDENTS.items()
    ]
    missing = Person(lms=Lms.CANVAS, student=MISSING, name="Müller, Jean-Luc", ids={IdKind.USER: "503"})
    with Gradebook(course.db_url) as gradebook:
        gradebook.enroll_people([*people, missing])
    return course


@pytest.fixture
def run(graded: Course) -> Run:
    """Run a command on the course, as a user would."""

    def run(*words: str, token: str | None = TOKEN, **settings: str | None) -> Result:
        env = {"AUTOGRADER_CANVAS_TOKEN": token, "COLUMNS": "100"} | settings
        return CliRunner().invoke(main, [*words, "--course-dir", str(graded.root)], env=env)

    return run


@pytest.fixture
def like(tmp_path: Path) -> Path:
    """Return the instructor's own export of Canvas's gradebook."""
    path = tmp_path / "gradebook.csv"
    path.write_text(LIKE, encoding="utf-8")
    return path


@pytest.fixture
def canvas(monkeypatch: pytest.MonkeyPatch) -> Iterator[LoopbackCanvas]:
    """Return a Canvas on this machine, with whom hours pass at once."""
    hours = Hours()
    monkeypatch.setattr(web, "DEFAULT_CLOCK", hours.clock())
    pupils = [Pupil(id=int(number), name=name) for number, name, _ in STUDENTS.values()]
    world = World([*pupils, Pupil(id=503, name="Müller, Jean-Luc")], name=ASSIGNMENT, points_possible=21.0)
    with LoopbackCanvas(world, hours.clock()) as server:
        yield server


# ------------------------------------------------------------------ export


def test_what_is_exported_is_what_canvas_takes_and_what_was_said(
    run: Run, like: Path, tmp_path: Path
) -> None:
    """The instructor's own file comes back with one column filled; nobody's score goes."""
    to = tmp_path / "upload.csv"

    done = run("export", "canvas", ASSIGNMENT, "--like", str(like), "--unfinished", "--to", str(to), "--json")

    assert done.exit_code == 0, done.output
    (told,) = json.loads(done.stdout)
    changes = {change["student"]: change for change in told["changes"]}
    assert {student: change["action"] for student, change in changes.items()} == {
        "aruiz": "applied",
        "blind": "applied",
        MISSING: "skipped",
        "Student, Test": "skipped",
    }
    assert (changes["aruiz"]["before"], changes["aruiz"]["after"]) == ("7.00", "18.00")
    text = to.read_text(encoding="utf-8")
    assert "HW1: Heads" not in text
    assert '"Lindqvist, Bo",502,S0002,blind,Sec 1,9.00' in text


def test_a_dry_run_shows_everybody_and_writes_nothing(run: Run, like: Path, graded: Course) -> None:
    """Neither the file nor its folder."""
    done = run("export", "canvas", ASSIGNMENT, "--like", str(like), "--dry-run")

    assert done.exit_code == 0
    assert "nothing written" in done.output
    assert "Student, Test" in done.output
    assert "a person has still to grade a part of it" in done.output
    assert "--unfinished sends" in done.output
    assert not (graded.root / "exports").exists()


def test_missing_is_a_zero_only_if_the_instructor_says_so(run: Run, like: Path, tmp_path: Path) -> None:
    """And excused is neither."""
    common = (
        "export",
        "canvas",
        ASSIGNMENT,
        "--like",
        str(like),
        "--unfinished",
        "--to",
        str(tmp_path / "x.csv"),
    )

    run(*common)
    plain = (tmp_path / "x.csv").read_text(encoding="utf-8")
    run(*common, "--missing-as-zero", "--excuse", "blind")
    zero = (tmp_path / "x.csv").read_text(encoding="utf-8")

    assert "6.50" in plain or MISSING not in plain
    assert "cmuller,Sec 1,0.00" in zero
    assert "blind,Sec 1,EX" in zero


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("canvas", ASSIGNMENT, "--excuse", "aruis"), "Did you mean 'aruiz'?"),
        (("canvas", ASSIGNMENT, "--like", "{like}", "--title", "HW2"), "'HW1: Heads (4021)'"),
        (("canvas", ASSIGNMENT, "--set", "frm=mat"), "no option 'frm'"),
        (("canvas", ASSIGNMENT, "--set", "nothing"), "has no value"),
        (("canvas", ASSIGNMENT, "--column", "A", "--column", "B"), "two columns, 'A' and 'B'"),
        (("canvas", "--like", "{like}"), "it is of one assignment, and the course has 2"),
        (("canvas", ASSIGNMENT, "--like", "no-such-file.csv"), "no-such-file.csv: does not exist"),
        (("moodle-worksheet", ASSIGNMENT), "--like"),
        (("canva",), "Did you mean 'canvas'?"),
        (("canva", ASSIGNMENT), "Did you mean 'canvas'?"),
        (("canvas", "multi_head"), f"Did you mean '{ASSIGNMENT}'?"),
        (("canvas", ASSIGNMENT, "more"), "one word too many"),
    ],
)
def test_what_does_not_fit_is_told_before_anything_is_written(
    run: Run, like: Path, graded: Course, words: tuple[str, ...], told: str
) -> None:
    """One line that says what to do, exit code 2, and no file."""
    done = run("export", *(word.format(like=like) for word in words))

    assert done.exit_code == USAGE
    assert told in done.output
    assert not (graded.root / "exports").exists()


def test_without_a_format_the_table_is_written(run: Run, tmp_path: Path) -> None:
    """With a column for each grade cell, as before there were formats."""
    to = tmp_path / "grades.csv"

    done = run("export", ASSIGNMENT, "--to", str(to))

    assert done.exit_code == 0, done.output
    header, *rows = to.read_text(encoding="utf-8").splitlines()
    assert "exercise3_forward.test_forward" in header
    assert [row.split(",")[0] for row in rows] == ["aruiz", "blind", MISSING]


def test_a_folder_of_an_earlier_export_keeps_nothing_of_it(run: Run, graded: Course) -> None:
    """A result of somebody who is no longer in it would be uploaded again."""
    first = run("export", "gradescope", ASSIGNMENT, "--unfinished", "--json")
    (told,) = json.loads(first.stdout)
    folder = graded.root / "exports" / f"{ASSIGNMENT}-gradescope"
    stale = folder / "gone" / "results.json"
    stale.parent.mkdir()
    stale.write_text("{}")

    try:
        assert run("export", "gradescope", ASSIGNMENT, "--unfinished").exit_code == 0
        left = {path.relative_to(folder).as_posix() for path in folder.rglob("*.json")}
        assert left == {name for name in told["files"] if name.endswith(".json")}
        assert len(left) == len(STUDENTS)
    finally:
        for path in sorted((graded.root / "exports").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (graded.root / "exports").rmdir()


# -------------------------------------------------------------------- push


def push(run: Run, canvas: LoopbackCanvas, *words: str, token: str | None = TOKEN) -> Result:
    """Push to the Canvas on this machine."""
    where = ("--url", canvas.url, "--course", str(COURSE), "--item", str(ITEM))
    return run("push", "canvas", ASSIGNMENT, "--unfinished", *where, *words, token=token)


def test_a_push_shows_asks_sends_and_reads_back_and_the_next_has_nothing_to_do(
    run: Run, canvas: LoopbackCanvas
) -> None:
    """Who handed in nothing is left out, and gets no zero."""
    tried = push(run, canvas, "--dry-run")
    assert tried.exit_code == 0, tried.output
    assert canvas.changing() == []
    assert "Ruiz, Ana" in tried.output
    assert f"left out: {MISSING}: nothing was handed in" in tried.output

    unasked = push(run, canvas)
    assert unasked.exit_code == USAGE
    assert "the scores of 2 students wait to be sent. Give --yes, or --dry-run." in unasked.output
    assert canvas.changing() == []

    sent = push(run, canvas, "--yes", "--comments")
    assert sent.exit_code == 0, sent.output
    assert "2 sent and read back" in sent.output
    work = canvas.world.work
    assert {user: work[user].entered for user in (501, 502, 503)} == {501: 18.0, 502: 9.0, 503: None}
    (comment,) = (text for text, _ in canvas.world.comments(501))
    assert comment.startswith("18 of 21 points")

    before = len(canvas.changing())
    again = push(run, canvas, "--yes", "--comments")
    assert again.exit_code == 0, again.output
    assert "2 there already" in again.output
    assert len(canvas.changing()) == before


def test_what_machines_read_is_the_same(run: Run, canvas: LoopbackCanvas) -> None:
    """A plan with an outcome for each row that was sent, and one document on standard output."""
    done = push(run, canvas, "--yes", "--json")

    told = json.loads(done.stdout)
    rows = {row["student"]: row for row in told["rows"]}
    assert rows["aruiz"]["outcome"] == {"state": "verified", "found": "18", "reason": ""}
    assert rows[MISSING]["action"] == "skip"
    assert "outcome" not in rows[MISSING]


def test_a_canvas_that_stores_something_else_is_found_out(run: Run, canvas: LoopbackCanvas) -> None:
    """The score is read back; the exit code says that not everything is there."""
    canvas.world.stores_wrong[502] = 4.0

    done = push(run, canvas, "--yes")

    assert done.exit_code == FAILED
    assert "1 sent and read back, 1 failed" in done.output
    assert "failed: blind:" in done.output


def test_no_token_is_told_with_both_ways_to_give_one(run: Run, canvas: LoopbackCanvas) -> None:
    """And never is one an argument."""
    done = push(run, canvas, "--dry-run", token=None)

    assert done.exit_code == FAILED
    assert "AUTOGRADER_CANVAS_TOKEN" in done.output
    assert "--token-file" in done.output


def test_no_output_holds_the_token(run: Run, canvas: LoopbackCanvas) -> None:
    """Right or wrong."""
    for token in (TOKEN, "7053~a-wrong-one-that-is-long"):
        done = push(run, canvas, "--yes", token=token)
        assert token not in done.output


def test_where_to_is_asked_for_if_nobody_says(run: Run) -> None:
    """The option and the setting are both named."""
    done = run("push", "canvas", ASSIGNMENT, "--dry-run")

    assert done.exit_code == USAGE
    assert "Give --url, or set c.Autograder.canvas_url in nbgrader_config.py." in done.output


@pytest.mark.parametrize(
    "page", ["courses/{course}", "courses/{course}/assignments/{item}?view=1", "courses/{course}/gradebook"]
)
def test_the_address_of_a_page_tells_the_course_too(run: Run, canvas: LoopbackCanvas, page: str) -> None:
    """It is what one copies from the browser."""
    url = f"{canvas.url}/{page.format(course=COURSE, item=ITEM)}"

    done = run("push", "canvas", ASSIGNMENT, "--unfinished", "--dry-run", "--url", url)

    assert done.exit_code == 0, done.output
    assert "2 to send" in done.output


def test_who_was_not_chosen_is_no_stranger(run: Run, canvas: LoopbackCanvas) -> None:
    """Those whom only the LMS knows are news only if everybody was looked at."""
    canvas.world.pupils[504] = Pupil(id=504, name="Nguyen, Dia")

    assert "Only in Canvas: Nguyen, Dia." in push(run, canvas, "--dry-run").output
    assert "Only in Canvas" not in push(run, canvas, "--dry-run", "--student", "aruiz").output


def test_whose_score_is_only_what_there_is_so_far_is_told(
    run: Run, canvas: LoopbackCanvas, like: Path
) -> None:
    """To the instructor by name, before it is sent, and to the student in the comment."""
    told = push(run, canvas, "--yes", "--comments").output
    assert "Provisional, because a person has still to grade a part of it: aruiz, blind." in told
    assert canvas.world.comments(501)[0][0].startswith("18 of 21 points so far; 3 wait for a person.")

    exported = run("export", "canvas", ASSIGNMENT, "--like", str(like), "--unfinished", "--dry-run")
    assert "applied: aruiz, blind: so far; a person has still to grade a part of it" in exported.output


def test_feedback_is_written_anew_before_it_is_sent(tmp_path: Path) -> None:
    """A page from before somebody graded by hand tells another score than is sent."""
    course = small_course(tmp_path / "course")
    stale = course.feedback("ana", SMALL) / "index.html"
    stale.parent.mkdir(parents=True)
    stale.write_text("from before")

    wanted = wanted_of(course, SMALL, Asked(feedback=True))

    assert wanted.feedback == {"ana": stale}
    assert "from before" not in stale.read_text(encoding="utf-8")


def small_course(root: Path) -> Course:
    """Return a small course with one student, who is graded."""
    course = make_course(root)
    shutil.copyfile(ROOT / "gradebook.db", course.gradebook)
    with closing(sqlite3.connect(course.gradebook)) as connection, connection:
        connection.execute(
            "INSERT INTO assignment (id, name, course_id) SELECT 'small', ?, id FROM course", (SMALL,)
        )
    grade(course, "ana")
    return course
