"""
What runs in Gradescope's container: one submission, graded as everywhere else, becomes a ``results.json``.

It is not a command of `autograder`: the scripts of the bundle call it, as
``python -m autograder.commands.gradescope /autograder``. Whatever is no
student's fault ends without a score, which Gradescope shows as a failure of
the autograder; why is printed, which only instructors see.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.course.course import Course
from autograder.course.layout import Step
from autograder.course.secret import SECRET_FILE
from autograder.errors import AutograderError, OperatorError, SandboxError, SubmissionError
from autograder.grader.grader import Grader
from autograder.lms.bundles.gradescope import COURSE, OPTIONS
from autograder.lms.bundles.gradescope_results import Beside, Shown, results_of
from autograder.lms.bundles.gradescope_submission import copy_submission, read_metadata
from autograder.lms.gradescope import Visibility, failure_json, results_json
from autograder.lms.sheets import write_whole
from autograder.pages.causes import causes
from autograder.pages.lessons import lessons
from autograder.results import Status
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from autograder.lms.bundles.gradescope_submission import Told
    from autograder.results import GradedSubmission

NO_SCORE = "Nothing is lost, and you have no score yet."
NO_FAULT = f"The autograder could not grade this. It is no fault of yours. {NO_SCORE} Tell your instructor."


# ------------------------------------------------------------------ grading


class Bundle:
    """
    An autograder as Gradescope has unpacked it.

    Parameters
    ----------
    root : Path
        Gradescope's folder, ``/autograder``.

    Raises
    ------
    OperatorError
        If a part of it is missing.
    """

    def __init__(self, root: Path) -> None:
        source = root / "source"
        self.course = Course(root=source / COURSE)
        try:
            options = json.loads((source / OPTIONS).read_text(encoding="utf-8"))
            self.assignment = str(options["assignment"])
            of = {str(name): Visibility(value) for name, value in options["of"].items()}
            self.shown = Shown(usually=Visibility(options["usually"]), of=of)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            raise _incomplete(source / OPTIONS) from None
        # Without it a new one would be made, and every run would have other inputs.
        if not (secret := self.course.root / SECRET_FILE).is_file():
            raise _incomplete(secret)

    @contextmanager
    def handed_in(self, submission: Path, told: Told) -> Iterator[None]:
        """
        Put a submission where a course has it, for as long as it is needed.

        Parameters
        ----------
        submission : Path
            The folder in which Gradescope has put it.
        told : Told
            What Gradescope says of it.
        """
        everybody = self.course.layout.parent(Step.SUBMITTED)
        shutil.rmtree(everybody, ignore_errors=True)
        folder = self.course.submitted(told.student, self.assignment)
        folder.mkdir(parents=True)
        try:
            for left in copy_submission(submission, folder):
                _print(printable(f"left out: {left.name}: {left.reason}"))
            yield
        finally:
            shutil.rmtree(everybody, ignore_errors=True)

    def grade(self, submission: Path, told: Told) -> GradedSubmission:
        """
        Grade a submission.

        Parameters
        ----------
        submission : Path
            The folder in which Gradescope has put it.
        told : Told
            What Gradescope says of it.

        Returns
        -------
        GradedSubmission
            As of `Grader.grade_submission`, which says what is raised.
        """
        with (
            self.handed_in(submission, told),
            Grader(self.course, self.course.settings()) as grader,
        ):
            return grader.grade_submission(self.assignment, told.student)

    def results(self, graded: GradedSubmission, told: Told, started_s: float) -> bytes:
        """
        Return what Gradescope is told of a graded submission.

        Parameters
        ----------
        graded : GradedSubmission
            The submission.
        told : Told
            What Gradescope says of it.
        started_s : float
            When grading began, in seconds of the monotonic clock.

        Returns
        -------
        bytes
            A ``results.json``; without a score if a notebook could not be graded.
        """
        if graded.result.failure:
            return failure_json(f"This could not be graded: {graded.result.failure}\n\n{NO_SCORE}")
        released = {book.name: book for book in self.course.released(self.assignment)}
        found = {
            (book.name, grade_id): cause
            for book in graded.result.notebooks
            if book.status is Status.GRADED
            for grade_id, cause in causes(graded.notebooks[book.name], released[book.name], book).items()
        }
        taken_s = time.monotonic() - started_s
        beside = Beside(lessons=lessons(released.values()), causes=found, late_s=told.late_s, taken_s=taken_s)
        return results_json(results_of(graded, self.shown, beside))


def _incomplete(path: Path) -> OperatorError:
    return OperatorError(path, "is missing or damaged", "Make the bundle again, and upload it as it is.")


# ------------------------------------------------------------------ programs


def run(root: Path) -> int:
    """
    Grade the submission in Gradescope's folder, and write its ``results.json``.

    Parameters
    ----------
    root : Path
        Gradescope's folder, ``/autograder``.

    Returns
    -------
    int
        0 if it was graded, else 1; then the results have no score and say why.
    """
    started_s = time.monotonic()
    submission = root / "submission"
    try:
        told = read_metadata(root / "submission_metadata.json")
        bundle = Bundle(root)
        graded = bundle.grade(submission, told)
        _print_for_staff(graded)
        data, failed = bundle.results(graded, told, started_s), bool(graded.result.failure)
    except SubmissionError as error:
        _print(f"not graded: {error}")
        # Where it lies here means nothing to a student.
        where = "" if error.where.startswith("/") else f"{error.where}: "
        what = f"This could not be graded: {where}{error.what}. {error.remedy}"
        data, failed = failure_json(f"{what}\n\n{NO_SCORE}"), True
    except AutograderError as error:
        _print(f"not graded: {error}")
        data, failed = failure_json(NO_FAULT), True
    except Exception:  # noqa: BLE001 - a fault of ours is told to instructors, and is never a zero
        _print(f"not graded, a fault of the kit:\n{traceback.format_exc()}")
        data, failed = failure_json(NO_FAULT), True
    write_whole(root / "results" / "results.json", data)
    return int(failed)


def prepare(root: Path) -> int:
    """
    Prepare an image, so that every submission need not, and say what stands around student code there.

    Parameters
    ----------
    root : Path
        Gradescope's folder, ``/autograder``.

    Returns
    -------
    int
        0, or 1 if the bundle cannot grade anything. A missing wall is told only: where
        submissions run, there may be one.
    """
    try:
        bundle = Bundle(root)
        with Grader(bundle.course, bundle.course.settings()) as grader:
            grader.prepare(bundle.assignment)
            _print(f"student code runs behind a wall of {grader.sandbox}")
    except SandboxError as error:
        _print(f"WARNING: grading would end without a score here: {error}")
    except AutograderError as error:
        _print(f"this autograder cannot work: {error}")
        return 1
    return 0


def main(arguments: Sequence[str]) -> int:
    """
    Be the program that the scripts of the bundle start.

    Parameters
    ----------
    arguments : sequence of str
        Gradescope's folder, and before it ``--prepare`` if the image is being built.

    Returns
    -------
    int
        The exit code.
    """
    *options, folder = arguments
    return prepare(Path(folder)) if options == ["--prepare"] else run(Path(folder))


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")


def _print_for_staff(graded: GradedSubmission) -> None:
    """Print what a report would tell course staff; Gradescope shows it to instructors alone."""
    result = graded.result
    score = "no score" if result.failure else f"{result.auto_score} of {result.max_score} points"
    _print(f"{result.student}: {score}, {result.sandbox}")
    for book in result.notebooks:
        for repair in book.repairs:
            _print(printable(f"{book.name}: {repair.kind}: {repair.where}: {repair.detail}"))
        for one in book.evidence:
            _print(printable(f"{book.name}: {one.severity}: {one.kind}: {one.where}: {one.detail}"))
    for name in graded.ignored:
        _print(printable(f"ignored: {name}"))
    if result.failure:
        _print(printable(f"not graded: {result.failure}"))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
