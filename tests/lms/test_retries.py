"""Requests that are sent again: which, how often, after how long, and which never."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from canvas_scenes import Hours
from loopback import Answer, Mishap
from scripted import HEADERS, SECRET, Endings, Scripted, session

from autograder.errors import ServerError, UncertainError
from autograder.lms.push.web import Session


@pytest.fixture
def hours() -> Hours:
    """Return a clock whose hours take no time."""
    return Hours()


def throttle(headers: dict[str, str] | None = None, status: int = 429, body: bytes = b"") -> Answer:
    """Return a refusal of a request that was one too many."""
    return Answer(status=status, body=body, headers=headers or {})


CANVAS = throttle({"X-Rate-Limit-Remaining": "0.0"}, 403, b"403 Forbidden (Rate Limit Exceeded)\n")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
@pytest.mark.parametrize("refusal", [throttle(), CANVAS], ids=["429", "403"])
def test_a_throttled_request_is_sent_again_whatever_it_does(
    hours: Hours, method: str, refusal: Answer
) -> None:
    """It was refused before anything was done."""
    with Scripted(refusal, refusal) as server:
        assert session(server, hours).request(method, f"{server.url}/a").json() == "ok"
        assert len(server.asked) == 3
    assert hours.time > 1


def test_a_refusal_that_is_no_throttle_is_an_answer(hours: Hours) -> None:
    """403 is also what Canvas says to who may not."""
    with Scripted(throttle(status=403, body=b'{"status":"unauthorized"}')) as server:
        assert session(server, hours).get(f"{server.url}/a").status_code == 403
    assert hours.slept == []


def test_the_server_says_how_long_to_wait(hours: Hours) -> None:
    """As a number of seconds or as a date, beside its own date: clocks differ."""
    date = {"Retry-After": "Tue, 03 Nov 2026 09:30:42 GMT"}
    with Scripted(throttle({"Retry-After": "17"}), throttle(date, 503)) as server:
        server.today = "Tue, 03 Nov 2026 09:30:00 GMT"
        session(server, hours).get(f"{server.url}/a")

    assert hours.slept == [17.0, 42.0]


@pytest.mark.parametrize(
    "wait",
    [
        *(
            "",
            "soon",
            "-5",
            "1e9",
            "٣",
            "Tue, 03 Nov 1998 09:30:42 GMT",
            "0",
            "Tue, 03 Nov 99998 09:30:42 GMT",
        ),
        "Mon, 01 Jan 2024 00:00:00 +99999999999999999",
    ],
)
def test_nonsense_about_waiting_is_no_hammering(hours: Hours, wait: str) -> None:
    """Without a time that can be used, ours is."""
    with Scripted(throttle({"Retry-After": wait}), throttle({"Retry-After": wait})) as server:
        session(server, hours).get(f"{server.url}/a")

    assert hours.slept == [0.75, 1.5]


def test_waiting_is_bounded_in_count_and_seconds(hours: Hours) -> None:
    """A server that never comes back does not hold a command for ever."""
    with Scripted(*[throttle()] * 50) as server:
        with pytest.raises(ServerError, match="too many requests"):
            session(server, hours, attempts=4).get(f"{server.url}/a")
        assert len(server.asked) == 4
        with pytest.raises(ServerError, match="too many requests"):
            session(server, hours, attempts=99, waits_s=20.0).get(f"{server.url}/a")
        assert sum(hours.slept[3:]) <= 20.0
    with (
        Scripted(throttle({"Retry-After": "86400"})) as server,
        pytest.raises(ServerError, match="longer than"),
    ):
        session(server, hours).get(f"{server.url}/a")


def test_waits_grow_and_have_chance_in_them(hours: Hours) -> None:
    """A class of graders that were all refused at once must not come back all at once."""
    waits = []
    for chance in (0.0, 1.0):
        hours.slept.clear()
        clock = replace(hours.clock(), chance=partial(float, chance))
        with Scripted(*[throttle()] * 4) as server:
            Session([server.url], [], clock=clock).get(f"{server.url}/a")
        waits.append(list(hours.slept))

    assert waits == [[0.5, 1.0, 2.0, 4.0], [1.0, 2.0, 4.0, 8.0]]


UNSURE = [Mishap.UNHEARD, Mishap.UNANSWERED, Mishap.CUT, Mishap.GATEWAY, Mishap.BUSY]


@pytest.mark.parametrize("mishap", UNSURE)
def test_what_only_reads_is_sent_again_after_anything(hours: Hours, mishap: Mishap) -> None:
    """Reading twice does no harm."""
    with Scripted() as server:
        server.mishaps = Endings(mishap, mishap)
        assert session(server, hours).get(f"{server.url}/a").json() == "ok"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
@pytest.mark.parametrize("mishap", UNSURE)
def test_what_changes_something_is_not_sent_again_if_it_may_be_done(
    hours: Hours, method: str, mishap: Mishap
) -> None:
    """The naive retry posts a comment twice."""
    with Scripted() as server:
        server.mishaps = Endings(mishap)
        with pytest.raises(UncertainError, match="may have been done"):
            session(server, hours).request(method, f"{server.url}/a", data={"text": "well done"})
        assert len(server.asked) == 1
    assert hours.slept == []


def test_what_ends_in_the_same_state_is_sent_again_where_the_caller_says_so(hours: Hours) -> None:
    """And only within that; if it fails at last, it may have been done all the same."""
    with Scripted() as server:
        server.mishaps = Endings(*UNSURE)
        ours = session(server, hours)
        with ours.repeating():
            assert ours.post(f"{server.url}/a").json() == "ok"
        assert len(server.asked) == 6
        server.mishaps = Endings(Mishap.UNANSWERED, *[Mishap.THROTTLED] * 9)
        with ours.repeating(), pytest.raises(UncertainError, match="may have been done"):
            ours.post(f"{server.url}/a")
        server.mishaps = Endings(Mishap.GATEWAY)
        with pytest.raises(UncertainError):
            ours.post(f"{server.url}/a")


def test_a_server_that_is_not_there_is_asked_again_and_then_named(hours: Hours) -> None:
    """Nothing arrived, so anything may be sent again; the error names address and remedy."""
    with Scripted() as server:
        url = server.url
    with pytest.raises(ServerError, match="refuses connections") as caught:
        Session([url], [SECRET], clock=hours.clock()).post(f"{url}/a?x=1", headers=HEADERS)

    assert not isinstance(caught.value, UncertainError)
    assert len(hours.slept) == 5
    assert str(caught.value).startswith(f"POST {url}/a: ")
    assert caught.value.__cause__ is None


def test_we_say_why_we_wait(hours: Hours) -> None:
    """A bar that stands still for a minute looks broken."""
    told: list[str] = []
    with Scripted(throttle({"Retry-After": "31"})) as server:
        session(server, hours, told=told.append).get(f"{server.url}/a")

    assert told == ["the server has had too many requests; next try in 31 s"]


def test_a_bucket_that_is_nearly_full_is_given_time(hours: Hours) -> None:
    """Canvas says how much is left; to stop before it throttles is quicker than to be throttled."""
    low = Answer(body=b"{}", headers={"X-Rate-Limit-Remaining": "10.0"})
    with Scripted(low) as server:
        ours = session(server, hours)
        ours.get(f"{server.url}/a")
        assert hours.slept == []
        ours.get(f"{server.url}/b")

    assert hours.slept == [5.0]
