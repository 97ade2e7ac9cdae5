"""What Canvas does not take, or makes something else of: told before it is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from canvas_scenes import Scene, grade, pages
from canvas_world import CATEGORY

from autograder.lms.model import GradeState
from autograder.lms.push.canvas.carried import LONGEST_COMMENT
from autograder.lms.push.model import Action

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.lms.push.model import Plan, Row

MISSING, UNGRADED = GradeState.MISSING, GradeState.UNGRADED


def only(plan: Plan) -> Row:
    """Return the one row of a plan."""
    (row,) = plan.rows
    return row


OBSTACLES = [
    ({"published": False}, "not published"),
    ({"grading_type": "not_graded"}, "not graded in Canvas"),
    ({"moderated_grading": True}, "moderated"),
    ({"anonymize_students": True}, "hides whose work"),
    ({"has_sub_assignments": True}, "checkpoints"),
]


@pytest.mark.parametrize(("facts", "said"), OBSTACLES, ids=str)
def test_what_canvas_would_refuse_is_told_for_each_student(
    tmp_path: Path, facts: dict[str, Any], said: str
) -> None:
    """Before anything is sent."""
    with Scene(tmp_path, **facts) as scene:
        plan = scene.plan(grade("ana"), grade("bo", MISSING), grade("cem", GradeState.EXCUSED))
        assert [row.action for row in plan.rows] == [Action.BLOCKED, Action.SKIP, Action.BLOCKED]
        assert all(said in row.reason for row in plan.rows if row.action is Action.BLOCKED)
        assert plan.to_send == ()


def test_a_score_that_complete_or_incomplete_cannot_hold_is_blocked(tmp_path: Path) -> None:
    """Canvas takes a score away that it cannot show so."""
    with Scene(tmp_path, grading_type="pass_fail") as scene:
        scene.world.work[501].entered = 10.0
        grades = grade("ana", "9.5"), grade("bo", "10"), grade("cem", "0")
        plan = scene.plan(*grades)
        assert [row.action for row in plan.rows] == [Action.BLOCKED, Action.SEND, Action.SEND]
        assert all(one.state == "verified" for one in scene.done(*grades).values())
        assert scene.scores()[501] == 10.0
        scene.world.enter(501, "9.5", excuse=False)
        assert scene.scores()[501] is None, "the naive push takes it away"


def test_who_has_left_or_was_not_given_the_assignment_is_blocked(tmp_path: Path) -> None:
    """Canvas tells of neither more than that it finds nobody."""
    with Scene(tmp_path) as scene:
        scene.world.pupils[501].states = ("completed",)
        scene.world.pupils[502].states = ("completed", "active")
        scene.world.pupils[503].states = ("inactive",)
        del scene.world.work[504]
        rows = scene.plan(grade("ana"), grade("bo"), grade("cem"), grade("dia")).rows

    assert [row.action for row in rows] == [Action.BLOCKED, Action.SEND, Action.SEND, Action.BLOCKED]
    assert "enrolment in Canvas has ended" in rows[0].reason
    assert "not assigned to them" in rows[3].reason


def test_members_of_a_group_with_different_scores_are_blocked(tmp_path: Path) -> None:
    """Canvas gives all of them one score: the last one sent would win."""
    grades = grade("ana", "9"), grade("bo", "8"), grade("cem", "7"), grade("dia", "7")
    with Scene(tmp_path, group_category_id=CATEGORY) as scene:
        scene.world.groups = {1: [501, 502], 2: [503, 504], 3: []}
        plan = scene.plan(*grades)
        assert [row.action for row in plan.rows] == [Action.BLOCKED] * 2 + [Action.SEND] * 2
        assert "here they have 8, 9" in plan.rows[0].reason
        assert scene.canvas.violations == []
        scene.world.enter(501, "9", excuse=False)
        scene.world.enter(502, "8", excuse=False)
        assert scene.scores()[501] == 8.0, "the naive push gives the last one to both"
    with Scene(tmp_path, group_category_id=CATEGORY, grade_group_students_individually=True) as scene:
        scene.world.groups = {1: [501, 502]}
        assert all(row.action is Action.SEND for row in scene.plan(*grades).rows)


def test_one_of_a_group_is_enough_and_an_excuse_is_their_own(tmp_path: Path) -> None:
    """One hands in for all; Canvas leaves excused members alone."""
    grades = grade("ana", "9"), grade("bo", MISSING), grade("cem", GradeState.EXCUSED), grade("dia", "9")
    with Scene(tmp_path, group_category_id=CATEGORY) as scene:
        scene.world.groups = {1: [501, 502, 503, 504]}
        assert all(one.state == "verified" for one in scene.done(*grades).values())
        assert scene.scores() == {501: 9.0, 502: 9.0, 503: "EX", 504: 9.0}
        assert scene.plan(*grades).to_send == ()


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"points_possible": 21.0}, "Canvas counts 21 points"),
        ({"post_manually": True}, "hides scores"),
        ({"muted": True}, "hides scores"),
        ({"in_closed_grading_period": True}, "closed grading period"),
    ],
    ids=str,
)
def test_what_an_instructor_must_know_is_a_note(tmp_path: Path, facts: dict[str, Any], said: str) -> None:
    """It stops nothing."""
    with Scene(tmp_path, **facts) as scene:
        plan = scene.plan(grade("ana"))

    assert any(said in note for note in plan.notes)
    assert only(plan).action is Action.SEND


# ---------------------------------------------------------------- comments and files


def test_comments_and_files_go_with_graded_work_only(tmp_path: Path) -> None:
    """And only if they are asked for."""
    states = {"ana": "9", "bo": MISSING, "cem": UNGRADED, "dia": GradeState.EXCUSED}
    grades = [grade(name, points, comment="Well done") for name, points in states.items()]
    with Scene(tmp_path) as scene:
        bare = scene.plan(*grades)
        plan = scene.plan(*grades, comments=True, feedback=pages(tmp_path, *states))

    assert all(not row.comment and row.file is None for row in bare.rows)
    assert [row.parts for row in plan.rows] == [("score", "comment", "file"), (), (), ("score",)]


def test_what_cannot_be_carried_is_left_out_and_told(tmp_path: Path) -> None:
    """The score goes all the same."""
    feedback = pages(tmp_path, "ana", "bo")
    feedback["cem"] = tmp_path / "no-such.html"
    feedback["bo"].unlink()
    feedback["bo"].symlink_to(feedback["ana"])
    with Scene(tmp_path) as scene:
        long = "ü" * (LONGEST_COMMENT // 2 + 1)
        grades = grade("ana", comment=long), grade("bo"), grade("cem")
        rows = scene.plan(*grades, comments=True, feedback=feedback).rows

    assert [row.parts for row in rows] == [("score", "file"), ("score",), ("score",)]
    assert "longer than" in rows[0].reason
    assert "no plain file" in rows[1].reason
    assert "no plain file" in rows[2].reason


def test_names_of_files_differ_by_student_and_content(tmp_path: Path) -> None:
    """Canvas replaces a file by another one of its name; and an equal page of two students is two files."""
    feedback = pages(tmp_path, "ana", "bo")
    feedback["bo"].write_bytes(feedback["ana"].read_bytes())
    with Scene(tmp_path) as scene:
        first = scene.plan(grade("ana"), grade("bo"), feedback=feedback)
        again = scene.plan(grade("ana"), grade("bo"), feedback=feedback)
        feedback["ana"].write_text("another", encoding="utf-8")
        changed = scene.plan(grade("ana"), grade("bo"), feedback=feedback)

    names = [[row.file_name for row in plan.rows] for plan in (first, again, changed)]
    assert names[0] == names[1]
    assert len({*names[0], *names[2]}) == 3
    assert all(name.startswith("feedback_hw1_") and name.endswith(".html") for name in names[0])
