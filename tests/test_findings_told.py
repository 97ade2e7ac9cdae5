"""What was repaired and what looks unusual: told to those whom it concerns, in words that fit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from small_course import (
    ASSIGNMENT,
    EVIDENCE,
    HALVES,
    HOSTILE,
    REPAIR,
    assert_harmless,
    grade,
    make_course,
    read_page,
    words_of,
    write_feedback,
)

from autograder.findings import Evidence, EvidenceKind, Repair, RepairKind, Severity
from autograder.pages.evidence import KINDS, SEVERITIES
from autograder.pages.repairs import LISTED, TOLD, mendings
from autograder.report import write_report

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

NAMES = {"first": {"double": "your cell `double`", "test_double": "the test cell of `double`"}}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a small course without students."""
    return make_course(tmp_path)


def repair(kind: RepairKind, where: str = "double", detail: str = "for staff only") -> Repair:
    """Return a repair."""
    return Repair(kind=kind, where=where, detail=detail)


def evidence(severity: Severity, detail: str, where: str = "double") -> Evidence:
    """Return evidence of an edited cell."""
    return Evidence(kind=EvidenceKind.LOCKED_CELL, severity=severity, where=where, detail=detail)


# ------------------------------------------------------------------ repairs


def test_every_kind_of_repair_has_words() -> None:
    """A kind that is added without words would break a page, or be silent."""
    assert set(TOLD) == set(RepairKind)
    assert len({told.counted for told in TOLD.values()}) == len(RepairKind)


@pytest.mark.parametrize("kind", RepairKind)
def test_a_repair_is_one_good_sentence_for_one_and_for_many(kind: RepairKind) -> None:
    """It begins with a capital, ends with a full stop, and agrees with its number."""
    for places in (["double"], ["double", "test_double"], ["cell 3"] * 2, ["notebook"], ["x"] * 3):
        (one,) = mendings({"first": [repair(kind, place) for place in places]}, NAMES)

        assert one.text[0].isupper() or one.text[0] in "`1234567890"
        assert one.text.endswith(".")
        assert not set("{}") & set(one.text)
        assert "for staff only" not in one.text + one.hint
        assert one.hint == "" or one.hint.endswith(".")
        verb = re.search(r" (was|were) ", one.text)
        if "{places} {was}" in TOLD[kind].sentence and "first.ipynb" not in one.text:
            assert verb is not None
            many = len(set(places)) > 1 or len(places) > 2 or places == ["notebook"]
            assert (verb[1] == "were") is many, one.text


def test_many_places_are_not_all_named() -> None:
    """A notebook of two hundred copied cells has one line like any other."""
    names = {"first": {f"q{n}": f"`q{n}`" for n in range(200)}}

    (one,) = mendings({"first": [repair(RepairKind.COPIED, f"q{n}") for n in range(200)]}, names)

    assert one.text.count("`q") == LISTED - 1
    assert "and 197 more cells were there more than once, so one copy of each was graded." in one.text


def test_the_same_name_in_two_notebooks_is_told_apart() -> None:
    """Students find the cell that is meant."""
    both = {"first": NAMES["first"], "second": NAMES["first"]}

    (one,) = mendings({name: [repair(RepairKind.MOVED)] for name in both}, both)

    assert one.text == (
        "Your cell `double` in `first.ipynb` and your cell `double` in `second.ipynb` "
        "stood in another place and were moved back."
    )


def test_repairs_are_told_once_and_calmly(course: Course) -> None:
    """What was done, that it cost nothing, and how to avoid it; what is for staff stays with them."""
    found = [
        repair(RepairKind.NAME, "lab (1).ipynb"),
        repair(RepairKind.COPIED, "test_double", "there were 3 copies; secret words"),
        repair(RepairKind.STRANGE, "forged_name"),
    ]
    grade(course, "ana", repairs=[one.to_dict() for one in found], evidence=[EVIDENCE.to_dict()])

    overview = write_feedback(course, ASSIGNMENT, "ana")

    words = words_of(overview)
    assert words.count("Before grading we put some things right") == 1
    assert "lab (1).ipynb was taken for first.ipynb" in words
    assert "The test cell of double and 1 more cell were there more than once, so one copy of each" in words
    assert "None of this cost you points." in words
    assert "lab (1).ipynb was taken for second.ipynb" not in words_of(overview.with_name("first.html"))
    for secret in ("secret words", "forged_name", "for staff only", EVIDENCE.detail):
        assert secret not in words


def test_lost_work_is_not_called_free(course: Course) -> None:
    """It is honest to say that what was not there earned nothing."""
    grade(course, "ana", repairs=[repair(RepairKind.LOST).to_dict()])

    words = words_of(write_feedback(course, ASSIGNMENT, "ana"))

    assert "None of this cost you points." not in words
    assert "What was not there could not earn any." in words


def test_a_notebook_that_was_only_filled_in_has_no_such_box(course: Course) -> None:
    """Silence is the best news."""
    grade(course, "ana", checks=[HALVES], repairs=[], evidence=[])

    feedback, report = write_feedback(course, ASSIGNMENT, "ana"), write_report(course, ASSIGNMENT)

    assert "put some things right" not in words_of(feedback)
    for heading in ("Repairs", "Looks unusual", "Late", "Could not be graded", "To look at"):
        assert f"<h2>{heading}</h2>" not in report.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_findings_are_only_text(course: Course, text: str) -> None:
    """Names of files and cells are students' to choose, and evidence is what they wrote."""
    repairs = [repair(kind, text, text).to_dict() for kind in RepairKind]
    signs = [Evidence(kind=kind, severity=Severity.ATTACK, where=text, detail=text) for kind in EvidenceKind]
    grade(course, "ana", repairs=repairs, evidence=[sign.to_dict() for sign in signs])

    for page in (write_feedback(course, ASSIGNMENT, "ana"), write_report(course, ASSIGNMENT)):
        assert_harmless(read_page(page))


def test_staff_read_counts_and_what_was_done_to_whom(course: Course) -> None:
    """The same thing done to several cells is one line."""
    same = "its nbgrader metadata was removed; put back"
    found = [repair(RepairKind.STRIPPED, name, same) for name in ("double", "test_double")]
    found.append(repair(RepairKind.MISSING, "notebook", "3 more cells like these"))
    grade(course, "ana", repairs=[one.to_dict() for one in found])
    grade(course, "ben", repairs=[])

    words = words_of(write_report(course, ASSIGNMENT))

    assert "2 of 4 notebooks were repaired before grading: 2 with given cells missing, 2 without" in words
    assert f"ana first: double, test_double: {same} first: 3 more cells like these second: double" in words


# ----------------------------------------------------------------- evidence


def test_every_kind_of_evidence_and_severity_has_words() -> None:
    """Staff read sentences, not names of members."""
    assert set(KINDS) == set(EvidenceKind)
    assert set(SEVERITIES) == set(Severity)


def test_evidence_is_sorted_by_severity_and_touches_no_score(course: Course) -> None:
    """Attacks first, accidents last and called so, each with what was seen."""
    diff = "-assert double(1) == 2\n+pass\n unchanged"
    grade(course, "ana", evidence=[evidence(Severity.NOTICE, "a tag").to_dict()])
    grade(
        course, "ben", evidence=[evidence(Severity.ATTACK, diff, where).to_dict() for where in ("q1", "q2")]
    )
    grade(course, "cleo", evidence=[evidence(Severity.DOUBT, "edited").to_dict()])

    report = write_report(course, ASSIGNMENT)

    words, page = words_of(report), report.read_text(encoding="utf-8")
    titles = [SEVERITIES[one][0] for one in (Severity.ATTACK, Severity.DOUBT, Severity.NOTICE)]
    places = [words.index(title) for title in titles]
    assert places == sorted(places)
    assert "Nothing here has touched a score" in words
    assert "ben · edited a given cell first: q1, q2" in words
    assert "<del>-assert double(1) == 2</del>\n<ins>+pass</ins>\n unchanged</pre>" in page


def test_no_student_reads_evidence(course: Course) -> None:
    """Suspicion belongs into a talk, not onto a page."""
    signs = [
        Evidence(kind=kind, severity=severity, where="double", detail=f"seen {kind} {severity}").to_dict()
        for kind in EvidenceKind
        for severity in Severity
    ]
    grade(course, "ana", evidence=signs, repairs=[REPAIR.to_dict()])

    for page in write_feedback(course, ASSIGNMENT, "ana").parent.iterdir():
        assert "seen" not in read_page(page).words
        assert not any(words in read_page(page).words for words in KINDS.values())
