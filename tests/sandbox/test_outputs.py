"""Outputs of student code are made fit to be stored and shown."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.outputs import clean_outputs

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\nrest").decode()
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)
outputs_like = st.lists(
    st.fixed_dictionaries(
        {"output_type": st.sampled_from(["stream", "error", "display_data", "execute_result", "x"])},
        optional={
            "name": anything,
            "text": anything,
            "ename": anything,
            "evalue": anything,
            "traceback": anything,
            "metadata": anything,
            "execution_count": anything,
            "data": anything
            | st.dictionaries(
                st.sampled_from(["text/plain", "text/html", "image/png", "text/latex"]), anything
            ),
        },
    )
)


def display(**data: str) -> dict[str, Any]:
    """Return a display of one type, its name written with an underscore."""
    return {
        "output_type": "display_data",
        "data": {key.replace("_", "/"): value for key, value in data.items()},
    }


@given(raw=anything | outputs_like)
def test_anything_becomes_valid_outputs(raw: object) -> None:
    """Whatever a worker reports can be written to a UTF-8 file."""
    for output in clean_outputs(raw):
        json.dumps(output, ensure_ascii=False).encode()
        assert output["output_type"] in {"stream", "error", "display_data", "execute_result"}
        if "data" in output:
            assert set(output["data"]) <= {"text/plain", "text/html", "image/png", "text/latex"}


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<a href='javascript:alert(1)'>x</a>",
        "<iframe src='http://a.example'></iframe>",
        "<svg onload=alert(1)>",
        "<b style='background:url(http://a.example)'>x</b>",
        "<form action='http://a.example'><input></form>",
    ],
)
def test_html_cannot_act(html: str) -> None:
    """No script, handler, frame or form of a student's reaches a page."""
    (output,) = clean_outputs([display(text_html=html, text_plain="x")])
    shown = output["data"]["text/html"]

    for part in ("script", "onerror", "onload", "javascript", "iframe", "svg", "style", "form"):
        assert part not in shown


def test_a_table_stays_a_table() -> None:
    """Harmless HTML, as of a data frame, is kept."""
    html = "<table><tbody><tr><td>1</td></tr></tbody></table>"
    (output,) = clean_outputs([display(text_html=html)])

    assert output["data"]["text/html"] == html


def test_only_png_pictures_are_kept() -> None:
    """A picture that is none, or could run code, is dropped with its output."""
    svg = {"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}}
    fake = display(image_png=base64.b64encode(b"GIF89a").decode())
    script = {"output_type": "display_data", "data": {"application/javascript": "alert(1)"}}

    assert clean_outputs([svg, fake, script]) == []
    assert clean_outputs([display(image_png=PNG)])[0]["data"] == {"image/png": PNG}


def test_lone_surrogates_are_replaced() -> None:
    """A string that no file can hold would fail when the notebook is written."""
    (output,) = clean_outputs([{"output_type": "stream", "name": "stdout", "text": "a\ud800b"}])

    assert output["text"] == "a?b"


def test_numbers_that_no_file_can_hold_are_dropped() -> None:
    """Python writes no integer of more than a few thousand digits."""
    vast = 16**9999
    output = display(text_plain="x", image_png=PNG) | {
        "metadata": {"image/png": {"width": vast, "height": 5}}
    }
    result = output | {"output_type": "execute_result", "execution_count": vast}
    (shown,) = clean_outputs([result])

    assert shown["execution_count"] is None
    assert shown["metadata"] == {"image/png": {"height": 5}}


def test_a_cells_html_is_bounded() -> None:
    """Cleaning nested tags takes quadratic time; what is too long is left to its plain text."""
    small, large = display(text_plain="s", text_html="<b>x</b>"), "<div>" * 100_000
    shown = clean_outputs([small, display(text_plain="l", text_html=large), small])

    assert ["text/html" in output["data"] for output in shown] == [True, False, True]


def test_a_vast_picture_is_dropped() -> None:
    """A few bytes may unpack to gigabytes where they are looked at."""
    size = (10**6).to_bytes(4, "big")
    picture = b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + size + size

    assert clean_outputs([display(image_png=base64.b64encode(picture).decode())]) == []
