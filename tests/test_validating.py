"""`autograder validate`: the visible tests of one's own notebook, before it is handed in."""

from __future__ import annotations

import json
import re
import shutil
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from classic_course import graded_cell, notebook_of
from click.testing import CliRunner
from handouts import COURSE, RELEASED, graded_cells, handed_out, named
from kept_sandboxes import Kept
from known_solutions import ASSIGNMENT, BY_NAME

from autograder.cli import FAILED, USAGE, main
from autograder.commands import validating
from autograder.commands.validating import print_validation
from autograder.commands.validating import validate as checked
from autograder.errors import NotebookError
from autograder.notebook import read_notebook, write_notebook
from autograder.sandbox import wall
from autograder.sandbox.wall import Tier, probe
from autograder.variants import fill, solved_cells

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from click.testing import Result

    from autograder.notebook import Cell, Notebook

pytestmark = pytest.mark.sandbox

SPLIT = "exercise2_split_heads"
BOOKS = {released.name: released for released in RELEASED}
UNSAFE = ("--unsafe-no-sandbox",) if probe().tier is Tier.C else ()


def validate(*arguments: object) -> Result:
    """Run the command."""
    return CliRunner().invoke(main, ["validate", *UNSAFE, *map(str, arguments)])


def findings(path: Path) -> dict[str, Any]:
    """Return what the command finds in one notebook, as JSON."""
    (found,) = json.loads(validate("--json", path).stdout)
    assert isinstance(found, dict)
    return found


def solved(name: str, variant: str = "") -> Notebook:
    """Return a notebook as a student hands it in who solved it, or made one known mistake."""
    source = read_notebook(COURSE.source(ASSIGNMENT) / f"{name}.ipynb", error=NotebookError)
    return fill(handed_out(BOOKS[name]), solved_cells(source, BY_NAME[variant] if variant else None))


@pytest.fixture(scope="module")
def kept() -> Iterator[Kept]:
    """Return the sandboxes that the tests of this module share; each takes a second to warm up."""
    with ExitStack() as ends:
        yield Kept(ends)


@pytest.fixture(autouse=True)
def share(kept: Kept, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all but one test run in a sandbox that is there: each notebook is a new process anyway."""
    if request.function is not test_solved_notebooks_pass_without_a_course:
        monkeypatch.setattr(validating, "launched", kept.launched)


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """Return a student's folder, far from any course."""
    folder = tmp_path / "my desk"
    folder.mkdir()
    return folder


def saved(folder: Path, notebook: Notebook, name: str = SPLIT) -> Path:
    """Return the path of a notebook that was saved there."""
    write_notebook(folder / f"{name}.ipynb", notebook)
    return folder / f"{name}.ipynb"


@pytest.mark.parametrize(
    ("source", "points", "message"),
    [
        ("1.0", 2, "What you see of its tests gives 1 of 2 points."),
        ("0", 0.5, "What you see of its tests gives 0 of 0.5 points."),
        ("2.0", 2, ""),
        ("[1.0]", 2, ""),
        ("1 == 1", 2, ""),
        ("assert True", 0, ""),
        ("1.0", "many", ""),
        ("1.0", "nan", ""),
    ],
)
def test_a_part_of_the_points_is_no_pass(desk: Path, source: str, points: object, message: str) -> None:
    """As for nbgrader; whoever wrote points that are none is told elsewhere."""
    test = graded_cell("test_it", source)
    test["metadata"]["nbgrader"]["points"] = points
    found = findings(saved(desk, notebook_of([test])))

    assert [(one["passed"], one["message"]) for one in found["tests"]] == [(not message, message)]


def test_solved_notebooks_pass_without_a_course(desk: Path) -> None:
    """All are run, each test cell is listed, and the exit code is 0."""
    paths = [saved(desk, solved(name), name) for name in BOOKS]

    result = validate(*paths)

    assert result.exit_code == 0
    for path in paths:
        assert f"{path}: 3 of 3 test cells pass" in result.output
    for released in RELEASED:
        tests = [cell.grade_id for cell in released.graded if cell.hidden_check]
        assert all(f"✓ {grade_id}\n" in result.output for grade_id in tests)


def test_notebooks_as_handed_out_fail_in_plain_words(desk: Path) -> None:
    """What is not filled in is named, written answers too, and the exit code is 1."""
    path = saved(desk, handed_out(BOOKS[SPLIT]))

    result = validate(path)

    assert result.exit_code == FAILED
    assert "0 of 3 test cells pass" in result.output
    for name in ("split_heads", "merge_heads", "tokens_in_naive_head", "explain_reshape_order"):
        assert f"  {name} is not filled in yet.\n" in result.output
    assert "NotImplementedError" not in result.output


def test_a_wrong_answer_gets_the_message_of_its_assert(desk: Path) -> None:
    """It ends with the very words of the notebook; the other test cells pass."""
    path = saved(desk, solved(SPLIT, "split_reshape_only"))

    found = findings(path)
    (failed,) = [test for test in found["tests"] if not test["passed"]]
    lines = named(solved(SPLIT), "test_split_heads")["source"].split("\n")

    assert found["passed"] is False
    assert failed["cell"] == "test_split_heads"
    assert failed["error"] == "AssertionError"
    words = "Which token owns this row"
    assert words in failed["message"]
    assert any(words in line for line in lines)
    assert lines[failed["line"] - 1].lstrip().startswith(("assert", "raise"))
    assert [test["passed"] for test in found["tests"]].count(True) == 2


def test_an_exception_is_told_with_its_class_cell_and_line(desk: Path) -> None:
    """The line is that of the student's cell, not only that of the test."""
    notebook = solved(SPLIT)
    cell = named(notebook, "merge_heads")
    cell["source"] = "def merge_heads(heads):\n    first = heads\n    return first.no_such_thing\n"

    result = validate(saved(desk, notebook))

    assert result.exit_code == FAILED
    assert "✗ test_merge_heads\n      AttributeError: " in result.output
    assert "no_such_thing' (in merge_heads, line 3)" in result.output


def test_an_assert_without_a_message_is_shown_itself(desk: Path) -> None:
    """So that one's own tests tell something too."""
    notebook = solved(SPLIT)
    named(notebook, "test_merge_heads")["source"] = "x = 2\nassert x == 3\n"

    result = validate(saved(desk, notebook))

    assert "✗ test_merge_heads\n      This does not hold: assert x == 3\n" in result.output
    assert "test_merge_heads is not as it was handed out" in result.output


def test_a_cell_of_ones_own_that_raises_is_told_and_fails_nothing(desk: Path) -> None:
    """The grader goes on after it, too."""
    notebook = solved(SPLIT)
    own: Cell = {
        "cell_type": "code",
        "metadata": {},
        "source": "1 / 0",
        "outputs": [],
        "execution_count": None,
    }
    notebook["cells"].insert(1, own)

    result = validate(saved(desk, notebook))

    assert result.exit_code == 0
    assert "cell 2 stops with an error" in result.output
    assert "ZeroDivisionError: division by zero (line 1)" in result.output


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("while True: pass", "It took longer than 3 s and was stopped."),
        ("import os; os._exit(3)", "ended the notebook's process"),
        ("def split_heads(x:\n", "SyntaxError: incomplete input (line 1)"),
    ],
)
def test_what_stops_a_cell_is_told_and_the_rest_is_run(course: Any, source: str, told: str) -> None:
    """A notebook in a course has the course's limits."""
    with (course.root / "nbgrader_config.py").open("a", encoding="utf-8") as config:
        config.write("c.Autograder.wall_time_s = 3.0\n")
    folder = course.submitted("ana", ASSIGNMENT)
    folder.mkdir(parents=True)
    notebook = solved(SPLIT)
    named(notebook, "split_heads")["source"] = source

    found = findings(saved(folder, notebook))

    (raised,) = [one for one in found["raised"] if one["cell"] == "split_heads"]

    assert told in raised["message"]
    passed = {test["cell"]: test["passed"] for test in found["tests"]}
    assert passed == {
        "test_split_heads": False,
        "test_merge_heads": True,
        "test_tokens_in_naive_head": True,
    }


def test_an_instructors_notebook_is_run_without_its_hidden_tests(tmp_path: Path) -> None:
    """The kit is not there where the cells run, so that a hidden line would fail."""
    folder = tmp_path / "source"
    shutil.copytree(COURSE.source(ASSIGNMENT), folder)
    paths = sorted(folder.glob("*.ipynb"))
    assert all("run_checks" in path.read_text(encoding="utf-8") for path in paths)

    assert validate(*paths).exit_code == 0


def test_files_beside_the_notebook_are_there_for_its_cells(desk: Path) -> None:
    """As they are when it is graded."""
    (desk / "data.txt").write_text("42", encoding="utf-8")
    notebook = solved(SPLIT)
    named(notebook, "test_merge_heads")["source"] = "assert open('data.txt').read() == '42'"

    assert validate(saved(desk, notebook)).exit_code == 0


def test_nothing_is_written(desk: Path) -> None:
    """The notebook stays as it is, without outputs or grades."""
    path = saved(desk, solved(SPLIT))
    before = path.read_bytes()

    validate(path)

    assert path.read_bytes() == before
    assert [one.name for one in desk.iterdir()] == [path.name]


def test_json_has_a_record_for_each_notebook_and_test_cell(desk: Path) -> None:
    """For editors and other programs."""
    paths = [saved(desk, solved(name), name) for name in (SPLIT, "exercise1_parameter_count")]

    result = validate("--json", *paths)
    found = json.loads(result.stdout)

    assert result.exit_code == 0
    assert [one["notebook"] for one in found] == [str(path) for path in paths]
    assert [one["passed"] for one in found] == [True, True]
    for path, one in zip(paths, found, strict=True):
        tests = [grade_id for grade_id in graded_cells(read_notebook(path)) if grade_id.startswith("test_")]
        assert [test["cell"] for test in one["tests"]] == tests
        assert one["unanswered"] == one["raised"] == one["changed"] == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is empty"),
        ("{", "breaks off in line 1"),
        ("[]", "not a notebook"),
        ('{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "it has no test cell"),
        ('{"cells": [3], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}', "cell 1: it is damaged"),
    ],
)
def test_what_cannot_be_read_is_told_alone(desk: Path, content: str, told: str) -> None:
    """The others are validated all the same, and the exit code says that one failed."""
    bad, good = desk / "other.ipynb", saved(desk, solved(SPLIT))
    bad.write_text(content, encoding="utf-8")

    result = validate(bad, good)

    assert result.exit_code == FAILED
    assert told in result.output
    assert f"{bad}: " in result.output
    assert "Traceback" not in result.output
    assert f"{good}: 3 of 3 test cells pass" in result.output


def given_class(notebook: Notebook) -> None:
    """Let a test cell raise what looks like the frame of a cell that nobody can count to."""
    source = "class E(Exception): pass\nraise E('Cell In[' + '9' * 5000 + '], line ' + '8' * 5000)"
    named(notebook, "test_merge_heads")["source"] = source


def given_points(notebook: Notebook) -> None:
    """Give a test cell points that are no number."""
    flags = named(notebook, "test_merge_heads")["metadata"]["nbgrader"]
    flags |= {"points": {"a": 1}, "checksum": "0" * 32}


def given_huge_points(notebook: Notebook) -> None:
    """Give a test cell points that no float can hold."""
    flags = named(notebook, "test_merge_heads")["metadata"]["nbgrader"]
    flags |= {"points": 10**400, "checksum": "0" * 32}


def given_type(notebook: Notebook) -> None:
    """Give an answer a type that is none."""
    named(notebook, "explain_reshape_order")["cell_type"] = ["markdown"]


@pytest.mark.parametrize(
    ("damage", "passed", "changed"),
    [
        (given_class, 2, ["test_merge_heads"]),
        (given_points, 3, ["test_merge_heads"]),
        (given_huge_points, 3, ["test_merge_heads"]),
        (given_type, 3, []),
    ],
)
def test_a_damaged_or_hostile_notebook_is_told_and_the_others_are_validated(
    desk: Path, damage: Callable[[Notebook], None], passed: int, changed: list[str]
) -> None:
    """It spoils nobody's findings, not even its own other cells'."""
    bad, good = solved(SPLIT), solved("exercise1_parameter_count")
    damage(bad)
    bad_path, good_path = desk / "bad.ipynb", saved(desk, good, "good")
    bad_path.write_text(json.dumps(bad), encoding="utf-8")

    result = validate("--json", bad_path, good_path)
    found, other = json.loads(result.stdout)

    assert [test["passed"] for test in found["tests"]].count(True) == passed
    assert found["changed"] == changed
    assert other["passed"] is True


def test_only_a_stub_is_not_filled_in(desk: Path) -> None:
    """A raw cell has none, and neither has a cell of a damaged type."""
    for kind in ("raw", ["markdown"], None):
        notebook = handed_out(BOOKS[SPLIT])
        named(notebook, "explain_reshape_order")["cell_type"] = kind
        path = desk / f"{SPLIT}.ipynb"
        path.write_text(json.dumps(notebook), encoding="utf-8")

        assert findings(path)["unanswered"] == ["split_heads", "merge_heads", "tokens_in_naive_head"]


def test_a_notebooks_texts_give_the_terminal_no_orders(
    desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a message, a class, a cell's name nor the path can set a title or clear the screen."""
    orders = "\x1b]0;owned\x07\x1b[2J\x9b2J\r\u202e"
    notebook = solved(SPLIT)
    raising = f"raise type('C\\x1b[2J', (Exception,), {{}})({orders!r} + 'the end')"
    named(notebook, "test_merge_heads")["source"] = raising
    named(notebook, "test_split_heads")["metadata"]["nbgrader"]["grade_id"] = f"split{orders}"
    named(notebook, "split_heads")["source"] = "raise ValueError('\\x1bc')"
    path = saved(desk, notebook, "a\x1b[2J")

    (found,) = checked([path], unsafe_no_sandbox=bool(UNSAFE))
    assert "\x1b]0;owned\x07" in found.tests[1].message
    print_validation(found)
    shown = capsys.readouterr().out

    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", shown)
    for words in ("the end", "✗ split", "owned", "/a�[2J.ipynb: "):
        assert words in shown


@pytest.mark.parametrize("arguments", [(), ("no_such_notebook.ipynb",), (Path(__file__).parent,)])
def test_a_notebook_has_to_be_named(arguments: tuple[object, ...]) -> None:
    """A wrong command is told from a failing notebook by its exit code."""
    assert validate(*arguments).exit_code == USAGE


def test_without_a_wall_nothing_is_run_unless_asked_for(desk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when grading; the flag is the same."""
    monkeypatch.setattr(wall, "probe", lambda: replace(probe(), tier=Tier.C, missing=("it is a test",)))
    path = saved(desk, solved(SPLIT))

    refused = CliRunner().invoke(main, ["validate", str(path)])
    allowed = CliRunner().invoke(main, ["validate", "--unsafe-no-sandbox", str(path)])

    assert refused.exit_code == FAILED
    assert "--unsafe-no-sandbox" in refused.output
    assert allowed.exit_code == 0
