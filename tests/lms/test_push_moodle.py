"""Grades to Moodle: after whatever goes wrong and is repeated, it has what the course has."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loopback import Mishap, Mishaps
from loopback_moodle import Graded

from autograder.errors import ServerError
from autograder.lms.push.model import Action, State

if TYPE_CHECKING:
    from pathlib import Path

from moodle_course import CLASS, NUMBERS, SCORED, course, pages, wanted


def test_scores_comments_and_files_arrive(tmp_path: Path) -> None:
    """What has none is left out; a student without a submission is read back all the same."""
    here = course(tmp_path)
    with here.site:
        plan, outcomes = here.push(wanted(CLASS, comments=True, feedback=pages(tmp_path, "ana", "ed")))

        assert here.site.broken == []
        assert here.scores() == SCORED
        assert [row.action for row in plan.rows] == [
            Action.SEND,
            Action.SEND,
            Action.SKIP,
            Action.SEND,
            Action.SKIP,
        ]
        assert {outcome.state for outcome in outcomes} == {State.VERIFIED}
        assert here.graded["ana"].comment == "Well done, ana &amp; co.<br />1 &lt; 2"
        assert list(here.graded["ana"].files.values()) == [b"<p>feedback for ana</p>"]


def test_a_second_push_sends_nothing(tmp_path: Path) -> None:
    """Everything is looked for before it is sent: scores, comments, files by their content."""
    here = course(tmp_path)
    asked = wanted(CLASS, comments=True, feedback=pages(tmp_path, "ana"))
    with here.site:
        here.push(asked)
        saved = {name: one.saved for name, one in here.graded.items()}

        plan, outcomes = here.push(asked)

        assert outcomes == []
        assert plan.counts() == {Action.UNCHANGED: 3, Action.SKIP: 2}
        assert {name: one.saved for name, one in here.graded.items()} == saved == dict.fromkeys(SCORED, 1)


def test_a_dry_run_saves_nothing(tmp_path: Path) -> None:
    """A plan calls only what reads, and leaves no record."""
    here = course(tmp_path)
    with here.site:
        here.way().plan(wanted(CLASS, comments=True, feedback=pages(tmp_path, "ana")))

        assert {name.rpartition("_")[0] for name in here.site.called} & {"mod_assign_save"} == set()
        assert here.site.drafts == {}
        assert not (tmp_path / ".autograder").exists()


@settings(max_examples=12, phases=[Phase.explicit, Phase.reuse, Phase.generate])
@given(st.integers(0, 10**6))
def test_after_any_mishaps_moodle_has_what_the_course_has(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Refusals, silence, lost answers: repeating ends in the same state."""
    folder = tmp_path_factory.mktemp("course")
    here = course(folder, Mishaps(seed, share=0.35))
    with here.site:
        for round_of, text in ((CLASS, "first"), (CLASS | {"ana": "3", "cy": "7.25"}, "second")):
            feedback = pages(folder, *SCORED, text=text)
            here.push_until_done(wanted(round_of, comments=True, feedback=feedback))

        assert here.site.broken == []
        assert here.scores() == {"ana": 3, "bo": 0, "cy": Decimal("7.25"), "di": 10}
        for name, one in here.graded.items():
            assert one.comment.startswith(f"Well done, {name}")
            expected = [f"<p>second for {name}</p>".encode()] if name in SCORED else []
            assert list(one.files.values()) == expected


def test_what_others_wrote_is_kept(tmp_path: Path) -> None:
    """Moodle would erase a comment that is not sent again, and files beside ours."""
    here = course(tmp_path)
    theirs = Graded(grade=Decimal(2), comment="<p>See me.</p>", files={"annotated.pdf": b"%PDF"})
    (assign,) = here.site.assigns.values()
    assign.graded[71] = theirs
    with here.site:
        _, outcomes = here.push(wanted({"ana": "9.5"}, feedback=pages(tmp_path, "ana", text="old")))
        here.push(wanted({"ana": "9.5"}, feedback=pages(tmp_path, "ana", text="new")))

        assert [outcome.state for outcome in outcomes] == [State.VERIFIED]
        assert theirs.comment == "<p>See me.</p>"
        assert sorted(theirs.files.values()) == [b"%PDF", b"<p>new for ana</p>"]


def test_a_locked_or_overridden_grade_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    """Moodle would thank for it and leave it out."""
    here = course(tmp_path, locked={71}, overridden={72})
    with here.site:
        plan, outcomes = here.push(wanted(CLASS))

        blocked = {row.student: row.reason for row in plan.rows if row.action is Action.BLOCKED}
        assert blocked.keys() == {"ana", "bo"}
        assert "locked" in blocked["ana"]
        assert "overridden" in blocked["bo"]
        assert [outcome.row.student for outcome in outcomes] == ["di"]


@pytest.mark.parametrize("facts", [{"locked": {71}}, {"rubric": True}])
def test_what_moodle_says_is_not_believed(tmp_path: Path, facts: dict[str, Any]) -> None:
    """Where the token may not see locks, or a rubric rules, reading back tells."""
    here = course(tmp_path, **facts)
    here.site.functions.remove("gradereport_user_get_grade_items")
    with here.site:
        _, outcomes = here.push(wanted({"ana": "9.5"}))

        assert [outcome.state for outcome in outcomes] == [State.FAILED]
        assert "Moodle took it and has no score nevertheless" in outcomes[0].reason


def test_students_are_told_of_one_by_one(tmp_path: Path) -> None:
    """Somebody whom Moodle refuses costs nobody else their score."""
    here = course(tmp_path)
    with here.site:
        way = here.way()
        plan = way.plan(wanted({"ana": "1", "bo": "2", "cy": "3"}))
        here.site.users = [user for user in here.site.users if user["id"] != 71]

        outcomes = list(way.send(plan, wanted({})))

        assert [outcome.state for outcome in outcomes] == [State.FAILED, State.VERIFIED, State.VERIFIED]
        assert "Moodle refuses (usernotincourse): User is not in the course" in outcomes[0].reason


def test_a_moodle_that_is_down_ends_the_push_after_two_students(tmp_path: Path) -> None:
    """What went before is kept, and the same command goes on."""
    everybody = dict.fromkeys(NUMBERS, "1")
    here = course(tmp_path)
    with here.site:
        way = here.way()
        plan = way.plan(wanted(everybody))
        outcomes = way.send(plan, wanted(everybody))
        first = next(outcomes)
        here.site.mishaps = Mishaps(1, share=1, kinds=[Mishap.BUSY], in_a_row=10**6)
        rest = [next(outcomes), next(outcomes)]
        with pytest.raises(ServerError):
            next(outcomes)
        here.site.mishaps = None

        assert [one.state for one in (first, *rest)] == [State.VERIFIED, State.FAILED, State.FAILED]
        assert len(here.push(wanted(everybody))[1]) == 4
