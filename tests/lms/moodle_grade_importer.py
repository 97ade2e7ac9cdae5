"""
A Moodle gradebook: its "Import CSV", which takes all or nothing, and its export.

The rules are those of the project's notes on formats, and nothing of Moodle's code.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from php_csv import php_float, php_is_numeric, php_line, php_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

YEAR_S = 365 * 24 * 60 * 60
DOWNLOADED = "Last downloaded from this course"


class RefusedError(Exception):
    """Moodle takes nothing of the file."""


@dataclass(frozen=True, kw_only=True)
class User:
    """Somebody in the course."""

    number: int
    first: str
    last: str
    idnumber: str = ""
    email: str = ""
    username: str = ""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What a teacher chooses in the dialog."""

    header: str
    by: str
    """One of idnumber, email, username and id."""
    items: Mapping[str, str]
    feedback: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Upload:
    """What an import does."""

    grades: dict[tuple[int, str], Decimal] = field(default_factory=dict)
    feedback: dict[tuple[int, str], str] = field(default_factory=dict)
    nulls: list[tuple[int, str]] = field(default_factory=list)
    """Grades that are sent as nothing; nobody knows whether that clears one."""


@dataclass(kw_only=True)
class Gradebook:
    """A course: items with what they are worth, grades by user and item."""

    users: list[User]
    items: dict[str, Decimal]
    grades: dict[tuple[int, str], Decimal] = field(default_factory=dict)
    feedback: dict[tuple[int, str], str] = field(default_factory=dict)
    locked: set[tuple[int, str]] = field(default_factory=set)
    last_graded: int = -1
    group: frozenset[int] | None = None
    """Who is in the teacher's group where groups are separate; None where they are not."""
    mark: str = "."
    limit: Decimal = Decimal(100)
    now: int = 0

    def accepts(self, data: bytes, chosen: Choice) -> Upload:
        """Return what an import does, or raise `RefusedError`."""
        text = data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
        lines = [[cell or "" for cell in row] for row in php_rows(text) if len(row) > 1]
        if not lines:
            raise RefusedError("the file is empty")
        header, *rows = lines
        places = {name: header.index(name) for name in (chosen.header, *chosen.items, *chosen.feedback)}
        if any(len(row) != len(header) for row in lines):
            raise RefusedError("invalid number of columns")
        upload = Upload()
        for row in rows:
            user = self._user(row[places[chosen.header]], chosen.by)
            if self.group is not None and user.number not in self.group:
                raise RefusedError(f"not in the group: {user.number}")
            if DOWNLOADED in header:
                self._check_time(row[header.index(DOWNLOADED)])
            for name, item in chosen.items.items():
                grade = self._grade(row[places[name]])
                if (user.number, item) in self.locked:
                    raise RefusedError(f"locked: {user.number}, {item}")
                if grade is None:
                    upload.nulls.append((user.number, item))
                else:
                    upload.grades[user.number, item] = grade
            for name, item in chosen.feedback.items():
                upload.feedback[user.number, item] = row[places[name]]
        return upload

    def apply(self, upload: Upload) -> None:
        """Do it."""
        self.grades.update(upload.grades)
        self.feedback.update(upload.feedback)

    def _user(self, cell: str, kind: str) -> User:
        def same(user: User) -> bool:
            value = str(user.number) if kind == "id" else str(getattr(user, kind))
            return value.casefold() == cell.casefold() if kind == "email" else value == cell

        found = [user for user in self.users if same(user)]
        if len(found) != 1:
            raise RefusedError(f"{len(found)} users for {cell!r}")
        return found[0]

    def _grade(self, cell: str) -> Decimal | None:
        if cell.strip() in {"", "-"}:
            return None
        text = cell.strip().replace(self.mark, ".")
        if not php_is_numeric(text):
            raise RefusedError(f"bad grade {cell!r}")
        grade = Decimal(repr(php_float(text)))
        if grade > self.limit:
            raise RefusedError(f"{cell!r} is above the limit")
        return grade

    def _check_time(self, cell: str) -> None:
        if (
            not cell.isdecimal()
            or not self.now - YEAR_S < int(cell) <= self.now
            or int(cell) <= self.last_graded
        ):
            raise RefusedError("downloaded too long ago")

    def export(self, *, usernames: bool = False) -> bytes:
        """Return the export of grades, in English."""
        identity = ["First name", "Last name", "ID number", *(["Username"] if usernames else [])]
        header = [*identity, "Email address", *(f"Assignment: {item} (Real)" for item in self.items)]
        header += [
            *(f"Assignment: {item} (Percentage)" for item in self.items),
            "Course total (Real)",
            DOWNLOADED,
        ]
        rows = [php_line(header)]
        for user in self.users:
            grades = {item: self.grades.get((user.number, item)) for item in self.items}
            shown = ["-" if one is None else f"{one:.2f}".replace(".", self.mark) for one in grades.values()]
            cells = [
                user.first,
                user.last,
                user.idnumber,
                *([user.username] if usernames else []),
                user.email,
            ]
            rows.append(php_line([*cells, *shown, *(f"{one} %" for one in shown), "57.10", str(self.now)]))
        return "".join(rows).encode()
