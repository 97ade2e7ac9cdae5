"""
Moodle: the offline grading worksheet of one assignment, filled.

Moodle skips what it does not like without a word, so everything is told here.
A row is written only for students for whom something is sent; an empty grade
leaves what is there, an empty comment would erase it and is never written.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from autograder.errors import CourseError, nearest
from autograder.lms.exports.columns import (
    decimal_mark,
    notebooks_of,
    number_in,
    refuse_huge,
    same_points,
    score_of,
)
from autograder.lms.exports.filling import max_points_of, skipped
from autograder.lms.exports.matching import match_people
from autograder.lms.exports.model import WHOLE, Action, Change, Export, File
from autograder.lms.exports.moodle_cells import html_comment, moodle_bytes, safe_cell, safe_html
from autograder.lms.exports.moodle_columns import NO, PARTICIPANT, YES, Columns, worksheet_columns
from autograder.lms.exports.moodle_columns import OPTIONS as HEADERS
from autograder.lms.model import GradeState, IdKind, Lms, Person, points_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.lms.exports.model import Request
    from autograder.lms.model import Grade
    from autograder.lms.sheets import Sheet

OPTIONS = {
    "exercise": "the notebook whose score is sent, where the assignment in Moodle is one exercise",
    "decimal": "the decimal mark, . or ,; by default the one of the worksheet",
    **HEADERS,
}
"""What may be asked for beyond what every format knows."""

NONE = frozenset({"", "-"})

_NEEDED = (
    "In Moodle, allow the offline grading worksheet in the assignment's settings, download it under "
    "Submissions, and name the file with --like."
)


def export(request: Request) -> Export:
    """
    Fill a grading worksheet.

    Parameters
    ----------
    request : Request
        With the worksheet, as it was downloaded, as `like`.

    Returns
    -------
    Export
        One CSV file, and what Moodle will do with it if it may change what was changed since.

    Raises
    ------
    CourseError
        If there is no worksheet, it cannot be used, or more than one score is asked for.
    """
    if request.like is None:
        raise CourseError("export moodle-worksheet", "needs the worksheet of the assignment", _NEEDED)
    return _Worksheet(request, request.like).export()


@dataclass(frozen=True, slots=True)
class _Sent:
    """What is sent to one row; empty texts leave what is there."""

    change: Change
    grade: str = ""
    comment: str = ""


class _Worksheet:
    """A worksheet, and what goes into it."""

    def __init__(self, request: Request, sheet: Sheet) -> None:
        self.request, self.sheet = request, sheet
        self.key = _key(request)
        self.columns = worksheet_columns(request, sheet)
        self.people = _people(sheet, self.columns)
        scores = (self.columns.maximum, self.columns.grade)
        refuse_huge(sheet, scores)
        self.mark = decimal_mark(sheet, scores, asked=request.options.get("decimal", ""))
        if request.comments and not self.columns.comments:
            raise sheet.error(0, self.columns.comments, *_no_comments(self.columns))

    def export(self) -> Export:
        """Return the file."""
        matches = match_people(self.people, self.request.grades)
        sent = {
            row: self._sent(row, matches.grades.get(row), matches.strangers.get(row, ""))
            for row in self.people
        }
        header = self.sheet.header[self.columns.grade]
        left = [skipped(grade.student, header, "", reason) for grade, reason in matches.left]
        rows = {row: one for row, one in sent.items() if one.grade or one.comment}
        columns = [at for at in range(len(self.sheet.header)) if self._is_kept(at)]
        table = [[self.sheet.header[at] for at in columns]]
        table += [[self._cell(row, at, one) for at in columns] for row, one in rows.items()]
        return Export(
            files=(File(name=f"{self.request.assignment}-moodle-worksheet.csv", data=moodle_bytes(table)),),
            changes=(*(one.change for one in sent.values()), *left),
            notes=(*matches.notes, *self._notes(rows)),
            is_empty=not rows,
        )

    def _is_kept(self, at: int) -> bool:
        """Return whether a column is in the file: comments that were not asked for are not."""
        return self.request.comments or at != self.columns.comments

    def _sent(self, row: int, grade: Grade | None, stranger: str) -> _Sent:
        before = self.sheet.cell(row, self.columns.grade)
        cell = self.sheet.cell(row, self.columns.identifier).strip()
        student = grade.student if grade is not None else self.people[row].name or cell
        header = self.sheet.header[self.columns.grade]
        score = score_of(self.request, grade, self.key) if grade is not None else None
        reason = stranger or self._why_not(row, grade)
        if score is None or score.points is None or grade is None or reason:
            return _Sent(skipped(student, header, before, reason or (score.reason if score else "")))
        action = Action.UNCHANGED if same_points(before, score.points) else Action.APPLIED
        text = points_text(score.points, places=2).replace(".", self.mark.sign)
        after = before if action is Action.UNCHANGED else text
        change = Change(
            student=student, column=header, action=action, before=before, after=after, reason=score.reason
        )
        return _Sent(change, "" if action is Action.UNCHANGED else text, self._comment(row, grade))

    def _why_not(self, row: int, grade: Grade | None) -> str:
        """Return why Moodle would not take a student's score; empty if it would, or there is none."""
        if grade is None:
            return ""
        if _answer(self.sheet.cell(row, self.columns.changeable)) in NO:
            return "Moodle does not let the grade be changed (locked or overridden in its gradebook)"
        if grade.state is GradeState.EXCUSED:
            return "excused, for which a worksheet has no word: exclude them in Moodle's gradebook"
        points = score_of(self.request, grade, self.key).points
        maximum = number_in(self.sheet.cell(row, self.columns.maximum))
        if points is None:
            return ""
        if maximum is None:
            cell = self.sheet.cell(row, self.columns.maximum)
            raise self.sheet.error(row, self.columns.maximum, f"{cell!r} is no maximum of points", _NEEDED)
        if not 0 <= points <= maximum:
            shown = f"{points_text(points)} is not between 0 and {points_text(maximum)}"
            return f"{shown}, and Moodle would leave it out"
        return ""

    def _comment(self, row: int, grade: Grade) -> str:
        """Return the comment to send; empty if there is none or Moodle has it."""
        if not self.request.comments or not grade.comment:
            return ""
        comment = html_comment(grade.comment)
        return "" if comment == self.sheet.cell(row, self.columns.comments) else comment

    def _cell(self, row: int, at: int, sent: _Sent) -> str:
        cell = self.sheet.cell(row, at)
        if at == self.columns.grade:
            return sent.grade
        if at == self.columns.comments:
            return sent.comment or safe_html(cell)
        return safe_cell(cell)

    def _notes(self, rows: dict[int, _Sent]) -> Iterator[str]:
        points = max_points_of(self.request.grades, self.key)
        maximum = next((number_in(self.sheet.cell(row, self.columns.maximum)) for row in self.people), None)
        if points is not None and maximum is not None and points != maximum:
            yield (
                f"The maximum grade is {points_text(maximum)} in Moodle and {points_text(points)} here: "
                "scores are sent as they are."
            )
        if not rows:
            yield "Nothing is sent, so there is nothing to upload."
            return
        if self.request.title != self.request.assignment:
            yield (
                "A worksheet does not say of which assignment it is: see that it is the one of "
                f"{self.request.title!r}, which nobody here can compare."
            )
        yield self.mark.note(Lms.MOODLE)
        answers = [_answer(self.sheet.cell(row, self.columns.changeable)) for row in rows]
        if any(answer not in YES for answer in answers):
            yield (
                "The worksheet does not say in a known language which grades are locked; Moodle skips these."
            )
        grades = sum(bool(one.grade) for one in rows.values())
        comments = sum(self._comment_changes(row, one) for row, one in rows.items())
        counts = f"{_count(grades, 'grade')} and {_count(comments, 'feedback comment')}"
        yield f"Moodle will say that it updated {counts}."
        replaced = sum(map(self._replaces, rows, rows.values()))
        if replaced:
            yield f"Comments that the worksheet has already are replaced for {_count(replaced, 'student')}."
        stale = sum(self._has_grade(row) for row in rows)
        if stale:
            yield (
                "Tick that records may be updated that were modified more recently than the worksheet: "
                f"Moodle would leave out {stale} of these rows, which have a grade already, without a word."
            )
        yield (
            "In Moodle: the assignment, Submissions (View all submissions), Upload grading worksheet; "
            "compare the counts that it tells with the above."
        )

    def _comment_changes(self, row: int, sent: _Sent) -> bool:
        if not self.request.comments:
            return False
        cell = self.sheet.cell(row, self.columns.comments)
        return bool(sent.comment) or safe_html(cell) != cell

    def _replaces(self, row: int, sent: _Sent) -> bool:
        """Return whether somebody's comment goes for ours."""
        there = self.sheet.cell(row, self.columns.comments).strip() if self.request.comments else ""
        return bool(there) and self._comment_changes(row, sent)

    def _has_grade(self, row: int) -> bool:
        """Return whether Moodle takes what it has for newer: it rarely reads its own dates."""
        cells = (self.sheet.cell(row, at).strip() for at in (self.columns.grade, self.columns.modified))
        return any(cell not in NONE for cell in cells)


def _key(request: Request) -> str:
    """Return whose score goes into the one column of grades."""
    notebooks = notebooks_of(request)
    exercise = request.options.get("exercise", WHOLE)
    if exercise and exercise not in notebooks:
        what = f"{request.assignment!r} has no notebook {exercise!r}"
        raise CourseError("--set exercise", what, nearest(exercise, notebooks))
    if request.by_exercise and not exercise:
        what = "a worksheet is of one assignment in Moodle, which has one grade"
        remedy = (
            "Export each exercise with its own worksheet: --set exercise=NOTEBOOK, without --by-exercise."
        )
        raise CourseError("--by-exercise", what, remedy)
    if request.columns:
        remedy = "Leave it out; headers in a language that is not known are named with --set."
        raise CourseError("--column", "a worksheet has one column of grades", remedy)
    return exercise


def _no_comments(columns: Columns) -> tuple[str, str]:
    if columns.comments == 0:
        return "Moodle ignores comments in the first column", "Download the worksheet again."
    remedy = (
        "Allow feedback comments in the assignment's settings and download it again, or leave out --comments."
    )
    return "there is no column of feedback comments", remedy


def _people(sheet: Sheet, columns: Columns) -> dict[int, Person]:
    """Return who each row is about."""
    people: dict[int, Person] = {}
    lines: dict[str, int] = {}
    ids = {IdKind.SIS: columns.sis, IdKind.LOGIN: columns.login}
    for row in range(1, len(sheet.rows)):
        if not any(cell.strip() for cell in sheet.rows[row]):
            continue
        cell = sheet.cell(row, columns.identifier)
        found = PARTICIPANT.fullmatch(cell.strip())
        if found is None:
            raise sheet.error(row, columns.identifier, f"{cell!r} is no participant", _NEEDED)
        if len(sheet.rows[row]) > len(sheet.header):
            what = f"has {len(sheet.rows[row])} cells, but the header has {len(sheet.header)}"
            raise sheet.error(row, None, what, _NEEDED)
        number = found["number"]
        if number in lines:
            what = f"line {lines[number]} is about participant {number} too"
            raise sheet.error(row, columns.identifier, what, "Keep the row that counts.")
        lines[number] = sheet.lines[row]
        known = {kind: sheet.cell(row, at).strip() for kind, at in ids.items()}
        people[row] = Person(
            lms=Lms.MOODLE,
            name=sheet.cell(row, columns.name).strip(),
            email=sheet.cell(row, columns.email).strip(),
            ids={IdKind.PARTICIPANT: number} | {kind: value for kind, value in known.items() if value},
            line=sheet.lines[row],
        )
    return people


def _answer(cell: str) -> str:
    return cell.strip().casefold()


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
