"""Sending to Canvas: groups, jobs that end badly, comments, files, and reading back."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from canvas_scenes import Scene, grade, many, pages, states, verified
from canvas_world import CATEGORY, SEE_ATTACHED
from loopback_canvas import PLACE

from autograder.lms.model import GradeState
from autograder.lms.push.canvas.sending import GROUP, JOB_S
from autograder.lms.push.model import EXCUSED
from autograder.lms.push.record import FOLDER

if TYPE_CHECKING:
    from loopback import Answer


ROOT = Path(__file__).parents[2]


# ---------------------------------------------------------------- scores


def test_scores_excuses_comments_and_files_arrive_and_are_read_back(tmp_path: Path) -> None:
    """All of it, once, by documented requests only."""
    grades = [
        grade("ana", "9.5", comment="Good & <clear>\nThink of h = 1."),
        grade("bo", "0"),
        grade("cem", GradeState.EXCUSED),
        grade("dia", GradeState.MISSING),
    ]
    feedback = pages(tmp_path, "ana", "bo")
    with Scene(tmp_path) as scene:
        outcomes = scene.done(*grades, comments=True, feedback=feedback)
        assert states(outcomes) == verified("ana", "bo", "cem")
        assert [one.found for one in outcomes.values()] == ["9.5", "0", EXCUSED]
        assert scene.scores() == {501: 9.5, 502: 0.0, 503: "EX", 504: None}
        texts = {user: [text for text, _ in scene.world.comments(user)] for user in scene.world.work}
        assert texts == {501: ["Good & <clear>\nThink of h = 1."], 502: [SEE_ATTACHED], 503: [], 504: []}
        stored = {file.user: file.data for file in scene.world.files.values()}
        assert stored == {501: feedback["ana"].read_bytes(), 502: feedback["bo"].read_bytes()}
        assert scene.canvas.violations == []


def test_a_second_push_sends_nothing(tmp_path: Path) -> None:
    """Whether our record is there or not: Canvas is looked at."""
    wanted = {"comments": True, "feedback": pages(tmp_path, "ana")}
    with Scene(tmp_path) as scene:
        scene.done(grade("ana", comment="Well done"), **wanted)
        before = len(scene.canvas.changing())
        assert scene.done(grade("ana", comment="Well done"), **wanted) == {}
        for path in (tmp_path / FOLDER).iterdir():
            path.unlink()
        assert scene.done(grade("ana", comment=" Well \r\n done"), **wanted) == {}
        assert len(scene.canvas.changing()) == before


def test_a_class_goes_in_groups_and_each_group_is_one_job(tmp_path: Path) -> None:
    """One request for many scores; what becomes of them is told group by group."""
    with Scene(tmp_path) as scene:
        grades = many(scene, 2 * GROUP + 3)
        push, wanted = scene.push(), scene.wanted(*grades)
        outcomes = push.send(push.plan(wanted), wanted)
        first = next(outcomes)
        assert len(scene.world.jobs) == 1
        assert states({one.row.student: one for one in [first, *outcomes]}) == verified(
            *(one.student for one in grades)
        )
        assert len(scene.world.jobs) == 3
        assert scene.canvas.changing() == [f"POST {PLACE}/update_grades"] * 3
        assert scene.canvas.violations == []


def test_scores_that_a_job_forgets_go_one_by_one(tmp_path: Path) -> None:
    """A job that says `completed` has not said whose scores it entered."""
    with Scene(tmp_path) as scene:
        scene.world.job_drops = {502, 503}
        grades = grade("ana"), grade("bo", "8"), grade("cem", GradeState.EXCUSED)
        assert states(scene.done(*grades)) == verified("ana", "bo", "cem")
        assert [job.state for job in scene.world.jobs.values()] == ["completed"]
        assert scene.scores() == {501: 9.5, 502: 8.0, 503: "EX", 504: None}


def test_a_job_that_breaks_in_its_middle_costs_nobody_their_score(tmp_path: Path) -> None:
    """Those after the break go one by one, and those before are not sent twice."""
    with Scene(tmp_path) as scene:
        grades = many(scene, 9)
        scene.world.job_breaks_after = 4
        assert states(scene.done(*grades)) == verified(*(one.student for one in grades))
        assert [job.state for job in scene.world.jobs.values()] == ["failed"]
        assert len([one for one in scene.canvas.changing() if one.startswith("PUT")]) == 5


def test_a_job_that_never_ends_is_not_waited_for(tmp_path: Path) -> None:
    """Canvas's queue may be long; that the job runs later changes nothing."""
    with Scene(tmp_path) as scene:
        scene.world.job_steps = 10_000
        assert states(scene.done(grade("ana"), grade("bo"))) == verified("ana", "bo")
        assert JOB_S <= scene.hours.time < 2 * JOB_S
        for job in scene.world.jobs.values():
            job.steps = 0
        scene.world.tick()
        assert scene.scores()[501] == 9.5


def test_what_canvas_refuses_for_one_is_told_for_that_one(tmp_path: Path) -> None:
    """In Canvas's words; the others get theirs, although the refusal ends the job."""
    with Scene(tmp_path) as scene:
        scene.world.closed_for = {501}
        outcomes = scene.done(grade("ana"), grade("bo"), grade("cem"))
        assert states(outcomes) == {"ana": "failed", "bo": "verified", "cem": "verified"}
        assert "Cannot grade this submission at this time" in outcomes["ana"].reason
        assert "no score instead of 9.5" in outcomes["ana"].reason


def test_a_server_that_lies_is_caught(tmp_path: Path) -> None:
    """It says that all is well, and has another score: by more than half of the last decimal."""
    with Scene(tmp_path) as scene:
        scene.world.stores_wrong = {501: 9.49, 502: 9.504, 503: 0.0}
        scene.world.forgets_comments = {504}
        grades = grade("ana"), grade("bo"), grade("cem"), grade("dia", comment="Well done")
        outcomes = scene.done(*grades, comments=True, feedback=pages(tmp_path, "dia"))
    assert states(outcomes) == {"ana": "failed", "bo": "verified", "cem": "failed", "dia": "failed"}
    assert outcomes["ana"].reason == "Canvas has 9.49 instead of 9.5"
    assert outcomes["cem"].reason == "Canvas has 0 instead of 9.5"
    assert outcomes["dia"].reason == "Canvas does not show the comment and the file"


def test_a_lie_about_a_comment_is_not_kept_for_the_truth(tmp_path: Path) -> None:
    """The next push sends it again."""
    with Scene(tmp_path) as scene:
        scene.world.forgets_comments = {501}
        scene.done(grade("ana", comment="Well done"), comments=True)
        scene.world.forgets_comments = set()
        assert states(scene.done(grade("ana", comment="Well done"), comments=True)) == verified("ana")
        assert scene.world.comments(501) == [("Well done", [])]


def test_a_copy_that_lags_behind_is_given_time(tmp_path: Path) -> None:
    """Canvas reads from copies of its database; a score is not lost because it is not shown at once."""
    with Scene(tmp_path) as scene:
        listing, late = scene.canvas._some_submissions, iter([True, True, False])
        shown = scene.world.work[501].facts()

        def lagging(fields: list[tuple[str, str]]) -> Answer:
            return scene.canvas._list("/x", [shown], fields) if next(late, False) else listing(fields)

        scene.canvas._some_submissions = lagging  # type: ignore[method-assign]
        assert states(scene.done(grade("ana"))) == verified("ana")


@pytest.mark.parametrize("kind", ["letter_grade", "gpa_scale"])
def test_points_are_not_taken_for_the_name_of_a_letter(tmp_path: Path, kind: str) -> None:
    """In a scheme whose letters are called 4, 3 and 2, four points are not the grade 4."""
    with Scene(tmp_path, grading_type=kind) as scene:
        scene.world.scheme = {"4": 1.0, "3": 0.85, "A": 1.0}
        assert states(scene.done(grade("ana", "4"), grade("bo", "3.5"))) == verified("ana", "bo")
        assert scene.scores()[501] == 4.0
        scene.world.enter(501, "4", excuse=False)
        assert scene.scores()[501] == 10.0, "the naive push gives all points"


# ---------------------------------------------------------------- comments and files


@pytest.mark.parametrize("style", ["redirect", "created", "told"])
def test_every_way_that_a_store_ends_an_upload_is_understood(tmp_path: Path, style: str) -> None:
    """A redirect back, 201 with a place to ask, 201 with the facts."""
    with Scene(tmp_path) as scene:
        scene.canvas.store.style = style
        feedback = pages(tmp_path, "ana")
        assert states(scene.done(grade("ana"), feedback=feedback)) == verified("ana")
        (file,) = scene.world.files.values()
        assert file.data == feedback["ana"].read_bytes()
        assert scene.canvas.violations == []


def test_a_comment_that_canvas_writes_otherwise_is_known_again(tmp_path: Path) -> None:
    """As HTML, with other line ends, under a file name with a number."""
    with Scene(tmp_path) as scene:
        scene.world.rewrites_comments = True
        wanted = {"comments": True, "feedback": pages(tmp_path, "ana")}
        grades = [grade("ana", comment="a < b & c\n\nq.e.d.")]
        assert states(scene.done(*grades, **wanted)) == verified("ana")
        (said,) = scene.world.work[501].comments
        said["attachments"][0]["display_name"] = said["attachments"][0]["display_name"].replace(
            ".html", "-3.html"
        )
        for path in (tmp_path / FOLDER).iterdir():
            path.unlink()
        assert scene.plan(*grades, **wanted).to_send == ()


def test_a_comment_that_somebody_removed_stays_removed(tmp_path: Path) -> None:
    """Our record knows that it was there."""
    with Scene(tmp_path) as scene:
        wanted = {"comments": True, "feedback": pages(tmp_path, "ana")}
        scene.done(grade("ana", comment="Well done"), **wanted)
        scene.world.work[501].comments.clear()
        assert scene.plan(grade("ana", comment="Well done"), **wanted).to_send == ()


def test_what_is_new_goes_and_nothing_else(tmp_path: Path) -> None:
    """After another grading: the new page without the old comment, the new comment without the old page."""
    with Scene(tmp_path) as scene:
        feedback = pages(tmp_path, "ana")
        scene.done(grade("ana", comment="First"), comments=True, feedback=feedback)
        feedback = pages(tmp_path, "ana", text="graded again")
        scene.done(grade("ana", comment="First"), comments=True, feedback=feedback)
        scene.done(grade("ana", "8", comment="Second"), comments=True, feedback=feedback)
        said = scene.world.comments(501)
        assert [text for text, _ in said] == ["First", SEE_ATTACHED, "Second"]
        assert [len(files) for _, files in said] == [1, 1, 0]
        assert said[0][1] != said[1][1]
        assert scene.scores()[501] == 8.0


def test_a_page_that_changes_between_plan_and_sending_is_not_sent(tmp_path: Path) -> None:
    """What is sent is what the table showed."""
    with Scene(tmp_path) as scene:
        feedback = pages(tmp_path, "ana", "bo")
        push, wanted = scene.push(), scene.wanted(grade("ana"), grade("bo"), feedback=feedback)
        plan = push.plan(wanted)
        feedback["ana"].write_text("graded again", encoding="utf-8")
        feedback["bo"].unlink()
        outcomes = {one.row.student: one for one in push.send(plan, wanted)}
        assert states(outcomes) == {"ana": "failed", "bo": "failed"}
        assert "has changed since the plan" in outcomes["ana"].reason
        assert "no plain file" in outcomes["bo"].reason
        assert scene.scores()[501] == 9.5
        assert scene.world.files == {}


def test_comments_go_to_one_student_also_in_a_group(tmp_path: Path) -> None:
    """A feedback page is about one student's work."""
    with Scene(tmp_path, group_category_id=55) as scene:
        scene.world.groups = {1: [501, 502]}
        scene.done(grade("ana", comment="For Ana"), grade("bo", comment="For Bo"), comments=True)
        fields = [pair for one in scene.canvas.asked if one.method == "PUT" for pair in one.form]
        assert ("comment[group_comment]", "false") in fields
        assert ("comment[group_comment]", "true") not in fields
        assert scene.world.comments(501) == [("For Ana", [])]


def scope(method: str, path: str) -> str:
    """Return what a scoped token must have for a request, as Canvas writes it."""
    named = {"courses": "course_id", "assignments": "assignment_id", "submissions": "user_id"}
    named |= {"group_categories": "group_category_id", "groups": "group_id"}
    parts = path.split("/")
    for at, part in enumerate(parts):
        if part.isdigit():
            last = at == len(parts) - 1 and parts[at - 1] != "submissions"
            parts[at] = ":id" if last or parts[at - 1] == "files" else f":{named[parts[at - 1]]}"
    return f"url:{method}|{'/'.join(parts)}"


def test_the_manual_lists_the_scopes_that_are_needed_and_no_other(tmp_path: Path) -> None:
    """A token that can do less than a person is the better one."""
    page = (ROOT / "docs" / "integrator" / "canvas.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"`(url:[^`]+)`", page.replace("\\|", "|")))

    with Scene(tmp_path, group_category_id=CATEGORY, name="HW") as scene:
        scene.world.groups = {1: [501]}
        push = scene.push(course="DL-26", assignment="HW")
        scene.world.job_drops = {501}
        wanted = scene.wanted(grade("ana"), feedback=pages(tmp_path, "ana"))
        assert len(list(push.send(push.plan(wanted), wanted))) == 1
        scene.push()
        asked = {scope(one.method, one.path) for one in scene.canvas.asked}

    assert asked == listed
