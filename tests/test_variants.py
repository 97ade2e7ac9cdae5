"""Known solutions in notebooks: what a student would have handed in, and what a variant file may hold."""

from __future__ import annotations

import ast
import copy
import json
from pathlib import Path
from typing import Any

import pytest

from autograder.errors import CheckError, NotebookError, ReleaseError
from autograder.variants import Variant, fill, load_variants, program, solved_cells, touched_cells

IMPORTS = """\
import math

import numpy as np
import no_such_plotting_library as plt
%matplotlib inline

FACTOR = 2


def picture():
    plt.plot(double(3))


picture()"""

DOUBLE = """\
def double(x):
    \"\"\"Return twice x.\"\"\"
    ### BEGIN SOLUTION
    return FACTOR * x  # exact
    ### END SOLUTION"""

COUNTER = """\
# The tools are given.
def tool(x):
    return math.floor(x)


class Counter:
    \"\"\"Counts in steps.\"\"\"

    step = 1

    def __init__(self, start):
        self.n = start

    # Moves on.
    def up(self):
        ### BEGIN SOLUTION
        self.n += self.step
        return tool(self.n)
        ### END SOLUTION

    def down(self):
        ### BEGIN SOLUTION
        self.n -= self.step
        return self.n
        ### END SOLUTION"""

ANSWERS = """\
# Set a and b.
### BEGIN SOLUTION
a = double(2)
b = 5
### END SOLUTION"""


def cell(source: str, grade_id: str = "", *, kind: str = "code", **flags: Any) -> dict[str, Any]:
    """Return a cell with nbgrader's metadata."""
    meta = {"grade_id": grade_id, "solution": False, "grade": False} | flags
    metadata = {"nbgrader": meta} if grade_id else {}
    return {"cell_type": kind, "metadata": metadata, "source": source.splitlines(keepends=True)}


def notebook() -> dict[str, Any]:
    """Return a small instructor notebook."""
    cells = [
        cell("# Doubling", kind="markdown"),
        cell(IMPORTS, "imports"),
        cell(DOUBLE, "double", solution=True),
        cell("assert double(2) == 4", "test_double", grade=True, points=1),
        cell(COUNTER, "counter", solution=True),
        cell("raise SystemExit", "test_counter", grade=True, points=1),
        cell(ANSWERS, "answers", solution=True),
        cell(
            "### BEGIN SOLUTION\nBecause.\n### END SOLUTION",
            "why",
            kind="markdown",
            solution=True,
            grade=True,
        ),
    ]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


LABELLED = """\
FAMILY = "signs"
LOSES = "test_double"
CHECK = "test_twice"
HINT = "Look."
"""


def variant(source: str) -> Variant:
    """Return a variant of this text."""
    path = Path("solutions/alternatives/doubling/other.py")
    said = dict.fromkeys(("hint", "loses", "check", "family"), "")
    return Variant(name="other", kind="alternatives", claim="Other.", source=source, path=path, **said)


def course(folder: Path, kind: str, source: str) -> Path:
    """Write a course that holds the small notebook and one variant file, and return its root."""
    for name in ("source/doubling", f"solutions/{kind}/doubling"):
        (folder / name).mkdir(parents=True)
    (folder / "source/doubling/one.ipynb").write_text(json.dumps(notebook()))
    (folder / f"solutions/{kind}/doubling/other.py").write_text(source)
    return folder


def test_without_a_variant_the_cells_are_the_instructors_without_markers() -> None:
    """A student's cell holds the solution and not the comments that cut it out."""
    solved = solved_cells(notebook())

    assert list(solved) == ["double", "counter", "answers", "why"]
    assert solved["double"] == 'def double(x):\n    """Return twice x."""\n    return FACTOR * x  # exact'
    assert solved["why"] == "Because."


def test_a_definition_takes_the_place_of_the_instructors() -> None:
    """Only what the variant defines changes: its docstring, labels and future imports stay at home."""
    source = '"""Adds."""\n\nfrom __future__ import annotations\n\nLOSES = "x"\nHINT = "y"\n\n\n'
    other = variant(source + "def double(x):\n    return x + x  # no factor\n")

    solved = solved_cells(notebook(), other)

    assert solved["double"] == ('def double(x):\n    """Return twice x."""\n    return x + x  # no factor')
    assert solved | {"double": ""} == solved_cells(notebook()) | {"double": ""}
    assert touched_cells(notebook(), other) == ("double",)


def test_helpers_go_before_the_definition_that_uses_them() -> None:
    """What the notebook imports already is not imported again; a helper of two cells is defined once."""
    other = variant(
        '"""Helps."""\nimport math\nfrom operator import add\n\nimport numpy as np\n\n'
        "# Adds a number to itself.\ndef both(x):\n    return add(x, x)\n\n\n"
        "double = lambda x: both(np.asarray(x))\n\n\na = both(1)\n"
    )

    solved = solved_cells(notebook(), other)

    assert solved["double"] == (
        "from operator import add\n\n\n# Adds a number to itself.\ndef both(x):\n    return add(x, x)\n\n\n"
        "double = lambda x: both(np.asarray(x))"
    )
    assert solved["answers"] == "# Set a and b.\na = both(1)\nb = 5"
    assert program(notebook(), other)()["a"] == 2


def test_a_partial_class_keeps_the_other_members() -> None:
    """A mistake in one method needs no copy of the class around it."""
    other = variant(
        '"""Steps."""\n\n\nclass Counter:\n    """Mine."""\n'
        "\n    def half(self):\n        return self.step / 2\n"
        "\n    def up(self):\n        self.n += self.half() * 2\n        return tool(self.n)\n\n"
        "    def extra(self):\n        return 0\n"
    )

    solved = solved_cells(notebook(), other)["counter"]

    defined = ast.parse(solved).body[1]
    assert isinstance(defined, ast.ClassDef)
    assert ast.get_docstring(defined) == "Mine."
    methods = [node.name for node in defined.body if isinstance(node, ast.FunctionDef)]
    assert methods == ["__init__", "half", "up", "down", "extra"]
    assert "    step = 1\n\n    def __init__(self, start):\n" in solved
    assert solved.startswith("# The tools are given.\ndef tool(x):")
    assert program(notebook(), other)()["Counter"](4).up() == 5


@pytest.mark.parametrize(
    "text",
    [
        "class Base:\n    def up(self):\n        return 7\n\n\nclass Counter(Base):\n    pass\n",
        "class Counter:\n    def up(self):\n        return 7\n\n    __init__ = object.__init__\n",
        "from types import SimpleNamespace\n\nCounter = lambda: SimpleNamespace(up=lambda: 7)\n",
        "class Counter: up = lambda self: 7\n",
    ],
    ids=["inherits", "no_init", "no_class", "one_line"],
)
def test_a_class_may_be_made_in_other_ways(text: str) -> None:
    """What is not partial is left as it was written."""
    names = program(notebook(), variant(f'"""Other."""\n\n{text}'))()

    assert names["Counter"]().up() == 7


def test_state_beside_a_function_stays_with_it() -> None:
    """A cache that the function declares global, and an attribute set on it, are part of the solution."""
    other = variant(
        '"""Counts."""\n\ncalls = 0\n\n\ndef double(x):\n    global calls\n    calls += 1\n    return x * 2\n'
        "\n\ndouble.limit = 3\n"
    )

    names = program(notebook(), other)()

    assert names["double"].limit == 3
    assert names["calls"] == 1
    assert solved_cells(notebook(), other)["double"].startswith("calls = 0\n\n\ndef double(x):")


def test_a_function_keeps_the_docstring_it_was_handed_out_with() -> None:
    """Students write below it; a docstring of their own takes its place."""
    book = notebook()
    book["cells"][2]["source"] = ['def double(x):\n    """\n    Twice.\n    """\n    return 2 * x']
    kept = solved_cells(
        book, variant('"""Adds."""\n\n\n@abs\ndef double(\n    x,\n):\n    y = x\n    return x + y\n')
    )
    own = solved_cells(book, variant('"""Adds."""\n\n\ndef double(x):\n    "Mine."\n    return x + x\n'))
    short = solved_cells(book, variant('"""Adds."""\n\n\ndef double(x): return x + x\n'))

    assert (
        kept["double"]
        == '@abs\ndef double(\n    x,\n):\n    """\n    Twice.\n    """\n    y = x\n    return x + y'
    )
    assert own["double"] == 'def double(x):\n    "Mine."\n    return x + x'
    assert short["double"] == "def double(x): return x + x"


def test_several_names_in_one_statement_replace_each_of_theirs() -> None:
    """`a, b = 1, 2` answers two questions in one line."""
    one = solved_cells(notebook(), variant('"""Both."""\n\na, b = 1, 2\n'))["answers"]
    two = solved_cells(notebook(), variant('"""One line."""\n\na = 1; b = 2\n'))["answers"]

    assert one.splitlines()[-1] == "a, b = 1, 2"
    assert two.splitlines()[-1] == "a = 1; b = 2"
    assert solved_cells(notebook(), variant('"""One."""\n\nb = 6\n'))["answers"].endswith(
        "a = double(2)\nb = 6"
    )


def test_a_statement_with_a_name_too_many_is_kept_for_it() -> None:
    """A variant that replaces half of a statement of the instructor's leaves the other half standing."""
    book = notebook()
    book["cells"][6]["source"] = ["a, b = 4, 5"]

    assert solved_cells(book, variant('"""Half."""\n\nb = 6\n'))["answers"] == "a, b = 4, 5\nb = 6"


def test_fill_puts_solutions_into_a_copy_of_the_release() -> None:
    """The release is handed to everybody; a solved one is another notebook."""
    release = notebook()
    for place in release["cells"]:
        if place["metadata"].get("nbgrader", {}).get("solution"):
            place["source"] = ["raise NotImplementedError()"]
    release["cells"][2]["source"] = "raise NotImplementedError()"
    before = copy.deepcopy(release)

    filled = fill(release, solved_cells(notebook()))

    assert release == before
    assert solved_cells(filled) == solved_cells(notebook())
    assert filled["cells"][2]["source"] == solved_cells(notebook())["double"]
    assert filled["cells"][6]["source"] == ["# Set a and b.\n", "a = double(2)\n", "b = 5"]


def test_fill_refuses_a_release_without_the_cell() -> None:
    """A solution that goes nowhere would be graded as not done."""
    with pytest.raises(ReleaseError, match="no solution cell 'triple'"):
        fill(notebook(), {"triple": ""})


def test_a_namespace_runs_no_picture_and_no_test() -> None:
    """Plotting costs a second, and a test cell ends in hidden tests."""
    names = program(notebook())()

    assert names["double"](21) == 42
    assert (names["a"], names["b"]) == (4, 5)
    assert "plt" not in names
    assert "picture" not in names


def test_each_run_of_a_program_has_names_of_its_own() -> None:
    """A mistake that keeps state must not meet the state of another student."""
    run = program(
        notebook(),
        variant('"""Keeps."""\n\n\ndef double(x, seen=[]):\n    seen.append(x)\n    return seen\n'),
    )

    first, second = run(), run()

    assert first["double"](1) == [2, 1]
    assert second["double"](3) == [2, 3]


def test_a_solution_that_cannot_run_is_named() -> None:
    """The traceback of a known solution belongs to whoever wrote it."""
    with pytest.raises(CheckError, match=r"other\.py: running it raises ZeroDivisionError"):
        program(notebook(), variant('"""Fails."""\n\na = 1 / 0\n'))()


def test_a_cell_that_is_not_python_is_named() -> None:
    """The instructor has to find the cell."""
    book = notebook()
    book["cells"][2]["source"] = ["def double(x)"]

    with pytest.raises(NotebookError, match="cell 'double': it is not valid Python: expected ':'"):
        program(book)()


def test_a_merge_that_is_not_python_is_named() -> None:
    """A class indented in another way than the instructor's cannot be completed."""
    other = variant('"""Indents."""\n\n\nclass Counter:\n  def up(self):\n    return 1\n')

    with pytest.raises(CheckError, match=r"other\.py in cell 'counter': it is not valid Python"):
        solved_cells(notebook(), other)


def test_variants_are_loaded_with_what_they_say(tmp_path: Path) -> None:
    """Claim, hint and cell are the file's own words, on one line each."""
    source = f'"""\nAdds,\nand so on.\n\nMore.\n"""\n\n{LABELLED}\ndouble = abs\n'

    (loaded,) = load_variants(course(tmp_path, "misconceptions", source), "misconceptions", "doubling")

    assert (loaded.name, loaded.kind) == ("other", "misconceptions")
    assert (loaded.claim, loaded.hint) == ("Adds, and so on.", "Look.")
    assert (loaded.family, loaded.loses, loaded.check) == ("signs", "test_double", "test_twice")
    assert loaded.source == source
    assert loaded.path == tmp_path / "solutions/misconceptions/doubling/other.py"


def test_an_assignment_without_known_solutions_has_none(tmp_path: Path) -> None:
    """An assignment of the instructor's own need not come with known mistakes."""
    assert load_variants(tmp_path, "misconceptions", "doubling") == ()


def without(label: str) -> str:
    """Return a misconception that lacks one label."""
    lines = LABELLED.splitlines(keepends=True)
    return '"""Says."""\n' + "".join(line for line in lines if not line.startswith(label)) + "double = abs\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('"""Says."""\n\ndef double(x)\n', r"not valid Python: expected ':' \(line 3\)"),
        (LABELLED + "double = abs\n", "no docstring"),
        *((without(label), f"does not set {label}") for label in ("FAMILY", "LOSES", "CHECK", "HINT")),
        (
            '"""Says."""\n' + LABELLED.replace("double", "duoble") + "double = abs\n",
            "no grade cell 'test_duoble'.*test_double",
        ),
        (
            '"""Says."""\n' + LABELLED + "duoble = abs\n",
            "no solution cell defines 'duoble'.*Did you mean 'double'",
        ),
        ('"""Says."""\n' + LABELLED + "double = abs\nprint()\n", r"no solution cell defines 'print\(\)'"),
        ('"""Says."""\n' + LABELLED, "defines nothing that a student defines"),
    ],
    ids=["syntax", "docstring", "family", "loses", "check", "hint", "cell", "name", "statement", "empty"],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, source: str, message: str) -> None:
    """A variant that is silently skipped is a check that nothing tries."""
    root = course(tmp_path, "misconceptions", source)

    with pytest.raises(CheckError, match=f"solutions/misconceptions/doubling/other.py: .*{message}"):
        load_variants(root, "misconceptions", "doubling")


def test_an_unknown_kind_is_refused(tmp_path: Path) -> None:
    """A mistyped folder would look like an empty one."""
    with pytest.raises(CheckError, match="Did you mean 'alternatives'"):
        load_variants(tmp_path, "alternative", "doubling")


def test_a_source_that_is_no_notebook_is_named(tmp_path: Path) -> None:
    """The instructor has to find the file."""
    root = course(tmp_path, "alternatives", '"""Says."""\ndouble = abs\n')
    (root / "source/doubling/one.ipynb").write_text("{")

    with pytest.raises(NotebookError, match=r"one\.ipynb: breaks off in line 1"):
        load_variants(root, "alternatives", "doubling")
