"""
Brightspace's grades, as far as its files go: what it exports, and what "Import Grades" does.

Written from the vendor's knowledge base and public exports. Whether a blank cell
clears a score is not published: `blank_clears` says what this one does.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from export_scenes import OTHER, Imported, Scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from export_scenes import Scene
    from nasty_people import Nasty

END = "End-of-Line Indicator"
KEYS = ("OrgDefinedId", "Username")


@dataclass
class Brightspace:
    """
    One course of Brightspace.

    Parameters
    ----------
    people : sequence of Nasty
        Its students.
    items : dict of str to Decimal
        By name the maximum.
    scores : dict
        By user name and item.
    mark : str
        The decimal mark.
    blank_clears, can_exceed : bool
        What a blank cell does; whether a score may be above the maximum.
    keys : tuple of str
        Which ids are exported.
    bom : bool
        True to begin the export with a mark of byte order.
    """

    people: Sequence[Nasty]
    items: dict[str, Decimal]
    scores: Scores
    mark: str = "."
    blank_clears: bool = True
    can_exceed: bool = False
    keys: tuple[str, ...] = KEYS
    bom: bool = False

    def header(self, name: str) -> str:
        """Return the header of an item."""
        details = f"MaxPoints:{self.items[name]:f} Weight:16.66666667 Category:Labs CategoryWeight:10"
        return f"{name} Points Grade <Numeric {details}>"

    def title(self, header: str) -> str:
        """Return the name of the item of a header."""
        return re.sub(r" Points Grade( <Numeric .*>)?$", "", header, flags=re.DOTALL)

    def download(self) -> bytes:
        """Return the export of grades, with names, which must not be sent back."""
        final = ["Calculated Final Grade Numerator", "Calculated Final Grade Denominator"]
        rows = [[*self.keys, "Last Name", "First Name", "Email", *map(self.header, self.items), *final, END]]
        for one in self.people:
            ids = {"OrgDefinedId": f"#{one.sis}", "Username": f"#{one.login}"}
            cells = [
                f"{self.scores[one.login, name]:f}".replace(".", self.mark)
                if (one.login, name) in self.scores
                else ""
                for name in self.items
            ]
            rows.append(
                [*(ids[key] for key in self.keys), one.last, one.first, one.email, *cells, "1", "2", "#"]
            )
        stream = io.StringIO(newline="")
        csv.writer(stream).writerows(rows)
        return (("\ufeff" if self.bom else "") + stream.getvalue()).encode()

    def upload(self, data: bytes) -> Imported:
        """Take a file; its wizard shows errors before anything is stored."""
        text = data.decode("utf-8-sig")
        header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        imported = Imported()
        keys = [key for key in KEYS if key in header]
        if not keys or header[-1] != END:
            imported.errors.append("no key field, or no end of lines")
            return imported
        for cell in header:
            if cell in {"Last Name", "First Name", "Email"} or "Weighted" in cell:
                imported.errors.append(f"{cell} must not be sent")
            elif cell not in {*KEYS, END} and self._item(cell) is None:
                imported.created.append(cell)
        scores = dict(self.scores)
        for row in rows:
            if len(row) != len(header) or row[-1] != "#":
                imported.errors.append(f"{row} does not end where it should")
                continue
            cells = dict(zip(header, row, strict=True))
            one = self._who(cells, keys)
            if one is None:
                imported.errors.append(f"{row} is nobody")
            else:
                self._row(cells, one, scores, imported)
        if not imported.errors:
            self.scores = scores
        return imported

    def _item(self, header: str) -> str | None:
        name = self.title(header)
        return name if name != header and name in self.items else None

    def _who(self, cells: dict[str, str], keys: list[str]) -> Nasty | None:
        """Return who has all ids of a row."""
        ids = {key: re.sub("^#", "", cells[key]) for key in keys}
        fit = [
            one
            for one in self.people
            if all(
                {"OrgDefinedId": one.sis, "Username": one.login}[key] == value for key, value in ids.items()
            )
        ]
        return fit[0] if len(fit) == 1 else None

    def _row(self, cells: dict[str, str], one: Nasty, scores: Scores, imported: Imported) -> None:
        for header, cell in cells.items():
            name = self._item(header)
            if name is None:
                continue
            if not cell:
                if self.blank_clears:
                    scores.pop((one.login, name), None)
            elif not re.fullmatch(rf"[0-9]+({re.escape(self.mark)}[0-9]+)?", cell):
                imported.errors.append(f"{cell!r} is no number")
            else:
                scores[one.login, name] = self.stored(name, Decimal(cell.replace(self.mark, ".")))

    def stored(self, name: str, points: Decimal) -> Decimal:
        """Return what is stored of a score: no more than the maximum, unless the item can exceed."""
        return points if self.can_exceed else min(points, self.items[name])


def brightspace_of(scene: Scene, **details: object) -> Brightspace:
    """Return the course of a scene; its first item is worth less than here, so that scores are cut."""
    items = {title: scene.maximum(title) for title in (*scene.titles.values(), OTHER)}
    first = next(iter(items))
    items[first] -= Decimal("1.5")
    scores = {(login, name): min(points, items[name]) for (login, name), points in scene.before.items()}
    known = {"people": scene.enrolled, "items": items, "scores": scores, "mark": scene.mark}
    return Brightspace(**known | details)  # type: ignore[arg-type]
