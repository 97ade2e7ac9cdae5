"""
What nbgrader's own commands run instead of their own parts.

``nbgrader autograde`` makes two passes over each notebook: `RepairingExporter`
stands in the first, `Grade` and `SaveScores` in the second. nbgrader builds
them anew for every notebook, so what must live longer (the grader, results
that wait for the rest of their submission) is kept here, with its converter.
"""

from __future__ import annotations

import warnings
import weakref
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import nbformat
import nh3
from jinja2 import pass_context
from nbconvert.exporters import NotebookExporter
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbgrader.plugins.export import ExportPlugin
from nbgrader.preprocessors import AssignLatePenalties, NbGraderPreprocessor

from autograder.course.course import Course
from autograder.course.nbgrader_settings import rules_of
from autograder.course.released import strip_hidden
from autograder.errors import CourseError, nearest
from autograder.gradebook import Gradebook
from autograder.grader.filled import GradedNotebook
from autograder.grader.grader import Grader
from autograder.lms.exports.grade_table import write_tables
from autograder.notebook import read_notebook
from autograder.release import check_release
from autograder.results import NotebookResult, SubmissionResult
from autograder.submission.handed_in import HandedIn, find_notebooks
from autograder.submission.repair import repair
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2.runtime import Context
    from nbformat import NotebookNode

    from autograder.grader.filled import GradedNotebook
    from autograder.notebook import Notebook

    Resources = dict[str, Any]

# nbgrader's own, once for each submission; it would hide what the repair tells.
warnings.filterwarnings("ignore", message=r"Object of type <Submitted\w+> not in session")

DEFAULT_EXPORT = "grades.csv"
ATTRIBUTES = {"*": {"class", "id", "style"}, "a": {"href", "title"}, "img": {"src", "alt", "title"}}
SCHEMES = {"http", "https", "mailto", "data"}


@dataclass(slots=True)
class _Run:
    """What one `nbgrader autograde` keeps between notebooks."""

    course: Course
    grader: Grader
    submission: tuple[str, str] = ("", "")
    found: HandedIn | None = None
    graded: dict[str, GradedNotebook] = field(default_factory=dict)

    def found_of(self, assignment: str, student: str) -> HandedIn:
        """Return the notebooks of a submission; looked for once, and its results are forgotten with it."""
        if self.found is None or self.submission != (assignment, student):
            self.submission, self.graded = (assignment, student), {}
            folder = self.course.submitted(student, assignment)
            self.found = find_notebooks(folder, self.course.released(assignment))
        return self.found


_RUNS: weakref.WeakKeyDictionary[Any, _Run] = weakref.WeakKeyDictionary()


class RepairingExporter(NotebookExporter):
    """
    Finds, reads and repairs submitted notebooks, in place of nbgrader's whole sanitize pass.

    Parameters
    ----------
    **details : Any
        As nbgrader gives them: its converter as parent, and the configuration.
    """

    def __init__(self, **details: Any) -> None:
        super().__init__(**details)  # type: ignore[no-untyped-call]
        converter: Any = self.parent
        if hasattr(converter, "pre_convert_hook"):
            converter.pre_convert_hook = self._before(converter.pre_convert_hook)

    def from_filename(  # type: ignore[override]  # nbconvert's exporters return text, its base says a notebook
        self, filename: str, resources: Resources | None = None, **options: Any
    ) -> tuple[str, Resources]:
        """
        Return the text of a notebook, after all preprocessors.

        The name is the right one; the file may have another, and a file of
        this name may be no notebook: a link, or one that cannot be read.
        """
        converter: Any = self.parent
        if not converter._sanitizing or resources is None:  # noqa: SLF001 - nothing else tells the two passes apart
            graded: Any = super().from_filename(filename, resources=resources, **options)
            return cast("tuple[str, Resources]", graded)
        text, resources = self.from_notebook_node(  # type: ignore[no-untyped-call]
            _node(self._handed_in(_run(converter), resources)), resources=resources, **options
        )
        return text, resources or {}

    def from_file(  # type: ignore[override]  # nbconvert's exporters return text, its base says a notebook
        self, file_stream: Any, resources: Resources | None = None, **options: Any
    ) -> tuple[str, Resources]:
        """Return the text of the notebook in an open file; nbformat would change its ids."""
        notebook = read_notebook(Path(file_stream.name))
        text, resources = self.from_notebook_node(  # type: ignore[no-untyped-call]
            _node(notebook), resources=resources, **options
        )
        return text, resources or {}

    def _handed_in(self, run: _Run, resources: Resources) -> Notebook:
        """Return what was handed in, repaired, or what stands for it; tell what was put right."""
        assignment, student, name = _names(resources)
        check_release(run.course, assignment)
        released = run.course.released_notebook(assignment, name)
        notebook, repairs, reason = run.found_of(assignment, student).read(name)
        if notebook is None:
            self.log.error("%s: %s: not graded: %s", student, name, printable(reason))
            return run.grader.not_graded(released, reason).notebook
        notebook, more, _ = repair(notebook, released)
        for one in (*repairs, *more):
            self.log.warning("%s: %s: %s", student, name, printable(str(one)))
        return notebook

    def _before(self, own: Callable[..., Any] | None) -> Callable[..., None]:
        """Return what nbgrader calls before it drops the notebooks that it does not know."""

        def hook(**about: Any) -> None:
            try:
                if own is not None:
                    own(**about)
            finally:
                self._put_names_right(about["notebooks"])

        return hook

    def _put_names_right(self, notebooks: list[str]) -> None:
        """Put the right names of a submission's notebooks in place of those that nbgrader does not know."""
        run = _run(self.parent)
        folder = Path(notebooks[0]).parent
        assignment = self.parent.coursedir.assignment_id  # type: ignore[union-attr]
        released = {book.name for book in run.course.released(assignment)}
        if {Path(path).stem for path in notebooks} <= released:
            return
        found = find_notebooks(folder, run.course.released(assignment))
        for name in sorted(found.names):
            if (right := str(folder / f"{name}.ipynb")) not in notebooks:
                notebooks.append(right)


class Grade(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no annotations
    """Grades a notebook in the sandbox, in place of nbgrader's Execute."""

    def preprocess(
        self,
        nb: NotebookNode,  # noqa: ARG002 - what was handed in is graded, not what the first pass wrote
        resources: Resources,
    ) -> tuple[NotebookNode, Resources]:
        """Return the notebook as graded; keep its result for `SaveScores`."""
        run = _run(_converter(self))
        assignment, student, name = _names(resources)
        found = run.found_of(assignment, student)
        run.graded[name] = run.grader.grade_found(assignment, student, name, found)
        return _node(run.graded[name].notebook), resources


class SaveScores(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no annotations
    """
    Stores a submission's scores once all its notebooks are graded.

    The scores are those of the checks, never read from a cell's outputs. If
    any notebook fails, nothing of the submission is stored.
    """

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Store the scores and the late penalties with the submission's last notebook."""
        run = _run(_converter(self))
        assignment, student, _ = _names(resources)
        waiting = {Path(path).stem for path in _converter(self).notebooks} - run.graded.keys()
        if waiting or (assignment, student) != run.submission:
            return nb, resources
        notebooks: tuple[NotebookResult, ...] = tuple(one.result for one in run.graded.values())
        result = SubmissionResult(assignment=assignment, student=student, notebooks=notebooks)
        unanswered = {one: graded.unanswered for one, graded in run.graded.items()}
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            gradebook.store(result, unanswered=unanswered, late_penalty=None)
        # The stock preprocessor, because it obeys the course's own penalty plug-in.
        late = AssignLatePenalties(parent=self.parent)
        for one in run.graded:
            late.preprocess(nb, resources | {"nbgrader": resources["nbgrader"] | {"notebook": one}})
        return nb, resources


class StudentView(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no annotations
    """Leaves out of a feedback page what is not for the student's eyes."""

    def preprocess(self, nb: NotebookNode, resources: Resources) -> tuple[NotebookNode, Resources]:
        """Return the notebook without hidden tests, bare scores and staff's notes."""
        rules = rules_of(_converter(self).config)
        for cell in nb.cells:
            cell.source = strip_hidden(cell.source, rules).rstrip("\n")
            record = cell.metadata.pop("autograder", None)
            if record and cell.cell_type == "code" and not record.get("not_graded"):
                # The first output is the score for nbgrader; the page shows it in the heading.
                cell.outputs = cell.outputs[1:]
        nb.metadata.pop("autograder", None)
        return nb, resources


class TableExport(ExportPlugin):  # type: ignore[misc]  # nbgrader has no annotations
    """Writes the kit's grade table: ``nbgrader export``, a column for each graded cell."""

    def export(self, gradebook: Any) -> None:
        """Write a CSV file with the wanted assignments and students."""
        address = gradebook.engine.url.render_as_string(hide_password=False)
        students = {str(student) for student in self.student}
        known = [assignment.name for assignment in gradebook.assignments]
        wanted = [str(name) for name in self.assignment] or known
        for name in wanted:
            if name not in known:
                raise CourseError("--assignment", f"there is no assignment {name!r}", nearest(name, known))
        with Gradebook(address) as book:
            tables = {
                name: [row for row in book.scores(name) if not students or row.student in students]
                for name in wanted
            }
            reasons = {name: book.failures(name) for name in wanted}
        path = Path(self.to or DEFAULT_EXPORT)
        write_tables(path, tables, reasons)
        self.log.info("Exported grades to %s", path)


@pass_context
def safe_markdown(context: Context, source: str) -> str:
    """
    Return the HTML of a Markdown text without anything that could run.

    nbgrader's pages pass on HTML in a student's Markdown as it is; in
    formgrader a script in it would act with the instructor's rights.

    Parameters
    ----------
    context : Context
        jinja's; it names the cell, for pictures attached to it.
    source : str
        Markdown, possibly with HTML in it.

    Returns
    -------
    str
        HTML.
    """
    attachments = getattr(context.get("cell"), "attachments", {})
    renderer = IPythonRenderer(escape=False, attachments=attachments)
    html = MarkdownWithMath(renderer=renderer).render(source)
    return nh3.clean(
        html,
        attributes=ATTRIBUTES,
        attribute_filter=_attribute,
        url_schemes=SCHEMES,
        filter_style_properties={"text-align"},
    )


def _attribute(tag: str, name: str, value: str) -> str | None:
    # Pictures come as data, links do not.
    return None if (tag, name) == ("a", "href") and value.strip().lower().startswith("data:") else value


def _node(notebook: Notebook) -> NotebookNode:
    return cast("NotebookNode", nbformat.from_dict(notebook))  # type: ignore[no-untyped-call]


def _converter(preprocessor: NbGraderPreprocessor) -> Any:
    # The preprocessor belongs to an exporter, and that to the converter.
    return preprocessor.parent.parent


def _course(converter: Any) -> Course:
    return Course(root=Path(converter.coursedir.root), given=converter.config)


def _names(resources: Resources) -> tuple[str, str, str]:
    names = resources["nbgrader"]
    return names["assignment"], names["student"], names["notebook"]


def _run(converter: Any) -> _Run:
    if converter not in _RUNS:
        course = _course(converter)
        grader = Grader(course, course.settings())
        _RUNS[converter] = _Run(course, grader)
        weakref.finalize(converter, grader.close)
    return _RUNS[converter]
