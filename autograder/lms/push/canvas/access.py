"""
The way to a Canvas: canvasapi, over a session of ours that alone knows the token.

canvasapi gets a placeholder instead of the token. It logs the last letters of
what it is given, keeps answers, and would follow an address to another host;
the session puts the token in last of all, and for the right host only.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from canvasapi.exceptions import CanvasException, InvalidAccessToken
from canvasapi.requester import Requester

from autograder.errors import CourseError, OperatorError, RefusedError, ServerError
from autograder.lms.push.addresses import checked_address, origin_of
from autograder.lms.push.web import DEFAULT_CLOCK, DEFAULT_POLICY, Clock, Policy, Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import requests

    from autograder.lms.push.tokens import Secret

PLACEHOLDER = "of-the-session"
"""What canvasapi takes for the token."""
API = "/api/v1"
MOST_PAGES = 2000
"""Pages of all that is asked for at once after the first ones: no course has as many."""
MOST_TIMES = 100
"""How often the same is asked in a row; more than any job is waited for."""

_LONGEST_REASON = 300
_UNUSABLE = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError)
"""What canvasapi and we raise where an answer has another shape than it should."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CanvasTarget:
    """
    Where grades go to.

    Parameters
    ----------
    url : str
        The address of Canvas, ``https://`` and its host.
    course : str
        The course's number, ``sis_course_id:`` and the registrar's id, or its exact name or code.
    assignment : str
        The assignment's number, ``sis_assignment_id:`` and an id, or its exact name.
    token : Secret
        An access token of somebody who may grade there.
    """

    url: str
    course: str
    assignment: str
    token: Secret


class CanvasRequester(Requester):
    """
    The requester of canvasapi over a session of ours.

    Parameters
    ----------
    url : str
        The address of Canvas.
    session : Session
        What sends.
    """

    def __init__(self, url: str, session: Session) -> None:
        super().__init__(url, PLACEHOLDER)  # type: ignore[no-untyped-call]
        self._session = session
        self._last: object = None
        self._times = 0
        self._pages: set[object] = set()

    def begin(self) -> None:
        """Begin to ask for something else: its lists have pages of their own."""
        self._pages.clear()

    def request(self, method: str, *args: Any, **kwargs: Any) -> requests.Response:
        """
        Send a request as canvasapi does.

        Parameters
        ----------
        method : str
            What to do.
        *args, **kwargs : Any
            As of canvasapi.

        Returns
        -------
        Response
            The answer.

        Raises
        ------
        ValueError
            If the pages of a list lead in a circle or have no end, or one thing is asked again and again.
        CanvasException
            If Canvas refuses.
        """
        this = (method, args, kwargs.get("_url"))
        self._times = self._times + 1 if this == self._last else 0
        self._last = this
        if self._times > MOST_TIMES:
            raise ValueError(method)
        # canvasapi's lists ask for the first page with parameters and for others by their address.
        if kwargs.get("_url", this) is None and "per_page" not in kwargs:
            if args in self._pages or len(self._pages) == MOST_PAGES:
                raise ValueError(method)
            self._pages.add(args)
        ask: Callable[..., requests.Response] = super().request
        return ask(method, *args, **kwargs)


class Access:
    """
    A Canvas that can be asked.

    Parameters
    ----------
    target : CanvasTarget
        Which, and with which token.
    policy : Policy, optional
        Bounds of requests.
    clock : Clock, optional
        Time.

    Raises
    ------
    CourseError
        If the address is none that a token may be sent to.
    """

    def __init__(
        self, target: CanvasTarget, *, policy: Policy = DEFAULT_POLICY, clock: Clock = DEFAULT_CLOCK
    ) -> None:
        address = checked_address(target.url, "the address of Canvas")
        if API in address:
            raise CourseError(address, f"has {API} in it", "Give scheme and host only.")
        self.url = address
        self.token = target.token
        self.clock = clock
        self.session = Session([address], [target.token], policy=policy, clock=clock)
        self.session.auth = self._with_token
        self.requester = CanvasRequester(address, self.session)

    def _with_token(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if request.headers.get("Authorization") == f"Bearer {PLACEHOLDER}":
            # The adapter refuses this for any other host.
            request.headers["Authorization"] = f"Bearer {self.token.reveal()}"
        return request

    def is_own(self, url: str) -> bool:
        """Return whether an address is one of this Canvas."""
        return origin_of(url) in self.session.origins

    @contextmanager
    def asking(self, what: str) -> Iterator[None]:
        """
        Turn what canvasapi raises into errors of the kit.

        Parameters
        ----------
        what : str
            What is asked about; errors begin with it.

        Raises
        ------
        OperatorError
            If Canvas does not know the token.
        RefusedError
            If Canvas refuses.
        ServerError
            If it answers what nobody can use.
        """
        self.requester.begin()
        try:
            yield
        except InvalidAccessToken:
            remedy = "Make a new one in Canvas: Account, Settings, New access token."
            raise OperatorError(self.token.source, "Canvas does not know this token", remedy) from None
        except CanvasException as problem:
            reason = self.session.scrubbed(_reason(problem))
            raise RefusedError(what, f"Canvas refuses: {reason}", "Look at it in Canvas.") from None
        except _UNUSABLE as problem:
            said = f"Canvas answers what nobody can use ({type(problem).__name__})"
            raise ServerError(what, said, "Check that the address is Canvas's.") from None


def _reason(problem: CanvasException) -> str:
    """Return what a refusal says, without the JSON around it."""
    said: Any = problem.message
    if isinstance(said, str):
        try:
            said = json.loads(said)
        except ValueError:
            said = " ".join(said.split())
    texts = list(dict.fromkeys(_texts(said)))
    text = "; ".join(texts).rstrip(".") or type(problem).__name__
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " …"


def _texts(said: Any) -> Iterator[str]:
    """Yield the messages in what Canvas says: there are several shapes of it."""
    if isinstance(said, str):
        yield said.strip()
    elif isinstance(said, dict):
        known = [said[key] for key in ("message", "error", "errors") if said.get(key)]
        for part in known or said.values():
            yield from _texts(part)
    elif isinstance(said, list | tuple):
        for part in said:
            yield from _texts(part)
