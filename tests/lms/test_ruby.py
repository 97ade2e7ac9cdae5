"""What tests take for Canvas's way of reading is Ruby's own, case by case."""

from __future__ import annotations

import random
from decimal import Decimal
from typing import Any

from canvas_courses import ANA, BO, canvas, graded, like
from canvas_importer import SKIPPED_LINES, chosen_separator, rewritten_number
from interpreters import needs_ruby, ruby
from made_grades import made_request
from nasty import KNOWN_NAMES
from ruby_csv import MalformedError, integer_prefix, ruby_line, ruby_rows

from autograder.lms.downloads.canvas import fold_name
from autograder.lms.exports.canvas import export
from autograder.lms.model import PLACES, points_text

PIECES = (
    *("a", '"', ",", ";", "\n", "\r", "\r\n", " ", "\t"),
    *("\ufeff", '""', "b,", '"x"', "é", "\N{NO-BREAK SPACE}"),
)
NUMBERS = (
    *("9,5", "1.234,56", "1,234", "87,5%", "12.", ".5", "-3,25", "9.50", "0", "EX", "-", "1e3", "1 234,5"),
    *("2024.001.17", "12abc", "2024-001", "1_000", " 7", "\N{FULLWIDTH DIGIT ONE}", "٣", "9.5\n", "--1"),
    *("%", ".", ""),
)
PARSE = """cases.map { |text|
  begin; CSV.parse(text, col_sep: %s); rescue CSV::MalformedCSVError; nil; end
}"""


def texts(count: int, *, without: str = "") -> list[str]:
    """Return texts that are mostly no tables, the same each time."""
    chance = random.Random(20)  # noqa: S311 - no secret
    made = ("".join(chance.choices(PIECES, k=chance.randint(0, 12))) for _ in range(count))
    return ["".join(char for char in text if char not in without) for text in made]


def rows_or_none(text: str, separator: str, *, skip: str | None = None) -> Any:
    """Return what the re-implementation makes of a text; None if it is malformed."""
    try:
        return ruby_rows(text, separator, skip=skip)
    except MalformedError:
        return None


@needs_ruby
def test_what_ruby_refuses_is_refused_and_what_it_reads_is_read() -> None:
    """With either separator."""
    cases = texts(3000)
    for separator in ",;":
        rows = [rows_or_none(text, separator) for text in cases]
        assert ruby(PARSE % f"'{separator}'", cases) == rows
        assert 100 < rows.count(None) < len(cases) - 100


@needs_ruby
def test_lines_that_say_nothing_are_skipped_as_ruby_skips_them() -> None:
    """Not inside quotes. With carriage returns this version of Ruby never ends."""
    cases = texts(3000, without="\r")
    skipping = PARSE % "',', skip_lines: /\\A[;, ]*\\z/"

    assert ruby(skipping, cases) == [rows_or_none(text, ",", skip=SKIPPED_LINES) for text in cases]


@needs_ruby
def test_rows_are_written_as_ruby_writes_them() -> None:
    """What Canvas exports is what the tests export."""
    names = [name for name in KNOWN_NAMES if "\0" not in name]
    cases = [[one, other, "9,50"] for one, other in zip(names, reversed(names), strict=True)]
    for separator in ",;":
        script = f"cases.map {{ |row| CSV.generate_line(row, col_sep: '{separator}') }}"
        assert ruby(script, cases) == [ruby_line(row, separator) for row in cases]


@needs_ruby
def test_the_separator_is_chosen_as_ruby_s_reader_makes_it_come_out() -> None:
    """The four outcomes of the notes, what we write, and mixtures."""
    head = "Student,ID,Section,HW\n"
    done = export(made_request([graded(ANA), graded(BO)], like(canvas())))
    cases = [
        head + "    Points Possible,,,10\nPlato,501,Sec 1,9\n",
        head + "    Points Possible,,10\nPlato,501,Sec 1,9\n",
        head + '    Points Possible,,10\n"Ruiz, Ana",501,Sec 1,9\n',
        head.replace(",", ";") + '    Points Possible;;;10\n"Ruiz, Ana";501;Sec 1;9\n',
        done.files[0].data.decode(),
        *texts(2000, without="\r"),
    ]
    script = """cases.map { |text|
      counts = [',', ';'].map { |separator|
        begin
          widths = text.split("\\n", -1).first(3).map { |line| CSV.parse(line, col_sep: separator) }
          widths = widths.flat_map { |rows| rows.map(&:size) }.uniq
          widths.size == 1 ? widths[0] : 0
        rescue CSV::MalformedCSVError
          0
        end
      }
      counts[1] > counts[0] ? ';' : ','
    }"""
    assert ruby(script, cases) == [chosen_separator(text) for text in cases]
    assert [chosen_separator(text) for text in cases[:5]] == [",", ";", ",", ";", ","]


@needs_ruby
def test_numbers_are_rewritten_and_cut_off_as_ruby_does() -> None:
    """``$`` means other things in Ruby than in Python; ``to_i`` takes what a text begins with."""
    script = """cases.map { |cell|
      next cell unless cell =~ /\\A-?[\\d.,]*\\d[\\d.,]*%?\\z/ && cell =~ /[.,]/
      last = cell.rindex(/[.,]/)
      decimals = cell[(last + 1)..]
      cell[0...last].delete('.,') + (decimals =~ /\\A%?\\z/ ? '' : '.') + decimals
    }"""
    assert ruby(script, NUMBERS) == [rewritten_number(cell) for cell in NUMBERS]
    assert [rewritten_number(cell) for cell in NUMBERS[:5]] == ["9.5", "1234.56", "1.234", "87.5%", "12"]
    assert ruby("cases.map(&:to_i)", NUMBERS) == [integer_prefix(cell) for cell in NUMBERS]


@needs_ruby
def test_every_score_that_is_written_is_that_score_to_ruby() -> None:
    """A float that is compared at two decimals is the decimal that was meant."""
    scores = [Decimal(cents).scaleb(-PLACES) for cents in range(0, 30_000, 7)]
    cases = [points_text(score, places=PLACES) for score in scores]

    assert ruby("cases.map { |text| (text.to_f.round(2) * 100).round }", cases) == list(range(0, 30_000, 7))


@needs_ruby
def test_names_are_folded_as_ruby_folds_them() -> None:
    """Canvas names the files of a download by names without what is no part of a word."""
    names = [name for name in KNOWN_NAMES if not name.isspace()]
    folded = ruby(
        "cases.map { |name| name.unicode_normalize(:nfc).downcase.gsub(/[^[[:word:]]]/, '') }", names
    )

    assert folded == [fold_name(name) for name in names]
