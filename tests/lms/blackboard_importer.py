"""
Blackboard's gradebook, as far as its files go: what it downloads, and what an upload does.

Written from the vendor's help pages and public exports. Where nothing is published, the
worst is taken: `blank_clears` says what an empty cell does.
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

PEOPLE = ("Last Name", "First Name", "Username", "Student ID", "Last Access", "Availability")
NOTES = ("Grading Notes", "Notes Format", "Feedback to Learner", "Feedback Format")


@dataclass
class Blackboard:
    """
    One course of Blackboard.

    Parameters
    ----------
    people : sequence of Nasty
        Its students.
    columns : dict of str to (str, Decimal, str)
        By number the title, the points and how it is shown.
    scores : dict
        By user name and title.
    mark : str
        The decimal mark of the language.
    blank_clears : bool
        What an empty cell of a column does to a score.
    tabs : bool
        True to download the text that is called ``.xls``.
    alone : str
        The number of the only column to download, with its feedback; empty for all.
    feedback : dict of (str, str) to (str, str)
        By user name and title the text and its format.
    """

    people: Sequence[Nasty]
    columns: dict[str, tuple[str, Decimal, str]]
    scores: Scores
    mark: str = "."
    blank_clears: bool = True
    tabs: bool = True
    alone: str = ""
    feedback: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)

    def header(self, number: str) -> str:
        """Return the header of a column."""
        title, points, shown = self.columns[number]
        return f"{title} [Total Pts: {points:f}{f' {shown}' if shown else ''}] |{number}"

    def title(self, header: str) -> str:
        """Return the title of the column that a header names by its number."""
        return self.columns[header.rpartition("|")[2]][0]

    def download(self) -> bytes:
        """Return the file of Work Offline, Download."""
        numbers = [self.alone] if self.alone else list(self.columns)
        rows = [[*PEOPLE, *map(self.header, numbers), *(NOTES if self.alone else ())]]
        for one in self.people:
            titles = [self.columns[number][0] for number in numbers]
            cells = [
                f"{self.scores[one.login, title]:f}".replace(".", self.mark)
                if (one.login, title) in self.scores
                else ""
                for title in titles
            ]
            notes = ["", "", *self.feedback.get((one.login, titles[0]), ("", ""))] if self.alone else []
            rows.append(
                [one.last, one.first, one.login, one.sis, "2026-11-02 10:00:00", "Yes", *cells, *notes]
            )
        stream = io.StringIO(newline="")
        delimiter = "\t" if self.tabs else ","
        csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows(rows)
        return stream.getvalue().encode("utf-16" if self.tabs else "utf-8")

    def upload(self, data: bytes) -> Imported:
        """Take a file, whole or not at all."""
        text = data.decode("utf-16") if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else data.decode("utf-8-sig")
        delimiter = "\t" if text.split("\n", 1)[0].count("\t") >= text.split("\n", 1)[0].count(",") else ","
        header, *rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        imported = Imported()
        if "Username" not in header:
            imported.errors.append("no Username")
            return imported
        for cell in header:
            number = self._number(cell)
            if number is None and cell not in {*PEOPLE, *NOTES}:
                imported.created.append(cell)
        scores, feedback = dict(self.scores), dict(self.feedback)
        for row in rows:
            if len(row) != len(header):
                imported.errors.append(f"{row} has not as many cells as the header")
                continue
            login = row[header.index("Username")]
            if not login:
                imported.errors.append("a row without Username")
            elif login not in {one.login for one in self.people}:
                imported.unknown.append(login)
            else:
                self._row(dict(zip(header, row, strict=True)), login, (scores, feedback), imported)
        if not imported.errors:
            self.scores, self.feedback = scores, feedback
        return imported

    def _number(self, header: str) -> str | None:
        found = re.fullmatch(r".* \[[^\]]*\] \|([0-9]+)", header, re.DOTALL)
        return found[1] if found and found[1] in self.columns else None

    def _row(
        self,
        cells: dict[str, str],
        login: str,
        stored: tuple[Scores, dict[tuple[str, str], tuple[str, str]]],
        imported: Imported,
    ) -> None:
        scores, feedback = stored
        sent = [(number, cell) for header, cell in cells.items() if (number := self._number(header))]
        for number, cell in sent:
            title, _, shown = self.columns[number]
            if title in {"Total", "Weighted Total"}:
                continue
            if not cell:
                if self.blank_clears:
                    scores.pop((login, title), None)
            elif shown not in {"", "Score"}:
                imported.errors.append(f"{title} is shown as {shown}")
            elif not re.fullmatch(rf"[0-9]+({re.escape(self.mark)}[0-9]+)?", cell):
                imported.errors.append(f"{cell!r} is no number")
            else:
                scores[login, title] = Decimal(cell.replace(self.mark, "."))
        if "Feedback to Learner" in cells and len(sent) == 1:
            told = cells["Feedback to Learner"], cells["Feedback Format"]
            if told[0] and told[1] not in {"HTML", "SMART_TEXT", "PLAIN_TEXT"}:
                imported.errors.append(f"{told[1]!r} is no format of feedback")
            feedback[login, self.columns[sent[0][0]][0]] = told


def blackboard_of(scene: Scene, **details: object) -> Blackboard:
    """Return the course of a scene."""
    columns = {
        str(403340 + at): (title, scene.maximum(title), "Score" if at else "")
        for at, title in enumerate((*scene.titles.values(), OTHER))
    }
    columns["403300"] = ("Weighted Total", Decimal(100), "Percentage")
    return Blackboard(
        people=scene.enrolled,
        columns=columns,
        scores=dict(scene.before),
        mark=scene.mark,
        **details,  # type: ignore[arg-type]
    )
