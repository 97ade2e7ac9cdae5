"""
Open edX, as far as its files of grades go: staff-graded points, and the gradebook's overrides.

Written from a description of its behaviour; `openedx_real` runs the importers themselves, and
a test compares the two.
"""

from __future__ import annotations

import csv
import io
import math
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from export_scenes import Imported, Scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from export_scenes import Scene
    from nasty_people import Nasty

Row = dict[str | None, Any]
"""A row under its header; what is too much has none, what is missing is none."""

COURSE = "course-v1:TestX+T1+2026"
BLOCK = "block-v1:TestX+T1+2026+type@staffgradedxblock+block@hw1"
MAX_BYTES = 4 * 2**20
POINTS_COLUMNS = [
    "user_id",
    "username",
    "full_name",
    "student_uid",
    "enrolled",
    "track",
    "cohort",
    "block_id",
    "title",
    "date_last_graded",
    "who_last_graded",
    "Previous Points",
    "New Points",
]
PEOPLE_COLUMNS = ["user_id", "username", "student_key", "course_id", "track", "cohort"]
PREFIXES = ("name", "grade", "original_grade", "previous_override", "new_override")


def _written(rows: Sequence[Sequence[str]]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream).writerows(rows)
    return stream.getvalue().encode()


def _read(data: bytes, required: Sequence[str], imported: Imported) -> list[Row]:
    """Return the rows, or nothing and an error."""
    if len(data) > MAX_BYTES:
        imported.errors.append("too large")
        return []
    try:
        reader = csv.DictReader(line.decode("utf-8") for line in io.BytesIO(data))
        header = list(reader.fieldnames or ())
        rows: list[Row] = [dict(row) for row in reader]
    except UnicodeDecodeError:
        imported.errors.append("not UTF-8")
        return []
    imported.errors += [f"Missing column: {name}" for name in required if name not in header][:1]
    return [] if imported.errors else rows


@dataclass
class StaffGraded:
    """
    A staff-graded problem.

    Parameters
    ----------
    people : sequence of Nasty
        Who is enrolled.
    name : str
        What the problem is called.
    scores : dict
        By user name and title.
    max_points : Decimal
        What it is worth.
    """

    people: Sequence[Nasty]
    name: str
    scores: Scores
    max_points: Decimal = Decimal(10)

    def title(self, _: str) -> str:
        """Return what the problem is called."""
        return self.name

    def download(self) -> bytes:
        """Return the file of View Staff Graded Points."""
        rows = [POINTS_COLUMNS]
        for one in self.people:
            points = self.scores.get((one.login, self.name))
            previous = "" if points is None else str(float(points))
            when = "" if points is None else "2026-11-02 10:00"
            who = [one.user, one.login, one.full, one.sis, "True", "masters", "", BLOCK]
            rows.append([*who, self.name, when, "staff" if when else "", previous, ""])
        return _written(rows)

    def upload(self, data: bytes) -> Imported:
        """Take a file: one wrong row stops it; of two rows of a user the first counts."""
        imported = Imported()
        new: dict[str, float] = {}
        rows = _read(data, ["user_id", "New Points", "block_id", "Previous Points"], imported)
        for row in rows:
            problem = self._problem(row)
            if problem:
                imported.errors.append(problem)
            elif row["New Points"] and row["user_id"] not in new:
                new[row["user_id"]] = float(row["New Points"])
        if not imported.errors:
            logins = {one.user: one.login for one in self.people}
            imported.unknown += [user for user in new if user not in logins]
            for user, points in new.items():
                if user in logins:
                    self.scores[logins[user], self.name] = Decimal(str(points))
        return imported

    def _problem(self, row: Row) -> str:
        if row["block_id"] != BLOCK:
            return "does not match this problem"
        if not row["New Points"]:
            return ""
        try:
            points = float(row["New Points"])
        except ValueError:
            return "Points must be numbers."
        if points > self.max_points:
            return f"Points must not be greater than {self.max_points}."
        return "Points must be greater than 0" if points < 0 else ""


@dataclass
class Overrides:
    """
    The gradebook of a course.

    Parameters
    ----------
    people : sequence of Nasty
        Who is enrolled.
    subsections : dict of str to str
        By the first eight letters of the id what it is called.
    scores : dict
        By user name and title the effective grade.
    overridden : set of (str, str)
        Which of them are overrides.
    """

    people: Sequence[Nasty]
    subsections: dict[str, str]
    scores: Scores
    overridden: set[tuple[str, str]] = field(default_factory=set)

    def title(self, header: str) -> str:
        """Return what the subsection of a header is called."""
        return self.subsections[header.removeprefix("new_override-")]

    def download(self) -> bytes:
        """Return the file of the gradebook's bulk management."""
        rows = [PEOPLE_COLUMNS + [f"{prefix}-{key}" for key in self.subsections for prefix in PREFIXES]]
        for one in self.people:
            row = [one.user, one.login, one.sis, COURSE, "masters", ""]
            for title in self.subsections.values():
                points = self.scores.get((one.login, title))
                shown = "" if points is None else str(float(points))
                by_hand = (one.login, title) in self.overridden
                row += [title, shown, "0.0" if by_hand else shown, shown if by_hand else "", ""]
            rows.append(row)
        return _written(rows)

    def upload(self, data: bytes) -> Imported:
        """Take a file: one wrong row stops it, and so do two rows of a user."""
        imported = Imported()
        rows = _read(data, ["user_id", "course_id"], imported)
        new: dict[tuple[str, str], Decimal] = {}
        for row in rows:
            if row["course_id"] != COURSE:
                imported.errors.append("Wrong course id")
            if [one["user_id"] for one in rows].count(row["user_id"]) > 1:
                imported.errors.append("Repeated user_id")
            for header, cell in row.items():
                if header is None or cell is None:
                    imported.errors.append("more or fewer cells than headers")
                elif header.startswith("new_override-") and cell.strip():
                    self._cell((row["user_id"], header), cell, new, imported)
        if not imported.errors:
            logins = {one.user: one.login for one in self.people}
            imported.unknown += [user for user, _ in new if user not in logins]
            for (user, title), points in new.items():
                if user in logins:
                    self.scores[logins[user], title] = points
                    self.overridden.add((logins[user], title))
        return imported

    def _cell(
        self, place: tuple[str, str], cell: str, new: dict[tuple[str, str], Decimal], imported: Imported
    ) -> None:
        user, header = place
        key = header.removeprefix("new_override-")
        try:
            points = float(cell)
        except ValueError:
            imported.errors.append("Grade must be a number")
            return
        if key not in self.subsections:
            imported.errors.append(f"no subsection {key}")
        elif points < 0:
            imported.errors.append("Grade must not be negative")
        elif math.isfinite(points):
            new[user, self.subsections[key]] = Decimal(str(points))


def points_of(scene: Scene) -> StaffGraded:
    """Return the problem of a scene of whole scores."""
    (title,) = scene.titles.values()
    scores = {place: points for place, points in scene.before.items() if place[1] == title}
    return StaffGraded(people=scene.enrolled, name=title, scores=scores)


def overrides_of(scene: Scene) -> Overrides:
    """Return the gradebook of a scene."""
    titles = dict.fromkeys([*scene.titles.values(), *(title for _, title in scene.before)])
    keys = {f"{at}b0c1d2e": title for at, title in enumerate(titles)}
    return Overrides(people=scene.enrolled, subsections=keys, scores=dict(scene.before))
