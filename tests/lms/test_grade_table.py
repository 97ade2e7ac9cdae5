"""Grade tables: every name survives, nothing runs, and no submission is not a zero."""

from __future__ import annotations

import csv
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.checks.report import number
from autograder.lms.exports.grade_table import table_row, table_text, write_tables
from autograder.lms.sheets import FORMULA, harmless
from autograder.scores import NOT_YET, CellScore, StudentScore

if TYPE_CHECKING:
    from pathlib import Path

CELLS = (
    CellScore(notebook="one", grade_id="test_a", max_score=Decimal(2), auto_score=Decimal("1.5")),
    CellScore(notebook="one", grade_id="essay", max_score=Decimal(3), needs_manual_grade=True, manual=True),
)


def scored(student: str = "ana", *, submitted: bool = True, **details: str) -> StudentScore:
    """Return a student with a test and an answer that nobody has graded yet."""
    names = {"first_name": "", "last_name": "", "email": "", "lms_user_id": ""} | details
    return StudentScore(
        student=student,
        submitted=submitted,
        timestamp=datetime(2026, 11, 1, 12) if submitted else None,  # noqa: DTZ001 - nbgrader's are naive
        seconds_late=90.0 if submitted else 0.0,
        penalty=Decimal("0.5") if submitted else Decimal(0),
        cells=CELLS
        if submitted
        else tuple(
            CellScore(notebook="one", grade_id=one.grade_id, max_score=one.max_score) for one in CELLS
        ),
        **names,
    )


def write_table(path: Path, scores: list[StudentScore], reasons: dict[str, str] | None = None) -> None:
    """Write the table of one assignment."""
    known = reasons or {}
    text = table_text([table_row(score, known.get(score.student, "")) for score in scores])
    path.write_bytes(text.encode())


def read(path: Path) -> list[dict[str, str]]:
    """Read a table back as any program would."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_holds_every_cell_and_the_sums(tmp_path: Path) -> None:
    """The columns that nbgrader's own export lacks."""
    write_table(tmp_path / "grades.csv", [scored()])

    assert read(tmp_path / "grades.csv") == [
        {
            "student_id": "ana",
            "last_name": "",
            "first_name": "",
            "email": "",
            "lms_user_id": "",
            "submitted": "yes",
            "timestamp": "2026-11-01 12:00:00 UTC",
            "state": "waits",
            "reason": "",
            "one.test_a": "1.5",
            "one.essay": "",
            "raw_score": "1.5",
            "late_submission_penalty": "0.5",
            "score": "1",
            "max_score": "5",
            "seconds_late": "90",
            "needs_manual_grade": "yes",
        }
    ]


def test_nothing_handed_in_is_empty_and_not_zero(tmp_path: Path) -> None:
    """An LMS would enter the zero."""
    write_table(tmp_path / "grades.csv", [scored(submitted=False)])

    (row,) = read(tmp_path / "grades.csv")
    assert (row["submitted"], row["state"], row["reason"]) == ("no", "missing", "")
    assert row["max_score"] == "5"
    for column in ("one.test_a", "one.essay", "score", "raw_score", "timestamp", "needs_manual_grade"):
        assert row[column] == ""


def test_what_could_not_be_graded_is_empty_and_says_why(tmp_path: Path) -> None:
    """Neither a zero nor a part of a total may reach an LMS; what there is stays beside it."""
    lost = CellScore(notebook="two", grade_id="test_b", max_score=Decimal(1), needs_manual_grade=True)
    part = replace(scored("ben"), cells=(*CELLS, lost))
    write_table(
        tmp_path / "grades.csv",
        [part, scored("cleo", submitted=False), scored("dov"), scored("eva", submitted=False)],
        {"cleo": "=it breaks off\nat line 3", "dov": "no memory", "eva": NOT_YET},
    )

    rows = read(tmp_path / "grades.csv")
    assert [(row["student_id"], row["submitted"], row["state"], row["reason"]) for row in rows] == [
        ("ben", "yes", "could not be graded", ""),
        ("cleo", "yes", "could not be graded", "'=it breaks off at line 3"),
        ("dov", "yes", "could not be graded", "no memory"),
        ("eva", "yes", "not graded yet", NOT_YET),
    ]
    assert [row["score"] for row in rows] == ["", "", "", ""]
    assert [row["one.test_a"] for row in rows] == ["1.5", "", "1.5", ""]
    assert [row["two.test_b"] for row in rows] == ["", "", "", ""]


@given(
    submitted=st.booleans(),
    reason=st.sampled_from(["", NOT_YET, "broken"]),
    cells=st.lists(
        st.builds(
            CellScore,
            notebook=st.just("one"),
            grade_id=st.sampled_from("abc"),
            max_score=st.just(Decimal(2)),
            auto_score=st.none() | st.just(Decimal(1)),
            manual_score=st.none() | st.just(Decimal(2)),
            needs_manual_grade=st.booleans(),
            manual=st.booleans(),
        )
    ),
)
def test_a_score_stands_there_only_if_all_that_was_handed_in_was_graded(
    submitted: bool,  # noqa: FBT001 - drawn
    reason: str,
    cells: list[CellScore],
) -> None:
    """Whatever the gradebook holds, one of five states is told, and three of them have no score."""
    row = table_row(replace(scored(submitted=submitted), cells=tuple(cells)), reason)

    assert row["state"] in {"graded", "waits", "could not be graded", "not graded yet", "missing"}
    any_score = any(cell.has_score for cell in cells)
    assert bool(row["score"]) is (row["state"] in {"graded", "waits"} and any_score)
    assert bool(row["raw_score"]) is (submitted and any_score)
    assert (row["submitted"] == "no") is (row["state"] == "missing")
    if row["state"] == "graded":
        assert all(cell.has_score for cell in cells)


names = st.text(
    st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\r\t,;\"'=+-@"), max_size=12
)


@settings(deadline=None)
@given(name=names)
def test_every_name_comes_back_and_none_is_a_formula(name: str, tmp_path_factory: object) -> None:
    """Commas, quotes, line ends and formulas are in real rosters."""
    path = tmp_path_factory.getbasetemp() / "names.csv"  # type: ignore[attr-defined]

    write_table(path, [scored(last_name=name), scored("next")])

    rows = read(path)
    assert [row["student_id"] for row in rows] == ["ana", "next"]
    assert rows[0]["last_name"] in {name, f"'{name}"}
    assert not rows[0]["last_name"].startswith(FORMULA)


def test_a_formula_is_made_text() -> None:
    """A spreadsheet runs what starts with one of these signs, blanks before it or not."""
    for text in ("=1+1", "+1", "-1", "@x", "\t=1", " =cmd()"):
        assert harmless(text) == f"'{text}"
    for text in ("ana", "o'neil", "007", "a=b", ""):
        assert harmless(text) == text


def test_several_assignments_share_a_table(tmp_path: Path) -> None:
    """A cell of another assignment is empty."""
    other = StudentScore(
        student="ana",
        first_name="",
        last_name="",
        email="",
        lms_user_id="",
        submitted=True,
        timestamp=None,
        seconds_late=0.0,
        penalty=Decimal(0),
        cells=(CellScore(notebook="two", grade_id="test_b", max_score=Decimal(1), auto_score=Decimal(1)),),
    )

    write_tables(tmp_path / "grades.csv", {"first": [scored()], "second": [other]})

    rows = read(tmp_path / "grades.csv")
    assert [(row["assignment"], row["one.test_a"], row["two.test_b"]) for row in rows] == [
        ("first", "1.5", ""),
        ("second", "", "1"),
    ]


def test_an_empty_class_has_a_header(tmp_path: Path) -> None:
    """A program that reads the file finds its columns."""
    write_table(tmp_path / "grades.csv", [])

    assert (tmp_path / "grades.csv").read_text().startswith("student_id,")


def test_numbers_have_no_needless_zeros_and_no_exponent() -> None:
    """Every LMS reads them."""
    assert [number(Decimal(text)) for text in ("1.50", "10", "10.0", "0", "1E+2", "0.333")] == [
        "1.5",
        "10",
        "10",
        "0",
        "100",
        "0.333",
    ]


def test_the_score_never_falls_below_zero() -> None:
    """As in nbgrader: a penalty takes no more than there is."""
    late = scored()
    row = table_row(late)

    assert Decimal(row["score"]) == Decimal(row["raw_score"]) - Decimal(row["late_submission_penalty"])
