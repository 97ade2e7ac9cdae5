"""
How nbgrader makes what students get out of what an instructor writes.

Solutions become stubs, hidden tests and notes on grading are left out. What
marks them is a course's to choose, so that the same text can be hidden in one
course and shown in another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from autograder.errors import ReleaseError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Cell = Mapping[str, Any]

SOLUTION = ("BEGIN SOLUTION", "END SOLUTION")
HIDDEN = ("BEGIN HIDDEN TESTS", "END HIDDEN TESTS")
SCHEME = ("BEGIN MARK SCHEME", "END MARK SCHEME")
CODE_STUBS = {"python": "# YOUR CODE HERE\nraise NotImplementedError()"}
TEXT_STUB = "YOUR ANSWER HERE"
AUTOTEST = "AUTOTEST"
PYTHON = "python"
RUN_CHECKS = re.compile(r"""^[^#]*\brun_checks\(\s*["']([A-Za-z0-9_-]+)["']""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """
    What a course's releases are made by.

    Parameters
    ----------
    solution, hidden, scheme : tuple of (str, str)
        What marks the first and the last line of a solution, of hidden tests
        and of notes on grading: a part of the line.
    code_stubs : mapping of str to str
        What stands in place of code, by the notebook's language.
    text_stub : str
        What stands in place of text.
    autotest : str
        What marks a line for which nbgrader writes tests when it builds the release.
    around : tuple of (str, str)
        Paths, from the course, of the notebooks whose cells come before and
        after those of every notebook; empty for none.
    is_stock : bool
        False if the course has changed nbgrader's steps: then what a release
        should be cannot be told from its source.
    """

    solution: tuple[str, str] = SOLUTION
    hidden: tuple[str, str] = HIDDEN
    scheme: tuple[str, str] = SCHEME
    code_stubs: Mapping[str, str] = field(default_factory=lambda: CODE_STUBS)
    text_stub: str = TEXT_STUB
    autotest: str = AUTOTEST
    around: tuple[str, str] = ("", "")
    is_stock: bool = True

    def visible(self, source: str) -> str:
        """Return a source without hidden tests and notes on grading; an open region hides the rest."""
        return _without(_without(source, self.hidden), self.scheme)

    def hidden_check(self, source: str) -> str | None:
        """Return the name that a cell's hidden tests give to `run_checks`, or None."""
        for line, is_hidden in _told_apart(source, self.hidden):
            if is_hidden and (call := RUN_CHECKS.search(line)):
                return call[1]
        return None

    def is_instantiated(self, cell: Cell) -> bool:
        """Tell whether nbgrader writes tests into an instructor's cell when it builds the release."""
        return cell["cell_type"] == "code" and self.autotest in cell["source"]

    def stored(self, cell: Cell, language: str = PYTHON) -> str:
        """
        Return what nbgrader stores of an instructor's cell: no solution, but hidden tests.

        Parameters
        ----------
        cell : dict
            A cell of a source notebook into which nbgrader writes no tests.
        language : str
            The notebook's.

        Returns
        -------
        str
            The source with every solution region replaced; a solution cell
            without a region is replaced whole.
        """
        is_solution = bool(cell["metadata"].get("nbgrader", {}).get("solution"))
        return self.stub(cell["source"], cell["cell_type"], language=language, is_solution=is_solution)

    def stub(self, source: str, cell_type: str, *, language: str = PYTHON, is_solution: bool = True) -> str:
        """
        Return what nbgrader leaves of a source for students.

        Parameters
        ----------
        source : str
            The instructor's source.
        cell_type : str
            ``code`` or ``markdown``.
        language : str
            The notebook's.
        is_solution : bool
            True if the whole is a solution where no region is marked.

        Returns
        -------
        str
            The source with every solution region replaced, at its indentation.
        """
        if not is_solution and self.solution[0] not in source and self.solution[1] not in source:
            return source
        lines = (self._code_stub(language) if cell_type == "code" else self.text_stub).split("\n")
        kept: list[str] = []
        inside = found = False
        for line in source.split("\n"):
            if self.solution[0] in line:
                inside = found = True
                indent = line[: len(line) - len(line.lstrip())]
                kept.extend(indent + stub_line for stub_line in lines)
            elif self.solution[1] in line:
                inside = False
            elif not inside:
                kept.append(line)
        return "\n".join(kept if found or not is_solution else lines)

    def _code_stub(self, language: str) -> str:
        if language not in self.code_stubs:
            what = f"there is no stub for code in {language!r}"
            raise ReleaseError("ClearSolutions.code_stub", what, "Add one to nbgrader_config.py.")
        return self.code_stubs[language]


def _without(source: str, marks: tuple[str, str]) -> str:
    if marks[0] not in source and marks[1] not in source:
        return source
    return "\n".join(line for line, is_inside in _told_apart(source, marks) if not is_inside)


def _told_apart(source: str, marks: tuple[str, str]) -> Iterator[tuple[str, bool]]:
    """Yield each line but the marks, and whether it lies between them."""
    is_inside = False
    for line in source.split("\n"):
        if marks[0] in line:
            is_inside = True
        elif marks[1] in line:
            is_inside = False
        else:
            yield line, is_inside
