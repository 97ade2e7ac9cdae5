"""
Which of nbgrader's own settings the kit follows, without nbgrader.

Importing nbgrader takes seconds, so that its settings are described here once
more, under its names: traitlets then reads the same sections, with the same
defaults, and refuses the same values.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from traitlets import Dict, Enum, Integer, List, TraitError, Unicode
from traitlets.config import Config, Configurable

from autograder.course.configuration import CONFIG_FILE, Stamps, merged
from autograder.course.layout import STRUCTURE, Layout, Step, structure_problem
from autograder.course.rules import AUTOTEST, CODE_STUBS, HIDDEN, PYTHON, SCHEME, SOLUTION, TEXT_STUB, Rules
from autograder.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

Section = TypeVar("Section", bound=Configurable)

LATE_PLUGIN = "nbgrader.plugins.latesubmission.LateSubmissionPlugin"
"""nbgrader's own late-penalty plug-in, the default."""
LATE_PLUGINS = (LATE_PLUGIN, "nbgrader.plugins.LateSubmissionPlugin")

_FILE = re.compile(r"^(sqlite(?:\+\w+)?:///)(?!/|:memory:|file:)(.+)$", re.DOTALL)
"""A SQLite address with a file's path in it that is not absolute."""


class CourseDirectory(Configurable):
    """Folders, and who and what counts."""

    course_id = Unicode("").tag(config=True)
    root = Unicode("").tag(config=True)
    db_url = Unicode("").tag(config=True)
    directory_structure = Unicode(STRUCTURE).tag(config=True)
    source_directory = Unicode("source").tag(config=True)
    release_directory = Unicode("release").tag(config=True)
    submitted_directory = Unicode("submitted").tag(config=True)
    autograded_directory = Unicode("autograded").tag(config=True)
    feedback_directory = Unicode("feedback").tag(config=True)
    solution_directory = Unicode("solution").tag(config=True)
    student_id = Unicode("*").tag(config=True)
    student_id_exclude = Unicode("").tag(config=True)
    notebook_id = Unicode("*").tag(config=True)
    ignore = List([".ipynb_checkpoints", "*.pyc", "__pycache__", "feedback"]).tag(config=True)


class ClearSolutions(Configurable):
    """What stands in place of solutions."""

    code_stub = Dict(CODE_STUBS).tag(config=True)
    text_stub = Unicode(TEXT_STUB).tag(config=True)
    begin_solution_delimeter = Unicode(SOLUTION[0]).tag(config=True)
    end_solution_delimeter = Unicode(SOLUTION[1]).tag(config=True)


class ClearHiddenTests(Configurable):
    """What marks hidden tests."""

    begin_test_delimeter = Unicode(HIDDEN[0]).tag(config=True)
    end_test_delimeter = Unicode(HIDDEN[1]).tag(config=True)


class ClearMarkScheme(Configurable):
    """What marks notes on how to grade a task."""

    begin_mark_scheme_delimeter = Unicode(SCHEME[0]).tag(config=True)
    end_mark_scheme_delimeter = Unicode(SCHEME[1]).tag(config=True)


class InstantiateTests(Configurable):
    """What marks tests that nbgrader writes itself."""

    autotest_delimiter = Unicode(AUTOTEST).tag(config=True)


class IncludeHeaderFooter(Configurable):
    """Notebooks whose cells are put around every other."""

    header = Unicode("").tag(config=True)
    footer = Unicode("").tag(config=True)


class Autograde(Configurable):
    """Which files of students count."""

    exclude_overwriting = Dict({}).tag(config=True)


class LateSubmissionPlugin(Configurable):
    """nbgrader's own penalties for late work."""

    penalty_method = Enum(("none", "zero"), default_value="none").tag(config=True)


class NotebookClient(Configurable):
    """How long a cell may take; Jupyter's base of the two below."""

    timeout = Integer(None, allow_none=True).tag(config=True)


class ExecutePreprocessor(NotebookClient):
    """The same as nbconvert knows it."""


class Execute(ExecutePreprocessor):
    """The same as nbgrader knows it."""


_HOOKS = {"exporter_class", "pre_convert_hook", "post_convert_hook"}
CHANGES: Mapping[str, set[str]] = {
    "BaseConverter": _HOOKS,
    "GenerateAssignment": {"preprocessors", *_HOOKS},
    "NbGraderPreprocessor": {"enabled"},
    "IncludeHeaderFooter": {"enabled"},
    "InstantiateTests": {"enabled"},
    "ClearSolutions": {"enabled"},
    "ClearHiddenTests": {"enabled"},
    "ClearMarkScheme": {"enabled"},
    "SaveCells": {"enabled"},
}
"""Settings that change nbgrader's steps from a source to a release."""


def told(kind: type[Section], config: Config, *, where: object = CONFIG_FILE) -> Section:
    """
    Return what a configuration says in one of the sections above.

    Parameters
    ----------
    kind : type of Configurable
        The section.
    config : Config
        The configuration; what it says beyond what is known here is nbgrader's to read.
    where : object
        What to name in an error.

    Returns
    -------
    Configurable
        Its values, defaults included.

    Raises
    ------
    ConfigError
        If a value is of a wrong kind.
    """
    known = kind.class_trait_names(config=True)
    mine = Config()
    for name in kind.section_names():
        if name in config:
            mine[name] = Config({key: value for key, value in config[name].items() if key in known})
    try:
        return kind(config=mine)
    except TraitError as problem:
        what = f"{kind.__name__} cannot be read ({' '.join(str(problem).split()).rstrip('.')})"
        raise ConfigError(where, what, "Give it a value of the right kind.") from None


@lru_cache(maxsize=64)
def course_layout(course_root: Path, stamps: Stamps) -> Layout:
    """
    Return where a course keeps what.

    Parameters
    ----------
    course_root : Path
        The course.
    stamps : tuple
        Its configuration, see `config_stamps`.

    Returns
    -------
    Layout
        Its folders.

    Raises
    ------
    ConfigError
        If its configuration cannot be run, or names folders that cannot be used.
    """
    return layout_of(course_root, merged(stamps), where=_where(course_root, stamps))


def layout_of(course_root: Path, config: Config, *, where: object = CONFIG_FILE) -> Layout:
    """
    Return where a course keeps what, from its configuration.

    Parameters
    ----------
    course_root : Path
        The course.
    config : Config
        Its configuration.
    where : object
        What to name in an error.

    Returns
    -------
    Layout
        Its folders.

    Raises
    ------
    ConfigError
        If they cannot be used.
    """
    ours = told(CourseDirectory, config, where=where)
    remedy = "Correct it as nbgrader's documentation says."
    if problem := structure_problem(ours.directory_structure):
        raise ConfigError(where, f"CourseDirectory.directory_structure {problem}", remedy)
    folders = {step: str(getattr(ours, f"{step}_directory")) for step in Step}
    seen: dict[Path, Step] = {}
    for step, folder in folders.items():
        if (other := seen.setdefault(Path(course_root, folder), step)) is not step or not folder:
            what = f"CourseDirectory.{step}_directory is {folder!r}, as is {other}_directory"
            raise ConfigError(where, what, "Give each a folder of its own: one would overwrite the other.")
    own_files = told(Autograde, config, where=where).exclude_overwriting
    excluded = ours.student_id_exclude.split(",")
    return Layout(
        root=course_root,
        structure=ours.directory_structure,
        folders=folders,
        excluded=frozenset({*excluded, *map(str.strip, excluded)}),
        students=ours.student_id.strip(),
        notebooks=ours.notebook_id.strip(),
        # What is hidden is never looked at: folders of editors and of version control.
        ignored=(".*", *ours.ignore),
        own_files={name: frozenset(map(str, files)) for name, files in own_files.items()},
    )


@lru_cache(maxsize=64)
def course_rules(stamps: Stamps) -> Rules:
    """
    Return what a course's releases are made by.

    Parameters
    ----------
    stamps : tuple
        Its configuration, see `config_stamps`.

    Returns
    -------
    Rules
        What marks solutions and hidden tests, and what stands in their place.

    Raises
    ------
    ConfigError
        If its configuration cannot be run or has a wrong value.
    """
    return rules_of(merged(stamps))


def rules_of(config: Config) -> Rules:
    """
    Return what releases are made by under a configuration.

    Parameters
    ----------
    config : Config
        The configuration.

    Returns
    -------
    Rules
        What marks solutions and hidden tests, and what stands in their place.

    Raises
    ------
    ConfigError
        If a value is of a wrong kind.
    """
    config = _with_stubs(config)
    solutions, hidden = told(ClearSolutions, config), told(ClearHiddenTests, config)
    scheme, around = told(ClearMarkScheme, config), told(IncludeHeaderFooter, config)
    return Rules(
        solution=(solutions.begin_solution_delimeter, solutions.end_solution_delimeter),
        hidden=(hidden.begin_test_delimeter, hidden.end_test_delimeter),
        scheme=(scheme.begin_mark_scheme_delimeter, scheme.end_mark_scheme_delimeter),
        code_stubs=dict(solutions.code_stub),
        text_stub=solutions.text_stub,
        autotest=told(InstantiateTests, config).autotest_delimiter,
        around=(around.header, around.footer),
        is_stock=not any(
            name in config.get(section, {}) for section, names in CHANGES.items() for name in names
        ),
    )


def course_db_url(course_root: Path, config: Config) -> str:
    """
    Return the address of a course's gradebook.

    Parameters
    ----------
    course_root : Path
        The course; a path in the address that is not absolute starts there.
    config : Config
        Its configuration.

    Returns
    -------
    str
        SQLAlchemy's address.

    Raises
    ------
    ConfigError
        If it is no text.
    """
    url = told(CourseDirectory, config).db_url
    if not url:
        return default_db_url(course_root)
    return _FILE.sub(lambda match: f"{match[1]}{course_root.resolve() / match[2]}", url)


def default_db_url(course_root: Path) -> str:
    """Return nbgrader's default address of the gradebook of a course."""
    return f"sqlite:///{course_root.resolve() / 'gradebook.db'}"


def cell_timeout_s(config: Config) -> float | None:
    """
    Return how long nbgrader lets a cell run, if a course says so.

    Parameters
    ----------
    config : Config
        The course's configuration.

    Returns
    -------
    float or None
        Seconds; infinity if there is to be no limit, None if nothing is said.

    Raises
    ------
    ConfigError
        If it is no whole number.
    """
    if not any("timeout" in config.get(name, {}) for name in Execute.section_names()):
        return None
    timeout = told(Execute, config).timeout
    return float(timeout) if timeout is not None and timeout > 0 else math.inf


def late_plugin(config: Config) -> str:
    """
    Return how late work is penalized: a method of nbgrader's, or the name of a plug-in.

    Parameters
    ----------
    config : Config
        The course's configuration.

    Returns
    -------
    str
        ``none``, ``zero``, or a class with its module.

    Raises
    ------
    ConfigError
        If the method is unknown, or the plug-in neither a class nor the name of one.
    """
    given: Any = config.get("AssignLatePenalties", {}).get("plugin_class", LATE_PLUGIN)
    name = f"{given.__module__}.{given.__qualname__}" if isinstance(given, type) else given
    if not isinstance(name, str) or "." not in name:
        what = f"AssignLatePenalties.plugin_class is {str(name)[:80]!r}"
        raise ConfigError(CONFIG_FILE, what, "Set a class, or its name as 'module.Class'.")
    return name if name not in LATE_PLUGINS else told(LateSubmissionPlugin, config).penalty_method


def _where(course_root: Path, stamps: Stamps) -> Path:
    return Path(stamps[-1][0]) if stamps else course_root / CONFIG_FILE


def _with_stubs(config: Config) -> Config:
    """Return a configuration whose stubs are by language, as nbgrader reads one that is a mere text."""
    stub = config.get("ClearSolutions", {}).get("code_stub")
    if not isinstance(stub, str):
        return config
    changed = Config({"ClearSolutions": {**config.ClearSolutions, "code_stub": {PYTHON: stub}}})
    return Config({**config, **changed})
