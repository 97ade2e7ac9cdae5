"""
Text, code, Markdown and outputs of a notebook as HTML that cannot do harm.

Whatever a student wrote is hostile here. It becomes text that is escaped, or
HTML that a parser rebuilt from a short list of elements. Nothing that comes
out names an address that a browser would load.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mistune
import nh3
from markupsafe import Markup
from pygments import lex  # type: ignore[import-untyped]
from pygments.lexers.python import PythonLexer  # type: ignore[import-untyped]
from pygments.token import Token  # type: ignore[import-untyped]

from autograder.raised import STOPPED, said

MARKDOWN_LIMIT = 60_000
CODE_LIMIT = 60_000
TEXT_LIMIT = 20_000
HTML_LIMIT = 100_000
"""Characters beyond which a source is shown plain, and an output is cut."""

OUTPUTS_LIMIT = 100
"""Outputs of one cell that are shown."""

KEPT = 256
"""Sources that are kept rendered: those of the lesson come again with every student."""

ESCAPES = re.compile(r"\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)?|\[[0-?]*[ -/]*[@-~]?|[ -/]+[0-~]?|[0-~])?")
CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")

PICTURE_URL = re.compile(r"data:image/(?:png|jpeg);base64,[A-Za-z0-9+/]+={0,2}")
HEADING = re.compile(r"<(/?)h([2-6])>")
NO_PICTURE = re.compile(r'<img(?: (?!src=)[a-z]+="[^"]*")*>')
LINK_URL = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)
SIGNATURES = {"image/png": b"\x89PNG\r\n\x1a\n", "image/jpeg": b"\xff\xd8\xff"}

BLOCKS = {"blockquote", "dd", "div", "dl", "dt", "hr", "li", "ol", "p", "pre", "ul"}
TABLES = {"table", "tbody", "td", "tfoot", "th", "thead", "tr"}
WORDS = {"a", "abbr", "b", "br", "code", "del", "em", "i", "kbd", "s", "small", "span", "strong", "sub"}
WORDS |= {"sup", "u", "var"}
HEADINGS = {"h2", "h3", "h4", "h5", "h6"}
OUTPUT_TAGS = BLOCKS | TABLES | WORDS
MARKDOWN_TAGS = OUTPUT_TAGS | HEADINGS | {"img"}
ATTRIBUTES = {
    "a": {"href"},
    "img": {"src", "alt", "width"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "ol": {"start"},
}

# The nearest ancestor of a token's type that has a class gives its colour.
TOKEN_CLASSES = {
    Token.Comment: "c",
    Token.Keyword: "k",
    Token.Operator.Word: "k",
    Token.Literal.String: "s",
    Token.Literal.Number: "n",
    Token.Name.Function: "f",
    Token.Name.Class: "f",
    Token.Name.Decorator: "f",
    Token.Name.Builtin: "b",
    Token.Name.Exception: "b",
}


# -------------------------------------------------------------------- text


def clean_text(text: str) -> str:
    """Return a text as a terminal would leave it: no escape sequences, no overwritten parts of lines."""
    text = ESCAPES.sub("", text).replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return CONTROLS.sub("", text)


@lru_cache(maxsize=KEPT)
def code(source: str) -> Markup:
    """
    Return Python source with its tokens marked for the style sheet.

    Parameters
    ----------
    source : str
        The source; above 60 000 characters it is only escaped.

    Returns
    -------
    Markup
        Text and ``span`` elements.
    """
    source = CONTROLS.sub("", source)
    if len(source) > CODE_LIMIT:
        return Markup(html.escape(source))  # noqa: S704 - escaped
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    return Markup("".join(_token(kind, text) for kind, text in lex(source, lexer)))  # noqa: S704 - escaped


def _token(kind: Any, text: str) -> str:
    while kind is not None:
        if kind in TOKEN_CLASSES:
            return f'<span class="t-{TOKEN_CLASSES[kind]}">{html.escape(text)}</span>'
        kind = kind.parent
    return html.escape(text)


def picture(data: object, mime: str = "image/png") -> str:
    """
    Return the address of a picture that carries its own bytes.

    Parameters
    ----------
    data : object
        The picture in base64; anything.
    mime : str
        ``image/png`` or ``image/jpeg``.

    Returns
    -------
    str
        A ``data:`` address, or an empty string if it is no such picture.
    """
    if not isinstance(data, str) or mime not in SIGNATURES:
        return ""
    try:
        raw = base64.b64decode("".join(data.split()).encode("ascii"), validate=True)
    except (binascii.Error, ValueError):
        return ""
    if not raw.startswith(SIGNATURES[mime]):
        return ""
    return f"data:{mime};base64,{base64.b64encode(raw).decode()}"


# ---------------------------------------------------------------- Markdown


class _Renderer(mistune.HTMLRenderer):
    """Headings one level down, pictures from attachments only, formulas as their source."""

    def __init__(self, attachments: Mapping[str, Any]) -> None:
        super().__init__(escape=False)
        self.attachments = attachments

    def heading(self, text: str, level: int, **_: Any) -> str:
        level = min(level + 1, 6)
        return f"<h{level}>{text}</h{level}>\n"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        del title
        alt = nh3.clean(text, tags=set()).replace('"', "&quot;")
        bundle = self.attachments.get(url.removeprefix("attachment:"))
        bundles = bundle.items() if isinstance(bundle, Mapping) else ()
        for mime, data in bundles:
            if source := picture(data, mime):
                return f'<img src="{source}" alt="{alt}">'
        return f"<em>[picture{': ' if alt else ''}{alt}]</em>"

    def inline_math(self, text: str) -> str:
        return f'<span class="math">{html.escape(text.strip())}</span>'

    def block_math(self, text: str) -> str:
        return f'<div class="math">{html.escape(text.strip())}</div>\n'


def markdown(source: str, attachments: object = None, *, anchor: str = "") -> Markup:
    """
    Return a Markdown cell as HTML.

    Parameters
    ----------
    source : str
        The cell's source; above 60 000 characters it is only escaped.
    attachments : object
        The cell's attachments by name; anything.
    anchor : str
        If not empty, headings get ids of it and their number in the cell.

    Returns
    -------
    Markup
        Elements of a short list. Headings stand below a page's second level and
        skip none. Formulas stay LaTeX, marked for the style sheet; a picture
        that would be loaded from elsewhere becomes its text.
    """
    if isinstance(attachments, Mapping) and attachments:
        return _rendered(source, attachments, anchor)
    return _kept(source, anchor)


@lru_cache(maxsize=KEPT)
def _kept(source: str, anchor: str) -> Markup:
    return _rendered(source, {}, anchor)


def _rendered(source: str, attachments: Mapping[str, Any], anchor: str) -> Markup:
    source = CONTROLS.sub("", source)
    if len(source) <= MARKDOWN_LIMIT:
        parse = mistune.create_markdown(
            renderer=_Renderer(attachments), plugins=["table", "strikethrough", "math"]
        )
        try:
            return _with_headings(_sanitised(str(parse(source)), MARKDOWN_TAGS), anchor)
        except RecursionError:
            pass
    return Markup('<pre class="plain">{}</pre>').format(source)


def _with_headings(body: Markup, anchor: str) -> Markup:
    """Return HTML whose headings start at the third level and skip none, with ids if wanted."""
    levels: list[int] = []
    last, number = 2, 0

    def renamed(match: re.Match[str]) -> str:
        nonlocal last, number
        if match[1]:
            return f"</h{levels.pop() if levels else last}>"
        last = max(3, min(int(match[2]) + 1, last + 1, 6))
        levels.append(last)
        number += 1
        return f'<h{last} id="{anchor}-{number - 1}">' if anchor else f"<h{last}>"

    return Markup(HEADING.sub(renamed, body))  # noqa: S704 - only headings changed


def _sanitised(fragment: str, tags: set[str]) -> Markup:
    clean = nh3.clean(
        fragment,
        tags=tags,
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        allowed_classes={"span": {"math"}, "div": {"math"}},
        url_schemes={"http", "https", "mailto", "data"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(NO_PICTURE.sub("", clean))  # noqa: S704 - rebuilt by a sanitiser


def _attribute(tag: str, name: str, value: str) -> str | None:
    if (tag, name) == ("img", "src"):
        return value if PICTURE_URL.fullmatch(value) else None
    if (tag, name) == ("a", "href"):
        return value if LINK_URL.match(value) else None
    return value


# ----------------------------------------------------------------- outputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """
    One output of a cell, ready for the template.

    Parameters
    ----------
    kind : str
        ``text``, ``stderr``, ``error``, ``picture``, ``html`` or ``latex``.
    body : str
        Text, which the template escapes; Markup for ``html``; the address of a picture.
    title : str
        Of an error its last line.
    dropped : int
        Characters that were cut off.
    width : int
        Of a picture in CSS pixels; 0 if it is not told.
    """

    kind: str
    body: str
    title: str = ""
    dropped: int = 0
    width: int = 0


def outputs(raw: object) -> tuple[Shown, ...]:
    """
    Return the outputs of a cell, ready to be shown.

    Parameters
    ----------
    raw : object
        The cell's outputs in nbformat's form; anything.

    Returns
    -------
    tuple of Shown
        At most 100; neighbouring pieces of one stream are joined.
    """
    joined: list[dict[str, Any]] = []
    for output in raw if isinstance(raw, list) else ():
        if not isinstance(output, dict):
            continue
        if joined and _stream(output) and _stream(output) == _stream(joined[-1]):
            text = _text(joined[-1].get("text")) + _text(output.get("text"))
            joined[-1] = joined[-1] | {"text": text}
        else:
            joined.append(output)
    shown = [one for output in joined[:OUTPUTS_LIMIT] if (one := _shown(output)) is not None]
    if len(joined) > OUTPUTS_LIMIT:
        shown.append(Shown(kind="text", body=f"… and {len(joined) - OUTPUTS_LIMIT} more outputs"))
    return tuple(shown)


def _stream(output: dict[str, Any]) -> str:
    """Return how a piece of a stream is shown, or "" for another output."""
    if output.get("output_type") != "stream":
        return ""
    return "stderr" if output.get("name") == "stderr" else "text"


def _shown(output: dict[str, Any]) -> Shown | None:
    match output.get("output_type"):
        case "stream":
            return _cut(_stream(output), _text(output.get("text")))
        case "error":
            traceback = output.get("traceback")
            lines = [_text(line) for line in traceback] if isinstance(traceback, list) else []
            return _cut("error", "\n".join(lines), title=_raised(output))
        case "display_data" | "execute_result":
            data = output.get("data")
            return _data(data, output.get("metadata")) if isinstance(data, Mapping) else None
    return None


def _raised(output: dict[str, Any]) -> str:
    """Return the last line of an exception: its class, what it says, and the line of a syntax error."""
    name, message = _text(output.get("ename")), _text(output.get("evalue"))
    if name in STOPPED and message:
        # The name is the grader's own.
        return clean_text(f"{message[:1].upper()}{message[1:]}")[:1000]
    words, line = said(name, message)
    if line is not None:
        message = f"{words} (line {line})"
    return clean_text(f"{name}: {message}")[:1000].removesuffix(": ")


def _data(data: Mapping[str, Any], metadata: object) -> Shown | None:
    for mime in SIGNATURES:
        if source := picture(data.get(mime), mime):
            return Shown(kind="picture", body=source, width=_width(metadata, mime))
    if isinstance(rich := data.get("text/html"), str) and len(rich) <= HTML_LIMIT:
        body = _sanitised(CONTROLS.sub("", rich), OUTPUT_TAGS)
        if body.striptags():
            return Shown(kind="html", body=body)
    if isinstance(latex := data.get("text/latex"), str):
        return _cut("latex", latex.strip().strip("$"))
    if isinstance(plain := data.get("text/plain"), str):
        return _cut("text", plain)
    return None


def _cut(kind: str, text: str, *, title: str = "") -> Shown | None:
    text = clean_text(text).rstrip("\n")
    if not text and not title:
        return None
    return Shown(kind=kind, body=text[:TEXT_LIMIT], title=title, dropped=max(len(text) - TEXT_LIMIT, 0))


def _width(metadata: object, mime: str) -> int:
    sizes = metadata.get(mime) if isinstance(metadata, Mapping) else None
    width = sizes.get("width") if isinstance(sizes, Mapping) else None
    return width if type(width) is int and 0 < width <= 4000 else 0  # noqa: PLR2004 - wider than a screen


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
