"""The commands `push lti` and `push moodle`, from a gradebook to a server and back."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING, Protocol

import pytest
from click.testing import CliRunner
from course_copies import copy_course
from graded_submissions import ASSIGNMENT, Submission
from loopback_lti import CLIENT, LtiPlatform, Setup, member
from loopback_moodle import TOKEN, Assign, MoodleSite
from lti_rules import Kind

from autograder.cli import FAILED, USAGE, main
from autograder.commands import pushing
from autograder.gradebook import Gradebook
from autograder.lms.model import IdKind, Lms
from autograder.lms.push.lti import keys

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from click.testing import Result

    from autograder.course.course import Course

STUDENTS = {"aruiz": "1", "blind": "0.5"}
"""Students, and the share of the automatic points that each earned."""


class Run(Protocol):
    """Run a command on the course."""

    def __call__(self, *words: str) -> Result:
        """Return what it did."""
        ...


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a course with two graded students."""
    course = copy_course(tmp_path_factory.mktemp("pushing") / "course")
    for student, share in STUDENTS.items():
        Submission(student, share).store(course.db_url)
    return course


@pytest.fixture
def run(graded: Course, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command on the course, as a user would; keys are made short, for that is quick."""
    monkeypatch.setattr(keys, "BITS", keys.MIN_BITS)

    def run(*words: str) -> Result:
        env = {"AUTOGRADER_MOODLE_TOKEN": TOKEN, keys.VARIABLE: None, "COLUMNS": "100"}
        return CliRunner().invoke(main, [*words, "--course-dir", str(graded.root)], env=env)

    return run


@pytest.fixture
def platform(run: Run, graded: Course) -> Iterator[LtiPlatform]:
    """Return a platform on which the tool of the course is registered, with the key that the command made."""
    told = json.loads(run("push", "lti", "--keys", "--json").output)
    people = [
        member(f"u-{name}", email=f"{name}@example.edu", lis_person_sourcedid=name) for name in STUDENTS
    ]
    with LtiPlatform(told["jwks"]["keys"][0], Setup(kind=Kind.CANVAS, members=people)) as platform:
        known = {
            "platform": "canvas",
            "client_id": CLIENT,
            "token_url": platform.token_url,
            "lineitems": platform.items_url,
            "context_memberships_url": platform.members_url,
        }
        registration = graded.root / "lti.toml"
        registration.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in known.items()))
        yield platform
        registration.unlink()


def test_scores_go_over_lti_and_the_ids_that_were_found_are_kept(
    run: Run, platform: LtiPlatform, graded: Course
) -> None:
    """Asked first, shown, sent, read back; the second time there is nothing to send."""
    words = ("push", "lti", ASSIGNMENT, "--unfinished", "--comments")
    shown = run(*words, "--dry-run")
    unasked = run(*words)
    assert platform.items == {}
    done = run(*words, "--yes")
    again = run(*words, "--yes")

    assert (shown.exit_code, unasked.exit_code, done.exit_code, again.exit_code) == (0, USAGE, 0, 0)
    assert f"'{ASSIGNMENT}' of 21 points is made" in shown.output
    assert "Give --yes, or --dry-run" in unasked.output
    (item,) = platform.items.values()
    assert {user: result.score for user, result in item.results.items()} == {"u-aruiz": 18.0, "u-blind": 9.0}
    assert platform.broken == []
    assert "2 there already" in again.output
    with Gradebook(graded.db_url) as gradebook:
        ids = {one.student: one.ids for one in gradebook.people() if one.lms is Lms.CANVAS}
    assert ids == {name: {IdKind.LTI: f"u-{name}"} for name in STUDENTS}


def test_the_key_is_made_once_for_its_owner(run: Run, graded: Course, tmp_path: Path) -> None:
    """What is printed is public, twice the same, and in both ways that platforms take."""
    path = tmp_path / "tool.key"
    first = run("push", "lti", "--keys", "--key-file", str(path))
    second = run("push", "lti", "--keys", "--key-file", str(path), "--json")

    told = json.loads(second.stdout)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert told["made"] == ""
    assert told["pem"].strip() in first.stdout
    assert told["jwks"]["keys"][0]["kid"] in first.stdout
    assert "PRIVATE" not in first.output + second.output
    assert not (graded.root / "tool.key").exists()


def test_the_roster_of_the_platform_is_written_for_collect(
    run: Run, platform: LtiPlatform, tmp_path: Path
) -> None:
    """For its owner alone: it holds people's addresses."""
    to = tmp_path / "members.csv"
    done = run("push", "lti", "--roster-to", str(to))

    assert done.exit_code == 0, done.output
    assert "2 people" in done.output
    assert to.read_text().splitlines()[0].startswith("lti_user_id,id_number,email")
    assert stat.S_IMODE(to.stat().st_mode) == 0o600
    assert platform.broken == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "lti.toml: is not there, and so is no lti.json"),
        (("--registration", "no-such.toml"), "no-such.toml: cannot be read"),
    ],
)
def test_a_tool_that_is_not_registered_is_told_how(run: Run, words: tuple[str, ...], told: str) -> None:
    """One line, before anything is asked of anybody."""
    done = run("push", "lti", ASSIGNMENT, "--dry-run", *words)

    assert done.exit_code in {USAGE, FAILED}
    assert told in done.output


def test_scores_comments_and_pages_go_to_moodle(
    run: Run, graded: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found by their login, sent once, and read back."""
    people = [{"id": 70 + at, "username": name} for at, name in enumerate(STUDENTS)]
    page = graded.feedback("aruiz", ASSIGNMENT) / "index.html"
    page.parent.mkdir(parents=True)
    page.write_text("<p>Well done.</p>")
    # Nothing was graded here that a page could be written of.
    monkeypatch.setattr(pushing, "publish_feedback", lambda *_, **__: {"aruiz": page})
    site = MoodleSite(people, [Assign(grade=21, name=ASSIGNMENT)])
    with site:
        where = ("--url", f"{site.url}/moodle", "--course", "ATT-1")
        words = ("push", "moodle", ASSIGNMENT, *where, "--unfinished", "--comments", "--feedback", "--yes")
        done, again = run(*words), run(*words)

    (assign,) = site.assigns.values()
    assert (done.exit_code, again.exit_code) == (0, 0), done.output + again.output
    assert {user: str(one.grade) for user, one in assign.graded.items()} == {70: "18", 71: "9"}
    assert list(assign.graded[70].files.values()) == [b"<p>Well done.</p>"]
    assert "9 of 21 points so far; 3 wait for a person." in assign.graded[71].comment
    assert "2 there already" in again.output
    assert site.broken == []
    assert TOKEN not in done.output + again.output


def test_pages_do_not_go_over_lti_and_that_is_said(run: Run) -> None:
    """Before anybody is asked anything."""
    done = run("push", "lti", ASSIGNMENT, "--feedback", "--dry-run")

    assert done.exit_code == USAGE
    assert "--feedback: LTI carries scores and comments, and no files." in done.output
