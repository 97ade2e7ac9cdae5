"""What it looks like that something of a student's has the name of an installed module."""

from __future__ import annotations

import sys
from functools import lru_cache
from importlib.machinery import PathFinder
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from autograder.findings import Severity
from autograder.sandbox.reading import site_packages

if TYPE_CHECKING:
    from collections.abc import Iterable

_NOTICE, _DOUBT, _ATTACK = Severity.NOTICE, Severity.DOUBT, Severity.ATTACK

# What grading is done with, here and elsewhere; nobody calls an exercise so.
_OF_GRADING = {
    *("autograder", "solutions", "nbgrader", "pytest", "_pytest", "otter", "IPython", "ipykernel"),
    *("traitlets", "sitecustomize", "usercustomize", "builtins", "nbclient", "nbconvert"),
}
# Words that people call their own files, though modules have them too.
_ORDINARY = {
    *("test", "tests", "util", "utils", "helper", "helpers", "code", "main", "data", "setup", "config"),
    *("docs", "doc", "example", "examples", "scripts", "bench", "benchmarks", "build", "dist", "tools"),
    *("common", "models", "model", "solution", "exercise", "plot", "plots", "src", "this", "lib"),
}
_SUFFIXES = {".py", ".pyc", ".pyd", ".so"}
_MOST_NAMES = 200
_FILES = {
    _NOTICE: "a file has the name of a module of Python's, which may puzzle its author",
    _DOUBT: "a file has the name of an installed package; here it stands for nothing, elsewhere it would",
    _ATTACK: "a file has the name of what grades notebooks; here it stands for nothing, elsewhere it would",
}
_MADE = "made a module without a file (sys.modules)"
_IN_PLACE = "imported a file of its own in place of an installed module"


def of_files(paths: Iterable[str]) -> list[tuple[Severity, str, str]]:
    """
    Return what files that were handed in beside a notebook look like.

    Parameters
    ----------
    paths : iterable of str
        Their paths, from the notebook's folder on.

    Returns
    -------
    list of (Severity, str, str)
        How bad, what was done, and the file, for each name that is taken.
    """
    names: dict[str, str] = {}
    for path in sorted(paths):
        pure = PurePosixPath(path)
        if pure.suffix in _SUFFIXES and len(names) < _MOST_NAMES:
            names.setdefault(pure.parts[0].partition(".")[0], path)
    found = [(_of_name(name), path) for name, path in names.items()]
    return [(severity, _FILES[severity], path) for severity, path in found if severity is not None]


def of_imported(name: str) -> tuple[Severity, str, str] | None:
    """Return what it looks like that a module was imported from a student's folder."""
    severity = _of_name(name.partition(".")[0])
    return None if severity is None else (severity, _IN_PLACE, name)


def of_made(name: str, *, is_replaced: bool) -> tuple[Severity, str, str] | None:
    """Return what it looks like that code has put a module where Python keeps those it has imported."""
    if is_replaced:
        return _ATTACK, "put something else in the place of a module that is imported already", name
    if _of_name(name.partition(".")[0]) is not None:
        return _ATTACK, _MADE, name
    # Compiled packages make some for themselves, and `__main__` has a second name where processes start.
    return None if name.startswith(("_", "cython")) else (_NOTICE, _MADE, name)


def _of_name(name: str) -> Severity | None:
    """Return what it looks like that a student's file or module has this name; None for one of their own."""
    if name in _OF_GRADING:
        return _ATTACK
    if name in _ORDINARY:
        return None
    if name in sys.stdlib_module_names:
        return _NOTICE
    return _DOUBT if _is_installed(name) else None


@lru_cache(1000)
def _is_installed(name: str) -> bool:
    """Tell whether one of the packages that student code finds has this name."""
    if not name.isidentifier():
        return False
    spec = PathFinder.find_spec(name, [*site_packages()])
    # A folder without __init__.py is no module that anybody would miss.
    return spec is not None and spec.origin is not None
