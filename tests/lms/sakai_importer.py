"""
Sakai's gradebook, as far as its files go: what it exports, and what "Import Grades" does.

Written from a description of its source: columns 1 and 2 count by position, headings
decide on the others, and blanks are never an update.
"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from export_scenes import OTHER, Imported, Scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from export_scenes import Scene
    from nasty_people import Nasty

_ITEM = re.compile(r"(?P<title>[^\[\]*#][^\[\]]*?)\s*(\[(?P<points>[0-9]+([.,][0-9]{1,2})?)\])?")


@dataclass
class Sakai:
    """
    One site of Sakai.

    Parameters
    ----------
    people : sequence of Nasty
        Its students.
    items : dict of str to Decimal
        By title the points.
    scores : dict
        By user id and title.
    mark : str
        The decimal mark of the user's language; with a comma, cells are separated by semicolons.
    comments : dict of (str, str) to str
        By user id and title.
    modified : list of str
        Titles of items whose points an upload has changed.
    """

    people: Sequence[Nasty]
    items: dict[str, Decimal]
    scores: Scores
    mark: str = "."
    comments: dict[tuple[str, str], str] = field(default_factory=dict)
    modified: list[str] = field(default_factory=list)

    def header(self, title: str) -> str:
        """Return the heading of an item."""
        return f"{title} [{self._shown(self.items[title])}]"

    def title(self, header: str) -> str:
        """Return the title in a heading."""
        found = _ITEM.fullmatch(header)
        assert found is not None
        return found["title"]

    def _shown(self, points: Decimal) -> str:
        return f"{points:f}".replace(".", self.mark)

    @property
    def delimiter(self) -> str:
        """What separates cells."""
        return ";" if self.mark == "," else ","

    def download(self) -> bytes:
        """Return the export of the gradebook."""
        headings = [heading for title in self.items for heading in (self.header(title), f"* {title}")]
        rows = [["Student ID", "Name", *headings, "# Course Grade"]]
        for one in self.people:
            cells = []
            for title in self.items:
                points = self.scores.get((one.login, title))
                cells += [
                    "" if points is None else self._shown(points),
                    self.comments.get((one.login, title), ""),
                ]
            rows.append([one.login, one.sortable, *cells, "B+"])
        stream = io.StringIO(newline="")
        csv.writer(stream, delimiter=self.delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
        return ("\ufeff" + stream.getvalue()).encode()

    def upload(self, data: bytes) -> Imported:
        """Take a file, whole or not at all."""
        imported = Imported()
        text = data.decode("utf-8-sig")
        rows = [
            row
            for row in csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter, strict=True)
            if row
        ]
        headings = rows[0]
        items = self._headings(headings, imported)
        students = [row[0] for row in rows[1:]]
        imported.errors += [f"{one} is there twice" for one in students if students.count(one) > 1]
        scores, comments = dict(self.scores), dict(self.comments)
        for row in rows[1:]:
            if row[0] not in {one.login for one in self.people}:
                imported.unknown.append(row[0])
                continue
            for at, (title, is_comment) in items.items():
                cell = row[at] if at < len(row) else ""
                if not cell.strip():
                    continue
                if is_comment:
                    comments[row[0], title] = cell
                    continue
                number = cell.replace(",", ".") if self.mark == "," else cell
                if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", number):
                    imported.errors.append(f"{cell!r} is no number")
                else:
                    scores[row[0], title] = Decimal(number)
        if not imported.errors:
            self.scores, self.comments = scores, comments
        return imported

    def _headings(self, headings: list[str], imported: Imported) -> dict[int, tuple[str, bool]]:
        """Return by column which item it is of, and whether it holds comments."""
        imported.errors += [f"{one!r} is there twice" for one in headings[2:] if headings[2:].count(one) > 1]
        found: dict[int, tuple[str, bool]] = {}
        for at, heading in enumerate(headings[2:], 2):
            if not heading.strip():
                imported.errors.append(f"heading {at + 1} is blank")
            elif heading.startswith("#"):
                continue
            elif heading.startswith("* "):
                found[at] = (heading[2:].strip(), True)
            elif (item := _ITEM.fullmatch(heading)) is None:
                imported.errors.append(f"{heading!r} is no heading")
            else:
                found[at] = (item["title"], False)
                self._item(item["title"], item["points"], imported)
        titles = {title for title, is_comment in found.values() if not is_comment}
        imported.errors += [
            f"comments on {title!r}, which is no item" for title, _ in found.values() if title not in titles
        ]
        return found

    def _item(self, title: str, points: str | None, imported: Imported) -> None:
        if title not in self.items:
            imported.created.append(title)
        elif points is not None and Decimal(points.replace(",", ".")) != self.items[title]:
            self.modified.append(title)


def sakai_of(scene: Scene, **details: object) -> Sakai:
    """Return the site of a scene; its first item has other points than ours."""
    items = {title: scene.maximum(title) for title in (*scene.titles.values(), OTHER)}
    items[next(iter(items))] += Decimal("0.5")
    known = {"people": scene.enrolled, "items": items, "scores": dict(scene.before), "mark": scene.mark}
    return Sakai(**known | details)  # type: ignore[arg-type]
