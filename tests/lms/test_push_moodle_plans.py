"""What goes to Moodle for whom, by the settings of an assignment."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from loopback_moodle import Graded
from made_grades import made_grade, made_person

from autograder.lms.model import GradeState, Lms
from autograder.lms.push.model import Action, State

if TYPE_CHECKING:
    from pathlib import Path

from moodle_course import CLASS, course, pages, wanted


def test_more_points_than_moodle_takes_are_not_sent(tmp_path: Path) -> None:
    """It would leave them out without a word."""
    here = course(tmp_path, grade=8)
    with here.site:
        plan, _ = here.push(wanted(CLASS))

        assert here.scores() == {"bo": 0}
        assert "at most 8 points" in plan.rows[0].reason
        assert "Moodle counts 8 points for this assignment, the course 10" in plan.notes[0]


@pytest.mark.parametrize(("grade", "says"), [(-3, "has a scale"), (0, "is not graded")])
def test_an_assignment_without_points_takes_none(tmp_path: Path, grade: int, says: str) -> None:
    """It is said what to choose in Moodle."""
    here = course(tmp_path, grade=grade)
    with here.site:
        plan, outcomes = here.push(wanted({"ana": "1"}))

        assert outcomes == []
        assert says in plan.rows[0].reason


def test_members_of_a_team_get_their_own_scores(tmp_path: Path) -> None:
    """Moodle lists no score of a team's work, so each is looked at."""
    here = course(tmp_path, team=True)
    with here.site:
        here.push(wanted({"ana": "9", "bo": "4"}))
        plan, outcomes = here.push(wanted({"ana": "9", "bo": "5"}))

        assert here.site.broken == []
        assert [row.action for row in plan.rows] == [Action.UNCHANGED, Action.SEND]
        assert [(outcome.state, outcome.found) for outcome in outcomes] == [(State.VERIFIED, "5")]


def test_states_of_marking_stay_as_they_are(tmp_path: Path) -> None:
    """A score that is saved without its state would begin anew, and be hidden from the student."""
    here = course(tmp_path, workflow=True, plugins=("file",))
    (assign,) = here.site.assigns.values()
    assign.graded = {71: Graded(state="released"), 74: Graded(state="inreview")}
    with here.site:
        _, outcomes = here.push(wanted({"ana": "9", "di": "4", "cy": "5"}))
        plan, _ = here.push(wanted({"ana": "9", "di": "4", "cy": "5"}))

        assert {name: one.state for name, one in here.graded.items()} == {
            "ana": "released",
            "di": "inreview",
            "cy": "notmarked",
        }
        assert {outcome.state for outcome in outcomes} == {State.VERIFIED}
        assert plan.counts() == {Action.UNCHANGED: 3}


def test_states_of_marking_that_cannot_be_read_keep_scores_here(tmp_path: Path) -> None:
    """Rather nothing than a release taken back."""
    here = course(tmp_path, workflow=True)
    here.site.functions.remove("mod_assign_get_user_flags")
    with here.site:
        plan, _ = here.push(wanted({"ana": "9"}))

        assert "states would be reset" in plan.rows[0].reason
        assert here.scores() == {}


def test_work_without_a_name_finds_its_student_by_the_number_of_the_participant(tmp_path: Path) -> None:
    """Where identities are hidden a download has these numbers only."""
    here = course(tmp_path, blind=True, numbers={71: 5501, 72: 5502}, submitted={71, 72})
    grade = made_grade("p5502", "4", people=(made_person(Lms.MOODLE, participant="5502"),))
    with here.site:
        plan, outcomes = here.push(wanted([grade]))

        assert here.scores() == {"bo": 4}
        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        assert here.push(wanted([grade]))[0].rows[0].action is Action.UNCHANGED
        assert any("Identities are hidden" in note for note in plan.notes)


def test_a_score_that_somebody_changed_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    """The plan said what would be replaced; another score there is no longer that."""
    here = course(tmp_path)
    with here.site:
        here.push(wanted({"ana": "1"}))
        way = here.way()
        plan = way.plan(wanted({"ana": "2"}))
        here.graded["ana"].grade = Decimal(6)

        (outcome,) = way.send(plan, wanted({"ana": "2"}))

        assert (outcome.state, outcome.found) == (State.FAILED, "6")
        assert here.scores() == {"ana": 6}


def test_nothing_is_taken_away_unless_it_is_asked_for(tmp_path: Path) -> None:
    """Minus one, which takes a score away, is sent with `clear` alone; the comment stays."""
    here = course(tmp_path)
    missing = {"ana": GradeState.MISSING, "bo": GradeState.EXCUSED}
    with here.site:
        here.push(wanted({"ana": "9.5", "bo": "3"}, comments=True))
        assert here.push(wanted(missing))[1] == []
        assert here.scores() == {"ana": Decimal("9.5"), "bo": 3}

        plan, outcomes = here.push(wanted(missing, clear=True))

        assert [row.action for row in plan.rows] == [Action.CLEAR, Action.SKIP]
        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        assert here.scores() == {"ana": None, "bo": 3}
        assert here.graded["ana"].comment.startswith("Well done")


def test_missing_work_is_a_zero_only_if_it_is_asked_for(tmp_path: Path) -> None:
    """Not handed in is not 0."""
    here = course(tmp_path)
    with here.site:
        here.push(wanted({"ed": GradeState.MISSING}, missing_as_zero=True))

        assert here.scores() == {"ed": 0}


def test_kinds_of_feedback_that_are_off_are_said_and_left_out(tmp_path: Path) -> None:
    """A comment that nobody would see is not sent."""
    here = course(tmp_path, plugins=())
    asked = wanted({"ana": "1"}, comments=True, feedback=pages(tmp_path, "ana"))
    with here.site:
        plan, outcomes = here.push(asked)

        assert outcomes[0].row.parts == ("score",)
        assert [note.partition(":")[0] for note in plan.notes] == [
            "No comment is sent",
            "No feedback is sent",
        ]
        assert here.push(asked)[1] == []
        assert here.site.drafts == {}
