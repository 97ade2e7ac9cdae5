"""Cells in other places, of other types, without their marks, through other editors, or tampered with."""

from __future__ import annotations

import ast
import copy

from damaged import (
    ATTACK,
    DOUBT,
    FULL,
    LAYER,
    NOTICE,
    ONE,
    RELEASE,
    RELEASED,
    SOLVED,
    THREE,
    TWO,
    Submission,
    case,
)

from autograder.course.released import checksum
from autograder.findings import EvidenceKind as E
from autograder.findings import RepairKind as R

LAYER_CELL = "multi_head_attention_class"

# ------------------------------------------- moved, retyped, renamed, not there


@case(repairs={(R.MOVED, "test_head_dim")})
def test_moved_to_the_top(s: Submission) -> None:
    """Above its answer it would fail."""
    s.cells.insert(0, s.cut("test_head_dim"))


@case(repairs={(R.MOVED, "head_dim")})
def answer_moved_to_the_end(s: Submission) -> None:
    """Together with a helper, which is needed above the test too."""
    cell = s.cut("head_dim")
    cell["source"] = cell["source"].replace("d_model // n_heads", "share(d_model, n_heads)")
    s.cells[len(s.cells) :] = [s.new("def share(a, b):\n    return a // b"), cell]


@case(repairs={(R.MOVED, cell.grade_id) for cell in RELEASED[ONE].cells if cell.grade_id != "worked_example"})
def upside_down(s: Submission) -> None:
    """All cells in the wrong order: one answer stays, the others go where they belong."""
    s.cells.reverse()


@case(repairs={(R.MISSING, name) for name in ("imports", "measure_the_rank", "test_head_dim")})
def given_cells_deleted(s: Submission) -> None:
    """Tidied up: what is given and a test are gone."""
    for name in ("imports", "measure_the_rank", "test_head_dim"):
        s.cut(name)


@case(repairs={(R.RETYPED, "head_dim"), (R.RETYPED, "test_head_dim"), (R.RETYPED, "imports")})
def code_turned_into_text(s: Submission) -> None:
    """An answer, a test and what is given, as Markdown and raw."""
    for name, kind in (("head_dim", "markdown"), ("test_head_dim", "raw"), ("imports", "markdown")):
        cell = s.cell(name)
        cell["cell_type"] = kind
        del cell["outputs"], cell["execution_count"]


@case(repairs={(R.RENAMED, "head_dim"), (R.RENAMED, "test_head_dim")})
def renamed(s: Submission) -> None:
    """For nbgrader the whole submission fails."""
    for name in ("head_dim", "test_head_dim"):
        s.nbgrader(name)["grade_id"] = f"my-{name}"


@case(repairs={(R.RENAMED, "test_head_dim"), (R.FOUND, "head_dim"), (R.STRANGE, "my-head_dim")})
def renamed_without_ids(s: Submission) -> None:
    """Known by what it is, and by what it defines."""
    for name in ("head_dim", "test_head_dim"):
        s.cell(name).pop("id")
        s.nbgrader(name)["grade_id"] = f"my-{name}"


@case(repairs={(R.STRANGE, "split_heads")})
def cell_of_another_notebook(s: Submission) -> None:
    """Pasted from the next exercise."""
    other = Submission((TWO,))
    s.cells.append(other.cell("split_heads"))


@case(repairs={(R.STRIPPED, "head_dim"), (R.STRIPPED, "test_head_dim")})
def metadata_of_two_cells_lost(s: Submission) -> None:
    """Known by their ids."""
    for name in ("head_dim", "test_head_dim"):
        s.cell(name)["metadata"] = {}


@case(repairs={(R.FOUND, "head_dim")})
def names_of_two_answers_mixed_up(s: Submission) -> None:
    """Each was typed into the other's cell; one of them stands below its test."""
    one, other = s.cell("head_dim"), s.cell("parameter_count")
    one["source"], other["source"] = other["source"], one["source"]


@case(repairs={(R.DAMAGED, "cell 1"), (R.DAMAGED, "cell 3"), (R.DAMAGED, "cell 6")})
def things_that_are_no_cells(s: Submission) -> None:
    """Null, a list and a number between the cells."""
    s.cells.insert(0, None)
    s.cells.insert(2, ["x"])
    s.cells.insert(5, 3)


# ---------------------------------------- an answer whose stub gives helpers too


@case(books=(THREE,), repairs={(R.FOUND, LAYER_CELL)})
def class_and_given_helper_below_the_test(s: Submission) -> None:
    """The cell is as it was handed out; what the stub gives is needed by what stands elsewhere."""
    s.cells.insert(s.at("test_forward") + 1, s.new(LAYER))
    s.cell(LAYER_CELL)["source"] = s.stub(LAYER_CELL)


@case(books=(THREE,), repairs={(R.FOUND, LAYER_CELL)})
def class_alone_below_its_stub(s: Submission) -> None:
    """It needs the helper that only the cell above it has."""
    s.cells.insert(s.at(LAYER_CELL) + 1, s.new(LAYER[LAYER.index("class ") :]))
    s.cell(LAYER_CELL)["source"] = s.stub(LAYER_CELL)


@case(books=(THREE,), repairs={(R.COPIED, LAYER_CELL)})
def class_alone_in_a_copy_of_its_cell(s: Submission) -> None:
    """The same, with the metadata of the cell."""
    s.cells.insert(s.at(LAYER_CELL) + 1, s.copy(LAYER_CELL, LAYER[LAYER.index("class ") :]))
    s.cell(LAYER_CELL)["source"] = s.stub(LAYER_CELL)


@case(books=(THREE,), repairs={(R.COPIED, LAYER_CELL)})
def class_alone_below_a_stub_without_its_metadata(s: Submission) -> None:
    """The same, the other way round."""
    s.cells.insert(s.at(LAYER_CELL), s.new(s.stub(LAYER_CELL)))
    s.cell(LAYER_CELL)["source"] = LAYER[LAYER.index("class ") :]


@case(books=(THREE,), lost={"test_forward": "2.25"}, repairs={(R.FOUND, LAYER_CELL)})
def wrong_class_below_its_stub(s: Submission) -> None:
    """What is found counts as it is."""
    wrong = (
        LAYER[LAYER.index("class ") :].replace("/ np.sqrt(self.dk)", "").replace("merged @ self.Wo", "merged")
    )
    s.cells.insert(s.at(LAYER_CELL) + 1, s.new(wrong))
    s.cell(LAYER_CELL)["source"] = s.stub(LAYER_CELL)


@case(
    books=(THREE,),
    repairs={(R.MOVED, name) for name in (LAYER_CELL, "change_the_future_check")}
    | {(R.MOVED, name) for name in ("test_forward", "test_roundtrip_is_exact")}
    | {(R.FOUND, name) for name in (LAYER_CELL, "roundtrip_is_exact")},
)
def metadata_of_answers_passed_on(s: Submission) -> None:
    """Each answer has the metadata of the next one."""
    cells = [s.cell(name) for name in SOLVED[THREE]]
    marks = [cell["metadata"] for cell in cells]
    for cell, mark in zip(cells, marks[1:] + marks[:1], strict=True):
        cell["metadata"] = mark


@case(
    books=(THREE,),
    repairs={(kind, "test_forward") for kind in (R.MERGED, R.MOVED, R.SOURCE)}
    | {(R.FOUND, name) for name in (LAYER_CELL, "roundtrip_is_exact")},
    evidence={(E.LOCKED_CELL, DOUBT, "test_forward")},
)
def all_code_in_one_test_cell(s: Submission) -> None:
    """Everything merged, and only a test's metadata left."""
    code = [cell for cell in s.cells if cell["cell_type"] == "code"]
    merged = s.copy("test_forward", "\n\n".join(cell["source"] for cell in code))
    s.cells[:] = [cell for cell in s.cells if cell["cell_type"] != "code"] + [merged]


# --------------------------------------------------------- through other editors


@case(books=(THREE,), repairs={(R.FOUND, name) for name in SOLVED[THREE]} | {(R.STRIPPED, "notebook")})
def pasted_below_what_was_handed_out(s: Submission) -> None:
    """The notebook twice without metadata, the first one untouched."""
    s.paste_twice()


@case(books=(TWO,), repairs={(R.FOUND, name) for name in SOLVED[TWO]} | {(R.STRIPPED, "notebook")})
def pasted_below_what_was_handed_out_with_words(s: Submission) -> None:
    """The answer in words is below the second copy of its question."""
    s.paste_twice()


@case(
    books=(TWO,),
    lost=dict.fromkeys(FULL[TWO], "0"),
    repairs={(R.COPIED, name) for name in SOLVED[TWO] if not name.startswith("explain")}
    | {(R.STRIPPED, "notebook")},
)
def pasted_twice_as_handed_out(s: Submission) -> None:
    """Two copies of nothing are nothing."""
    s.books[TWO] = copy.deepcopy(RELEASE[TWO])
    s.paste_twice()


@case(repairs={(R.STRIPPED, "notebook")})
def colab(s: Submission) -> None:
    """No metadata of nbgrader's, other ids, another format."""
    s.through_colab()


@case(books=(TWO,), repairs={(R.STRIPPED, "notebook")})
def colab_with_a_written_answer(s: Submission) -> None:
    """The answer in words is known by its place."""
    s.through_colab()


@case(
    lost={"test_parameter_count": "0", "test_worked_example": "0.25"},
    repairs={(R.STRIPPED, "notebook")},
)
def colab_half_done(s: Submission) -> None:
    """What was left as it was handed out is known too, and is no lost cell."""
    for name in ("parameter_count", "single_head_parameter_count"):
        s.cell(name)["source"] = s.stub(name)
    s.through_colab()


@case(
    repairs={
        (R.STRIPPED, "notebook"),
        (R.JOINED, "cell 8"),
        (R.MOVED, "test_worked_example"),
        (R.SOURCE, "imports"),
    },
    evidence={(E.LOCKED_CELL, NOTICE, "imports")},
)
def colab_and_more(s: Submission) -> None:
    """A split answer, a comment in what is given, a test in another place."""
    s.split("head_dim", "    return d_model", metadata=False)
    s.cell("imports")["source"] += "\n# numpy is an array library"
    s.cells.insert(3, s.cut("test_worked_example"))
    s.through_colab()


@case(repairs={(R.STRIPPED, "notebook")})
def jupytext(s: Submission) -> None:
    """Out of a script: texts, and nothing else."""
    s.through_text()


@case(
    repairs={(R.SOURCE, "test_head_dim"), (R.SOURCE, "measure_the_rank")},
    evidence={
        (E.LOCKED_CELL, NOTICE, "test_head_dim"),
        (E.LOCKED_CELL, NOTICE, "measure_the_rank"),
    },
)
def formatted(s: Submission) -> None:
    """A formatter that breaks lines and changes quotes changes no meaning."""
    for name in ("test_head_dim", "measure_the_rank"):
        cell = s.cell(name)
        cell["source"] = ast.unparse(ast.parse(cell["source"])) + "\n\n\n# formatted"


# ------------------------------------------------------------------ tampering


@case(repairs={(R.SOURCE, "test_head_dim")}, evidence={(E.LOCKED_CELL, NOTICE, "test_head_dim")})
def comment_in_a_test(s: Submission) -> None:
    """A note to oneself."""
    s.cell("test_head_dim")["source"] += "\n# I do not understand this one"


@case(repairs={(R.SOURCE, "test_head_dim")}, evidence={(E.LOCKED_CELL, NOTICE, "test_head_dim")})
def print_in_a_test(s: Submission) -> None:
    """To see what comes out."""
    s.cell("test_head_dim")["source"] += "\nprint(answer)"


@case(repairs={(R.SOURCE, "test_head_dim")}, evidence={(E.LOCKED_CELL, NOTICE, "test_head_dim")})
def letter_typed_into_a_test(s: Submission) -> None:
    """It would not run any more, so nobody gains by it."""
    s.cell("test_head_dim")["source"] = "w" + s.cell("test_head_dim")["source"].replace(
        "\nassert", "\nassert assert", 1
    )


@case(
    lost={"test_head_dim": "0"},
    repairs={(R.SOURCE, "test_head_dim")},
    evidence={(E.LOCKED_CELL, DOUBT, "test_head_dim")},
)
def asserts_deleted(s: Submission) -> None:
    """And a wrong answer: it earns what it is worth."""
    s.cell("test_head_dim")["source"] = "head_dim(6, 2)"
    s.cell("head_dim")["source"] = "def head_dim(d_model, n_heads):\n    return d_model"


@case(repairs={(R.SOURCE, "test_head_dim")}, evidence={(E.LOCKED_CELL, DOUBT, "test_head_dim")})
def assert_weakened(s: Submission) -> None:
    """A right answer earns its points all the same."""
    s.cell("test_head_dim")["source"] = s.cell("test_head_dim")["source"].replace("== 3", "!= 33")


@case(repairs={(R.SOURCE, "test_head_dim")}, evidence={(E.LOCKED_CELL, DOUBT, "test_head_dim")})
def test_emptied(s: Submission) -> None:
    """Everything selected and deleted."""
    s.cell("test_head_dim")["source"] = ""


@case(
    lost={"test_head_dim": "0", "test_parameter_count": "0", "test_worked_example": "0"},
    repairs={(R.TAGGED, name) for name in ("test_head_dim", "test_parameter_count", "test_worked_example")},
    evidence={
        (E.SKIP_TAG, ATTACK, name)
        for name in ("test_head_dim", "test_parameter_count", "test_worked_example")
    },
)
def tests_tagged_to_be_skipped(s: Submission) -> None:
    """Full marks with nbgrader's own executor."""
    s.books[ONE] = copy.deepcopy(RELEASE[ONE])
    for name in FULL[ONE]:
        s.cell(name)["metadata"]["tags"] = ["skip-execution"]


@case(repairs={(R.FLAGS, "test_head_dim")}, evidence={(E.POINTS, DOUBT, "test_head_dim")})
def points_raised(s: Submission) -> None:
    """They are the instructor's."""
    s.nbgrader("test_head_dim")["points"] = 200


@case(
    repairs={(R.FLAGS, "test_head_dim"), (R.FLAGS, "test_parameter_count")},
    evidence={(E.POINTS, DOUBT, "test_head_dim"), (E.POINTS, DOUBT, "test_parameter_count")},
)
def flags_changed(s: Submission) -> None:
    """For nbgrader the whole submission fails."""
    s.nbgrader("test_head_dim")["grade"] = False
    s.nbgrader("test_parameter_count")["solution"] = True


@case(
    repairs={(R.HIDDEN_TESTS, name) for name in FULL[ONE]},
    evidence={(E.HIDDEN_TESTS, DOUBT, name) for name in FULL[ONE]},
)
def hidden_tests_handed_in(s: Submission) -> None:
    """The tests are the instructor's own."""
    for cell in RELEASED[ONE].graded:
        s.cell(cell.grade_id)["source"] = cell.source


@case(
    repairs={(R.RESULTS, "notebook"), (R.RESULTS, "cell 8")},
    evidence={(E.RESULTS, DOUBT, "notebook")},
)
def results_handed_in(s: Submission) -> None:
    """Forged, or a notebook that was graded before."""
    s.book["metadata"]["autograder"] = {"status": "graded"}
    s.cell("test_head_dim")["metadata"]["autograder"] = {"checks": []}


@case(repairs={(R.OTHER_RELEASE, "test_head_dim"), (R.OTHER_RELEASE, "imports")})
def last_weeks_release(s: Submission) -> None:
    """Its cells have another text, other points, and checksums that fit them."""
    s.cell("test_head_dim")["source"] = "assert head_dim(4, 2) == 2"
    s.nbgrader("test_head_dim")["points"] = 3
    s.cell("imports")["source"] = "import numpy as np  # 1.26"
    for name in ("test_head_dim", "imports"):
        s.nbgrader(name)["checksum"] = checksum(s.cell(name))


@case(lost={"test_head_dim": "0", "test_parameter_count": "0.5", "test_worked_example": "0"})
def process_ended_by_a_tested_function(s: Submission) -> None:
    """No grades at all with nbgrader's own executor."""
    s.cell("head_dim")["source"] = "import os\ndef head_dim(d_model, n_heads):\n    os._exit(0)"


@case(lost={"test_head_dim": "0", "test_parameter_count": "0.5", "test_worked_example": "0"})
def result_shown_by_a_tested_function(s: Submission) -> None:
    """Full marks with nbgrader's own executor."""
    source = "def head_dim(d_model, n_heads):\n    get_ipython().displayhook('ok')\n    raise ValueError"
    s.cell("head_dim")["source"] = source


@case()
def cell_that_never_ends(s: Submission) -> None:
    """It is stopped, and what comes after it is graded."""
    s.cells.insert(
        s.at("test_head_dim") + 1, s.new("while True:\n    try:\n        while True: pass\n    except: pass")
    )
