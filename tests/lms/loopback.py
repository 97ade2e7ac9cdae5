"""
Servers of LMSs on this machine's own address: real sockets, and now and then what real servers do.

A subclass says what each request is answered. `Mishaps` draws what goes wrong
on the way, by a seed: nothing is lost for good, so whoever tries again, and
looks first where repeating would do harm, always comes through.
"""

from __future__ import annotations

import json
import random
import socket
import threading
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, ClassVar, Self
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from email.message import Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request as it came over the wire."""

    method: str
    target: str
    headers: Message
    body: bytes

    @property
    def path(self) -> str:
        """The path, letter for letter."""
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The query; of a name that is there twice the last value."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def form(self) -> list[tuple[str, str]]:
        """The fields of a form, in order."""
        return parse_qsl(self.body.decode(), keep_blank_values=True)

    @property
    def content_type(self) -> str:
        """What the body says it is, parameters included."""
        return str(self.headers.get("Content-Type", ""))


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a server says."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    reason: str | None = None

    @classmethod
    def of(cls, value: object, status: int = 200, kind: str = "application/json", link: str = "") -> Answer:
        """Return an answer in JSON; `link` says where the next page is."""
        headers = {"Content-Type": kind} | ({"Link": link} if link else {})
        return cls(status=status, body=json.dumps(value).encode(), headers=headers)


class Mishap(StrEnum):
    """What may go wrong with one request."""

    BUSY = "busy"
    """Refused unread with 503."""
    THROTTLED = "throttled"
    """Refused unread with 429 and how long to wait."""
    UNHEARD = "unheard"
    """The connection ends before anything was done."""
    UNANSWERED = "unanswered"
    """It is done, and the connection ends before the answer."""
    CUT = "cut"
    """It is done, and half of the answer comes."""
    GATEWAY = "gateway"
    """It is done, and something on the way answers 502 in HTML."""


class Mishaps:
    """
    Chance, by a seed: which requests go wrong, and how.

    Parameters
    ----------
    seed : int
        The same seed and requests, the same mishaps.
    share : float
        Of all requests.
    kinds : sequence of Mishap
        Which.
    in_a_row : int
        At most so many requests to one path go wrong one after the other.
    """

    def __init__(
        self,
        seed: int,
        share: float = 0.3,
        kinds: Sequence[Mishap] = tuple(Mishap),
        in_a_row: int = 2,
    ) -> None:
        self._random = random.Random(seed)  # noqa: S311 - chance, no secret
        self.share, self.kinds, self.in_a_row = share, kinds, in_a_row
        self._row: dict[str, int] = {}
        self.happened: list[tuple[Mishap, str]] = []

    def draw(self, asked: Asked) -> Mishap | None:
        """Return what goes wrong with a request, or None."""
        key = f"{asked.method} {asked.path}"
        if self._row.get(key, 0) >= self.in_a_row or self._random.random() >= self.share:
            self._row[key] = 0
            return None
        self._row[key] = self._row.get(key, 0) + 1
        mishap = self._random.choice(self.kinds)
        self.happened.append((mishap, key))
        return mishap


class Loopback:
    """
    A server that runs while it is entered.

    Parameters
    ----------
    mishaps : Mishaps, optional
        What goes wrong. By default nothing.
    """

    def __init__(self, mishaps: Mishaps | None = None) -> None:
        self.mishaps = mishaps
        self.asked: list[Asked] = []
        """Every request that was heard, in order."""
        self.instead: Answer | None = None
        """What is answered to everything, whatever it is."""
        self.today = ""
        """What its clock says, as a header does; by default the time that it is."""
        self.lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"loopback": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, asked: Asked) -> Answer:
        """Return what a request is answered; one at a time is asked."""
        raise NotImplementedError

    def sent(self) -> bytes:
        """Return all that came over the wire, to look for what must not be there."""
        return b"\n".join(
            f"{one.method} {one.target}\n{one.headers}\n".encode() + one.body for one in self.asked
        )

    def handled(self, asked: Asked) -> Answer | Mishap | tuple[Mishap, Answer]:
        """Return the answer, what went wrong before anything was done, or after it."""
        with self.lock:
            self.asked.append(asked)
            mishap = self.mishaps.draw(asked) if self.mishaps else None
            if mishap is Mishap.BUSY:
                return Answer(status=503, body=b"<h1>Under maintenance</h1>")
            if mishap is Mishap.THROTTLED:
                return Answer(status=429, headers={"Retry-After": "2"})
            if mishap is Mishap.UNHEARD:
                return mishap
            answer = self.instead or self.answer(asked)
            if mishap is Mishap.GATEWAY:
                return Answer(status=502, body=b"<h1>Bad Gateway</h1>", headers={"Content-Type": "text/html"})
            return (mishap, answer) if mishap else answer


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = True

    def handle_error(self, *_: Any) -> None:
        """Say nothing: connections end here on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body are written apart: without this each answer waits 40 ms.
    disable_nagle_algorithm = True
    loopback: ClassVar[Loopback]

    def _handle(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        asked = Asked(
            method=self.command, target=self.path, headers=self.headers, body=self.rfile.read(length)
        )
        found = self.loopback.handled(asked)
        if isinstance(found, Answer):
            self._send(found)
            return
        self.close_connection = True
        if isinstance(found, tuple) and found[0] is Mishap.CUT:
            self._send(found[1], whole=False)
        self.connection.shutdown(socket.SHUT_RDWR)

    def _send(self, answer: Answer, *, whole: bool = True) -> None:
        self.send_response(answer.status, answer.reason)
        for name, value in answer.headers.items():
            # http.server writes Latin-1; what is not is written as UTF-8, as PHP does.
            self.send_header(name, value.encode().decode("latin-1"))
        self.send_header("Content-Length", str(len(answer.body) + (not whole)))
        self.end_headers()
        self.wfile.write(answer.body if whole else answer.body[: len(answer.body) // 2])

    def date_time_string(self, timestamp: float | None = None) -> str:
        """Return what the header Date says."""
        return self.loopback.today or super().date_time_string(timestamp)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - the names that http.server looks for
