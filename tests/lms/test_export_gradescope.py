"""Results for Gradescope: taken whole, found for the right submission, and never a zero that nobody gave."""

from __future__ import annotations

import io
import json
import stat
import subprocess
import sys
import zipfile
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from export_scenes import COMMENTS
from gradescope_schema import read_results, seen_by_students, total
from hypothesis import given, settings
from hypothesis import strategies as st
from made_grades import made_grade, made_person, made_request
from nasty_people import NASTY, TWINS

from autograder.errors import CourseError
from autograder.lms.exports.gradescope import export
from autograder.lms.exports.model import Action
from autograder.lms.model import GradeState, Lms
from autograder.scores import CellScore

if TYPE_CHECKING:
    from autograder.lms.exports.model import Export

HEADER = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status,Submission ID,Submission Time,"
    "Lateness (H:M:S),View Count,Submission Count\n"
)
CELLS = (
    CellScore(notebook="exercise1", grade_id="test_a", max_score=Decimal(4), auto_score=Decimal("3.5")),
    CellScore(notebook="exercise2", grade_id="test_b", max_score=Decimal(3), auto_score=Decimal(3)),
    CellScore(notebook="exercise2", grade_id="essay", max_score=Decimal(3), manual=True),
)


def row(first: str, sid: str, number: str, score: str = "") -> str:
    """Return a row of Gradescope's grades."""
    status = "Graded" if number else "Missing"
    return f"{first},Ruiz,{sid},{first}@school.test,,{score},10.0,{status},{number},,00:00:00,0,1\n"


def results(exported: Export) -> dict[str, dict[str, Any]]:
    """Return the results by folder, each as Gradescope takes it."""
    return {
        file.name.removesuffix("/results.json"): read_results(file.data)
        for file in exported.files
        if file.name.endswith("/results.json")
    }


class Container:
    """Gradescope's folder: the autograder unpacked and set up."""

    def __init__(self, root: Path, exported: Export) -> None:
        self.root = root
        (data,) = (file.data for file in exported.files if file.name == "autograder.zip")
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            archive.extractall(root / "source")
            for entry in archive.infolist():
                (root / "source" / entry.filename).chmod(stat.S_IMODE(entry.external_attr >> 16))
        self.environment = {
            "AUTOGRADER_ROOT": str(root),
            "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        }
        subprocess.run([root / "source" / "setup.sh"], check=True, env=self.environment)
        (root / "source" / "run_autograder").rename(root / "run_autograder")

    def run(self, number: int, *emails: str) -> tuple[dict[str, Any] | None, str]:
        """Return the results of a submission, or None, and what was printed."""
        metadata = {
            "id": number,
            "users": [{"email": email, "id": 1, "name": "Somebody"} for email in emails],
        }
        (self.root / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")
        file = self.root / "results" / "results.json"
        file.unlink(missing_ok=True)
        ran = subprocess.run(
            [self.root / "run_autograder"], env=self.environment, capture_output=True, text=True, check=False
        )
        assert (ran.returncode == 0) == file.exists()
        return (read_results(file.read_bytes()) if file.exists() else None), ran.stdout + ran.stderr


def test_submissions_are_found_by_number(tmp_path: Path) -> None:
    """With the grades that Gradescope exports, whatever addresses students have there."""
    like = (
        HEADER
        + row("Ana", "S1", "71")
        + row("Bo", "S2", "72", "4.0")
        + row("Cleo", "S3", "")
        + row("Dov", "S4", "74")
    )
    grades = [
        made_grade("ana", people=(made_person(Lms.GRADESCOPE, sis="S1"),)),
        made_grade("bo", "4", email="Bo@school.test"),
        made_grade("cleo", GradeState.MISSING, first_name="Cleo", last_name="Ruiz"),
        made_grade("eva"),
    ]

    exported = export(made_request(grades, like, missing_as_zero=True))

    told = {change.student: (change.action, change.before, change.after) for change in exported.changes}
    assert told == {
        "ana": (Action.APPLIED, "", "9.5"),
        "bo": (Action.UNCHANGED, "4.0", "4.0"),
        "Cleo Ruiz": (Action.SKIPPED, "", ""),
        "cleo": (Action.SKIPPED, "", ""),
        "Dov Ruiz": (Action.SKIPPED, "", ""),
        "eva": (Action.SKIPPED, "", ""),
    }
    made = results(exported)
    assert {folder: total(record) for folder, record in made.items()} == {
        "submission_71": 9.5,
        "submission_72": 4.0,
    }
    assert any("no submission" in note for note in exported.notes)
    container = Container(tmp_path, exported)
    assert container.run(71, "other@school.test")[0] == made["submission_71"]
    for number in (73, 74, 75):
        nothing, printed = container.run(number, "Ana@school.test")
        assert nothing is None
        assert "no grade" in printed


def test_submissions_are_found_by_address(tmp_path: Path) -> None:
    """Without that file; an address that two students share is nobody's, a group's grades must agree."""
    grades = [
        made_grade("ana", email="Ana@school.test"),
        made_grade("bo", "4", people=(made_person(Lms.CANVAS, email="bo@school.test"),)),
        made_grade("cleo", "3", email="both@school.test"),
        made_grade("dov", "2", email="BOTH@school.test"),
        made_grade("eva", GradeState.UNGRADED, email="eva@school.test"),
    ]

    exported = export(made_request(grades))

    actions = [(change.student, change.action) for change in exported.changes]
    assert [student for student, action in actions if action is Action.APPLIED] == ["ana", "bo"]
    container = Container(tmp_path, exported)
    assert container.run(1, "ana@School.test")[0] == results(exported)["ana"]
    assert container.run(2, "bo@school.test", "nobody@school.test")[0] == results(exported)["bo"]
    for emails in (("both@school.test",), ("eva@school.test",), ("ana@school.test", "bo@school.test"), ()):
        assert container.run(3, *emails)[0] is None


def test_a_group_gets_a_score_that_all_of_it_has() -> None:
    """One submission, two students: a score of one alone would be given to both."""
    like = (
        HEADER
        + row("Ana", "S1", "71")
        + row("Bo", "S2", "71")
        + row("Cleo", "S3", "72")
        + row("Dov", "S4", "72")
    )

    def grades(bo: str | GradeState) -> list[Any]:
        known = {"ana": "9", "bo": bo, "cleo": "5", "dov": "5"}
        return [
            made_grade(student, points, people=(made_person(Lms.GRADESCOPE, sis=f"S{number}"),))
            for number, (student, points) in enumerate(known.items(), start=1)
        ]

    assert results(export(made_request(grades("9"), like))).keys() == {"submission_71", "submission_72"}
    for other in ("8", GradeState.MISSING):
        exported = export(made_request(grades(other), like))
        assert results(exported).keys() == {"submission_72"}
        reasons = [change.reason for change in exported.changes if "submission 71" in change.reason]
        assert len(reasons) == 2
        assert "lines 2, 3" in reasons[0]


def test_each_cell_is_a_test_and_the_whole_score_counts() -> None:
    """Also after a penalty; what waits for a person has no score and so costs nothing."""
    grade = made_grade("ana", "5", email="a@b.test", cells=CELLS, penalty=Decimal("1.5"))

    (record,) = results(export(made_request([grade]))).values()

    assert total(record) == 5
    assert "1.5 points are taken off" in record["output"]
    shown = [
        (test["number"], test["name"], test.get("score"), test.get("status")) for test in record["tests"]
    ]
    assert shown == [
        ("1.1", "exercise1: test_a", 3.5, "failed"),
        ("2.1", "exercise2: test_b", 3, "passed"),
        ("2.2", "exercise2: essay", None, None),
    ]
    assert "3 points" in record["tests"][2]["output"]


def test_each_notebook_is_a_test_if_that_is_asked_for() -> None:
    """The points of a notebook have their share of a penalty, so they add up to the score."""
    grade = made_grade("ana", "9.5", email="a@b.test", cells=CELLS)

    (record,) = results(export(made_request([grade], by_exercise=True))).values()

    assert [(test["name"], test["score"], test["max_score"]) for test in record["tests"]] == [
        ("exercise1", 4, 4),
        ("exercise2", 5.5, 6),
    ]


def test_visibility_is_the_instructor_s() -> None:
    """Of all results, or of the tests; hidden tests take the total away, which is told."""
    grade = made_grade("ana", "5", email="a@b.test", cells=CELLS)

    def made(**options: str) -> tuple[Any, Export]:
        exported = export(made_request([grade], options=options))
        (record,) = results(exported).values()
        return seen_by_students(record), exported

    assert made()[0] == (5.0, ["exercise1: test_a", "exercise2: test_b", "exercise2: essay"])
    assert made(visibility="after_published")[0] == (None, [])
    seen, exported = made(tests="hidden")
    assert seen == (None, [])
    assert any("do not show" in note or "does not show" in note for note in exported.notes)
    with pytest.raises(CourseError, match="Did you mean 'hidden'"):
        made(tests="hiden")


def test_without_a_score_there_is_nothing_to_hand_out() -> None:
    """An autograder without results would fail on everybody."""
    for state in (GradeState.MISSING, GradeState.UNGRADED, GradeState.EXCUSED):
        with pytest.raises(CourseError, match="no submission of 'hw1' has a score"):
            export(made_request([made_grade("ana", state, email="a@b.test")], missing_as_zero=True))
    with pytest.raises(CourseError, match=r"none of 1 scores.*no e-mail address.*--like"):
        export(made_request([made_grade("ana"), made_grade("ben", GradeState.MISSING)]))
    with pytest.raises(CourseError, match=r"theirs.csv, line 1.*no column 'Total Score'"):
        export(made_request([made_grade("ana")], "SID,Email\n1,a@b.test\n"))


@settings(max_examples=20)
@given(
    people=st.lists(st.sampled_from((*NASTY, *TWINS)), min_size=1, unique=True),
    comments=st.booleans(),
    points=st.decimals(0, 10, places=2),
    data=st.data(),
)
def test_folders_and_results_survive_any_student(
    *, people: list[Any], comments: bool, points: Decimal, data: st.DataObject
) -> None:
    """Each student has a folder of their own that is a name everywhere, with their score in it."""
    odd = ["../up", "a/b", "a\\b", "CON:", ".", "=1", "\x00", "x" * 300, "AUTOGRADER.zip", "ana", "ANA"]
    ids = data.draw(st.permutations([*odd, *(one.sis for one in people)]))[: len(people)]
    grades = [
        made_grade(student, str(points), email=one.email, comment=data.draw(st.sampled_from(COMMENTS)))
        for student, one in zip(ids, people, strict=True)
    ]

    exported = export(made_request(grades, comments=comments))

    made = results(exported)
    assert sorted(record["extra_data"]["student"] for record in made.values()) == sorted(ids)
    assert len({folder.casefold() for folder in made}) == len(people)
    for folder, record in made.items():
        assert total(record) == float(points)
        assert not set(folder) & set('/\\:*?"<>|\x00')
        assert folder.strip(". ")
        assert len(folder) < 200
    names = zipfile.ZipFile(io.BytesIO(exported.files[-1].data)).namelist()
    assert len(names) == len(set(names)) == len(people) + 3
