"""The tool's word for who it is, and what platforms answer in pages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from loopback import Answer, Asked, Loopback, Mishap, Mishaps
from loopback_lti import MEMBERS, RESULTS, SCORES, LtiPlatform, Setup, member
from lti_rules import Item, Kind, Result, when
from lti_tool import a_key, members_of, ready_key, registered, wanted
from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.names_roles import NamesRolesProvisioningService
from pylti1p3.registration import Registration as LtiRegistration
from pylti1p3.service_connector import ServiceConnector

from autograder.errors import ServerError
from autograder.lms.model import IdKind
from autograder.lms.push.lti.access import Access, below
from autograder.lms.push.lti.keys import (
    ToolKey,
)
from autograder.lms.push.lti.paging import next_page, same_server
from autograder.lms.push.lti.pushing import read_roster
from autograder.lms.push.lti.registration import read_registration
from autograder.lms.push.lti.service import PlatformRefusedError, TokenRefusedError
from autograder.lms.push.tokens import Secret

if TYPE_CHECKING:
    from pathlib import Path


# ---------------------------------------------------------------------- tokens


def test_a_token_is_kept_while_it_is_good(tmp_path: Path) -> None:
    """One is asked for each right, and a new one when its time is over."""
    with registered(tmp_path) as tool:
        connector = tool.access().connector
        first = [connector.get_access_token([SCORES]) for _ in range(3)]
        other = connector.get_access_token([RESULTS])
        tool.passing.now_s += 3600
        later = connector.get_access_token([SCORES])

        assert len(set(first)) == 1
        assert len({first[0], other, later}) == 3
        assert len(tool.platform.jtis) == 3


def test_a_token_that_is_good_no_longer_is_asked_for_anew(tmp_path: Path) -> None:
    """A platform may forget tokens before their time; no score is lost by that."""
    with registered(tmp_path) as tool:
        access = tool.access()
        tool.push(wanted({"ana": "1"}))
        access.connector.get_access_token([RESULTS])
        tool.platform.tokens.clear()

        assert access.results(tool.platform.item_url(40)).keys() == {"u-Ana-1"}


def test_a_platform_that_gives_the_same_token_again_is_understood(tmp_path: Path) -> None:
    """A token that is no longer used is no longer scrubbed from what the platform says."""
    with registered(tmp_path) as tool:
        tool.platform.one_token = "the-same-token-as-before"  # noqa: S105 - made up
        connector = tool.access().connector
        first = connector.get_access_token([SCORES])
        tool.passing.now_s += 3600

        assert connector.get_access_token([SCORES]) == first == tool.platform.one_token


def test_each_word_for_who_the_tool_is_is_said_once(tmp_path: Path) -> None:
    """A platform takes a `jti` once, so a lost answer is not asked for in the same words."""
    mishaps = Mishaps(3, share=1, kinds=[Mishap.UNANSWERED, Mishap.CUT], in_a_row=2)
    with registered(tmp_path, mishaps=mishaps) as tool:
        assert tool.access().connector.get_access_token([SCORES])

        assert tool.platform.broken == []
        assert len(tool.platform.jtis) == 3


@pytest.mark.parametrize(
    ("setup", "facts"),
    [
        (Setup(), {"client_id": "somebody else"}),
        (Setup(audience="https://sso.example.edu"), {}),
        (Setup(audience="https://sso.example.edu"), {"audience": "https://SSO.example.edu"}),
    ],
)
def test_a_tool_that_the_platform_does_not_know_is_told_so(
    tmp_path: Path, setup: Setup, facts: dict[str, Any]
) -> None:
    """What the platform says of it is in the one line."""
    with registered(tmp_path, setup) as tool:
        tool.register(**facts)
        with pytest.raises(TokenRefusedError, match=r"refuses \(400\): (iss|aud)"):
            tool.access().connector.get_access_token([SCORES])


def test_another_audience_than_the_token_url(tmp_path: Path) -> None:
    """Brightspace and Canvas want a name of their own there."""
    with registered(tmp_path, Setup(audience="https://sso.example.edu")) as tool:
        tool.register(audience="https://sso.example.edu")

        assert tool.access().connector.get_access_token([SCORES])


def test_a_key_that_was_never_registered_signs_nothing(tmp_path: Path) -> None:
    """The platform compares the signature with the key that it was told."""
    with registered(tmp_path) as tool:
        other = ToolKey(Secret(a_key(1)[0], "other.key"))
        access = Access(read_registration(tmp_path / "lti.json"), other, clock=tool.passing.clock)
        with pytest.raises(TokenRefusedError, match="signature"):
            access.connector.get_access_token([SCORES])


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Log in</html>", b"[]", b'"token"', b'{"token": 1}', b'{"access_token": null}', b"[" * 5000],
)
def test_an_answer_that_is_no_token_is_none(tmp_path: Path, body: bytes) -> None:
    """A login page, say, is no reason for a traceback."""
    with registered(tmp_path) as tool:
        tool.platform.instead = Answer(body=body)
        with pytest.raises(ServerError, match="what is no token"):
            tool.access().connector.get_access_token([SCORES])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>Log in</html>",
        b"{}",
        b'"results"',
        b"[1]",
        b'[{"userId": 1, "resultScore": "x"}]',
        b"[" * 5000,
    ],
)
def test_an_answer_that_is_no_list_of_results_is_none(tmp_path: Path, body: bytes) -> None:
    """Nothing of it is taken for a score."""
    with registered(tmp_path) as tool:
        access = tool.access()
        access.connector.get_access_token([RESULTS])
        tool.platform.instead = Answer(body=body)
        with pytest.raises(ServerError, match=r"platform (answers|tells)"):
            access.results(tool.platform.item_url(1))


# ----------------------------------------------------------------------- pages


@pytest.mark.parametrize(
    ("link", "next_url"),
    [
        ('<https://a.example/X?Page=Two>; rel="next"', "https://a.example/X?Page=Two"),
        ("<https://a.example/1>; rel=first, <https://a.example/2>;rel=next", "https://a.example/2"),
        (
            '<https://a.example/1>; rel="prev", <https://a.example/2>; title="b, c"; rel="next"',
            "https://a.example/2",
        ),
        (
            "<https://a.example/2?a=1&amp;From=2>; rel=“next”".encode().decode("latin-1"),
            "https://a.example/2?a=1&From=2",
        ),
        ('<https://a.example/2>; REL="last next"', "https://a.example/2"),
        ('<https://a.example/2>; rel="prev"', None),
        ('<https://a.example/next>; rel="first"', None),
        ('<https://a.example/2>; rel="nextish"', None),
        ("", None),
        ("<", None),
    ],
)
def test_the_next_page_is_where_the_header_says(link: str, next_url: str | None) -> None:
    """Letter for letter, in whichever quotes: pylti1p3 2.0.0 lost the case, Moodle curls the quotes."""
    assert next_page(link) == next_url


@pytest.mark.parametrize(
    ("url", "found"),
    [
        ("https://lms.example.edu/B?c=D", "https://lms.example.edu/B?c=D"),
        ("/B?c=D", "https://lms.example.edu/B?c=D"),
        ("http://lms.example.edu/B", "https://lms.example.edu/B"),
        ("http://lms.example.edu:80/B", "https://lms.example.edu/B"),
        ("https://LMS.example.edu:443/B", "https://LMS.example.edu:443/B"),
    ],
)
def test_an_address_on_the_same_server_may_be_followed(url: str, found: str) -> None:
    """Also one that a proxy has taken the encryption off."""
    assert same_server(url, "https://lms.example.edu/a?b") == found


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/",
        "//evil.example/x",
        "https://lms.example.edu.evil.example/",
        "https://lms.example.edu@evil.example/",
        "https://me@lms.example.edu/",
        "https://lms.example.edu:8443/",
        "http://lms.example.edu:8080/",
        "javascript:alert(1)",
    ],
)
def test_an_address_on_another_server_may_not(url: str) -> None:
    """The token would go there."""
    with pytest.raises(ServerError, match="another server"):
        same_server(url, "https://lms.example.edu/a")


def test_no_token_goes_to_a_server_that_a_page_leads_to(tmp_path: Path) -> None:
    """Not even one that is asked for other things, as the token URL's may be."""
    with registered(tmp_path) as tool, _Elsewhere() as elsewhere:
        tool.register(context_memberships_url=f"{elsewhere.url}/members")
        access = tool.access()
        link = f'<{elsewhere.url}/page2>; rel="next"'
        access.connector.get_access_token([RESULTS])
        tool.platform.instead = Answer.of([], link=link)
        with pytest.raises(ServerError, match="another server"):
            access.results(tool.platform.item_url(1))

        assert elsewhere.asked == []


class _Elsewhere(Loopback):
    def answer(self, asked: Asked) -> Answer:
        """Say nothing of value."""
        del asked
        return Answer()


def test_pages_that_lead_in_a_circle_end(tmp_path: Path) -> None:
    """A platform may be wrong about its own pages."""
    with registered(tmp_path) as tool:
        access = tool.access()
        access.connector.get_access_token([RESULTS])
        url = f"{tool.platform.item_url(1)}/results"
        tool.platform.instead = Answer.of([], link=f'<{url}?a>; rel="next"')
        with pytest.raises(ServerError, match="lead in a circle"):
            access.results(tool.platform.item_url(1))


@pytest.mark.parametrize("kind", list(Kind))
def test_all_pages_are_read(tmp_path: Path, kind: Kind) -> None:
    """Bookmarks in mixed case, curly quotes and HTML in addresses are no end of a list."""
    people = [member(str(number), email=f"p{number}@example.edu") for number in range(100, 131)]
    stamp = when("2026-01-01T00:00:00Z")
    assert stamp is not None
    results = {str(number): Result(score=number / 100, timestamp=stamp) for number in range(100, 131)}
    item = Item(number=6, label="hw1", maximum=10, results=results)
    with registered(tmp_path, Setup(kind=kind, members=people, page=7, items=[item])) as tool:
        tool.register(context_memberships_url=f"{tool.platform.members_url}?limit=7")
        access = tool.access()

        assert len(read_roster(access).people) == 31
        assert len(access.results(tool.platform.item_url(6))) == 31


def test_the_address_of_a_service_keeps_the_query_at_its_end() -> None:
    """Moodle would not know the tool otherwise; where the library knows the rule, both agree."""
    url = "https://lms.example.edu/lineitems/31/lineitem?type_id=7"
    plain = "https://lms.example.edu/line_items/2/"

    assert below(url, "scores") == "https://lms.example.edu/lineitems/31/lineitem/scores?type_id=7"
    assert below("https://lms.example.edu/i?a=b?c", "results") == "https://lms.example.edu/i/results?a=b?c"
    for one in (url, plain):
        assert below(one, "scores") == AssignmentsGradesService._add_url_path_ending(one, "scores")


class _PlainConnector(ServiceConnector):
    """The library's connector as it is, with the two methods that it leaves open."""

    def _get_cached_access_token(self, scope_key: str) -> None:
        """Keep none."""
        del scope_key

    def _cache_access_token(self, scope_key: str, access_token: str, expires_in: float) -> None:
        """Keep none."""


@pytest.mark.parametrize("kind", [Kind.CANVAS, Kind.OPENEDX])
def test_the_library_itself_finds_the_same(tmp_path: Path, kind: Kind) -> None:
    """Our way and pylti1p3's own agree on results and members, so the platform is no invention."""
    with registered(tmp_path, Setup(kind=kind)) as tool:
        tool.push(wanted({"ana": "9.5", "bo": "4", "di": "7"}))
        access = tool.access()
        known = LtiRegistration()
        known.set_issuer("https://lms.example.edu").set_client_id(access.registration.client_id)
        known.set_auth_token_url(tool.platform.token_url).set_tool_private_key(a_key()[0])
        known.set_tool_public_key(ready_key().public_pem())
        connector = _PlainConnector(known)
        data: Any = {"scope": [RESULTS], "lineitem": tool.platform.item_url(40)}
        graded = list(AssignmentsGradesService(connector, data).get_grades())
        people: Any = {"context_memberships_url": tool.platform.members_url}
        members = NamesRolesProvisioningService(connector, people).get_members()
        connector._requests_session.close()

        ours = access.results(tool.platform.item_url(40))
        assert {one["userId"]: one["resultScore"] for one in graded} == {
            user: float(result.share or 0) * 10 for user, result in ours.items()
        }
        assert {one["user_id"] for one in members} >= {
            person.ids[IdKind.LTI] for person in read_roster(access).people
        }


def test_a_platform_that_refuses_is_quoted_in_its_own_words(tmp_path: Path) -> None:
    """Whatever shape they have; bounded, and fit for a terminal."""
    shapes: list[object] = [
        {"errors": {"type": "x", "message": "No such course"}},
        {"reason": "No such course", "status": 404},
        {"timestamp": ["No such course"]},
        {"error": "invalid", "error_description": "No such course"},
        {"errors": [{"message": "No such course"}]},
        "No such course",
    ]
    with registered(tmp_path) as tool:
        access = tool.access()
        access.connector.get_access_token([MEMBERS])
        for shape in shapes:
            tool.platform.instead = Answer.of(shape, 404)
            with pytest.raises(PlatformRefusedError, match=r"refuses \(404\): .*No such course"):
                read_roster(access)
        tool.platform.instead = Answer(status=404, body=b"\x1b[2J" + b"x" * 9999)
        with pytest.raises(PlatformRefusedError) as caught:
            read_roster(access)
        assert "\x1b" not in str(caught.value)
        assert len(str(caught.value)) < 600


def test_the_platform_of_these_tests_finds_what_tools_do_wrong() -> None:
    """A judge that never objects proves nothing: each naive score is noted or refused."""
    platform = LtiPlatform(a_key()[1], Setup(kind=Kind.CANVAS, members=members_of(Kind.CANVAS)))
    naive: list[dict[str, object]] = [
        {"timestamp": "2026-01-01T00:00:00.000"},
        {"timestamp": "2026-01-01T00:00:01Z"},
        {"timestamp": "2026-01-01T00:00:00.500+00:00"},
        {"scoreMaximum": None},
        {"scoreGiven": "9,5"},
        {"gradingProgress": "Done"},
    ]
    good: dict[str, object] = {
        "userId": "u-Ana-1",
        "scoreGiven": 9.5,
        "scoreMaximum": 10,
        "activityProgress": "Completed",
        "gradingProgress": "FullyGraded",
        "timestamp": "2026-01-02T00:00:00.000+00:00",
        "https://canvas.instructure.com/lti/submission": {"new_submission": False},
    }
    try:
        for change in naive:
            platform.stamps = [("u-Ana-1", "2026-01-01T00:00:00.700+00:00")]
            before = len(platform.broken)
            platform._check_score({name: fact for name, fact in (good | change).items() if fact is not None})
            assert len(platform.broken) > before, change
        before = len(platform.broken)
        platform.stamps = []
        platform._check_score(json.loads(json.dumps(good)))
        assert len(platform.broken) == before
    finally:
        platform._server.server_close()
