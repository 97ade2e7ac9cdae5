"""The benchmark measures what it says; how fast it is, no test says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from autograder.course.released import grade_id_of
from autograder.errors import NotebookError
from autograder.notebook import read_notebook
from bench.__main__ import Table
from bench.courses import without_pictures

if TYPE_CHECKING:
    import pytest

    from autograder.course.course import Course

ASSIGNMENT = "multi_head_attention"


def test_without_pictures_every_graded_cell_is_left(course: Course) -> None:
    """The two kinds of submissions differ in the cells that draw, and in nothing that earns points."""
    for path in course.source(ASSIGNMENT).glob("*.ipynb"):
        notebook = read_notebook(path, error=NotebookError)
        plain = without_pictures(notebook)

        code = "\n".join(cell["source"] for cell in plain["cells"] if cell["cell_type"] == "code")
        assert "matplotlib" not in code
        assert "plt." not in code
        left = {grade_id_of(cell) for cell in plain["cells"]}
        for released in course.released(ASSIGNMENT):
            if released.name == path.stem:
                assert {cell.grade_id for cell in released.graded} <= left


def test_a_figure_is_shown_with_its_spread(capsys: pytest.CaptureFixture[str]) -> None:
    """The least, the middle and the most of the repetitions."""
    table = Table()
    for value in (3.0, 1.0, 2.0):
        table.add("cost", value, "ms")
    table.add("rate", 1234.5, "submissions/s")

    table.show()

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["min", "median", "max"]
    assert lines[1].split() == ["cost", "1", "2", "3", "ms"]
    assert lines[2].split()[:4] == ["rate", "1234", "1234", "1234"]
