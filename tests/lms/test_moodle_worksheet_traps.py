"""Traps of Moodle's grading worksheet: a simple file falls into each, the one that is made does not."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from made_grades import made_grade, made_request
from moodle_assignments import NOT_READ, agree, graded, like
from moodle_worksheet_importer import (
    ENGLISH,
    FRENCH,
    GERMAN,
    INVENTED,
    Assignment,
    Language,
    Participant,
    RefusedError,
)

from autograder.errors import CourseError
from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.exports.moodle_worksheet import export
from autograder.lms.model import GradeState, Lms
from autograder.lms.rosters.reading import roster_of
from autograder.lms.sheets import parse_sheet

ANA = Participant(number=5501, name="Ana María O'Hara", email="ana@school.test", sis="S01")
BO = Participant(number=5502, name="Bo Lindqvist", email="bo@school.test", sis="S02")
SHORT = b"Identifier,Grade,Last modified (grade),Feedback comments\n"


def two(**details: Any) -> Assignment:
    """Return an assignment of two, with details of the first."""
    return Assignment(participants=[replace(ANA, **details), replace(BO)])


def test_a_text_that_ends_in_a_backslash_swallows_nothing() -> None:
    """PHP takes the quote behind it for a part of the text."""
    assignment = two()
    naive = SHORT + b'Participant 5501,9.5,-,"a, b\\"\nParticipant 5502,4,-,\n'
    assert assignment.accepts(naive).grades == {5501: Decimal("9.5")}
    assert "Participant 5502" in assignment.accepts(naive).comments[5501]
    with pytest.raises(RefusedError, match="columns"):
        assignment.accepts(naive + b'Participant 5502,4,-,"c, d"\n')

    grades = [graded(5501, comment='see C:\\, and "D:\\"'), graded(5502, comment="\\")]
    done = export(made_request(grades, like(assignment), comments=True))

    upload = assignment.accepts(done.files[0].data)
    assert upload.comments == {5501: "<p>see C:&#92;, and &quot;D:&#92;&quot;</p>", 5502: "<p>&#92;</p>"}
    agree(done, assignment)


def test_what_students_wrote_into_the_worksheet_swallows_nothing() -> None:
    """Names and online texts come along; Moodle does not read them, PHP does."""
    assignment = two(name="Ana, \\", text='x \\"y", \\')
    assignment.with_text = True
    done = export(made_request([graded(5501), graded(5502)], like(assignment)))

    assert assignment.accepts(done.files[0].data).grades == {5501: Decimal("9.5"), 5502: Decimal("9.5")}
    agree(done, assignment)


def test_an_empty_comment_erases_one_and_is_not_written() -> None:
    """A comment of a person stays, whether comments are sent or not."""
    assignment = two(comment="<p>by hand</p>")
    naive = SHORT + b"Participant 5501,9.5,-,\n"
    assert assignment.accepts(naive).comments == {5501: ""}

    for comments in (True, False):
        done = export(made_request([graded(5501), graded(5502)], like(assignment), comments=comments))
        assert assignment.accepts(done.files[0].data).comments == {}
        assert (b"by hand" in done.files[0].data) is comments
        agree(done, assignment)


def test_a_kept_comment_that_swallows_is_written_so_that_it_shows_the_same() -> None:
    """Then Moodle counts it as changed, and so do we."""
    assignment = two(comment="see C:\\")
    done = export(made_request([graded(5501)], like(assignment), comments=True))

    assert assignment.accepts(done.files[0].data).comments == {5501: "see C:&#92;"}
    agree(done, assignment)


def test_comments_are_text_and_no_program() -> None:
    """Neither HTML nor a formula; lines stay lines."""
    done = export(
        made_request([graded(5501, comment="=1+1\n<script>x</script> & 'y'")], like(two()), comments=True)
    )
    upload = two().accepts(done.files[0].data)

    assert upload.comments == {
        5501: "<p>=1+1<br>&lt;script&gt;x&lt;/script&gt; &amp; &#x27;y&#x27;</p>",
    }


def test_a_row_that_has_a_grade_counts_as_newer_than_the_worksheet() -> None:
    """Moodle skips it without a word unless a box is ticked, so that is told, with how many."""
    assignment = two(grade=Decimal(4), modified=NOT_READ + 37)
    done = export(made_request([graded(5501), graded(5502)], like(assignment)))

    assert assignment.accepts(done.files[0].data).grades == {5502: Decimal("9.5")}
    assert assignment.accepts(done.files[0].data, even_newer=True).grades.keys() == {5501, 5502}
    assert any(note.startswith("Tick") and "1 of these" in note for note in done.notes)
    agree(done, assignment)
    assert not any(
        note.startswith("Tick") for note in export(made_request([graded(5502)], like(two()))).notes
    )


def test_what_was_graded_after_the_download_is_not_overwritten_unasked() -> None:
    """The worksheet says that there was no grade, and keeps saying so."""
    assignment = two()
    worksheet = like(assignment)
    assignment.participants[0].grade, assignment.participants[0].modified = Decimal(3), NOT_READ

    done = export(made_request([graded(5501)], worksheet))

    assert assignment.accepts(done.files[0].data).grades == {}


def test_a_score_that_moodle_has_is_not_sent_again() -> None:
    """What it shows is rounded: 4.33 of the worksheet would change 4.33333."""
    assignment = two(grade=Decimal("4.33333"), modified=NOT_READ)
    naive = SHORT + b"Participant 5501,4.33,-,\n"
    assert assignment.accepts(naive, even_newer=True).grades == {5501: Decimal("4.33")}

    done = export(made_request([graded(5501, "4.33")], like(assignment)))
    assert [one.action for one in done.changes] == [Action.UNCHANGED, Action.SKIPPED]
    agree(done, assignment)
    said = export(made_request([graded(5501, "4.33", comment="well")], like(assignment), comments=True))
    upload = assignment.accepts(said.files[0].data, even_newer=True)
    assert (upload.grades, upload.comments) == ({}, {5501: "<p>well</p>"})
    agree(said, assignment)


def test_only_scores_that_moodle_takes_are_sent() -> None:
    """It leaves out the others without a word; each has its reason here."""
    people = [replace(ANA, number=number, name=f"n{number}", email="", sis="") for number in range(1, 7)]
    people[0].locked = True
    assignment = Assignment(participants=people)
    grades = [
        graded(1),
        graded(2, "10.01"),
        graded(3, "-1"),
        graded(4, GradeState.EXCUSED),
        graded(5, GradeState.MISSING),
        graded(7),
    ]
    naive = SHORT + b"Participant 1,9.5,-,\nParticipant 2,10.01,-,\nParticipant 3,-1,-,\nParticipant 7,9,-,\n"
    assert (assignment.accepts(naive).grades, len(assignment.accepts(naive).skipped)) == ({}, 4)

    done = export(made_request(grades, like(assignment)))

    reasons = {one.student: one.reason for one in done.changes}
    words = ("locked", "10.01 is not between 0 and 10", "-1 is not", "excused", "nothing was handed in")
    assert all(word in reasons[f"s{at}"] for at, word in enumerate(words, 1))
    assert "the course does not know them" in reasons["n6"]
    assert "no row" in reasons["s7"]
    assert {one.action for one in done.changes} == {Action.SKIPPED}
    assert "Nothing is sent, so there is nothing to upload." in done.notes
    agree(done, assignment)


@pytest.mark.parametrize("language", [ENGLISH, GERMAN, FRENCH, INVENTED])
@pytest.mark.parametrize("several", [True, False])
def test_a_worksheet_of_any_language_is_understood_and_given_back_in_it(
    language: Language, *, several: bool
) -> None:
    """Moodle compares headers in the language of who uploads, and reads numbers with its decimal mark."""
    assignment = two(grade=Decimal("2.5"), modified=NOT_READ)
    assignment.language = language
    assignment.with_text = True
    assignment.participants = assignment.participants[: 1 + several]
    done = export(made_request([graded(5501, "7.5"), graded(5502, "0.25")], like(assignment)))

    expected = {5501: Decimal("7.5"), 5502: Decimal("0.25")} if several else {5501: Decimal("7.5")}
    assert assignment.accepts(done.files[0].data, even_newer=True).grades == expected
    agree(done, assignment)
    assert any("known language" in note for note in done.notes) is (language is INVENTED)


@pytest.mark.parametrize("language", [ENGLISH, GERMAN, FRENCH])
def test_a_worksheet_is_a_roster_in_its_language_too(language: Language) -> None:
    """What `collect` learns from it is what the export finds students by."""
    assignment = two()
    assignment.language = language
    people = roster_of(like(assignment)).people

    assert [(one.lms, one.name, one.email) for one in people] == [
        (Lms.MOODLE, ANA.name, ANA.email),
        (Lms.MOODLE, BO.name, BO.email),
    ]
    grades = [made_grade(one.name, people=(replace(one, name="", email=""),)) for one in people]
    assert len(assignment.accepts(export(made_request(grades, like(assignment))).files[0].data).grades) == 2


def test_a_number_with_the_wrong_mark_is_cut_off() -> None:
    """A naive file gives 7 for 7,5; ours writes the mark of the worksheet, or the one that is asked for."""
    assignment = two()
    naive = SHORT + b'Participant 5501,"7,5",-,\n'
    assert assignment.accepts(naive).grades == {5501: Decimal(7)}

    done = export(made_request([graded(5501, "7.5")], like(assignment), options={"decimal": ","}))
    assert b'"7,50"' in done.files[0].data
    with pytest.raises(CourseError, match="decimal"):
        export(made_request([graded(5501)], like(assignment), options={"decimal": ";"}))


def test_a_name_in_an_unknown_language_finds_its_student() -> None:
    """It stands behind the participant."""
    assignment = two(email="", sis="")
    assignment.language = INVENTED
    ana = made_grade("ana", first_name="Ana María", last_name="O'Hara")
    done = export(made_request([ana], like(assignment)))

    assert assignment.accepts(done.files[0].data).grades == {5501: Decimal("9.5")}


def test_two_columns_that_may_be_the_maximum_are_not_guessed_at() -> None:
    """Both are one number in all rows, behind what may be a grade."""
    text = "Nomo,Kto,Semestro,Kurso,Noto,Maks,Laste (noto)\nPartolo 1,Ana,5,20,,10,-\n"
    with pytest.raises(CourseError, match="'Grade'"):
        export(made_request([graded(1)], text))


def test_headers_that_say_nothing_are_asked_for() -> None:
    """In another language, one that may be taken for another has to be named."""
    text = "Nomo,Kto,Noto,Maks,Alia\nPartolo 1,Ana,,10,10\nPartolo 2,Bo,,10,10\n"
    with pytest.raises(CourseError) as caught:
        export(made_request([graded(1)], text))
    assert "Moodle's 'Grade'" in str(caught.value)
    assert "--set grade=HEADER, one of 'Nomo', 'Kto', 'Noto'" in str(caught.value)

    named = {"grade": "Noto", "modified": "Alia", "maximum": "Maks"}
    done = export(made_request([graded(1)], text, options=named))
    assert done.files[0].data == b"Nomo,Kto,Noto,Maks,Alia\nPartolo 1,Ana,9.50,10,10\n"
    with pytest.raises(CourseError, match="no column 'Note'"):
        export(made_request([graded(1)], text, options=named | {"grade": "Note"}))


@pytest.mark.parametrize(
    "details",
    [
        {"email": "ANA@school.test"},
        {"lms_user_id": "S01"},
        {"first_name": "Ana María", "last_name": "O'Hara"},
    ],
)
def test_a_row_finds_its_student_without_the_number_too(details: dict[str, str]) -> None:
    """By address, by the registrar's id, or by a name that nobody else has."""
    done = export(made_request([made_grade("ana", **details)], like(two())))

    assert two().accepts(done.files[0].data).grades == {5501: Decimal("9.5")}


def test_two_of_one_name_are_nobody() -> None:
    """Who they are is told by the number in the download, or by an id."""
    assignment = Assignment(participants=[replace(ANA, email="", sis=""), replace(BO, name=ANA.name)])
    done = export(
        made_request([made_grade("ana", first_name="Ana María", last_name="O'Hara")], like(assignment))
    )

    assert {one.action for one in done.changes} == {Action.SKIPPED}
    assert "several rows" in done.changes[-1].reason


def test_a_worksheet_without_names_goes_by_numbers_alone() -> None:
    """Blind marking: there is nothing else."""
    assignment = two()
    assignment.blind = True
    done = export(
        made_request(
            [graded(5501), made_grade("bo", first_name="Bo", last_name="Lindqvist")], like(assignment)
        )
    )

    assert [one.student for one in done.changes] == ["s5501", "Participant 5502", "bo"]
    assert assignment.accepts(done.files[0].data).grades == {5501: Decimal("9.5")}


def test_the_maximum_of_moodle_is_told_if_it_is_another() -> None:
    """Nothing is rescaled."""
    assignment = two()
    assignment.maximum = Decimal(100)
    done = export(made_request([graded(5501)], like(assignment)))

    assert any("100 in Moodle and 10 here" in note for note in done.notes)
    agree(done, assignment)


def test_one_exercise_can_be_an_assignment_of_its_own() -> None:
    """A worksheet has one column of grades, so each exercise has its own."""
    request = made_request([graded(5501, "7")], like(two()))
    with pytest.raises(CourseError, match="--set exercise=NOTEBOOK"):
        export(replace(request, by_exercise=True))
    with pytest.raises(CourseError, match="no notebook 'exercise3'"):
        export(replace(request, options={"exercise": "exercise3"}))
    with pytest.raises(CourseError, match="--column"):
        export(replace(request, columns={WHOLE: "Grade"}))

    done = export(replace(request, options={"exercise": "exercise2"}))
    assert two().accepts(done.files[0].data).grades == {5501: Decimal(3)}


def test_a_file_in_other_clothes_is_given_back_in_moodle_s_own() -> None:
    """Excel's UTF-16 with tabs is read; what is written is what Moodle takes without being told."""
    dressed = "\n".join("\t".join(row) for row in like(two()).rows).encode("utf-16")
    done = export(made_request([graded(5501)], parse_sheet(dressed, "worksheet.txt")))

    assert done.files[0].data.startswith(b"Identifier,Full name,")
    agree(done, two())


GOOD = "Identifier,Grade,Maximum grade,Last modified (grade)\nParticipant 1,,10.00,-\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (GOOD.replace("Participant 1", "Ana"), "line 2, column 1 (Identifier): 'Ana' is no participant"),
        (GOOD + "Participant 1,,10.00,-\n", "line 3, column 1 (Identifier): line 2 is about participant 1"),
        (GOOD.replace("-\n", "-,x\n"), "line 2: has 5 cells, but the header has 4"),
        (GOOD.replace("Maximum grade", "Skalo").replace("10.00", "bad"), "are words of a scale, 'bad'"),
        (GOOD.replace("10.00", "ten"), "line 2, column 3 (Maximum grade): 'ten' is no maximum"),
        (GOOD + "Participant 2,,ten,-\n", "line 3, column 3 (Maximum grade): 'ten' is no"),
        (GOOD.replace("Maximum grade", "Scale").replace("10.00", "bad, good"), "grades are words of a scale"),
        (
            GOOD.replace("Last modified (grade)", "Date"),
            "no header is known to be Moodle's 'Last modified (grade)'",
        ),
    ],
)
def test_a_worksheet_that_cannot_be_used_is_told_with_its_place(text: str, told: str) -> None:
    """One clear line: where, what, what to do."""
    with pytest.raises(CourseError) as caught:
        export(made_request([graded(1), graded(2)], text))

    assert told in str(caught.value)


def test_what_is_needed_and_not_there_is_told() -> None:
    """The worksheet itself, and a column for comments that are to be sent."""
    with pytest.raises(CourseError, match=r"needs the worksheet.*--like"):
        export(made_request([graded(1)]))
    with pytest.raises(CourseError, match="no column of feedback comments"):
        export(made_request([graded(1)], GOOD, comments=True))
    with pytest.raises(CourseError, match="first column"):
        export(made_request([graded(1)], "Feedback comments," + GOOD.replace("\nP", "\n,P"), comments=True))


def test_comments_of_people_that_go_for_ours_are_counted() -> None:
    """What a teacher wrote in Moodle is lost when ours is sent: the instructor knows before."""
    assignment = two(comment="Good.")
    grades = [graded(5501, comment="Q3"), graded(5502, comment="Q4")]

    with_comments = export(made_request(grades, like(assignment), comments=True))
    without = export(made_request(grades, like(assignment)))

    told = "Comments that the worksheet has already are replaced for 1 student."
    assert told in with_comments.notes
    assert told not in without.notes
    agree(with_comments, assignment)


def test_a_title_that_no_worksheet_has_is_not_passed_over() -> None:
    """Nobody can tell that it is the worksheet of another assignment, so somebody should look."""
    request = made_request([graded(5501)], like(two()), title="HW 7")

    assert any("'HW 7', which nobody here can compare" in note for note in export(request).notes)
    assert not any("compare." in note for note in export(replace(request, title=request.assignment)).notes)
