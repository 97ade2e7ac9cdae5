"""A cartridge keeps the rules of its format, and brings students what they get and nothing else."""

from __future__ import annotations

import os
import re
import zipfile
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from cartridge_checker import MANIFEST, Refused, check
from click.testing import CliRunner
from course_copies import copy_course

from autograder.cli import USAGE, main
from autograder.commands.bundling import bundle_cartridge
from autograder.errors import CourseError, NotebookError
from autograder.lms.zipping import Packed, write_zip
from autograder.notebook import read_notebook, write_notebook

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.course.course import Course

ASSIGNMENT = "multi_head_attention"
TITLES = (
    "Lab 3: heads & <tails>",
    "\"quoted\" 'twice' ]]> &amp;",
    "Übung 3 / Köpfe · 注意力 \u202e",
    "a/b\\c",
    "\x00\x0b control \ufffe\ud800",
)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Return a copy of the course, with files beside the notebooks."""
    course = copy_course(tmp_path_factory.mktemp("course") / "course")
    folder = course.release(ASSIGNMENT)
    for name in ("data/café & co #1.csv", "data/50%.txt", ".hidden", "__pycache__/x.pyc"):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(name.encode())
    (folder / "link.txt").symlink_to("/etc/hostname")
    return course


def written(course: Course, path: Path, title: str = "") -> dict[str, bytes]:
    """Bundle, and return the files of the cartridge."""
    with zipfile.ZipFile(bundle_cartridge(course, ASSIGNMENT, title, path).file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("title", TITLES)
def test_every_title_makes_a_cartridge(course: Course, tmp_path: Path, title: str) -> None:
    """Whatever an assignment is called, the format is kept and the title arrives."""
    written(course, tmp_path / "a.imscc", title)

    (assignment,) = check(tmp_path / "a.imscc")

    shown = "".join(char for char in title if char.isprintable() or char == "\u202e")
    assert "".join(assignment.title.split()) == "".join(shown.split())
    assert assignment.points == 21
    assert assignment.submission_types == ("online_upload",)


def test_students_get_all_that_was_released_and_nothing_else(course: Course, tmp_path: Path) -> None:
    """Notebooks and data are attached under their names; nothing hidden, no link, no solution."""
    files = written(course, tmp_path / "a.imscc")
    (assignment,) = check(tmp_path / "a.imscc")

    folder = f"web_resources/{ASSIGNMENT}"
    names = {path.name for path in course.release(ASSIGNMENT).glob("*.ipynb")}
    names |= {"data/café & co #1.csv", "data/50%.txt"}
    assert set(assignment.attachments) == {f"{folder}/{name}" for name in names}
    for name in names:
        assert files[f"{folder}/{name}"] == (course.release(ASSIGNMENT) / name).read_bytes()
    whole = b"\n".join(files.values())
    for path in course.source(ASSIGNMENT).glob("*.ipynb"):
        for cell in read_notebook(path, error=NotebookError)["cells"]:
            for secret in re.findall(r"BEGIN SOLUTION\n(.*?)\n[^\n]*END SOLUTION", cell["source"], re.DOTALL):
                assert secret.strip().encode() not in whole
    assert b"HIDDEN TESTS" not in whole
    assert b"run_checks" not in whole


def test_the_instructions_stand_by_themselves(course: Course, tmp_path: Path) -> None:
    """The text and the page load nothing and run nothing; each task is there with its points."""
    files = written(course, tmp_path / "a.imscc", "A & B")
    (assignment,) = check(tmp_path / "a.imscc")
    page = files[f"web_resources/{ASSIGNMENT}/instructions.html"].decode()
    loading: list[tuple[str, str]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            assert tag not in {"script", "iframe", "object", "embed", "link", "form"}
            loading.extend((tag, str(value)) for name, value in attrs if name in {"src", "srcset", "style"})
            assert not [name for name, _ in attrs if name.startswith("on")]

    for text in (assignment.text, page):
        Reader().feed(text)
        assert "exercise2_split_heads.ipynb" in text
        assert re.search(r"Task.*Points", text, re.DOTALL)
        assert r"\(W^Q\)" in text
        assert re.search(r"<div>\\\[Q = x.*\\\]</div>", text)
        assert "&lt;p" not in text
    assert loading == []
    assert "<title>A &amp; B</title>" in page
    assert "read by a person" in page


def test_the_same_release_gives_the_same_bytes(course: Course, tmp_path: Path) -> None:
    """Whoever imports a second time can tell that nothing has changed, and identifiers stay."""
    one = bundle_cartridge(course, ASSIGNMENT, to=tmp_path / "a.imscc").file.read_bytes()
    os.utime(course.release(ASSIGNMENT) / "data" / "50%.txt", (1, 1))
    two = bundle_cartridge(course, ASSIGNMENT, to=tmp_path / "b.imscc").file.read_bytes()
    renamed = written(course, tmp_path / "c.imscc", "Another title")

    assert one == two
    assert set(re.findall(rb'identifier="(\w+)"', renamed[MANIFEST])) == set(
        re.findall(rb'identifier="(\w+)"', written(course, tmp_path / "d.imscc")[MANIFEST])
    )


def test_a_release_that_is_not_the_source_is_refused(tmp_path: Path) -> None:
    """A cartridge of another version would be graded as this one; a file from before stays."""
    course = copy_course(tmp_path / "course")
    path = next(iter(sorted(course.source(ASSIGNMENT).glob("*.ipynb"))))
    notebook = read_notebook(path, error=NotebookError)
    notebook["cells"].append({"cell_type": "markdown", "source": "More.", "metadata": {}, "id": "more"})
    write_notebook(path, notebook)
    (course.root / "exports").mkdir()
    old = course.root / "exports" / f"{ASSIGNMENT}.imscc"
    old.write_bytes(b"old")

    done = CliRunner().invoke(main, ["bundle", "cartridge", ASSIGNMENT, "--course-dir", str(course.root)])

    assert done.exit_code == USAGE
    assert "is older than its source" in done.output
    assert old.read_bytes() == b"old"
    assert [one.name for one in old.parent.iterdir()] == [old.name]


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('href="web_resources', 'href="/web_resources'),
        ("1.3.0", "1.1.0"),
        ("imsccv1p3/imscp_v1p1", "imsccv1p1/imscp_v1p1"),
        ("exercise1_parameter_count.ipynb", "exercise1.ipynb"),
        ('identifierref="i', 'identifierref="j'),
        ("<title>", "<title>& "),
        ('type="webcontent"', 'type="web"'),
    ],
)
def test_the_checker_refuses_what_is_wrong(course: Course, tmp_path: Path, was: str, becomes: str) -> None:
    """A rule that the checker does not know would prove nothing."""
    files = written(course, tmp_path / "a.imscc")
    text = files[MANIFEST].decode()
    assert was in text

    files[MANIFEST] = text.replace(was, becomes).encode()
    write_zip(tmp_path / "b.imscc", [Packed(name=name, data=data) for name, data in files.items()])

    with pytest.raises(Refused):
        check(tmp_path / "b.imscc")


def test_a_zip_is_whole_or_as_it_was(tmp_path: Path) -> None:
    """Names that lead out, or come twice, or a file that is gone: no half of a zip is left."""
    path = tmp_path / "a.zip"
    write_zip(path, [Packed(name="x", data=b"1")])
    before = path.read_bytes()

    for wrong in ("../x", "/x", "", "a//b", "a/../b", "./a"):
        with pytest.raises(CourseError, match="cannot hold"):
            write_zip(path, [Packed(name="y", data=b"2"), Packed(name=wrong, data=b"3")])
    with pytest.raises(CourseError, match="two files called 'y'"):
        write_zip(path, [Packed(name="y", data=b"2"), Packed(name="y", data=b"3")])

    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.zip"]
