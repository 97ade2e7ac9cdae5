"""What goes wrong between us and a server, and whether asking again is safe."""

from __future__ import annotations

import socket
import ssl
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import requests

if TYPE_CHECKING:
    from collections.abc import Iterator

DOWN = frozenset({500, 502, 503, 504})
"""What a server answers that may do better in a while; it may have done its work nevertheless."""
LOW = 60.0
"""Canvas: below this much left of the bucket (``X-Rate-Limit-Remaining``) we rest first."""
LEAK_PER_S = 10.0
"""Canvas: how much comes back to the bucket in a second."""

_TOO_MANY, _FORBIDDEN = 429, 403
_LATE = "the server does not answer in time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """
    Why an attempt failed.

    Parameters
    ----------
    what : str
        What is wrong, half a sentence; it may hold texts of others.
    sure : bool
        True if the server has surely done nothing.
    wait_s : float
        Seconds that the server wants us to wait.
    hopeless : bool
        True if another attempt would fail as well.
    """

    what: str
    sure: bool
    wait_s: float = 0.0
    hopeless: bool = False


def trouble_of(problem: requests.RequestException) -> Trouble:
    """
    Return what went wrong on the way.

    Parameters
    ----------
    problem : RequestException
        What requests raised.

    Returns
    -------
    Trouble
        Sure only if no byte of the request can have arrived.
    """
    causes = list(_causes(problem))
    if isinstance(problem, requests.exceptions.SSLError):
        bad = (one.verify_message for one in causes if isinstance(one, ssl.SSLCertVerificationError))
        reason = next(bad, "it does not speak TLS as it should")
        what = f"the certificate of the server cannot be trusted ({reason})"
        return Trouble(what=what, sure=True, hopeless=True)
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        unknown = any(isinstance(one, socket.gaierror) and one.errno == socket.EAI_NONAME for one in causes)
        return Trouble(what="there is no such host", sure=True, hopeless=unknown)
    if any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        return Trouble(what="the server refuses connections", sure=True)
    kinds = requests.exceptions
    if not isinstance(problem, kinds.ConnectTimeout) and any(isinstance(one, TimeoutError) for one in causes):
        return Trouble(what=_LATE, sure=False)
    for kind, what in (
        (kinds.ConnectTimeout, "the server cannot be reached"),
        (kinds.Timeout, _LATE),
        (kinds.ConnectionError, "the connection broke off"),
        (kinds.ChunkedEncodingError, "the connection broke off"),
    ):
        if isinstance(problem, kind):
            return Trouble(what=what, sure=kind is kinds.ConnectTimeout)
    return Trouble(what=f"the answer cannot be used ({type(problem).__name__})", sure=False)


def trouble_in(answer: requests.Response) -> Trouble | None:
    """
    Return why an answer is none.

    Parameters
    ----------
    answer : Response
        What the server sent.

    Returns
    -------
    Trouble or None
        None if it is one, be it a refusal.
    """
    status = answer.status_code
    if status == _TOO_MANY or (status == _FORBIDDEN and _is_throttle(answer)):
        return Trouble(what="the server has had too many requests", sure=True, wait_s=_retry_after_s(answer))
    if status in DOWN:
        return Trouble(what=f"the server answers {status}", sure=False, wait_s=_retry_after_s(answer))
    return None


def _is_throttle(answer: requests.Response) -> bool:
    return "rate limit exceeded" in answer.text[:1000].casefold()


def _retry_after_s(answer: requests.Response) -> float:
    """Return how many seconds a server wants us to wait: it gives a number or a date."""
    text = answer.headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        then, now = (parsedate_to_datetime(one) for one in (text, answer.headers.get("Date", "")))
        return max((then - now).total_seconds(), 0.0)
    except (TypeError, ValueError, ArithmeticError):
        return 0.0


def rest_s(answer: requests.Response) -> float:
    """
    Return how long to rest before the next request, so that Canvas does not throttle us.

    Parameters
    ----------
    answer : Response
        The last answer.

    Returns
    -------
    float
        Seconds.
    """
    try:
        left = float(answer.headers.get("X-Rate-Limit-Remaining", "inf"))
    except ValueError:
        return 0.0
    return (LOW - max(left, 0.0)) / LEAK_PER_S if left < LOW else 0.0


def _causes(problem: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what is behind it, also where libraries wrap one in another."""
    waiting: list[object] = [problem]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if not isinstance(one, BaseException) or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        waiting += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
