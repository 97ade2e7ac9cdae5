"""Tables of people, byte for byte as each LMS writes them: the exporters' side of the law of rosters."""

from __future__ import annotations

import csv
import io
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from autograder.lms.model import IdKind, Lms, Person

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nasty_people import Nasty

SUBMITTED = datetime(2027, 3, 1, 10, 5)  # noqa: DTZ001 - by the clock of the site
"""When everybody in Moodle's worksheet has handed in."""
Written = tuple[bytes, list[Person]]
"""A file, and who is in it as far as it says."""


def table(
    rows: Iterable[Sequence[str]], delimiter: str = ",", newline: str = "\r\n", *, quote_all: bool = False
) -> str:
    """Return a table with doubled quotes."""
    stream = io.StringIO(newline="")
    quoting: Literal[0, 1] = csv.QUOTE_ALL if quote_all else csv.QUOTE_MINIMAL
    csv.writer(stream, delimiter=delimiter, lineterminator=newline, quoting=quoting).writerows(rows)
    return stream.getvalue()


def php_table(rows: Iterable[Sequence[str]], delimiter: str = ",") -> str:
    """Return a table as PHP's `fputcsv` writes it: a quote after a backslash is not doubled."""
    return "".join(delimiter.join(_php_cell(cell, delimiter) for cell in row) + "\n" for row in rows)


def _php_cell(cell: str, delimiter: str) -> str:
    if not any(letter in cell for letter in (delimiter, '"', "\\", "\n", "\r", "\t", " ")):
        return cell
    out, escaped = [], False
    for letter in cell:
        if letter == "\\":
            escaped = True
        elif letter == '"' and not escaped:
            out.append('"')
        else:
            escaped = False
        out.append(letter)
    return '"' + "".join(out) + '"'


def _people(lms: Lms, nasty: Iterable[Nasty], make: Callable[[Nasty], dict[str, object]]) -> list[Person]:
    return [Person(lms=lms, **make(one)) for one in nasty]  # type: ignore[arg-type]  # fields of Person


def _canvas_name(name: str) -> str:
    return f'="{name}"' if name.startswith("=") else name


def canvas_gradebook(nasty: Sequence[Nasty], delimiter: str = ",", *, bom: bool = False) -> Written:
    """Canvas's gradebook: rows that are nobody's first, the test student last."""
    extra = ["HW1: Lists (4021)", "Current Score"]
    header = ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *extra]
    rows = [header, ["", "", "", "", "", "Manual Posting", ""]]
    rows.append(["    Points Possible", "", "", "", "", "10", "(read only)"])
    for one in nasty:
        sections = " and ".join(one.groups)
        rows.append([_canvas_name(one.sortable), one.user, one.sis, one.login, sections, "9,50", "95,00"])
    rows.append(["Student, Test", "999", "", "0f3c9a", "", "", ""])
    text = ("\ufeff" if bom else "") + table(rows, delimiter, "\n")
    people = _people(
        Lms.CANVAS, nasty, lambda one: {"name": one.sortable, "ids": _ids(one), "sections": one.groups}
    )
    return text.encode(), people


def canvas_split_names(nasty: Sequence[Nasty]) -> Written:
    """Canvas's gradebook where names are two columns, without SIS ids."""
    rows = [["LastName", "FirstName", "ID", "SIS Login ID", "Section", "HW1 (7)"]]
    rows.append(["    Points Possible", "", "", "", "", "10"])
    rows += [
        [_canvas_name(one.last), _canvas_name(one.first), one.user, one.login, "Sec 1", ""] for one in nasty
    ]
    rows.append(["Student", "Test", "999", "0f3c9a", "Sec 1", ""])
    people = _people(
        Lms.CANVAS,
        nasty,
        lambda one: (
            _names(one) | {"ids": {IdKind.USER: one.user, IdKind.LOGIN: one.login}, "sections": ("Sec 1",)}
        ),
    )
    return table(rows, newline="\n").encode(), people


def canvas_users(nasty: Sequence[Nasty]) -> Written:
    """`users.csv` of Canvas's SIS."""
    rows = [["user_id", "login_id", "password", "first_name", "last_name", "email", "status"]]
    rows += [[one.sis, one.login, "", one.first, one.last, one.email, "active"] for one in nasty]
    rows.append(["S999", "gone", "", "Al", "Gone", "", "deleted"])
    people = _people(
        Lms.CANVAS,
        nasty,
        lambda one: _names(one) | {"email": one.email, "ids": {IdKind.SIS: one.sis, IdKind.LOGIN: one.login}},
    )
    return table(rows).encode(), people


def moodle_grades(nasty: Sequence[Nasty], surname: str = "Surname") -> Written:
    """Moodle's export of grades."""
    header = ["First name", surname, "ID number", "Institution", "Department", "Email address"]
    header += ["Assignment: HW 1 (Real)", "Last downloaded from this course"]
    rows = [header]
    rows += [[one.first, one.last, one.sis, "", "", one.email, "-", "1793000000"] for one in nasty]
    people = _people(
        Lms.MOODLE, nasty, lambda one: _names(one) | {"email": one.email, "ids": {IdKind.SIS: one.sis}}
    )
    return php_table(rows).encode(), people


def moodle_upload(nasty: Sequence[Nasty]) -> Written:
    """The file by which administrators of Moodle add users."""
    rows = [["username", "firstname", "lastname", "email", "idnumber"]]
    rows += [[one.login, one.first, one.last, one.email, one.sis] for one in nasty]
    people = _people(
        Lms.MOODLE,
        nasty,
        lambda one: _names(one) | {"email": one.email, "ids": {IdKind.LOGIN: one.login, IdKind.SIS: one.sis}},
    )
    return php_table(rows, ";").encode(), people


def moodle_worksheet(nasty: Sequence[Nasty], word: str = "Participant") -> Written:
    """Moodle's offline grading worksheet; participant numbers are made of user ids."""
    header = ["Identifier", "Full name", "Email address", "Status", "Group", "Grade", "Maximum Grade"]
    header += ["Grade can be changed", "Last modified (submission)"]
    header += ["Last modified (grade)", "Feedback comments"]
    rows = [header]
    for one in nasty:
        shown = [f"{word} {int(one.user) + 5000}", one.full, one.email, "Submitted for grading - "]
        told = [SUBMITTED.strftime("%A, %-d %B %Y, %I:%M %p"), "-", 'He said \\"no\\"']
        rows.append([*shown, ", ".join(one.groups), "", "10.00", "Yes", *told])
    people = _people(
        Lms.MOODLE,
        nasty,
        lambda one: {
            "name": one.full,
            "email": one.email,
            "ids": {IdKind.PARTICIPANT: str(int(one.user) + 5000)},
            "sections": one.groups,
            "submitted_at": SUBMITTED,
        },
    )
    return php_table(rows).encode(), people


def blackboard(nasty: Sequence[Nasty], *, spreadsheet: bool = True) -> Written:
    """Blackboard's gradebook: tabs in UTF-16LE called .xls, or commas in UTF-8."""
    header = ["Last Name", "First Name", "Username", "Student ID", "Last Access", "Availability"]
    rows = [[*header, "HW 1 [Total Pts: 10 Score] |403340"]]
    rows += [[one.last, one.first, one.login, one.sis, "", "Yes", "9.5"] for one in nasty]
    text = table(rows, "\t" if spreadsheet else ",", quote_all=True)
    people = _people(
        Lms.BLACKBOARD,
        nasty,
        lambda one: _names(one) | {"ids": {IdKind.LOGIN: one.login, IdKind.SIS: one.sis}},
    )
    return ("\ufeff" + text).encode("utf-16-le") if spreadsheet else text.encode(), people


def brightspace(nasty: Sequence[Nasty]) -> Written:
    """Brightspace's export of grades: ids behind a #, and a # at the end of each row."""
    header = ["OrgDefinedId", "Username", "Last Name", "First Name", "Email"]
    rows = [[*header, "HW 1 Points Grade <Numeric MaxPoints:10>", "End-of-Line Indicator"]]
    rows += [[f"#{one.sis}", f"#{one.login}", one.last, one.first, one.email, "", "#"] for one in nasty]
    people = _people(
        Lms.BRIGHTSPACE,
        nasty,
        lambda one: _names(one) | {"email": one.email, "ids": {IdKind.SIS: one.sis, IdKind.LOGIN: one.login}},
    )
    return table(rows).encode(), people


def sakai_gradebook(nasty: Sequence[Nasty]) -> Written:
    """Sakai's export of the gradebook: a mark, all in quotes, id and name first."""
    rows = [["Student ID", "Name", "HW 1 [10]", "* HW 1"]]
    rows += [[one.login, one.sortable, "9.5", ""] for one in nasty]
    people = _people(Lms.SAKAI, nasty, lambda one: {"name": one.sortable, "ids": {IdKind.LOGIN: one.login}})
    return ("\ufeff" + table(rows, quote_all=True)).encode(), people


def sakai_grades(nasty: Sequence[Nasty], late: Sequence[str] = ("Late", "On time")) -> Written:
    """`grades.csv` of an assignment of Sakai; every other student is late."""
    header = ["Display ID", "ID", "Last Name", "First Name", "grade", "Submission time", "Late submission"]
    rows = [["HW 1", "SCORE_GRADE_TYPE"], [""], header]
    for number, one in enumerate(nasty):
        rows.append([one.sis, one.login, one.last, one.first, "", "1 Mar 2027", late[number % 2]])
    people = _people(
        Lms.SAKAI,
        nasty,
        lambda one: _names(one) | {"ids": {IdKind.SIS: one.sis, IdKind.LOGIN: one.login}},
    )
    return table(rows, quote_all=True).encode(), people


def gradescope(nasty: Sequence[Nasty]) -> Written:
    """Gradescope's grades of one assignment."""
    rows = [["First Name", "Last Name", "SID", "Email", "Sections", "Total Score", "Max Points", "Status"]]
    rows += [[one.first, one.last, one.sis, one.email, "A", "", "10.0", "Missing"] for one in nasty]
    people = _people(
        Lms.GRADESCOPE,
        nasty,
        lambda one: _names(one) | {"email": one.email, "ids": {IdKind.SIS: one.sis}, "sections": ("A",)},
    )
    return table(rows, newline="\n").encode(), people


def openedx(nasty: Sequence[Nasty]) -> Written:
    """Open edX's grade report."""
    header = ["Student ID", "Email", "Username", "Grade", "Homework 1: HW 1", "Enrollment Track"]
    rows = [[*header, "Verification Status", "Enrollment Status"]]
    rows += [
        [one.user, one.email, one.login, "0.0", "Not Attempted", "audit", "N/A", "enrolled"] for one in nasty
    ]
    rows.append(["9999", "gone@example.edu", "gone", "0.0", "0.0", "audit", "N/A", "unenrolled"])
    people = _people(
        Lms.OPENEDX,
        nasty,
        lambda one: {"email": one.email, "ids": {IdKind.USER: one.user, IdKind.LOGIN: one.login}},
    )
    return table(rows).encode(), people


def nbgrader(nasty: Sequence[Nasty]) -> Written:
    """The list that nbgrader imports."""
    rows = [["id", "last_name", "first_name", "email", "lms_user_id"]]
    rows += [[one.login, one.last, one.first, one.email, one.user] for one in nasty]
    people = _people(
        Lms.NBGRADER,
        nasty,
        lambda one: (
            _names(one)
            | {
                "student": one.login,
                "email": one.email,
                "ids": {IdKind.LOGIN: one.login, IdKind.USER: one.user},
            }
        ),
    )
    return table(rows, newline="\n").encode(), people


WRITERS: dict[str, Callable[[Sequence[Nasty]], Written]] = {
    "Canvas": canvas_gradebook,
    "Canvas, semicolons": lambda nasty: canvas_gradebook(nasty, ";"),
    "Canvas, mark": lambda nasty: canvas_gradebook(nasty, bom=True),
    "Canvas, names apart": canvas_split_names,
    "Canvas, SIS": canvas_users,
    "Moodle, grades": moodle_grades,
    "Moodle, newer grades": lambda nasty: moodle_grades(nasty, "Last name"),
    "Moodle, upload": moodle_upload,
    "Moodle, worksheet": moodle_worksheet,
    "Blackboard, .xls": blackboard,
    "Blackboard, .csv": lambda nasty: blackboard(nasty, spreadsheet=False),
    "Brightspace": brightspace,
    "Sakai, gradebook": sakai_gradebook,
    "Sakai, assignment": sakai_grades,
    "Gradescope": gradescope,
    "Open edX": openedx,
    "nbgrader": nbgrader,
}
"""All of them, by a name for test reports."""


def _names(one: Nasty) -> dict[str, object]:
    return {"first_name": one.first, "last_name": one.last}


def _ids(one: Nasty) -> dict[IdKind, str]:
    return {IdKind.USER: one.user, IdKind.LOGIN: one.login, IdKind.SIS: one.sis}
