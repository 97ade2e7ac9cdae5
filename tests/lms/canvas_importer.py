"""
Canvas as far as grades are concerned: what its Import makes of a file, and what its Export writes.

The rules are those of the project's notes on formats, numbered as there, and nothing of Canvas's code.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

from ruby_csv import MalformedError, integer_prefix, ruby_line, ruby_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ruby_csv import Row

EXCUSED = "EX"
Value = Decimal | str | None
"""A score, EX, a letter, or nothing."""
Place = tuple[int, int]
"""A student and an assignment, by their numbers."""

SKIPPED_LINES = r"^[;, ]*\Z"
RESERVED = re.compile(r"(Current|Final) (Score|Points|Grade)|Override (Score|Grade|Status)")
BETWEEN = r"(SIS Login ID\n|SIS User ID\nSIS Login ID\n(Integration ID\n)?(Root Account\n)?)?Section(?=\n|\Z)"
"""Headers from behind ``ID`` to the last before custom columns."""


class RefusedError(Exception):
    """Canvas takes nothing of the file."""


@dataclass(frozen=True, kw_only=True)
class Student:
    """Somebody in the course."""

    number: int
    sortable_name: str
    name: str = ""
    sis_id: str = ""
    login: str = ""
    section: str = "Sec 1"
    concluded: bool = False


@dataclass(kw_only=True)
class Assignment:
    """
    Something that has scores; ``without`` are students that it is not assigned to.

    It is ``anonymous`` as long as nobody may know whose work is whose, until its grades are posted.
    """

    number: int
    title: str
    points: Decimal = Decimal(10)
    published: bool = True
    closed: bool = False
    anonymous: bool = False
    read_only: bool = False
    without: frozenset[int] = frozenset()

    @property
    def header(self) -> str:
        """What Export calls its column."""
        return f"{self.title} ({self.number})"


@dataclass(kw_only=True)
class Upload:
    """What Import would do, as it shows before it does it."""

    applied: dict[Place, Value] = field(default_factory=dict)
    """Scores that change; None for one that is cleared."""
    unchanged: set[Place] = field(default_factory=set)
    points: dict[int, Decimal] = field(default_factory=dict)
    """Assignments that will be worth something else."""
    new_assignments: list[str] = field(default_factory=list)
    new_students: list[str] = field(default_factory=list)
    ignored_columns: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    separator: str = ","

    @property
    def is_clean(self) -> bool:
        """True if no dialog asks anything and nothing but scores changes."""
        return not (
            self.points or self.new_assignments or self.new_students or self.ignored_columns or self.warnings
        )


@dataclass(kw_only=True)
class Canvas:
    """A course."""

    students: list[Student]
    assignments: list[Assignment]
    scores: dict[Place, Value] = field(default_factory=dict)
    custom_columns: tuple[str, ...] = ()
    split_names: bool = False

    def accepts(self, data: bytes) -> Upload:
        """Return what Import would do with a file, or raise `RefusedError`."""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise RefusedError("invalid byte sequence in UTF-8") from None
        upload = Upload(separator=chosen_separator(text))
        try:
            rows = ruby_rows(text, upload.separator, skip=SKIPPED_LINES)
        except MalformedError as error:
            raise RefusedError(f"did not parse cleanly: {error}") from None
        rewritten = [[None if cell is None else rewritten_number(cell) for cell in row] for row in rows]
        first = self._first_assignment(rewritten[0] if rewritten else [])
        ids = self._ids(rewritten[0], first)
        columns = self._columns(rewritten[0], first, upload)
        students = []
        for row in rewritten[1:]:
            if "Points Possible" in (row[0] or ""):
                self._points_row(row, columns, upload)
            elif not all(_heads_columns(cell) for cell in row if cell):
                students.append(row)
        for row in students:
            self._student_row(row, (ids, columns), upload)
        return upload

    def apply(self, upload: Upload) -> None:
        """Do it."""
        self.scores.update(upload.applied)
        for assignment in self.assignments:
            assignment.points = upload.points.get(assignment.number, assignment.points)

    def _first_assignment(self, header: Row) -> int:
        """Return where assignments begin (rules 1 and 2)."""
        cells = [cell or "" for cell in header]
        if len(cells) >= 5 and self.split_names and cells[:3] == ["LastName", "FirstName", "ID"]:
            at = 3
        elif len(cells) >= 4 and "Student" in cells[0] and "ID" in cells[1]:
            at = 2
        else:
            raise RefusedError("Invalid header row")
        block = re.match(BETWEEN, "\n".join(cells[at:]))
        if block is None:
            raise RefusedError("Invalid header row")
        at += block[0].count("\n") + 1
        while at < len(cells) and cells[at] in self.custom_columns:
            at += 1
        return at

    def _ids(self, header: Row, first: int) -> dict[str, int]:
        """Return where the ids are that the header names; no other cell is one (rule 2)."""
        return {header[at] or "": at for at in range(first) if (header[at] or "").startswith("SIS ")}

    def _columns(self, header: Row, first: int, upload: Upload) -> dict[int, Assignment]:
        """Return which column is which assignment's (rules 3 and 4)."""
        known = [assignment for assignment in self.assignments if assignment.published]
        columns = {}
        for at, cell in enumerate(header[first:], first):
            title = cell or ""
            if RESERVED.search(title) or title in self.custom_columns:
                upload.ignored_columns.append(title)
                continue
            number = re.search(r"\s\((\d+)\)\Z", title, re.ASCII)
            found = [one for one in known if number and one.number == int(number[1])]
            found = found or [one for one in known if one.title == title]
            if found:
                columns[at] = found[0]
            else:
                upload.new_assignments.append(title)
        return columns

    def _points_row(self, row: Row, columns: dict[int, Assignment], upload: Upload) -> None:
        """Take what assignments are worth from a row (rule 5)."""
        for at, assignment in list(columns.items()):
            cell = _at(row, at)
            if re.search("read only", cell):
                upload.ignored_columns.append(assignment.header)
                del columns[at]
                continue
            points = Decimal(cell) if re.fullmatch(r"\d+(\.\d+)?", cell, re.ASCII) else Decimal(0)
            if points != assignment.points:
                upload.points[assignment.number] = points

    def _student_row(
        self, row: Row, where: tuple[dict[str, int], dict[int, Assignment]], upload: Upload
    ) -> None:
        """Compare a student's scores with what is there (rules 8 to 10)."""
        ids, columns = where
        student = self._student(row, ids)
        if student is None:
            upload.new_students.append(row[0] or "")
            return
        if student.concluded:
            return
        for at, assignment in columns.items():
            place = student.number, assignment.number
            value = _value(_at(row, at), assignment.points)
            if student.number in assignment.without:
                value = None
            if _same(value, self.scores.get(place)):
                upload.unchanged.add(place)
            elif assignment.closed or assignment.anonymous:
                upload.warnings.append(f"{'closed' if assignment.closed else 'anonymous'}: {place}")
            else:
                upload.applied[place] = value

    def _student(self, row: Row, ids: dict[str, int]) -> Student | None:
        """Return whose a row is (rule 6)."""
        names = 2 if self.split_names else 1
        number = integer_prefix(_at(row, names))
        sis_id, login = (
            _at(row, ids[name]) if name in ids else "" for name in ("SIS User ID", "SIS Login ID")
        )
        name = _at(row, 0)
        for fits in (
            lambda one: one.number == number,
            lambda one: bool(sis_id) and one.sis_id == sis_id,
            lambda one: bool(login) and one.login == login,
            lambda one: bool(name) and name in {one.name, one.sortable_name},
        ):
            found = [student for student in self.students if fits(student)]
            if found:
                return found[0]
        return None

    def export(self, style: Style | None = None) -> bytes:
        """Return the gradebook as Export writes it."""
        style = style or Style()
        names = ["LastName", "FirstName"] if self.split_names else ["Student"]
        ids = ["ID", "SIS User ID", "SIS Login ID"]
        shown = [assignment for assignment in self.assignments if assignment.published]
        header = [*names, *ids, "Section", *self.custom_columns, *(one.header for one in shown), *TOTALS]
        blank = [""] * (len(ids) + len(names) + len(self.custom_columns))
        rows: list[Sequence[str]] = [header]
        if style.manual_posting:
            rows.append(["", *blank, *("Manual Posting" for _ in shown), *("" for _ in TOTALS)])
        worth = ["(read only)" if one.read_only else style.number(one.points) for one in shown]
        rows.append(["    Points Possible", *blank, *worth, *("(read only)" for _ in TOTALS)])
        for student in self.students:
            cells = [
                style.score(student, one, self.scores.get((student.number, one.number))) for one in shown
            ]
            identity = [str(student.number), student.sis_id, student.login, student.section]
            custom = ["note, with comma"] * len(self.custom_columns)
            rows.append([*self._names(student), *identity, *custom, *cells, *("57.10" for _ in TOTALS)])
        text = "".join(ruby_line(row, style.separator) for row in rows)
        return (b"\xef\xbb\xbf" if style.bom else b"") + text.encode()

    def _names(self, student: Student) -> list[str]:
        names = student.sortable_name.partition(", ")[::2] if self.split_names else (student.sortable_name,)
        return [f'="{name}"' if name.startswith("=") else name for name in names]


TOTALS = ("Current Points", "Final Score", "Unposted Final Grade")


@dataclass(frozen=True, kw_only=True)
class Style:
    """What an export depends on beside the course: the user's language and settings."""

    separator: str = ","
    mark: str = "."
    thousands: str = ""
    bom: bool = False
    manual_posting: bool = False

    def number(self, points: Decimal) -> str:
        """Return a number as the user's language writes it."""
        text = f"{points.quantize(Decimal('0.01'), ROUND_HALF_UP):,f}"
        return text.translate({ord(","): self.thousands, ord("."): self.mark})

    def score(self, student: Student, assignment: Assignment, value: Value) -> str:
        """Return a cell."""
        if student.number in assignment.without:
            return "N/A"
        return self.number(value) if isinstance(value, Decimal) else value or ""


def chosen_separator(text: str) -> str:
    """Return what Canvas takes for the separator of a file (rule 11)."""
    lines = text.split("\n", 3)[:3]
    scores = {}
    for separator in ",;":
        try:
            counts = {len(row) for line in lines for row in ruby_rows(line, separator)}
        except MalformedError:
            counts = set()
        scores[separator] = counts.pop() if len(counts) == 1 else 0
    return ";" if scores[";"] > scores[","] else ","


def rewritten_number(cell: str) -> str:
    """Return a cell after Canvas has made decimal points of commas (rule 7)."""
    if not re.fullmatch(r"-?[0-9.,]*[0-9][0-9.,]*%?", cell):
        return cell
    last = max(cell.rfind("."), cell.rfind(","))
    if last < 0:
        return cell
    whole, decimals = re.sub("[.,]", "", cell[:last]), cell[last + 1 :]
    return whole + (f".{decimals}" if decimals.strip("%") else decimals)


def _value(cell: str, points: Decimal) -> Value:
    """Return what a cell of a score means (rules 7 and 8): a percentage is one of the points possible."""
    text = cell.strip()
    if text in {"", "-"}:
        return None
    if text.upper() == EXCUSED:
        return EXCUSED
    if re.fullmatch(r"-?[0-9]*\.?[0-9]+", text):
        return Decimal(text)
    if re.fullmatch(r"-?[0-9]*\.?[0-9]+%", text):
        return Decimal(text[:-1]) * points / 100
    # What no rule makes a number of is read as nothing: so a space in a number blanks it.
    return None if re.fullmatch(r"[0-9].*", text) else text


def _same(one: Value, other: Value) -> bool:
    if isinstance(one, Decimal) and isinstance(other, Decimal):
        cent = Decimal("0.01")
        return one.quantize(cent, ROUND_HALF_UP) == other.quantize(cent, ROUND_HALF_UP)
    return one == other


def _heads_columns(cell: str) -> bool:
    return not cell.strip() or cell == "Muted" or cell.startswith("Manual Posting")


def _at(row: Row, at: int) -> str:
    return (row[at] if at < len(row) else None) or ""
