"""
OneRoster 1.1 and 1.2: the set of CSV files that student information systems take, as a zip.

Every id that a file refers to is defined in another one, so the set holds the class as well
as the grades. Ids of the school's own system are the instructor's to give.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.exports.columns import score_of, wanted
from autograder.lms.exports.filling import max_points_of, sent, skipped
from autograder.lms.exports.model import Export, File
from autograder.lms.exports.oneroster_options import ID, choice, day_of, given_id, safe_id
from autograder.lms.exports.oneroster_tables import HEADERS, UNUSED
from autograder.lms.model import GradeState, IdKind, points_text
from autograder.lms.sheets import Dialect, harmless, sheet_bytes
from autograder.lms.texts import storable
from autograder.lms.zipping import Packed, zip_bytes
from autograder.terminal import some

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.lms.exports.columns import Score
    from autograder.lms.exports.model import Change, Request
    from autograder.lms.model import Grade

_MADE_UP = {
    "school": "school-1",
    "course": "course-1",
    "class": "class-1",
    "year": "year-1",
    "term": "term-1",
    "period": "period-1",
    "category": "homework",
}

OPTIONS = {
    "version": "1.1 or 1.2; by default 1.1",
    "mode": "bulk, which replaces what the other system has, or delta, which adds to it; by default bulk",
    **{name: f"sourcedId of the {name} in the other system" for name in _MADE_UP},
    "school_name": "what the school is called",
    "class_title": "what the class is called",
    "start": "first day of the term, as 2026-09-01",
    "end": "last day of the term",
    "assigned": "day on which the work was handed out",
    "due": "day on which it was due",
}

VERSIONS = ("1.1", "1.2")
MODES = ("bulk", "delta")
NAMED = 5
"""Students that a note names."""

_DIALECT = Dialect(newline="\r\n")

Row = dict[str, str]


def export(request: Request) -> Export:
    """
    Make the zip.

    Parameters
    ----------
    request : Request
        Its options tell the version and the ids of the school's system.

    Returns
    -------
    Export
        One zip without folders.

    Raises
    ------
    CourseError
        If an option cannot be used.
    """
    bundle = _Bundle(request)
    made = bundle.tables()
    tables = {name: [_complete(bundle, row) for row in rows] for name, rows in made.items()}
    files = [Packed(name="manifest.csv", data=sheet_bytes(bundle.manifest(tables), _DIALECT))]
    for name, rows in tables.items():
        header = HEADERS[bundle.version][name]
        cells = [header, *([row.get(column, "") for column in header] for row in rows)]
        files.append(Packed(name=f"{name}.csv", data=sheet_bytes(cells, _DIALECT)))
    name = f"{request.assignment}-oneroster.zip"
    return Export(
        files=(File(name=name, data=zip_bytes(files, Path(name))),),
        changes=tuple(bundle.changes),
        notes=tuple(bundle.notes()),
    )


@dataclass(frozen=True, slots=True)
class _Student:
    """A student and the id by which the other system may know them."""

    grade: Grade
    sourced_id: str
    login: str
    number: str


class _Bundle:
    """All rows of all files."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.version = choice(request, "version", VERSIONS)
        self.mode = choice(request, "mode", MODES)
        self.ids = {name: given_id(request, name) or usual for name, usual in _MADE_UP.items()}
        today = request.now.date()
        self.start = day_of(request, "start", date(today.year, 1, 1))
        self.end = day_of(request, "end", date(today.year, 12, 31))
        self.assigned = day_of(request, "assigned", min(today, self.end))
        self.due = day_of(request, "due", self.assigned)
        if self.end < self.start or self.due < self.assigned:
            first = "end" if self.end < self.start else "due"
            raise CourseError(
                f"--set {first}", "is before the day on which it begins", "Write it as 2026-09-01."
            )
        self.students = _students(request.grades)
        self.titles = wanted(request)
        self.changes: list[Change] = []

    def tables(self) -> dict[str, list[Row]]:
        """Return the rows of each file, as far as they say something."""
        users = [self._user(student) for student in self.students]
        tables = {
            "academicSessions": self._sessions(),
            "orgs": [
                {
                    "sourcedId": self.ids["school"],
                    "name": self.request.options.get("school_name") or self.ids["school"],
                    "type": "school",
                }
            ],
            "courses": [self._course()],
            "classes": [self._class()],
            "users": users,
            "enrollments": [self._enrollment(student) for student in self.students],
            "categories": [{"sourcedId": self.ids["category"], "title": self.ids["category"]}],
            "lineItems": [self._line_item(key, title) for key, title in self.titles.items()],
            "results": [
                self._result(student, key, title)
                for student in self.students
                for key, title in self.titles.items()
            ],
        }
        if self.version != "1.1":
            tables["roles"] = [self._role(student) for student in self.students]
        return tables

    def manifest(self, tables: Mapping[str, object]) -> list[tuple[str, str]]:
        """Return the rows of the manifest: every file that there could be, and which there are."""
        names = sorted((*HEADERS[self.version], *UNUSED[self.version]))
        return [
            ("propertyName", "value"),
            ("manifest.version", "1.0"),
            ("oneroster.version", self.version),
            *((f"file.{name}", self.mode if name in tables else "absent") for name in names),
            ("source.systemName", "autograder"),
            ("source.systemCode", "autograder"),
        ]

    def _sessions(self) -> list[Row]:
        shared = {
            "startDate": self.start.isoformat(),
            "endDate": self.end.isoformat(),
            "schoolYear": str(self.end.year),
        }
        kinds = (("year", "schoolYear", ""), ("term", "term", "year"), ("period", "gradingPeriod", "term"))
        return [
            shared
            | {
                "sourcedId": self.ids[name],
                "title": self.ids[name],
                "type": kind,
                "parentSourcedId": self.ids.get(parent, ""),
            }
            for name, kind, parent in kinds
        ]

    def _course(self) -> Row:
        return {
            "sourcedId": self.ids["course"],
            "schoolYearSourcedId": self.ids["year"],
            "title": self.ids["course"],
            "courseCode": self.ids["course"],
            "orgSourcedId": self.ids["school"],
        }

    def _class(self) -> Row:
        return {
            "sourcedId": self.ids["class"],
            "title": self.request.options.get("class_title") or self.ids["class"],
            "courseSourcedId": self.ids["course"],
            "classCode": self.ids["class"],
            "classType": "scheduled",
            "schoolSourcedId": self.ids["school"],
            "termSourcedIds": self.ids["term"],
        }

    def _user(self, student: _Student) -> Row:
        grade = student.grade
        first, last = storable(grade.first_name).strip(), storable(grade.last_name).strip()
        # Both names are required; somebody with one name is called by it twice.
        return {
            "sourcedId": student.sourced_id,
            "enabledUser": "true",
            "orgSourcedIds": self.ids["school"],
            "role": "student",
            "username": student.login,
            "givenName": first or last or student.login,
            "familyName": last or first or student.login,
            "identifier": student.number,
            "email": storable(grade.email).strip(),
            "primaryOrgSourcedId": self.ids["school"],
        }

    def _role(self, student: _Student) -> Row:
        return {
            "sourcedId": safe_id(f"{student.sourced_id}/student"),
            "userSourcedId": student.sourced_id,
            "roleType": "primary",
            "role": "student",
            "orgSourcedId": self.ids["school"],
        }

    def _enrollment(self, student: _Student) -> Row:
        return {
            "sourcedId": safe_id(f"{self.ids['class']}/{student.sourced_id}"),
            "classSourcedId": self.ids["class"],
            "schoolSourcedId": self.ids["school"],
            "userSourcedId": student.sourced_id,
            "role": "student",
            "primary": "false",
        }

    def _line_item(self, key: str, title: str) -> Row:
        most = max_points_of(self.request.grades, key)
        return {
            "sourcedId": self._item_id(key),
            "title": title,
            "assignDate": self.assigned.isoformat(),
            "dueDate": self.due.isoformat(),
            "classSourcedId": self.ids["class"],
            "categorySourcedId": self.ids["category"],
            "gradingPeriodSourcedId": self.ids["period"],
            "academicSessionSourcedId": self.ids["period"],
            "schoolSourcedId": self.ids["school"],
            "resultValueMin": "0",
            "resultValueMax": points_text(most) if most is not None else "0",
        }

    def _result(self, student: _Student, key: str, title: str) -> Row:
        """Return a student's result, and remember what it says."""
        grade = student.grade
        score = score_of(self.request, grade, key)
        status = _status(grade, score)
        self.changes.append(_change(grade, title, score, status))
        item = self._item_id(key)
        comment = grade.comment if self.request.comments and not key and score.points is not None else ""
        return {
            "sourcedId": safe_id(f"{item}/{student.sourced_id}"),
            "lineItemSourcedId": item,
            "studentSourcedId": student.sourced_id,
            "scoreStatus": status,
            "score": score.text(),
            "scoreDate": self.request.now.date().isoformat(),
            "comment": harmless(" ".join(storable(comment).split())),
            "classSourcedId": self.ids["class"],
            "late": "true" if grade.late_s > 0 else "false",
            "missing": "true" if grade.state is GradeState.MISSING else "false",
        }

    def _item_id(self, key: str) -> str:
        return safe_id(f"{self.request.assignment}/{key}" if key else self.request.assignment)

    def notes(self) -> Iterator[str]:
        """Say what the instructor must know."""
        made_up = [name for name in _MADE_UP if not given_id(self.request, name)]
        if made_up:
            yield (
                f"The ids of {', '.join(made_up)} are made up here. If the other system has its own, give "
                f"them, as in --set {made_up[0]}=ID; it takes others for something new."
            )
        if self.mode == "bulk":
            yield (
                "The set says bulk: the other system may take it for all that there is, and remove classes, "
                "students and results that are not in it. Into a system with others, send --set mode=delta."
            )
        changed = [student.grade.student for student in self.students if not ID.fullmatch(student.number)]
        if changed:
            yield (
                f"Ids of {len(changed)} students have signs that OneRoster does not allow, and are written "
                f"otherwise: {some(changed, NAMED)}."
            )
        formulas = [user.grade.student for user in self.students if _is_formula(user.grade)]
        if formulas:
            yield (
                "Names are written as they are, as the other system would take any sign for a part of them: "
                "do not open users.csv with a spreadsheet, which would calculate those of "
                f"{some(formulas, NAMED)}."
            )
        yield "Who has no score gets a result without one: a score that the other system has may go."


def _students(grades: Sequence[Grade]) -> list[_Student]:
    """Return the students with ids that OneRoster allows, no two with the same."""
    students, taken = [], set()
    for grade in grades:
        number, login = (
            next((person.ids[kind] for person in grade.people if person.ids.get(kind)), grade.student)
            for kind in (IdKind.SIS, IdKind.LOGIN)
        )
        sourced_id = safe_id(number)
        if sourced_id in taken:
            sourced_id = safe_id(f"{number}\0{grade.student}")
        taken.add(sourced_id)
        students.append(_Student(grade, sourced_id, login, number))
    return students


def _is_formula(grade: Grade) -> bool:
    """Return whether a spreadsheet takes a name for a formula; with an apostrophe it would be another."""
    names = (grade.first_name, grade.last_name, grade.email)
    return any(harmless(storable(name).strip()) != storable(name).strip() for name in names)


def _status(grade: Grade, score: Score) -> str:
    if score.points is not None:
        return "fully graded"
    if grade.state is GradeState.EXCUSED:
        return "exempt"
    return "not submitted" if grade.state is GradeState.MISSING else "submitted"


def _change(grade: Grade, title: str, score: Score, status: str) -> Change:
    if score.points is None:
        why = f"{score.reason}; the result says {status!r}, without a score"
        return skipped(grade.student, title, "", why)
    return sent(grade.student, title, score)


def _complete(bundle: _Bundle, row: Row) -> Row:
    """Return a row with what every row has: nothing in bulk mode, its state otherwise."""
    if bundle.mode == "bulk":
        return row
    moment = bundle.request.now.astimezone(UTC).isoformat(timespec="milliseconds")
    return row | {"status": "active", "dateLastModified": moment.replace("+00:00", "Z")}
