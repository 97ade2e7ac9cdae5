"""Jinja's environment for the pages, and writing a page whole or not at all."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from autograder.checks.report import number
from autograder.errors import OperatorError
from autograder.notebook import write_text
from autograder.pages.content import CONTROLS
from autograder.pages.figures import figures
from autograder.pages.views import share, words

TEMPLATES = Path(__file__).parent.parent / "templates"

CODE = re.compile(r"`([^`]+)`")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
BLANKS = re.compile(r"\s*([{};,])\s*|\s+")
HUNDREDTH, THOUSANDTH = Decimal("0.01"), Decimal("0.001")

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What a page may load: nothing. It may style itself and show the pictures it carries."""


def render(template: str, **context: Any) -> str:
    """
    Return a page.

    Parameters
    ----------
    template : str
        The template's file name.
    **context : Any
        What the template shows. Text is escaped; only Markup is not.

    Returns
    -------
    str
        HTML without characters that no page may hold.
    """
    return CONTROLS.sub("", str(render_part(template, policy=POLICY, **context)))


def render_part(template: str, **context: Any) -> Markup:
    """Return a part of a page, to be put into one that `render` returns; it takes the same."""
    part = _environment().get_template(template).render(**context)
    return Markup(part)  # noqa: S704 - rendered by our own template


def write_page(path: Path, page: str) -> Path:
    """
    Write a page whole or not at all; its folder is made.

    Parameters
    ----------
    path : Path
        Where.
    page : str
        The HTML.

    Returns
    -------
    Path
        The same path.

    Raises
    ------
    OperatorError
        If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(path, page)
    except OSError as error:
        what = f"cannot be written ({error.strerror})"
        raise OperatorError(path, what, "Check rights and space.") from None
    return path


def assignment_title(assignment: str) -> str:
    """Return an assignment's name as a title: "multi_head_attention" is "Multi head attention"."""
    return words(assignment)[:1].upper() + words(assignment)[1:]


@lru_cache(maxsize=1)
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["style"] = _style("style.css")
    environment.globals["report_style"] = _style("report.css")
    environment.globals["share"] = share
    environment.globals["figures"] = figures
    environment.filters["points"] = _points
    environment.filters["breakable"] = _breakable
    environment.filters["prose"] = _prose
    environment.filters["sentence"] = _sentence
    environment.filters["url"] = quote
    environment.filters["words"] = words
    return environment


def _breakable(name: str) -> Markup:
    """Return a name escaped, so that a narrow page may break it after an underscore."""
    return Markup("_<wbr>").join(name.split("_"))


def _prose(text: str) -> Markup:
    """Return a sentence escaped, with what stands between backticks as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def _sentence(text: str) -> Markup:
    """Return a reason as a sentence, escaped, with what stands between backticks as code."""
    # The name of a file stays as it is.
    is_word = text.split(" ", 1)[0].isalpha()
    return _prose(text[:1].upper() + text[1:] if is_word else text)


def _points(points: Decimal | None) -> str:
    """Return points with two decimals at most, or three where that is exact: halves of quarters are."""
    if points is None:
        return "–"
    exact = points.quantize(THOUSANDTH)
    return number(exact if exact == points else points.quantize(HUNDREDTH, ROUND_HALF_UP))


def _style(name: str) -> Markup:
    """Return a style sheet without what only its readers need: every page carries it."""
    style = COMMENT.sub("", (TEMPLATES / name).read_text(encoding="utf-8"))
    return Markup(BLANKS.sub(lambda blank: blank[1] or " ", style).strip())  # noqa: S704 - our own file
