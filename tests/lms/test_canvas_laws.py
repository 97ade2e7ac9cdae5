"""Laws of a push to Canvas: exactly once whatever goes wrong, and the token nowhere."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from canvas_scenes import Scene, grade
from canvas_world import SEE_ATTACHED, TOKEN
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from killed_pushes import wanted
from loopback import Answer, Mishap, Mishaps
from requests.adapters import HTTPAdapter

from autograder.errors import AutograderError
from autograder.lms.push.model import State
from autograder.lms.push.tokens import Secret

if TYPE_CHECKING:
    from requests import PreparedRequest, Response

RUNS = 40
"""How often a command is repeated at most until nothing is left to send."""


def assert_exactly_once(scene: Scene) -> None:
    """Canvas has what was wanted: each score, each comment and each file, once."""
    assert scene.scores() == {501: 9.5, 502: 8.0, 503: 0.0, 504: None}
    said = {user: scene.world.comments(user) for user in scene.world.work}
    assert [text for text, _ in said[501] if text != SEE_ATTACHED] == ["Well done"]
    assert [text for text, _ in said[502]] == [SEE_ATTACHED]
    assert said[503] == [("Come and see me", [])]
    assert said[504] == []
    files = [name for comments in said.values() for _, names in comments for name in names]
    assert len(files) == len(set(files)) == 2
    assert scene.canvas.violations == []


def push_until_done(scene: Scene) -> int:
    """Repeat the same command as an operator would; return how often it took."""
    what = wanted(scene.folder)
    for run in range(1, RUNS + 1):
        try:
            push = scene.push()
            if not push.plan(what).to_send:
                return run
            list(push.send(push.plan(what), what))
        except AutograderError:
            continue
    raise AssertionError(f"not done after {RUNS} runs: {scene.scores()}")


@given(
    seed=st.integers(0, 2**32), share=st.sampled_from([0.2, 0.4, 0.6]), in_a_row=st.sampled_from([1, 3, 6])
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_goes_wrong_canvas_has_all_of_it_once(
    tmp_path_factory: pytest.TempPathFactory, seed: int, share: float, in_a_row: int
) -> None:
    """Throttled, down, cut off before or after the work was done, on Canvas and on its store of files."""
    folder = tmp_path_factory.mktemp("course")
    with Scene(folder, Mishaps(seed, share, in_a_row=in_a_row)) as scene:
        push_until_done(scene)
        assert_exactly_once(scene)


def test_the_retry_that_everybody_writes_first_says_it_twice(tmp_path: Path) -> None:
    """What the law above would catch: an answer that is lost, and the request sent again."""
    with Scene(tmp_path) as scene:
        push, what = scene.push(), wanted(tmp_path)
        plan = push.plan(what)
        scene.canvas.mishaps = Mishaps(0, 1.0, [Mishap.UNANSWERED], in_a_row=1)
        with push._access.session.repeating():
            list(push.send(plan, what))
        assert len(scene.world.comments(501)) > 1


class Killed(BaseException):
    """Ctrl-C, or worse: nothing of ours catches it."""


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_a_push_that_is_stopped_anywhere_goes_on(
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    after: bool,  # noqa: FBT001 - a case
) -> None:
    """Right before or after each request that changes something: nothing is lost, nothing is doubled."""
    send, count, stop = HTTPAdapter.send, 0, 0

    def sending(self: HTTPAdapter, request: PreparedRequest, *args: Any, **options: Any) -> Response:
        nonlocal count
        count += request.method != "GET"
        stopped = request.method != "GET" and count == stop
        if stopped and not after:
            raise Killed
        answer = send(self, request, *args, **options)
        if stopped:
            raise Killed
        return answer

    monkeypatch.setattr(HTTPAdapter, "send", sending)
    while True:
        stop, count = stop + 1, 0
        with Scene(tmp_path_factory.mktemp("course")) as scene:
            push, what = scene.push(), wanted(scene.folder)
            try:
                list(push.send(push.plan(what), what))
            except Killed:
                count = -1000
                push_until_done(scene)
                assert_exactly_once(scene)
            else:
                break
    # One for the scores, three for each file, one for each comment.
    assert stop - 1 == 1 + 2 * 2 + 3


@pytest.mark.parametrize("stop", [1, 3, 4])
def test_a_push_that_is_killed_goes_on(tmp_path: Path, stop: int) -> None:
    """SIGKILL: after the scores, after a file is stored, after its comment. The token is no argument."""
    program = Path(__file__).with_name("killed_pushes.py")
    paths = os.pathsep.join(str(Path(__file__).parents[level]) for level in (0, 1, 2))
    with Scene(tmp_path) as scene:
        command = [sys.executable, str(program), scene.canvas.url, str(tmp_path), str(stop)]
        env = os.environ | {"AUTOGRADER_CANVAS_TOKEN": TOKEN, "PYTHONPATH": paths}
        killed = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert killed.returncode == -9, killed.stderr
        assert len(scene.canvas.changing()) == stop
        push_until_done(scene)
        assert_exactly_once(scene)


# ---------------------------------------------------------------- the token


def shown(problem: BaseException) -> str:
    """Return all that a program that crashes prints of an error, its causes included."""
    return "".join(traceback.format_exception(problem)) + repr(problem) + repr(vars(problem))


@pytest.mark.parametrize("seed", range(4))
def test_the_token_is_in_nothing_that_anybody_sees(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], seed: int
) -> None:
    """No log down to DEBUG, no error, no outcome, no message, no file, nor its last letters."""
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    with Scene(tmp_path, Mishaps(seed, 0.5, in_a_row=7)) as scene:
        scene.policy = type(scene.policy)(told=seen.append, attempts=3)
        what = wanted(tmp_path)
        for _ in range(6):
            try:
                push = scene.push()
                plan = push.plan(what)
                seen += [repr(plan), repr(push), repr(vars(push))]
                seen += [repr(outcome) for outcome in push.send(plan, what)]
            except AutograderError as problem:
                seen.append(shown(problem))
        assert any("Bearer" in one.headers.get("Authorization", "") for one in scene.canvas.asked)
        assert TOKEN.encode() not in scene.canvas.store.sent()
    files = [path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()]
    seen += [caplog.text, *capfd.readouterr(), *(data.decode() for data in files)]

    assert len(caplog.records) > 50
    assert any("next try in" in text for text in seen)
    forms = [*Secret(TOKEN, "").forms(), f"****{TOKEN[-4:]}"]
    assert [form for form in forms if any(form in text for text in seen)] == []


def test_a_canvas_that_repeats_the_token_in_a_refusal_gives_nothing_away(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What Canvas says goes into a table that an instructor may send on."""
    caplog.set_level(logging.DEBUG)
    with Scene(tmp_path) as scene:
        scene.world.job_drops = {501}
        refusal = Answer.of(
            {"error": f"Bearer {TOKEN} may not\x1b[2J", "errors": [{"message": "No."}]}, status=400
        )
        scene.canvas._update = lambda *_: refusal  # type: ignore[method-assign]
        push = scene.push()
        what = scene.wanted(grade("ana"))
        (outcome,) = push.send(push.plan(what), what)

    assert outcome.state is State.FAILED
    assert "Bearer [secret] may not\N{REPLACEMENT CHARACTER}[2J; No" in outcome.reason
    assert TOKEN not in caplog.text
