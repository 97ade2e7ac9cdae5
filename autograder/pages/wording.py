"""The words of a figure: its names, what there is to see, and every number for those who do not see it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.illustration import CLOSE, Illustration, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from autograder.illustration import Panels

TITLES = {
    Kind.PLACES: "Where the numbers went",
    Kind.WEIGHTS: "Your attention weights",
    Kind.VALUES: "Your output",
    Kind.COUNT: "Your count",
}
LEGENDS = {
    Kind.PLACES: "Each cell shows a number of x and below it the token that it belongs to. "
    "Each token has its colour.",
    Kind.WEIGHTS: "Rows are queries, columns are keys. The darker a cell, the larger the weight.",
    Kind.VALUES: "A row for each token, a column for each feature.",
    Kind.COUNT: "The upper bar is made of the matrices, the lower one is as long as your count.",
}
FRAMED = {
    Kind.PLACES: "A frame marks a number that is not where it belongs.",
    Kind.WEIGHTS: "A frame marks a wrong weight.",
    Kind.VALUES: "A frame marks a wrong number.",
    Kind.COUNT: "",
}
LISTED = 4
"""Tokens that are named one by one."""


# -------------------------------------------------------------------- names


def token(one: Illustration, value: float | None) -> int | None:
    """Return the token that a number of x belongs to, or None if it is no number of x."""
    if value is None or value != int(value) or not 0 <= value < one.width * _tokens(one):
        return None
    return int(value) // one.width


def name(one: Illustration, value: float | None) -> str:
    """Return a number as it stands in its cell."""
    if value is None:
        return "?"
    if one.kind is Kind.PLACES:
        return f"{value:g}" if abs(value) < 10**4 else "…"
    return f"{value:.2f}" if abs(value) < 100 else "…"  # noqa: PLR2004 - what fits into a cell


def panel(one: Illustration, panels: Panels, number: int) -> str:
    """Return what a panel is called."""
    return f"head {number}" if len(panels) == len(one.right) else f"block {number}"


def row(one: Illustration, number: int) -> str:
    """Return what a row is called."""
    return {Kind.WEIGHTS: "query", Kind.VALUES: "token"}.get(one.kind, "row") + f" {number}"


def column(one: Illustration, number: int) -> str:
    """Return what a column is called."""
    return f"key {number}" if one.kind is Kind.WEIGHTS else f"f{number}"


def is_hidden(one: Illustration, row_number: int, column_number: int) -> bool:
    """Tell whether the mask hides a key from a query."""
    return (
        row_number < len(one.mask)
        and column_number < len(one.mask[row_number])
        and one.mask[row_number][column_number]
    )


def legend(one: Illustration) -> str:
    """Return how to read a figure."""
    parts = [LEGENDS[one.kind]]
    if one.mask:
        parts.append("A dashed outline marks a key that is hidden.")
    if one.wrong:
        parts.append(FRAMED[one.kind])
    return " ".join(parts)


def _tokens(one: Illustration) -> int:
    count = sum(len(numbers) for rows in one.right for numbers in rows)
    return max(-(-count // one.width), 1)


# ------------------------------------------------------- what there is to see


def finding(one: Illustration) -> str:
    """Return in a sentence what is wrong with a student's result."""
    if one.problem:
        return f"Your code {one.problem}."
    if one.is_right:
        return "Here your numbers are right. What failed shows with other inputs, or in more than numbers."
    if one.kind is Kind.COUNT:
        return _count_finding(one)
    if not one.fits or any(x is None for rows in one.theirs for numbers in rows for x in numbers):
        return _misfit(one)
    if one.kind is Kind.PLACES:
        return _places_finding(one)
    return _weights_finding(one) if one.kind is Kind.WEIGHTS else _largest(one)


def _misfit(one: Illustration) -> str:
    if not one.fits:
        return f"Your result has the shape {_shape(one)}, the right one has {_right_shape(one)}."
    return "Your result holds something that is no finite number, such as nan."


def _places_finding(one: Illustration) -> str:
    at, line, _ = min(one.wrong)
    found, right = one.theirs[at][line], one.right[at][line]
    where = f"Row {line}" if len(one.right) == 1 else f"Row {line} of your {panel(one, one.right, at)}"
    owners, wanted = _owners(one, found), _owners(one, right)
    if None in owners:
        return f"{where} holds a number that is not in x."
    if owners == wanted:
        return f"{where} holds {_listed(found)}; it should hold {_listed(right)}, in this order."
    return f"{where} holds numbers of {_of_tokens(owners)}; right are those of {_of_tokens(wanted)}."


def _weights_finding(one: Illustration) -> str:
    for at, rows in enumerate(one.theirs):
        for query, weights in enumerate(rows):
            who = f"In your {panel(one, one.theirs, at)}, query {query}"
            for key, weight in enumerate(weights):
                if is_hidden(one, query, key) and abs(weight or 0) > CLOSE:
                    return f"{who} gives the weight {weight:.2f} to key {key}, which is hidden from it."
    for at, rows in enumerate(one.theirs):
        for query, weights in enumerate(rows):
            total = sum(weight or 0 for weight in weights)
            if abs(total - 1) > 5 * CLOSE:
                who = f"In your {panel(one, one.theirs, at)}, the weights of query {query}"
                return f"{who} add up to {total:.2f}. Each row should add up to 1."
    return _largest(one)


def _largest(one: Illustration) -> str:
    def distance(place: tuple[int, int, int]) -> float:
        at, line, spot = place
        return abs((one.theirs[at][line][spot] or 0) - (one.right[at][line][spot] or 0))

    at, line, spot = max(sorted(one.wrong), key=distance)
    found, right = (name(one, panels[at][line][spot]) for panels in (one.theirs, one.right))
    if one.kind is Kind.WEIGHTS:
        who = f"In your {panel(one, one.right, at)}, query {line} gives key {spot} the weight {found}"
        return f"{who}; right is {right}. This is the largest difference."
    return f"Token {line} has {found} as feature {spot}; right is {right}. This is the largest difference."


def _count_finding(one: Illustration) -> str:
    found = one.theirs[0][0][0] if one.theirs else None
    sizes = [number or 0 for number in one.right[0][0]]
    total = f"{' + '.join(f'{size:g}' for size in sizes)} = {one.total:g}"
    text = f"The matrices {', '.join(one.parts)} have {total} numbers here"
    if found is None:
        return f"{text}; your count is no number that can be drawn."
    first = sizes[0] if sizes else 0
    alike = len(set(sizes)) == 1 and first > 0 and found > 0 and found % first == 0
    as_many = f", as many as {found / first:g} of these matrices" if alike and found / first < 100 else ""  # noqa: PLR2004
    return f"{text}; you count {found:g}{as_many}."


# ------------------------------------------------------- every number in words


def numbers(one: Illustration, panels: Panels, only: Iterable[int]) -> str:
    """Return every number of some panels in words."""
    parts = []
    for at in only:
        head = f"{panel(one, panels, at).capitalize()}. " if len(panels) > 1 else ""
        rows = "; ".join(_row_words(one, line, found) for line, found in enumerate(panels[at]))
        parts.append(f"{head}{rows}.")
    return " ".join(parts)


def bars(one: Illustration) -> str:
    """Return what the bars of a count show in words."""
    sizes = [number or 0 for number in one.right[0][0]]
    names = [*one.parts, *[""] * len(sizes)]
    parts = ", ".join(f"{part} {size:g}" for part, size in zip(names, sizes, strict=False))
    return f"Right: {parts}, together {one.total:g}. {_count_finding(one) if not one.problem else ''}".strip()


def _row_words(one: Illustration, line: int, found: tuple[float | None, ...]) -> str:
    label = row(one, line)
    if one.kind is Kind.PLACES:
        owners = _owners(one, found)
        whose = f", of {_of_tokens(owners)}" if None not in owners and owners else ""
        return f"{label}: {_listed(found)}{whose}"
    cells = (
        f"{name(one, value)} hidden" if is_hidden(one, line, spot) else name(one, value)
        for spot, value in enumerate(found)
    )
    return f"{label}: {', '.join(cells)}"


def _owners(one: Illustration, found: Iterable[float | None]) -> list[int | None]:
    """Return the tokens behind numbers, each once, in the order in which they come."""
    return list(dict.fromkeys(token(one, value) for value in found))


def _of_tokens(owners: list[int | None]) -> str:
    known = [str(owner) for owner in owners]
    if len(known) == 1:
        return f"token {known[0]}"
    if len(known) > LISTED:
        return f"{len(known)} tokens"
    return f"tokens {', '.join(known[:-1])} and {known[-1]}"


def _listed(found: Iterable[float | None]) -> str:
    return ", ".join("?" if value is None else f"{value:g}" for value in found)


def _shape(one: Illustration) -> str:
    return f"({', '.join(map(str, one.shape))}{',' if len(one.shape) == 1 else ''})"


def _right_shape(one: Illustration) -> str:
    sizes = (len(one.right), len(one.right[0]), len(one.right[0][0]))
    kept = sizes[1:] if sizes[0] == 1 else sizes
    return f"({', '.join(map(str, kept))})"
