"""What tests take for Moodle's way of reading is PHP's own, case by case."""

from __future__ import annotations

import random

from interpreters import needs_php, php
from made_grades import made_request
from moodle_assignments import graded, like
from moodle_worksheet_importer import FRENCH, GERMAN, HANDED_IN, Assignment, Participant
from nasty import KNOWN_NAMES
from php_csv import php_float, php_is_numeric, php_line, php_rows, php_strtotime

from autograder.lms.exports.moodle_cells import html_comment, moodle_bytes, safe_cell, safe_html
from autograder.lms.exports.moodle_worksheet import export

READ = """foreach ($cases as $text) {
  $file = fopen("php://memory", "r+");
  fwrite($file, $text);
  rewind($file);
  $rows = [];
  while (($row = fgetcsv($file, null, "%s")) !== false) { $rows[] = $row; }
  $answers[] = $rows;
}"""
WRITE = """foreach ($cases as $row) {
  $file = fopen("php://memory", "r+");
  fputcsv($file, $row);
  rewind($file);
  $answers[] = stream_get_contents($file);
}"""
PIECES = (
    "a",
    '"',
    ",",
    ";",
    "\n",
    "\t",
    "\\",
    '\\"',
    " ",
    "\N{NO-BREAK SPACE}",
    "é",
    '""',
    "b,",
    '"x"',
    '"\n',
)
WRITTEN = (*PIECES, "\r", "=", "'", "\\\\")


def texts(count: int, pieces: tuple[str, ...], most: int) -> list[str]:
    """Return texts of some pieces, the same each time."""
    chance = random.Random(21)  # noqa: S311 - no secret
    return ["".join(chance.choices(pieces, k=chance.randint(0, most))) for _ in range(count)]


@needs_php
def test_rows_are_read_as_php_reads_them() -> None:
    """A line is put at the end: behind a quote there that opens a cell, PHP reads on in its memory."""
    cases = [f"{text}\nend\n" for text in texts(3000, PIECES, 10)]
    for separator in ",;":
        assert php(READ % separator, cases) == [php_rows(text, separator) for text in cases]


@needs_php
def test_rows_are_written_as_php_writes_them() -> None:
    """Quotes behind a backslash are not doubled: what Moodle gives out is not what it takes."""
    made = texts(3000, WRITTEN, 5)
    cases = [*zip(made[::2], made[1::2], strict=True), *((name, name) for name in KNOWN_NAMES)]

    assert php(WRITE, cases) == [php_line(row) for row in cases]


@needs_php
def test_numbers_and_dates_are_php_s() -> None:
    """A number is what a text begins with, or 0; dates of other languages are none."""
    pieces = (*"0123456789.,+-eE \t\n", "a", "\N{NO-BREAK SPACE}", "_", "x")
    cases = [*texts(3000, pieces, 5), "-", "abc", "7,5", "7.5", "1e2", "nan", "0x1A", ""]
    script = "foreach ($cases as $text) { $answers[] = [(float)$text, is_numeric($text)]; }"
    assert php(script, cases) == [[php_float(text), php_is_numeric(text)] for text in cases]

    who = Participant(number=1, name="", modified=HANDED_IN)
    sites = [Assignment(participants=[who], language=language) for language in (GERMAN, FRENCH)]
    english = like(Assignment(participants=[who])).rows[1][-2]
    dates = ["-", "", english, *(like(site).rows[1][-2] for site in sites), "Monday, 1 March 2027, 12:05 AM"]
    script = """date_default_timezone_set("UTC");
    foreach ($cases as $text) { $time = strtotime($text); $answers[] = $time === false ? null : $time; }"""
    assert php(script, dates) == [php_strtotime(text) for text in dates]
    assert [php_strtotime(text) for text in dates[:5]] == [None, None, HANDED_IN, None, None]


@needs_php
def test_php_reads_what_we_write_cell_by_cell() -> None:
    """Whatever people are called and whatever is said of their work."""
    made = texts(2000, (*PIECES, "\\\\"), 6)
    tables = [
        [["Name", "Comment", "Kept", "End"], [safe_cell(name), html_comment(text), safe_html(name), "end"]]
        for name, text in zip(made[::2], made[1::2], strict=True)
    ]

    assert php(READ % ",", [moodle_bytes(table).decode() for table in tables]) == tables


@needs_php
def test_php_reads_a_whole_worksheet_as_the_tests_do() -> None:
    """With all the names there are."""
    people = [Participant(number=at, name=name, text=f"{name}\\") for at, name in enumerate(KNOWN_NAMES, 1)]
    grades = [graded(who.number, comment=who.text) for who in people]
    assignment = Assignment(participants=people, with_text=True)
    done = export(made_request(grades, like(assignment), comments=True))

    text = done.files[0].data.decode().replace("\r\n", "\n").replace("\r", "\n")
    (rows,) = php(READ % ",", [text])
    assert rows == php_rows(text)
    assert len(rows) == len(people) + 1
    assert len(assignment.accepts(done.files[0].data).grades) == len(people)
