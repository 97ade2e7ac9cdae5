"""Rosters: whatever an LMS writes of people is read letter for letter, or refused with the place."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
from contextlib import suppress
from dataclasses import replace
from itertools import permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nasty_people import ANA, NASTY, TWINS, Nasty, classes
from written_rosters import (
    WRITERS,
    blackboard,
    brightspace,
    canvas_gradebook,
    moodle_worksheet,
    nbgrader,
    php_table,
    sakai_grades,
    table,
)

from autograder.errors import CourseError
from autograder.lms.model import IdKind, Lms
from autograder.lms.rosters import read_roster, roster_of
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from autograder.lms.model import Person, Roster


def read(data: bytes | str, lms: Lms | None = None) -> Roster:
    """Read a roster from what would be in a file."""
    sheet = parse_sheet(data.encode() if isinstance(data, str) else data, "theirs.csv")
    return roster_of(sheet, lms)


def without_lines(people: Sequence[Person]) -> list[Person]:
    """Return people without where they stand in a file."""
    return [replace(one, line=0) for one in people]


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_everybody_is_read_as_written(name: str, tmp_path: Path) -> None:
    """Commas, quotes, formulas, zeros, long ids and every script come back letter for letter."""
    data, people = WRITERS[name]([*NASTY, *TWINS])
    (tmp_path / "theirs.csv").write_bytes(data)

    roster = read_roster(tmp_path / "theirs.csv")

    assert without_lines(roster.people) == people
    assert roster.lms == people[0].lms


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nasty=classes(), name=st.sampled_from(sorted(WRITERS)))
def test_any_class_is_read_as_written(nasty: tuple[Nasty, ...], name: str) -> None:
    """What an LMS can write is read, whoever the people are; or refused, if it can be read in two ways."""
    data, people = WRITERS[name](nasty)

    doubtful = any(one.last.endswith("\\") or one.first.endswith("\\") for one in nasty)
    if doubtful and name == "Sakai, assignment":
        # Its lines of titles leave nothing by which two readings could be told apart.
        with suppress(CourseError):
            assert without_lines(read(data).people) == people
        return
    assert without_lines(read(data).people) == people


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_a_line_leads_to_the_row(name: str) -> None:
    """Whoever is told of line 7 finds the person there."""
    data, _ = WRITERS[name](NASTY[:3])
    text = data.decode("utf-16" if data.startswith(b"\xff\xfe") else "utf-8-sig")

    for person, one in zip(read(data).people, NASTY, strict=False):
        line = text.splitlines()[person.line - 1]
        assert one.login in line or one.sis in line


def test_rows_that_are_nobodys_are_told_where_somebody_might_miss_them() -> None:
    """The row of points is nobody; the test student looks like somebody."""
    roster = read(canvas_gradebook([ANA])[0])

    assert roster.notes == ("Line 5: Canvas's test student is left out.",)


@pytest.mark.parametrize(
    ("cell", "sections"),
    [
        ("Sec 1", ("Sec 1",)),
        ("Sec 1 and Sec 2", ("Sec 1", "Sec 2")),
        ("Sec 1, Sec 2, and Sec 3", ("Sec 1", "Sec 2", "Sec 3")),
        ("Law and Order", ("Law and Order",)),
        ("Sec 1 and Sec 9", ("Sec 1 and Sec 9",)),
    ],
)
def test_sections_of_canvas_are_split_where_the_file_proves_them(
    cell: str, sections: tuple[str, ...]
) -> None:
    """A section may itself be called "Law and Order"."""
    known = [["A, B", str(number), f"Sec {number}"] for number in (1, 2, 3)]
    rows = [["Student", "ID", "Section"], *known, ["C, D", "4", cell]]

    assert read(table(rows)).people[-1].sections == sections


@pytest.mark.parametrize(
    ("identifiers", "name"),
    [
        ("Participant", "Full name"),
        ("Teilnehmer/in", "Vollständiger Name"),
        ("Участник", "Полное имя"),
        ("参加者", "Nombre completo"),
    ],
)
def test_a_worksheet_in_any_language_is_known_by_its_identifiers(identifiers: str, name: str) -> None:
    """Numbers count although nobody here reads the headers."""
    first = "Identifier" if identifiers == "Participant" else "Kennung"
    rows = [[first, name, "Grade", "X"], [f"{identifiers} 5501", "Ana Ruiz", "", ""]]

    (person,) = read(php_table(rows)).people

    assert person.ids == {IdKind.PARTICIPANT: "5501"}
    assert person.name in {"Ana Ruiz", ""}


def test_a_worksheet_without_names_says_so() -> None:
    """Blind marking leaves numbers alone."""
    rows = [["Identifier", "Status", "Grade", "Last modified (grade)"], ["Participant 7", "-", "", "-"]]

    roster = read(php_table(rows))

    assert [person.ids for person in roster.people] == [{IdKind.PARTICIPANT: "7"}]
    assert "known by their number alone" in roster.notes[0]


def test_ids_that_end_like_participants_stay_whole() -> None:
    """Only the column of identifiers is cut down to its number."""
    data, _ = moodle_worksheet([ANA])
    text = data.decode().replace("Email address", "ID number").replace(ANA.email, "abc 123")

    assert read(text).people[0].ids == {IdKind.PARTICIPANT: "5501", IdKind.SIS: "abc 123"}


def test_a_time_in_another_language_is_told() -> None:
    """Nobody guesses at months; the message shows the first."""
    data, _ = moodle_worksheet([ANA, NASTY[1]])

    roster = read(data.replace(b"Monday, 1 March 2027", b"lunes, 1 de marzo de 2027"))

    assert [person.submitted_at for person in roster.people] == [None, None]
    assert "Line 2: 'lunes, 1 de marzo de 2027, 10:05 AM' is no time in English" in roster.notes[0]


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize(
    "headers",
    [
        ("id", "first_name", "surname"),
        ("Student ID", "Given Name", "Family Name"),
        ("Benutzername", "Vorname", "Name"),
        ("Nom d'utilisateur", "Prénom", "Nom"),
        ("Nombre de usuario", "Nombre", "Apellido(s)"),
        ("Nome utente", "Nome", "Cognome"),
    ],
)
def test_a_plain_list_may_have_its_columns_in_any_order(headers: Sequence[str], order: Sequence[int]) -> None:
    """Beside "Vorname" a "Name" is the family name, beside "Apellidos" a "Nombre" the first."""
    rows = [headers, ("007", "Ana", "Ruiz")]

    (person,) = read(table([[row[at] for at in order] for row in rows], ";")).people

    assert (person.ids[IdKind.LOGIN], person.first_name, person.last_name) == ("007", "Ana", "Ruiz")


def test_a_plain_list_of_whole_names_is_read() -> None:
    """An id, a name and an address are enough; spaces after commas are the typist's."""
    (person,) = read("email, name, id\nana@example.edu, Ana Ruiz, 007\n").people

    assert (person.student, person.name, person.email) == ("007", "Ana Ruiz", "ana@example.edu")
    assert person.ids == {IdKind.LOGIN: "007"}


def test_a_repeated_row_is_one_person_and_is_told() -> None:
    """The same line twice is a slip of a spreadsheet."""
    data, people = nbgrader([*NASTY[:3], NASTY[1], NASTY[1]])

    roster = read(data)

    assert without_lines(roster.people) == people[:3]
    assert roster.notes == ("Lines that repeat somebody above, left out: 5, 6.",)


@pytest.mark.parametrize(
    "name", ["Canvas", "Moodle, worksheet", "Blackboard, .xls", "Brightspace", "nbgrader"]
)
def test_two_people_with_one_id_are_refused_with_both_lines(name: str) -> None:
    """Which of them it is cannot be told; the message names both rows and the column."""
    other = replace(NASTY[1], login=ANA.login, sis=ANA.sis, user=ANA.user)

    with pytest.raises(CourseError) as caught:
        read(WRITERS[name]([ANA, other])[0])

    lines = [person.line for person in read(WRITERS[name]([ANA, NASTY[1]])[0]).people]
    assert f"line {lines[1]}, column " in caught.value.where
    assert f"of line {lines[0]} (" in caught.value.what


def test_equal_names_without_any_id_stay_two_people() -> None:
    """Two students may be called the same; only an id says that a row is repeated."""
    roster = read("First name,Last name,Email address\nKim,Park,\nKim,Park,\n")

    assert len(roster.people) == 2


def test_addresses_that_differ_by_case_are_two_people() -> None:
    """Nothing is folded in an id."""
    data, people = nbgrader([ANA, replace(NASTY[1], login="ARUIZ")])

    assert without_lines(read(data).people) == people


@pytest.mark.parametrize(
    ("data", "place", "told"),
    [
        ("Student,ID,Section\nRuiz, Ana,501,S1\n", "line 2", "4 cells, but the header has 3"),
        ("id,first_name\n1.23457E+15,Ana\n", "line 2, column 1 (id)", "a spreadsheet has rounded"),
        ("id,email\nana,\n bo,b@x\n ana ,other\n", "line 4, column 1 (id)", "has the username of line 2"),
        (
            "Identifier,Grade,Status\nParticipant x,,\n",
            "line 2, column 1 (Identifier)",
            "is not the identifier",
        ),
        ("id,ID,email\n1,2,3\n", "line 1, column 2", "are both called 'id'"),
        ("id,first_name\n,\n", "line 1", "has nobody in it"),
        ("colour,shape\nred,round\n", "line 1", "its headers are 'colour', 'shape'"),
        ("name\nAna\n", "line 1", "its headers are 'name'"),
    ],
)
def test_bad_input_is_one_line_with_its_place(data: str, place: str, told: str) -> None:
    """File, line and column, what is wrong and what to do."""
    with pytest.raises(CourseError) as caught:
        read(data)

    assert caught.value.where.startswith(f"theirs.csv, {place}")
    assert told in caught.value.what
    assert caught.value.remedy.endswith(".")
    assert "\n" not in str(caught.value)


def test_shifted_cells_of_brightspace_are_refused() -> None:
    """The last column says whether the row ends where it should."""
    text = brightspace([NASTY[7]])[0].decode().replace('"Tan, PhD"', "Tan, PhD").replace(",#\r\n", "\r\n")

    with pytest.raises(CourseError, match="does not end where it should"):
        read(text)


def test_the_error_says_which_headers_are_expected() -> None:
    """Whoever names the LMS is told what its file has."""
    with pytest.raises(CourseError, match="Expected are OrgDefinedId, Username"):
        read(blackboard([ANA])[0].replace(b"U\0s\0e\0r\0", b"X\0s\0e\0r\0"), Lms.BRIGHTSPACE)


def test_a_table_of_two_lms_is_refused_unless_one_is_named() -> None:
    """A guess would put ids into the wrong place."""
    rows = [["OrgDefinedId", "SID", "Email", "Name"], ["#1", "2", "a@example.edu", "Ana"]]

    with pytest.raises(CourseError, match="could be a table of Brightspace or Gradescope"):
        read(table(rows))
    assert read(table(rows), Lms.BRIGHTSPACE).people[0].ids == {IdKind.SIS: "1"}
    assert read(table(rows), Lms.GRADESCOPE).people[0].ids == {IdKind.SIS: "2"}


def test_the_titles_above_sakais_table_are_no_people() -> None:
    """The header is the first row that is wide, in any language."""
    data, people = sakai_grades(NASTY)
    text = data.decode().replace("Display ID", "Anzeige").replace("Last Name", "Nom").replace("ID", "X")

    assert without_lines(read(text).people) == people


def test_what_is_left_out_needs_no_people() -> None:
    """Learners who have left, deleted users and staff are no students."""
    staff = "Name,SID,Email,Role\nAna,1,a@example.edu,Student\nBo,2,b@example.edu,Instructor\n"

    roster = read(staff)

    assert [person.name for person in roster.people] == ["Ana"]
    assert roster.notes == ("Line 3: Instructor is no student's role.",)


def test_a_students_text_cannot_move_rows() -> None:
    """A text that makes of one row two, if quotes are read in another way, is refused with its line."""
    text = 'x\\",\nParticipant 9,Eve Bo,z'
    rows = [["Identifier", "Full name", "Online text", "Grade"], ["Participant 1", "Ana Ruiz", text, ""]]
    naive = list(csv.reader(io.StringIO(php_table(rows), newline=""), strict=True))

    assert naive[2] == ["Participant 9", "Eve Bo", 'z"', ""]
    with pytest.raises(CourseError, match=r"line 2: quotes after a backslash .* can be read in two ways"):
        read(php_table(rows))


def test_a_text_full_of_doubts_is_read_or_refused_at_once() -> None:
    """Each quote after a backslash doubles the ways to read a file; they are not all tried."""
    doubts = '"' + '\\",' * 200 + '"'
    rows = f"id,name\n1,{doubts}\n" + "".join(f"{one},{doubts}\n" for one in (2, 3, 4))

    assert read(rows).people[3].name == '\\",' * 200
    with pytest.raises(CourseError, match="line 2: has more than 1000"):
        read('id,name\n1,"' + '\\",' * 5000 + '"\n')


CELLS = st.text(st.sampled_from('ab\\", \n;'), max_size=6)


@pytest.mark.skipif(shutil.which("php") is None, reason="PHP is not installed")
@settings(max_examples=15, deadline=None)
@given(
    tables=st.lists(st.lists(st.lists(CELLS, min_size=3, max_size=3), max_size=3), min_size=40, max_size=60)
)
def test_what_php_writes_is_read_or_refused(tables: list[list[list[str]]]) -> None:
    """Backslashes and quotes of Moodle's own writer come back as they were, never otherwise."""
    tables = [[["Identifier", "Grade", "Status"], *rows] for rows in tables]
    program = (
        "foreach (json_decode(stream_get_contents(STDIN)) as $rows) { $f = fopen('php://memory', 'r+');"
        "foreach ($rows as $row) { fputcsv($f, $row, ',', '\"', '\\\\'); }"
        "rewind($f); $all[] = stream_get_contents($f); } echo json_encode($all);"
    )
    done = subprocess.run(
        ["php", "-n", "-r", program], input=json.dumps(tables), capture_output=True, text=True, check=True
    )

    refused = 0
    for text, rows in zip(json.loads(done.stdout), tables, strict=True):
        assert text == php_table(rows)
        try:
            assert parse_sheet(text.encode(), "theirs.csv").rows == tuple(tuple(row) for row in rows)
        except CourseError:
            refused += 1
    assert refused < len(tables) / 4
