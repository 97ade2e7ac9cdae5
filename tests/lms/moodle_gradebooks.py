"""Gradebooks in Moodle, and what an export says that an import will do."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from made_grades import NOW, made_grade, made_person
from moodle_grade_importer import Choice, Gradebook, User

from autograder.lms.exports.model import Action
from autograder.lms.exports.moodle_gradebook import IDENTITIES
from autograder.lms.model import Lms
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from autograder.lms.exports.model import Export
    from autograder.lms.model import Grade, GradeState
    from autograder.lms.sheets import Sheet

FIELDS = {name: kind for kind, name in IDENTITIES.items()}
REAL = "Assignment: HW 1 (Real)"
ANA = User(number=11, first="Ana", last="Ruiz", idnumber="S01", email="ana@school.test", username="aruiz")
BO = User(number=12, first="Bo", last="Lindqvist", idnumber="S02", email="bo@school.test", username="blind")


def gradebook(*users: User, **details: Any) -> Gradebook:
    """Return a course with two items."""
    items = {"HW 1": Decimal(10), "HW 2": Decimal(5)}
    return Gradebook(users=list(users or (ANA, BO)), items=items, now=int(NOW.timestamp()), **details)


def like(course: Gradebook, **style: bool) -> Sheet:
    """Return the course's own export."""
    return parse_sheet(course.export(**style), "grades.csv")


def graded(user: User, points: str | GradeState = "9.5", **details: Any) -> Grade:
    """Return a grade of a student whom the course knows by the ids of Moodle."""
    ids = {"sis": user.idnumber, "login": user.username, "user": str(user.number)}
    known = {kind: value for kind, value in ids.items() if value}
    person = made_person(Lms.MOODLE, f"{user.first} {user.last}", user.email, **known)
    return made_grade(f"s{user.number}", points, people=(person,), **details)


def choices(done: Export, header: str = "", items: dict[str, str] | None = None) -> list[Choice]:
    """Return what the notes tell a teacher to choose for each file."""
    (note,) = (note for note in done.notes if note.startswith("In Moodle's import choose"))
    told = note.removesuffix(".").split("map ")[1]
    header, by = (part.strip("'\"") for part in told.rsplit(" to ", 1))
    items = items or {REAL: "HW 1"}
    first, item = next(iter(items.items()))
    return [
        Choice(
            header=header,
            by=FIELDS[by],
            items=items,
            feedback={f"Feedback: {first}": item} if b"Feedback:" in file.data.split(b"\n")[0] else {},
        )
        for file in done.files
    ]


def agree(done: Export, course: Gradebook, items: dict[str, str] | None = None) -> None:
    """Check that imports do what was said; then do them. Students are called by their number."""
    items = items or {REAL: "HW 1"}
    grades: dict[tuple[int, str], Decimal] = {}
    if "Nothing is sent, so there is nothing to import." not in done.notes:
        for file, choice in zip(done.files, choices(done, items=items), strict=True):
            upload = course.accepts(file.data, choice)
            assert upload.nulls == []
            assert all(upload.feedback.values())
            grades |= upload.grades
            course.apply(upload)
    said = {
        (int(one.student[1:]), items[one.column]): one
        for one in done.changes
        if one.action in {Action.APPLIED, Action.UNCHANGED}
    }
    assert {
        place: Decimal(one.after.replace(",", ".")) for place, one in said.items() if place in grades
    } == grades
    assert {place for place, one in said.items() if one.action is Action.APPLIED} <= grades.keys()
