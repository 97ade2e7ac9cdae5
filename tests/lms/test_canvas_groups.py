"""Whose scores a push to Canvas changes: those that its table shows, as they were when it was made."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from canvas_scenes import USERS, Scene, grade, many, states, verified
from canvas_world import CATEGORY, Pupil, Work
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.lms.model import GradeState
from autograder.lms.push.canvas.sending import GROUP
from autograder.lms.push.model import EXCUSED, Action, score_text

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.lms.model import Grade
    from autograder.lms.push.model import Outcome

MISSING, UNGRADED = GradeState.MISSING, GradeState.UNGRADED
SHARED: dict[str, Any] = {"group_category_id": CATEGORY}


def shown(scene: Scene) -> dict[int, str]:
    """Return what Canvas has, as plans write it."""
    return {user: EXCUSED if score == "EX" else score_text(score) for user, score in scene.scores().items()}


# ---------------------------------------------------------------- groups


@pytest.mark.parametrize(
    ("ana", "zero", "bo", "has"),
    [
        ("9", False, UNGRADED, None),
        ("9", False, UNGRADED, 5.0),
        ("9", False, MISSING, 5.0),
        ("9", False, None, None),
        ("9", False, None, 5.0),
        (MISSING, True, UNGRADED, 5.0),
        (MISSING, True, None, None),
    ],
)
def test_a_member_who_is_not_to_get_the_score_keeps_their_own(
    tmp_path: Path, *, ana: str | GradeState, zero: bool, bo: GradeState | None, has: float | None
) -> None:
    """Whose work waits, who has a score by hand, who was not chosen: nothing goes to the group."""
    grades = [grade("ana", ana), *([] if bo is None else [grade("bo", bo)]), grade("cem", "7")]
    with Scene(tmp_path, **SHARED) as scene:
        scene.world.groups = {1: [501, 502]}
        scene.world.work[502].entered = has
        rows = {row.student: row for row in scene.plan(*grades, missing_as_zero=zero).rows}
        assert rows["ana"].action is Action.BLOCKED
        assert "Canvas gives all of group Group 1 (1) one score, also Lindqvist, Bo" in rows["ana"].reason
        assert states(scene.done(*grades, missing_as_zero=zero)) == verified("cem")
        assert scene.scores() == {501: None, 502: has, 503: 7.0, 504: None}
        scene.world.enter(501, "9", excuse=False)
        assert scene.scores()[502] == 9.0, "the naive push gives it to both"


def test_a_member_who_handed_in_nothing_gets_the_groups_score_and_a_row_says_so(tmp_path: Path) -> None:
    """One hands in for all; it is shown, sent and read back."""
    grades = grade("ana", "9"), grade("bo", MISSING, reason="nothing was handed in")
    with Scene(tmp_path, **SHARED) as scene:
        scene.world.groups = {1: [501, 502]}
        row = scene.plan(*grades).rows[1]
        assert (row.action, row.before, row.after) == (Action.SEND, "", "9")
        assert row.reason.startswith("nothing was handed in; Canvas gives all of group")
        assert states(scene.done(*grades)) == verified("ana", "bo")
        assert scene.plan(*grades).to_send == ()


def test_members_whom_the_course_does_not_know_or_who_have_left_keep_what_they_have(tmp_path: Path) -> None:
    """Canvas does not even show what they have."""
    with Scene(tmp_path, **SHARED) as scene:
        scene.world.groups = {1: [501, 502], 2: [503, 777]}
        scene.world.pupils[502].states = ("completed",)
        scene.world.work[502].entered = 3.0
        scene.world.work[777] = Work(user=777, entered=4.0)
        plan = scene.plan(grade("ana", "9"), grade("cem", "8"))
        assert [row.action for row in plan.rows] == [Action.BLOCKED] * 2
        assert "also Lindqvist, Bo," in plan.rows[0].reason
        assert "also user 777," in plan.rows[1].reason


def test_a_member_who_has_the_score_or_an_excuse_is_in_nobodys_way(tmp_path: Path) -> None:
    """Nothing of theirs would change."""
    with Scene(tmp_path, **SHARED) as scene:
        scene.world.groups = {1: [501, 502, 503]}
        scene.world.work[502].entered = 9.0
        scene.world.work[503].excused = True
        assert states(scene.done(grade("ana", "9"))) == verified("ana")
        assert scene.scores() == {501: 9.0, 502: 9.0, 503: "EX", 504: None}


def test_an_excuse_of_a_large_group_goes_before_the_scores_of_the_others(tmp_path: Path) -> None:
    """A score of another member goes to all who are not excused yet, whichever batch they are in."""
    with Scene(tmp_path, **SHARED) as scene:
        grades: list[Grade] = many(scene, GROUP + 3)
        scene.world.groups = {1: [501, 502]}
        # By name the one who is excused comes last.
        excused = replace(grade("bo", GradeState.EXCUSED), student="zz")
        grades = [grade("ana", "9"), *grades, excused]
        assert all(one.state == "verified" for one in scene.done(*grades).values())
        assert (scene.scores()[501], scene.scores()[502]) == (9.0, "EX")


MEMBERS = st.lists(st.sampled_from([0, 1, 2]), min_size=4, max_size=4)
HELD = st.sampled_from([None, "EX", 5.0, 9.0])
GIVEN = st.sampled_from([None, "9", "9", "5", MISSING, UNGRADED, GradeState.EXCUSED])


@given(
    groups=MEMBERS,
    held=st.lists(HELD, min_size=4, max_size=4),
    given_=st.lists(GIVEN, min_size=4, max_size=4),
    wanted=st.fixed_dictionaries({"missing_as_zero": st.booleans(), "clear": st.booleans()}),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_only_what_the_table_shows_becomes_another_score(
    tmp_path: Path,
    groups: list[int],
    held: list[float | str | None],
    given_: list[str | GradeState | None],
    wanted: dict[str, bool],
) -> None:
    """In whatever groups, whoever is chosen: rows come true, and nobody else's score changes."""
    grades = [grade(name, one) for name, one in zip(USERS, given_, strict=True) if one is not None]
    with Scene(tmp_path, **SHARED) as scene:
        scene.canvas.page = 50
        for user, group, has in zip(USERS.values(), groups, held, strict=True):
            scene.world.groups.setdefault(group, []).append(user)
            scene.world.work[user].excused = has == "EX"
            scene.world.work[user].entered = has if isinstance(has, float) else None
        scene.world.groups.pop(0, None)
        before, plan = shown(scene), scene.plan(*grades, **wanted)
        outcomes = scene.done(*grades, **wanted)
        after, again = shown(scene), scene.plan(*grades, **wanted)

    assert all(one.state == "verified" for one in outcomes.values())
    planned = {int(row.key): row.after for row in plan.rows if row.action is not Action.BLOCKED}
    assert after == before | planned
    assert again.to_send == ()


# ---------------------------------------------------------------- between the plan and its doing


def sent(scene: Scene, *grades: Grade, meanwhile: dict[int, float | str | None]) -> dict[str, Outcome]:
    """Make a plan, let somebody enter scores, and send it."""
    push, wanted = scene.push(), scene.wanted(*grades, comments=True)
    plan = push.plan(wanted)
    for user, score in meanwhile.items():
        scene.world.work[user].excused = score == "EX"
        scene.world.work[user].entered = score if isinstance(score, float) else None
    return {one.row.student: one for one in push.send(plan, wanted)}


def test_what_somebody_entered_since_the_plan_stays(tmp_path: Path) -> None:
    """A score, an excuse, a score that was taken away; the others get theirs, and no comment goes."""
    grades = [grade(name, comment="9.5 of 10 points.") for name in ("ana", "bo", "cem", "dia")]
    with Scene(tmp_path) as scene:
        scene.world.work[503].entered = 4.0
        outcomes = sent(scene, *grades, meanwhile={501: 8.0, 502: "EX", 503: None})
        assert states(outcomes) == {"ana": "failed", "bo": "failed", "cem": "failed", "dia": "verified"}
        assert scene.scores() == {501: 8.0, 502: "EX", 503: None, 504: 9.5}
        assert [len(scene.world.comments(user)) for user in USERS.values()] == [0, 0, 0, 1]
        assert "became 8 since the plan" in outcomes["ana"].reason
        assert "became excused since the plan" in outcomes["bo"].reason
        assert "became none since the plan" in outcomes["cem"].reason
        assert [one.found for one in outcomes.values()][:3] == ["8", "excused", ""]
        assert scene.plan(*grades).counts() == {Action.SEND: 2, Action.SKIP: 1, Action.UNCHANGED: 1}


def test_a_comment_about_another_score_is_not_sent(tmp_path: Path) -> None:
    """The score was to stay, and did not."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered = 9.5
        outcomes = sent(scene, grade("ana", comment="9.5 of 10 points."), meanwhile={501: 2.0})
        assert states(outcomes) == {"ana": "failed"}
        assert scene.world.comments(501) == []


def test_what_is_there_already_is_no_change_against_us(tmp_path: Path) -> None:
    """Somebody entered the very score."""
    with Scene(tmp_path) as scene:
        assert states(sent(scene, grade("ana"), meanwhile={501: 9.5})) == verified("ana")


def test_a_score_that_is_entered_while_a_job_runs_is_not_sent_over_again(tmp_path: Path) -> None:
    """The job is over; what is there now is somebody's."""
    with Scene(tmp_path) as scene:
        scene.world.stores_wrong = {501: 8.0}
        outcomes = scene.done(grade("ana"))
        assert outcomes["ana"].reason == "Canvas has 8 instead of 9.5"
        assert not [one for one in scene.canvas.changing() if one.startswith("PUT")]


@pytest.mark.parametrize("bo", ["9.5", MISSING, None])
def test_another_member_whose_score_changed_since_the_plan_keeps_it(
    tmp_path: Path, bo: str | GradeState | None
) -> None:
    """Whether they are in the table or not."""
    with Scene(tmp_path, **SHARED) as scene:
        scene.world.groups = {1: [501, 502]}
        scene.world.work[502].entered = None if bo is MISSING else 9.5
        grades = [grade("ana"), *([] if bo is None else [grade("bo", bo)])]
        outcomes = sent(scene, *grades, meanwhile={502: 6.0})
        assert states(outcomes)["ana"] == "failed"
        assert "another member of the group" in outcomes["ana"].reason
        assert (scene.scores()[501], scene.scores()[502]) == (None, 6.0)


def test_members_in_different_batches_are_looked_at_together(tmp_path: Path) -> None:
    """Whoever comes first in a class of many would give theirs to the last."""
    with Scene(tmp_path, **SHARED) as scene:
        grades = many(scene, GROUP + 5)
        last = 1001 + GROUP + 4
        scene.world.pupils[last] = Pupil(id=last, name="Pupil, Last")
        grades[-1] = replace(grades[-1], points=grades[0].points)
        scene.world.groups = {1: [1001, last]}
        outcomes = sent(scene, *grades, meanwhile={last: 6.0})
        assert [name for name, one in outcomes.items() if one.state == "failed"] == ["s1001", f"s{last}"]
        assert (scene.scores()[1001], scene.scores()[last]) == (None, 6.0)
