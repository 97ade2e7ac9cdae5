"""The pages say what the code does: commands, settings, tasks and links."""

from __future__ import annotations

import re
import tomllib
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest
from click.testing import CliRunner
from traitlets.config import Configurable

from autograder.cli import main
from autograder.commands.exporting import FORMATS
from autograder.course import nbgrader_settings, settings
from autograder.findings import EvidenceKind, RepairKind, Severity
from autograder.results import Outcome, Status

if TYPE_CHECKING:
    from enum import StrEnum

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = sorted(main.commands)
SETTINGS = settings.help_texts()


def docs(*names: str) -> str:
    """Return the text of some pages of docs/, by default of all."""
    pages = [ROOT / "docs" / name for name in names] or sorted((ROOT / "docs").rglob("*.md"))
    return "\n".join(page.read_text(encoding="utf-8") for page in pages)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_documented(command: str) -> None:
    """A command that no page names does not exist for its user."""
    assert re.search(rf"\bautograder {command}\b", docs())


def test_no_page_names_a_command_that_is_not_there() -> None:
    """A reader types what the page says."""
    fenced = re.findall(r"^(?:\$ )?autograder ([a-z]\w*)", docs(), flags=re.MULTILINE)
    inline = re.findall(r"`autograder ([a-z]\w*)", docs())

    assert set(fenced + inline) <= set(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_and_option_has_help(command: str) -> None:
    """`--help` is the page most often read."""
    parameters = [option for option in main.commands[command].params if isinstance(option, click.Option)]

    assert main.commands[command].help
    assert [option.name for option in parameters if not option.help] == []


def options_of(command: click.Command) -> set[str]:
    """Return the options of a command, and of those that it groups."""
    below = command.commands.values() if isinstance(command, click.Group) else ()
    own = {name for option in command.params if isinstance(option, click.Option) for name in option.opts}
    return own.union(*map(options_of, below))


def test_every_option_stands_on_a_page() -> None:
    """What no page names nobody thinks of looking for."""
    named = set(re.findall(r"--[a-z][a-z-]*", docs()))

    assert options_of(main) - named == set()


@pytest.mark.parametrize("name", FORMATS)
def test_what_a_format_may_be_set_stands_on_its_page(name: str) -> None:
    """`--set` takes other names in each format."""
    options = getattr(import_module(f"autograder.lms.exports.{FORMATS[name]}"), "OPTIONS", {})
    page = ROOT / "docs" / "integrator" / f"{name.split('-', maxsplit=1)[0]}.md"
    rows = re.findall(r"^\| (`.+?) \| ", page.read_text(encoding="utf-8"), re.MULTILINE) if options else []
    named = {option for row in rows for option in re.findall(r"`(?:--set )?([a-z_]+)[`=]", row)}

    assert set(options) - named == set()


def test_every_setting_of_nbgrader_that_is_followed_is_documented() -> None:
    """Whoever sets one wants to know whether it counts."""
    sections = [one for one in vars(nbgrader_settings).values() if isinstance(one, type)]
    followed = {
        f"{one.__name__}.{name}"
        for one in sections
        if issubclass(one, Configurable) and one is not Configurable
        for name in one.class_own_traits(config=True)
    }

    assert len(followed) > 20
    text = docs("operator.md")
    # Jupyter's base of the sections that are named.
    assert {name for name in followed - {"NotebookClient.timeout"} if f"`{name}`" not in text} == set()


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_every_setting_is_documented(name: str) -> None:
    """The page says of a setting what the code says of it, word for word."""
    assert SETTINGS[name]
    assert f"| `{name}` | {SETTINGS[name]} |" in docs("operator.md")


def test_no_page_names_a_setting_that_is_not_there() -> None:
    """A setting that was renamed leaves its old name behind in pages."""
    table = re.findall(r"^\| `([a-z_]+)` \|", section("Settings"), flags=re.MULTILINE)
    elsewhere = re.findall(r"\bAutograder\.([a-z_]+)", docs())

    assert sorted(table) == sorted(SETTINGS)
    assert set(elsewhere) <= set(SETTINGS)


def section(title: str) -> str:
    """Return one section of the operator's page."""
    return docs("operator.md").split(f"\n## {title}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    ("head", "members"),
    [
        ("outcome", Outcome),
        ("status of a notebook", Status),
        ("repair", RepairKind),
        ("evidence", EvidenceKind),
        ("severity", Severity),
    ],
)
def test_whatever_is_told_of_a_submission_is_explained(head: str, members: type[StrEnum]) -> None:
    """Staff look up a word of the JSON, the report or the gradebook and find each once."""
    told = section("What is told of a submission")
    table = re.search(rf"^\| {head} \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", told, flags=re.MULTILINE)

    assert table is not None
    explained = re.findall(r"^\| `(\w+)` \| .", table[1], flags=re.MULTILINE)
    assert sorted(explained) == sorted(members)


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings make."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    """A dead link on the first page is the last page read."""
    links = re.findall(
        r"\]\((?!https?:|mailto:)([^)\s#]*)(?:#([^)\s]+))?\)", page.read_text(encoding="utf-8")
    )

    dead = []
    for target, anchor in links:
        path = (page.parent / target) if target else page
        if not path.exists() or (anchor and anchor not in anchors(path)):
            dead.append(f"{target}#{anchor}")

    assert dead == []


def test_every_make_task_in_the_pages_exists() -> None:
    """The two commands of the first page have to work."""
    tasks = set(
        re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    )
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"(?:`|^|\$ |&& )make ([a-z]+)", text, flags=re.MULTILINE))

    assert {"setup", "demo", "test", "lint"} <= named <= tasks


def test_changelog_lines_name_their_part() -> None:
    """Course staff read `course:` and `checks:`, operators the rest."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    entries = re.findall(r"^- (.*)$", text, flags=re.MULTILINE)

    assert entries
    parts = r"(course|checks|engine|nbgrader|lms|docs): "
    assert [line for line in entries if not re.match(parts, line)] == []


def test_the_version_stands_in_one_place() -> None:
    """What pyproject.toml says is what `autograder --version` says, and no module says it again."""
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]

    assert CliRunner().invoke(main, ["--version"]).output == f"autograder {version}\n"
    elsewhere = [
        path.name
        for path in (ROOT / "autograder").rglob("*.py")
        if f'"{version}"' in path.read_text(encoding="utf-8")
    ]
    assert elsewhere == []
