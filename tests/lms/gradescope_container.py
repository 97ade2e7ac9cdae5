"""
What Gradescope does with an autograder, by its documentation, in a folder that stands for ``/autograder``.

It unpacks the zip to ``source``, copies ``run_autograder``, puts a submission into
``submission`` and its metadata beside it, and runs the script there.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from course_copies import copy_course
from known_solutions import BY_NAME
from plain_course import take_pictures_out

from autograder.commands import gradescope
from autograder.commands.bundling import bundle_gradescope
from autograder.errors import NotebookError
from autograder.lms.bundles.gradescope_results import Shown
from autograder.lms.gradescope import Visibility
from autograder.notebook import dump_notebook, read_notebook
from autograder.variants import combined_cells, fill

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from autograder.course.course import Course

METADATA: dict[str, Any] = {
    "id": 4021,
    "created_at": "2027-03-01T10:05:00.123456-08:00",
    "assignment": {
        "due_date": "2027-03-01T09:00:00.000000-08:00",
        "late_due_date": None,
        "release_date": "2027-02-01T00:00:00.000000-08:00",
        "group_size": None,
        "group_submission": False,
        "id": 25828,
        "course_id": 1544,
        "title": "Warm-up",
        "total_points": "7.0",
    },
    "submission_method": "upload",
    "users": [{"email": "ana@example.edu", "id": 1235, "name": "Ana Ruiz"}],
    "previous_submissions": [],
}


WARMUP, MAIN = "attention_warmup", "multi_head_attention"
BOOK = "softmax_and_attention.ipynb"
AUTOMATIC = 7
"""Points of the warm-up that no person gives."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run left: its exit code, the results (None if there are none), and what it printed."""

    exit_code: int
    results: dict[str, Any] | None
    printed: str


class Container:
    """
    Gradescope's folder.

    Parameters
    ----------
    root : Path
        A new folder that stands for ``/autograder``.
    bundle : Path
        The zip that the instructor uploads.
    """

    def __init__(self, root: Path, bundle: Path) -> None:
        self.root = root
        for name in ("source", "submission", "results"):
            (root / name).mkdir(parents=True)
        with zipfile.ZipFile(bundle) as archive:
            archive.extractall(root / "source")
        # The worst that unpacking can do: everybody may read everything.
        for path in (root / "source").rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        script = root / "run_autograder"
        script.write_bytes((root / "source" / "run_autograder").read_bytes())
        script.chmod(0o755)

    def submit(self, files: Mapping[str, bytes], metadata: object = METADATA) -> None:
        """Put a submission where the last one was."""
        for path in sorted((self.root / "submission").rglob("*"), reverse=True):
            path.unlink() if not path.is_dir() or path.is_symlink() else path.rmdir()
        for name, data in files.items():
            path = self.root / "submission" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        (self.root / "submission_metadata.json").write_text(json.dumps(metadata), encoding="utf-8")

    def guard(self) -> None:
        """Take rights from others, as the script does before it starts Python."""
        for path in (self.root / "source").rglob("*"):
            path.chmod(path.stat().st_mode & 0o700)

    def run(self, **environment: str) -> Ran:
        """Run the autograder; the environment at hand stands for the one that setup.sh makes."""
        done = subprocess.run(
            ["./run_autograder"],
            cwd=self.root,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.root),
                "AUTOGRADER_ROOT": str(self.root),
                "AUTOGRADER_PYTHON": sys.executable,
                **environment,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Ran(done.returncode, self.results(), done.stdout)

    def results(self) -> dict[str, Any] | None:
        """Return what stands in ``results.json``."""
        path = self.root / "results" / "results.json"
        return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def solved(course: Course, assignment: str, *variants: str) -> dict[str, bytes]:
    """Return a submission: the released notebooks with the instructor's solutions, or those of variants."""
    chosen = [BY_NAME[name] for name in variants]
    files = {}
    for path in sorted(course.release(assignment).glob("*.ipynb")):
        notebook = read_notebook(path, error=NotebookError)
        source = read_notebook(course.source(assignment) / path.name, error=NotebookError)
        files[path.name] = dump_notebook(fill(notebook, combined_cells(source, chosen))).encode()
    return files


def bundled(course: Course, to: Path, assignment: str = WARMUP, shown: Shown | None = None) -> Path:
    """Bundle an assignment."""
    return bundle_gradescope(course, assignment, course.settings(), shown or Shown(), to).file


def here(container: Container, files: Mapping[str, bytes]) -> dict[str, Any]:
    """Grade a submission in this process, which starts more quickly than the script."""
    container.submit(files)
    container.guard()
    gradescope.run(container.root)
    results = container.results()
    assert results is not None
    return results


def zipped(files: dict[str, bytes]) -> bytes:
    """Return a zip that a student made."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def is_failure(results: dict[str, Any]) -> bool:
    """Tell whether Gradescope shows that the autograder has failed: there is no score anywhere."""
    return "score" not in results and "tests" not in results and bool(results["output"])


def plain_copy(root: Path) -> Course:
    """Return a copy of the course without pictures, which only take time here."""
    course = copy_course(root)
    for assignment in (WARMUP, MAIN):
        take_pictures_out(course, assignment)
    return course


def warm_up_seen_at_once(course: Course, folder: Path) -> Container:
    """Return Gradescope's folder with the bundle of the warm-up, whose checks are seen at once."""
    shown = Shown(usually=Visibility.VISIBLE, of={"test_attention": Visibility.HIDDEN})
    return Container(folder / "autograder", bundled(course, folder / "bundle.zip", shown=shown))
