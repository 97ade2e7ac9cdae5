"""Opening pages in Chromium, for tests that need a real browser."""

from __future__ import annotations

import html
import re
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
PHONE = 360
"""Width of a phone's screen, in CSS pixels; a window cannot be so narrow, a frame can."""

MEASURE = """<!doctype html><title></title><iframe width="{width}" height="800" srcdoc="{page}"
style="border: 0" onload="document.title = {what}"></iframe>"""
WIDTH = "contentDocument.documentElement.scrollWidth"
CUT = """[...contentDocument.querySelectorAll('{which}')].filter(
e =&gt; e.scrollWidth &gt; e.clientWidth).length"""

OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--virtual-time-budget=2000",
)


def needs_browser(test: Callable[..., None]) -> Callable[..., None]:
    """Mark a test that is skipped where there is no Chromium."""
    marked: Callable[..., None] = pytest.mark.browser(test)
    skipped: Callable[..., None] = pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed")(
        marked
    )
    return skipped


def dump_dom(page: Path, scratch: Path) -> str:
    """
    Return a page as the browser sees it after loading.

    Parameters
    ----------
    page : Path
        The page.
    scratch : Path
        A folder for the browser's profile.

    Returns
    -------
    str
        The document, serialised.
    """
    assert CHROMIUM is not None
    profile = tempfile.mkdtemp(dir=scratch)
    command = [CHROMIUM, *OPTIONS, f"--user-data-dir={profile}", "--dump-dom", page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def width_on_a_phone(page: Path, scratch: Path) -> int:
    """
    Return how wide a page is on a phone: more than `PHONE` if it does not fit.

    Parameters
    ----------
    page : Path
        The page.
    scratch : Path
        A folder for what is needed.

    Returns
    -------
    int
        Its width in CSS pixels.
    """
    return _measured(page, scratch, WIDTH)


def cut_off_on_a_phone(page: Path, scratch: Path, which: str) -> int:
    """
    Return how many elements of a page hold more than a phone shows without scrolling them sideways.

    Parameters
    ----------
    page : Path
        The page.
    scratch : Path
        A folder for what is needed.
    which : str
        A selector in CSS.

    Returns
    -------
    int
        How many of those it selects.
    """
    return _measured(page, scratch, CUT.format(which=which))


def _measured(page: Path, scratch: Path, what: str) -> int:
    inner = html.escape(page.read_text(encoding="utf-8"), quote=True)
    frame = scratch / "phone.html"
    frame.write_text(MEASURE.format(width=PHONE, page=inner, what=what), encoding="utf-8")
    title = re.search(r"<title>(\d+)</title>", dump_dom(frame, scratch))
    assert title is not None
    return int(title[1])
