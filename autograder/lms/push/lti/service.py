"""
The services of a platform: pylti1p3's, over a session of ours.

The library makes the tool's word for who it is, asks for tokens and knows the
messages. What is added here: tokens are kept while they are good and asked for
anew when they are not, pages lead to the same server only, and whatever goes
wrong is an error of the kit.
"""

from __future__ import annotations

import json
import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pylti1p3.exception import LtiException, LtiServiceException
from pylti1p3.registration import Registration as LtiRegistration
from pylti1p3.service_connector import ServiceConnector

from autograder.errors import RefusedError, ServerError, UncertainError
from autograder.lms.model import read_number
from autograder.lms.push.lti.paging import next_page, same_server
from autograder.lms.push.tokens import MIN_LENGTH, Secret
from autograder.lms.push.web import DEFAULT_CLOCK, DEFAULT_POLICY, Clock, Policy, Session

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence
    from datetime import datetime

    import requests
    from pylti1p3.service_connector import TServiceConnectorResponse

    from autograder.lms.push.lti.keys import ToolKey
    from autograder.lms.push.lti.registration import Registration

AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
LINE_ITEMS, LINE_ITEMS_READ, RESULTS, SCORES = (
    AGS + name for name in ("lineitem", "lineitem.readonly", "result.readonly", "score")
)
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"

MOST_PAGES = 2000
"""Pages of one list; no course has as many."""
TOKEN_S = 300.0
"""Seconds that a token is kept whose platform does not say how long it is good."""
LONGEST_TOKEN_S = 86_400.0
"""Seconds that a token is kept at most, whatever the platform says."""
SPARE_S = 30.0
"""Seconds before its end from which on a token is not used."""
WORDS_TRIES = 4
"""How often the tool says who it is, each time in new words, if nobody answers."""

_WORD_S = 50.0
"""Seconds that the library's word for who the tool is can be used; it says 60."""
_TOKEN = re.compile(rf"[!-~]{{{MIN_LENGTH},}}")
_UNAUTHORIZED = 401
_LONGEST_REASON, _DEEPEST = 300, 5


class PlatformRefusedError(RefusedError):
    """
    A platform refused a request.

    Parameters
    ----------
    where : object
        Which request.
    status : int
        The HTTP status.
    said : str
        What it said, fit to be shown.
    at : datetime, optional
        What time the platform takes it for, aware.
    """

    def __init__(self, where: object, status: int, said: str, at: datetime | None = None) -> None:
        super().__init__(where, f"the platform refuses ({status}): {said}", "Look at it in the LMS.")
        self.status = status
        self.said = said
        self.at = at


class TokenRefusedError(PlatformRefusedError):
    """A platform gave no token: it does not know the tool or its key, or does not let it do this."""


class Connector(ServiceConnector):
    """
    The library's connector, over a session of ours.

    Parameters
    ----------
    registration : Registration
        The tool as the platform knows it.
    key : ToolKey
        Its private key.
    policy : Policy, optional
        Bounds of requests.
    clock : Clock, optional
        Time.
    """

    def __init__(
        self,
        registration: Registration,
        key: ToolKey,
        *,
        policy: Policy = DEFAULT_POLICY,
        clock: Clock = DEFAULT_CLOCK,
    ) -> None:
        known = LtiRegistration()
        known.set_issuer(registration.issuer or registration.token_url)
        known.set_client_id(registration.client_id)
        known.set_auth_token_url(registration.token_url)
        known.set_auth_audience(registration.audience)
        # Read already: to read and check a key takes longer than a request.
        known.set_tool_private_key(key.signer())
        known.set_tool_public_key(key.public_pem())
        self.session = Session(registration.addresses, [key.secret], policy=policy, clock=clock)
        self.clock = clock
        self._tokens: dict[str, tuple[Secret, float]] = {}
        super().__init__(known, self.session)

    # ------------------------------------------------------------ tokens

    def get_access_token(self, scopes: Sequence[str]) -> str:
        """
        Return a token for some scopes.

        Parameters
        ----------
        scopes : sequence of str
            What it is for.

        Returns
        -------
        str
            The one that is kept, else a new one.

        Raises
        ------
        TokenRefusedError
            If the platform does not know the tool, or gives it no such token.
        ServerError
            If there is no usable answer.
        """
        for last in (*[False] * (WORDS_TRIES - 1), True):
            started_s = self.clock.now()
            try:
                return super().get_access_token(scopes)
            except UncertainError as error:
                # Each word can be used once, so it is not the session that repeats it.
                if last:
                    raise ServerError(error.where, error.what, error.remedy) from None
            except LtiServiceException as problem:
                if problem.response.ok:
                    raise self._no_token() from None
                if last or self.clock.now() - started_s < _WORD_S:
                    self._refuse(self._token_url, problem.response, TokenRefusedError)
            except (LtiException, ValueError, TypeError, LookupError, AttributeError, RecursionError):
                raise self._no_token() from None
        raise AssertionError(scopes)

    def _no_token(self) -> ServerError:
        return ServerError(self._token_url, "the platform answers what is no token", "Check token_url.")

    @property
    def _token_url(self) -> str:
        return self.session.scrubbed(str(self._registration.get_auth_token_url()).partition("?")[0])

    def _get_cached_access_token(self, scope_key: str) -> str | None:
        token, until_s = self._tokens.get(scope_key, (None, 0.0))
        if token is not None and self.clock.now() < until_s:
            return token.reveal()
        self._forget(scope_key)
        return None

    def _cache_access_token(self, scope_key: str, access_token: Any, expires_in: Any) -> None:
        # What is shorter would be found in innocent text, and hidden there.
        if not isinstance(access_token, str) or not _TOKEN.fullmatch(access_token):
            raise TypeError(scope_key)
        lasts_s = _lasts_s(expires_in)
        token = Secret(access_token, "the platform")
        self._tokens[scope_key] = (token, self.clock.now() + max(lasts_s - SPARE_S, lasts_s / 2))
        self.session.secrets.append(token)

    def _forget(self, scope_key: str) -> None:
        """Drop a token, also from what is scrubbed: the platform may give the same one again."""
        token, _ = self._tokens.pop(scope_key, (None, 0.0))
        self.session.secrets = [one for one in self.session.secrets if one is not token]

    # ------------------------------------------------------------ requests

    def make_service_request(
        self, scopes: Sequence[str], url: str, **details: Any
    ) -> TServiceConnectorResponse:
        """
        Send a request to a service.

        Parameters
        ----------
        scopes : sequence of str
            What its token is for.
        url : str
            Where to.
        **details : Any
            As of the library.

        Returns
        -------
        dict
            As of the library; the next page is on the same server.

        Raises
        ------
        PlatformRefusedError
            If the platform refuses.
        ServerError
            If there is no usable answer; `UncertainError` if something may have been done.
        """
        details["case_insensitive_headers"] = True
        try:
            answer = self._asked(scopes, url, details)
        except (ValueError, RecursionError):
            # What has a body that is no JSON was done all the same.
            if not details.get("is_post"):
                raise _useless(self._shown(url)) from None
            raise UncertainError(
                self._shown(url), "the platform answers what is no JSON", "Repeat the command."
            ) from None
        following = next_page(str(answer["headers"].get("Link", "")))
        answer["next_page_url"] = same_server(following, url) if following else None
        return answer

    def _asked(self, scopes: Sequence[str], url: str, details: dict[str, Any]) -> TServiceConnectorResponse:
        try:
            return super().make_service_request(scopes, url, **details)
        except LtiServiceException as problem:
            if problem.response.status_code != _UNAUTHORIZED:
                self._refuse(self._shown(url), problem.response)
        # The token was good no longer, and nothing was done: once more with a new one.
        self._forget(self._scope_key(sorted(scopes)))
        try:
            return super().make_service_request(scopes, url, **details)
        except LtiServiceException as problem:
            self._refuse(self._shown(url), problem.response)

    def get_paginated_data(
        self, scopes: Sequence[str], url: str | None, *args: Any, **kwargs: Any
    ) -> Generator[TServiceConnectorResponse]:
        """
        Yield the pages of a list.

        Parameters
        ----------
        scopes : sequence of str
            What the token is for.
        url : str or None
            The first page.
        *args, **kwargs : Any
            As of the library.

        Yields
        ------
        dict
            As of `make_service_request`.

        Raises
        ------
        ServerError
            As of `make_service_request`, and if a page leads back to an earlier one.
        """
        seen: set[str] = set()
        while url:
            if url in seen or len(seen) == MOST_PAGES:
                what = "its pages lead in a circle" if url in seen else f"it has over {MOST_PAGES} pages"
                raise ServerError(self._shown(url), what, "Tell the operator of the LMS.")
            seen.add(url)
            page = self.make_service_request(scopes, url, *args, **kwargs)
            yield page
            url = page["next_page_url"]

    def _shown(self, url: str) -> str:
        return self.session.scrubbed(url.partition("?")[0])

    def _refuse(
        self,
        where: str,
        answer: requests.Response,
        kind: type[PlatformRefusedError] = PlatformRefusedError,
    ) -> NoReturn:
        said = self.session.scrubbed(_reason(answer)) or "without a word"
        try:
            at = parsedate_to_datetime(answer.headers.get("Date", "")).astimezone(UTC)
        except (ValueError, OverflowError):
            at = None
        raise kind(where, answer.status_code, said, at) from None


def _lasts_s(told: object) -> float:
    """Return for how many seconds a token is kept that is said to be good for so many."""
    try:
        seconds = float(read_number(told))
    except ValueError:
        return TOKEN_S
    return min(seconds, LONGEST_TOKEN_S) if seconds > 0 else TOKEN_S


def as_object(value: object, where: str) -> dict[str, Any]:
    """Return a JSON object, or raise a `ServerError`."""
    if not isinstance(value, dict):
        raise _useless(where)
    return cast("dict[str, Any]", value)


def _useless(where: str) -> ServerError:
    return ServerError(where, "the platform answers what nobody can use", "Check the address.")


def _reason(answer: requests.Response) -> str:
    """Return what a refusal says, without the JSON around it."""
    try:
        said = json.loads(answer.text)
    except (ValueError, RecursionError):
        said = answer.reason if "<" in answer.text[:200] else answer.text or answer.reason
    texts = [" ".join(text.split()) for text in _texts(said) if text.strip()]
    text = "; ".join(dict.fromkeys(texts)).rstrip(".")
    return text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " …"


def _texts(said: object, depth: int = 0) -> Iterator[str]:
    """Yield the messages in what a platform says: each has a shape of its own."""
    if isinstance(said, str):
        yield said
    elif depth > _DEEPEST:
        return
    elif isinstance(said, dict):
        keys = ("error_description", "message", "reason", "error", "errors")
        known = [said[key] for key in keys if said.get(key)]
        told = known or [
            f"{name}: {part}" for name, parts in said.items() for part in _texts(parts, depth + 1)
        ]
        for part in told:
            yield from _texts(part, depth + 1)
    elif isinstance(said, list):
        for part in said:
            yield from _texts(part, depth + 1)
