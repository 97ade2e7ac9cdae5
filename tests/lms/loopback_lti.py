"""
An LTI platform on this machine: tokens, line items, scores, results and memberships.

It checks what real platforms check, and more: whatever no tool should ever send
is noted in `broken`, whether or not it was refused.
"""

from __future__ import annotations

import base64
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from jwcrypto.common import JWException
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT
from loopback import Answer, Asked, Loopback, Mishaps
from lti_rules import ACTIVITY, CANVAS_SUBMISSION, GRADING, Item, Kind, RefusedError, shown_result, take_score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

AGS = "https://purl.imsglobal.org/spec/lti-ags/scope/"
ITEMS, ITEMS_READ, RESULTS, SCORES = (
    AGS + name for name in ("lineitem", "lineitem.readonly", "result.readonly", "score")
)
MEMBERS = "https://purl.imsglobal.org/spec/lti-nrps/scope/contextmembership.readonly"
ALL_SCOPES = frozenset({ITEMS, ITEMS_READ, RESULTS, SCORES, MEMBERS})
LIS = "application/vnd.ims.lis."
ITEM_TYPE, ITEMS_TYPE = LIS + "v2.lineitem+json", LIS + "v2.lineitemcontainer+json"
SCORE_TYPE, RESULTS_TYPE = LIS + "v1.score+json", LIS + "v2.resultcontainer+json"
MEMBERS_TYPE = "application/vnd.ims.lti-nrps.v2.membershipcontainer+json"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
CLIENT = "10000000000007"
ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

_PATHS = {
    Kind.CANVAS: ("/api/lti/courses/5/line_items", "{}", "/api/lti/courses/5/names_and_roles"),
    Kind.MOODLE: (
        "/mod/lti/services.php/5/lineitems",
        "{}/lineitem",
        "/mod/lti/services.php/CourseSection/5/bindings/7/memberships",
    ),
    Kind.OPENEDX: ("/api/lti_consumer/v1/lti/3/lti-ags", "{}", "/api/lti_consumer/v1/lti/3/memberships"),
}


def member(user_id: str, *, role: str = LEARNER, **more: str) -> dict[str, Any]:
    """Return a member of the course as NRPS tells of one."""
    return {"user_id": user_id, "roles": [role], "status": "Active"} | more


@dataclass(kw_only=True)
class Setup:
    """How a platform is set up."""

    kind: Kind = Kind.CANVAS
    members: Sequence[dict[str, Any]] = ()
    scopes: frozenset[str] = ALL_SCOPES
    page: int = 2
    """How many entries are on a page."""
    token_s: float = 3600.0
    now: Callable[[], float] = time.time
    audience: str = ""
    """What tokens are asked for; the token URL if empty."""
    items: Sequence[Item] = field(default_factory=list)
    tells_comments: bool = True
    """Whether results carry comments, which the standard does not demand."""
    places: int | None = None
    """To how many decimals of its own points it rounds scores; None for not at all."""


class LtiPlatform(Loopback):
    """
    A platform with one course, in which one tool is registered.

    Parameters
    ----------
    public_key : mapping
        The tool's key as a JWK.
    setup : Setup, optional
        How it is set up.
    mishaps : Mishaps, optional
        What goes wrong.
    """

    def __init__(
        self, public_key: Mapping[str, str], setup: Setup | None = None, mishaps: Mishaps | None = None
    ) -> None:
        super().__init__(mishaps)
        self.setup = setup or Setup()
        self.key = JWK(**public_key)
        self.items = {item.number: item for item in self.setup.items}
        self.members = list(self.setup.members)
        self.broken: list[str] = []
        self.jtis: set[str] = set()
        self.tokens: dict[str, tuple[frozenset[str], float]] = {}
        self.one_token = ""
        """A token that is given again and again; a new one each time if empty."""
        self.stamps: list[tuple[str, str]] = []
        """User and timestamp of every score that was heard, in order."""
        self.lies: dict[str, float] = {}
        """By user a score that results show instead of the stored one."""
        self._container, self._one, self._members = _PATHS[self.setup.kind]
        self._query = "?type_id=7" if self.setup.kind is Kind.MOODLE else ""

    @property
    def token_url(self) -> str:
        """Where tokens are had; the case of its letters counts."""
        return f"{self.url}/Login/OAuth2/Token"

    @property
    def items_url(self) -> str:
        """The container of line items."""
        return f"{self.url}{self._container}{self._query}"

    @property
    def members_url(self) -> str:
        """The memberships of the course."""
        return f"{self.url}{self._members}"

    def item_url(self, number: int) -> str:
        """Return the address of a line item, which is its id."""
        return f"{self.url}{self._container}/{self._one.format(number)}{self._query}"

    @property
    def students(self) -> set[str]:
        """Who may get a grade."""
        return {str(one["user_id"]) for one in self.members if LEARNER in one["roles"]}

    def answer(self, asked: Asked) -> Answer:
        """Return what a request is answered."""
        try:
            if asked.path == "/Login/OAuth2/Token":
                return self._token(asked)
            return self._service(asked)
        except RefusedError as refused:
            return self._refusal(refused)

    def _refusal(self, refused: RefusedError) -> Answer:
        """Return a refusal in the platform's own way."""
        kind = self.setup.kind
        if kind is Kind.MOODLE:
            # What a header cannot hold is no reason of Moodle's either.
            body = {"status": refused.status, "reason": refused.said, "request": {"method": "POST"}}
            return Answer(
                status=refused.status,
                reason=refused.said,
                body=json.dumps(body).encode(),
                headers={"Content-Type": "application/json"},
            )
        if kind is Kind.CANVAS:
            body = {"errors": {"type": "bad_request", "message": refused.said}}
            return Answer.of(body, refused.status)
        name, _, said = refused.said.partition(": ")
        return Answer.of({name: [said]} if said else {"detail": name}, refused.status)

    # ------------------------------------------------------------ tokens

    def _token(self, asked: Asked) -> Answer:
        if asked.content_type.partition(";")[0] != "application/x-www-form-urlencoded":
            self.broken.append(f"token: content type {asked.content_type}")
        form = dict(asked.form)
        if form.get("grant_type") != "client_credentials" or form.get("client_assertion_type") != ASSERTION:
            return Answer.of({"error": "unsupported_grant_type"}, 400)
        problem = self._assertion_problem(form.get("client_assertion", ""))
        if problem:
            self.broken.append(f"token: {problem}")
            return Answer.of({"error": "invalid_client", "error_description": problem}, 400)
        asked_scopes = frozenset(form.get("scope", "").split(" "))
        if not asked_scopes <= self.setup.scopes:
            return Answer.of({"error": "invalid_scope"}, 400)
        token = self.one_token or secrets.token_urlsafe(24)
        self.tokens[token] = (asked_scopes, self.setup.now() + self.setup.token_s)
        expires = int(self.setup.token_s)
        answer = {
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": expires,
            "scope": form["scope"],
        }
        return Answer.of(answer)

    def _assertion_problem(self, assertion: str) -> str:
        """Return what is wrong with the tool's word for who it is."""
        try:
            token = JWT(jwt=assertion, key=self.key, algs=["RS256"], check_claims={})
            claims, header = json.loads(token.claims), json.loads(token.header)
        except (JWException, ValueError) as problem:
            return f"signature: {problem}"
        now = self.setup.now()
        audience = claims.get("aud")
        lasts_s = claims.get("exp", 0) - claims.get("iat", 0)
        checks = {
            "kid": header.get("kid") == self.key.thumbprint(),
            "iss": claims.get("iss") == claims.get("sub") == CLIENT,
            "aud": (self.setup.audience or self.token_url)
            in (audience if isinstance(audience, list) else [audience]),
            "exp": now < claims.get("exp", 0) and 0 < lasts_s <= 300,
            "iat": claims.get("iat", now + 99) <= now + 5,
            "jti": bool(claims.get("jti")) and claims["jti"] not in self.jtis,
        }
        self.jtis.add(str(claims.get("jti")))
        return ", ".join(name for name, good in checks.items() if not good)

    def _allow(self, asked: Asked, *scopes: str) -> None:
        """Refuse whoever has no token for one of the scopes."""
        scheme, _, token = str(asked.headers.get("Authorization", "")).partition(" ")
        granted, until_s = self.tokens.get(token, (frozenset(), 0.0))
        if scheme != "Bearer" or self.setup.now() > until_s:
            raise RefusedError(401, "Invalid access token")
        if not granted & set(scopes):
            raise RefusedError(403 if self.setup.kind is Kind.OPENEDX else 401, "Insufficient permissions")

    # ------------------------------------------------------------ services

    def _service(self, asked: Asked) -> Answer:
        if any(token in asked.target for token in self.tokens):
            self.broken.append("a token in an address")
        if asked.path == self._members:
            return self._memberships(asked)
        if not asked.path.startswith(self._container):
            raise RefusedError(404, "Not found")
        if self.setup.kind is Kind.MOODLE and asked.query.get("type_id") != "7":
            raise RefusedError(403, "type_id is missing")
        rest = asked.path.removeprefix(self._container).strip("/")
        if not rest:
            return self._line_items(asked) if asked.method == "GET" else self._new_item(asked)
        number, _, what = rest.partition("/")
        if self.setup.kind is Kind.MOODLE:
            what = what.removeprefix("lineitem").strip("/")
        item = self.items.get(int(number)) if number.isdigit() else None
        if item is None:
            raise RefusedError(404, "Line item does not exist.")
        return self._of_item(asked, item, what)

    def _of_item(self, asked: Asked, item: Item, what: str) -> Answer:
        if (what, asked.method) == ("scores", "POST"):
            return self._score(asked, item)
        if (what, asked.method) == ("results", "GET"):
            return self._results(asked, item)
        if (what, asked.method) != ("", "GET"):
            raise RefusedError(405, "Method not allowed")
        self._allow(asked, ITEMS, ITEMS_READ)
        return Answer.of(self._shown(item), kind=ITEM_TYPE)

    def _shown(self, item: Item) -> dict[str, Any]:
        return {
            "id": self.item_url(item.number),
            "label": item.label,
            "scoreMaximum": item.maximum,
            "resourceId": item.resource_id,
            "tag": item.tag,
        }

    def _line_items(self, asked: Asked) -> Answer:
        self._allow(asked, ITEMS, ITEMS_READ)
        self._check_accept(asked, ITEMS_TYPE)
        return self._paged(asked, [self._shown(item) for item in self.items.values()], ITEMS_TYPE)

    def _new_item(self, asked: Asked) -> Answer:
        self._allow(asked, ITEMS)
        told = self._body(asked, ITEM_TYPE)
        maximum, label = told.get("scoreMaximum"), told.get("label")
        if not label or not isinstance(maximum, int | float) or maximum <= 0:
            raise RefusedError(400, "No label or Score Maximum")
        if self.setup.kind is Kind.OPENEDX and not (isinstance(maximum, int) and told.get("resourceId")):
            raise RefusedError(400, "scoreMaximum: A valid integer is required.")
        item = Item(
            number=40 + len(self.items),
            label=label,
            maximum=float(maximum),
            resource_id=told.get("resourceId", ""),
            tag=told.get("tag", ""),
        )
        self.items[item.number] = item
        return Answer.of(self._shown(item), 201, ITEM_TYPE)

    def _score(self, asked: Asked, item: Item) -> Answer:
        self._allow(asked, SCORES)
        score = self._body(asked, SCORE_TYPE)
        self._check_score(score)
        take_score(self.setup.kind, item, score, self.students)
        return Answer.of({"resultUrl": self.item_url(item.number)}, kind=SCORE_TYPE)

    def _check_score(self, score: dict[str, Any]) -> None:
        """Note what no tool should send, whatever this platform makes of it."""
        stamp, user = str(score.get("timestamp")), str(score.get("userId"))
        earlier = [one for whose, one in self.stamps if whose == user]
        self.stamps.append((user, stamp))
        checks = {
            "timestamp without zone": stamp.endswith("Z") or "+" in stamp[19:],
            "timestamp without fraction": "." in stamp,
            "timestamp not later": not earlier or stamp > max(earlier),
            "maximum not above 0": score.get("scoreMaximum", 1) > 0,
            "score without maximum": ("scoreGiven" in score) <= ("scoreMaximum" in score),
            "no number": all(
                isinstance(score.get(name, 0), int | float) for name in ("scoreGiven", "scoreMaximum")
            ),
            "unknown progress": score.get("activityProgress") in ACTIVITY
            and score.get("gradingProgress") in GRADING,
            "a new submission in Canvas": self.setup.kind is not Kind.CANVAS
            or score.get(CANVAS_SUBMISSION, {}).get("new_submission") is False,
            "null": None not in score.values(),
        }
        self.broken += [f"score: {name}" for name, good in checks.items() if not good]

    def _results(self, asked: Asked, item: Item) -> Answer:
        self._allow(asked, RESULTS)
        self._check_accept(asked, RESULTS_TYPE)
        wanted = asked.query.get("user_id")
        if self.setup.kind is Kind.OPENEDX:
            wanted = None  # It knows no such filter.
        shown = [self._result(item, user) for user in item.results if wanted is None or user == str(wanted)]
        return self._paged(asked, shown, RESULTS_TYPE)

    def _result(self, item: Item, user: str) -> dict[str, Any]:
        known = item.results[user]
        shown: dict[str, Any] = {
            "id": f"{self.item_url(item.number)}/results/{user}",
            "scoreOf": self.item_url(item.number),
            "userId": int(user) if self.setup.kind is Kind.MOODLE and user.isdigit() else user,
        }
        score = self.lies.get(user, known.score)
        shown |= shown_result(self.setup.kind, item, known, self._rounded(score))
        if known.comment and self.setup.tells_comments:
            shown["comment"] = known.comment
        return shown

    def _rounded(self, score: float | None) -> float | None:
        return score if score is None or self.setup.places is None else round(score, self.setup.places)

    def _memberships(self, asked: Asked) -> Answer:
        self._allow(asked, MEMBERS)
        self._check_accept(asked, MEMBERS_TYPE)
        found = self._paged(asked, self.members, MEMBERS_TYPE)
        body = {"id": self.members_url, "context": {"id": "5"}, "members": json.loads(found.body)}
        return Answer(body=json.dumps(body).encode(), headers=found.headers)

    def _paged(self, asked: Asked, entries: Sequence[object], kind: str) -> Answer:
        """Return a page; where the next one is says a header, in the platform's own way."""
        query = asked.query
        if self.setup.kind is Kind.MOODLE:
            if "limit" not in query:
                return Answer.of(list(entries), kind=kind)
            start, size = int(query.get("from", 0)), int(query["limit"])
            following = query | {"from": str(start + size)}
            # As it is written there: curly quotes, and an address made for HTML.
            address = f"{self.url}{asked.path}?{urlencode(following)}".replace("&", "&amp;")
            link = f"<{self.url}{asked.path}>; rel=“first”, <{address}>; rel=“next”"
        else:
            start = _cursor(query["page"]) if "page" in query else 0
            size = self.setup.page
            following = query | {"page": _bookmark(start + size)}
            address = f"{self.url}{asked.path}?{urlencode(following)}"
            link = f'<{self.url}{asked.path}>; rel="current",<{address}>; rel="next"'
        page = list(entries[start : start + size])
        link = link if start + size < len(entries) else ""
        return Answer.of(page, kind=kind, link=link)

    def _body(self, asked: Asked, kind: str) -> dict[str, Any]:
        if asked.content_type != kind:
            self.broken.append(f"content type {asked.content_type} for {kind}")
            raise RefusedError(400, "Unsupported content type")
        told = json.loads(asked.body)
        if not isinstance(told, dict):
            raise RefusedError(400, "No object")
        return told

    def _check_accept(self, asked: Asked, kind: str) -> None:
        if asked.headers.get("Accept") != kind:
            self.broken.append(f"accept {asked.headers.get('Accept')} for {kind}")


def _bookmark(start: int) -> str:
    """Return a place in a list whose letters lose their meaning in lower case."""
    return "bookmark:" + base64.urlsafe_b64encode(f"WhereWeAre{start:04}".encode()).decode()


def _cursor(bookmark: str) -> int:
    try:
        return int(base64.urlsafe_b64decode(bookmark.removeprefix("bookmark:"))[-4:])
    except ValueError:
        raise RefusedError(404, "Not a bookmark") from None
