"""
IMS Common Cartridge 1.3: an assignment that an LMS imports, with its notebooks, its words and its points.

Two things tell of the assignment: the resource of the standard's extension for
assignments, which Canvas reads, and a page, which every LMS shows that imports
cartridges. Only what students get goes in.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING
from urllib.parse import quote
from xml.etree import ElementTree as ET

from markupsafe import Markup

from autograder.checks.report import number
from autograder.errors import CourseError
from autograder.files import is_ignored
from autograder.lms.zipping import Packed
from autograder.pages.content import markdown
from autograder.pages.lessons import lessons
from autograder.pages.template import assignment_title, render, render_part

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from autograder.course.course import Course
    from autograder.course.released import ReleasedNotebook
    from autograder.pages.lessons import Lesson

MANIFEST = "imsmanifest.xml"
CP = "http://www.imsglobal.org/xsd/imsccv1p3/imscp_v1p1"
LOM = "http://ltsc.ieee.org/xsd/imsccv1p3/LOM/manifest"
ASSIGNMENT = "http://www.imsglobal.org/xsd/imscc_extensions/assignment"
"""Namespaces of the manifest, of its metadata, and of an assignment."""

WEB_CONTENT, ASSIGNMENT_TYPE = "webcontent", "assignment_xmlv1p0"

_XSI = "http://www.w3.org/2001/XMLSchema-instance"
_SCHEMAS = {
    CP: "http://www.imsglobal.org/profile/cc/ccv1p3/ccv1p3_imscp_v1p2_v1p0.xsd",
    LOM: "http://www.imsglobal.org/profile/cc/ccv1p3/LOM/ccv1p3_lommanifest_v1p0.xsd",
    ASSIGNMENT: "http://www.imsglobal.org/profile/cc/cc_extensions/cc_extresource_assignmentv1p0_v1p0.xsd",
}
_FILES, _WORK, _PAGE = "web_resources", "assignment.xml", "instructions.html"
_INLINE = re.compile(r'<span class="math">(.*?)</span>', re.DOTALL)
_BLOCK = re.compile(r'<div class="math">(.*?)</div>', re.DOTALL)
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Handout:
    """What goes into a cartridge, read once."""

    assignment: str
    title: str
    instructions: Markup
    points: str
    files: tuple[Packed, ...]


def cartridge_files(course: Course, assignment: str, *, title: str = "") -> tuple[Packed, ...]:
    """
    Return the files of a cartridge.

    Parameters
    ----------
    course : Course
        The course; its release is up to date.
    assignment : str
        The assignment.
    title : str
        What the LMS is to call it; by default its name, as the feedback has it.

    Returns
    -------
    tuple of Packed
        The manifest first.

    Raises
    ------
    CourseError
        If the assignment cannot be read, or something that students get holds hidden tests.
    """
    released = course.released(assignment)
    handout = _Handout(
        assignment=assignment,
        title=" ".join(title.split()) or assignment_title(assignment),
        instructions=_instructions(released),
        points=number(sum((book.max_score for book in released), Decimal(0))),
        files=tuple(_handed_out(course, assignment)),
    )
    work, page = f"{_name(assignment)}/{_WORK}", f"{_FILES}/{assignment}/{_PAGE}"
    shown = render("instructions_page.html.j2", title=handout.title, body=handout.instructions)
    return (
        Packed(name=MANIFEST, data=_manifest(handout, work, page)),
        Packed(name=work, data=_assignment_xml(handout, work)),
        Packed(name=page, data=shown.encode()),
        *handout.files,
    )


def _handed_out(course: Course, assignment: str) -> Iterator[Packed]:
    """Yield the notebooks and the files beside them that students get."""
    folder = course.release(assignment)
    rules, ignored = course.rules, course.layout.ignored
    for path in sorted(_below(folder, ignored)):
        name = path.relative_to(folder).as_posix()
        if path.suffix == ".ipynb" and rules.hidden[0] in path.read_text(encoding="utf-8"):
            raise CourseError(path, "holds hidden tests", f"Run `autograder release {assignment}`.")
        yield Packed(name=f"{_FILES}/{assignment}/{name}", data=path)


def _below(folder: Path, ignored: tuple[str, ...]) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.is_symlink() or is_ignored(path.name, ignored):
            continue
        if path.is_dir():
            yield from _below(path, ignored)
        else:
            yield path


# -------------------------------------------------------------------- words


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    title: str
    points: Decimal
    manual: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    name: str
    title: str
    points: Decimal
    tasks: tuple[_Task, ...]
    words: Markup


def _instructions(released: Sequence[ReleasedNotebook]) -> Markup:
    """Return the instructions as a piece of HTML without styles, which an LMS would drop."""
    known = lessons(released)
    books = [_book(one, known[one.name]) for one in released]
    total = sum((one.points for one in books), Decimal(0))
    return render_part("instructions.html.j2", books=books, total=total)


def _book(released: ReleasedNotebook, lesson: Lesson) -> _Book:
    tasks = tuple(
        _Task(
            title=lesson.tasks[cell.grade_id].title if cell.grade_id in lesson.tasks else cell.grade_id,
            points=cell.points,
            manual=cell.kind.manual,
        )
        for cell in released.graded
    )
    texts = (
        cell.released for cell in released.layout if cell.cell_type == "markdown" and not cell.kind.graded
    )
    words = _math(markdown(next(texts, "")))
    return _Book(name=released.name, title=lesson.title, points=released.max_score, tasks=tasks, words=words)


def _math(body: Markup) -> Markup:
    """Return HTML whose formulas stand between the marks that LMSs look for."""
    text = _INLINE.sub(r"\\(\1\\)", str(body))
    return Markup(_BLOCK.sub(r"<div>\\[\1\\]</div>", text))  # noqa: S704 - sanitised before


# ---------------------------------------------------------------------- XML


def _assignment_xml(handout: _Handout, where: str) -> bytes:
    root = ET.Element(
        "assignment",
        {"xmlns": ASSIGNMENT, "xmlns:xsi": _XSI, "xsi:schemaLocation": _schemas(ASSIGNMENT)}
        | {"identifier": _name(where)},
    )
    _add(root, "title", handout.title)
    _add(root, "text", handout.instructions, texttype="text/html")
    attachments = ET.SubElement(root, "attachments")
    for file in handout.files:
        # An address, seen from the folder of this file.
        ET.SubElement(attachments, "attachment", href=f"../{quote(file.name)}", role="All")
    _add(root, "gradable", "true", points_possible=handout.points)
    ET.SubElement(ET.SubElement(root, "submission_formats"), "format", type="file")
    return _bytes(root)


def _manifest(handout: _Handout, work: str, page: str) -> bytes:
    root = ET.Element(
        "manifest",
        {"xmlns": CP, "xmlns:lomimscc": LOM, "xmlns:xsi": _XSI, "xsi:schemaLocation": _schemas(CP, LOM)}
        | {"identifier": _name(MANIFEST, handout.assignment)},
    )
    metadata = ET.SubElement(root, "metadata")
    _add(metadata, "schema", "IMS Common Cartridge")
    _add(metadata, "schemaversion", "1.3.0")
    general = ET.SubElement(ET.SubElement(metadata, "lomimscc:lom"), "lomimscc:general")
    _add(ET.SubElement(general, "lomimscc:title"), "lomimscc:string", handout.title)
    organizations = ET.SubElement(root, "organizations")
    organization = ET.SubElement(
        organizations, "organization", identifier=_name("organization"), structure="rooted-hierarchy"
    )
    top = ET.SubElement(organization, "item", identifier=_name("top"))
    folder = ET.SubElement(top, "item", identifier=_name("folder"))
    _add(folder, "title", handout.title)
    files = [file.name for file in handout.files]
    titles = {work: handout.title, page: f"{handout.title}: instructions"}
    titles |= {name: name.rsplit("/", 1)[-1] for name in files if name.endswith(".ipynb")}
    for name, title in titles.items():
        item = ET.SubElement(folder, "item", identifier=_name("item", name), identifierref=_name(name))
        _add(item, "title", title)
    resources = ET.SubElement(root, "resources")
    for name in (work, page, *files):
        _resource(resources, name, files if name == work else ())
    return _bytes(root)


def _resource(resources: ET.Element, name: str, needs: Sequence[str]) -> None:
    is_work = name.endswith(_WORK)
    kind = ASSIGNMENT_TYPE if is_work else WEB_CONTENT
    resource = ET.SubElement(resources, "resource", identifier=_name(name), type=kind)
    if not is_work:
        resource.set("href", quote(name))
    ET.SubElement(resource, "file", href=quote(name))
    for other in needs:
        ET.SubElement(resource, "dependency", identifierref=_name(other))


def _add(parent: ET.Element, tag: str, text: str, **attributes: str) -> None:
    ET.SubElement(parent, tag, attributes).text = _NO_XML.sub("", text)


def _schemas(*namespaces: str) -> str:
    return " ".join(f"{namespace} {_SCHEMAS[namespace]}" for namespace in namespaces)


def _name(*parts: str) -> str:
    """Return an identifier: a name in XML that begins with a letter, the same for the same parts."""
    return f"i{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"


def _bytes(root: ET.Element) -> bytes:
    ET.indent(root)
    return bytes(ET.tostring(root, encoding="utf-8", xml_declaration=True)) + b"\n"
