"""What Moodle does not show before marks are released or identities revealed: nothing of it is ever lost."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from loopback_moodle import Graded
from made_grades import made_grade

from autograder.lms.model import GradeState
from autograder.lms.push.model import Action, State

if TYPE_CHECKING:
    from pathlib import Path

    from moodle_course import Course

from moodle_course import course, pages, wanted


def held(here: Course, **facts: Any) -> Graded:
    """Return what a teacher has given ana, in an assignment of which nothing is released."""
    (assign,) = here.site.assigns.values()
    known: dict[str, Any] = {
        "grade": Decimal(3),
        "comment": "<p>See me.</p>",
        "files": {"annotated.pdf": b"%PDF"},
    }
    assign.graded[71] = Graded(state="inreview", **known | facts)
    return assign.graded[71]


@pytest.mark.parametrize("more", [{}, {"comments": True}, {"feedback": True}, {"clear": True}], ids="".join)
def test_a_comment_and_files_that_a_workflow_hides_are_not_erased(
    tmp_path: Path, more: dict[str, Any]
) -> None:
    """Moodle answers as if there was nothing; it would take an empty comment, and a new area of files."""
    here = course(tmp_path, workflow=True)
    theirs = held(here)
    if "feedback" in more:
        more = {"feedback": pages(tmp_path, "ana")}
    points = GradeState.MISSING if "clear" in more else "9.5"
    with here.site:
        plan, outcomes = here.push(wanted({"ana": points}, **more))

    (row,) = plan.rows
    assert (row.action, outcomes) == (Action.BLOCKED, [])
    assert "would erase the comment and files that it does not show" in row.reason
    assert "release this student's mark there, or give this one by Moodle's worksheet" in row.reason
    assert theirs == Graded(
        grade=Decimal(3), comment="<p>See me.</p>", files={"annotated.pdf": b"%PDF"}, state="inreview"
    )


def test_a_score_that_replaces_no_feedback_goes_under_a_workflow(tmp_path: Path) -> None:
    """Without feedback comments Moodle keeps the files of whoever gets no new one."""
    here = course(tmp_path, workflow=True, plugins=("file",))
    theirs = held(here, comment="")
    with here.site:
        _, outcomes = here.push(wanted({"ana": "9.5"}))
        plan, _ = here.push(wanted({"ana": "9.5"}, feedback=pages(tmp_path, "ana")))

    assert [one.state for one in outcomes] == [State.VERIFIED]
    assert (theirs.grade, theirs.files) == (Decimal("9.5"), {"annotated.pdf": b"%PDF"})
    assert plan.rows[0].action is Action.BLOCKED


def test_the_first_marks_of_a_workflow_go_and_others_wait_for_their_release(tmp_path: Path) -> None:
    """Work that nobody has marked has nothing to be lost; what came after it nobody sees."""
    here = course(tmp_path, workflow=True)
    asked = wanted({"ana": "9.5"}, comments=True, feedback=pages(tmp_path, "ana"))
    with here.site:
        _, first = here.push(asked)
        again, _ = here.push(asked)
        here.graded["ana"].files["annotated.pdf"] = b"%PDF"
        other = wanted({"ana": "8"}, comments=True, feedback=pages(tmp_path, "ana", text="new"))
        waits, sent = here.push(other)
        here.graded["ana"].state = "released"
        _, last = here.push(other)

        assert [one.state for one in first] == [State.SENT]
        assert again.rows[0].action is Action.UNCHANGED
        assert (waits.rows[0].action, sent) == (Action.BLOCKED, [])
        assert [one.state for one in last] == [State.VERIFIED]
        assert here.scores() == {"ana": 8}
        assert sorted(here.graded["ana"].files.values()) == [b"%PDF", b"<p>new for ana</p>"]


def test_who_handed_in_nothing_may_have_marks_that_moodle_does_not_list(tmp_path: Path) -> None:
    """A zero for missing work would replace them."""
    here = course(tmp_path, workflow=True)
    with here.site:
        plan, _ = here.push(wanted({"ed": GradeState.MISSING}, missing_as_zero=True))

    assert plan.rows[0].action is Action.BLOCKED
    assert "does not show whether there is a score already" in plan.rows[0].reason


def test_marks_that_come_between_plan_and_send_are_kept(tmp_path: Path) -> None:
    """Hidden ones, too: that there is something is listed."""
    here = course(tmp_path, workflow=True)
    with here.site:
        way = here.way()
        plan = way.plan(wanted({"ana": "9.5"}, comments=True))
        theirs = held(here, grade=None)
        before = replace(theirs)

        (outcome,) = way.send(plan, wanted({"ana": "9.5"}, comments=True))

    assert outcome.state is State.FAILED
    assert "does not show before marks are released" in outcome.reason
    assert theirs == before


def test_a_push_that_was_stopped_knows_what_it_has_sent(tmp_path: Path) -> None:
    """The comment is hidden, but the score of the same request is listed."""
    here = course(tmp_path, workflow=True)
    asked = wanted({"ana": "9.5"}, comments=True)
    with here.site:
        way = here.way()
        plan = way.plan(asked)
        call = way._service.call

        def stopped(function: str, **arguments: Any) -> Any:
            told = call(function, **arguments)
            if function == "mod_assign_save_grade":
                raise KeyboardInterrupt
            return told

        way._service.call = stopped  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            list(way.send(plan, asked))

        plan, outcomes = here.push(asked)

        assert (plan.rows[0].action, outcomes) == (Action.UNCHANGED, [])
        assert here.graded["ana"].saved == 1


@pytest.mark.parametrize(("score", "says"), [(Decimal(8), "to 8"), (None, "to none")])
@pytest.mark.parametrize("blind", [True, False])
def test_a_score_that_somebody_changed_meanwhile_is_not_replaced_unseen(
    tmp_path: Path, score: Decimal | None, says: str, *, blind: bool
) -> None:
    """Where identities are hidden the list of scores tells, and an empty answer tells of none."""
    here = course(tmp_path, blind=blind)
    (assign,) = here.site.assigns.values()
    assign.graded[71] = Graded(grade=Decimal(3))
    with here.site:
        way = here.way()
        plan = way.plan(wanted({"ana": "9.5"}))
        assign.graded[71].grade = score

        (outcome,) = way.send(plan, wanted({"ana": "9.5"}))

    assert outcome.state is State.FAILED
    assert f"somebody has changed the score {says} meanwhile" in outcome.reason
    assert assign.graded[71].grade == score


def test_hidden_people_without_work_get_no_score_over_one_that_nobody_sees(tmp_path: Path) -> None:
    """Moodle lists scores of work only, and shows none of hidden people."""
    here = course(tmp_path, blind=True)
    (assign,) = here.site.assigns.values()
    assign.graded[72] = Graded(grade=Decimal(8))
    with here.site:
        plan, outcomes = here.push(wanted({"ana": "9.5", "bo": "4"}))

    assert [row.action for row in plan.rows] == [Action.SEND, Action.BLOCKED]
    assert "before identities are revealed" in plan.rows[1].reason
    assert [one.state for one in outcomes] == [State.VERIFIED]
    assert assign.graded[72].grade == Decimal(8)


def test_a_comment_of_somebody_else_stays_also_with_comments(tmp_path: Path) -> None:
    """There is room for one, so ours is not sent, which is told; one of ours is replaced."""
    here = course(tmp_path)
    (assign,) = here.site.assigns.values()
    assign.graded[71] = Graded(grade=Decimal(3), comment="<p>See me.</p>")
    with here.site:
        plan, outcomes = here.push(wanted({"ana": "9.5", "di": "7"}, comments=True))
        renewed = [made_grade("di", "7", comment="Better.")]
        here.push(wanted(renewed, comments=True))

        assert "a comment that is not ours is there and stays" in plan.rows[0].reason
        assert {one.state for one in outcomes} == {State.VERIFIED}
        assert here.scores() == {"ana": Decimal("9.5"), "di": 7}
        assert here.graded["ana"].comment == "<p>See me.</p>"
        assert here.graded["di"].comment == "Better."
        again, _ = here.push(wanted({"ana": "9.5"}, comments=True))
        assert (again.rows[0].action, again.rows[0].reason) == (Action.SKIP, plan.rows[0].reason)


def test_a_comment_that_somebody_wrote_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    """The plan did not tell of it."""
    here = course(tmp_path)
    with here.site:
        way = here.way()
        plan = way.plan(wanted({"ana": "9.5"}, comments=True))
        (assign,) = here.site.assigns.values()
        assign.graded[71] = Graded(comment="<p>See me.</p>")

        (outcome,) = way.send(plan, wanted({"ana": "9.5"}, comments=True))

    assert outcome.state is State.FAILED
    assert "somebody has written a comment meanwhile" in outcome.reason
    assert assign.graded[71].comment == "<p>See me.</p>"


def test_what_was_sent_before_last_is_sent_when_it_is_right_again(tmp_path: Path) -> None:
    """Score, comment and page are those of the last grading, not of any."""
    here = course(tmp_path)
    with here.site:
        for points, text in (("9", "first"), ("8", "second"), ("9", "first")):
            grade = made_grade("ana", points, comment=f"{points} of 10")
            here.push(wanted([grade], comments=True, feedback=pages(tmp_path, "ana", text=text)))

        ana = here.graded["ana"]
        assert (ana.grade, ana.comment) == (Decimal(9), "9 of 10")
        assert list(ana.files.values()) == [b"<p>first for ana</p>"]


def test_what_looks_like_a_tag_is_part_of_a_comment(tmp_path: Path) -> None:
    """Two comments that differ in it are two."""
    here = course(tmp_path)
    with here.site:
        for comment in ("a d", "a<b and c>d"):
            here.push(wanted([made_grade("ana", "9", comment=comment)], comments=True))
            again, _ = here.push(wanted([made_grade("ana", "9", comment=comment)], comments=True))

            assert again.rows[0].action is Action.UNCHANGED
        assert here.graded["ana"].comment == "a&lt;b and c&gt;d"
