"""
The settings of a course: defaults, then ``nbgrader_config.py``, then flags.

The kit's settings stand in the course's ``nbgrader_config.py`` beside
nbgrader's own, as ``c.Autograder.<name>``; the rest of the package gets a
frozen `Settings`.
"""

from __future__ import annotations

import difflib
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from traitlets import Bool, Float, Int, TraitError
from traitlets.config import Config

from autograder.course.configuration import CONFIG_FILE, read_config
from autograder.course.lms_settings import LMS_SETTINGS, LmsTraits
from autograder.course.nbgrader_settings import (
    CourseDirectory,
    cell_timeout_s,
    course_db_url,
    late_plugin,
    told,
)
from autograder.course.rules import CODE_STUBS, HIDDEN, SOLUTION, TEXT_STUB
from autograder.errors import ConfigError, nearest

if TYPE_CHECKING:
    from pathlib import Path

SECTION = "Autograder"
NBGRADERS = ("Autograde", "AutogradeApp")
"""nbgrader's own sections whose names are almost that of ours."""

PLUGINS = "autograder.nbgrader_plugins"


class Autograder(LmsTraits):
    """What may be set as ``c.Autograder.<name>`` in ``nbgrader_config.py``."""

    wall_time_s = Float(
        10.0,
        min=0.1,
        help="""Seconds of the clock that one cell, or one hidden check, may take (default 10).
        A cell stopped by it counts as raised; the cells after it still run. A check stopped by it
        is lost, the others count.""",
    ).tag(config=True)

    notebook_time_s = Float(
        120.0,
        min=1.0,
        help="""Seconds of the clock that one notebook may take with all its cells and checks (default
        120). What has not run by then is not run: those cells say so, those checks are lost. A notebook
        that is run a second time, for hidden asserts, has as much again.""",
    ).tag(config=True)

    cpu_time_s = Int(
        60,
        min=1,
        help="""Seconds of processor time that one student process may use, all its threads together
        (default 60). A notebook's cells share one process; after a limit the next check gets a new
        one. It stops what hides from the clock.""",
    ).tag(config=True)

    memory_mib = Int(
        1024,
        min=192,
        help="""MiB of memory that a student process may use (default 1024, least 192: numpy alone
        takes 160). More raises MemoryError in the student's code.""",
    ).tag(config=True)

    output_kib = Int(
        1024,
        min=1,
        help="""KiB of output kept of one cell (default 1024). What a cell prints beyond it is
        dropped and the cut is told; the cell runs on.""",
    ).tag(config=True)

    file_mib = Int(
        64,
        min=1,
        help="""MiB of the largest file that student code may write, in a folder of its own that is
        thrown away (default 64). More raises OSError in the student's code.""",
    ).tag(config=True)

    inputs_version = Int(
        1,
        min=1,
        help="""Version of the random inputs of hidden checks (default 1). Another number gives every
        student other inputs, for example after the old ones became known. Grades given before then
        need not repeat.""",
    ).tag(config=True)

    jobs = Int(
        0,
        min=0,
        help="""Submissions graded, or feedback written, at the same time (default 0: one for each
        processor core).""",
    ).tag(config=True)

    unsafe_no_sandbox = Bool(
        default_value=False,
        help="""True grades even where `autograder doctor` finds no wall for student code (default
        False). The code then has the rights of whoever grades, and every result says so.""",
    ).tag(config=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    The settings in force.

    Parameters
    ----------
    wall_time_s : float
        Seconds one cell or check may take.
    notebook_time_s : float
        Seconds one notebook may take with all its checks.
    cpu_time_s : int
        Seconds of processor time a student process may use.
    memory_mib : int
        MiB of memory a student process may use.
    output_kib : int
        KiB of output kept of one cell.
    file_mib : int
        MiB a student process may write.
    inputs_version : int
        Version of the random inputs of hidden checks.
    jobs : int
        Submissions graded, or feedback written, at the same time, at least 1.
    unsafe_no_sandbox : bool
        True if student code may run without a wall.
    course_id : str
        nbgrader's name of the course; may be empty.
    db_url : str
        SQLAlchemy address of the gradebook.
    late_penalty : str
        What is taken off late work: ``none``, ``zero`` (all points), or the
        name of the course's nbgrader plug-in that says.
    """

    wall_time_s: float
    notebook_time_s: float
    cpu_time_s: int
    memory_mib: int
    output_kib: int
    file_mib: int
    inputs_version: int
    jobs: int
    unsafe_no_sandbox: bool
    course_id: str
    db_url: str
    late_penalty: str


def load_settings(course_root: Path, config_dir: Path | None = None, /, **flags: Any) -> Settings:
    """
    Return the settings in force for a course.

    Parameters
    ----------
    course_root : Path
        The course.
    config_dir : Path, optional
        As for `read_config`.
    **flags : Any
        Settings from the command line; None means not given.

    Returns
    -------
    Settings
        Defaults, overridden by the file, overridden by flags.

    Raises
    ------
    ConfigError
        If the file cannot be run, or a setting is unknown or has a wrong value.
    """
    return settings_of(course_root, read_config(course_root, config_dir), **flags)


def settings_of(course_root: Path, config: Config, **flags: Any) -> Settings:
    """
    Return the settings in force for a course, from its configuration.

    Parameters
    ----------
    course_root : Path
        The course.
    config : Config
        Its configuration; it is changed.
    **flags : Any
        As for `load_settings`.

    Returns
    -------
    Settings
        Defaults, overridden by the configuration, overridden by flags.

    Raises
    ------
    ConfigError
        If a setting is unknown or has a wrong value.
    """
    path = course_root / CONFIG_FILE
    config.merge(Config({SECTION: {name: value for name, value in flags.items() if value is not None}}))
    known = Autograder.class_trait_names(config=True)
    for name in config.Autograder:
        if name not in known:
            raise ConfigError(path, f"there is no setting Autograder.{name}", nearest(name, known))
    try:
        ours = Autograder(config=config)
    except TraitError as problem:
        raise ConfigError(path, _reason(problem), "Give it a value of the right kind.") from None
    values = {name: getattr(ours, name) for name in known if name not in LMS_SETTINGS}
    values["jobs"] = values["jobs"] or _cores()
    return Settings(
        **(values | _times(config)),
        course_id=told(CourseDirectory, config, where=path).course_id,
        db_url=course_db_url(course_root, config),
        late_penalty=late_plugin(config),
    )


def check_config(config: Config, where: Path) -> None:
    """
    Do nothing if a configuration asks for nothing that would be ignored.

    Parameters
    ----------
    config : Config
        The configuration.
    where : Path
        Its file.

    Raises
    ------
    ConfigError
        If a section is called almost as ours.
    """
    for section in config:
        if section not in {SECTION, *NBGRADERS} and difflib.get_close_matches(section, [SECTION], cutoff=0.8):
            raise ConfigError(where, f"there is no section {section!r}", f"Did you mean {SECTION!r}?")


def help_texts() -> dict[str, str]:
    """Return what each setting means: unit, default, and what happens when it is hit."""
    traits = Autograder.class_traits(config=True)
    return {name: " ".join(trait.help.split()) for name, trait in sorted(traits.items())}


def _cores() -> int:
    # A container or a batch system may leave us fewer cores than there are.
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _reason(problem: TraitError) -> str:
    return " ".join(str(problem).split()).rstrip(".")


def _times(config: Config) -> dict[str, float]:
    """Return the limits on time that follow from nbgrader's limit on a cell, where ours are not set."""
    timeout_s = None if "wall_time_s" in config.Autograder else cell_timeout_s(config)
    if timeout_s is None:
        return {}
    default = Autograder()
    # Without a limit on cells there is still one on notebooks.
    timeout_s = default.notebook_time_s if math.isinf(timeout_s) else timeout_s
    scale = max(timeout_s / default.wall_time_s, 1.0)
    times: dict[str, float] = {
        "wall_time_s": timeout_s,
        "notebook_time_s": default.notebook_time_s * scale,
        "cpu_time_s": math.ceil(default.cpu_time_s * scale),
    }
    return {name: value for name, value in times.items() if name not in config.Autograder}


def configure_nbgrader(c: Config) -> None:
    """
    Make nbgrader's own commands grade as `autograder` does.

    Lists are set whole: nbgrader loads its configuration more than once, and
    what is appended would be there twice. Names stay strings, so that reading
    the configuration imports neither nbgrader nor the plug-ins.

    Parameters
    ----------
    c : Config
        The object that traitlets calls ``c`` in ``nbgrader_config.py``.
    """
    c.CourseDirectory.solution_directory = "solutions"
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".*", "feedback"]
    c.ClearSolutions.begin_solution_delimeter, c.ClearSolutions.end_solution_delimeter = SOLUTION
    c.ClearSolutions.code_stub = CODE_STUBS
    c.ClearSolutions.text_stub = TEXT_STUB
    c.ClearHiddenTests.begin_test_delimeter, c.ClearHiddenTests.end_test_delimeter = HIDDEN
    c.Autograde.exporter_class = f"{PLUGINS}.RepairingExporter"
    c.Autograde.sanitize_preprocessors = ["nbgrader.preprocessors.CheckCellMetadata"]
    c.Autograde.autograde_preprocessors = [
        f"{PLUGINS}.Grade",
        f"{PLUGINS}.SaveScores",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    c.GenerateFeedback.preprocessors = [
        "nbgrader.preprocessors.GetGrades",
        f"{PLUGINS}.StudentView",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    ]
    c.HTMLExporter.filters = {"markdown2html": f"{PLUGINS}.safe_markdown"}
    c.ExportApp.plugin_class = f"{PLUGINS}.TableExport"
