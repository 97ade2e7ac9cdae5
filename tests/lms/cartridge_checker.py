"""
A checker of Common Cartridges 1.3, and what Canvas makes of one.

The rules are those of the specification, as far as they concern a cartridge of
pages, files and assignments; which elements of an assignment are read, and
what becomes of them, are those of Canvas's importer.
"""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import unquote
from xml.etree import ElementTree as ET

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CP = "{http://www.imsglobal.org/xsd/imsccv1p3/imscp_v1p1}"
LOM = "{http://ltsc.ieee.org/xsd/imsccv1p3/LOM/manifest}"
WORK = "{http://www.imsglobal.org/xsd/imscc_extensions/assignment}"
MANIFEST = "imsmanifest.xml"
TYPES = {"webcontent", "assignment_xmlv1p0"}
ORDER = (
    *("title", "text", "instructor_text", "attachments", "gradable", "submission_formats", "extensions"),
)
FORMATS = {
    "file": "online_upload",
    "html": "online_text_entry",
    "text": "online_text_entry",
    "url": "online_url",
}
_NCNAME = re.compile(r"[^\W\d][\w.\-]*")
# What an XML parser must not be asked to do with a file of somebody else's.
_DECLARED = re.compile(rb"<!(DOCTYPE|ENTITY)")


@dataclass(frozen=True, slots=True)
class Assignment:
    """What Canvas makes of an assignment."""

    title: str
    text: str
    points: float
    submission_types: tuple[str, ...]
    attachments: tuple[str, ...]


class Refused(Exception):  # noqa: N818 - what a checker says
    """The cartridge breaks a rule."""


def check(path: Path) -> tuple[Assignment, ...]:
    """Return the assignments of a cartridge; refuse one that breaks a rule."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        files = {name: archive.read(name) for name in names}
    if len(files) != len(names):
        raise Refused("two files of one name")
    if MANIFEST not in files:
        raise Refused("no manifest at the root")
    root = _parsed(files, MANIFEST)
    _check_head(root)
    resources = {_id(one): one for one in root.findall(f"{CP}resources/{CP}resource")}
    _check_identifiers(root)
    _check_resources(resources, files)
    _check_outline(root, resources)
    return tuple(
        _assignment(files, _href(one.find(f"{CP}file")))
        for one in resources.values()
        if one.get("type") == "assignment_xmlv1p0"
    )


def _parsed(files: dict[str, bytes], name: str) -> ET.Element:
    if _DECLARED.search(files[name]):
        raise Refused(f"{name} declares entities")
    try:
        return ET.fromstring(files[name])  # noqa: S314 - it declares no entity
    except ET.ParseError as error:
        raise Refused(f"{name} is not well-formed: {error}") from None


def _check_head(root: ET.Element) -> None:
    if root.tag != f"{CP}manifest":
        raise Refused(f"the root is {root.tag}")
    children = [child.tag for child in root]
    if children != [f"{CP}metadata", f"{CP}organizations", f"{CP}resources"]:
        raise Refused(f"the manifest has {children}")
    told = (root.findtext(f"{CP}metadata/{CP}schema"), root.findtext(f"{CP}metadata/{CP}schemaversion"))
    if told != ("IMS Common Cartridge", "1.3.0"):
        raise Refused(f"it says that it is {told}")
    if not root.findtext(f"{CP}metadata/{LOM}lom/{LOM}general/{LOM}title/{LOM}string"):
        raise Refused("it has no title")


def _id(element: ET.Element) -> str:
    return element.get("identifier", "")


def _check_identifiers(root: ET.Element) -> None:
    wanted = {f"{CP}{tag}" for tag in ("manifest", "organization", "item", "resource")}
    found = [_id(one) for one in root.iter() if one.tag in wanted]
    for one in found:
        if not _NCNAME.fullmatch(one):
            raise Refused(f"{one!r} is no name in XML")
    if len(found) != len(set(found)):
        raise Refused("two elements of one identifier")


def _href(element: ET.Element | None) -> str:
    href = element.get("href", "") if element is not None else ""
    if not href or not re.fullmatch(r"[A-Za-z0-9\-._~!$&'()*+,;=:@/%]+", href) or href.startswith("/"):
        raise Refused(f"{href!r} is no address in the cartridge")
    return unquote(href, errors="strict")


def _check_resources(resources: dict[str, ET.Element], files: dict[str, bytes]) -> None:
    listed: list[str] = []
    for one in resources.values():
        if one.get("type") not in TYPES:
            raise Refused(f"a resource of type {one.get('type')}")
        mine = [_href(file) for file in one.findall(f"{CP}file")]
        if one.get("type") == "webcontent" and mine[:1] != [_href(one)]:
            raise Refused("web content without its own file")
        for dependency in one.findall(f"{CP}dependency"):
            if dependency.get("identifierref") not in resources:
                raise Refused("a dependency on nothing")
        listed += mine
    if sorted(listed) != sorted(set(files) - {MANIFEST}):
        raise Refused(f"listed: {sorted(listed)}, there: {sorted(files)}")


def _check_outline(root: ET.Element, resources: dict[str, ET.Element]) -> None:
    organizations = root.findall(f"{CP}organizations/{CP}organization")
    if len(organizations) != 1 or organizations[0].get("structure") != "rooted-hierarchy":
        raise Refused("not one rooted hierarchy")
    top = organizations[0].findall(f"{CP}item")
    if len(top) != 1 or top[0].find(f"{CP}title") is not None or top[0].get("identifierref"):
        raise Refused("not one outer item without a title")
    for item in top[0].iter(f"{CP}item"):
        if item is not top[0] and not item.findtext(f"{CP}title"):
            raise Refused("an item without a title")
        if (target := item.get("identifierref")) is not None and target not in resources:
            raise Refused("an item that leads nowhere")


def _assignment(files: dict[str, bytes], name: str) -> Assignment:
    root = _parsed(files, name)
    if root.tag != f"{WORK}assignment" or not _NCNAME.fullmatch(_id(root)):
        raise Refused(f"{name} is {root.tag}")
    tags = [child.tag.removeprefix(WORK) for child in root]
    if tags != sorted(tags, key=ORDER.index) or len(tags) != len(set(tags)):
        raise Refused(f"{name} has {tags}")
    text, gradable = root.find(f"{WORK}text"), root.find(f"{WORK}gradable")
    if text is None or text.get("texttype") != "text/html" or gradable is None or gradable.text != "true":
        raise Refused(f"{name} has no text or is worth nothing")
    kinds = [one.get("type", "") for one in root.findall(f"{WORK}submission_formats/{WORK}format")]
    return Assignment(
        title=root.findtext(f"{WORK}title", ""),
        text=text.text or "",
        points=float(gradable.get("points_possible", "nan")),
        submission_types=tuple(FORMATS[kind] for kind in kinds),
        attachments=tuple(_attachments(root, name, files)),
    )


def _attachments(root: ET.Element, name: str, files: dict[str, bytes]) -> Iterator[str]:
    for one in root.findall(f"{WORK}attachments/{WORK}attachment"):
        if one.get("role") != "All":
            raise Refused(f"an attachment for {one.get('role')}")
        parts: list[str] = []
        for part in (PurePosixPath(name).parent / _href(one)).parts:
            parts = parts[:-1] if part == ".." else [*parts, part]
        if (target := "/".join(parts)) not in files:
            raise Refused(f"an attachment that is not there: {target}")
        yield target
