"""
Requests to the server of an LMS: encrypted, bounded, to it alone, and repeated only where that is safe.

A `Session` is a `requests.Session`, so that the libraries of LMSs can work
with it. What it adds sits in its adapter, below redirects and libraries:
nothing that goes over the network goes around it.
"""

from __future__ import annotations

import io
import random
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

import requests
from requests.adapters import HTTPAdapter

from autograder.errors import OperatorError, ServerError, UncertainError
from autograder.lms.push.addresses import PORTS, is_loopback, origin_of
from autograder.lms.push.deadlines import bind
from autograder.lms.push.tokens import HIDDEN, Secret, scrubbed
from autograder.lms.push.troubles import Trouble, rest_s, trouble_in, trouble_of
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SAFE = frozenset({"GET", "HEAD"})
"""Methods that change nothing, and may be repeated whatever became of them."""

_PIECE = 64 * 2**10


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """
    What tells time, lets it pass and draws chance; tests give their own.

    Parameters
    ----------
    now : callable
        Returns seconds that never run backwards.
    sleep : callable
        Waits for so many seconds.
    chance : callable
        Returns a number from 0 to 1.
    """

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """
    How long is waited, how often is asked, how much is taken.

    Parameters
    ----------
    connect_s, silence_s : float
        Seconds until a connection stands, and between two pieces of an answer.
    answer_s : float
        Seconds for one answer as a whole, from its first letter to its last.
    answer_mib : int
        MiB of the largest answer, unpacked.
    attempts : int
        How often one request is sent at most.
    first_wait_s, longest_wait_s : float
        Seconds before the second attempt, twice as many before each further one, up to the longest.
    waits_s : float
        Seconds that one request waits between attempts, all together.
    told : callable
        Is told, in a sentence, that and why we wait.
    """

    connect_s: float = 10.0
    silence_s: float = 60.0
    answer_s: float = 300.0
    answer_mib: int = 32
    attempts: int = 6
    first_wait_s: float = 1.0
    longest_wait_s: float = 60.0
    waits_s: float = 300.0
    told: Callable[[str], None] = field(default=lambda _: None)


DEFAULT_POLICY, DEFAULT_CLOCK = Policy(), Clock()


class Session(requests.Session):
    """
    A session with the servers of one LMS.

    Parameters
    ----------
    addresses : sequence of str
        The servers that may be sent secrets. To others only requests without any secret go.
    secrets : sequence of Secret
        What is scrubbed from errors and from what servers answer.
    policy : Policy, optional
        Bounds.
    clock : Clock, optional
        Time.
    """

    def __init__(
        self,
        addresses: Sequence[str],
        secrets: Sequence[Secret],
        *,
        policy: Policy = DEFAULT_POLICY,
        clock: Clock = DEFAULT_CLOCK,
    ) -> None:
        super().__init__()
        # As it stands in requests: a host with an umlaut is written in another way there.
        urls = [requests.Request("GET", address).prepare().url for address in addresses]
        self.origins = {origin_of(str(url)) for url in urls}
        self.secrets = list(secrets)
        self.policy = policy
        self.clock = clock
        self.repeatable = False
        # Without an `auth` of ours, requests would put passwords of ~/.netrc in place of our headers.
        self.auth = _unchanged
        self.adapters.clear()
        for scheme in PORTS:
            self.mount(f"{scheme}://", _Adapter(self))

    @contextmanager
    def repeating(self) -> Iterator[None]:
        """Let requests be repeated that end in the same state however often they are done."""
        before, self.repeatable = self.repeatable, True
        try:
            yield
        finally:
            self.repeatable = before

    def scrubbed(self, text: str) -> str:
        """Return a text without secrets, fit for one line of a terminal."""
        return printable(scrubbed(text, self.secrets))

    def request(self, method: Any, url: Any, *args: Any, **kwargs: Any) -> requests.Response:
        """
        Send a request.

        Parameters
        ----------
        method, url : str
            What to do, and where.
        *args, **kwargs : Any
            As of requests.

        Returns
        -------
        Response
            The answer, be it a refusal (4xx).

        Raises
        ------
        ServerError
            If there is none, or it would give a secret away; `UncertainError` if the server
            may have done its work nevertheless.
        """
        try:
            return super().request(method, url, *args, **kwargs)
        except requests.RequestException as problem:
            where = self.scrubbed(f"{method} {url}".partition("?")[0])
            what = self.scrubbed(trouble_of(problem).what)
            raise ServerError(where, what, "Check the address of the LMS.") from None

    def shown(self, request: requests.PreparedRequest) -> str:
        """Return what errors call a request: method and address, without the query."""
        parts = urlsplit(request.url or "")
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
        return self.scrubbed(f"{request.method} {parts.scheme}://{host}{port}{parts.path}")

    def merge_environment_settings(self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any) -> Any:
        """Return what the environment says of proxies and certificates; this machine needs no proxy."""
        settings = super().merge_environment_settings(url, proxies, stream, verify, cert)
        if is_loopback(origin_of(str(url))[1]):
            settings["proxies"] = {}
        return settings

    def rebuild_auth(self, prepared_request: Any, response: Any) -> None:
        """Leave the headers as they are: redirects stay on their server."""

    def resolve_redirects(self, resp: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        """Follow redirects of what only reads, on the same server; refuse others."""
        if kwargs.get("yield_requests"):
            return
        yield from super().resolve_redirects(resp, req, *args, **kwargs)

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """
        Return where an answer sends us on to.

        Parameters
        ----------
        resp : Response
            The answer.

        Returns
        -------
        str or None
            None if it does not.

        Raises
        ------
        ServerError
            If that is another server, or the request was to change something.
        """
        target = super().get_redirect_target(resp)
        if target is None:
            return None
        try:
            goal = origin_of(urljoin(resp.url, target))
        except ValueError:
            what = f"the server sends us on to {self.scrubbed(target)!r}, which is no address"
            raise ServerError(self.shown(resp.request), what, "Check the address of the LMS.") from None
        shown = self.scrubbed(f"{goal[0]}://{goal[1]}:{goal[2]}")
        if goal != origin_of(resp.url):
            what = f"the server sends us on to another one, {shown}"
            raise ServerError(self.shown(resp.request), what, "If that is the LMS, name its address instead.")
        if resp.request.method not in SAFE:
            what = "the server sends us on to another address, where nothing would be stored"
            raise ServerError(self.shown(resp.request), what, "Check the address of the LMS.")
        return target


def _unchanged(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


class _Adapter(HTTPAdapter):
    """What sends the requests of a session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rest_s = 0.0
        super().__init__()

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Make what makes connections."""
        super().init_poolmanager(*args, **kwargs)
        bind(self.poolmanager, self._left_s)

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        """Return what makes connections through a proxy."""
        manager = super().proxy_manager_for(*args, **kwargs)
        bind(manager, self._left_s)
        return manager

    def _left_s(self) -> Callable[[], float]:
        """Return what tells how many seconds are left of an answer that begins now."""
        now = self._session.clock.now
        until_s = now() + self._session.policy.answer_s
        return lambda: until_s - now()

    def send(self, request: requests.PreparedRequest, *_: Any, **settings: Any) -> requests.Response:
        """Send a request until it is answered, as far as its repetition is safe and bounds allow."""
        self._check(request, settings.get("verify"))
        policy, clock = self._session.policy, self._session.clock
        if self._rest_s:
            clock.sleep(self._rest_s)
        attempt, waited_s, uncertain = 1, 0.0, False
        while isinstance(found := self._once(request, settings), Trouble):
            uncertain = uncertain or not found.sure
            longest_s = min(policy.first_wait_s * 2 ** (attempt - 1), policy.longest_wait_s)
            wait_s = max(found.wait_s, longest_s * (0.5 + clock.chance() / 2))
            last = found.hopeless or attempt >= policy.attempts or waited_s + wait_s > policy.waits_s
            if waited_s + wait_s > policy.waits_s:
                found = replace(found, what=f"{found.what}, for longer than {policy.waits_s:.0f} s")
            if last or not (found.sure or request.method in SAFE or self._session.repeatable):
                raise self._error(request, found, uncertain=uncertain)
            policy.told(f"{self._session.scrubbed(found.what)}; next try in {wait_s:.0f} s")
            clock.sleep(wait_s)
            attempt, waited_s = attempt + 1, waited_s + wait_s
        return found

    def _check(self, request: requests.PreparedRequest, verify: object) -> None:
        """Refuse what would give a secret away."""
        url = request.url or ""
        scheme, host, _ = origin = origin_of(url)
        if scheme != "https" and not is_loopback(host):
            what = "is not encrypted: everybody on the way could read what is sent"
            raise ServerError(self._session.shown(request), what, "Use an address that begins with https://.")
        if not verify:
            what = "its certificate would not be checked"
            raise OperatorError(
                self._session.shown(request), what, "Name the authority in REQUESTS_CA_BUNDLE."
            )
        if is_loopback(host) and not any(is_loopback(one) for _, one, _ in self._session.origins):
            what = "leads to this machine, which the LMS is not on"
            raise ServerError(self._session.shown(request), what, "Tell the operator of the LMS.")
        if origin not in self._session.origins and self._has_secret(request):
            what = f"would send the secret to {self._session.scrubbed(host)}, which is not the LMS"
            raise ServerError(self._session.shown(request), what, "Check the address of the LMS.")

    def _has_secret(self, request: requests.PreparedRequest) -> bool:
        body: object = request.body or b""
        if isinstance(body, str):
            body = body.encode()
        if not isinstance(body, bytes):
            return True  # Nobody has looked.
        headers = "\n".join(_text(value) for value in request.headers.values())
        forms = [form for secret in self._session.secrets for form in secret.forms()]
        return "Authorization" in request.headers or any(
            form in headers or form in (request.url or "") or form.encode() in body for form in forms
        )

    def _once(
        self, request: requests.PreparedRequest, settings: dict[str, Any]
    ) -> requests.Response | Trouble:
        """Send a request once; return its answer, or what went wrong with it."""
        policy = self._session.policy
        settings = settings | {"stream": True, "timeout": (policy.connect_s, policy.silence_s)}
        try:
            response = super().send(request, **settings)
            try:
                answer = self._taken(response, self._body(request, response))
            finally:
                response.close()
        except requests.RequestException as problem:
            return trouble_of(problem)
        self._rest_s = rest_s(answer)
        return trouble_in(answer) or answer

    def _body(self, request: requests.PreparedRequest, response: requests.Response) -> bytes:
        most = self._session.policy.answer_mib * 2**20
        data = bytearray()
        for piece in response.iter_content(_PIECE):
            data += piece
            if len(data) > most:
                what = f"the answer is longer than {most // 2**20} MiB"
                raise self._unusable(request, what)
        return bytes(data)

    def _unusable(self, request: requests.PreparedRequest, what: str) -> ServerError:
        kind = ServerError if request.method in SAFE else UncertainError
        return kind(self._session.shown(request), what, "Check the address of the LMS.")

    def _taken(self, response: requests.Response, data: bytes) -> requests.Response:
        """Return an answer that has been read, without secrets that the server repeats."""
        for form in (form.encode() for secret in self._session.secrets for form in secret.forms()):
            data = data.replace(form, HIDDEN.encode())
        answer = requests.Response()
        answer.raw = io.BytesIO(data)
        answer.status_code = response.status_code
        answer.reason = scrubbed(_text(response.reason or ""), self._session.secrets)
        answer.url = response.url
        answer.encoding = response.encoding
        answer.request = response.request
        for name, value in response.headers.items():
            answer.headers[name] = scrubbed(value, self._session.secrets)
        return answer

    def _error(self, request: requests.PreparedRequest, trouble: Trouble, *, uncertain: bool) -> ServerError:
        what = self._session.scrubbed(trouble.what)
        where = self._session.shown(request)
        if uncertain and request.method not in SAFE:
            return UncertainError(where, f"{what}; it may have been done nevertheless", "Repeat the command.")
        return ServerError(where, what, "Check address and network, and repeat the command in a while.")


def _text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else str(value)
