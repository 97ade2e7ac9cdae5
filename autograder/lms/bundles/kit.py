"""The kit itself as files for another machine, and the packages that grading needs there."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import PackageNotFoundError, distributions, packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from autograder.errors import CourseError
from autograder.lms.zipping import PRIVATE, Packed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

FOLDER = "kit"
"""Where the packages lie in a bundle."""

GRADING = (
    *("ipython", "jinja2", "jupyter-core", "markupsafe", "matplotlib", "mistune", "nh3", "numpy"),
    *("platformdirs", "pygments", "pyseccomp", "pytest", "python-dateutil", "traitlets"),
)
"""The packages that grading imports; the kit's other commands need more."""

_OWN = ("autograder", "solutions")
_DATA = {".py", ".typed", ".ini", ".j2", ".css", ".sh"}
_MAGIC = re.compile(r"^([ \t]*)[%!].*$", re.MULTILINE)
_DASHES = re.compile(r"[-_.]+")
_VARIANTS = ("alternatives", "misconceptions")


def kit_files(assignment: str) -> Iterator[Packed]:
    """
    Yield the files of the kit as it is installed, for its owner only.

    Parameters
    ----------
    assignment : str
        The assignment whose hidden checks go along; those of others stay.

    Yields
    ------
    Packed
        The packages autograder and solutions, the latter without its known
        right and wrong solutions, which belong to the course.

    Raises
    ------
    CourseError
        If the kit does not lie in a folder.
    """
    for name in _OWN:
        spec = find_spec(name)
        if spec is None and name != _OWN[0]:
            continue
        places = list(spec.submodule_search_locations or ()) if spec is not None else []
        if not places or not Path(places[0]).is_dir():
            raise CourseError(name, "is not installed as a folder", "Install the kit with pip.")
        folder = Path(places[0])
        for path in sorted(folder.rglob("*")):
            parts = path.relative_to(folder).parts
            if path.is_file() and _belongs(name, parts, assignment):
                yield Packed(name="/".join((FOLDER, name, *parts)), data=path, mode=PRIVATE)


def _belongs(package: str, parts: tuple[str, ...], assignment: str) -> bool:
    if any(part == "__pycache__" or part.startswith(".") for part in parts):
        return False
    if package == "solutions":
        return parts[0] not in _VARIANTS and parts[-1].endswith(".py")
    if parts[0] == "checks" and len(parts) > len(("checks", "module.py")) and parts[1] != assignment:
        return False
    return "templates" in parts or Path(parts[-1]).suffix in _DATA


def requirements(sources: Iterable[str]) -> tuple[str, ...]:
    """
    Return what is to be installed to grade, each in the version that is installed here.

    Parameters
    ----------
    sources : iterable of str
        Texts in Python: the cells of the notebooks, the checks. What they
        import is wanted too.

    Returns
    -------
    tuple of str
        Lines for pip, sorted.
    """
    known = packages_distributions()
    wanted = set(GRADING)
    for source in sources:
        for name in _imported(source) - sys.stdlib_module_names - set(_OWN):
            wanted |= {_usual(one) for one in known.get(name, ())[:1]}
    return tuple(sorted(map(_pinned, wanted)))


def constraints() -> tuple[str, ...]:
    """Return the versions of everything that is installed here, as lines for pip, sorted."""
    # Some are there twice, such as those that setuptools carries: the first is imported.
    names = {_usual(one.name) for one in distributions()} - set(_OWN)
    return tuple(sorted(map(_pinned, names)))


def _usual(name: str) -> str:
    """Return a package's name as pip compares it."""
    return _DASHES.sub("-", name).lower()


def _pinned(name: str) -> str:
    try:
        return f"{name}=={version(name)}"
    except PackageNotFoundError:
        # What only Linux needs is not there on the computer of every instructor.
        return name


def _imported(source: str) -> set[str]:
    """Return the packages that a text imports; a notebook's magics are no Python."""
    plain = _MAGIC.sub(r"\1pass", source)
    try:
        tree = ast.parse(plain)
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names
