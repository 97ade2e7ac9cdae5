"""The shape of the code: sizes, names, the package door and what stands beside student code."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from packaging.specifiers import SpecifierSet

import autograder

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
PACKAGE = sorted((ROOT / "autograder").rglob("*.py"))
MODULES = PACKAGE + sorted((ROOT / "solutions").rglob("*.py")) + sorted((ROOT / "tests").rglob("*.py"))

MODULE_LINES = 400
FUNCTION_LINES = 40
PARAMETERS = 5
DOOR_NAMES = 12
OLDEST_PYTHON = "3.11.0"

# "path" or "path::function" -> the sentence that says why it is larger than the budget.
LARGER_WITH_REASON: dict[str, str] = {}

# Packages that are imported under another name than they are installed.
NAMED_OTHERWISE = {"dateutil": "python-dateutil", "jupyter_core": "jupyter-core", "pylti1p3": "pylti1p3next"}

# The modules of the kit that may be in a student's process, packages on the way to them included.
BESIDE_STUDENT_CODE = r"autograder(\.sandbox(\.worker(\.\w+)?)?|\.wire(\.\w+)?)?"

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef


def label(path: Path) -> str:
    """Return the path as people of this repository write it."""
    return path.relative_to(ROOT).as_posix()


def functions(path: Path) -> Iterator[tuple[str, FunctionNode]]:
    """Yield each function of a module, nested ones included, with the name its exception would have."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, FunctionNode):
            yield f"{label(path)}::{node.name}", node


def code_lines(node: FunctionNode) -> int:
    """Count the lines of a function from its `def`, its docstring left out."""
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def parameters(node: FunctionNode) -> int:
    """Count the parameters that a caller gives."""
    arguments = node.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args + arguments.kwonlyargs]
    return len([name for name in names if name not in {"self", "cls"}])


def too_large() -> dict[str, str]:
    """Map everything over its budget to what it measures."""
    found = {}
    for path in MODULES:
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > MODULE_LINES:
            found[label(path)] = f"{lines} lines, at most {MODULE_LINES}"
        for name, node in functions(path):
            if code_lines(node) > FUNCTION_LINES:
                found[name] = f"{code_lines(node)} lines, at most {FUNCTION_LINES}"
            if parameters(node) > PARAMETERS:
                found[name] = f"{parameters(node)} parameters, at most {PARAMETERS}"
    return found


def test_everything_keeps_its_size_budget() -> None:
    """What fits on a screen can be reviewed; what does not needs a sentence."""
    unexplained = {name: size for name, size in too_large().items() if name not in LARGER_WITH_REASON}

    assert unexplained == {}


def test_no_exception_from_a_budget_outlives_its_reason() -> None:
    """A list of exceptions that nobody prunes becomes the rule."""
    stale = set(LARGER_WITH_REASON) - set(too_large())

    assert stale == set()
    assert all(reason.endswith(".") for reason in LARGER_WITH_REASON.values())


def test_only_tests_are_named_like_tests() -> None:
    """Pytest collects by name; a class or function that only looks like a test would run as one."""
    checks = [path for path in PACKAGE if re.fullmatch(r"autograder/checks/\w+/test_\w+\.py", label(path))]
    pretenders = [
        f"{label(path)}:{node.lineno} {node.name}"
        for path in set(MODULES) - set(checks)
        if ROOT / "tests" not in path.parents
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, FunctionNode | ast.ClassDef) and re.match(r"Test|test_", node.name)
    ]

    assert pretenders == []


def test_no_module_shadows_the_standard_library() -> None:
    """A module called `types` or `logging` breaks whoever runs from its folder."""
    names = {path.stem if path.stem != "__init__" else path.parent.name for path in MODULES}

    assert names & set(sys.stdlib_module_names) - {"__main__"} == set()


def test_the_door_is_narrow_and_as_declared() -> None:
    """What is public is a promise: few names, listed once, each of them there."""
    assert len(autograder.__all__) <= DOOR_NAMES
    assert dir(autograder) == sorted(autograder.__all__)
    assert [name for name in autograder.__all__ if not hasattr(autograder, name)] == []


def test_the_door_names_nothing_else() -> None:
    """A mistyped import fails like any other module's."""
    with pytest.raises(AttributeError, match="no attribute 'run_cheques'"):
        autograder.run_cheques  # noqa: B018  the access is the test


def loaded_by(statement: str) -> set[str]:
    """Return the modules a fresh interpreter holds after one statement."""
    script = f"{statement}\nimport sys\nprint(*sys.modules, sep='\\n')"
    command = [sys.executable, "-c", script]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize("module", ["autograder.sandbox.worker.zygote", "autograder.wire.codec"])
def test_what_runs_beside_student_code_knows_no_grade(module: str) -> None:
    """A check or a gradebook that is not in the student's process cannot be read there."""
    loaded = loaded_by(f"import {module}")

    kit = {name for name in loaded if name.split(".")[0] in {"autograder", "solutions"}}
    stray = {name for name in kit if not re.fullmatch(BESIDE_STUDENT_CODE, name)}
    assert module in loaded
    assert stray == set()
    assert loaded & {"nbgrader", "sqlalchemy", "nbformat", "pytest", "click"} == set()


def pinned() -> dict[str, str]:
    """Map each distribution of the constraints file to its exact version."""
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if not line.startswith("#")]
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins}


def required(groups: list[list[str]]) -> set[str]:
    """Return the names of required distributions, in lower case."""
    return {re.split(r"[^\w.-]", requirement)[0].lower() for group in groups for requirement in group}


def test_every_dependency_is_pinned() -> None:
    """Two installs of one commit are the same program."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    names = required([project["dependencies"], *project["optional-dependencies"].values()])

    assert names - set(pinned()) == set()


def test_every_imported_package_is_required() -> None:
    """What comes along with a dependency can leave with it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    imported = set()
    for path in PACKAGE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])

    others = imported - set(sys.stdlib_module_names) - {"autograder", "solutions"}
    names = {NAMED_OTHERWISE.get(name, name.lower()) for name in others}
    assert names <= required([project["dependencies"]])


def test_every_pin_admits_the_oldest_python() -> None:
    """A pin that a supported Python refuses makes `make setup` fail there."""
    refusing = [
        name
        for name in pinned()
        if (found := _installed(name)) is not None
        and OLDEST_PYTHON not in SpecifierSet(str(found.metadata.json.get("requires_python", "")))
    ]

    assert refusing == []


def _installed(name: str) -> metadata.Distribution | None:
    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def test_the_constraints_name_no_address() -> None:
    """Where packages come from is the reader's business."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")

    assert re.findall(r".*(?:://| @ |file:).*", text) == []


def test_no_test_module_imports_conftest() -> None:
    """There are several of this name, and which one is found depends on what was loaded before."""
    pattern = re.compile(r"^\s*(from|import) conftest\b", re.MULTILINE)
    modules = (ROOT / "tests").rglob("*.py")
    found = [path.name for path in modules if pattern.search(path.read_text(encoding="utf-8"))]

    assert found == []
