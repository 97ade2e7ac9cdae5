"""What stops a push to Canvas, what goes on afterwards, and the record between the two."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from canvas_scenes import Scene, grade, many, pages, states, verified
from canvas_world import TOKEN
from loopback import Answer

from autograder.errors import OperatorError, ServerError
from autograder.lms.push.canvas.sending import GROUP
from autograder.lms.push.model import Action, State
from autograder.lms.push.record import FOLDER
from autograder.lms.push.tokens import Secret

if TYPE_CHECKING:
    from pathlib import Path

    from loopback import Asked


def test_the_record_is_the_owners_and_holds_no_text(tmp_path: Path) -> None:
    """Ids, hashes and times; neither names nor comments nor the token."""
    with Scene(tmp_path) as scene:
        scene.done(grade("ana", comment="Well done"), comments=True, feedback=pages(tmp_path, "ana"))
    files = list((tmp_path / ".autograder").rglob("*.json"))

    assert len(files) == 1
    assert stat.S_IMODE(files[0].stat().st_mode) == 0o600
    text = files[0].read_text(encoding="utf-8")
    assert set(json.loads(text)["students"]["501"]) == {
        *("score", "comment", "comments", "comment_id", "file", "at")
    }
    assert all(secret not in text for secret in (TOKEN, "Well done", "Ruiz", "ana"))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"version": 99}', '{"version": 1, "where": "x", "students": {}}']
)
def test_a_record_that_is_none_is_named_before_anything_is_sent(tmp_path: Path, content: str) -> None:
    """It may be deleted; guessing could send twice."""
    with Scene(tmp_path) as scene:
        scene.done(grade("ana"))
        (path,) = (tmp_path / FOLDER).glob("*.json")
        path.write_text(content, encoding="utf-8")
        with pytest.raises(OperatorError, match=r"record|damaged"):
            scene.push()
        path.unlink()
        assert scene.plan(grade("ana")).rows[0].action is Action.UNCHANGED


def test_two_pushes_at_once_do_not_both_send(tmp_path: Path) -> None:
    """Both would see no comment, and both would add one."""
    with Scene(tmp_path) as scene:
        grades = [grade(name, comment="Well done") for name in ("ana", "bo")]
        wanted = scene.wanted(*grades, comments=True)
        first, second = scene.push(), scene.push()
        plans = first.plan(wanted), second.plan(wanted)
        sending = first.send(plans[0], wanted)
        next(sending)
        with pytest.raises(OperatorError, match="another push"):
            list(second.send(plans[1], wanted))
        list(sending)
        # The second one's plan is old by now.
        assert states({one.row.student: one for one in second.send(plans[1], wanted)}) == verified(
            "ana", "bo"
        )
        assert scene.world.comments(501) == [("Well done", [])]


def test_a_token_that_ends_in_the_middle_ends_the_push(tmp_path: Path) -> None:
    """Not one refusal for each student; with a new token the rest goes."""
    with Scene(tmp_path) as scene:
        grades = many(scene, GROUP + 5)
        push, wanted = scene.push(), scene.wanted(*grades)
        sending = push.send(push.plan(wanted), wanted)
        assert next(sending).state is State.VERIFIED
        push._access.token = Secret("7053~revoked", "CANVAS_TOKEN")
        with pytest.raises(OperatorError, match="does not know this token"):
            list(sending)
        assert len(scene.done(*grades)) == 5


def test_a_canvas_that_goes_down_ends_the_push_and_the_next_one_goes_on(tmp_path: Path) -> None:
    """It is not asked for each student of the class until nobody is left."""
    with Scene(tmp_path) as scene:
        grades = many(scene, 3 * GROUP)
        push, wanted = scene.push(), scene.wanted(*grades)
        sending = push.send(push.plan(wanted), wanted)
        done = [next(sending) for _ in range(GROUP)]
        routed = scene.canvas._routed
        down = replace(routed(scene.canvas.asked[0]), status=503, body=b"<h1>Down</h1>")
        scene.canvas._routed = lambda asked: down  # type: ignore[method-assign]  # noqa: ARG005
        before = len(scene.canvas.asked)
        with pytest.raises(ServerError, match="the server answers 503"):
            list(sending)
        assert len(scene.canvas.asked) - before <= 20
        scene.canvas._routed = routed  # type: ignore[method-assign]
        assert len(done) == GROUP
        assert len(scene.done(*grades)) == 2 * GROUP


def test_a_bucket_that_is_full_is_waited_for_and_seldom_met(tmp_path: Path) -> None:
    """What is left is told with each answer; who looks is hardly ever refused."""
    with Scene(tmp_path) as scene:
        scene.canvas.cost = 45.0
        grades = [grade(name, comment="Well done") for name in ("ana", "bo", "cem")]
        assert states(scene.done(*grades, comments=True)) == verified("ana", "bo", "cem")
        assert scene.canvas.throttled == 0
        assert sum(scene.hours.slept) > 10
        scene.canvas.cost = 800.0
        assert scene.plan(*grades, comments=True).to_send == ()
        assert scene.canvas.throttled > 0


def test_a_canvas_that_only_reads_ends_the_push_too(tmp_path: Path) -> None:
    """In maintenance it shows everything and takes nothing: two students are enough to see that."""
    with Scene(tmp_path) as scene:
        grades = [grade(name, comment="Well done") for name in ("ana", "bo", "cem", "dia")]
        wanted = scene.wanted(*grades, comments=True)
        push, routed = scene.push(), scene.canvas._routed
        plan = push.plan(wanted)

        def reading(asked: Asked) -> Answer:
            return routed(asked) if asked.method == "GET" else Answer(status=503)

        scene.canvas._routed = reading  # type: ignore[method-assign]
        with pytest.raises(ServerError, match="the server answers 503"):
            list(push.send(plan, wanted))
        assert {one.path.rpartition("/")[2] for one in scene.canvas.asked if one.method == "PUT"} == {
            "501",
            "502",
        }
