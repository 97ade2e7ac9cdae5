"""Requests to an LMS: to whom they go, how often, how long, and what never leaves or enters."""

from __future__ import annotations

import gzip
import ipaddress
import logging
import ssl
import threading
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any

import pytest
from canvas_scenes import Hours
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from loopback import Answer, Asked
from scripted import HEADERS, SECRET, Scripted, session

from autograder.errors import CourseError, OperatorError, ServerError, UncertainError
from autograder.lms.push.addresses import checked_address
from autograder.lms.push.tokens import HIDDEN
from autograder.lms.push.web import Session

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def hours() -> Hours:
    """Return a clock whose hours take no time."""
    return Hours()


# ---------------------------------------------------------------- addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://canvas.example.edu",
        "http://10.0.0.7",
        "http://localhost.example.edu",
        "http://127.0.0.1.example.edu",
        "http://0.0.0.0",
        "ftp://canvas.example.edu",
        "canvas.example.edu",
        "https://",
        "https://[::1",
        "https://canvas.example.edu:99999",
        "https://canvas.example.edu/a b",
        "https://canvas.example.edu\\@evil.example",
        "",
    ],
)
def test_an_address_that_a_token_must_not_go_to_is_refused(url: str) -> None:
    """Plain http is for this machine alone, whatever a host is called."""
    with pytest.raises(CourseError):
        checked_address(url, "canvas_url")


@pytest.mark.parametrize(
    "url",
    [
        "https://canvas.example.edu",
        "https://canvas.example.edu:8443/sub/",
        "http://localhost:3000",
        "http://127.0.0.1:80/",
        "http://127.9.9.9",
        "http://[::1]:9/",
        "  https://münchen.example  ",
    ],
)
def test_an_address_that_is_safe_is_taken(url: str) -> None:
    """Without spaces and slashes at its ends."""
    assert checked_address(url, "canvas_url") == url.strip().rstrip("/")


@pytest.mark.parametrize(
    "url",
    [
        "https://me:hunter2secret@canvas.example",
        "https://c.example?token=hunter2secret",
        "https://c/#hunter2secret",
    ],
)
def test_an_address_with_a_secret_in_it_is_refused_and_not_repeated(url: str) -> None:
    """Addresses are shown in errors and logs."""
    with pytest.raises(CourseError) as caught:
        checked_address(url, "canvas_url")

    assert "hunter2secret" not in str(caught.value)


def test_plain_http_is_refused_on_the_way_too(hours: Hours) -> None:
    """A library may make up an address that nobody has checked."""
    with pytest.raises(ServerError, match="not encrypted"):
        Session(["https://canvas.example.edu"], [SECRET], clock=hours.clock()).get(
            "http://canvas.example.edu/x"
        )


# ---------------------------------------------------------------- who sees the secret


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_server_is_refused_and_nobody_is_asked_there(hours: Hours, status: int) -> None:
    """A port of this machine is another server as well: what listens there is somebody else's."""
    with Scripted() as other:
        moved = Answer(status=status, headers={"Location": f"{other.url}/api"})
        with Scripted(moved) as server, pytest.raises(ServerError, match="sends us on to another one"):
            session(server, hours).get(f"{server.url}/x", headers=HEADERS)

        assert other.asked == []


def test_a_redirect_on_the_same_server_is_followed_with_the_token(hours: Hours) -> None:
    """Addresses of one server may move."""
    with Scripted(Answer(status=302, headers={"Location": "/new?page=2"})) as server:
        answer = session(server, hours).get(f"{server.url}/old", headers=HEADERS)

        assert answer.json() == "ok"
        assert [one.target for one in server.asked] == ["/old", "/new?page=2"]
        assert server.asked[1].headers["Authorization"] == HEADERS["Authorization"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_of_what_changes_something_is_refused(hours: Hours, status: int) -> None:
    """It would become a GET, and look as if it were done."""
    with Scripted(Answer(status=status, headers={"Location": "/new"})) as server:
        with pytest.raises(ServerError, match="nothing would be stored"):
            session(server, hours).post(f"{server.url}/old", data={"a": "1"})

        assert len(server.asked) == 1


@pytest.mark.parametrize(
    "request_",
    [
        {"headers": HEADERS},
        {"params": {"wstoken": SECRET.reveal()}},
        {"data": {"wstoken": SECRET.reveal()}},
        {"headers": {"X-Token": SECRET.reveal()}},
        {"json": {"token": SECRET.reveal()}},
        {"data": iter([b"nobody has looked"])},
    ],
    ids=["authorization", "query", "form", "header", "json", "unread"],
)
def test_no_part_of_a_request_carries_a_secret_to_another_server(
    hours: Hours, request_: dict[str, Any]
) -> None:
    """Whatever a library or an answer made of the address."""
    with Scripted() as server, Scripted() as other:
        with pytest.raises(ServerError, match="which is not the LMS"):
            session(server, hours).post(f"{other.url}/collect", **request_)

        assert other.asked == []


def test_a_request_without_a_secret_may_go_elsewhere(hours: Hours) -> None:
    """Files are uploaded to other servers than the LMS."""
    with Scripted() as server, Scripted() as store:
        assert session(server, hours).post(f"{store.url}/up", files={"file": ("a", b"x")}).json() == "ok"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.9.9.9"])
@pytest.mark.parametrize("scheme", ["http", "https"])
def test_an_lms_elsewhere_sends_nothing_to_this_machine(hours: Hours, scheme: str, host: str) -> None:
    """Its answers name where files go to; what listens here takes requests from anybody here."""
    ours = Session(["https://canvas.example.edu"], [SECRET], clock=hours.clock())
    with Scripted() as here:
        url = here.url.replace("127.0.0.1", host).replace("http", scheme)
        with pytest.raises(ServerError, match="leads to this machine"):
            ours.post(f"{url}/up", files={"file": ("a", b"x")}, allow_redirects=False)
        assert here.asked == []


def test_passwords_of_netrc_are_not_sent(
    hours: Hours, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests puts them in place of a header, unasked."""
    (tmp_path / ".netrc").write_text("default login me password hunter2\n", encoding="utf-8")
    (tmp_path / ".netrc").chmod(0o600)
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))

    with Scripted(Answer(status=302, headers={"Location": "/b"})) as server:
        session(server, hours).get(f"{server.url}/a", headers=HEADERS)
        assert [one.headers["Authorization"] for one in server.asked] == [HEADERS["Authorization"]] * 2


def test_a_proxy_is_not_shown_what_stays_on_this_machine(
    hours: Hours, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A proxy would get the token in plain text."""
    with Scripted() as proxy, Scripted() as server:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        for name in ("no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)
        session(server, hours).get(f"{server.url}/a", headers=HEADERS)

        assert proxy.asked == []


def test_a_server_that_repeats_the_secret_does_not_get_it_shown(
    hours: Hours, caplog: pytest.LogCaptureFixture
) -> None:
    """Libraries log answers and put them into exceptions."""
    caplog.set_level(logging.DEBUG)

    def echo(asked: Asked) -> Answer:
        said = asked.headers["Authorization"]
        return Answer(status=400, body=said.encode(), headers={"X-Echo": said}, reason=f"Bad {said}")

    with Scripted(echo) as server:
        answer = session(server, hours).get(f"{server.url}/a", headers=HEADERS)

    said = [answer.text, str(answer.headers), answer.reason, caplog.text]
    assert HIDDEN in answer.text
    assert all(SECRET.reveal() not in text for text in said)


# ---------------------------------------------------------------- certificates


def self_signed(path: Path) -> ssl.SSLContext:
    """Write a certificate for this machine that signs itself; return what a server needs to use it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    certificate = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(here, critical=False)
        .sign(key, hashes.SHA256())
    )
    pem, nobody = serialization.Encoding.PEM, serialization.NoEncryption()
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, nobody)
    path.write_bytes(certificate.public_bytes(pem) + private)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


class Ok(BaseHTTPRequestHandler):
    """Says "ok"."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Quiet(HTTPServer):
    """A server that says nothing of clients that hang up."""

    def handle_error(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def encrypted(folder: Path) -> Iterator[str]:
    """Run a server that signs its certificate itself; give its address."""
    server = Quiet(("127.0.0.1", 0), Ok)
    server.socket = self_signed(folder / "server.pem").wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_certificate_that_nobody_vouches_for_is_refused_once(
    hours: Hours, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And trusted if the operator names its authority; never because checking was turned off."""
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    with encrypted(tmp_path) as url:
        ours = Session([url], [SECRET], clock=hours.clock())
        with pytest.raises(ServerError, match=r"certificate.*cannot be trusted.*self.signed"):
            ours.get(url, headers=HEADERS)
        with pytest.raises(OperatorError, match="would not be checked"):
            ours.get(url, headers=HEADERS, verify=False)
        ours.verify = False
        with pytest.raises(OperatorError, match="would not be checked"):
            ours.get(url, headers=HEADERS)
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(tmp_path / "server.pem"))
        assert Session([url], [SECRET], clock=hours.clock()).get(url, headers=HEADERS).text == "ok"

    assert hours.slept == []


# ---------------------------------------------------------------- what comes back


@pytest.mark.parametrize("packed", [False, True])
def test_an_answer_has_a_limit_packed_or_not(hours: Hours, packed: bool) -> None:  # noqa: FBT001 - a case
    """A megabyte of nothing packs into a kilobyte."""
    data = b"0" * (2**20 + 1)
    body = gzip.compress(data) if packed else data
    answer = Answer(body=body, headers={"Content-Encoding": "gzip"} if packed else {})
    with Scripted(answer, answer, Answer(body=body, headers=answer.headers)) as server:
        with pytest.raises(ServerError, match="longer than 1 MiB") as reading:
            session(server, hours, answer_mib=1).get(f"{server.url}/a")
        with pytest.raises(UncertainError, match="longer than 1 MiB"):
            session(server, hours, answer_mib=1).post(f"{server.url}/a")
        assert not isinstance(reading.value, UncertainError)
        assert session(server, hours, answer_mib=2).get(f"{server.url}/a").content == data


def test_an_answer_that_trickles_has_an_end(hours: Hours) -> None:
    """Each piece is in time; the whole is not."""
    with Scripted(*[Answer(body=b"x" * 300_000)] * 3) as server:
        ours = session(server, hours, answer_s=50.0, attempts=2)
        clock = hours.clock()

        def now() -> float:
            hours.time += 20.0
            return hours.time

        ours.clock = type(clock)(now=now, sleep=clock.sleep, chance=clock.chance)
        with pytest.raises(ServerError, match="does not answer in time"):
            ours.get(f"{server.url}/a")
        assert len(server.asked) == 2


def test_texts_of_a_server_drive_no_terminal(hours: Hours) -> None:
    """Nor its address, which may come from an answer."""
    with Scripted(Answer(status=302, headers={"Location": "http://x.example\x1b]0;gone/"})) as server:
        with pytest.raises(ServerError, match="sends us on") as caught:
            session(server, hours).get(f"{server.url}/a")

        assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize("target", ["http://[::1", "//[", "http://x:99999/", "mailto:me@x.example"])
def test_an_address_that_is_none_leads_nowhere(hours: Hours, target: str) -> None:
    """What a server says is taken apart, and may be nonsense."""
    with Scripted(Answer(status=302, headers={"Location": target})) as server, pytest.raises(ServerError):
        session(server, hours).get(f"{server.url}/a", headers=HEADERS)
