"""Tokens and keys: from where they are taken, from where never, and that nothing shows them."""

from __future__ import annotations

import copy
import json
import os
import pickle
import traceback
from base64 import b64encode
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.errors import OperatorError
from autograder.lms.push.tokens import (
    HIDDEN,
    MAX_BYTES,
    MIN_LENGTH,
    Secret,
    Source,
    read_key,
    read_token,
    scrubbed,
)

TOKEN = "7053~Zq1Yh/VbN0t+Secret="  # noqa: S105 - of no server
OTHER = "1999~another-token-altogether"
VARIABLE = "SOME_TOKEN"
KEY = """-----BEGIN PRIVATE KEY-----
MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ
C7VJTUt9Us8cKjMzEfYyjiWA4R4
-----END PRIVATE KEY-----
"""


@pytest.fixture(autouse=True)
def without_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the files decide."""
    monkeypatch.delenv(VARIABLE, raising=False)


def source(named: Path | None = None, configured: Path | None = None) -> Source:
    """Return where the tests look for a token."""
    return Source(
        what="an access token",
        variable=VARIABLE,
        option="--token-file",
        named=named,
        setting="some_token_file",
        configured=configured,
    )


def written(path: Path, content: str | bytes = TOKEN, mode: int = 0o600) -> Path:
    """Write a file as its owner might."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    path.chmod(mode)
    return path


def test_the_option_comes_before_the_variable_and_that_before_the_setting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is nearer to the command decides."""
    named, configured = written(tmp_path / "named"), written(tmp_path / "configured", OTHER)

    assert read_token(source(configured=configured)).reveal() == OTHER
    monkeypatch.setenv(VARIABLE, "from-the-variable")
    assert read_token(source(configured=configured)).reveal() == "from-the-variable"
    assert read_token(source(named, configured)).reveal() == TOKEN
    assert read_token(source(named)).source == str(named)


@pytest.mark.parametrize("before", ["", "\ufeff", " \n"])
@pytest.mark.parametrize("after", ["", "\n", "\r\n\n"])
def test_an_editor_may_add_lines_and_a_mark(tmp_path: Path, before: str, after: str) -> None:
    """Nobody sees them in the file, and they are no part of a token."""
    assert read_token(source(written(tmp_path / "t", before + TOKEN + after))).reveal() == TOKEN


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o620, 0o602, 0o610, 0o666, 0o777])
def test_a_file_that_others_may_use_is_refused(tmp_path: Path, mode: int) -> None:
    """Whoever reads it can grade; whoever writes it can have us grade elsewhere."""
    with pytest.raises(OperatorError, match=f"mode {mode:04o}.*chmod 600"):
        read_token(source(written(tmp_path / "t", mode=mode)))


def test_a_file_for_reading_only_will_do(tmp_path: Path) -> None:
    """Fewer rights are no danger."""
    assert read_token(source(written(tmp_path / "t", mode=0o400))).reveal() == TOKEN


def test_a_link_is_refused_whatever_it_leads_to(tmp_path: Path) -> None:
    """Its mode says nothing about who else may change where it leads."""
    written(tmp_path / "t")
    (tmp_path / "link").symlink_to(tmp_path / "t")

    with pytest.raises(OperatorError, match="is a link"):
        read_token(source(tmp_path / "link"))


def test_what_is_no_plain_file_is_refused_at_once(tmp_path: Path) -> None:
    """A pipe would be waited for; a folder has no content."""
    os.mkfifo(tmp_path / "pipe", 0o600)

    for name in ("pipe", "."):
        with pytest.raises(OperatorError, match=r"is no plain file|Is a directory"):
            read_token(source(tmp_path / name))


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        (" \n", "is empty"),
        ("two words", "one word"),
        ("line\nline-of-another", "one word"),
        ("naïve-token-of-mine", "one word"),
        ("tab\tin-the-middle", "one word"),
        (b"\xff\xfe\x00binary", "is no text"),
        ("short", "too short"),
        ("x" * (MAX_BYTES + 1), "longer than"),
    ],
)
def test_what_is_no_token_is_refused_without_showing_it(
    tmp_path: Path, content: str | bytes, said: str
) -> None:
    """A line break would end the header that it is put into; and what was there by mistake is secret too."""
    path = written(tmp_path / "t", content)

    with pytest.raises(OperatorError, match=said) as caught:
        read_token(source(path))

    text = content.decode(errors="replace") if isinstance(content, bytes) else content
    assert not text.strip() or text.strip() not in str(caught.value).replace("too short", "")


def test_where_there_is_none_the_remedy_names_both_ways() -> None:
    """An operator need not look it up."""
    with pytest.raises(OperatorError) as caught:
        read_token(source())

    assert VARIABLE in caught.value.remedy
    assert "--token-file" in caught.value.remedy


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    """And by what it was asked for."""
    with pytest.raises(OperatorError, match=r"no-such.*--token-file names it"):
        read_token(source(tmp_path / "no-such"))
    with pytest.raises(OperatorError, match=r"no-such.*some_token_file names it"):
        read_token(source(configured=tmp_path / "no-such"))


def test_the_token_itself_in_place_of_a_file_is_not_repeated() -> None:
    """Who confuses the two has shown it to everybody on the machine; the error must not do so again."""
    for typed in (
        "7053~Zq1YhVbN0tSecretOfTheTeacher42",
        "eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl-_x",
        "a" * 500,
    ):
        with pytest.raises(OperatorError) as caught:
            read_token(source(Path(typed)))

        assert typed not in str(caught.value)
        assert "Revoke it" in caught.value.remedy or "cannot be read" in caught.value.what


def test_a_key_is_taken_whole_and_nothing_else_is(tmp_path: Path) -> None:
    """A certificate, a public key or half a key signs nothing."""
    assert read_key(source(written(tmp_path / "k", "comment\n" + KEY))).reveal() == KEY
    for wrong in (KEY[:80], KEY.replace("PRIVATE", "PUBLIC"), TOKEN):
        with pytest.raises(OperatorError, match="no private key in PEM"):
            read_key(source(written(tmp_path / "w", wrong)))


def test_nothing_that_prints_an_object_prints_the_secret() -> None:
    """Not by accident, and not in a container, a format, a dump or a copy."""
    secret = Secret(TOKEN, VARIABLE)
    shown = [repr(secret), str(secret), f"{secret}", f"{secret!r:>60}", "%s" % secret, repr([{"a": secret}])]  # noqa: UP031 - the old way too

    assert all(TOKEN not in text and VARIABLE in text for text in shown)
    with pytest.raises(TypeError):
        json.dumps(secret)
    for copying in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError) as caught:
            copying(secret)
        assert TOKEN not in "".join(traceback.format_exception(caught.value))
    assert not hasattr(secret, "__dict__")


SECRETS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=MIN_LENGTH, max_size=60)


@given(value=SECRETS, before=st.text(max_size=20), after=st.text(max_size=20))
def test_no_way_of_writing_a_secret_outlives_scrubbing(value: str, before: str, after: str) -> None:
    """Errors of libraries hold it as it is, in an address, in JSON, or encoded for a header."""
    secret = Secret(value, VARIABLE)
    forms = [value, quote(value, safe=""), json.dumps(value)[1:-1], b64encode(value.encode()).decode()]
    forms += [repr(value)[1:-1], repr(value.encode())[2:-1], json.dumps(value)[1:-1].replace("/", "\\/")]

    for form in forms:
        text = scrubbed(f"{before}{form}{after}", [secret])
        assert form not in text.replace(HIDDEN, "")


def test_no_line_of_a_key_outlives_scrubbing() -> None:
    """A parser's error quotes the line that it stumbles over."""
    secret = Secret(KEY, "k.pem")

    for line in KEY.splitlines()[1:-1]:
        assert line not in scrubbed(f"bad base64 in {line!r}", [secret])
    assert "MIIEvQ" not in scrubbed(json.dumps({"key": KEY}), [secret])
