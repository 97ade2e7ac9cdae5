"""The invented class of the demo: what each student understood, and what went wrong on the way."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from autograder.course.released import grade_id_of
from autograder.errors import CheckError, NotebookError, nearest
from autograder.notebook import read_notebook, write_notebook, write_text
from autograder.variants import KINDS, combined_cells, fill, load_variants

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.notebook import Cell, Notebook
    from autograder.variants import Variant

ASSIGNMENT = "multi_head_attention"
DUE = "2026-03-02 18:00:00 UTC"
ON_TIME = "2026-03-02 16:40:00 UTC"
LATE = "2026-03-03 07:15:00 UTC"
_ANSWER_CELL = "explain_reshape_order"
_ENDLESS = """def head_dim(d_model, n_heads):
    d_k = 0
    while d_k * n_heads != d_model:
        d_k = d_k + 1
    return d_k"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStudent:
    """
    An invented student.

    Parameters
    ----------
    student : str
        The student's id.
    first_name, last_name : str
        The student's name.
    variants : tuple of str
        Alternatives and misconceptions that the notebooks are filled with;
        the instructor's solutions elsewhere.
    answer : str
        The written answer; empty if there is none.
    handed_in : str
        When.
    twist : str
        What else happened, a key of `_TWISTS`, or "blank".
    """

    student: str
    first_name: str
    last_name: str
    variants: tuple[str, ...] = ()
    answer: str = ""
    handed_in: str = ON_TIME
    twist: str = ""


_GOOD_ANSWER = (
    "`x` lies in memory token by token. Splitting the last axis into (h, d_k) keeps every number with its "
    "token, and the transpose then brings the heads to the front. A bare reshape to (h, T, d_k) cuts the "
    "flat list into h equal runs instead, so head 0 gets the first tokens and none of the others."
)
_SHORT_ANSWER = "Because reshape alone gives the wrong order and the heads get mixed up."

CLASS = (
    DemoStudent(
        student="ada", first_name="Ada", last_name="Brook", variants=("einsum",), answer=_GOOD_ANSWER
    ),
    DemoStudent(
        student="bela",
        first_name="Béla",
        last_name="Novák, Jr.",
        variants=("plain_loops",),
        answer=_GOOD_ANSWER,
    ),
    DemoStudent(
        student="chidi",
        first_name="Chidi",
        last_name="Marsh",
        variants=("split_reshape_only",),
        answer=_SHORT_ANSWER,
    ),
    DemoStudent(
        student="dana",
        first_name="Dana",
        last_name="Fields",
        variants=("scale_missing",),
        answer=_GOOD_ANSWER,
    ),
    DemoStudent(
        student="emre",
        first_name="Emre",
        last_name="Stone",
        variants=("mask_inverted", "merge_reshape_only"),
        answer=_SHORT_ANSWER,
    ),
    DemoStudent(
        student="fay",
        first_name="Fay",
        last_name="Ōkubo",
        variants=("softmax_over_queries",),
        answer=_GOOD_ANSWER,
    ),
    DemoStudent(
        student="goran",
        first_name="Goran",
        last_name="Hill",
        variants=("count_times_heads", "head_dim_float"),
        answer=_SHORT_ANSWER,
    ),
    DemoStudent(
        student="hana",
        first_name="Hana",
        last_name="Lake",
        variants=("class_split_reshape_only",),
        answer=_GOOD_ANSWER,
    ),
    DemoStudent(student="ivo", first_name="Ivo", last_name="Field", twist="blank"),
    DemoStudent(
        student="june",
        first_name="June",
        last_name="Moor",
        variants=("swapaxes",),
        answer=_GOOD_ANSWER,
        twist="one notebook missing",
    ),
    DemoStudent(
        student="kaito",
        first_name="Kaito",
        last_name="Wells",
        answer=_SHORT_ANSWER,
        twist="syntax error",
    ),
    DemoStudent(
        student="lea",
        first_name="Léa",
        last_name="O'Dell",
        variants=("finite_mask",),
        answer=_GOOD_ANSWER,
        twist="scratch cell raises",
    ),
    DemoStudent(
        student="milo", first_name="Milo", last_name="Ford", answer=_SHORT_ANSWER, twist="infinite loop"
    ),
    DemoStudent(
        student="nia",
        first_name="Nia",
        last_name="Grove",
        variants=("roundtrip_almost_equal", "heads_differ_neighbours"),
        answer=_GOOD_ANSWER,
        handed_in=LATE,
    ),
    DemoStudent(
        student="omar",
        first_name="Omar",
        last_name="Reed",
        variants=("mask_sticky", "naive_head_counts_from_one"),
        answer=_SHORT_ANSWER,
    ),
    DemoStudent(
        student="pia", first_name="Pia", last_name="Vale", answer=_GOOD_ANSWER, twist="test cell duplicated"
    ),
)
"""Sixteen students; each shows one thing that happens in a real class."""


def write_submission(course: Course, student: DemoStudent) -> None:
    """
    Write what an invented student handed in.

    Parameters
    ----------
    course : Course
        A course whose release is built.
    student : DemoStudent
        The student.

    Raises
    ------
    CheckError
        If the course has no such variant.
    """
    folder = course.submitted(student.student, ASSIGNMENT)
    folder.mkdir(parents=True)
    known = _known(course.root)
    for name in student.variants:
        if name not in known:
            raise CheckError(name, "there is no such variant", nearest(name, known))
    variants = [known[name] for name in student.variants]
    for released in course.released(ASSIGNMENT):
        name = f"{released.name}.ipynb"
        notebook = read_notebook(course.release(ASSIGNMENT) / name, error=NotebookError)
        if student.twist != "blank":
            source = read_notebook(course.source(ASSIGNMENT) / name, error=NotebookError)
            cells = combined_cells(source, variants)
            written = {name: student.answer for name in cells if name == _ANSWER_CELL}
            notebook = fill(notebook, cells | written)
        twist = _TWISTS.get(student.twist)
        twisted = notebook if twist is None else twist(released.name, notebook)
        if twisted is not None:
            write_notebook(folder / name, twisted)
    write_text(folder / "timestamp.txt", student.handed_in + "\n")


@cache
def _known(course_root: Path) -> dict[str, Variant]:
    return {one.name: one for kind in KINDS for one in load_variants(course_root, kind, ASSIGNMENT)}


def _without_last(name: str, notebook: Notebook) -> Notebook | None:
    return None if name.startswith("exercise3") else notebook


def _syntax_error(_name: str, notebook: Notebook) -> Notebook:
    return _changed(notebook, "merge_heads", lambda text: text.replace(":\n", "\n", 1))


def _endless(_name: str, notebook: Notebook) -> Notebook:
    return _changed(notebook, "head_dim", lambda _: _ENDLESS)


def _scratch(_name: str, notebook: Notebook) -> Notebook:
    cell: Cell = {
        "cell_type": "code",
        "execution_count": None,
        "id": "scratch",
        "metadata": {},
        "outputs": [],
        "source": "# just trying something\nnp.arange(6).reshape(4, 2)",
    }
    return notebook | {"cells": [*notebook["cells"][:-1], cell, notebook["cells"][-1]]}


def _duplicated(_name: str, notebook: Notebook) -> Notebook:
    tests = [cell for cell in notebook["cells"] if grade_id_of(cell).startswith("test_")]
    position = notebook["cells"].index(tests[0])
    twin = copy.deepcopy(tests[0]) | {"id": "copied"}
    return notebook | {
        "cells": [*notebook["cells"][: position + 1], twin, *notebook["cells"][position + 1 :]]
    }


def _changed(notebook: Notebook, grade_id: str, change: Callable[[str], str]) -> Notebook:
    cells = [
        cell | {"source": change(cell["source"])} if grade_id_of(cell) == grade_id else cell
        for cell in notebook["cells"]
    ]
    return notebook | {"cells": cells}


_TWISTS: dict[str, Callable[[str, Notebook], Notebook | None]] = {
    "one notebook missing": _without_last,
    "syntax error": _syntax_error,
    "scratch cell raises": _scratch,
    "infinite loop": _endless,
    "test cell duplicated": _duplicated,
}
