"""Repair of a classic notebook: what is told of a change, how grave it is, and what is kept of it."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import pytest
from handouts import ASSIGNMENT, COURSE, RELEASED, handed_out, named

from autograder.course.handout import released_notebook
from autograder.course.released import ReleasedNotebook, checksum, unanswered
from autograder.findings import EvidenceKind, RepairKind, Severity
from autograder.notebook import read_notebook
from autograder.submission.repair import repair
from autograder.variants import fill, load_variants, solved_cells

if TYPE_CHECKING:
    from autograder.notebook import Cell, Notebook

STUB = "def double(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()"
TEST = "assert double(1) == 2, 'one'\nassert double(0) == 0\n\nassert double(-3) == -6"
HIDDEN = f"{TEST}\n### BEGIN HIDDEN TESTS\nassert double(10**9) == 2 * 10**9\n### END HIDDEN TESTS"
ANSWER = "def double(x):\n    return 2 * x"


def cell(source: str, grade_id: str = "", cell_type: str = "code", **flags: Any) -> Cell:
    """Return a cell as nbgrader releases it."""
    metadata: dict[str, Any] = {}
    if grade_id:
        stock = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
        metadata["nbgrader"] = stock | {"grade_id": grade_id} | flags
    made: Cell = {"cell_type": cell_type, "source": source, "metadata": metadata, "id": grade_id or "plain"}
    if grade_id:
        metadata["nbgrader"]["checksum"] = checksum(made)
    return made


def notebook(test: str) -> Notebook:
    """Return the notebook with a test."""
    cells = [
        cell("# Doubling\n\nRead this first.", "intro", "markdown", locked=True),
        cell("import math", "imports", locked=True),
        cell("def helper(x):\n    return x + 1") | {"id": "helper"},
        cell("print('no name in here')") | {"id": "demo"},
        cell(STUB, "double", solution=True),
        cell(test, "test_double", grade=True, locked=True, points=2),
        cell("Why does it work?", "why_question", "markdown", locked=True),
        cell("YOUR ANSWER HERE", "why", "markdown", grade=True, solution=True, points=3),
        cell("Draw a picture of it below.", "draw", "markdown", locked=True, task=True, points=1),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


BOOK = released_notebook("doubling", notebook(HIDDEN), notebook(TEST))


def submitted() -> Notebook:
    """Return an honest submission."""
    book = notebook(TEST)
    named(book, "double")["source"] = ANSWER
    named(book, "why")["source"] = "Because of distributivity."
    return book


def changed(
    name: str, source: str
) -> tuple[Notebook, set[RepairKind], list[tuple[EvidenceKind, Severity, str]]]:
    """Return what comes of a cell with another source: the notebook, kinds of repairs, and evidence."""
    book = submitted()
    named(book, name)["source"] = source
    repaired, repairs, evidence = repair(book, BOOK)
    return repaired, {one.kind for one in repairs}, [(one.kind, one.severity, one.detail) for one in evidence]


# ---------------------------------------------------------------- no false alarm


def test_honest_work_of_every_known_solution_gives_no_finding() -> None:
    """Right or wrong, with helpers and imports of its own, or with one answer left as it was handed out."""
    variants = [
        one
        for kind in ("alternatives", "misconceptions")
        for one in load_variants(COURSE.root, kind, ASSIGNMENT)
    ]
    tried = 0
    for released in RELEASED:
        source = read_notebook(COURSE.source(ASSIGNMENT) / f"{released.name}.ipynb")
        solved = solved_cells(source)
        all_of_them = [solved, *(solved_cells(source, one) for one in variants)]
        some_left = [{name: text for name, text in solved.items() if name != left} for left in solved]
        for cells in [*all_of_them, *some_left]:
            if cells == solved and tried:
                continue
            _, repairs, evidence = repair(fill(handed_out(released), cells), released)
            tried += 1
            assert (repairs, evidence) == ((), ())

    assert tried > 200


@pytest.mark.parametrize(
    "test",
    [TEST + "\n\n\n", TEST.replace("\n", "\r\n"), TEST.replace("\n", "   \n"), TEST.replace("\n\n", "\n")],
)
def test_blanks_and_line_ends_are_no_change(test: str) -> None:
    """Editors make them by themselves."""
    _, repairs, evidence = changed("test_double", test)

    assert (repairs, evidence) == (set(), [])


def test_tags_of_the_release_and_tags_for_looks_are_no_change() -> None:
    """Only what makes a cell run in another way is told."""
    released = copy.deepcopy(notebook(TEST))
    named(released, "test_double")["metadata"]["tags"] = ["raises-exception", "skip-execution"]
    book = released_notebook("doubling", notebook(HIDDEN), released)
    handed_in = copy.deepcopy(released)
    named(handed_in, "double")["metadata"]["tags"] = ["hide-input", "slide"]

    assert repair(handed_in, book)[1:] == ((), ())
    assert {one.kind for one in repair(handed_in, BOOK)[1]} == {RepairKind.TAGGED}


def test_a_changed_copy_of_a_test_beside_it_is_no_tampering() -> None:
    """Students try things in copies."""
    book = submitted()
    copied = copy.deepcopy(named(book, "test_double")) | {"source": "assert double(1) == 3", "id": "mine"}
    book["cells"].insert(4, copied)

    repaired, repairs, evidence = repair(book, BOOK)

    assert ([one.kind for one in repairs], evidence) == ([RepairKind.COPIED], ())
    assert "assert double(1) == 3" in [one["source"] for one in repaired["cells"]]


# ------------------------------------------------------------------ how grave


@pytest.mark.parametrize(
    ("test", "severity"),
    [
        (TEST.replace("'one'", '"one"').replace("double(1) ==", "double( 1 )=="), Severity.NOTICE),
        (TEST + "\n# why minus?", Severity.NOTICE),
        ("print(double(1))\n" + TEST, Severity.NOTICE),
        ("x" + TEST.replace("\nassert", "\nassert assert"), Severity.NOTICE),
        (TEST.replace("== 0", "!= 99"), Severity.DOUBT),
        (TEST.replace("\nassert double(0) == 0", ""), Severity.DOUBT),
        ("pass", Severity.DOUBT),
        ("", Severity.DOUBT),
        ("def double(x):\n    return 2 * x", Severity.DOUBT),
    ],
)
def test_a_changed_test_is_told_as_what_it_is(test: str, severity: Severity) -> None:
    """Layout, comments, prints and slips are accidents; a test that asks less is a question."""
    repaired, repairs, evidence = changed("test_double", test)

    assert repairs == {RepairKind.SOURCE}
    assert [one[:2] for one in evidence] == [(EvidenceKind.LOCKED_CELL, severity)]
    assert named(repaired, "test_double")["source"] == HIDDEN


def test_the_changed_lines_are_shown_few_and_short() -> None:
    """What went with a minus, what came with a plus; not a novel, and not a hidden line."""
    _, _, [(_, _, detail)] = changed("test_double", TEST.replace("== 0", "!= 99"))
    assert detail.split("\n")[1:] == ["- assert double(0) == 0", "+ assert double(0) != 99"]

    _, _, [(_, _, detail)] = changed("test_double", "\n".join(f"x{n} = {'1' * 200}" for n in range(500)))
    assert len(detail) <= 600
    assert detail.split("\n")[-1].startswith("and ")


@pytest.mark.parametrize(
    "test", [HIDDEN, "assert double(10**9) == 2 * 10**9", HIDDEN.replace("'one'", "'two'")]
)
def test_hidden_tests_in_what_is_handed_in_are_told(test: str) -> None:
    """All of them, or one line among others."""
    _, repairs, evidence = changed("test_double", test)

    assert repairs == {RepairKind.HIDDEN_TESTS}
    assert [one[:2] for one in evidence] == [(EvidenceKind.HIDDEN_TESTS, Severity.DOUBT)]


@pytest.mark.parametrize("points", [200, "200", None, [1], float("inf"), 10**400, {}])
def test_changed_points_are_told_whatever_they_are(points: Any) -> None:
    """And stopped nobody."""
    book = submitted()
    named(book, "test_double")["metadata"]["nbgrader"]["points"] = points

    _, repairs, evidence = repair(book, BOOK)

    assert [one.kind for one in repairs] == [RepairKind.FLAGS]
    assert [(one.kind, one.severity) for one in evidence] == [(EvidenceKind.POINTS, Severity.DOUBT)]


@pytest.mark.parametrize("name", ["test_double", "why", "double", "intro"])
def test_cells_of_another_release_are_no_tampering(name: str) -> None:
    """Their checksums are nbgrader's: of their own text and points, of an answer with the stub in it."""
    book = submitted()
    one = named(book, name)
    nbgrader = one["metadata"]["nbgrader"]
    nbgrader["points"] = 7
    if name in {"test_double", "intro"}:
        one["source"] = "assert double(2) == 4"
    stub = {"why": "YOUR ANSWER HERE", "double": STUB}.get(name, one["source"])
    nbgrader["checksum"] = checksum(one | {"source": stub})

    _, repairs, evidence = repair(book, BOOK)

    # Points are no part of the checksum of a cell without a grade.
    graded = name in {"test_double", "why"}
    assert evidence == () or not graded
    assert ([found.kind for found in repairs] == [RepairKind.OTHER_RELEASE]) == (graded or name == "intro")


# ------------------------------------------------------------------- what is kept


def test_what_was_typed_into_given_code_runs_below_it() -> None:
    """An import that the answer needs, and nothing that is there already."""
    source = "import math\nimport cmath\n\n\ndef half(x):\n    return x / 2\n\n\nprint(half(3))"
    repaired, repairs, evidence = changed("imports", source)
    at = repaired["cells"].index(named(repaired, "imports"))

    assert repairs == {RepairKind.SOURCE, RepairKind.KEPT}
    assert [one[:2] for one in evidence] == [(EvidenceKind.LOCKED_CELL, Severity.NOTICE)]
    assert named(repaired, "imports")["source"] == "import math"
    assert repaired["cells"][at + 1]["source"] == "import cmath\n\ndef half(x):\n    return x / 2"


def test_words_below_a_given_text_are_kept_to_be_read() -> None:
    """And below a task they are what a person grades."""
    for name, text in (("intro", "# Doubling\n\nRead this first.\n\nI did."), ("draw", "My picture: o-o")):
        repaired, repairs, _ = changed(name, text)
        at = repaired["cells"].index(named(repaired, name))

        assert repairs == {RepairKind.SOURCE, RepairKind.KEPT}
        assert repaired["cells"][at + 1]["source"] == text.split("\n")[-1]


def test_a_corrected_word_of_a_given_text_is_told_and_not_kept() -> None:
    """It is no work of anybody's."""
    repaired, repairs, evidence = changed("intro", "# Doubling\n\nRead that first.")

    assert repairs == {RepairKind.SOURCE}
    assert [one[:2] for one in evidence] == [(EvidenceKind.LOCKED_CELL, Severity.NOTICE)]
    assert len(repaired["cells"]) == len(submitted()["cells"])


@pytest.mark.parametrize("beside", ["below", "above", "question"])
def test_words_beside_an_empty_answer_are_the_answer(beside: str) -> None:
    """A person reads them anyway; a zero nobody would have looked at."""
    book = submitted()
    named(book, "why")["source"] = "YOUR ANSWER HERE \r\n"
    at = book["cells"].index(named(book, "why"))
    if beside == "question":
        named(book, "why_question")["source"] += "\n\nBecause."
    else:
        book["cells"].insert(at + (beside == "below"), cell("Because.", cell_type="markdown"))

    repaired, repairs, _ = repair(book, BOOK)

    assert named(repaired, "why")["source"] == "Because."
    assert unanswered(repaired, BOOK) == frozenset()
    assert RepairKind.FOUND in {one.kind for one in repairs}


def test_an_empty_answer_with_nothing_beside_it_stays_empty() -> None:
    """Whatever line ends it has got."""
    book = submitted()
    named(book, "why")["source"] = "YOUR ANSWER HERE \r\n"
    named(book, "double")["source"] = STUB.replace("\n", "\r\n")

    repaired, repairs, _ = repair(book, BOOK)

    assert unanswered(repaired, BOOK) == {"why", "double"}
    assert repairs == ()


def test_given_code_that_anybody_may_delete_comes_back_if_it_is_missed() -> None:
    """A helper does; a demonstration, or a helper that the student has written anew, does not."""
    book = submitted()
    book["cells"] = [one for one in book["cells"] if one["id"] not in {"helper", "demo"}]

    repaired, repairs, _ = repair(book, BOOK)

    assert [(one.kind, one.where) for one in repairs] == [
        (RepairKind.MISSING, "cell 3 of what was handed out")
    ]
    assert "def helper(x):\n    return x + 1" in [one["source"] for one in repaired["cells"]]

    book["cells"].append(cell("def helper(x):\n    return x + 2"))
    assert repair(book, BOOK)[1] == ()


def test_another_notebook_is_repaired_to_an_empty_one() -> None:
    """Everything given is there, nothing is answered, and no finding is told twice."""
    other: ReleasedNotebook = RELEASED[0]
    repaired, repairs, evidence = repair(handed_out(other), BOOK)

    assert [one["source"] for one in repaired["cells"] if one["id"] == "test_double"] == [HIDDEN]
    assert {one.kind for one in repairs} >= {RepairKind.MISSING, RepairKind.LOST}
    assert len({str(one) for one in repairs}) == len(repairs)
    assert evidence == ()
