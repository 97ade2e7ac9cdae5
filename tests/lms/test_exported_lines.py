"""What `export` prints names those whose score does not arrive as it is, and why."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from brightspace_importer import Brightspace
from made_grades import made_grade, made_request
from nasty_people import ANA, NASTY

from autograder.commands.exported import print_export
from autograder.commands.exporting import Exported
from autograder.lms.exports import brightspace
from autograder.lms.model import GradeState
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    import pytest


def test_a_score_that_is_cut_and_a_zero_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """The table says what is sent; a line says what becomes of it."""
    ben, cleo = NASTY[1], NASTY[4]
    lms = Brightspace(people=[ANA, ben, cleo], items={"HW 1": made_grade("x").max_points - 2}, scores={})
    grades = [made_grade("aruiz", "9.5"), made_grade("aohara", "7"), made_grade("muller", GradeState.MISSING)]
    like = parse_sheet(lms.download(), "theirs.csv")

    export = brightspace.export(made_request(grades, like, missing_as_zero=True))
    print_export(
        Exported(assignment="hw1", format="brightspace", path=Path("hw1.csv"), written=True, export=export)
    )

    lines = capsys.readouterr().out.splitlines()
    (cut,) = [line for line in lines if "can exceed" in line]
    (zero,) = [line for line in lines if "a zero was asked for" in line]
    assert cut.startswith("  applied: aruiz: above 8 points")
    assert zero.startswith("  applied: muller: ")
    assert not any(line.startswith("  applied:") and "aohara" in line for line in lines)
