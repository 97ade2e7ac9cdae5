"""Tables of an LMS: nothing is lost on the way in, nothing is misread on the way out."""

from __future__ import annotations

import csv
import io
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.errors import CourseError, OperatorError
from autograder.lms.sheets import MAX_BYTES, Dialect, parse_sheet, read_sheet, sheet_bytes, write_whole

if TYPE_CHECKING:
    from pathlib import Path

HEADER = ("Student", "ID", "Grüße")
TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
MARKED = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.tuples(TEXT, TEXT, TEXT), max_size=5),
    dialect=st.builds(
        Dialect,
        delimiter=st.sampled_from(",;\t"),
        newline=st.sampled_from(["\n", "\r\n"]),
        quote_all=st.booleans(),
        encoding=st.sampled_from(MARKED),
        bom=st.just(value=True),
    )
    | st.just(Dialect()),
)
def test_what_is_written_is_read_back(rows: list[tuple[str, ...]], dialect: Dialect) -> None:
    """Ids keep their zeros, cells their quotes and line ends, and the way of writing is known."""
    sheet = parse_sheet(sheet_bytes([HEADER, *rows], dialect), "grades.csv")

    assert sheet.rows == (HEADER, *rows)
    as_written = (dialect.delimiter, dialect.encoding, dialect.bom)
    assert (sheet.delimiter, sheet.encoding, sheet.bom) == as_written


def test_an_old_spreadsheet_is_read_as_it_was_meant() -> None:
    """Excel writes Windows-1252 where nobody asks for another encoding."""
    sheet = parse_sheet("Name;ID\r\nMüller’s;007\r\n".encode("cp1252"), "old.csv")

    assert sheet.rows == (("Name", "ID"), ("Müller’s", "007"))
    assert (sheet.encoding, sheet.newline, sheet.delimiter) == ("cp1252", "\r\n", ";")


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "is empty"),
        (b"\n\r\n", "is empty"),
        (b"PK\x03\x04" + b"-" * 26 + b"[Content_Types].xml and so on", "is a spreadsheet of Excel"),
        (b"PK\x03\x04" + b"-" * 26 + b"mimetypeapplication/vnd.oasis", "is a spreadsheet of Excel"),
        (b"PK\x03\x04" + b"-" * 26 + b"ruizana_501_77_hw1.ipynb and so on", "is a zip archive"),
        (b"PK\x03\x04 and so on", "is a zip archive"),
        (b"\xd0\xcf\x11\xe0 and so on", "is a spreadsheet of Excel"),
        (b"a,b\n\0,1\n", "is no text"),
        (b"\xef\xbb\xbfa,b\n\xff,1\n", "(line 2)"),
        (b"a,b\nc,\x81\n", "is neither UTF-8 nor Windows-1252 (line 2)"),
        (b'a,b\n1,2\n"c,3\n4,5\n', "line 3"),
        (b'a,b\n"c"d,2\n', "line 2"),
    ],
)
def test_what_is_no_table_is_told_with_its_line(data: bytes, told: str) -> None:
    """One line that says where, what and what to do."""
    with pytest.raises(CourseError) as caught:
        parse_sheet(data, "grades.csv")

    assert told in str(caught.value)
    assert str(caught.value).startswith("grades.csv")
    assert "\n" not in str(caught.value)


def test_a_long_text_is_no_damage() -> None:
    """Moodle's worksheet has a column of what students have typed, as much as they like."""
    text = "a, b\n" * 100_000
    sheet = parse_sheet(f'Identifier,"Online text",Grade\nParticipant 1,"{text}",\n'.encode(), "work.csv")

    assert sheet.rows[1][1] == text


def test_a_table_without_end_is_not_read(tmp_path: Path) -> None:
    """A sparse file says that it is huge; no more of it is read than a table may have."""
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES * 40)

    with pytest.raises(CourseError, match="is larger than 64 MiB"):
        read_sheet(path)


def test_what_cannot_be_read_says_so(tmp_path: Path) -> None:
    """A wrong name and a folder are the instructor's to mend."""
    with pytest.raises(CourseError, match="does not exist"):
        read_sheet(tmp_path / "none.csv")
    with pytest.raises(CourseError, match="is a folder"):
        read_sheet(tmp_path)


def test_a_place_is_told_by_line_column_and_header() -> None:
    """A cell may span lines, so that a row's number is not its line."""
    sheet = parse_sheet(b'Name,Points\n"Ruiz,\nAna",9\nBo,many\n', "grades.csv")

    error = sheet.error(2, 1, "'many' is no number", "Write one.")

    assert str(error) == "grades.csv, line 4, column 2 (Points): 'many' is no number. Write one."


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [
        ("Student;ID;One, two, three, four\nRuiz, Ana;501;9,50\nLi;502;\n", ";"),
        ("Student,ID,One; two; three; four; five\nAna,501,9\n", ","),
        ("Student\tNote\nAna\tfirst, second, third\nLi\t\n", "\t"),
        ("Course: maths, physics\n", ","),
        ("\n\nStudent;ID\n", ";"),
        ("Student\nAna;501\n", ","),
    ],
)
def test_titles_and_names_do_not_decide_what_separates_cells(text: str, delimiter: str) -> None:
    """A title may hold more commas than the file has columns; the rows below tell."""
    assert parse_sheet(text.encode(), "theirs.csv").delimiter == delimiter


def test_a_column_is_found_by_any_of_its_names_and_never_guessed() -> None:
    """Two of one name are an error with both places."""
    sheet = parse_sheet(b"Surname, e-mail ,ID,id\nRuiz,a@example.edu,1,2\n", "people.csv")

    assert sheet.column("Last name", "Surname") == 0
    assert sheet.column("E-Mail") == 1
    assert sheet.column("Group") is None
    assert [sheet.cell(1, at) for at in (0, 3, 9, None)] == ["Ruiz", "2", "", ""]
    with pytest.raises(CourseError, match="columns 3 and 4 are both called 'ID'"):
        sheet.column("ID")


def test_other_readers_agree_on_what_is_written() -> None:
    """The standard library's own reader is the judge."""
    rows = [("a", 'say "no"', "two\r\nlines"), ("=1+1", "", " ")]

    text = sheet_bytes(rows, Dialect(newline="\r\n")).decode()

    assert [tuple(row) for row in csv.reader(io.StringIO(text, newline=""))] == rows


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where writing fails, the good file is still there and nothing lies beside it."""
    path = tmp_path / "exports" / "grades.csv"
    write_whole(path, b"first")
    assert path.read_bytes() == b"first"

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(type(path), "replace", full)
    with pytest.raises(OperatorError, match="No space left on device"):
        write_whole(path, b"second")

    assert [file.name for file in path.parent.iterdir()] == ["grades.csv"]
    assert path.read_bytes() == b"first"


@pytest.mark.parametrize("apostrophe", "'\u2018\u2019\u02bc`")
def test_a_header_is_found_however_its_apostrophe_and_accents_are_written(apostrophe: str) -> None:
    """Moodle's French words have come with both."""
    header = f"Nume\u0301ro\N{NO-BREAK SPACE}d{apostrophe}identification"
    sheet = parse_sheet(f"Nom,{header}\nRuiz,S1\n".encode(), "grades.csv")

    assert sheet.column("Num\u00e9ro d'identification") == 1
    assert sheet.column("Numero d'identification") is None
