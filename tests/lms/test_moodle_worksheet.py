"""The filled worksheet is taken whole by Moodle, which says the numbers that were foretold."""

from __future__ import annotations

import html
from dataclasses import replace
from decimal import Decimal

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from made_grades import made_request
from moodle_assignments import NOT_READ, agree, graded, like
from moodle_worksheet_importer import ENGLISH, FRENCH, GERMAN, INVENTED, Assignment, Participant
from nasty import CHARACTERS, NAMES, TEXTS

from autograder.errors import CourseError
from autograder.lms.exports.model import Action
from autograder.lms.exports.moodle_worksheet import export
from autograder.lms.model import Grade, GradeState


def test_a_worksheet_is_filled_and_the_numbers_are_foretold() -> None:
    """Rows for which nothing is sent are not in it; what is there is told apart from what is new."""
    assignment = Assignment(
        participants=[
            Participant(number=5501, name="Ana Ruiz", email="ana@school.test"),
            Participant(number=5502, name="Bo Lindqvist", grade=Decimal("4.33333"), modified=NOT_READ),
            Participant(number=5503, name="Mei Tan", grade=Decimal(7), modified=NOT_READ),
        ]
    )
    done = export(made_request([graded(5501), graded(5502, "4.33"), graded(5503, "8")], like(assignment)))

    assert [(one.student, one.action, one.before, one.after) for one in done.changes] == [
        ("s5501", Action.APPLIED, "", "9.50"),
        ("s5502", Action.UNCHANGED, "4.33", "4.33"),
        ("s5503", Action.APPLIED, "7.00", "8.00"),
    ]
    agree(done, assignment)
    assert assignment.accepts(done.files[0].data, even_newer=True).grades == {5501: Decimal("9.5"), 5503: 8}
    assert any(note.startswith("Tick") and "1 of these" in note for note in done.notes)


LANGUAGES = st.sampled_from([ENGLISH, GERMAN, FRENCH, INVENTED])
COMMENTS = st.one_of(
    st.just(""),
    st.sampled_from(["<p>kept</p>", "C:\\", 'a \\"b\\" c', "\\", '"', "<script>alert(1)</script>", "=1+1"]),
    st.text(st.one_of(st.sampled_from('\\",\n;'), CHARACTERS), max_size=8),
).map(lambda text: text.replace("\r", "\n"))
GRADES = st.decimals(0, 10, places=2)


@st.composite
def assignments(draw: st.DrawFn) -> tuple[Assignment, list[Grade]]:
    """Draw an assignment with nasty names and comments, and grades of its participants and of others."""
    numbers = draw(st.lists(st.integers(1, 99_999), min_size=2, max_size=5, unique=True))
    participants = [
        Participant(
            number=number,
            name=draw(NAMES),
            email=draw(st.sampled_from(["", f"s{number}@school.test"])),
            sis=draw(TEXTS),
            grade=draw(st.one_of(st.none(), st.decimals(0, 10, places=5))),
            locked=draw(st.integers(0, 4)) == 0,
            comment=draw(COMMENTS),
            text=draw(COMMENTS),
        )
        for number in numbers
    ]
    for who in participants:
        if who.grade is not None or draw(st.booleans()):
            who.modified = draw(st.sampled_from([NOT_READ, NOT_READ + 37]))
    language = draw(LANGUAGES)
    assignment = Assignment(
        participants=participants,
        language=language,
        blind=draw(st.booleans()) and language is not INVENTED,
        with_text=draw(st.booleans()),
        with_comments=draw(st.booleans()) and language is not INVENTED,
    )
    known = draw(st.lists(st.sampled_from([*numbers, 123_456]), min_size=1, unique=True))
    states = {
        number: draw(st.one_of(st.sampled_from([*GradeState]), GRADES, st.just(Decimal("10.01"))))
        for number in known
    }
    return assignment, [
        graded(number, str(one) if isinstance(one, Decimal) else one, comment=draw(COMMENTS))
        for number, one in states.items()
    ]


@settings(max_examples=50)
@given(drawn=assignments(), zero=st.booleans(), comments=st.booleans())
def test_moodle_does_what_was_said_and_nothing_else(
    drawn: tuple[Assignment, list[Grade]], *, zero: bool, comments: bool
) -> None:
    """Whatever people are called, whatever they wrote, and in whatever language the worksheet is."""
    assignment, grades = drawn
    details = {"missing_as_zero": zero, "comments": comments and assignment.with_comments}
    if assignment.language is INVENTED:
        for who in assignment.participants:
            who.locked = False
    try:
        sheet = like(assignment)
    except CourseError as error:
        assume("backslash" not in str(error))
        raise
    before = {who.number: replace(who) for who in assignment.participants}

    done = export(made_request(grades, sheet, **details))
    agree(done, assignment)

    unticked = assignment.accepts(done.files[0].data)
    upload = assignment.accepts(done.files[0].data, even_newer=True)
    first = {number for number, who in before.items() if who.modified is None}
    assert (
        unticked.grades.items()
        >= {number: one for number, one in upload.grades.items() if number in first}.items()
    )
    assignment.apply(upload)
    sent = {grade.student: grade.comment for grade in grades if details["comments"]}
    for who in assignment.participants:
        was = before[who.number]
        assert not was.locked or who == was
        if who.comment != was.comment:
            shown = {html.unescape(was.comment), sent.get(f"s{who.number}", "") and who.comment}
            assert html.unescape(who.comment) in {html.unescape(one) for one in shown}

    again = export(made_request(grades, like(assignment), **details))
    assert {one.action for one in again.changes} <= {Action.UNCHANGED, Action.SKIPPED}
    twice = assignment.accepts(again.files[0].data, even_newer=True)
    assert (twice.grades, twice.comments) == ({}, {})
