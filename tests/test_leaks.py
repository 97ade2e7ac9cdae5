"""Nothing hidden gets out: every product of the demo class is searched for what only the grader may know."""

from __future__ import annotations

import ast
import html
import json
import re
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from autograder.checks.suite import CheckSuite
from autograder.commands.demo_class import ASSIGNMENT, CLASS
from autograder.course.settings import load_settings
from autograder.graded import read_results
from autograder.grader.grader import Grader
from autograder.wire.codec import decode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autograder.course.course import Course

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]

ROOT = Path(__file__).resolve().parents[1]
CHECKS = ROOT / "autograder" / "checks" / ASSIGNMENT
REFERENCE = ROOT / "solutions" / "reference"
TEXTS = {".ipynb", ".html", ".csv", ".json", ".txt"}
SHORT = 25
"""Lines of source that are shorter may stand anywhere by chance."""

DECIMALS = 6
"""A number with as many is none that anybody would write by chance."""

NUMBER = re.compile(rf"(?<![\w.])\d+\.\d{{{DECIMALS},}}(?:e[+-]?\d+)?")
WATCHED = ("ada", "emre")
"""A student whose answers are the right ones, and one with wrong ones."""


# ----------------------------------------------------------------- products


def products(course: Course) -> dict[str, str]:
    """Return the text of everything that grading has made, by path."""
    folders = ("autograded", "feedback", "reports", "exports")
    paths = [path for name in folders for path in (course.root / name).rglob("*") if path.is_file()]
    assert {path.suffix for path in paths} <= TEXTS
    found = {path.relative_to(course.root).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    # Colours cut source into pieces; a reader sees it whole.
    found |= {
        f"{name}/words": html.unescape(re.sub(r"<[^>]*>", "", text))
        for name, text in found.items()
        if name.endswith(".html")
    }
    for result in read_results(course, ASSIGNMENT):
        # What `grade --json` prints.
        found[f"--json/{result.student}"] = json.dumps(result.to_dict(), ensure_ascii=False)
    return found


@pytest.fixture(scope="module")
def made(demo: tuple[Course, str]) -> dict[str, str]:
    """Return the products of the demo class, and what the command printed."""
    found = products(demo[0]) | {"printed": demo[1]}
    assert len(found) > 6 * len(CLASS)
    return found


@pytest.fixture(scope="module")
def known(demo: tuple[Course, str]) -> str:
    """Return all that students have: what they were given and what they wrote."""
    paths = [path for name in ("release", "submitted") for path in (demo[0].root / name).rglob("*.ipynb")]
    cells = (cell for path in paths for cell in json.loads(path.read_text(encoding="utf-8"))["cells"])
    return "\n".join("".join(cell["source"]) for cell in cells)


# ------------------------------------------------------------------- source


def code_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a module that hold code, and not only a text made to be shown."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    texts = {tokenize.STRING, tokenize.NEWLINE, tokenize.NL, tokenize.OP, tokenize.COMMENT}
    lines = path.read_text(encoding="utf-8").split("\n")
    for number in sorted({token.start[0] for token in tokens if token.type not in texts}):
        line = lines[number - 1].strip() if 0 < number <= len(lines) else ""
        if len(line) > SHORT and not line.startswith(("import ", "from ", '"""')):
            yield line


@pytest.mark.parametrize("folder", [CHECKS, REFERENCE], ids=["checks", "reference"])
def test_no_line_of_checks_or_reference_is_shown(made: dict[str, str], known: str, folder: Path) -> None:
    """A student who could read the checks would know what to write for them."""
    needles = {line for path in folder.glob("*.py") for line in code_lines(path) if line not in known}
    needles |= {json.dumps(line)[1:-1] for line in needles}

    assert len(needles) > 40
    for name, text in made.items():
        assert [needle for needle in needles if needle in text] == [], name


def test_no_name_of_a_place_is_shown(demo: tuple[Course, str], made: dict[str, str]) -> None:
    """Neither the secret nor where hidden things lie; the demo prints where its own course lies."""
    course, _ = demo
    secret = course.secret()
    forms = [secret.decode(), secret.hex(), repr(secret)[2:-1]]
    needles = [
        *forms,
        "solutions/reference",
        "autograder/checks",
        "solutions.reference",
        ".autograder_secret",
    ]

    for name, text in made.items():
        assert [needle for needle in needles if needle in text] == [], name


def test_no_name_of_a_check_is_shown(made: dict[str, str]) -> None:
    """Pages for people tell claims; the names of the functions behind them stay inside."""
    names = {
        node.name
        for path in CHECKS.glob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }

    assert len(names) > 20
    for path, text in made.items():
        if path.startswith("feedback/") or path == "printed":
            assert [name for name in names if name in text] == [], path


# ------------------------------------------------------------------ numbers


def numbers(value: Any) -> Iterator[float]:
    """Yield every number in decoded data."""
    if isinstance(value, np.ndarray):
        yield from (abs(float(one)) for one in value.flat if value.dtype.kind in "iuf")
    elif isinstance(value, dict):
        yield from (one for item in value.values() for one in numbers(item))
    elif isinstance(value, tuple | list):
        yield from (one for item in value for one in numbers(item))
    elif isinstance(value, float | np.floating):
        yield abs(float(value))


def hidden_numbers(course: Course, student: str, monkeypatch: pytest.MonkeyPatch) -> np.ndarray[Any, Any]:
    """Grade a student again and return every number that was asked with and answered, sorted."""
    seen: list[float] = []
    run = CheckSuite.run

    def watched(self: CheckSuite, *args: Any, **kwargs: Any) -> Any:
        runs = run(self, *args, **kwargs)
        for one in runs:
            for exchange in one.exchanges:
                seen.extend(numbers(decode(exchange.request)))
                seen.extend(numbers(decode(exchange.answer)))
        return runs

    monkeypatch.setattr(CheckSuite, "run", watched)
    settings = load_settings(course.root, unsafe_no_sandbox=True)
    with Grader(course, settings) as grader:
        grader.grade_submission(ASSIGNMENT, student)
    # What is short in decimals is no secret: 0.5 stands everywhere.
    long = {number for number in seen if np.isfinite(number) and round(number, 4) != number}
    return np.array(sorted(long))


def leaked(text: str, hidden: np.ndarray[Any, Any]) -> list[str]:
    """Return the numbers in a text that are a hidden one, rounded as they stand there."""
    found = []
    for word in set(NUMBER.findall(text)):
        mantissa = word.split("e")[0].split(".")[1]
        exponent = int(word.split("e")[1]) if "e" in word else 0
        value, near = float(word), 0.6 * 10.0 ** (exponent - len(mantissa))
        first, last = np.searchsorted(hidden, [value - near, value + near])
        found += [word] if last > first else []
    return found


def own(made: dict[str, str], student: str) -> list[tuple[str, str]]:
    """Return the products that a student can see, and those on the class."""
    return [
        (name, text)
        for name, text in made.items()
        if student in name.split("/") or name.startswith(("reports/", "exports/", "printed"))
    ]


@pytest.mark.parametrize("student", WATCHED)
def test_no_hidden_number_is_shown(
    demo: tuple[Course, str], made: dict[str, str], student: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither inputs nor results of hidden checks stand anywhere, at any precision that could be used."""
    hidden = hidden_numbers(demo[0], student, monkeypatch)
    seen = own(made, student)

    assert len(hidden) > 5_000
    assert len(seen) >= 9
    for name, text in seen:
        assert leaked(text, hidden) == [], name


def test_a_planted_number_is_found() -> None:
    """The search finds what it is for, as Python, numpy and JSON would print it."""
    hidden = np.sort(np.abs(np.random.default_rng(5).normal(size=3000)))
    one = float(hidden[1234])

    for text in (f"[ {one:.8f} 0.5]", f"-{one:.6f},", json.dumps({"x": [one]}), f"{one:.7e}", repr(-one)):
        assert leaked(text, hidden), text
    assert leaked(f"{one:.3f} {one + 1e-5:.7f}", np.array([one])) == []
