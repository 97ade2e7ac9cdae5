"""
The configuration of a course, read as nbgrader reads it.

Jupyter's folders for configuration come first, the course's own
``nbgrader_config.py`` last; what is set later wins. A file is run once, and
again only after it has changed.
"""

from __future__ import annotations

import copy
import os
import sys
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.paths import jupyter_config_path
from traitlets.config import Config
from traitlets.config.loader import PyFileConfigLoader

from autograder.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator

CONFIG_FILE = "nbgrader_config.py"

Stamps = tuple[tuple[str, int, int, int], ...]
"""Files of a configuration, each with what changes when it is written."""

# What decides which folders Jupyter reads; every path of a course asks for them.
_DECIDING = (
    *("JUPYTER_CONFIG_PATH", "JUPYTER_CONFIG_DIR", "JUPYTER_NO_CONFIG", "JUPYTER_PREFER_ENV_PATH"),
    *("JUPYTER_PLATFORM_DIRS", "HOME", "USERPROFILE", "VIRTUAL_ENV", "CONDA_PREFIX"),
)


def read_config(course_root: Path, config_dir: Path | None = None) -> Config:
    """
    Return the configuration of a course.

    Parameters
    ----------
    course_root : Path
        The course; without a file of its own Jupyter's alone counts.
    config_dir : Path, optional
        Another folder whose ``nbgrader_config.py`` names this course; it is read before the course's.

    Returns
    -------
    Config
        traitlets' nested mapping, for the caller to change.

    Raises
    ------
    ConfigError
        If a file cannot be run.
    """
    return copy.deepcopy(merged(config_stamps(course_root, config_dir)))


def read_file(folder: Path) -> Config:
    """
    Return what the ``nbgrader_config.py`` of one folder sets.

    Parameters
    ----------
    folder : Path
        The folder; without the file nothing is set.

    Returns
    -------
    Config
        Not for the caller to change.

    Raises
    ------
    ConfigError
        If the file cannot be run.
    """
    return merged(_stamps([str(folder)]))


def config_stamps(course_root: Path, config_dir: Path | None = None) -> Stamps:
    """
    Return the files of a course's configuration, as they are now.

    Parameters
    ----------
    course_root : Path
        The course.
    config_dir : Path, optional
        As for `read_config`.

    Returns
    -------
    tuple
        The files that there are, the one that wins last.
    """
    own = [str(course_root)] if config_dir is None else [str(config_dir), str(course_root)]
    return _stamps([folder for folder in _jupyters() if folder not in own] + own)


@lru_cache(maxsize=64)
def merged(stamps: Stamps) -> Config:
    """
    Return the configuration in some files; not for the caller to change.

    Parameters
    ----------
    stamps : tuple
        What `config_stamps` returned.

    Returns
    -------
    Config
        traitlets' nested mapping.

    Raises
    ------
    ConfigError
        If a file cannot be run.
    """
    config = Config()
    for stamp in stamps:
        config.merge(copy.deepcopy(_run(*stamp)))
    return config


@contextmanager
def importable(folder: Path) -> Iterator[None]:
    """Let modules that lie in a course be imported, as nbgrader does: plug-ins for example."""
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        # What ran may have tidied up itself.
        with suppress(ValueError):
            sys.path.remove(str(folder))


def _jupyters() -> tuple[str, ...]:
    """Return the folders in which Jupyter looks, the one that wins last."""
    return _jupyters_of(tuple(map(os.environ.get, _DECIDING)))


@lru_cache(maxsize=16)
def _jupyters_of(_told: tuple[str | None, ...]) -> tuple[str, ...]:
    return tuple(reversed(jupyter_config_path()))


def _stamps(folders: list[str]) -> Stamps:
    stamps = []
    for folder in folders:
        path = f"{folder}{os.sep}{CONFIG_FILE}"
        try:
            status = os.stat(path)  # noqa: PTH116 - asked for with every path of every student
        except OSError:
            continue
        stamps.append((path, status.st_mtime_ns, status.st_size, status.st_ino))
    return tuple(stamps)


@lru_cache(maxsize=64)
def _run(file: str, *_stamp: int) -> Config:
    path = Path(file)
    try:
        with importable(path.parent):
            config: Config = PyFileConfigLoader(path.name, path=str(path.parent)).load_config()
    except Exception as problem:
        what = f"cannot be run ({type(problem).__name__}: {problem})"
        raise ConfigError(path, what, "Repair it: it is a Python file.") from problem
    return config
