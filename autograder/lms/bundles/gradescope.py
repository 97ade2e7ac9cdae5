"""
Gradescope's autograder: a zip that it unpacks in a container and runs for each submission.

In it are the kit, the one assignment with its hidden checks, and two scripts.
Nothing of it names a student, and the course's own secret and gradebook stay at home.
"""

from __future__ import annotations

import ast
import hashlib
import hmac
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.course.handout import released_notebook
from autograder.course.layout import Step
from autograder.course.released import grade_id_of
from autograder.course.rules import Rules
from autograder.course.secret import SECRET_FILE
from autograder.errors import CourseError, NotebookError
from autograder.files import Beside, files_beside
from autograder.lms.bundles.kit import constraints, kit_files, requirements
from autograder.lms.zipping import PRIVATE, PROGRAM, Packed
from autograder.notebook import dump_notebook, read_notebook

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from autograder.course.course import Course
    from autograder.course.released import ReleasedNotebook
    from autograder.course.settings import Settings
    from autograder.lms.bundles.gradescope_results import Shown
    from autograder.notebook import Notebook

COURSE, OPTIONS = "course", "options.json"
"""The folder of the course in the bundle, and what was chosen when the bundle was made."""

_SCRIPTS = Path(__file__).parents[2] / "templates" / "gradescope"
_KEPT = (
    *("wall_time_s", "notebook_time_s", "cpu_time_s", "memory_mib", "output_kib", "file_mib"),
    *("inputs_version", "unsafe_no_sandbox"),
)
_CONFIG = '''"""What grading needs of the course's settings; written by `autograder bundle gradescope`."""

c = get_config()  # noqa: F821 - given by traitlets when it runs this file

'''


def gradescope_files(course: Course, assignment: str, settings: Settings, shown: Shown) -> Iterator[Packed]:
    """
    Yield what is in the autograder of an assignment.

    Parameters
    ----------
    course : Course
        The course; its release is up to date.
    assignment : str
        The assignment.
    settings : Settings
        The limits on student code.
    shown : Shown
        When students see what the hidden checks found.

    Yields
    ------
    Packed
        The files, the scripts first.

    Raises
    ------
    CourseError
        If the assignment cannot be graded elsewhere.
    OperatorError
        If a file cannot be read.
    """
    released = course.released(assignment)
    folder = course.source(assignment)
    sources = {
        book.name: read_notebook(folder / f"{book.name}.ipynb", error=NotebookError) for book in released
    }
    yield Packed(name="setup.sh", data=_SCRIPTS / "setup.sh", mode=PROGRAM)
    yield Packed(name="run_autograder", data=_SCRIPTS / "run_autograder", mode=PROGRAM)
    kit = tuple(kit_files(assignment))
    texts = [*_code(sources.values()), *_modules(kit, assignment)]
    yield _text("requirements.txt", "\n".join(requirements(texts)) + "\n")
    yield _text("constraints.txt", "\n".join(constraints()) + "\n")
    options = {"assignment": assignment, "usually": shown.usually, "of": dict(sorted(shown.of.items()))}
    yield _text(OPTIONS, json.dumps(options, ensure_ascii=False, indent=1) + "\n")
    yield _text(f"{COURSE}/nbgrader_config.py", _CONFIG + _settings(course, assignment, settings))
    yield _text(f"{COURSE}/{SECRET_FILE}", _secret(course, assignment) + "\n")
    yield from _notebooks(course, assignment, released, sources)
    for path in files_beside(Beside(folder, course.layout.ignored)):
        name = path.relative_to(folder).as_posix()
        yield Packed(name=f"{COURSE}/source/{assignment}/{name}", data=path, mode=PRIVATE)
    for path in sorted((course.solutions / "misconceptions" / assignment).glob("*.py")):
        name = f"{COURSE}/solutions/misconceptions/{assignment}/{path.name}"
        yield Packed(name=name, data=path, mode=PRIVATE)
    yield from kit


def _text(name: str, text: str) -> Packed:
    return Packed(name=name, data=text.encode(), mode=PRIVATE)


def _secret(course: Course, assignment: str) -> str:
    """Return a secret of this bundle's own: it gives no hint of the course's, and is the same next time."""
    return hmac.new(course.secret(), f"gradescope\0{assignment}".encode(), hashlib.sha256).hexdigest()


# ---------------------------------------------------------------- notebooks


def _notebooks(
    course: Course,
    assignment: str,
    released: Iterable[ReleasedNotebook],
    sources: Mapping[str, Notebook],
) -> Iterator[Packed]:
    """Yield each notebook as it was released, and as it is graded: no gradebook is needed beside these."""
    for book in released:
        release = read_notebook(course.release(assignment) / f"{book.name}.ipynb", error=NotebookError)
        whole = _whole(book, sources[book.name], release)
        rules = _plain_rules(book.rules)
        again = released_notebook(book.name, whole, release, rules=rules)
        if [_graded(cell) for cell in again.layout] != [_graded(cell) for cell in book.layout]:
            what = "would be graded in another way without the gradebook"
            raise CourseError(book.name, what, "Grade this assignment with `autograder grade`.")
        for step, notebook in ((Step.SOURCE, whole), (Step.RELEASE, release)):
            yield _text(f"{COURSE}/{step}/{assignment}/{book.name}.ipynb", dump_notebook(notebook))


def _whole(book: ReleasedNotebook, source: Notebook, release: Notebook) -> Notebook:
    """Return a release with hidden tests where they belong, and with the instructor's solutions."""
    own = {grade_id_of(cell): cell["source"] for cell in source["cells"] if grade_id_of(cell)}
    graded = {cell.grade_id: cell.source for cell in book.cells if cell.kind.locked}
    cells = []
    for cell in release["cells"]:
        name = grade_id_of(cell)
        cells.append(cell | {"source": graded.get(name, own.get(name, cell["source"]))})
    return release | {"cells": cells}


def _plain_rules(rules: Rules) -> Rules:
    """Return the rules of the bundle: tests of nbgrader's own and cells around are written out in it."""
    return Rules(
        solution=rules.solution,
        hidden=rules.hidden,
        scheme=rules.scheme,
        code_stubs=rules.code_stubs,
        text_stub=rules.text_stub,
        autotest=rules.autotest,
    )


def _graded(cell: Any) -> tuple[Any, ...]:
    names = ("grade_id", "kind", "cell_type", "points", "source", "released", "checksum", "cell_id")
    return tuple(getattr(cell, name) for name in names)


def _code(sources: Iterable[Notebook]) -> Iterator[str]:
    return (cell["source"] for book in sources for cell in book["cells"] if cell["cell_type"] == "code")


def _modules(kit: Iterable[Packed], assignment: str) -> Iterator[str]:
    """Yield the modules of the hidden checks and of the references."""
    wanted = (f"kit/autograder/checks/{assignment}/", "kit/solutions/")
    return (
        file.read().decode("utf-8", "replace")
        for file in kit
        if file.name.startswith(wanted) and file.name.endswith(".py")
    )


# ---------------------------------------------------------------- settings


def _settings(course: Course, assignment: str, settings: Settings) -> str:
    """Return the settings in force as lines of a configuration; where a course keeps what stays at home."""
    rules, layout = course.rules, course.layout
    told: dict[str, object] = {
        "CourseDirectory.course_id": settings.course_id,
        "CourseDirectory.ignore": list(layout.ignored),
        "ClearSolutions.begin_solution_delimeter": rules.solution[0],
        "ClearSolutions.end_solution_delimeter": rules.solution[1],
        "ClearSolutions.code_stub": dict(rules.code_stubs),
        "ClearSolutions.text_stub": rules.text_stub,
        "ClearHiddenTests.begin_test_delimeter": rules.hidden[0],
        "ClearHiddenTests.end_test_delimeter": rules.hidden[1],
        "ClearMarkScheme.begin_mark_scheme_delimeter": rules.scheme[0],
        "ClearMarkScheme.end_mark_scheme_delimeter": rules.scheme[1],
        "InstantiateTests.autotest_delimiter": rules.autotest,
        "Autograde.exclude_overwriting": {assignment: sorted(layout.own_files.get(assignment, ()))},
        **{f"Autograder.{name}": getattr(settings, name) for name in _KEPT},
    }
    return "".join(f"c.{name} = {_literal(name, value)}\n" for name, value in told.items())


def _literal(name: str, value: object) -> str:
    text = repr(value)
    try:
        is_plain = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        is_plain = False
    if not is_plain:
        raise CourseError(f"c.{name}", "is no plain text, number or list", "Write it as one.")
    return text
