"""A graded notebook as blocks of a page: given text folded away, the student's work in the open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from autograder.course.released import Kind, grade_id_of
from autograder.pages import content
from autograder.pages.lessons import anchor_base, headings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autograder.course.released import ReleasedNotebook
    from autograder.notebook import Cell, Notebook
    from autograder.pages.content import Shown
    from autograder.pages.views import BookView, CellView

HEADINGS_SHOWN = 6
WORDS_SHOWN = 8
NOTHING = Markup()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """
    One part of a notebook's page.

    Parameters
    ----------
    kind : str
        ``lesson`` (what was given), ``given`` (given code that shows something), ``text`` and ``code``
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
    anchors : tuple of str
        Of given text the ids of its headings.
    parts : tuple of Block
        Of a lesson the given text and code that it is made of.
    """

    kind: str
    label: str = ""
    body: Markup = NOTHING
    headings: tuple[str, ...] = ()
    outputs: tuple[Shown, ...] = ()
    cell: CellView | None = None
    comment: str = ""
    anchors: tuple[str, ...] = ()
    parts: tuple[Block, ...] = ()


def blocks(
    notebook: Notebook, released: ReleasedNotebook, book: BookView, comments: Mapping[str, str]
) -> tuple[Block, ...]:
    """
    Return what the page of a notebook shows.

    Parameters
    ----------
    notebook : dict
        The graded notebook.
    released : ReleasedNotebook
        What was handed out.
    book : BookView
        Its results.
    comments : mapping of str to str
        What a person wrote, by grade_id.

    Returns
    -------
    tuple of Block
        In the notebook's order. No hidden test, nothing from metadata.
    """
    reader = _Reader(released, book, comments)
    parts = (reader.block(cell) for cell in notebook["cells"])
    return tuple(_folded(part for part in parts if not _is_empty(part)))


class _Reader:
    """Tells what each cell of one notebook is for."""

    def __init__(self, released: ReleasedNotebook, book: BookView, comments: Mapping[str, str]) -> None:
        self.rules = released.rules
        self.kinds = {cell.grade_id: cell.kind for cell in released.cells}
        self.given = {(cell.cell_type, cell.released) for cell in released.layout if cell.kind is Kind.PLAIN}
        # A copied cell must not bring its anchors twice.
        self.anchors = {
            cell.released: anchor_base(book.number, index)
            for index, cell in enumerate(released.layout)
            if cell.cell_type == "markdown" and not cell.kind.graded
        }
        self.cells = {cell.grade_id: cell for cell in book.cells}
        self.comments = comments

    def block(self, cell: Cell) -> Block:
        grade_id = grade_id_of(cell)
        source = self.rules.visible(cell["source"]).rstrip()
        kind = self._kind(cell, grade_id)
        anchor = self.anchors.pop(cell["source"], "") if kind == "lesson" else ""
        titles = tuple(headings(source)) if kind == "lesson" else ()
        if cell["cell_type"] == "markdown":
            body = content.markdown(source, cell.get("attachments"), anchor=anchor)
        elif cell["cell_type"] == "code":
            body = content.code(source)
        else:
            body = Markup('<pre class="plain">{}</pre>').format(content.clean_text(source))
        return Block(
            kind=kind,
            label=grade_id,
            body=body,
            headings=titles,
            outputs=content.outputs(_own_outputs(cell, kind)),
            cell=self.cells.get(grade_id),
            comment="" if grade_id in self.cells else self.comments.get(grade_id, ""),
            anchors=tuple(f"{anchor}-{number}" for number in range(len(titles))) if anchor else (),
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
    """Join neighbouring blocks of what was given into one lesson."""
    parts: list[Block] = []
    student_was_here = False
    for block in all_blocks:
        # What given code shows is part of the lesson, until it may show what the student wrote.
        if block.kind == "lesson" or (block.kind == "given" and not (block.outputs and student_was_here)):
            parts.append(block)
            continue
        student_was_here = student_was_here or block.kind != "given"
        if parts:
            yield _lesson(parts)
            parts = []
        yield block
    if parts:
        yield _lesson(parts)


def _first_words(parts: Iterable[Block]) -> str:
    for part in parts:
        if part.kind == "given":
            return f"given code {part.label}".rstrip()
        said = part.body.striptags().split()
        if said:
            return " ".join(said[:WORDS_SHOWN]).rstrip(".:") + ("…" if len(said) > WORDS_SHOWN else "")
    return "given text"


def _lesson(parts: list[Block]) -> Block:
    """
    Return a lesson, called by its headings, or by the first ones and the last if there are many.

    One without a heading is called by its first words, or by the name of its code.
    """
    titles = [title for part in parts for title in part.headings] or [_first_words(parts)]
    if len(titles) > HEADINGS_SHOWN:
        titles = [*titles[: HEADINGS_SHOWN - 2], "…", titles[-1]]
    return Block(
        kind="lesson",
        label=" / ".join(titles),
        anchors=tuple(anchor for part in parts for anchor in part.anchors),
        parts=tuple(parts),
    )
