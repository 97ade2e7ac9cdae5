"""A graded notebook as blocks of a page: given text folded away, the student's work in the open."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from autograder.pages import content
from autograder.released import Kind, grade_id_of, strip_hidden

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autograder.notebook import Cell, Notebook
    from autograder.pages.content import Shown
    from autograder.pages.views import CellView
    from autograder.released import ReleasedNotebook

HEADING = re.compile(r"^#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
ROOT = re.compile(r"\\sqrt\{?(\w+)\}?")
MARKS = re.compile(r"[*`$]")
HEADINGS_SHOWN = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """
    One part of a notebook's page.

    Parameters
    ----------
    kind : str
        ``lesson`` (given text), ``given`` (given code), ``text`` and ``code``
        (the student's), ``answer`` and ``answer-code`` (graded by hand) or ``test``.
    label : str
        What it is called.
    body : Markup
        The source, rendered.
    headings : tuple of str
        The headings in given text.
    outputs : tuple of Shown
        What it printed and drew; without the grader's own outputs.
    cell : CellView or None
        The result of an answer or a test.
    comment : str
        What a person wrote about it.
    """

    kind: str
    label: str
    body: Markup
    headings: tuple[str, ...] = ()
    outputs: tuple[Shown, ...] = ()
    cell: CellView | None = None
    comment: str = ""


def notebook_title(released: ReleasedNotebook) -> str:
    """Return a notebook's first heading as plain text, or its name."""
    for cell in released.layout:
        if cell.cell_type == "markdown" and (headings := _headings(cell.released)):
            return headings[0]
    return released.name


def blocks(
    notebook: Notebook, released: ReleasedNotebook, cells: Iterable[CellView], comments: Mapping[str, str]
) -> tuple[Block, ...]:
    """
    Return what the page of a notebook shows.

    Parameters
    ----------
    notebook : dict
        The graded notebook.
    released : ReleasedNotebook
        What was handed out.
    cells : iterable of CellView
        Its grade cells.
    comments : mapping of str to str
        What a person wrote, by grade_id.

    Returns
    -------
    tuple of Block
        In the notebook's order. No hidden test, nothing from metadata.
    """
    reader = _Reader(released, {cell.grade_id: cell for cell in cells}, comments)
    parts = (reader.block(cell) for cell in notebook["cells"])
    return tuple(_folded(part for part in parts if not _is_empty(part)))


class _Reader:
    """Tells what each cell of one notebook is for."""

    def __init__(
        self, released: ReleasedNotebook, cells: Mapping[str, CellView], comments: Mapping[str, str]
    ) -> None:
        self.kinds = {cell.grade_id: cell.kind for cell in released.cells}
        self.given = {(cell.cell_type, cell.released) for cell in released.layout if cell.kind is Kind.PLAIN}
        self.cells = cells
        self.comments = comments

    def block(self, cell: Cell) -> Block:
        grade_id = grade_id_of(cell)
        source = strip_hidden(cell["source"]).rstrip()
        kind = self._kind(cell, grade_id)
        if cell["cell_type"] == "markdown":
            body = content.markdown(source, cell.get("attachments"))
        elif cell["cell_type"] == "code":
            body = content.code(source)
        else:
            body = Markup('<pre class="plain">{}</pre>').format(content.clean_text(source))
        return Block(
            kind=kind,
            label=grade_id,
            body=body,
            headings=tuple(_headings(source)) if kind == "lesson" else (),
            outputs=content.outputs(_own_outputs(cell, kind)),
            cell=self.cells.get(grade_id),
            comment="" if grade_id in self.cells else self.comments.get(grade_id, ""),
        )

    def _kind(self, cell: Cell, grade_id: str) -> str:
        is_code = cell["cell_type"] == "code"
        match self.kinds.get(grade_id, Kind.PLAIN):
            case Kind.TEST:
                return "test"
            case Kind.MANUAL | Kind.TASK:
                return "answer-code" if is_code else "answer"
            case Kind.READONLY:
                return "given" if is_code else "lesson"
            case Kind.PLAIN if (cell["cell_type"], cell["source"]) in self.given:
                return "given" if is_code else "lesson"
        return "code" if is_code else "text"


def _own_outputs(cell: Cell, kind: str) -> list[Any]:
    """Return the outputs of a cell without the score and the report that the grader put before them."""
    outputs = cell.get("outputs")
    outputs = list(outputs) if isinstance(outputs, list) else []
    if kind == "test":
        for ours in ("execute_result", "display_data"):
            if outputs and outputs[0].get("output_type") == ours:
                outputs.pop(0)
    return outputs


def _is_empty(block: Block) -> bool:
    if block.kind not in {"text", "code"} or block.outputs or block.comment:
        return False
    return not block.body.striptags() and "<img" not in block.body


def _folded(all_blocks: Iterable[Block]) -> Iterator[Block]:
    """Join neighbouring blocks of given text, and given code that shows nothing, into one lesson."""
    lesson: Block | None = None
    for block in all_blocks:
        if block.kind == "lesson" or (block.kind == "given" and not block.outputs):
            part = _lesson(block)
            lesson = part if lesson is None else _joined(lesson, part)
            continue
        if lesson is not None:
            yield _labelled(lesson)
            lesson = None
        yield block
    if lesson is not None:
        yield _labelled(lesson)


def _lesson(block: Block) -> Block:
    if block.kind == "lesson":
        return block
    body = Markup('<pre class="code" tabindex="0"><code>{}</code></pre>\n').format(block.body)
    return replace(block, kind="lesson", body=body)


def _joined(first: Block, second: Block) -> Block:
    return replace(first, headings=first.headings + second.headings, body=first.body + second.body)


def _labelled(lesson: Block) -> Block:
    """Call a lesson by its headings, or by the first and the last if there are many."""
    headings = lesson.headings
    if len(headings) > HEADINGS_SHOWN:
        headings = (headings[0], "…", headings[-1])
    return replace(lesson, label=" · ".join(headings))


def _headings(source: str) -> list[str]:
    lines = HEADING.findall(FENCED.sub("", source))
    return [MARKS.sub("", ROOT.sub(r"√\1", line)).strip() for line in lines]
