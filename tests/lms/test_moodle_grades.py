"""Moodle's import takes all or nothing, and so takes every file that is made for it."""

from __future__ import annotations

import csv
import io
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_grades import made_request
from moodle_grade_importer import DOWNLOADED, Gradebook, User
from moodle_gradebooks import ANA, BO, REAL, agree, gradebook, graded, like
from nasty import NAMES, TEXTS

from autograder.errors import CourseError
from autograder.lms.exports.model import Action, Export
from autograder.lms.exports.moodle_grades import export
from autograder.lms.model import Grade, GradeState


def test_scores_are_sent_for_who_moodle_knows() -> None:
    """Rows that say who they are as Moodle said it, and only those with something new."""
    course = gradebook(grades={(12, "HW 1"): Decimal("9.5")})
    cleo = User(number=13, first="Cleo", last="Noether", idnumber="S03")
    done = export(made_request([graded(ANA, "7.25"), graded(BO), graded(cleo)], like(course)))

    assert [(one.student, one.action, one.before, one.after) for one in done.changes] == [
        ("s11", Action.APPLIED, "", "7.25"),
        ("s12", Action.UNCHANGED, "9.50", "9.50"),
        ("s13", Action.SKIPPED, "", ""),
    ]
    assert list(csv.reader(io.StringIO(done.files[0].data.decode()))) == [
        ["First name", "Last name", "ID number", "Email address", REAL, DOWNLOADED],
        ["Ana", "Ruiz", "S01", "ana@school.test", "7.25", str(course.now)],
    ]
    agree(done, course)


BOOL = st.booleans()
USERS = st.builds(
    lambda number, first, last, idnumber, email: User(
        number=number,
        first=first,
        last=last,
        idnumber=idnumber,
        email=email,
        username=f"u{number}",
    ),
    st.integers(1, 10**6),
    NAMES,
    NAMES,
    TEXTS.map(str.strip),
    st.sampled_from(["", "ana@school.test", "ANA@school.test", "bo@school.test", "c@school.test", "\\"]),
)


@st.composite
def courses(draw: st.DrawFn) -> tuple[Gradebook, list[Grade]]:
    """Draw a course with nasty names, ids that repeat or are missing, and grades of students and others."""
    users = draw(st.lists(USERS, min_size=1, max_size=5, unique_by=lambda user: user.number))
    course = gradebook(*users, mark=draw(st.sampled_from(".,")))
    grade = st.one_of(st.none(), st.decimals(0, 10, places=5))
    known = {user.number: draw(grade) for user in users}
    course.grades = {(number, "HW 1"): one for number, one in known.items() if one is not None}
    graded_ones = draw(
        st.lists(st.sampled_from([*users, User(number=10**7, first="x", last="y")]), unique=True)
    )
    state = st.one_of(
        st.sampled_from([*GradeState]),
        st.decimals(0, 10, places=2),
        st.sampled_from([Decimal(11), Decimal(-1)]),
    )
    points = {user: draw(state) for user in graded_ones}
    comment = st.sampled_from(["", "see C:\\", '"', "=1+1", "two\nlines", "<b>"])
    return course, [
        graded(user, str(one) if isinstance(one, Decimal) else one, comment=draw(comment))
        for user, one in points.items()
    ]


@settings(max_examples=50)
@given(
    drawn=courses(),
    zero=st.booleans(),
    comments=st.booleans(),
    by_file=st.booleans(),
    usernames=st.booleans(),
)
def test_moodle_does_what_was_said_and_nothing_else(
    drawn: tuple[Gradebook, list[Grade]], *, zero: bool, comments: bool, by_file: bool, usernames: bool
) -> None:
    """No cell of anybody makes Moodle refuse the file, and nothing is sent that was not said."""
    course, grades = drawn
    details: dict[str, Any] = {"missing_as_zero": zero, "comments": comments}
    items = {REAL: "HW 1"} if by_file else {"HW 1": "HW 1"}
    strangers = {grade.student for grade in grades} - {f"s{user.number}" for user in course.users}
    if not by_file:
        # Whom Moodle knows cannot be told then, so that both know the same.
        grades = [grade for grade in grades if grade.student not in strangers]
        known = {grade.student for grade in grades}
        grades += [
            graded(user, GradeState.UNGRADED) for user in course.users if f"s{user.number}" not in known
        ]
        details["options"] = {"decimal": course.mark}
    before = dict(course.grades)

    def once() -> Export:
        try:
            theirs = like(course, usernames=usernames) if by_file else None
        except CourseError as error:
            assume("backslash" not in str(error))
            raise
        return export(made_request(grades, theirs, **details))

    done = once()
    assert {one.student for one in done.changes} >= {grade.student for grade in grades}
    agree(done, course, items)

    applied = {int(one.student[1:]) for one in done.changes if one.action is Action.APPLIED}
    changed = {number for (number, item), one in course.grades.items() if before.get((number, item)) != one}
    assert changed <= applied
    if by_file:
        again = once()
        assert {one.action for one in again.changes} <= {Action.UNCHANGED, Action.SKIPPED}


@pytest.mark.parametrize(
    "header",
    ["Numéro d\u2019identification", "Número de identificación", "Número d\u2019identificació", "ID-Nummer"],
)
def test_the_registrar_s_number_is_known_in_other_languages(header: str) -> None:
    """Whom nothing else tells is found by it."""
    like = f"Pr\u00e9nom,Nom,{header},Devoir : HW 1 (Brut)\nA,B,S01,-\n"

    assert [one.action for one in export(made_request([graded(ANA)], like)).changes] == [Action.APPLIED]
