"""What a platform does not show, rounds, or has from others: nothing is lost, and nothing is there twice."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loopback import Answer, Mishap, Mishaps
from loopback_lti import ALL_SCOPES, RESULTS, Setup
from lti_rules import Item, Kind, RefusedError, Result, shown_result, take_score
from lti_tool import Tool, ids_on, registered, wanted
from made_grades import made_grade

from autograder.errors import AutograderError
from autograder.lms.push.lti.pushing import LtiPush
from autograder.lms.push.model import Action, State

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.lms.push.model import Plan
    from autograder.lms.push.wanted import Wanted

kinds = pytest.mark.parametrize("kind", list(Kind))
SILENT: list[dict[str, Any]] = [{"tells_comments": False}, {"scopes": ALL_SCOPES - {RESULTS}}]


def ours(**facts: Any) -> Item:
    """Return the line item that the tool made before."""
    told: dict[str, Any] = {"number": 40, "label": "hw1", "maximum": 10, "resource_id": "hw1"} | facts
    return Item(tag="autograder", **told)


def commented(points: str, comment: str) -> Wanted:
    """Return ana's score and comment."""
    return wanted([made_grade("ana", points, email="ana@example.edu", comment=comment)], comments=True)


def stopped_push(tool: Tool, asked: Wanted, when: str) -> Plan:
    """Push, and be stopped before a score goes, behind it, or while it is read back."""
    way = LtiPush(tool.access(), tool.course)
    plan = way.plan(asked)
    access = way._access
    post, results = access.post, access.results
    has_sent = False

    def posting(*args: Any) -> None:
        nonlocal has_sent
        if when == "before":
            raise KeyboardInterrupt
        post(*args)
        has_sent = True
        if when == "behind":
            raise KeyboardInterrupt

    def reading(*args: Any) -> Any:
        if has_sent:
            raise KeyboardInterrupt
        return results(*args)

    access.post, access.results = posting, reading  # type: ignore[method-assign,assignment]
    with pytest.raises(KeyboardInterrupt):
        list(way.send(plan, asked))
    return plan


def then(ahead_s: float = -3600) -> datetime:
    """Return a time near now."""
    return datetime.now(UTC) + timedelta(seconds=ahead_s)


def comments(tool: Tool) -> list[str]:
    """Return ana's comments in Canvas."""
    return tool.item.results["u-Ana-1"].comments if "u-Ana-1" in tool.item.results else []


@pytest.mark.parametrize("when", ["before", "behind", "reading"])
def test_a_comment_is_not_sent_twice_where_results_tell_none(tmp_path: Path, when: str) -> None:
    """Score and comment go together, so the score tells whether a push that was stopped has sent both."""
    with registered(tmp_path, Setup(tells_comments=False, items=[ours()])) as tool:
        for _ in range(2 if when == "before" else 1):
            stopped_push(tool, commented("9.5", "Well done."), when)
        tool.push(commented("9.5", "Well done."))
        plan, outcomes = tool.push(commented("9.5", "Well done."))

        assert comments(tool) == ["Well done."]
        assert (plan.rows[0].action, outcomes) == (Action.UNCHANGED, [])


@pytest.mark.parametrize("setup", SILENT, ids=["no comments", "no results"])
def test_a_comment_of_which_nobody_can_tell_is_not_sent_again(tmp_path: Path, setup: dict[str, Any]) -> None:
    """Canvas keeps all comments, and none can be taken back; the score goes nevertheless."""
    with registered(tmp_path, Setup(items=[ours()], **setup)) as tool:
        if "tells_comments" in setup:
            tool.push(wanted({"ana": "9.5"}))  # The score is there: another comment changes nothing seen.
        stopped_push(tool, commented("9.5", "Well done."), "behind")

        plan, _ = tool.push(commented("9.5", "Well done."))
        again, outcomes = tool.push(commented("9.5", "Well done."))

        assert comments(tool) == ["Well done."]
        assert "nobody can tell whether its comment arrived" in plan.rows[0].reason
        assert "write it by hand if it is missing" in plan.rows[0].reason
        assert (again.rows[0].comment, outcomes) == ("", [])
        assert tool.scores() == {"ana": 9.5}
        tool.push(commented("9.5", "Even better."))
        assert comments(tool) == ["Well done.", "Even better."]


@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.integers(0, 10**6), st.sampled_from(SILENT))
def test_whatever_breaks_no_comment_is_there_twice(
    tmp_path_factory: pytest.TempPathFactory, seed: int, setup: dict[str, Any]
) -> None:
    """Answers are lost, results are silent: scores arrive, and each comment once, or it is told."""
    course = tmp_path_factory.mktemp("course")
    mishaps = Mishaps(seed, share=0.4, kinds=[Mishap.UNHEARD, Mishap.UNANSWERED, Mishap.GATEWAY])
    with registered(course, Setup(items=[ours()], **setup), mishaps) as tool:
        told: list[str] = []
        for points, text in (("9.5", "one"), ("9.5", "two"), ("8", "two")):
            before = list(comments(tool))
            for _ in range(6):
                _, outcomes = tool.push(commented(points, text))
                told += [outcome.reason for outcome in outcomes]
                if not outcomes:
                    break
            assert outcomes == []
            fresh = comments(tool)[len(before) :]
            assert fresh in ([text], []) if text not in before else fresh == []
            assert fresh or text in before or any("nobody can tell" in reason for reason in told)

        assert tool.scores() == {"ana": 8.0}
        assert tool.platform.broken == []


@kinds
@pytest.mark.parametrize(("now", "says"), [(8.0, "to 8"), (None, "to none")])
def test_what_changed_since_the_plan_is_not_replaced(
    tmp_path: Path, kind: Kind, now: float | None, says: str
) -> None:
    """Somebody enters a score, or takes it away, while the command waits for an answer."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted({"ana": "5", "bo": "6"}))
        tool.wall.now_s += 10
        way = LtiPush(tool.access(), tmp_path)
        asked = wanted({"ana": "9.5", "bo": "7"})
        plan = way.plan(asked)
        tool.item.results[ids_on(kind)["ana"]].score = now

        outcomes = list(way.send(plan, asked))

        assert [outcome.state for outcome in outcomes] == [State.FAILED, State.VERIFIED]
        assert f"somebody has changed the score {says} meanwhile" in outcomes[0].reason
        assert tool.scores() == {"ana": now, "bo": 7.0}


@pytest.mark.parametrize("kind", [Kind.MOODLE, Kind.OPENEDX])
@pytest.mark.parametrize("with_comments", [True, False])
def test_a_comment_of_somebody_else_stays(tmp_path: Path, kind: Kind, *, with_comments: bool) -> None:
    """A score without it would take it away, so it is sent along as it is told."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted({"ana": "5"}, comments=True))
        tool.item.results[ids_on(kind)["ana"]].comment = "<p>See me.</p>"
        tool.wall.now_s += 10

        plan, outcomes = tool.push(wanted({"ana": "9.5"}, comments=with_comments))
        again, nothing = tool.push(wanted({"ana": "9.5"}, comments=with_comments))

        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        assert "a comment that is not ours is there and stays" in plan.rows[0].reason
        # What is left out is listed each time.
        expected = Action.SKIP if with_comments else Action.UNCHANGED
        assert (again.rows[0].action, nothing) == (expected, [])
        result = tool.item.results[ids_on(kind)["ana"]]
        assert (result.score, result.comment) == (9.5, "<p>See me.</p>")


@pytest.mark.parametrize("kind", [Kind.MOODLE, Kind.OPENEDX])
def test_a_comment_that_somebody_wrote_meanwhile_is_not_replaced(tmp_path: Path, kind: Kind) -> None:
    """The plan did not tell of it."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted({"ana": "5"}))
        tool.wall.now_s += 10
        way = LtiPush(tool.access(), tmp_path)
        asked = wanted({"ana": "9.5"}, comments=True)
        plan = way.plan(asked)
        tool.item.results[ids_on(kind)["ana"]].comment = "See me."

        (outcome,) = way.send(plan, asked)

        assert "somebody has written a comment meanwhile" in outcome.reason
        assert tool.item.results[ids_on(kind)["ana"]].comment == "See me."
        assert tool.scores() == {"ana": 5.0}


@kinds
def test_what_was_sent_before_last_is_sent_when_it_is_right_again(tmp_path: Path, kind: Kind) -> None:
    """The comment beside a score is the one of the last grading, also where results tell none."""
    for at, tells in enumerate((True, False)):
        course = tmp_path / str(at)
        course.mkdir()
        with registered(course, Setup(kind=kind, tells_comments=tells)) as tool:
            for points in ("9", "8", "9"):
                tool.push(commented(points, f"{points} of 10"))
                tool.wall.now_s += 10

            result = tool.item.results[ids_on(kind)["ana"]]
            assert (result.score, result.comment) == (9.0, "9 of 10")


@kinds
def test_a_score_without_points_is_none_over_lti(tmp_path: Path, kind: Kind) -> None:
    """It would be a part of nothing: of an assignment of 0 points, or into a column of 0."""
    no_points = [replace(made_grade("ana", "2", email="ana@example.edu"), max_points=Decimal(0))]
    for maximum, asked, says in (
        (10, wanted(no_points), "the assignment has no points"),
        (0, wanted({"ana": "2"}), "the column has no points in the LMS"),
    ):
        course = tmp_path / str(maximum)
        course.mkdir()
        with registered(course, Setup(kind=kind, items=[ours(maximum=maximum)])) as tool:
            plan, outcomes = tool.push(asked)

            assert (plan.rows[0].action, outcomes) == (Action.BLOCKED, [])
            assert says in plan.rows[0].reason
            assert tool.platform.stamps == []


@kinds
def test_the_rules_of_these_tests_take_no_score_of_nothing(kind: Kind) -> None:
    """Canvas and Moodle refuse a maximum of 0; Open edX keeps it, and tells 1."""
    item = Item(number=1, label="HW", maximum=10)
    score = {"userId": "7", "activityProgress": "Completed", "gradingProgress": "FullyGraded"}
    score |= {"timestamp": "2026-01-02T00:00:00.000+00:00"}
    of_nothing: dict[str, Any] = score | {"scoreGiven": 2, "scoreMaximum": 0}
    if kind is Kind.OPENEDX:
        take_score(kind, item, of_nothing, {"7"})
        assert shown_result(kind, item, item.results["7"], 2) == {"resultScore": 2, "resultMaximum": 1}
    else:
        with pytest.raises(RefusedError, match="must be above 0"):
            take_score(kind, item, of_nothing, {"7"})


@kinds
def test_a_column_of_fewer_points_may_round(tmp_path: Path, kind: Kind) -> None:
    """9.99 of 10 are 2.997 of 3, which is told as 3; a score that is another one is seen all the same."""
    item = ours(maximum=3)
    asked = wanted({"ana": "9.99", "bo": "3.33"})
    with registered(tmp_path, Setup(kind=kind, items=[item], places=2)) as tool:
        _, outcomes = tool.push(asked)
        again, nothing = tool.push(asked)
        tool.item.results[ids_on(kind)["bo"]].score = 0.98
        tool.item.results[ids_on(kind)["bo"]].maximum = None
        tool.wall.now_s += 10
        changed, _ = tool.push(asked)

        assert {outcome.state for outcome in outcomes} == {State.VERIFIED}
        assert (nothing, again.counts()) == ([], {Action.UNCHANGED: 2})
        assert [row.action for row in changed.rows] == [Action.UNCHANGED, Action.SEND]


def test_a_score_that_is_not_stored_is_no_rounded_one(tmp_path: Path) -> None:
    """Where the answer is lost, what was there before is not taken for ours."""
    with registered(tmp_path, Setup(items=[ours(maximum=3)])) as tool:
        tool.push(wanted({"ana": "10"}))
        tool.platform.mishaps = Mishaps(3, share=1, kinds=[Mishap.UNHEARD], in_a_row=1)
        _, outcomes = tool.push(wanted({"ana": "9.99"}))

        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        assert tool.scores() == {"ana": pytest.approx(2.997)}


def odd(tool: Tool, path: str, change: Callable[[Any], object], method: str = "GET") -> None:
    """Let the platform answer something else at paths that end so."""
    answer = tool.platform.answer

    def answering(asked: Any) -> Answer:
        told = answer(asked)
        if not asked.path.endswith(path) or asked.method != method:
            return told
        body = json.dumps(change(json.loads(told.body))).encode()
        return replace(told, body=body)

    tool.platform.answer = answering  # type: ignore[method-assign]


ODD: list[object] = [True, None, -1, 0, "", ".", "x", [1], {"id": 1}, float("inf"), float("nan"), 10**400]
ODD += ["9" * 400, "\ud800", "http://[", 1e300]


@pytest.mark.parametrize("value", ODD, ids=[ascii(value)[:12] for value in ODD])
def test_an_odd_answer_is_one_line_or_does_no_harm(tmp_path: Path, value: object) -> None:
    """Of tokens, line items, results and members: no truth value is a number, half a character no id."""
    item = ours()
    members = "/names_and_roles"
    changes: list[tuple[str, str, Callable[[Any], object]]] = [
        ("/Token", "POST", lambda told: told | {"expires_in": value}),
        ("/Token", "POST", lambda told: told | {"access_token": value}),
        ("/line_items", "GET", lambda told: [one | {"id": value} for one in told]),
        ("/line_items", "GET", lambda told: [one | {"scoreMaximum": value} for one in told]),
        ("/line_items", "GET", lambda told: [one | {"label": value, "tag": value} for one in told]),
        ("/results", "GET", lambda told: [one | {"resultScore": value} for one in told]),
        ("/results", "GET", lambda told: [one | {"resultMaximum": value} for one in told]),
        ("/results", "GET", lambda told: [one | {"comment": value, "userId": value} for one in told]),
        (members, "GET", lambda told: told | {"members": value}),
        (
            "/names_and_roles",
            "GET",
            lambda told: told | {"members": [told["members"][0] | {"user_id": value}]},
        ),
    ]
    for at, (path, method, change) in enumerate(changes):
        item.results = {"u-Ana-1": Result(score=3, timestamp=then())}
        course = tmp_path / str(at)
        course.mkdir()
        with registered(course, Setup(items=[item])) as tool:
            odd(tool, path, change, method)
            try:
                _, outcomes = tool.push(commented("9.5", "Well done."))
            except AutograderError as problem:
                assert "[secret]" not in str(problem)  # noqa: PT017 - either will do
            else:
                assert {outcome.row.student for outcome in outcomes} <= {"ana"}


@pytest.mark.parametrize("date", ["Fri, 31 Dec 9999 23:59:59 GMT", "Mon, 01 Jan 9998 00:00:00 GMT"])
def test_a_date_beyond_reason_is_not_kept(tmp_path: Path, date: str) -> None:
    """It comes with a refusal as too old; every later score would have to be later still."""
    with registered(tmp_path) as tool:
        tool.platform.today = date
        tool.push(wanted({"ana": "1"}))
        tool.item.results["u-Ana-1"].timestamp = then(ahead_s=60)

        _, outcomes = tool.push(wanted({"ana": "2"}))

        stamps = [stamp for _, stamp in tool.platform.stamps]
        assert len(stamps) > 2
        assert all(stamp < "2200" for stamp in stamps)
        assert outcomes[0].row.student == "ana"
