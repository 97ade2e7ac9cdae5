"""Cells that were copied, split, merged, deleted, or written elsewhere."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from damaged import COUNT, EXAMPLE, HEAD_DIM, NOTICE, ONE, RELEASE, SOLVED, THREE, TWO, case

from autograder.course.released import grade_id_of
from autograder.findings import EvidenceKind as E
from autograder.findings import RepairKind as R

if TYPE_CHECKING:
    from damaged import Submission


# ------------------------------------------------------------- nothing is wrong


@case(books=(ONE, TWO, THREE))
def honest(_: Submission) -> None:
    """Nothing happened to it."""


@case(lost={"test_head_dim": "0", "test_parameter_count": "0", "test_worked_example": "0"})
def blank(s: Submission) -> None:
    """It is handed in as it was handed out."""
    s.books[ONE] = copy.deepcopy(RELEASE[ONE])


@case()
def run_and_saved(s: Submission) -> None:
    """Outputs, counts, another kernel, collapsed cells, tags for looks: what a session leaves."""
    for number, cell in enumerate(s.cells):
        cell["metadata"] |= {"collapsed": True, "tags": ["hide-input"], "slideshow": {"slide_type": "slide"}}
        if cell["cell_type"] == "code":
            cell["execution_count"] = number
            cell["outputs"] = [{"output_type": "stream", "name": "stderr", "text": "Warning\n"}]
    s.book["metadata"] = {"kernelspec": {"name": "conda-env-x", "display_name": "x", "language": "python"}}


@case()
def own_cells_in_between(s: Submission) -> None:
    """Scratch code, a magic, notes, a cell that raises, an empty one."""
    for source in ("%matplotlib inline\n1 / 0", "scratch = head_dim(4, 2)", "!ls", ""):
        s.cells.insert(s.at("test_head_dim"), s.new(source))
    s.cells.insert(3, s.new("my notes", "markdown"))


@case()
def line_ends_and_blanks(s: Submission) -> None:
    """A Windows editor changes every line."""
    for cell in s.cells:
        cell["source"] = "\n" + cell["source"].replace("\n", "  \r\n") + "\r\n\r\n"


@case()
def helper_above_and_test_of_ones_own(s: Submission) -> None:
    """The answer uses a function of another cell; the test was copied to play with."""
    s.cell("head_dim")["source"] = HEAD_DIM.replace("d_model // n_heads", "divided(d_model, n_heads)")
    s.cells.insert(s.at("head_dim"), s.new("def divided(a, b):\n    return a // b"))
    s.cells.insert(s.at("test_head_dim") + 1, s.new("assert head_dim(6, 3) == 2\nprint('fine')"))


# --------------------------------------------------------------- copies of cells


@case(repairs={(R.COPIED, "test_head_dim")})
def test_copied(s: Submission) -> None:
    """A copied test stops a whole batch of nbgrader's."""
    s.cells.append(s.copy("test_head_dim"))


@case(repairs={(R.COPIED, "head_dim")})
def stub_copied_below_the_answer(s: Submission) -> None:
    """A copy of what was handed out must not undo the answer."""
    s.cells.insert(s.at("head_dim") + 1, s.copy("head_dim", s.stub("head_dim")))


@case(repairs={(R.COPIED, "head_dim")})
def stub_copied_above_the_answer(s: Submission) -> None:
    """Nor count as the answer."""
    s.cells.insert(s.at("head_dim"), s.copy("head_dim", s.stub("head_dim")))


@case(repairs={(R.COPIED, "head_dim")})
def old_version_kept_above(s: Submission) -> None:
    """The newer one below is what the kernel used."""
    s.cells.insert(s.at("head_dim"), s.copy("head_dim", "def head_dim(d_model, n_heads):\n    return 7"))


@case(lost={"test_head_dim": "0"}, repairs={(R.COPIED, "head_dim")})
def wrong_version_below(s: Submission) -> None:
    """What runs last counts, also if it is wrong."""
    s.cells.insert(
        s.at("head_dim") + 1,
        s.copy("head_dim", "def head_dim(d_model, n_heads):\n    return d_model - n_heads"),
    )


@case(repairs={(R.COPIED, "head_dim")})
def unfinished_version_below(s: Submission) -> None:
    """A state that still raises was not meant to undo a finished one."""
    s.cells.insert(
        s.at("head_dim") + 1, s.copy("head_dim", s.stub("head_dim").replace("# YOUR CODE HERE", "# divide!"))
    )


@case(repairs={(R.COPIED, "head_dim")})
def experiment_below_the_test(s: Submission) -> None:
    """A copy at the end does not change what the test above it saw."""
    s.cells.append(s.copy("head_dim", "def head_dim(d_model, n_heads):\n    return 'an experiment'"))


@case(
    repairs={
        (R.COPIED, "head_dim"),
        (R.COPIED, "test_head_dim"),
        (R.MOVED, "head_dim"),
        (R.MOVED, "test_head_dim"),
    }
)
def second_attempt_at_the_end(s: Submission) -> None:
    """Answer and test copied below and worked on there: the second attempt is the answer."""
    answer, test = s.copy("head_dim"), s.copy("test_head_dim")
    s.cell("head_dim")["source"] = "def head_dim(d_model, n_heads):\n    return 0"
    s.cells[len(s.cells) :] = [s.new("def share(a, b):\n    return a // b"), answer, test]
    answer["source"] = answer["source"].replace("d_model // n_heads", "share(d_model, n_heads)")


@case(repairs={(R.COPIED, name) for name in ("imports", "head_dim", "test_head_dim", "parameter_count")})
def everything_pasted_twice(s: Submission) -> None:
    """The whole notebook, twice: some press the key twice."""
    names = {"imports", "head_dim", "test_head_dim", "parameter_count"}
    s.cells.extend(copy.deepcopy(cell) for cell in list(s.cells) if grade_id_of(cell) in names)


# ------------------------------------------------------------------ split cells


@case(repairs={(R.JOINED, "head_dim")})
def split_inside_a_function(s: Submission) -> None:
    """Neither part is Python alone, or means the same."""
    s.split("head_dim", "    return d_model")


@case(repairs={(R.JOINED, "head_dim")})
def split_before_the_body(s: Submission) -> None:
    """The second part starts with a blank, which IPython forgives."""
    s.split("head_dim", "    if d_model %")


@case(repairs={(R.JOINED, "head_dim")})
def split_in_three(s: Submission) -> None:
    """Three parts of one function."""
    s.split("head_dim", "    return d_model")
    s.split("head_dim", "        raise ValueError")


@case(repairs={(R.JOINED, "head_dim")})
def split_by_an_editor_that_copies_no_metadata(s: Submission) -> None:
    """The second part is nobody's cell."""
    s.split("head_dim", "    return d_model", metadata=False)


@case(repairs={(R.JOINED, "worked_example")})
def split_between_definitions(s: Submission) -> None:
    """Both parts are whole: they are one answer."""
    s.split("worked_example", "n_parameters =")


@case(repairs={(R.JOINED, name) for name in SOLVED[ONE]})
def every_line_a_cell(s: Submission) -> None:
    """An editor's split, repeated: all cells have the name of the first."""
    for name in SOLVED[ONE]:
        s.split_lines(name)


@case(lost={"test_head_dim": "0.25"}, repairs={(R.JOINED, "head_dim")})
def every_line_of_a_wrong_answer_a_cell(s: Submission) -> None:
    """Put together again, it is as wrong as it was."""
    s.cell("head_dim")["source"] = HEAD_DIM.replace("d_model // n_heads", "d_model - n_heads")
    s.split_lines("head_dim")


@case(repairs={(R.JOINED, "head_dim")})
def every_line_a_cell_below_the_stub(s: Submission) -> None:
    """What was handed out is not a part."""
    s.split_lines("head_dim")
    s.cells.insert(s.at("head_dim"), s.copy("head_dim", s.stub("head_dim")))


@case(repairs={(R.JOINED, "head_dim")})
def every_line_a_cell_without_metadata(s: Submission) -> None:
    """Only the first one has a name."""
    s.split_lines("head_dim")
    for cell in s.cells[s.at("head_dim") + 1 : s.at("test_head_dim")]:
        cell["metadata"] = {}


@case(repairs={(R.JOINED, "test_head_dim")})
def every_line_of_a_test_a_cell(s: Submission) -> None:
    """Nothing is changed in it."""
    s.split_lines("test_head_dim")


@case(repairs={(R.JOINED, "test_head_dim")})
def test_split(s: Submission) -> None:
    """Splitting a test changes nothing in it."""
    s.split("test_head_dim", "# 7 features")


@case(books=(TWO,), repairs={(R.JOINED, "explain_reshape_order")})
def written_answer_split(s: Submission) -> None:
    """Both halves are the answer."""
    s.split("explain_reshape_order", "**(b)**")


# ----------------------------------------------------------------- merged cells


@case(repairs={(R.FOUND, "single_head_parameter_count")})
def two_answers_merged(s: Submission) -> None:
    """The second one has no cell of its own any more."""
    s.merge("parameter_count", "single_head_parameter_count")


@case(repairs={(R.MERGED, "head_dim")})
def answer_and_test_merged(s: Submission) -> None:
    """The test is part of an answer now."""
    s.merge("head_dim", "test_head_dim")


@case(repairs={(R.MERGED, "head_dim"), (R.FOUND, "single_head_parameter_count")})
def everything_merged(s: Submission) -> None:
    """One cell from the first answer to the last test, prose in between: no Python as a whole."""
    s.merge("head_dim", "test_worked_example")


@case(repairs={(R.MERGED, "test_head_dim")})
def test_and_next_answer_merged(s: Submission) -> None:
    """The answer is in a locked cell, below the text of its task."""
    s.merge("test_head_dim", "parameter_count")


@case(
    lost={"test_parameter_count": "0.5", "test_worked_example": "0.25"},
    repairs={(R.FOUND, "single_head_parameter_count")},
)
def merged_with_a_broken_one(s: Submission) -> None:
    """Of two answers in one cell, the broken one costs what needs it, not the other."""
    s.cell("parameter_count")["source"] = COUNT.replace(
        "d_k = head_dim(d_model, n_heads)", "d_k = = head_dim("
    )
    s.merge("parameter_count", "single_head_parameter_count")


# ------------------------------------------------------- deleted and found again


@case(repairs={(R.FOUND, "head_dim")})
def deleted_and_retyped_in_a_new_cell(s: Submission) -> None:
    """The student's own cell in its place is the answer."""
    s.cells.insert(s.at("test_head_dim"), s.new(HEAD_DIM))
    s.cut("head_dim")


@case(repairs={(R.FOUND, "head_dim")})
def answered_above_an_untouched_cell(s: Submission) -> None:
    """The stub below must not undo it."""
    s.cells.insert(s.at("head_dim"), s.new(HEAD_DIM))
    s.cell("head_dim")["source"] = s.stub("head_dim")


@case(repairs={(R.FOUND, "head_dim")})
def deleted_and_written_at_the_end(s: Submission) -> None:
    """The answer stands below its test, with a helper in a cell above it."""
    s.cut("head_dim")
    s.cells.append(s.new("from operator import floordiv\ndef share(a, b):\n    return floordiv(a, b)"))
    s.cells.append(s.new(HEAD_DIM.replace("d_model // n_heads", "share(d_model, n_heads)")))


@case(repairs={(R.FOUND, "head_dim")})
def untouched_and_written_at_the_end(s: Submission) -> None:
    """The same with the empty cell still there."""
    s.cell("head_dim")["source"] = s.stub("head_dim")
    s.cells.append(s.new(HEAD_DIM))


@case(repairs={(R.FOUND, "head_dim")})
def written_into_the_next_answer(s: Submission) -> None:
    """Two functions in one answer cell, below the test of the first."""
    cell = s.cell("parameter_count")
    cell["source"] = s.cell("head_dim")["source"] + "\n\n\n" + cell["source"]
    s.cut("head_dim")


@case(
    repairs={(R.FOUND, "head_dim"), (R.SOURCE, "test_head_dim")},
    evidence={(E.LOCKED_CELL, NOTICE, "test_head_dim")},
)
def written_into_the_test(s: Submission) -> None:
    """The student typed above the asserts."""
    cell = s.cell("test_head_dim")
    cell["source"] = s.cell("head_dim")["source"] + "\n\n" + cell["source"]
    s.cut("head_dim")


@case(repairs={(R.FOUND, "worked_example")})
def numbers_set_in_another_cell(s: Submission) -> None:
    """What a stub of comments asks for is known from its test."""
    s.cells.append(s.new("# my numbers\n" + EXAMPLE))
    s.cell("worked_example")["source"] = s.stub("worked_example")


@case(repairs={(R.FOUND, "head_dim"), (R.RETYPED, "head_dim")})
def answer_in_a_markdown_cell(s: Submission) -> None:
    """A new cell that was never turned into code."""
    s.cells.insert(s.at("head_dim"), s.new(HEAD_DIM, "markdown"))
    s.cut("head_dim")


@case(lost={"test_head_dim": "0", "test_worked_example": "0.75"}, repairs={(R.LOST, "head_dim")})
def answer_deleted(s: Submission) -> None:
    """What is not there cannot be found; the others count what they can."""
    s.cut("head_dim")
    s.cell("parameter_count")["source"] = COUNT.replace(
        "head_dim(d_model, n_heads)", "d_model // n_heads"
    ).replace("    d_k =", "    assert d_model % n_heads == 0\n    d_k =")
    s.cell("worked_example")["source"] = EXAMPLE.replace("head_dim(512, 8)", "None")


@case(books=(TWO,), repairs={(R.FOUND, "explain_reshape_order")})
def written_answer_below_its_cell(s: Submission) -> None:
    """'YOUR ANSWER HERE' is still there, the answer stands below it."""
    answer = s.cell("explain_reshape_order")["source"]
    s.cells.insert(s.at("explain_reshape_order") + 1, s.new(answer, "markdown"))
    s.cell("explain_reshape_order")["source"] = "YOUR ANSWER HERE"


@case(
    books=(TWO,),
    repairs={(R.FOUND, "explain_reshape_order"), (R.SOURCE, "explain_reshape_order_question")},
    evidence={(E.LOCKED_CELL, NOTICE, "explain_reshape_order_question")},
)
def written_answer_in_the_question(s: Submission) -> None:
    """It was typed into the cell with the question."""
    s.cell("explain_reshape_order_question")["source"] += (
        "\n\nBecause reshape keeps the order of the numbers."
    )
    s.cell("explain_reshape_order")["source"] = "YOUR ANSWER HERE"


@case(books=(TWO,), repairs={(R.FOUND, "explain_reshape_order")})
def written_answer_in_a_code_cell(s: Submission) -> None:
    """The cell was deleted, the answer typed as a comment."""
    s.cells.insert(
        s.at("explain_reshape_order"), s.new("# Because reshape keeps\n# the order of the numbers.")
    )
    s.cut("explain_reshape_order")


@case(books=(TWO,), lost={"explain_reshape_order": "0"}, repairs={(R.LOST, "explain_reshape_order")})
def written_answer_deleted(s: Submission) -> None:
    """There is nothing for a person to read."""
    s.cut("explain_reshape_order")


@case(books=(TWO,), repairs={(R.RETYPED, "explain_reshape_order")})
def written_answer_turned_into_code(s: Submission) -> None:
    """A key pressed by mistake."""
    s.cell("explain_reshape_order")["cell_type"] = "code"


@case(repairs={(R.SOURCE, "imports"), (R.KEPT, "imports")}, evidence={(E.LOCKED_CELL, NOTICE, "imports")})
def import_added_to_the_imports(s: Submission) -> None:
    """The cell is locked, some editors let it be changed, and the answer needs the import."""
    s.cell("imports")["source"] += "\nimport operator\n"
    s.cell("head_dim")["source"] = HEAD_DIM.replace(
        "d_model // n_heads", "operator.floordiv(d_model, n_heads)"
    )
