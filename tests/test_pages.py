"""What pages are made of: content that cannot do harm, words, and colours that can be read."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_course import HOSTILE, PNG, Page, assert_harmless, display

from autograder.errors import OperatorError
from autograder.pages import content
from autograder.pages.student import late_in_words
from autograder.pages.template import write_page
from autograder.pages.views import share


@settings(deadline=None, max_examples=300)
@given(
    st.one_of(
        st.text(), st.lists(st.sampled_from([*HOSTILE, "`", "$", "\n", "|", "- ", "> ", "a"])).map("".join)
    )
)
def test_any_markdown_is_well_nested_and_harmless(source: str) -> None:
    """The renderer is a wall, so it is tested like one."""
    html = f"<style></style><title></title>{content.markdown(source)}"
    meta = "<meta content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">"

    assert_harmless(Page(meta + content.CONTROLS.sub("", html)))


@pytest.mark.parametrize(
    "source",
    ["[" * 50_000, "> " * 20_000, "*a" * 25_000, "`" * 50_000, "<div>" * 10_000, "a|" * 40_000, "x" * 10**6],
)
def test_no_markdown_takes_long(source: str) -> None:
    """One cell must not hold up a class; a parser that blows up would take minutes here."""
    assert len(content.markdown(source)) < 20 * len(source)


@pytest.mark.parametrize("data", ["", "AAAA", "<svg/>", PNG[:-3] + "!!!", "é"])
def test_what_is_no_picture_is_not_shown_as_one(data: str) -> None:
    """A browser decides by the bytes, so the bytes decide here."""
    assert content.picture(data) == ""


def test_terminal_codes_become_what_a_terminal_shows() -> None:
    """A progress bar is its last state, and colours are not characters."""
    text = "\x1b[31mred\x1b[0m\n 10%\r 50%\r100%\r\nend\x1b[?25h\x1b(B\ud800"

    assert content.clean_text(text) == "red\n100%\nend"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, ""),
        (-5, ""),
        (30, "less than a minute"),
        (60, "1 minute"),
        (7_260, "2 hours 1 minute"),
        (180_000, "2 days 2 hours"),
    ],
)
def test_lateness_is_told_in_words(seconds: float, words: str) -> None:
    """Nobody reads 93600 seconds."""
    assert late_in_words(seconds) == words


def test_a_share_stays_inside_its_bar() -> None:
    """Extra credit and penalties must not draw over the page."""
    assert [share(part, 4) for part in (-1, 0, 1, 9)] == [0, 0, 25, 100]
    assert share(0, 0) == 100


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour such as #a8461f, as WCAG defines it."""
    channels = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(factor * value for factor, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_has_enough_contrast(scheme: str) -> None:
    """WCAG asks for 4.5 to 1."""
    style = (Path(content.__file__).parents[1] / "templates" / "style.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)[:2]
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", light if scheme == "light" else dark))
    pairs = [
        (text, ground) for text in ("text", "quiet", "link", "bad") for ground in ("page", "sheet", "soft")
    ]
    pairs += [(name, f"{name}-soft") for name in ("good", "bad", "open", "note")]
    pairs += [("quiet", "bad-soft"), ("text", "bad-soft"), ("text", "open-soft"), ("text", "note-soft")]
    pairs += [(f"t-{letter}", "sheet") for letter in "cksnfb"]

    for text, ground in pairs:
        low, high = sorted((luminance(colours[text]), luminance(colours[ground])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (text, ground)


def test_formulas_stay_as_their_source() -> None:
    """Nothing may be loaded to draw them, and underscores in them are no emphasis."""
    html = content.markdown("So $a_1 < b_2$ and\n\n$$\nc_1 * c_2 * c_3\n$$")

    assert '<span class="math">a_1 &lt; b_2</span>' in html
    assert '<div class="math">c_1 * c_2 * c_3</div>' in html


def test_code_is_coloured_unless_it_is_huge() -> None:
    """Colours are not worth a minute."""
    assert '<span class="t-k">def</span> <span class="t-f">f</span>' in content.code("def f(): pass")
    assert content.code("<" * 100_000) == "&lt;" * 100_000


def test_outputs_show_their_richest_harmless_form() -> None:
    """A picture before a table before formulas before text."""
    shown = content.outputs(
        [
            display(image_png=PNG, text_html="<p>h", text_plain="p"),
            display(text_html="<b>h", text_latex="$l$", text_plain="p"),
            display(text_html="<script>h</script>", text_latex="$l$", text_plain="p"),
            display(image_png="none", text_plain="p"),
            display(application_json="{}"),
        ]
    )

    assert [one.kind for one in shown] == ["picture", "html", "latex", "text"]
    assert [one.body for one in shown[1:]] == ["<b>h</b>", "l", "p"]


def test_a_page_that_cannot_be_written_is_the_operators_turn(tmp_path: Path) -> None:
    """It is named with its reason, and no half of it is left."""
    (tmp_path / "page.html").mkdir()

    with pytest.raises(OperatorError, match="cannot be written"):
        write_page(tmp_path / "page.html", "<p>")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
