"""Answers that come letter by letter: each letter in time, the whole of it not."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from canvas_scenes import Hours
from loopback import Answer
from scripted import SECRET, Scripted, session

from autograder.errors import ServerError, UncertainError
from autograder.lms.push.web import Policy, Session

if TYPE_CHECKING:
    from collections.abc import Iterator

LETTERS, PAUSE_S = 90, 0.01
"""How many letters come, and how long each takes; of them four come in time."""

HEAD = b"HTTP/1.1 200 OK\r\n"
ANSWERS = {
    "header": (HEAD + b"X: ", b"a", b"\r\nContent-Length: 2\r\n\r\nok"),
    "headers": (HEAD, b"X: a\r\n", b"Content-Length: 2\r\n\r\nok"),
    "status": (b"HTTP/1.1 200 ", b"a", b"\r\nContent-Length: 2\r\n\r\nok"),
    "continue": (b"", b"HTTP/1.1 100 Continue\r\n\r\n", HEAD + b"Content-Length: 2\r\n\r\nok"),
    "body": (HEAD + b"Content-Length: %d\r\n\r\n" % LETTERS, b"a", b""),
    "to the end": (HEAD + b"Connection: close\r\n\r\n", b"a", b""),
    "chunks": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n", b"0\r\n\r\n"),
    "size of a chunk": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0", b"\r\n\r\n"),
    "trailers": (HEAD + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: a\r\n", b"\r\n"),
}


@contextmanager
def dripping(hours: Hours, first: bytes, letter: bytes, last: bytes, letters: int = LETTERS) -> Iterator[str]:
    """Run a server that answers in letters, a second by the clock after each; give its address."""
    ended = threading.Event()

    def answer() -> None:
        with server.accept()[0] as connection:
            connection.recv(65536)
            try:
                connection.sendall(first)
                for _ in range(letters):
                    connection.sendall(letter)
                    hours.time += 1.0
                    if ended.wait(PAUSE_S):
                        return
                connection.sendall(last)
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        ended.set()
        thread.join()


@pytest.mark.parametrize("kind", ANSWERS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_answer_letter_by_letter_is_left_in_time(kind: str, method: str) -> None:
    """Wherever it is slow: no timeout of a library sees it."""
    hours = Hours()
    with dripping(hours, *ANSWERS[kind]) as url:
        ours = Session([url], [SECRET], policy=Policy(attempts=1, answer_s=4.0), clock=hours.clock())
        with pytest.raises(ServerError, match="does not answer in time") as caught:
            ours.request(method, url)

        assert hours.time < LETTERS / 2
        assert isinstance(caught.value, UncertainError) == (method == "POST")


@pytest.mark.parametrize("kind", ANSWERS)
def test_an_answer_in_pieces_that_is_in_time_is_read_whole(kind: str) -> None:
    """Slow is not too slow."""
    first, letter, last = ANSWERS[kind]
    whole = first + letter * LETTERS + last
    with dripping(hours := Hours(), whole[:20], whole[20:40], whole[40:], letters=1) as url:
        ours = Session([url], [SECRET], policy=Policy(attempts=1, answer_s=4.0), clock=hours.clock())
        assert ours.get(url).text in {"ok", "", "a" * LETTERS}


def test_a_connection_that_is_used_again_has_its_time_anew() -> None:
    """The second answer has not begun with the first."""
    hours = Hours()
    with Scripted(*[Answer(body=b"x" * 90_000)] * 9) as server:
        ours = session(server, hours, answer_s=50.0, attempts=1)
        for _ in range(9):
            assert len(ours.get(f"{server.url}/a").content) == 90_000
            hours.time += 40.0
