"""
What student code has put in place of functions and modules that are not its own.

Each cell is followed by a look. The names of a module are compared with those
that stood there before the first cell, but only if its dict has changed at
all: to compare is to touch every function, and in a forked process that
copies the page it lies on, 350 pages and a millisecond for numpy alone.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import math
import random
import sys
import time
from itertools import takewhile
from operator import attrgetter
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.sandbox.worker.notes import Notes
    from autograder.sandbox.worker.shell import NotebookShell

_NUMPY = ("numpy", "numpy.linalg", "numpy.random", "numpy.testing", "numpy.testing._private.utils")
_PLAIN = (math, random, time)
_IPYTHON = (InteractiveShell, DisplayHook, DisplayPublisher)
_KEPT = (*_NUMPY, "IPython", "builtins", "sys", "time", "math", "random", "unittest")
# Others come and go with every cell, and most are used by everybody all the time.
_BUILTINS = (
    *("AssertionError", "Exception", "__import__", "compile", "exec", "eval", "all", "any", "abs", "len"),
    *("sum", "min", "max", "round", "isinstance", "type", "float", "int", "bool", "sorted", "zip", "range"),
    *("callable", "open", "getattr", "hasattr", "enumerate", "map", "repr", "str", "list", "tuple", "dict"),
)
# Parts of the shell that are always the same objects.
_PARTS = (
    *("displayhook", "display_pub", "display_trap", "builtin_trap", "events", "compile", "CustomTB"),
    *("recorder", "streams", "user_ns", "input_transformer_manager", "prefilter_manager"),
)
_STEPS = {
    "ast_transformers": ("ast_transformers",),
    "input_transformers": (
        "input_transformers_post",
        *(f"input_transformer_manager.{name}" for name in ("cleanup_transforms", "line_transforms")),
        "input_transformer_manager.token_transformers",
    ),
}
_parts, _steps = attrgetter(*_PARTS), attrgetter(*(step for steps in _STEPS.values() for step in steps))
_value = attrgetter("value")
# Where CPython counts the changes of a dict, in bytes from its start (PEP 509).
_CHANGES_AT = 24
# Names that numpy had once, or has again: some put them back so that old code runs.
_OLD_NAMES = {bool: "bool8", int: "long", float: "float_", complex: "complex_", str: "unicode", object: ""}


class Replaced:
    """
    Notes what has been replaced since it was last told to begin.

    Parameters
    ----------
    shell : NotebookShell
        The process's shell.
    notes : Notes
        Where it is noted.

    Attributes
    ----------
    library : tuple of str
        Where Python and its packages lie: beginnings of paths.
    """

    def __init__(self, shell: NotebookShell, notes: Notes) -> None:
        self._shell = shell
        self._notes = notes
        self.begin()

    def begin(self) -> None:
        """Take everything as it stands for what should stand there."""
        self.library = tuple(f"{entry}/" for entry in sys.path if entry.startswith("/"))
        self._packages = tuple(entry for entry in self.library if entry.endswith("-packages/"))
        watched = ("numpy/", "IPython/", "autograder/")
        self._watched_packages = tuple(entry + name for entry in self.library for name in watched)
        self._module_names = frozenset(sys.modules)
        self._kept = {name: sys.modules[name] for name in _KEPT if name in sys.modules}
        self._finders = self._finders_now()
        self._first_path = sys.path[0]
        self._builtins = _Names("builtins", {name: getattr(builtins, name) for name in _BUILTINS})
        self._parts = self._first_parts = _parts(self._shell)
        self._steps = [[*steps] for steps in _steps(self._shell)]
        self._events = {name: [*called] for name, called in self._shell.events.callbacks.items()}
        self._methods = frozenset(name for one in type(self._shell).__mro__ for name in vars(one))
        self._own = frozenset(vars(self._shell))
        self._named = self._named_modules()
        self._watched = [_Names(label, names) for label, names in _watched()]
        # They lie close together, so that few pages are touched when they are asked.
        dicts = [sys.modules, *(names.live for names in self._watched)]
        self._counts = [ctypes.c_uint64.from_address(id(one) + _CHANGES_AT) for one in dicts]
        self._seen = [*map(_value, self._counts)]

    def look(self) -> None:
        """Note what is not as it was, and take it as it is now."""
        seen = [*map(_value, self._counts)]
        if seen != self._seen or not _COUNTS_CHANGES:
            changed = [
                now != before or not _COUNTS_CHANGES for now, before in zip(seen, self._seen, strict=True)
            ]
            self._seen = seen
            for names, has_changed in zip(self._watched, changed[1:], strict=True):
                if has_changed:
                    self._compare(names)
            if changed[0]:
                self._look_at_modules()
        self._look_at_builtins()
        self._look_at_import()
        self._look_at_named()
        self._look_at_shell()
        self._look_at_steps()

    def _compare(self, names: _Names) -> None:
        for name, old in names.known.items():
            new = names.live.get(name)
            if new is old:
                continue
            whole = f"{names.label}.{name}"
            names.known = {**names.known, name: new}
            if new is not names.first[name] and not self._is_innocent(whole, old, new):
                self._notes.add("replaced", whole, _what_it_is(new) if name in names.live else "nothing")
        if names.label == "autograder":
            for name in names.live.keys() - names.names:
                if callable(names.live[name]):
                    self._notes.add("replaced", f"autograder.{name}", "added")
            names.names = frozenset(names.live)

    def _look_at_builtins(self) -> None:
        now = vars(builtins)
        if [*map(now.get, _BUILTINS)] != [*self._builtins.known.values()]:
            self._builtins.live = now
            self._compare(self._builtins)

    def _look_at_modules(self) -> None:
        for name, module in self._kept.items():
            found = sys.modules.get(name)
            if found is not module and found is not None and not self._comes_from_library(found):
                self._kept = {**self._kept, name: found}
                self._notes.add("module", name, "replaced")
        new = [*takewhile(lambda name: name not in self._module_names, reversed(sys.modules))]
        for name in new:
            self._look_at_module(str(name), sys.modules[name])
        self._module_names |= frozenset(new)

    def _look_at_module(self, name: str, module: object) -> None:
        if module is None or self._comes_from_library(module):
            return
        if _origin(module):
            # A helper of the student's, or a file that stands for something else.
            self._notes.add("module", name, "file")
        elif not self._comes_from_library(sys.modules.get(name.partition(".")[0])):
            self._notes.add("module", name, "made")

    def _look_at_import(self) -> None:
        finders = self._finders_now()
        if finders != self._finders:
            for finder in finders:
                if finder not in self._finders and not self._is_of_library(finder):
                    self._notes.add("module", type(finder).__name__, "finder")
            self._finders = finders
        if not sys.path or sys.path[0] is not self._first_path:
            before = [*takewhile(lambda entry: entry != self._first_path, map(str, sys.path))]
            for entry in before:
                if not f"{entry}/".startswith(self.library):
                    self._notes.add("module", entry, "path")
            self._first_path = str(sys.path[0]) if sys.path else ""
        for name, hook in (("settrace", sys.gettrace()), ("setprofile", sys.getprofile())):
            if hook is not None and not self._is_of_library(hook):
                self._notes.add("replaced", f"sys.{name}", "function")

    def _look_at_named(self) -> None:
        """Look whether a name of an imported module stands for something that answers like one."""
        for name, module in self._named.items():
            value = self._shell.user_ns.get(name)
            if value is module:
                continue
            made = value if isinstance(value, type) else type(value)
            is_module = isinstance(value, ModuleType)
            if not self._comes_from_library(value) if is_module else made.__module__ == "__main__":
                self._notes.add("replaced", f"__main__.{name}", "function")
        self._named = self._named_modules()

    def _named_modules(self) -> dict[str, ModuleType]:
        modules = {name: value for name, value in self._shell.user_ns.items() if type(value) is ModuleType}
        return {name: value for name, value in modules.items() if self._comes_from_library(value)}

    def _finders_now(self) -> list[Any]:
        return [*sys.meta_path, *sys.path_hooks]

    def _look_at_shell(self) -> None:
        shell = self._shell
        if len(vars(shell)) != len(self._own):
            for name in (vars(shell).keys() & self._methods) - self._own:
                value = vars(shell)[name]
                if (callable(value) or value is None) and not self._is_of_package(value):
                    self._notes.add("replaced", f"IPython.{name}", _what_it_is(value))
            self._own = frozenset(vars(shell))
        if (parts := _parts(shell)) != self._parts:
            for name, now, before, first in zip(_PARTS, parts, self._parts, self._first_parts, strict=True):
                if now is not before and now is not first and not self._is_of_package(now):
                    self._notes.add("replaced", f"IPython.{name}", _what_it_is(now))
            self._parts = parts

    def _look_at_steps(self) -> None:
        """Look at what a cell goes through before it is run, and at who is told of it."""
        shell = self._shell
        if (steps := [*_steps(shell)]) != self._steps:
            names = [name for name, traits in _STEPS.items() for _ in traits]
            for name, now, before in zip(names, steps, self._steps, strict=True):
                self._look_at_added(name, now, before)
            self._steps = [[*one] for one in steps]
        if (events := shell.events.callbacks) != self._events:
            for name, called in events.items():
                self._look_at_added("events", called, self._events.get(name, []))
            self._events = {name: [*called] for name, called in events.items()}

    def _look_at_added(self, name: str, now: list[Any], before: list[Any]) -> None:
        if any(one not in before and not self._is_of_library(one) for one in now):
            self._notes.add("replaced", f"IPython.{name}", "added")

    def _is_innocent(self, whole: str, old: Any, new: Any) -> bool:
        """Tell whether a replacement is an import anew, an old name put back, or a package's own doing."""
        if _same_by_name(old, new):
            return True
        if whole.startswith(("numpy.testing.", "autograder.", "unittest.")):
            return False
        if isinstance(new, type) and new in _OLD_NAMES:
            return whole in {f"numpy.{new.__name__}", f"numpy.{_OLD_NAMES[new]}"}
        return self._is_of_package(new)

    def _is_of_package(self, value: object) -> bool:
        """Tell whether a package that somebody installed has defined this function; none that is watched."""
        function = value.__func__ if isinstance(value, MethodType) else value
        file = function.__code__.co_filename if isinstance(function, FunctionType) else ""
        return file.startswith(self._packages) and not file.startswith(self._watched_packages)

    def _is_of_library(self, value: object) -> bool:
        """Tell whether Python or any package has defined this function, or the class of this object."""
        function = value.__func__ if isinstance(value, MethodType) else value
        if isinstance(function, FunctionType):
            return function.__code__.co_filename.startswith(self.library)
        name = type(value).__module__
        # What anybody can make says nothing of its maker.
        is_plain = name in {"builtins", "functools"}
        return not is_plain and self._comes_from_library(sys.modules.get(name))

    def _comes_from_library(self, module: object) -> bool:
        spec = getattr(module, "__spec__", None)
        origin = _origin(module)
        return spec is not None and (origin in {"built-in", "frozen"} or origin.startswith(self.library))


class _Names:
    """The names of a module or class that others should not replace."""

    def __init__(self, label: str, names: dict[str, Any]) -> None:
        self.label = label
        self.live = names
        self.names = frozenset(names)
        self.known = {
            name: value
            for name, value in names.items()
            if (callable(value) and name != "test") or isinstance(value, property)
        }
        self.first = self.known


def _counts_changes() -> bool:
    names = {"x": 1}
    changes = ctypes.c_uint64.from_address(id(names) + _CHANGES_AT)
    seen = {changes.value}
    for value in (2, 3):
        names["x"] = value
        seen.add(changes.value)
    return len(seen) == 3  # noqa: PLR2004 - at first and after each change


_COUNTS_CHANGES = _counts_changes()


def _watched() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what to watch: what to call it, and its names."""
    for module in (*_PLAIN, *(sys.modules[name] for name in _NUMPY)):
        yield module.__name__, vars(module)
    for kind in _IPYTHON:
        yield f"IPython.{kind.__name__}", _names_of(kind)
    if case := sys.modules.get("unittest.case"):
        yield "unittest.TestCase", _names_of(case.TestCase)
    for name, module in [*sys.modules.items()]:
        if f"{name}.".startswith("autograder."):
            yield "autograder", vars(module)
            for value in vars(module).values():
                # A class derived from another package's is a part of the worker.
                if isinstance(value, type) and value.__module__ == name and not _is_plain(value):
                    yield f"autograder.{value.__name__}", _names_of(value)


def _is_plain(kind: type) -> bool:
    """Tell whether a class does nothing that tests rely on: an exception, or a record without methods."""
    has_methods = any(isinstance(one, FunctionType) and name[0] != "_" for name, one in vars(kind).items())
    return issubclass(kind, BaseException) or (hasattr(kind, "__dataclass_fields__") and not has_methods)


def _names_of(kind: type) -> dict[str, Any]:
    """Return the dict of a class itself: what `vars` shows of it is a view."""
    (names, *_) = gc.get_referents(vars(kind))
    assert isinstance(names, dict)  # noqa: S101 - of what refers to nothing else
    return names


def _origin(module: object) -> str:
    origin = getattr(getattr(module, "__spec__", None), "origin", None) or getattr(module, "__file__", None)
    return origin if isinstance(origin, str) else ""


def _same_by_name(old: Any, new: Any) -> bool:
    """Tell whether a function is the same one from the same file, as after its module was imported anew."""
    if type(old) is not type(new) or getattr(old, "__name__", "") != getattr(new, "__name__", None):
        return False
    if isinstance(old, FunctionType):
        return bool(old.__code__.co_filename == new.__code__.co_filename)
    if isinstance(old, type):
        return bool(old.__module__ == new.__module__)
    if isinstance(old, (BuiltinFunctionType, MethodType)):
        return type(old.__self__).__qualname__ == type(new.__self__).__qualname__
    return False


def _what_it_is(value: object) -> str:
    return "function" if callable(value) else type(value).__name__
