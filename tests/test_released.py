"""Released cells: nbgrader's own bookkeeping, read the way nbgrader wrote it."""

from __future__ import annotations

import copy
from decimal import Decimal

import pytest
from gradebook_rows import gradebook_rows
from handouts import ALL_RELEASED, ASSIGNMENT, COURSE, RELEASED, SPLIT, handed_out, named

from autograder.course.handout import released_notebook
from autograder.course.released import Kind, hidden_check, strip_hidden, stub
from autograder.errors import NotebookError
from autograder.notebook import Notebook, read_notebook


def source() -> Notebook:
    """Return the instructor's notebook."""
    return read_notebook(COURSE.source(ASSIGNMENT) / f"{SPLIT.name}.ipynb")


def test_checksums_are_nbgraders() -> None:
    """With any other it would report every cell as changed."""
    stored = {
        (notebook, name): checksum
        for notebook, name, *_, checksum in gradebook_rows(COURSE.gradebook)["source_cell"]
    }

    books = [book for _, book in ALL_RELEASED.values()]
    ours = {(book.name, cell.grade_id): cell.checksum for book in books for cell in book.cells}

    assert ours == stored


def test_kinds_and_points_are_those_of_the_assignment() -> None:
    """The table that students see in the lesson."""
    assert sum(book.max_score for book in RELEASED) == Decimal(21)
    assert [(cell.grade_id, cell.kind, cell.points) for cell in SPLIT.graded] == [
        ("test_split_heads", Kind.TEST, Decimal(3)),
        ("test_merge_heads", Kind.TEST, Decimal(2)),
        ("test_tokens_in_naive_head", Kind.TEST, Decimal(1)),
        ("explain_reshape_order", Kind.MANUAL, Decimal(3)),
    ]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\nb", "a\nb"),
        ("a\n### BEGIN HIDDEN TESTS\nb\n### END HIDDEN TESTS", "a"),
        ("### BEGIN HIDDEN TESTS\nb\n### END HIDDEN TESTS\na", "a"),
        ("a\n# BEGIN HIDDEN TESTS\nb", "a"),
        ("a\n# END HIDDEN TESTS\nb", "a\nb"),
        ("# BEGIN HIDDEN TESTS\n# BEGIN HIDDEN TESTS\nb\n# END HIDDEN TESTS\na", "a"),
    ],
)
def test_hidden_lines_never_remain(text: str, kept: str) -> None:
    """A marker that is missing hides the rest, and shows nothing."""
    assert strip_hidden(text) == kept


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ('run_checks("test_a")', "test_a"),
        ("run_checks('test_a')", "test_a"),
        ('points = run_checks( "test_a" )', "test_a"),
        ('# run_checks("test_a")', None),
        ("run_checks(name)", None),
        ("assert split_heads(x, 2)", None),
    ],
)
def test_the_check_is_named_in_the_hidden_lines(line: str, name: str | None) -> None:
    """A call elsewhere is the student's to see, and none of ours."""
    assert hidden_check(f"a\n### BEGIN HIDDEN TESTS\n{line}\n### END HIDDEN TESTS") == name
    assert hidden_check(line) is None


def test_a_stub_takes_the_place_of_the_solution() -> None:
    """At its indentation; a cell without markers is all solution."""
    text = "def f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n\n# more"

    assert stub(text, "code") == "def f():\n    # YOUR CODE HERE\n    raise NotImplementedError()\n\n# more"
    assert stub("the answer", "markdown") == "YOUR ANSWER HERE"


def test_a_cell_that_the_source_lacks_is_refused() -> None:
    """The release is of another source."""
    release = handed_out(SPLIT)
    named(release, "test_split_heads")["metadata"]["nbgrader"]["grade_id"] = "test_old"

    with pytest.raises(NotebookError, match=r"'test_old' is in the release twice, or not in its source"):
        released_notebook(SPLIT.name, source(), release)


def test_a_cell_twice_is_refused() -> None:
    """Its score would be anybody's guess."""
    release = handed_out(SPLIT)
    release["cells"].append(copy.deepcopy(named(release, "test_split_heads")))

    with pytest.raises(NotebookError, match="twice"):
        released_notebook(SPLIT.name, source(), release)


def test_points_that_are_no_number_are_refused() -> None:
    """They are typed by hand."""
    release = handed_out(SPLIT)
    named(release, "test_split_heads")["metadata"]["nbgrader"]["points"] = "three"

    with pytest.raises(NotebookError, match="points that are no number"):
        released_notebook(SPLIT.name, source(), release)


def test_given_is_what_comes_before_the_first_cell_of_a_student() -> None:
    """Code alone; text between does not count, and nothing graded is given."""
    for book in RELEASED:
        code = [cell for cell in book.layout if cell.cell_type == "code"]
        count = len(book.given)

        assert tuple(cell.released for cell in code[:count]) == book.given
        assert 0 < count < len(code)
        assert not any(cell.kind.graded or cell.kind is Kind.SOLUTION for cell in code[:count])
        assert code[count].kind.graded or code[count].kind is Kind.SOLUTION
