"""
Gradescope: a ``results.json`` for each graded submission, and an autograder that hands them out.

Gradescope imports no grades. It takes them from an autograder, so that one is made which
runs nothing of the students': it looks up whose the submission is.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.errors import CourseError, nearest
from autograder.lms.exports.columns import Item, number_in, score_of
from autograder.lms.exports.filling import Filled, Layout, fill, sent, skipped
from autograder.lms.exports.matching import Who
from autograder.lms.exports.model import WHOLE, Export, File
from autograder.lms.gradescope import GradescopeResults, GradescopeTest, Visibility, results_json
from autograder.lms.model import GradeState, IdKind, Lms, points_text
from autograder.lms.zipping import PROGRAM, Packed, zip_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from decimal import Decimal

    from autograder.lms.exports.model import Change, Request
    from autograder.lms.model import Grade
    from autograder.lms.sheets import Sheet
    from autograder.scores import CellScore

OPTIONS = {
    "visibility": f"when students see the results: {', '.join(Visibility)}; by default visible",
    "tests": "when they see the single tests, in the same words; by default as the results",
}

TOTAL, SUBMISSION = "Total Score", "Submission ID"
COLUMN = "score"
"""What the whole score is called in ``results.json``."""

AUTOGRADER = "autograder.zip"
WAITS = "A person has still to grade it."

_BY_ADDRESS = (
    "Submissions are told by e-mail addresses. With the grades that Gradescope exports (--like) they are "
    "told by number, and what a student hands in later is not given the grade of what was graded."
)
_SCRIPTS = Path(__file__).parents[2] / "templates" / "gradescope_delivery"
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\:*?"<>|]')
_EXPORT = "In Gradescope, download the grades of the assignment (Review Grades, Download Grades, CSV)."


def export(request: Request) -> Export:
    """
    Make the results of all graded submissions.

    Parameters
    ----------
    request : Request
        With the grades that Gradescope exports for the assignment as `like`, submissions
        are told by their number; without, by the students' addresses.

    Returns
    -------
    Export
        A ``results.json`` in a folder for each submission, and the autograder.

    Raises
    ------
    CourseError
        If the instructor's file cannot be used, or there is nothing to hand out.
    """
    results, tests = (
        _visibility(request, name, usual) for name, usual in (("visibility", "visible"), ("tests", ""))
    )
    found = _without(request) if request.like is None else _with(request, request.like)
    if not found.grades:
        raise _nothing(request, found.changes)
    made = {
        folder: results_json(_results(request, grade, (results or Visibility.VISIBLE, tests)))
        for folder, grade in found.grades.items()
    }
    index = {"submissions": found.submissions, "emails": found.emails}
    files = [File(name=f"{folder}/results.json", data=data) for folder, data in made.items()]
    files.append(File(name=AUTOGRADER, data=_autograder(made, index)))
    return Export(files=tuple(files), changes=found.changes, notes=(*found.notes, *_notes(request, tests)))


def _nothing(request: Request, changes: Iterable[Change]) -> CourseError:
    """Return why there is nothing to hand out: why most scores cannot be, or that there is none."""
    graded = {grade.student for grade in request.grades if grade.state is GradeState.GRADED}
    reasons = Counter(change.reason for change in changes if change.student in graded)
    if not reasons:
        what = f"no submission of {request.assignment!r} has a score to hand out"
        return CourseError("export gradescope", what, "Grade it first; `autograder report` shows what waits.")
    what = f"none of {len(graded)} scores can be handed out: {reasons.most_common(1)[0][0]}"
    return CourseError("export gradescope", what, f"{_EXPORT} Name the file with --like.")


@dataclass(slots=True)
class _Found:
    """Which grade is of which submission: by folder, and how the autograder finds the result in it."""

    changes: tuple[Change, ...]
    grades: dict[str, Grade] = field(default_factory=dict)
    submissions: dict[str, str] = field(default_factory=dict)
    emails: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def _with(request: Request, sheet: Sheet) -> _Found:
    """Return the grades by the numbers of submissions."""
    total, number = sheet.column(TOTAL), sheet.column(SUBMISSION)
    if total is None or number is None:
        missing = TOTAL if total is None else SUBMISSION
        raise sheet.error(0, None, f"there is no column {missing!r}", _EXPORT)
    layout = _layout(sheet, total, number)
    # A score is always of the whole submission, and who handed in nothing has none to give it to.
    asked = replace(request, by_exercise=False, missing_as_zero=False, columns={WHOLE: TOTAL})
    filled = fill(asked, sheet, layout)
    shared = _shared(sheet, number, filled)
    if shared:
        filled = fill(asked, sheet, replace(layout, unusable=dict(layout.unusable) | shared))
    found = _Found(filled.changes)
    for row in filled.cells:
        key = sheet.cell(row, number).strip()
        folder = f"submission_{key}"
        found.grades[folder] = filled.matches.grades[row]
        found.submissions[key] = f"{folder}.json"
    found.notes = (*filled.matches.notes, *_points_differ(request, sheet))
    return found


def _layout(sheet: Sheet, total: int, number: int) -> Layout:
    sid = sheet.column("SID", "Student ID")
    who = Who(
        lms=Lms.GRADESCOPE,
        ids={} if sid is None else {IdKind.SIS: sid},
        email=sheet.column("Email"),
        name=sheet.column("Name", "Full Name"),
        first_name=sheet.column("First Name"),
        last_name=sheet.column("Last Name"),
    )
    nothing = {
        row: "there is no submission of theirs on Gradescope"
        for row in range(1, len(sheet.rows))
        if not re.fullmatch("[0-9]+", sheet.cell(row, number).strip())
    }
    return Layout(who=who, items=[Item(column=total, header=TOTAL, title=TOTAL)], unusable=nothing, mark=".")


def _shared(sheet: Sheet, number: int, filled: Filled) -> dict[int, str]:
    """Return rows of groups whose one submission would give a student a score that is not theirs."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row in range(1, len(sheet.rows)):
        rows[sheet.cell(row, number).strip()].append(row)
    found: dict[int, str] = {}
    for key, together in rows.items():
        points = {filled.cells[row][WHOLE] if row in filled.cells else None for row in together}
        if key and len(together) > 1 and len(points) > 1:
            lines = ", ".join(str(sheet.lines[row]) for row in together)
            reason = (
                f"submission {key} is of several students, who do not all have the same score (lines {lines})"
            )
            found |= dict.fromkeys(together, reason)
    return found


def _points_differ(request: Request, sheet: Sheet) -> Iterator[str]:
    column = sheet.column("Max Points")
    if column is None or len(sheet.rows) == 1 or not request.grades:
        return
    theirs, ours = number_in(sheet.cell(1, column)), request.grades[0].max_points
    if theirs is not None and theirs != ours:
        yield (
            f"The assignment has {points_text(theirs)} points in Gradescope and {points_text(ours)} here; "
            "scores are sent as they are. Set its points in Gradescope, Assignment Settings."
        )


def _without(request: Request) -> _Found:
    """Return the grades by students, to be found by their addresses."""
    owners: dict[str, set[str]] = defaultdict(set)
    for grade in request.grades:
        for email in _emails(grade):
            owners[email].add(grade.student)
    changes, graded = [], {}
    for grade in request.grades:
        score = score_of(replace(request, missing_as_zero=False), grade)
        mine = [email for email in _emails(grade) if owners[email] == {grade.student}]
        if score.points is None or not mine:
            why = score.reason or "the course knows no e-mail address that is theirs alone"
            changes.append(skipped(grade.student, COLUMN, "", why))
            continue
        changes.append(sent(grade.student, COLUMN, score))
        graded[grade.student] = (grade, mine)
    found = _Found(tuple(changes))
    for student, (grade, emails) in graded.items():
        folder = _folder(student, found.grades)
        found.grades[folder] = grade
        found.emails |= dict.fromkeys(emails, f"{folder}.json")
    found.notes = (_BY_ADDRESS,)
    return found


def _emails(grade: Grade) -> list[str]:
    known = [grade.email, *(person.email for person in grade.people)]
    return list(dict.fromkeys(email.strip().casefold() for email in known if email.strip()))


def _folder(student: str, taken: Mapping[str, Grade]) -> str:
    """Return a name for a folder that no other student has, whatever the id is."""
    plain = _UNSAFE.sub("_", student).strip(". ")[:100] or "student"
    names = (plain if not number else f"{plain}-{number}" for number in range(len(taken) + 2))
    others = {name.casefold() for name in (*taken, Path(AUTOGRADER).name)}
    return next(name for name in names if name.casefold() not in others)


def _results(
    request: Request, grade: Grade, visibility: tuple[Visibility, Visibility | None]
) -> GradescopeResults:
    of_tests = visibility[1] or Visibility.VISIBLE
    lines = [grade.comment.strip()] if request.comments else []
    if grade.penalty and not request.comments:
        lines.append(f"Handed in late: {points_text(grade.penalty)} points are taken off.")
    tests = _by_notebook(grade) if request.by_exercise or not grade.cells else _by_cell(grade)
    return GradescopeResults(
        score=grade.points,
        tests=tuple(replace(test, visibility=of_tests) for test in tests),
        output="\n".join(line for line in lines if line),
        visibility=visibility[0],
        extra_data={"assignment": request.assignment, "student": grade.student, "late_s": grade.late_s},
    )


def _by_notebook(grade: Grade) -> Iterator[GradescopeTest]:
    for number, part in enumerate(grade.parts, start=1):
        yield _test(part.name, str(number), part.points, part.max_points)


def _by_cell(grade: Grade) -> Iterator[GradescopeTest]:
    """Yield a test for each graded cell, with what it earned before a penalty."""
    books: dict[str, list[CellScore]] = defaultdict(list)
    for cell in grade.cells:
        books[cell.notebook].append(cell)
    for number, (notebook, cells) in enumerate(books.items(), start=1):
        for place, cell in enumerate(cells, start=1):
            points = cell.score if cell.has_score else None
            yield _test(f"{notebook}: {cell.grade_id}", f"{number}.{place}", points, cell.max_score)


def _test(name: str, number: str, points: Decimal | None, most: Decimal) -> GradescopeTest:
    waits = f"{WAITS} It is worth {points_text(most)} points." if points is None else ""
    passed = None if points is None else points >= most
    return GradescopeTest(name=name, number=number, score=points, max_score=most, passed=passed, output=waits)


def _autograder(made: Mapping[str, bytes], index: Mapping[str, Any]) -> bytes:
    """Return the zip that Gradescope runs."""
    scripts = [
        Packed(name=name, data=_SCRIPTS / name, mode=PROGRAM) for name in ("setup.sh", "run_autograder")
    ]
    data = json.dumps(index, indent=1, sort_keys=True).encode("ascii")
    results = [Packed(name=f"results/{folder}.json", data=result) for folder, result in made.items()]
    return zip_bytes([*scripts, Packed(name="index.json", data=data), *results], Path(AUTOGRADER))


def _visibility(request: Request, name: str, usual: str) -> Visibility | None:
    value = request.options.get(name) or usual
    if not value:
        return None
    if value not in set(Visibility):
        what = f"{value!r} is no time at which students see something"
        raise CourseError(f"--set {name}", what, nearest(value, [one.value for one in Visibility]))
    return Visibility(value)


def _notes(request: Request, tests: Visibility | None) -> Iterator[str]:
    yield (
        f"In Gradescope: Configure Autograder, upload {AUTOGRADER}, wait for the image, then Manage "
        "Submissions, Regrade All Submissions. A submission that is not in it fails there, and gets no zero."
    )
    if tests is Visibility.HIDDEN:
        yield "As tests are hidden, Gradescope does not show students the total either."
    if request.missing_as_zero and any(grade.state is GradeState.MISSING for grade in request.grades):
        yield "Who handed in nothing has no submission that a zero could be given to: none is sent."
