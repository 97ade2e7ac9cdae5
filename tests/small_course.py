"""A course of two small notebooks with graded submissions, and a strict reader of pages."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from decimal import Decimal
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from autograder.checks.report import report_output, score_output
from autograder.course.course import Course
from autograder.feedback import FeedbackWriter
from autograder.findings import Evidence, EvidenceKind, Repair, RepairKind, Severity
from autograder.notebook import write_notebook
from autograder.results import CellResult, CheckResult, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from autograder.notebook import Cell, Notebook

ASSIGNMENT = "small_steps"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
REPAIR = Repair(kind=RepairKind.SOURCE, where="double", detail="it was changed; put back")
EVIDENCE = Evidence(
    kind=EvidenceKind.LOCKED_CELL, severity=Severity.DOUBT, where="double", detail="its assert is gone"
)
HIDDEN = """assert double(1) == 2
### BEGIN HIDDEN TESTS
from autograder import run_checks
run_checks("test_double")
### END HIDDEN TESTS"""
SEPARATE = {"br", "td", "th", "p", "li", "h1", "h2", "h3", "div", "dd"}
VOID = {"meta", "br", "hr", "img", "wbr"}

HOSTILE = (
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title = 'owned'\">",
    "<svg onload=\"document.title = 'owned'\"><script>document.title = 'owned'</script></svg>",
    "[click](javascript:alert%281%29) <a href=' java\nscript:alert(1)'>x</a> <a href='data:a/b,'>y</a>",
    "![far](http://SERVER/a.png) <img src='http://SERVER/b.png'> <img src='//SERVER/c.png'>",
    "<link rel=stylesheet href='http://SERVER/d.css'><style>@import 'http://SERVER/e.css';</style>",
    "<iframe src='http://SERVER/f'></iframe><object data='http://SERVER/g'></object><embed src='http://SERVER/h'>",
    "<p style=\"background: url('http://SERVER/i.png')\" class='card full' id='cell-test_double'>forged</p>",
    "</pre></code></div></section></main></body></html><b><i><table><tr><td>open",
    "<!-- <p> --!> <![CDATA[ x ]]> <title>owned</title><base href='http://SERVER/'>",
    "<meta http-equiv=refresh content='0; url=http://SERVER/j'><form action='http://SERVER/k'><input></form>",
    "<video src='http://SERVER/l' autoplay></video><math><mtext><style><img src='http://SERVER/m'></style></math>",
    "<img src='data:image/svg+xml;base64,PHN2Zy8+'><input type=image src='http://SERVER/n'>",
    "{{ 7 * 7 }} {% raw %} {{ style }} &lt;script&gt;alert(1)&lt;/script&gt;",
    "\x1b]8;;http://SERVER/o\x07link\x1b]8;;\x07 \x00\x0b\x7f\u202e",
)

HALVES = CheckResult(
    name="test_halves",
    claim="Halves are doubled as well, √x < d_k · 2.",
    points=Decimal("0.5"),
    outcome=Outcome.PASSED,
)
WRONG = CheckResult(
    name="test_right",
    claim="The double is x + x.",
    points=Decimal(1),
    outcome=Outcome.FAILED,
    rationale="`double` gives the square.",
    hint="You square the number instead of doubling it. What is the double of 3?",
    misconception="double_squares",
)
STOPPED = CheckResult(
    name="test_large",
    claim="Large numbers are doubled quickly.",
    points=Decimal("0.5"),
    outcome=Outcome.LIMIT,
    rationale="Your code took too long.",
    hint="Is there a loop that never ends?",
    error="wall_time_s",
)
RIGHT = CheckResult(
    name="test_triple", claim="The triple is x + x + x.", points=Decimal(1), outcome=Outcome.PASSED
)


def _nbgrader(grade_id: str, points: float = 0, **flags: bool) -> dict[str, Any]:
    known = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3}
    return {"nbgrader": known | flags | {"grade_id": grade_id, "points": points}}


def _cell(cell_type: str, source: str, metadata: dict[str, Any] | None = None) -> Cell:
    cell: Cell = {"cell_type": cell_type, "source": source, "metadata": metadata or {}, "id": "c"}
    return cell | ({"outputs": [], "execution_count": None} if cell_type == "code" else {})


def _first(test: str) -> Notebook:
    cells = [
        _cell("markdown", "# First steps\n\nDouble it: $2x$."),
        _cell("code", "import numpy as np", _nbgrader("imports", locked=True)),
        _cell("code", "def double(x): ...", _nbgrader("double", solution=True)),
        _cell("code", test, _nbgrader("test_double", 2, grade=True, locked=True)),
        _cell("markdown", "YOUR ANSWER HERE", _nbgrader("explain", 3, grade=True, solution=True)),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _second(test: str) -> Notebook:
    cells = [
        _cell("markdown", "# Second steps"),
        _cell("code", "def triple(x): ...", _nbgrader("triple", solution=True)),
        _cell("code", test, _nbgrader("test_triple", 1, grade=True, locked=True)),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def make_course(root: Path, *, twins: bool = False) -> Course:
    """Make the course with its release, and nobody in it; twins are two notebooks with the same grade_ids."""
    for folder, test in (("source", HIDDEN), ("release", "assert double(1) == 2")):
        (root / folder / ASSIGNMENT).mkdir(parents=True)
        write_notebook(root / folder / ASSIGNMENT / "first.ipynb", _first(test))
        second = _first(test) if twins else _second(test.replace("double", "triple"))
        write_notebook(root / folder / ASSIGNMENT / "second.ipynb", second)
    (root / "nbgrader_config.py").write_text("", encoding="utf-8")
    return Course(root=root)


def grade(
    course: Course,
    student: str,
    *,
    checks: Sequence[CheckResult] = (WRONG, HALVES, STOPPED),
    outputs: Sequence[object] = (),
    more: Sequence[Cell] = (),
    **changes: Any,
) -> Path:
    """
    Write a student's graded notebooks as the grader leaves them.

    Other changes are ``illustrations`` of the first test cell, and ``repairs``,
    ``evidence`` and ``sandbox`` of both notebooks.
    """
    folder = course.autograded(student, ASSIGNMENT)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    course.submitted(student, ASSIGNMENT).mkdir(parents=True, exist_ok=True)
    first = _first(HIDDEN)
    first["cells"][2] |= {"source": "def double(x):\n    return x ** 2  # a < b", "outputs": list(outputs)}
    first["cells"][4]["source"] = "Because **twice** is $x + x$."
    first["cells"].extend(more)
    results = {
        "test_double": CellResult(
            grade_id="test_double",
            max_score=Decimal(2),
            checks=tuple(checks),
            illustrations=changes.pop("illustrations", ()),
        ),
        "explain": CellResult(grade_id="explain", max_score=Decimal(3), manual=True),
        "test_triple": CellResult(grade_id="test_triple", max_score=Decimal(1), checks=(RIGHT,)),
    }
    for name, notebook in {"first": first, "second": _second(HIDDEN.replace("double", "triple"))}.items():
        _put_results(notebook, results)
        notebook["metadata"]["autograder"] |= changes
        write_notebook(folder / f"{name}.ipynb", notebook)
    return folder


def lose_second(course: Course, student: str) -> None:
    """Let a student have handed in the first notebook only."""
    (course.autograded(student, ASSIGNMENT) / "second.ipynb").unlink()


def spoil_second(
    course: Course, student: str, reason: str = "second.ipynb: breaks off at line 120. Hand it in again."
) -> None:
    """Let a student's second notebook have been unreadable."""
    notebook = _second(HIDDEN.replace("double", "triple"))
    result = CellResult(grade_id="test_triple", max_score=Decimal(1), not_graded=reason)
    notebook["cells"][2]["metadata"]["autograder"] = result.to_dict()
    about = {"repairs": [], "evidence": [], "sandbox": "a box", "status": "unreadable"}
    notebook["metadata"]["autograder"] = about
    write_notebook(course.autograded(student, ASSIGNMENT) / "second.ipynb", notebook)


def _put_results(notebook: Notebook, results: Mapping[str, CellResult]) -> None:
    for cell in notebook["cells"]:
        result = results.get(cell["metadata"].get("nbgrader", {}).get("grade_id", ""))
        if result is None:
            continue
        cell["metadata"]["autograder"] = result.to_dict()
        if not result.manual:
            cell["outputs"] = [score_output(result), report_output(result)]
    notebook["metadata"]["autograder"] = {
        "repairs": [REPAIR.to_dict()],
        "evidence": [EVIDENCE.to_dict()],
        "sandbox": "a box",
        "status": "graded",
    }


def stream(text: str) -> dict[str, Any]:
    """Return an output that printed a text."""
    return {"output_type": "stream", "name": "stdout", "text": text}


def display(**data: str) -> dict[str, Any]:
    """Return an output that displayed data; `text_html` stands for ``text/html``."""
    bundle = {mime.replace("_", "/"): text for mime, text in data.items()}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def markdown(source: str, **attachments: dict[str, str]) -> Cell:
    """Return a Markdown cell that the student added."""
    return _cell("markdown", source) | {"attachments": attachments}


@dataclass
class Page(HTMLParser):
    """
    What a page holds; reading it fails if its elements are not nested well.

    Parameters
    ----------
    html : str
        The page.
    """

    html: str
    tags: list[str] = field(default_factory=list)
    attributes: list[tuple[str, str, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    words: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self._open: list[str] = []
        self.feed(self.html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        self.words += " " if tag in SEPARATE else ""
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element of the drawing that ends at once."""
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the innermost element, which must be this one."""
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note the words that a reader sees."""
        if self._open and self._open[-1] != "style":
            self.words += data

    def values(self, name: str) -> list[str]:
        """Return the values of an attribute."""
        return [value for _, one, value in self.attributes if one == name]


def write_feedback(course: Course, assignment: str, student: str, **details: Any) -> Path:
    """Write the feedback of one graded submission; return the page with all of it."""
    return FeedbackWriter(course, assignment).write(student, **details)


def read_page(path: Path) -> Page:
    """Read a page, strictly."""
    return Page(path.read_text(encoding="utf-8"))


def words_of(path: Path) -> str:
    """Return the words of a page in one line."""
    return " ".join(read_page(path).words.split())


def assert_harmless(page: Page) -> None:
    """Fail if a page could run, load or send anything, or could lie about where it is."""
    assert set(page.tags) & {"script", "iframe", "object", "embed", "form", "input", "base", "link"} == set()
    assert page.tags.count("style") == 1
    assert [name for _, name, _ in page.attributes if name.startswith("on")] == []
    assert set(page.values("src")) <= {f"data:image/png;base64,{PNG}"}
    assert {name for _, name, _ in page.attributes} & {
        "srcset",
        "xlink:href",
        "action",
        "background",
    } == set()
    assert [value for value in page.values("style") if not value.startswith(("width: ", "height: "))] == []
    for tag, name, value in page.attributes:
        if name == "href":
            assert tag == "a"
            assert value.startswith(("https://", "http://", "mailto:", "#")) or ":" not in value
    assert len(page.ids) == len(set(page.ids))
    policy = page.values("content")[0]
    assert policy.startswith("default-src 'none'; img-src data:; style-src 'unsafe-inline'")


def assert_links_lead_somewhere(path: Path) -> None:
    """Fail if a link within the pages has no target."""
    for link in read_page(path).values("href"):
        if link.startswith(("http", "mailto:")):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / unquote(file)).resolve() if file else path
        assert target.is_file(), link
        assert not anchor or anchor in read_page(target).ids, link
