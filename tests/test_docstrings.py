"""Docstrings say what the code does: their parameters are the real ones, their examples run."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from typing import TYPE_CHECKING, Any

import pytest
from numpydoc.docscrape import NumpyDocString

import autograder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(autograder.__path__, "autograder.")
    # A module that is run and not imported, and the hidden checks: pytest reads those.
    if not re.search(r"\.__main__$|\.checks\.\w+\.test_\w+$", module.name)
)


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the public functions, classes and methods that a module defines."""
    for name, member in vars(module).items():
        if name.startswith("_") or getattr(member, "__module__", None) != module.__name__:
            continue
        if inspect.isfunction(member):
            yield f"{module.__name__}.{name}", member
        elif inspect.isclass(member):
            yield f"{module.__name__}.{name}", member
            for method in vars(member):
                if inspect.isfunction(vars(member)[method]) and not method.startswith("_"):
                    yield f"{module.__name__}.{name}.{method}", vars(member)[method]


def documented(member: object) -> list[str]:
    """Return the names in the Parameters section of a docstring, in order."""
    entries = NumpyDocString(inspect.getdoc(member) or "")["Parameters"]
    return [name.lstrip("*") for entry in entries for name in entry.name.split(", ")]


def accepted(member: Callable[..., object]) -> list[str]:
    """Return the parameters that a caller gives, in order; those with an underscore are not the caller's."""
    return [name for name in inspect.signature(member).parameters if name != "self" and name[0] != "_"]


@pytest.mark.parametrize("name", MODULES)
def test_docstrings_agree_with_signatures(name: str) -> None:
    """A docstring that lists parameters lists those that there are, in their order."""
    listed = {path: member for path, member in public(importlib.import_module(name)) if documented(member)}

    wrong = {
        path: accepted(member) for path, member in listed.items() if documented(member) != accepted(member)
    }

    assert wrong == {}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    """An example is the part of a docstring that gets copied."""
    assert doctest.testmod(importlib.import_module(name)).failed == 0
