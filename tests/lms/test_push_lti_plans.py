"""What goes over LTI for whom: scores, comments, what is announced, and what is left alone."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loopback_lti import ALL_SCOPES, ITEMS, RESULTS, SCORES, Setup
from lti_rules import Item, Kind
from lti_tool import ids_on, known_by_lti, registered, wanted
from made_grades import made_grade

from autograder.errors import ConfigError, CourseError, OperatorError
from autograder.lms.model import GradeState, IdKind, Lms
from autograder.lms.push.lti.finding import number
from autograder.lms.push.lti.pushing import LtiPush, connect
from autograder.lms.push.model import Action, State

if TYPE_CHECKING:
    from pathlib import Path

CLASS = {"ana": "9.5", "bo": "0", "cy": GradeState.UNGRADED, "di": "10", "ed": GradeState.MISSING}
SCORED = {"ana": 9.5, "bo": 0.0, "di": 10.0}

kinds = pytest.mark.parametrize("kind", list(Kind))


def test_a_column_of_other_points_is_told_and_scores_are_compared_by_their_share(tmp_path: Path) -> None:
    """The LMS converts; 9.5 of 10 is 95 of 100."""
    item = Item(number=3, label="hw1", maximum=100, resource_id="hw1", tag="autograder")
    with registered(tmp_path, Setup(items=[item])) as tool:
        plan, outcomes = tool.push(wanted({"ana": "9.5"}))

        assert "The column counts 100 points, the course 10" in plan.notes[0]
        assert tool.scores() == {"ana": 95.0}
        assert [outcome.found for outcome in outcomes] == ["9.5"]
        assert tool.push(wanted({"ana": "9.5"}))[1] == []


def test_extra_credit_goes_as_it_is(tmp_path: Path) -> None:
    """A score above the maximum is legal."""
    with registered(tmp_path) as tool:
        _, outcomes = tool.push(wanted({"ana": "10.75"}))

        assert [outcome.found for outcome in outcomes] == ["10.75"]


@kinds
def test_students_are_told_of_one_by_one(tmp_path: Path, kind: Kind) -> None:
    """Somebody whom the platform refuses costs nobody else their score."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        way = LtiPush(tool.access(), tmp_path)
        plan = way.plan(wanted({"ana": "1", "bo": "2", "cy": "3"}))
        tool.platform.members = [
            one for one in tool.platform.members if one["user_id"] != ids_on(kind)["ana"]
        ]

        outcomes = list(way.send(plan, wanted({"ana": "1", "bo": "2", "cy": "3"})))

        refused = kind is not Kind.OPENEDX  # It stores scores of anybody.
        assert [outcome.state is State.FAILED for outcome in outcomes] == [refused, False, False]
        if refused:
            assert "refuses (4" in outcomes[0].reason


def test_work_is_not_late_because_its_score_is(tmp_path: Path) -> None:
    """The time of the work stands beside the time of the score."""
    handed_in = datetime(2026, 10, 1, 21, 59)  # noqa: DTZ001 - as the gradebook keeps it, in UTC
    with registered(tmp_path) as tool:
        grade = replace(known_by_lti("ana", Kind.CANVAS), submitted_at=handed_in)
        tool.push(wanted([grade]))

        (score,) = (json.loads(one.body) for one in tool.platform.asked if one.path.endswith("/scores"))
        assert score["submission"] == {"submittedAt": "2026-10-01T21:59:00.000+00:00"}
        assert datetime.fromisoformat(score["timestamp"]).year > 2000
        assert tool.item.results["u-Ana-1"].attempts == 0


def test_a_new_submission_in_canvas_is_made_only_if_it_is_asked_for(tmp_path: Path) -> None:
    """Each would count as an attempt of the student's."""
    with registered(tmp_path) as tool:
        tool.register(new_submission=True)
        plan, _ = tool.push(wanted({"ana": "1"}))

        assert tool.item.results["u-Ana-1"].attempts == 1
        assert any("new submission in Canvas" in note for note in plan.notes)


def test_a_comment_that_goes_away_is_announced(tmp_path: Path) -> None:
    """On Moodle a score without a comment takes the earlier one away; Canvas keeps it."""
    for kind in (Kind.MOODLE, Kind.CANVAS):
        course = tmp_path / kind
        course.mkdir()
        with registered(course, Setup(kind=kind)) as tool:
            tool.push(wanted({"ana": "1"}, comments=True))
            tool.wall.now_s += 10
            plan, _ = tool.push(wanted({"ana": "2"}))

            says = "the comment that is there goes away" in plan.to_send[0].reason
            goes = not tool.item.results[ids_on(kind)["ana"]].comment
            assert says == goes == (kind is Kind.MOODLE)


@kinds
def test_another_comment_is_sent_with_the_same_score(tmp_path: Path, kind: Kind) -> None:
    """Ours of before is replaced; one that says the same is not, also as HTML, also without a record."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        for text, sends in (("Well done.", 1), ("a d", 1), ("a<b and c>d", 1)):
            grades = [made_grade("ana", "9.5", email="ana@example.edu", comment=text)]
            plan, outcomes = tool.push(wanted(grades, comments=True))
            tool.wall.now_s += 10
            again, nothing = tool.push(wanted(grades, comments=True))

            result = tool.item.results[ids_on(kind)["ana"]]
            assert (len(outcomes), nothing, result.comment) == (sends, [], text)
            assert again.rows[0].action is Action.UNCHANGED
            assert plan.rows[0].changes_score == (text == "Well done.")
        result.comment = "<p>a&lt;b and  c&gt;d</p>"
        (tmp_path / ".autograder/pushed").rename(tmp_path / "lost")

        assert tool.push(wanted(grades, comments=True))[1] == []


@kinds
def test_nothing_is_taken_away_unless_it_is_asked_for(tmp_path: Path, kind: Kind) -> None:
    """A score stays where there is none any more; with `clear` it goes, and is read back gone."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted({"ana": "9.5"}))
        tool.wall.now_s += 10
        missing = {"ana": GradeState.MISSING}

        plan, outcomes = tool.push(wanted(missing))
        assert (plan.rows[0].action, outcomes) == (Action.SKIP, [])
        assert tool.scores() == {"ana": 9.5}

        plan, outcomes = tool.push(wanted(missing, clear=True))
        assert plan.rows[0].action is Action.CLEAR
        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        assert tool.scores() == {"ana": None}


def test_missing_work_is_a_zero_only_if_it_is_asked_for(tmp_path: Path) -> None:
    """Not handed in is not 0; excused never is."""
    states = {"ana": GradeState.MISSING, "bo": GradeState.EXCUSED, "cy": GradeState.UNGRADED}
    with registered(tmp_path) as tool:
        assert tool.push(wanted(states))[1] == []
        tool.push(wanted(states, missing_as_zero=True))

        assert tool.scores() == {"ana": 0.0}


def test_ids_of_before_do_where_the_platform_does_not_tell_who_is_there(tmp_path: Path) -> None:
    """Without memberships the id must be known, and nobody is guessed."""
    with registered(tmp_path) as tool:
        tool.register(context_memberships_url=None)
        grades = [known_by_lti("ana", Kind.CANVAS), made_grade("bo", "3", email="bo@example.edu")]

        plan, _ = tool.push(wanted(grades))

        assert [row.action for row in plan.rows] == [Action.SEND, Action.BLOCKED]
        assert tool.scores() == {"ana": 9.5}


def test_the_ids_that_were_found_can_be_kept(tmp_path: Path) -> None:
    """Whom the address found once, the id finds the next time."""
    with registered(tmp_path) as tool:
        way = LtiPush(tool.access(), tmp_path)
        assert way.people(wanted({"ana": "1"})) == ()
        way.plan(wanted({"ana": "1", "zoe": "2"}))

        (person,) = way.people(wanted({"ana": "1", "zoe": "2"}))

        assert (person.student, person.lms, person.ids[IdKind.LTI]) == ("ana", Lms.CANVAS, "u-Ana-1")


@pytest.mark.parametrize(
    ("missing", "says"),
    [(SCORES, "refuses (400): invalid_scope"), (ITEMS, "does not let the tool make one")],
)
def test_a_right_that_is_missing_ends_the_push_before_it_begins(
    tmp_path: Path, missing: str, says: str
) -> None:
    """One line instead of one failure for each student."""
    with (
        registered(tmp_path, Setup(scopes=ALL_SCOPES - {missing})) as tool,
        pytest.raises(OperatorError if missing == SCORES else CourseError) as caught,
    ):
        tool.push(wanted(CLASS))

    assert says in str(caught.value)
    assert tool.platform.items == {}


def test_without_the_right_to_read_results_our_record_counts(tmp_path: Path) -> None:
    """Nothing is verified, which is said, and nothing is sent twice."""
    with registered(tmp_path, Setup(scopes=ALL_SCOPES - {RESULTS})) as tool:
        tool.push(wanted({"ana": "1"}))
        plan, outcomes = tool.push(wanted({"ana": "1", "bo": "2"}))

        assert [(one.row.student, one.state) for one in outcomes] == [("bo", State.SENT)]
        assert plan.rows[0].reason == "it was sent before, as our record says"
        assert any("nothing is verified" in note for note in plan.notes)


def test_a_line_item_that_is_named_needs_no_list(tmp_path: Path) -> None:
    """Open edX makes line items at the first launch; their addresses are all there is."""
    item = Item(number=9, label="Unit 3", maximum=10)
    with registered(tmp_path, Setup(kind=Kind.OPENEDX, items=[item], scopes=ALL_SCOPES - {ITEMS})) as tool:
        tool.register(lineitems=None, assignments={"hw1": {"lineitem": tool.platform.item_url(9)}})

        plan, _ = tool.push(wanted({"ana": "1"}))

        assert plan.where.startswith("Unit 3")
        assert tool.scores() == {"ana": 1.0}


def test_two_line_items_that_fit_are_none(tmp_path: Path) -> None:
    """Which one counts only the instructor knows."""
    twins = [Item(number=at, label="hw1", maximum=10, resource_id="hw1", tag="autograder") for at in (1, 2)]
    with (
        registered(tmp_path, Setup(items=twins)) as tool,
        pytest.raises(CourseError, match="several line items"),
    ):
        tool.push(wanted({"ana": "1"}))


def test_a_registration_without_line_items_says_what_is_missing(tmp_path: Path) -> None:
    """It is found out before anything is asked of anybody but the token."""
    with registered(tmp_path) as tool:
        tool.register(lineitems=None)
        with pytest.raises(ConfigError, match="neither lineitems nor the lineitem of hw1"):
            tool.push(wanted({"ana": "1"}))


@settings(max_examples=30)
@given(st.decimals("0", "21", places=2), st.decimals("0.5", "21", places=2))
def test_scores_are_sent_to_the_last_digit(points: Decimal, most: Decimal) -> None:
    """What JSON holds is the decimal number that the gradebook holds."""
    told = json.loads(json.dumps([number(points), number(most)]), parse_float=Decimal, parse_int=Decimal)

    assert told == [points, most]
    assert json.dumps(number(Decimal("21.00"))) == "21"


def test_the_way_of_a_command_is_all_from_the_course_folder(tmp_path: Path) -> None:
    """Registration and key lie in it; whoever names others means those."""
    with registered(tmp_path) as tool:
        way = LtiPush(connect(tmp_path), tmp_path)
        plan = way.plan(wanted({"ana": "1"}))
        outcomes = list(way.send(plan, wanted({"ana": "1"})))

        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        with pytest.raises(OperatorError, match="does not exist; --key-file names it"):
            connect(tmp_path, key_file=tmp_path / "other.key")
        with pytest.raises(OperatorError, match=r"other\.toml: cannot be read"):
            connect(tmp_path, registration=tmp_path / "other.toml")
        (tmp_path / "lti.key").chmod(0o644)
        with pytest.raises(OperatorError, match="others than its owner may use it"):
            connect(tmp_path)
    assert tool.scores() == {"ana": 1.0}
