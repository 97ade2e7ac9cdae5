"""Files of another name, in another place, or that are no notebooks."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

from damaged import FULL, ONE, RELEASE, TWO, case

from autograder.findings import RepairKind as R
from autograder.notebook import dump_notebook
from autograder.results import Status

if TYPE_CHECKING:
    from damaged import Submission


# ------------------------------------------------------------------- the file


@case(repairs={(R.NAME, f"{ONE} (1).ipynb")})
def browser_number(s: Submission) -> None:
    """A second download."""
    s.names[ONE] = f"{ONE} (1).ipynb"


@case(repairs={(R.NAME, "Ana Müller/Exercise 1 parameter count - final.ipynb.txt")})
def folder_and_name_of_ones_own(s: Submission) -> None:
    """In a folder, with another name and another suffix."""
    s.names[ONE] = "Ana Müller/Exercise 1 parameter count - final.ipynb.txt"


@case(repairs={(R.NAME, "solution.ipynb")})
def name_of_no_meaning(s: Submission) -> None:
    """The cells say which one it is."""
    s.names[ONE] = "solution.ipynb"


@case(ignored=(f"{ONE}-Copy1", f"old/{ONE}"))
def copies_beside_the_right_name(s: Submission) -> None:
    """They do not count."""
    other = dump_notebook(copy.deepcopy(RELEASE[ONE]))
    s.files |= {f"{ONE}-Copy1.ipynb": other, f"old/{ONE}.ipynb": other}


@case(
    status={ONE: Status.UNREADABLE},
    reason=f"{ONE} (1).ipynb and {ONE} (2).ipynb could each be {ONE}.ipynb",
)
def two_that_could_be_it(s: Submission) -> None:
    """Nobody guesses."""
    s.files[f"{ONE} (2).ipynb"] = dump_notebook(s.book)
    s.cell("head_dim")["source"] = "def head_dim(d_model, n_heads):\n    return 1"
    s.names[ONE] = f"{ONE} (1).ipynb"


@case(repairs={(R.NAME, f"{ONE} (1).ipynb")}, ignored=(f"{ONE} (2)",))
def two_that_are_the_same(s: Submission) -> None:
    """Identical copies are one."""
    s.names[ONE] = f"{ONE} (1).ipynb"
    s.files[f"{ONE} (2).ipynb"] = dump_notebook(s.book)


def _cut_off(s: Submission) -> str:
    text = dump_notebook(s.book)
    return text[: len(text) // 2]


@case(books=(ONE, TWO), status={ONE: Status.UNREADABLE}, reason=f"{ONE}.ipynb: ")
def cut_off(s: Submission) -> None:
    """Half of a file says nothing; the other notebook is graded."""
    s.files[f"{ONE}.ipynb"] = _cut_off(s)


@case(status={ONE: Status.UNREADABLE}, reason="empty")
def empty_file(s: Submission) -> None:
    """An upload that failed."""
    s.files[f"{ONE}.ipynb"] = b""


@case(status={ONE: Status.UNREADABLE}, reason=f"{ONE}.ipynb: ")
def web_page_instead(s: Submission) -> None:
    """Saved from the browser."""
    s.files[f"{ONE}.ipynb"] = "<!DOCTYPE html><html><head><title>Sign in</title></head></html>"


@case(status={ONE: Status.UNREADABLE}, reason=f"{ONE}.ipynb: ")
def merge_conflict(s: Submission) -> None:
    """Two versions in one file."""
    text = dump_notebook(s.book).split("\n")
    text[20:20] = ["<<<<<<< HEAD", ' "a": 1,', "=======", ' "a": 2,', ">>>>>>> other"]
    s.files[f"{ONE}.ipynb"] = "\n".join(text)


@case(
    books=(),
    status=dict.fromkeys(FULL, Status.UNREADABLE),
    reason="of the assignment's notebooks there is none, but report.pdf",
)
def no_notebook(s: Submission) -> None:
    """Another file altogether."""
    s.files["report.pdf"] = "%PDF-1.7"


@case(repairs={(R.ENCODING, f"{ONE}.ipynb")})
def utf16(s: Submission) -> None:
    """Written by PowerShell."""
    s.files[f"{ONE}.ipynb"] = dump_notebook(s.book).encode("utf-16")


@case()
def one_line_and_lists(s: Submission) -> None:
    """JSON on one line, sources as lists of lines, no ids, an older minor format."""
    for cell in s.cells:
        cell["source"] = cell["source"].splitlines(keepends=True)
        del cell["id"]
    s.book["nbformat_minor"] = 2
    s.files[f"{ONE}.ipynb"] = json.dumps(s.book)
