"""Which comment and which page of ours is the newest in Canvas: the one that is right now."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import pytest
from canvas_scenes import Scene, grade, pages, states, verified
from canvas_world import SEE_ATTACHED
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import Mishap, Mishaps

from autograder.errors import AutograderError
from autograder.lms.push.record import FOLDER

if TYPE_CHECKING:
    from pathlib import Path


def say(scene: Scene, text: str) -> dict[str, str]:
    """Send Ana a comment; return what became of it."""
    return states(scene.done(grade("ana", comment=text), comments=True))


def texts(scene: Scene) -> list[str]:
    """Return Ana's comments."""
    return [text for text, _ in scene.world.comments(501)]


def test_a_comment_that_is_right_again_is_sent_again(tmp_path: Path) -> None:
    """Else the newest one says another score for ever."""
    with Scene(tmp_path) as scene:
        for text in ("9 of 10", "8 of 10", "9 of 10"):
            assert say(scene, text) == verified("ana")
            assert say(scene, text) == {}
        assert texts(scene) == ["9 of 10", "8 of 10", "9 of 10"]


def test_a_page_that_is_right_again_is_sent_again(tmp_path: Path) -> None:
    """Under its old name, which Canvas gives a number."""
    with Scene(tmp_path) as scene:
        for text in ("first", "second", "first"):
            feedback = pages(tmp_path, "ana", text=text)
            assert states(scene.done(grade("ana"), feedback=feedback)) == verified("ana")
            assert scene.done(grade("ana"), feedback=feedback) == {}
        names = [names[0] for _, names in scene.world.comments(501)]
        assert names[0] == names[2] != names[1]
        scene.world.work[501].comments[-1]["attachments"][0]["display_name"] = names[0].replace(
            ".html", "-1.html"
        )
        for path in (tmp_path / FOLDER).iterdir():
            path.unlink()
        assert scene.done(grade("ana"), feedback=feedback) == {}


@pytest.mark.parametrize("by", [501, 502])
def test_a_student_who_writes_our_words_does_not_keep_them_away(tmp_path: Path, by: int) -> None:
    """Whoever commented first would be taken for us."""
    feedback = pages(tmp_path, "ana")
    with Scene(tmp_path) as scene:
        plan = scene.plan(grade("ana", comment="9.5 of 10"), comments=True, feedback=feedback)
        file = scene.world.announce(by, plan.rows[0].file_name, 3)
        scene.world.say(501, "9.5 of 10", [file.id], by=by)
        done = scene.done(grade("ana", comment="9.5 of 10"), comments=True, feedback=feedback)
        assert states(done) == verified("ana")
        assert [len(files) for _, files in scene.world.comments(501)] == [1, 1]
        assert texts(scene) == ["9.5 of 10"] * 2
        assert scene.plan(grade("ana", comment="9.5 of 10"), comments=True, feedback=feedback).to_send == ()


def test_what_another_teacher_wrote_changes_nothing(tmp_path: Path) -> None:
    """It is none of ours; and who pushes from another machine does not repeat us."""
    with Scene(tmp_path) as scene:
        say(scene, "9 of 10")
        scene.world.say(501, "Come and see me", [], by=12)
        assert say(scene, "9 of 10") == {}
        for path in (tmp_path / FOLDER).iterdir():
            path.unlink()
        assert say(scene, "9 of 10") == {}


@pytest.mark.parametrize("rewrites", [False, True])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("see if a<b and c>d", "see if a d"),
        ("see <b>x</b> if a<b and c>d", "see x if a d"),
        ("use <b>x</b>", "use x"),
        ("a &lt; b", "a < b"),
        ("&amp;", "&"),
    ],
)
def test_comments_that_only_look_alike_as_html_are_two(
    tmp_path: Path, first: str, second: str, *, rewrites: bool
) -> None:
    """Code in a comment is no markup."""
    with Scene(tmp_path) as scene:
        scene.world.rewrites_comments = rewrites
        for text in (first, second, first):
            assert say(scene, text) == verified("ana")
            assert say(scene, text) == {}
        assert len(texts(scene)) == 3


@given(said=st.lists(st.sampled_from(["9 of 10", "8 of 10"]), max_size=5), seed=st.integers(0, 9999))
@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_newest_comment_and_page_are_the_last_ones_whatever_goes_wrong(
    tmp_path: Path, said: list[str], seed: int
) -> None:
    """Each of them once for each time that it became right."""
    mishaps = Mishaps(seed, 0.25, [kind for kind in Mishap if kind is not Mishap.THROTTLED])
    with Scene(tmp_path / str(seed), mishaps) as scene:
        for text in said:
            wanted = {"comments": True, "feedback": pages(scene.folder, "ana", text=text)}
            for _ in range(20):
                try:
                    if not scene.plan(grade("ana", comment=text), **wanted).to_send:
                        break
                    scene.done(grade("ana", comment=text), **wanted)
                except AutograderError:
                    continue
        comments = scene.world.comments(501)
        expected = [text for text, _ in groupby(said)]
        assert [text for text, _ in comments if text != SEE_ATTACHED] == expected
        names = [name for _, names in comments for name in names]
        assert len(names) == len([name for name, _ in groupby(names)]) == len(expected)


def test_a_push_that_is_killed_after_a_comment_knows_it_again(tmp_path: Path) -> None:
    """It is ours although nothing was noted any more; and the one before it is right again then."""
    with Scene(tmp_path) as scene:
        say(scene, "9 of 10")
        push = scene.push()
        wanted = scene.wanted(grade("ana", comment="8 of 10"), comments=True)
        noting = push._record.note

        def dying(key: str, **facts: str) -> None:
            if facts.get("comment"):
                raise KeyboardInterrupt
            noting(key, **facts)

        push._record.note = dying  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):
            list(push.send(push.plan(wanted), wanted))
        assert texts(scene) == ["9 of 10", "8 of 10"]
        assert scene.plan(*wanted.grades, comments=True).to_send == ()
        assert say(scene, "9 of 10") == verified("ana")
        assert texts(scene)[-1] == "9 of 10"
