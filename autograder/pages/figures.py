"""
Illustrations as figures: what a student's function gives beside what is right.

The drawings are SVG made of numbers that were checked and of our own words.
Nothing is told by colour alone: numbers stand in the cells, and each drawing
says in words what it shows, for those who do not see it.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from markupsafe import Markup

from autograder.illustration import Illustration, Kind
from autograder.pages import wording

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from autograder.illustration import Panels

Place = tuple[int, int, int]

TOKEN_COLOURS = 8
"""Classes ``g0`` to ``g7`` of the style sheet."""

WIDE = 308
"""Units of a drawing's width, about what a phone has in pixels."""

CELL, LOW = (40, 36), (44, 30)
LABEL, TITLE, GAP = 52, 20, 14
DARKEST, LIGHTEST = (8, 64, 129), (247, 251, 255)
PALE_INK_FROM = 0.5
BAR = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """
    One drawing.

    Parameters
    ----------
    label : str
        Whose numbers they are.
    drawing : Markup
        SVG with its title and description.
    """

    label: str
    drawing: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """
    An illustration, drawn.

    Parameters
    ----------
    title, asked : str
        What it shows, and the call that was made.
    finding : str
        What there is to see, in a sentence.
    legend : str
        How to read it; empty if nothing is drawn.
    rows : tuple of tuple of Side
        Drawings that belong side by side; empty if words are enough.
    """

    title: str
    asked: str
    finding: str
    legend: str
    rows: tuple[tuple[Side, ...], ...]


def figures(illustrations: Iterable[Illustration], name: str) -> tuple[Figure, ...]:
    """
    Return the figures of a cell.

    Parameters
    ----------
    illustrations : iterable of Illustration
        What was asked while grading.
    name : str
        The start of ids, which no other cell of the page has.

    Returns
    -------
    tuple of Figure
        One for each illustration.
    """
    return tuple(_figure(one, f"{name}-{number}") for number, one in enumerate(illustrations))


def _figure(one: Illustration, name: str) -> Figure:
    rows: tuple[tuple[Side, ...], ...] = ()
    if one.is_right:
        pass
    elif one.kind is Kind.COUNT:
        rows = ((_side("Both as bars", _bars(one), wording.bars(one), f"{name}-b"),),)
    elif one.kind is Kind.WEIGHTS and (one.fits or not one.theirs):
        rows = tuple(_pair(one, name, [panel]) for panel in range(len(one.right)))
    else:
        rows = (_pair(one, name, None),)
    return Figure(
        title=wording.TITLES[one.kind],
        asked=one.asked,
        finding=wording.finding(one),
        legend=wording.legend(one) if rows else "",
        rows=rows,
    )


def _pair(one: Illustration, name: str, only: list[int] | None) -> tuple[Side, ...]:
    """Return the student's drawing and the right one, of all panels or of some."""
    sides = []
    for label, panels, wrong in (("Yours", one.theirs, one.wrong), ("Right", one.right, frozenset())):
        if not panels:
            continue
        shown = list(range(len(panels))) if only is None else only
        words = wording.numbers(one, panels, shown)
        where = f", {wording.panel(one, panels, only[0])}" if only and len(panels) > 1 else ""
        drawing = _grids(one, panels, shown, wrong)
        suffix = "".join(map(str, only or ())) + label[0].lower()
        sides.append(_side(label + where, drawing, words, f"{name}-{suffix}"))
    return tuple(sides)


# ------------------------------------------------------------------ drawing


@dataclass(frozen=True, slots=True)
class _Drawing:
    """Parts of an SVG and its size."""

    width: int
    height: int
    body: str


def _side(label: str, drawing: _Drawing, words: str, name: str) -> Side:
    svg = (
        f'<svg class="drawing" viewBox="0 0 {drawing.width} {drawing.height}" width="{drawing.width}" '
        f'height="{drawing.height}" role="img" aria-labelledby="{name}-t {name}-d">'
        f'<title id="{name}-t">{html.escape(label)}</title><desc id="{name}-d">{html.escape(words)}</desc>'
        f"{drawing.body}</svg>"
    )
    return Side(label=label, drawing=Markup(svg))  # noqa: S704 - numbers, and words that are escaped


def _grids(one: Illustration, panels: Panels, only: list[int], wrong: frozenset[Place]) -> _Drawing:
    """Draw panels as grids, from left to right and then below."""
    n_rows, n_columns = len(panels[0]), len(panels[0][0])
    high = CELL[1] if one.kind is Kind.PLACES else LOW[1]
    across = max(1, (WIDE - LABEL + GAP) // (min(CELL[0], (WIDE - LABEL) // n_columns) * n_columns + GAP))
    across = min(across, len(only))
    cell = min(LOW[0], (WIDE - LABEL - GAP * (across - 1)) // (n_columns * across))
    titled = TITLE if one.kind is not Kind.PLACES or len(panels) > 1 else 2
    panel_wide, panel_high = cell * n_columns + GAP, high * n_rows + titled + GAP
    parts: list[str] = []
    for number, panel in enumerate(only):
        line, position = divmod(number, across)
        left, top = LABEL + position * panel_wide, line * panel_high
        parts.extend(_heads(one, panels, panel, (left, top, cell)))
        for row, numbers in enumerate(panels[panel]):
            y = top + titled + row * high
            if position == 0:
                parts.append(_label(LABEL - 6, y + high / 2 + 4, wording.row(one, row), "end"))
            for column, value in enumerate(numbers):
                box = (left + column * cell, y, cell, high)
                parts.append(_cell(one, value, (panel, row, column), box))
        # Frames come last, so that no neighbour covers them.
        for at, row, column in sorted(wrong):
            if at == panel:
                place = (left + column * cell + 1.5, top + titled + row * high + 1.5, cell - 3, high - 3)
                parts.extend(_frame(place, on_dark=one.kind is not Kind.PLACES))
    lines = -(-len(only) // across)
    width = LABEL + across * panel_wide - GAP + 2
    return _Drawing(width, lines * panel_high - GAP + 2, "".join(parts))


def _heads(one: Illustration, panels: Panels, panel: int, place: tuple[int, int, int]) -> Iterator[str]:
    """Draw what stands above a panel: its name, or the names of its columns."""
    left, top, cell = place
    if one.kind is Kind.PLACES:
        if len(panels) > 1:
            yield _label(left, top + 14, wording.panel(one, panels, panel), "start")
        return
    for column in range(len(panels[panel][0])):
        text = wording.column(one, column)
        yield _label(left + column * cell + cell / 2, top + 14, text, "middle")


def _cell(one: Illustration, value: float | None, place: Place, box: tuple[float, ...]) -> str:
    x, y, wide, high = box
    if one.kind is Kind.PLACES:
        token = wording.token(one, value)
        colour = "gx" if token is None else f"g{token % TOKEN_COLOURS}"
        below = "" if token is None else _text(x + wide / 2, y + high - 6, f"t{token}", "ink small")
        return (
            f'<rect class="{colour}" x="{x}" y="{y}" width="{wide}" height="{high}"/>'
            f"{_text(x + wide / 2, y + high / 2 - 1, wording.name(one, value), 'ink')}{below}"
        )
    share = _share(one, value)
    _, row, column = place
    ink = "pale" if share >= PALE_INK_FROM else "ink"
    inner = f'x="{x + 4.5:g}" y="{y + 4.5:g}" width="{wide - 9:g}" height="{high - 9:g}"'
    outline = f'<rect class="hidden {ink}" {inner}/>' if wording.is_hidden(one, row, column) else ""
    return (
        f'<rect class="heat" fill="{shade(share)}" x="{x}" y="{y}" width="{wide}" height="{high}"/>{outline}'
        f"{_text(x + wide / 2, y + high / 2 + 4, wording.name(one, value), ink)}"
    )


def _frame(place: tuple[float, ...], *, on_dark: bool) -> Iterator[str]:
    x, y, wide, high = place
    size = f'x="{x:g}" y="{y:g}" width="{wide:g}" height="{high:g}"'
    if on_dark:
        yield f'<rect class="halo" {size}/>'
    yield f'<rect class="frame" {size}/>'


def _share(one: Illustration, value: float | None) -> float:
    """Return how dark a number's cell is, in [0, 1]."""
    if value is None:
        return 0.0
    if one.kind is Kind.WEIGHTS:
        return min(max(value, 0.0), 1.0)
    largest = max((abs(x or 0) for panel in one.right for row in panel for x in row), default=0.0)
    return min(abs(value) / largest, 1.0) if largest else 0.0


def shade(share: float) -> str:
    """Return a blue between the lightest, for 0, and the darkest, for 1; the middle is left out."""
    # Neither black nor white can be read on a medium blue.
    step = 0.45 * share if share < PALE_INK_FROM else 0.6 + 0.4 * share
    mixed = (round(low + (high - low) * min(step, 1.0)) for low, high in zip(LIGHTEST, DARKEST, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _bars(one: Illustration) -> _Drawing:
    """Draw the right parts end to end, and the student's number as a bar below."""
    sizes = [number or 0 for number in one.right[0][0]]
    theirs = one.theirs[0][0][0] if one.theirs else None
    longest = max(one.total, min(theirs or 0, 2 * one.total)) or 1
    scale, x = (WIDE - 4) / longest, 2.0
    parts = [_label(2, 14, f"right: {one.total:g}", "start")]
    for number, size in enumerate(sizes):
        wide = max(size, 0) * scale
        name = one.parts[number] if number < len(one.parts) else ""
        parts.append(
            f'<rect class="g{number % TOKEN_COLOURS}" x="{x:g}" y="20" width="{wide:g}" height="{BAR}"/>'
        )
        parts.append(_text(x + wide / 2, 37, name, "ink"))
        x += wide
    if theirs is not None:
        wide = min(max(theirs, 0), longest) * scale
        cut = "…" if theirs > longest else ""
        parts.append(_label(2, 66, f"yours: {theirs:g}{cut}", "start"))
        parts.append(f'<rect class="gx" x="2" y="72" width="{wide:g}" height="{BAR}"/>')
        parts.append(f'<rect class="frame" x="3" y="73" width="{max(wide - 2, 0):g}" height="{BAR - 2}"/>')
    return _Drawing(WIDE, 102 if theirs is not None else 48, "".join(parts))


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="label {anchor}" x="{x:g}" y="{y:g}">{html.escape(text)}</text>'


def _text(x: float, y: float, text: str, classes: str) -> str:
    return f'<text class="{classes}" x="{x:g}" y="{y:g}">{html.escape(text)}</text>'
