"""In Gradescope's folder submissions are graded as everywhere, and whatever fails is no zero."""

from __future__ import annotations

import json
import stat
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from gradescope_container import (
    AUTOMATIC,
    BOOK,
    MAIN,
    METADATA,
    WARMUP,
    Container,
    bundled,
    here,
    is_failure,
    plain_copy,
    solved,
    warm_up_seen_at_once,
    zipped,
)
from gradescope_schema import read_results, seen_by_students, total
from submissions import cell

from autograder.commands import gradescope
from autograder.course.secret import SECRET_FILE
from autograder.errors import SubmissionError
from autograder.grader.grader import Grader
from autograder.lms.bundles.gradescope_submission import copy_submission, read_metadata
from autograder.notebook import dump_notebook
from autograder.sandbox.wall import Tier, probe

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a copy of the course without pictures, which only take time here."""
    return plain_copy(tmp_path_factory.mktemp("course") / "course")


@pytest.fixture(scope="module")
def container(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Container:
    """Return Gradescope's folder with the bundle of the warm-up, whose checks are seen at once."""
    return warm_up_seen_at_once(course, tmp_path_factory.mktemp("gradescope"))


# --------------------------------------------------------------- submissions


@pytest.mark.sandbox
def test_right_work_earns_everything_that_is_automatic(course: Course, container: Container) -> None:
    """The scripts grade: full points, a test for each check, and what a person reads has no score."""
    container.submit(solved(course, WARMUP))

    ran = container.run()

    assert ran.exit_code == 0, ran.printed
    results = read_results(json.dumps(ran.results).encode())
    assert total(results) == AUTOMATIC
    scored = [test for test in results["tests"] if "score" in test]
    assert all(test["status"] == "passed" and "output" not in test for test in scored)
    assert sum(Decimal(str(test["max_score"])) for test in scored) == AUTOMATIC
    by_hand = [test for test in results["tests"] if "score" not in test]
    assert [test["number"] for test in by_hand] == ["1.4", "1.5"]
    assert all("not scored here" in test["output"] for test in by_hand)
    assert "3 of 10 points are given by a person" in results["output"]
    assert "Handed in 1 hour 5 minutes late" in results["output"]
    assert results["extra_data"]["late_s"] == pytest.approx(3900, abs=1)
    assert seen_by_students(results)[0] is None, "a hidden test hides the total"
    seen = " ".join(seen_by_students(results)[1])
    assert "softmax" in seen
    assert "attention: " not in seen
    assert "tier" in ran.printed


@pytest.mark.sandbox
def test_a_mistake_is_named_as_in_feedback(course: Course, container: Container) -> None:
    """Wrong work loses what it loses elsewhere, reads why, and learns no input and no expected value."""
    results = here(container, solved(course, WARMUP, "columns_sum_to_one"))

    lost = [test for test in results["tests"] if test.get("status") == "failed"]
    assert 0 < total(read_results(json.dumps(results).encode())) < AUTOMATIC
    assert lost
    assert all(test["output"].startswith(("Wrong result", "Exception", "Not judged")) for test in lost)
    told = " ".join(test["output"] for test in lost)
    assert "column" in told, "the known mistake is named"


@pytest.mark.sandbox
def test_verdicts_are_those_of_the_course(course: Course, tmp_path: Path) -> None:
    """Several notebooks in a zip that a student made: each check ends as it does in the course."""
    assignment = MAIN
    files = solved(course, assignment, "head_dim_float", "mask_ignored")
    folder = course.submitted("ana", assignment)
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with Grader(course, course.settings()) as grader:
        result = grader.grade_submission(assignment, "ana").result
    container = Container(tmp_path / "autograder", bundled(course, tmp_path / "b.zip", assignment))

    results = here(container, {"my work.zip": zipped({f"hw/{name}": data for name, data in files.items()})})

    wanted = [
        (float(check.points), float(check.earned), check.claim)
        for book in result.notebooks
        for one in book.cells
        for check in one.checks
    ]
    found = [
        (test["max_score"], test["score"], test["name"].split(": ", 1)[1])
        for test in results["tests"]
        if "score" in test
    ]
    assert found == wanted
    assert results["score"] == float(result.auto_score)
    assert 0 < results["score"] < 18
    assert {test["visibility"] for test in results["tests"] if "score" in test} == {"after_published"}


SECRETS = (
    f"source/course/{SECRET_FILE}",
    f"source/course/source/{WARMUP}/{BOOK}",
    f"source/kit/autograder/checks/{WARMUP}/test_softmax.py",
    f"source/kit/solutions/reference/{WARMUP}.py",
)
ATTACK = """
import json, os
reached = []
for name in SECRETS:
    try:
        with open(os.path.join(ROOT, name)) as file:
            reached.append(file.read())
    except OSError:
        pass
for name in (".", "source", "results"):
    try:
        reached.append(os.listdir(os.path.join(ROOT, name)))
    except OSError:
        pass
for name in ("results.json", "owned"):
    try:
        with open(os.path.join(ROOT, "results", name), "w") as file:
            json.dump({"score": 100}, file)
        reached.append(name)
    except OSError:
        pass
"""


@pytest.mark.sandbox
def test_a_hostile_notebook_reads_nothing_and_writes_no_result(course: Course, container: Container) -> None:
    """Checks, solutions, the secret and the results are out of reach; the same code reads them outside."""
    notebook = json.loads(solved(course, WARMUP)[BOOK])
    answer = cell(notebook, "softmax")
    attack = f"ROOT, SECRETS = {str(container.root)!r}, {SECRETS!r}{ATTACK}"
    # It answers only if it reached something: any point that it earns is a hole.
    answer["source"] = "".join(answer["source"]) + f"\n{attack}\nif not reached:\n    del softmax\n"
    container.submit({BOOK: dump_notebook(notebook).encode()})
    outside: dict[str, Any] = {}

    exec(attack, outside)  # noqa: S102 - the control: without a wall the attack works
    (container.root / "results" / "owned").unlink()
    ran = container.run()

    assert len(outside["reached"]) == len(SECRETS) + 3 + 2
    assert ran.results is not None
    assert ran.results["score"] < AUTOMATIC
    lost = [test for test in ran.results["tests"] if test.get("number", "").startswith("1.1.")]
    assert [test["score"] for test in lost] == [0] * len(lost) != []
    assert not (container.root / "results" / "owned").exists()
    assert "refused_call" in ran.printed
    for name in (*SECRETS, "source"):
        assert stat.S_IMODE((container.root / name).stat().st_mode) & 0o077 == 0, f"others may read {name}"


@pytest.mark.sandbox
def test_what_cannot_be_read_has_no_score_and_a_reason(course: Course, container: Container) -> None:
    """A damaged, an empty and an ambiguous submission are failures that say what to do, never zeros."""
    whole = solved(course, WARMUP)[BOOK]
    damaged = here(container, {BOOK: whole[: len(whole) // 2]})
    empty = here(container, {})
    other = here(container, {"essay.pdf": b"%PDF-1.7"})
    two = here(container, {"a.ipynb": whole, "b.ipynb": whole.replace(b"softmax(", b"soft_max(")})
    broken = here(container, {"work.zip": zipped({BOOK: whole})[:-60]})

    assert all(map(is_failure, (damaged, empty, other, two, broken)))
    assert "breaks off" in damaged["output"]
    assert "nothing is in it" in empty["output"]
    assert "essay.pdf" in other["output"]
    assert "a.ipynb and b.ipynb" in two["output"]
    assert "work.zip" in broken["output"]
    assert str(container.root) not in json.dumps([damaged, empty, other, two, broken])


@pytest.mark.sandbox
def test_a_wrong_name_costs_nothing_and_is_told(course: Course, container: Container) -> None:
    """A file that a browser has renamed, in a folder of its own, beside others, is taken for what it is."""
    whole = solved(course, WARMUP)[BOOK]

    results = here(container, {"hw/softmax_and_attention (1).ipynb": whole, "scratch.ipynb": b"{}"})

    assert results["score"] == AUTOMATIC
    assert "taken for" in results["output"] or "name" in results["output"]


@pytest.mark.sandbox
def test_a_notebook_that_is_not_there_scores_nothing_and_is_told(course: Course, tmp_path: Path) -> None:
    """Who hands in two of three notebooks reads at once which one is missing."""
    container = Container(tmp_path / "autograder", bundled(course, tmp_path / "b.zip", MAIN))
    files = solved(course, MAIN)
    del files["exercise3_forward.ipynb"]

    results = here(container, files)

    assert results["score"] == 10
    assert "Not handed in: exercise3_forward.ipynb" in results["output"]


def test_files_of_archives_take_no_place_of_others(tmp_path: Path) -> None:
    """Two zips and a file of one name are all copied; no link is followed, no notebook lost in silence."""
    submission, folder = tmp_path / "submission", tmp_path / "copy"
    submission.mkdir()
    (submission / "one.ipynb").write_bytes(b"1")
    (submission / "a.zip").write_bytes(zipped({"one.ipynb": b"2", "data/x.csv": b"3", "__MACOSX/._one": b""}))
    (submission / "b.zip").write_bytes(zipped({"data/x.csv": b"4", "two.ipynb": b"5"}))
    (submission / "other.txt").symlink_to("/etc/hostname")

    left = copy_submission(submission, folder)

    copied = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.*v*")}
    copied |= {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*.ipynb")}
    assert copied == {
        "one.ipynb": b"1",
        "a.zip unpacked/one.ipynb": b"2",
        "a.zip unpacked/data/x.csv": b"3",
        "data/x.csv": b"4",
        "two.ipynb": b"5",
    }
    assert [one.name for one in left] == ["other.txt"]
    (submission / "three.ipynb").symlink_to("/etc/hostname")
    with pytest.raises(SubmissionError, match=r"three\.ipynb: cannot be taken: It is a link"):
        copy_submission(submission, tmp_path / "again")


# ------------------------------------------------------------------ failures


def test_without_a_wall_there_is_no_score(
    container: Container, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing can stand around student code, nothing is run; instructors alone read why."""
    wall = replace(probe(), tier=Tier.C, missing=("the kernel has no Landlock: use Linux 5.13",))
    monkeypatch.setattr("autograder.sandbox.wall.probe", lambda: wall)

    results = here(container, {BOOK: b"{}"})

    assert is_failure(results)
    assert "no fault of yours" in results["output"]
    printed = capsys.readouterr().out
    assert "Landlock" in printed
    assert "Landlock" not in results["output"]
    assert gradescope.main(["--prepare", str(container.root)]) == 0
    assert "WARNING: grading would end without a score here" in capsys.readouterr().out


def test_a_fault_of_the_kit_is_never_a_score(
    container: Container, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever breaks in the grader, the submission is not graded, and only instructors see the traceback."""

    def breaks(*_: object, **__: object) -> None:
        raise ZeroDivisionError("<hidden input>")

    monkeypatch.setattr(Grader, "grade_submission", breaks)

    results = here(container, {BOOK: b"{}"})

    assert is_failure(results)
    assert "hidden input" not in results["output"]
    assert "ZeroDivisionError" in capsys.readouterr().out


def test_a_grader_that_does_not_start_leaves_a_failure(container: Container) -> None:
    """Python is missing, or a part of the bundle: the script itself has left a result without a score."""
    container.submit({BOOK: b"{}"})
    without_python = container.run(AUTOGRADER_PYTHON="/nowhere/python")
    secret = container.root / "source" / "course" / SECRET_FILE
    kept = secret.read_bytes()
    secret.unlink()
    without_secret = container.run()
    secret.write_bytes(kept)

    for ran in (without_python, without_secret):
        assert ran.exit_code != 0
        assert ran.results is not None
        assert is_failure(ran.results)
    assert "missing or damaged" in without_secret.printed
    assert not list((container.root / "results").glob(".*"))


def test_what_gradescope_says_is_read_with_care(tmp_path: Path) -> None:
    """Whatever stands in the metadata gives an id that names one folder, and how late it is, or nothing."""
    path = tmp_path / "submission_metadata.json"

    def told(metadata: object) -> tuple[str, float]:
        path.write_text(json.dumps(metadata), encoding="utf-8")
        found = read_metadata(path)
        return found.student, found.late_s

    late: dict[str, Any] = {"created_at": METADATA["created_at"], "assignment": METADATA["assignment"]}
    extended = {"id": 7, "assignment": {"due_date": "2027-03-01T19:00:00+00:00"}}
    assert told(METADATA) == ("student-1235", 3900.123456)
    assert told(late | {"users": [{"id": 12}, {"id": 3}]}) == ("student-12-3", 3900.123456)
    assert told(late | {"users": [extended]}) == ("student-7", 0.0)
    assert told(late | {"users": [{"id": "../../x"}]})[0] == "student-x"
    odd: tuple[object, ...] = (
        [],
        "x",
        {"users": 3},
        {"users": [3], "created_at": "no"},
        {"assignment": None},
    )
    for nonsense in odd:
        assert told(nonsense) == ("student", 0.0)
    path.write_bytes(b"\xff\xfe{")
    assert read_metadata(path).student == "student"
    assert read_metadata(tmp_path / "nothing").submitted_at is None
