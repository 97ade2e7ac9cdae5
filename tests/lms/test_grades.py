"""From scores to grades: a number only for graded work, and parts that add up to it."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.lms.grades import STEP, WAITS, Beside, grades_of, shared_out
from autograder.lms.model import GradeState, IdKind, Lms, Person, points_text, rounded
from autograder.scores import NOT_YET, CellScore, StudentScore

POINTS = st.decimals(0, 1000, places=4, allow_nan=False)


def cell(
    notebook: str, name: str, points: str, score: str | None = None, *, manual: bool = False
) -> CellScore:
    """Return a cell's score; a cell for people waits until it has one."""
    given_by_hand = Decimal(score) if manual and score is not None else None
    return CellScore(
        notebook=notebook,
        grade_id=name,
        max_score=Decimal(points),
        auto_score=Decimal(score) if score is not None and not manual else None,
        manual_score=given_by_hand,
        needs_manual_grade=manual and score is None,
        manual=manual,
    )


def scored(
    *cells: CellScore, student: str = "ana", submitted: bool = True, penalty: str = "0"
) -> StudentScore:
    """Return a student's scores."""
    return StudentScore(
        student=student,
        first_name="Ana",
        last_name="Ruiz",
        email="ana@example.edu",
        lms_user_id="501",
        submitted=submitted,
        timestamp=datetime(2027, 3, 1, 10, 5) if submitted else None,  # noqa: DTZ001 - nbgrader's are naive
        seconds_late=86_400.0 if Decimal(penalty) else 0.0,
        penalty=Decimal(penalty),
        cells=cells,
    )


WHOLE = (
    cell("one", "a", "6", "5.25"),
    cell("two", "b", "4", "3"),
    cell("two", "essay", "2", "1.5", manual=True),
)


def test_graded_work_has_a_number_after_the_penalty_and_its_parts_share_it() -> None:
    """9.75 less 1 is 8.75; each notebook bears its share of the point."""
    (grade,) = grades_of([scored(*WHOLE, penalty="1")], Beside())

    assert (grade.state, grade.points, grade.max_points) == (GradeState.GRADED, Decimal("8.75"), Decimal(12))
    assert [(part.name, part.points, part.max_points) for part in grade.parts] == [
        ("one", Decimal("4.71"), Decimal(6)),
        ("two", Decimal("4.04"), Decimal(6)),
    ]
    assert grade.comment.splitlines() == [
        "8.75 of 12 points.",
        "one: 4.71 of 6",
        "two: 4.04 of 6",
        "Handed in late: 1 points are taken off.",
    ]


@pytest.mark.parametrize(
    ("score", "beside", "state", "reason"),
    [
        (scored(*WHOLE, submitted=False), Beside(), GradeState.MISSING, "nothing was handed in"),
        (scored(*WHOLE), Beside(excused=["ana"]), GradeState.EXCUSED, "excused"),
        (scored(*WHOLE, submitted=False), Beside(excused=["ana"]), GradeState.EXCUSED, "excused"),
        (
            scored(*WHOLE),
            Beside(reasons={"ana": "one: is\nno notebook"}),
            GradeState.UNGRADED,
            "one: is no notebook",
        ),
        (scored(cell("one", "a", "6"), *WHOLE[1:]), Beside(), GradeState.UNGRADED, NOT_YET),
        (scored(*WHOLE[:2], cell("two", "essay", "2", manual=True)), Beside(), GradeState.UNGRADED, WAITS),
    ],
)
def test_whatever_is_not_graded_has_a_reason_and_no_number(
    score: StudentScore, beside: Beside, state: GradeState, reason: str
) -> None:
    """Neither the whole nor a part has one, and nothing is said to the student."""
    (grade,) = grades_of([score], beside)

    assert (grade.state, grade.reason, grade.points, grade.comment) == (state, reason, None, "")
    assert {part.points for part in grade.parts} == {None}


def test_work_that_waits_for_a_person_has_a_number_if_the_instructor_wants_it() -> None:
    """It is what the work has so far."""
    waiting = scored(*WHOLE[:2], cell("two", "essay", "2", manual=True))

    (grade,) = grades_of([waiting], Beside(unfinished=True))

    assert (grade.state, grade.points) == (GradeState.GRADED, Decimal("8.25"))


def test_people_and_their_comments_go_to_the_right_student() -> None:
    """A student may be known by several systems, or by none."""
    people = tuple(
        Person(lms=lms, student=student, ids={IdKind.USER: f"{lms}-{student}"})
        for lms, student in product((Lms.CANVAS, Lms.MOODLE), ("ben", "ana"))
    )
    comments = {"ben": {("two", "essay"): "Say why.\n"}}

    grades = grades_of(
        [scored(*WHOLE, student=name) for name in ("cho", "ben", "ana")],
        Beside(people=people, comments=comments),
    )

    assert [grade.student for grade in grades] == ["ana", "ben", "cho"]
    ana, ben, cho = grades
    canvas = ben.person(Lms.CANVAS)
    assert canvas is not None
    assert canvas.ids[IdKind.USER] == "canvas-ben"
    assert ben.comment.endswith("two, essay: Say why.")
    assert "Say why" not in ana.comment
    assert cho.people == ()


@settings(max_examples=100, deadline=None)
@given(
    points=POINTS, weights=st.lists(st.decimals(-3, 20, places=3, allow_nan=False), min_size=1, max_size=7)
)
def test_shares_add_up_and_are_near_what_is_due(points: Decimal, weights: list[Decimal]) -> None:
    """No hundredth is lost to rounding, and none goes to who earned nothing while others did."""
    points = rounded(points)

    shares = shared_out(points, weights)

    assert sum(shares, Decimal(0)) == points
    positive = [max(weight, Decimal(0)) for weight in weights]
    total = sum(positive, Decimal(0))
    for share, weight in zip(shares, positive, strict=True):
        if total:
            assert abs(share - points * weight / total) < STEP
            assert weight or not share


@given(points=POINTS)
def test_points_are_written_with_a_point_and_nothing_else(points: Decimal) -> None:
    """No exponent, no thousands separator, no zeros at the end, and no more than two decimals."""
    text = points_text(points)

    assert set(text) <= set("0123456789.")
    assert Decimal(text) == rounded(points)
    assert not ("." in text and text.endswith(("0", ".")))
    assert points_text(points, places=2) == f"{rounded(points):.2f}"


def test_half_a_hundredth_goes_up_and_nothing_is_minus_nothing() -> None:
    """Binary numbers would make 1.00 of 1.005."""
    assert rounded(Decimal("1.005")) == Decimal("1.01")
    assert points_text(Decimal("-0.001")) == "0"
    for impossible in ("NaN", "Infinity", "-Infinity"):
        with pytest.raises(ValueError, match="is no score"):
            rounded(Decimal(impossible))
