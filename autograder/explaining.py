"""How the cells of a notebook went, in words for the one who wrote them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from autograder.raised import STOPPED, SYNTAX_ERRORS, said

if TYPE_CHECKING:
    from collections.abc import Sequence

    Outputs = list[dict[str, Any]]

# A student's text may look like a frame; numbers of thousands of digits are none.
_FRAME = re.compile(r"Cell In\[([0-9]{1,6})\], line ([0-9]{1,6})\b")
_UNKNOWN_NAME = re.compile(r"name '(\w{1,100})' is not defined")


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """
    How one cell went.

    Parameters
    ----------
    cell : str
        Its grade_id; of a cell without one its place, as "cell 7".
    passed : bool
        True if it ran to its end.
    message : str
        What was wrong, in plain words; empty if nothing.
    error : str
        Class of the exception; empty if there was none.
    line : int or None
        Line of the cell at which it stopped.
    """

    cell: str
    passed: bool
    message: str = ""
    error: str = ""
    line: int | None = None

    @property
    def is_no_python(self) -> bool:
        """True if nothing of it was run, because it is not Python."""
        return self.error in SYNTAX_ERRORS


@dataclass(frozen=True, slots=True)
class Explainer:
    """
    Tells how the code cells of one notebook went.

    Parameters
    ----------
    names : sequence of str
        What each cell is called.
    sources : sequence of str
        What was run of each.
    outputs : sequence of list of dict
        What each has shown, in nbformat's form.
    wall_time_s : float
        How long a cell may take.
    """

    names: Sequence[str]
    sources: Sequence[str]
    outputs: Sequence[Outputs]
    wall_time_s: float

    def findings(self) -> list[Finding]:
        """Return how each cell went."""
        return [self._finding(index) for index in range(len(self.names))]

    def _finding(self, index: int) -> Finding:
        error = _error(self.outputs[index])
        if error is None:
            return Finding(cell=self.names[index], passed=True)
        name = error["ename"]
        words, line = said(name, error["evalue"])
        frames = [(int(cell), int(line)) for cell, line in _FRAME.findall("\n".join(error["traceback"]))]
        line = line or (frames[0][1] if frames else None)
        message = self._told(error, words, index, line) or self._with_place(name, words, index, frames, line)
        return Finding(cell=self.names[index], passed=False, message=message, error=name, line=line)

    def _told(self, error: dict[str, Any], words: str, index: int, line: int | None) -> str:
        """Return what is said of an exception whose class or message tells little; empty of any other."""
        name = error["ename"]
        if name == "WallTimeExceeded":
            time = f"{self.wall_time_s:g} s"
            return f"It took longer than {time} and was stopped. Is there a loop that never ends?"
        if name in STOPPED:
            return f"{words[:1].upper()}{words[1:]}." if words else f"{name}."
        if name == "AssertionError":
            return words or f"This does not hold: {self._line(index, line)}"
        unknown = _UNKNOWN_NAME.search(words) if name == "NameError" else None
        before = self._should_define(unknown[1], index) if unknown else None
        if unknown and before is not None:
            culprit, stopped = self.names[before], (_error(self.outputs[before]) or error)["ename"]
            if stopped == "NotImplementedError":
                return f"{culprit} is not filled in yet."
            return f"{unknown[1]} is not defined, because {culprit} stops with {stopped}."
        return ""

    def _with_place(
        self, name: str, words: str, index: int, frames: list[tuple[int, int]], line: int | None
    ) -> str:
        message = f"{name}: {words}" if words else name
        where = self._raised_in(index, frames)
        if where and name == "NotImplementedError":
            return f"{where} is not filled in yet."
        if where:
            return f"{message} (in {where}, line {frames[-1][1]})"
        return f"{message} (line {line})" if line is not None else message

    def _should_define(self, name: str, index: int) -> int | None:
        """Return the first cell before that was to define a name and stopped with an error."""
        defines = re.compile(
            rf"^\s*(?:(?:async )?def|class) {name}\b|^\s*{name}\s*[:=]|\bimport\b.*\b{name}\b", re.MULTILINE
        )
        stopped = (place for place in range(index) if _error(self.outputs[place]) is not None)
        return next((place for place in stopped if defines.search(self.sources[place])), None)

    def _raised_in(self, index: int, frames: list[tuple[int, int]]) -> str:
        """Return the name of the other cell in which an exception was raised; empty if it is not known."""
        if not frames or any(output.get("ename") in STOPPED for shown in self.outputs for output in shown):
            # A process that was started again counts its cells anew.
            return ""
        # Cells with nothing in them are not counted.
        counted = [place for place, source in enumerate(self.sources) if source.strip()]
        place = counted[frames[-1][0] - 1] if 0 < frames[-1][0] <= len(counted) else index
        return self.names[place] if place != index else ""

    def _line(self, index: int, number: int | None) -> str:
        lines = self.sources[index].split("\n")
        is_there = number is not None and 0 < number <= len(lines)
        return lines[number - 1].strip() if is_there and number is not None else "an assert"


def _error(shown: Outputs) -> dict[str, Any] | None:
    return next((output for output in shown if output["output_type"] == "error"), None)
