"""The formats for people and programs of one's own: the CSV table and the JSON document."""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from export_scenes import points_of, scenes
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_request

from autograder.lms.exports import csv_table, json_text
from autograder.lms.exports.grade_table import table_row
from autograder.lms.exports.model import Action
from autograder.lms.grades import Beside, grades_of
from autograder.lms.model import GradeState, Lms, points_text
from autograder.lms.sheets import FORMULA
from autograder.scores import NOT_YET, CellScore, StudentScore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from export_scenes import Scene

    from autograder.lms.exports.model import Export, Request

SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs" / "integrator" / "grades.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)
FREE = ("student_id", "last_name", "first_name", "email", "lms_user_id", "reason", "comment")


def table(exported: Export) -> list[dict[str, str]]:
    """Return the rows of the table, as any program reads them."""
    (file,) = exported.files
    return list(csv.DictReader(io.StringIO(file.data.decode("utf-8"), newline="")))


def document(exported: Export) -> Any:
    """Return the document, valid by its schema."""
    (file,) = exported.files
    found = json.loads(file.data)
    VALIDATOR.validate(found)
    return found


def score(
    *, cells: tuple[CellScore, ...], submitted: bool = True, student: str = "ana", penalty: str = "0"
) -> StudentScore:
    """Return what the gradebook holds of a student."""
    return StudentScore(
        student=student,
        first_name="=Ana",
        last_name="Ruiz",
        email="",
        lms_user_id="",
        submitted=submitted,
        timestamp=datetime(2026, 11, 1, 12) if submitted else None,  # noqa: DTZ001 - nbgrader's are naive
        seconds_late=90.0 if submitted else 0.0,
        penalty=Decimal(penalty),
        cells=cells,
    )


AUTO = CellScore(notebook="one", grade_id="test_a", max_score=Decimal(2), auto_score=Decimal("1.5"))
ESSAY = CellScore(
    notebook="one", grade_id="essay", max_score=Decimal(3), needs_manual_grade=True, manual=True
)
READ = replace(ESSAY, manual_score=Decimal(2), needs_manual_grade=False)
OPEN = replace(AUTO, grade_id="test_b", auto_score=None, needs_manual_grade=True)
NOTHING = tuple(
    replace(cell, auto_score=None, manual_score=None, needs_manual_grade=False) for cell in (AUTO, READ)
)


@pytest.mark.parametrize(
    ("known", "reason", "state"),
    [
        (score(cells=(AUTO, READ), penalty="0.5"), "", "graded"),
        (score(cells=(AUTO, ESSAY)), "", "waits"),
        (score(cells=(AUTO, READ, OPEN)), "", "could not be graded"),
        (score(cells=(AUTO, READ)), "it breaks off", "could not be graded"),
        (score(cells=NOTHING, submitted=False), "it breaks off", "could not be graded"),
        (score(cells=NOTHING, submitted=False), NOT_YET, "not graded yet"),
        (score(cells=NOTHING, submitted=False), "", "missing"),
    ],
)
@pytest.mark.parametrize("unfinished", [False, True])
def test_a_grade_has_the_row_that_its_scores_have(
    known: StudentScore, reason: str, state: str, *, unfinished: bool
) -> None:
    """`export csv` is the table of always, whether it is made of grades or of the gradebook's records."""
    beside = Beside(reasons={"ana": reason} if reason else {}, unfinished=unfinished)

    exported = csv_table.export(made_request(grades_of([known], beside)))
    (row,) = table(exported)

    assert row == table_row(known, reason)
    assert row["state"] == state
    (change,) = exported.changes
    assert (change.after, change.action is Action.APPLIED) == (row["score"], bool(row["score"]))


def test_an_excused_student_has_no_score_and_is_not_missing() -> None:
    """The one state that the gradebook's records do not have."""
    grades = grades_of(
        [score(cells=(AUTO, READ)), score(cells=NOTHING, student="ben")], Beside(excused=("ana", "ben"))
    )

    rows = table(csv_table.export(made_request(grades, missing_as_zero=True)))

    assert [(row["state"], row["score"], row["raw_score"], row["max_score"]) for row in rows] == [
        ("excused", "", "", "5"),
        ("excused", "", "", "5"),
    ]


@settings(max_examples=30)
@given(scene=scenes(Lms.CANVAS, st.sampled_from(["HW 1", "HW 2"])), comments=st.booleans())
def test_only_graded_work_has_a_number(*, scene: Scene, comments: bool) -> None:
    """In both formats, for the whole and for each notebook; and no cell is run by a spreadsheet."""
    request = made_request(scene.grades, **dict(scene.asked) | {"comments": comments})
    rows, found = table(csv_table.export(request)), document(json_text.export(request))

    assert [row["student_id"].removeprefix("'") for row in rows] == [one.student for one in request.grades]
    assert [one["student"] for one in found["grades"]] == [one.student for one in request.grades]
    for grade, row, record in zip(request.grades, rows, found["grades"], strict=True):
        points = points_of(grade, "")
        if grade.state is GradeState.MISSING and request.missing_as_zero:
            points = Decimal(0)
        assert (record["points"] is None) == (points is None)
        assert points is None or Decimal(record["points"]) == points
        assert row["score"] == ("" if points is None else points_text(points))
        assert not any(row.get(column, "").startswith(FORMULA) for column in FREE)
        assert ("comment" in row) == comments
    for export, numbers in (
        (csv_table.export, [row["score"] for row in rows]),
        (json_text.export, [one["points"] for one in found["grades"]]),
    ):
        changes = export(request).changes
        assert [change.student for change in changes] == [grade.student for grade in request.grades]
        assert [change.after for change in changes] == [number or "" for number in numbers]
        assert all((change.action is Action.APPLIED) == bool(change.after) for change in changes)
        assert all(change.reason for change in changes if change.action is Action.SKIPPED)


def test_notebooks_have_columns_if_that_is_asked_for() -> None:
    """With their share of a penalty, and beside the cells."""
    (row,) = table(csv_table.export(made_request([made_grade("ana", "9.5")], by_exercise=True)))

    assert (row["exercise1 (points)"], row["exercise2 (points)"]) == ("4", "5.5")


@pytest.fixture
def _far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the machine be where times of the gradebook would be read wrongly."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "America/New_York")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("_far_from_greenwich")
def test_the_document_says_what_the_gradebook_has() -> None:
    """Points rounded once, cells exact, times in UTC; half a character does no harm."""
    cell = replace(AUTO, auto_score=Decimal("1.125"), extra_credit=Decimal("0.25"))
    (grade,) = grades_of([score(cells=(cell, READ), penalty="0.125")], Beside())
    grade = replace(grade, first_name="\udcff")

    found = document(json_text.export(made_request([grade], assignment="hw1", title="HW 1")))

    assert (found["format"], found["version"], found["exported_at"]) == (
        "autograder-grades",
        1,
        "2026-11-03T09:30:00Z",
    )
    (record,) = found["grades"]
    assert (record["points"], record["penalty"]) == ("3.25", "0.125")
    assert record["cells"][0]["score"] == "1.375"
    assert record["submitted_at"] == "2026-11-01T12:00:00Z"
    assert record["first_name"] == "\udcff"
    assert csv_table.export(made_request([grade])).files[0].data.decode()


def test_the_schema_is_one() -> None:
    """Otherwise it would take anything."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_the_schema_refuses_what_a_reader_could_misunderstand() -> None:
    """A zero for missing work, a number where a text belongs, a key that nobody knows."""
    found = document(
        json_text.export(made_request([made_grade("ana"), made_grade("ben", GradeState.EXCUSED)]))
    )
    mistakes: list[Callable[[Any], Any]] = [
        lambda copy: copy["grades"][1].update(points="0"),
        lambda copy: copy["grades"][1].update(reason=""),
        lambda copy: copy["grades"][0].update(points=None),
        lambda copy: copy["grades"][0].update(points=9.5),
        lambda copy: copy["grades"][0].update(points="9.555"),
        lambda copy: copy["grades"][0].pop("people"),
        lambda copy: copy.update(version=2),
        lambda copy: copy.update(more=1),
        lambda copy: copy.update(exported_at="2026-11-03T09:30:00"),
    ]
    for wrong in mistakes:
        copy = json.loads(json.dumps(found))
        wrong(copy)
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(copy)


def test_an_empty_class_is_a_file_too() -> None:
    """With a header, and with a list of nobody."""
    request: Request = made_request([])

    assert csv_table.export(request).files[0].data.startswith(b"student_id,")
    assert document(json_text.export(request))["grades"] == []
