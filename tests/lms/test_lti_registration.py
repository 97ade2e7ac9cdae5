"""What the instructor writes down for LTI, and the tool's key."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jwcrypto.jwk import JWK
from lti_tool import a_key

from autograder.errors import ConfigError, CourseError, OperatorError
from autograder.lms.model import Lms
from autograder.lms.push.lti.keys import (
    VARIABLE,
    ToolKey,
    key_source,
    make_private_key,
    read_private_key,
)
from autograder.lms.push.lti.registration import find_registration, read_registration
from autograder.lms.push.tokens import Secret

if TYPE_CHECKING:
    from pathlib import Path

TOML = """
platform = "moodle"
issuer = "https://lms.example.edu"
client_id = 10000000000007
token_url = "https://lms.example.edu/mod/lti/token.php"
lineitems = "https://lms.example.edu/mod/lti/services.php/5/lineitems?type_id=7"

[assignments.hw1]
lineitem = "https://lms.example.edu/mod/lti/services.php/5/lineitems/31/lineitem?type_id=7"
label = "Homework 1"
"""


# ---------------------------------------------------------------- registration


def test_a_registration_is_read_as_it_is_written(tmp_path: Path) -> None:
    """Queries of addresses stay, for Moodle needs them; the key lies beside the file."""
    path = tmp_path / "lti.toml"
    path.write_text(TOML + '\n[assignments."hw 2"]\n')

    found = read_registration(find_registration(tmp_path))

    assert (found.lms, found.client_id, found.audience) == (Lms.MOODLE, "10000000000007", "")
    assert found.lineitems.endswith("lineitems?type_id=7")
    assert found.item("hw1").label == "Homework 1"
    assert found.item("hw 2") == found.item("hw3")
    assert key_source(found).configured == tmp_path / "lti.key"
    assert len(found.addresses) == 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("token_url", "tokenurl"), "nothing is called 'tokenurl'"),
        (("client_id = 10000000000007", ""), "client_id is missing"),
        (("client_id = 10000000000007", "client_id = true"), "client_id is no text"),
        (("https://lms.example.edu/mod/lti/token.php", "http://lms.example.edu/token"), "not encrypted"),
        (("https://lms.example.edu/mod/lti/token.php", "https://me:pw@lms.example.edu/t"), "more in it"),
        (("https://lms.example.edu/mod/lti/token.php", "https://lms.example.edu/t#x"), "has a # in it"),
        (('"moodle"', '"modle"'), "Did you mean 'moodle'?"),
        (("label", "lable"), "nothing is called 'lable' in assignments.hw1"),
        (("[assignments.hw1]", "[assignments]"), "assignments.lineitem is no table"),
        (('issuer = "', 'issuer = "\\u001b'), "issuer has characters that are none"),
        (("issuer", "issuer = ["), "is no TOML"),
        (
            ('issuer = "https://lms.example.edu"', 'key_file = """-----BEGIN PRIVATE KEY-----"""'),
            "no place for secrets",
        ),
        (("client_id", "new_submission = 1\nclient_id"), "neither true nor false"),
    ],
)
def test_what_is_wrong_in_a_registration_is_one_line(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    """It names the file, what is wrong and what to do, and shows no secret."""
    path = tmp_path / "lti.toml"
    path.write_text(TOML.replace(*change, 1))

    with pytest.raises(CourseError) as caught:
        read_registration(path)

    assert says in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_where_no_registration_is_the_page_is_named(tmp_path: Path) -> None:
    """Nobody knows these names by heart."""
    with pytest.raises(ConfigError, match=r"lti\.toml: is not there.*docs/integrator/lti\.md"):
        find_registration(tmp_path)


@given(st.binary(max_size=60))
def test_whatever_is_in_the_file_there_is_one_answer(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    """A registration, or an error of the kit."""
    path = tmp_path_factory.mktemp("course") / "lti.json"
    path.write_bytes(data)
    with pytest.raises(CourseError):
        read_registration(path)


# ------------------------------------------------------------------------ keys


def test_a_key_is_made_for_its_owner_alone_and_once(tmp_path: Path) -> None:
    """Its public half says all that a platform needs, and nothing of the other half."""
    path = tmp_path / "lti.toml"
    path.write_text(TOML)
    source = key_source(read_registration(path))
    make_private_key(tmp_path / "lti.key")

    key = read_private_key(source)
    (public,) = key.public_keys()["keys"]

    assert stat.S_IMODE((tmp_path / "lti.key").stat().st_mode) == 0o600
    assert set(public) == {"kty", "n", "e", "kid", "alg", "use"}
    assert JWK.from_pem(key.public_pem().encode()).thumbprint() == public["kid"]
    assert "PRIVATE" not in key.public_pem() + repr(key)
    with pytest.raises(OperatorError, match="is there already"):
        make_private_key(tmp_path / "lti.key")


def test_the_key_may_stand_in_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody wants a file; a file that is named goes before it."""
    path = tmp_path / "lti.toml"
    path.write_text(TOML)
    monkeypatch.setenv(VARIABLE, a_key()[0])

    key = read_private_key(key_source(read_registration(path)))

    assert key.public_keys()["keys"][0]["kid"] == JWK(**a_key()[1]).thumbprint()
    assert key.secret.source == VARIABLE


@pytest.mark.parametrize("kind", ["short", "curve", "locked", "public", "no key"])
def test_a_key_that_platforms_do_not_take_is_refused_here(kind: str) -> None:
    """And what is in the file is shown nowhere."""
    short = JWK.generate(kty="RSA", size=1024)
    pems = {
        "short": lambda: short.export_to_pem(private_key=True, password=None),
        "curve": lambda: JWK.generate(kty="EC", crv="P-256").export_to_pem(private_key=True, password=None),
        "locked": lambda: short.export_to_pem(private_key=True, password=b"sesame"),
        "public": short.export_to_pem,
        "no key": lambda: b"-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAA\n-----END PRIVATE KEY-----\n",
    }
    text = pems[kind]().decode()

    with pytest.raises(OperatorError) as caught:
        ToolKey(Secret(text, "lti.key"))

    assert not any(line in str(caught.value) for line in text.splitlines())
    assert str(caught.value).startswith("lti.key: ")
