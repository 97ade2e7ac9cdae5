"""Scores over LTI: after whatever goes wrong and is repeated, the platform has what the course has."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loopback import Answer, Mishap, Mishaps
from loopback_lti import SCORES, Setup
from lti_rules import Item, Kind, Result
from lti_tool import Wall, a_key, ids_on, registered, wanted

from autograder.errors import ServerError
from autograder.lms.model import GradeState
from autograder.lms.push.lti.pushing import LtiPush
from autograder.lms.push.model import Action, State

if TYPE_CHECKING:
    from pathlib import Path

CLASS = {"ana": "9.5", "bo": "0", "cy": GradeState.UNGRADED, "di": "10", "ed": GradeState.MISSING}
SCORED = {"ana": 9.5, "bo": 0.0, "di": 10.0}

kinds = pytest.mark.parametrize("kind", list(Kind))


@kinds
def test_scores_arrive_and_what_has_none_is_left_out(tmp_path: Path, kind: Kind) -> None:
    """Each platform has the graded scores, comments too, and nothing for who has no score."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        plan, outcomes = tool.push(wanted(CLASS, comments=True))

        assert tool.platform.broken == []
        assert tool.scores() == SCORED
        assert [row.action for row in plan.rows] == [
            Action.SEND,
            Action.SEND,
            Action.SKIP,
            Action.SEND,
            Action.SKIP,
        ]
        states = {outcome.row.student: outcome.state for outcome in outcomes}
        # Moodle does not tell whether it has a zero.
        assert states == dict.fromkeys(SCORED, State.VERIFIED) | (
            {"bo": State.SENT} if kind is Kind.MOODLE else {}
        )
        comment = tool.item.results[ids_on(kind)["ana"]].comment
        assert comment == "Well done, ana.\nGo on."


@kinds
def test_a_second_push_sends_nothing(tmp_path: Path, kind: Kind) -> None:
    """Whoever is not sure whether it worked may say it again; a zero of Moodle's is no exception."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted(CLASS, comments=True))
        sent = list(tool.platform.stamps)

        plan, outcomes = tool.push(wanted(CLASS, comments=True))

        assert outcomes == []
        assert plan.counts() == {Action.UNCHANGED: 3, Action.SKIP: 2}
        assert tool.platform.stamps == sent


@kinds
def test_the_line_item_is_made_once(tmp_path: Path, kind: Kind) -> None:
    """It carries the assignment's name, points and tag, and the next run finds it, behind pages of others."""
    others = [Item(number=at, label=f"Other {at}", maximum=5, resource_id="hw1") for at in range(5)]
    with registered(tmp_path, Setup(kind=kind, items=others)) as tool:
        plan, _ = tool.push(wanted({"ana": "9.5"}))
        tool.push(wanted({"ana": "8"}))

        made = [item for item in tool.platform.items.values() if item not in others]
        assert [(one.label, one.maximum, one.resource_id, one.tag) for one in made] == [
            ("hw1", 10.0, "hw1", "autograder")
        ]
        assert made[0].results[ids_on(kind)["ana"]].score == 8.0
        assert any("'hw1' of 10 points is made" in note for note in plan.notes)


def test_a_dry_run_sends_nothing(tmp_path: Path) -> None:
    """A plan reads; it makes no line item and leaves no record."""
    with registered(tmp_path) as tool:
        plan = LtiPush(tool.access(), tmp_path).plan(wanted(CLASS))

        posted = {asked.path for asked in tool.platform.asked if asked.method != "GET"}
        assert posted == {"/Login/OAuth2/Token"}
        assert len(plan.to_send) == 3
        assert not (tmp_path / ".autograder").exists()


@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.sampled_from(list(Kind)), st.integers(0, 10**6))
def test_after_any_mishaps_the_platform_has_what_the_course_has(
    tmp_path_factory: pytest.TempPathFactory, kind: Kind, seed: int
) -> None:
    """Refusals, silence, lost answers: repeating ends in the same state, one line item, one comment each."""
    course = tmp_path_factory.mktemp("course")
    mishaps = Mishaps(seed, share=0.35)
    with registered(course, Setup(kind=kind), mishaps) as tool:
        for round_of in (CLASS, CLASS | {"ana": "3", "cy": "7.25"}):
            tool.push_until_done(wanted(round_of, comments=True))

        assert tool.platform.broken == []
        assert tool.scores() == {"ana": 3.0, "bo": 0.0, "cy": 7.25, "di": 10.0}
        if kind is Kind.CANVAS:
            written = {user: len(result.comments) for user, result in tool.item.results.items()}
            assert written == {"u-Ana-1": 1, "u-Bo-2": 1, "u-Cy-3": 1, "u-Di-4": 1}


def test_a_comment_whose_answer_was_lost_is_not_written_twice(tmp_path: Path) -> None:
    """Canvas shows every comment that came, so the answer is looked for before anything is repeated."""
    with registered(tmp_path, Setup(items=[Item(number=1, label="HW", maximum=10)])) as tool:
        tool.register(assignments={"hw1": {"lineitem": tool.platform.item_url(1)}})
        tool.platform.mishaps = Mishaps(5, share=1, kinds=[Mishap.UNANSWERED], in_a_row=1)

        tool.push_until_done(wanted(CLASS, comments=True))

        comments = {user: result.comments for user, result in tool.item.results.items()}
        assert {user: len(one) for user, one in comments.items()} == dict.fromkeys(comments, 1)
        assert any(path.endswith("/scores") for _, path in tool.platform.mishaps.happened)


@kinds
def test_timestamps_rise_over_runs_and_over_clocks_that_are_set_back(tmp_path: Path, kind: Kind) -> None:
    """A score with an earlier time would be refused, so time does not go back for a student."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        start_s = tool.wall.now_s
        for points, step_s in (("1", 0), ("2", -3600), ("3", -7200), ("4", 0), ("5", 0)):
            tool.wall = Wall(start_s + step_s)
            _, outcomes = tool.push(wanted({"ana": points}))
            assert [outcome.state for outcome in outcomes] == [State.VERIFIED]

        stamps = [stamp for _, stamp in tool.platform.stamps]
        assert stamps == sorted(set(stamps))
        assert len(stamps) >= 5
        assert tool.platform.broken == []
        assert tool.scores() == {"ana": 5.0}


def test_a_timestamp_is_on_the_disk_before_it_is_used(tmp_path: Path) -> None:
    """Whoever is killed while a score is on its way knows its time afterwards."""
    with registered(tmp_path) as tool:
        tool.platform.mishaps = Mishaps(1, share=1, kinds=[Mishap.UNHEARD], in_a_row=0)
        way = LtiPush(tool.access(), tmp_path)
        plan = way.plan(wanted({"ana": "1"}))
        noted = []

        def look(*_: object) -> None:
            noted.append(json.loads(next((tmp_path / ".autograder/pushed").glob("*.json")).read_text()))
            raise KeyboardInterrupt

        way._access.post = look  # type: ignore[assignment,method-assign]
        with pytest.raises(KeyboardInterrupt):
            list(way.send(plan, wanted({"ana": "1"})))

        assert noted[0]["students"]["u-Ana-1"]["timestamp"].endswith("+00:00")


def test_moodle_takes_the_second_score_of_one_second(tmp_path: Path) -> None:
    """It counts whole seconds and says 409, so the score goes with the next one."""
    with registered(tmp_path, Setup(kind=Kind.MOODLE)) as tool:
        tool.wall = Wall(1_900_000_000.1)
        tool.push(wanted({"ana": "1"}))
        tool.wall = Wall(1_900_000_000.2)

        _, outcomes = tool.push(wanted({"ana": "2"}))

        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        first, refused, last = (datetime.fromisoformat(stamp) for _, stamp in tool.platform.stamps)
        assert first < refused < last <= first + timedelta(seconds=1)


@kinds
def test_a_score_that_somebody_changed_meanwhile_is_not_replaced_behind_their_back(
    tmp_path: Path, kind: Kind
) -> None:
    """The plan said what would be replaced; another score there is no longer that."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted({"ana": "1"}))
        way = LtiPush(tool.access(), tmp_path)
        plan = way.plan(wanted({"ana": "2"}))
        soon = datetime.now(UTC) + timedelta(minutes=5)
        tool.item.results[ids_on(kind)["ana"]] = Result(score=6.0, timestamp=soon)

        (outcome,) = way.send(plan, wanted({"ana": "2"}))

        assert outcome.state is State.FAILED
        assert "changed the score to 6 meanwhile" in outcome.reason
        assert tool.scores() == {"ana": 6.0}


@kinds
def test_a_platform_whose_clock_is_ahead_takes_scores_all_the_same(tmp_path: Path, kind: Kind) -> None:
    """Its own time is in each of its answers."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted({"ana": "1"}))
        tool.item.results[ids_on(kind)["ana"]].timestamp = datetime.now(UTC)
        tool.wall = Wall(tool.wall.now_s - 86_400)
        (tmp_path / ".autograder/pushed").rename(tmp_path / "lost")

        _, outcomes = tool.push(wanted({"ana": "2"}))

        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        assert tool.scores() == {"ana": 2.0}


@kinds
def test_what_a_platform_says_is_not_believed(tmp_path: Path, kind: Kind) -> None:
    """A locked grade is answered with thanks, and read back as it was."""
    item = Item(number=3, label="hw1", maximum=10, resource_id="hw1", tag="autograder")
    item.locked = {ids_on(kind)["ana"]}
    with registered(tmp_path, Setup(kind=kind, items=[item])) as tool:
        _, outcomes = tool.push(wanted({"ana": "9.5", "bo": "4"}))

        by_student = {outcome.row.student: outcome for outcome in outcomes}
        assert by_student["ana"].state is State.FAILED
        assert "the platform took it and has no score nevertheless" in by_student["ana"].reason
        assert by_student["bo"].state is State.VERIFIED


def test_a_result_that_is_off_by_a_cent_of_a_point_is_seen(tmp_path: Path) -> None:
    """What is read back is compared as exactly as scores are sent."""
    with registered(tmp_path) as tool:
        tool.platform.lies = {"u-Ana-1": 9.51, "u-Bo-2": 4.004}

        _, outcomes = tool.push(wanted({"ana": "9.5", "bo": "4"}))

        states = {outcome.row.student: (outcome.state, outcome.found) for outcome in outcomes}
        assert states == {"ana": (State.FAILED, "9.51"), "bo": (State.VERIFIED, "4")}


def test_a_platform_that_is_down_ends_the_push_after_two_students(tmp_path: Path) -> None:
    """Nobody waits five minutes for each of five hundred students; what went before is kept."""
    everybody = dict.fromkeys(ids_on(Kind.CANVAS), "1")
    with registered(tmp_path) as tool:
        way = LtiPush(tool.access(), tmp_path)
        plan = way.plan(wanted(everybody))
        outcomes = way.send(plan, wanted(everybody))
        first = next(outcomes)
        tool.platform.mishaps = Mishaps(1, share=1, kinds=[Mishap.BUSY], in_a_row=10**6)
        second, third = next(outcomes), next(outcomes)
        with pytest.raises(ServerError):
            next(outcomes)

        assert [one.state for one in (first, second, third)] == [State.VERIFIED, State.FAILED, State.FAILED]
        assert tool.scores() == {"ana": 1.0}
        tool.platform.mishaps = None
        assert len(tool.push(wanted(everybody))[1]) == 4


def test_no_key_and_no_token_is_anywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not in addresses, records, plans, errors or what is printed; what a platform repeats is scrubbed."""
    pem, _ = a_key()
    with registered(tmp_path) as tool:
        plan, outcomes = tool.push(wanted(CLASS))
        tokens = list(tool.platform.tokens)
        said = [repr(plan), repr(outcomes), *capsys.readouterr()]
        access = tool.access()
        token = access.connector.get_access_token([SCORES])
        tool.platform.instead = Answer(status=400, body=f"I do not like {token}, {pem}".encode())
        with pytest.raises(ServerError) as caught:
            access.column(tool.platform.item_url(1))
        said += [str(caught.value), repr(access.connector.__dict__)]
        said += [path.read_text() for path in (tmp_path / ".autograder").rglob("*.json")]
        over_the_wire = tool.platform.sent().decode("latin-1")

    lines = [line for line in pem.splitlines() if "-----" not in line]
    assert not any(line in text for line in lines for text in [*said, over_the_wire])
    assert not any(one in text for one in [*tokens, token] for text in said)
    targets = [asked.target for asked in tool.platform.asked]
    assert not any(one in target for one in [*tokens, token] for target in targets)
