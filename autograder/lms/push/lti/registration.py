"""
What a platform knows the tool by, and where its services are: one small file, without any secret.

It is called ``lti.toml`` or ``lti.json`` and lies in the course folder. The
private key has a file of its own, see `keys`.
"""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from autograder.errors import ConfigError, OperatorError, nearest
from autograder.lms.model import Lms
from autograder.lms.push.addresses import checked_address, origin_of
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Mapping

FILES = ("lti.toml", "lti.json")
"""Names of the file; the first that is there counts."""
MAX_BYTES = 64 * 2**10

_SECRET = "-----BEGIN"  # noqa: S105 - what a secret begins with, not one
_TEXTS = ("platform", "issuer", "client_id", "token_url", "audience", "key_file")
_SERVICES = ("lineitems", "context_memberships_url")
_OF_AN_ASSIGNMENT = ("lineitem", "label")
_KNOWN = (*_TEXTS, *_SERVICES, "new_submission", "assignments")


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """
    The line item of one assignment, where the file says something of it.

    Parameters
    ----------
    lineitem : str
        Its address; empty if it is to be found by the assignment's name, or made.
    label : str
        What a new one is called; empty for the assignment's name.
    """

    lineitem: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """
    A tool as one platform knows it.

    Parameters
    ----------
    where : Path
        The file.
    lms : Lms
        Whose rules hold; `Lms.PLAIN` for any platform that keeps to the standard.
    issuer : str
        The platform's name for itself; may be empty.
    client_id : str
        The platform's name for the tool.
    token_url : str
        Where access tokens are had.
    audience : str
        Whom the tool's word is for; `token_url` if empty.
    lineitems : str
        The line items of the course; may be empty.
    context_memberships_url : str
        The members of the course; may be empty.
    key_file : Path or None
        The private key.
    new_submission : bool
        Canvas: True to make a new submission with each score.
    assignments : mapping of str to Item
        By the assignment's name.
    """

    where: Path
    lms: Lms
    issuer: str = ""
    client_id: str
    token_url: str
    audience: str = ""
    lineitems: str = ""
    context_memberships_url: str = ""
    key_file: Path | None = None
    new_submission: bool = False
    assignments: Mapping[str, Item] = field(default_factory=dict)

    @property
    def addresses(self) -> tuple[str, ...]:
        """All servers that may be sent something."""
        items = (item.lineitem for item in self.assignments.values())
        found = (self.token_url, self.lineitems, self.context_memberships_url, *items)
        return tuple(dict.fromkeys(one for one in found if one))

    def item(self, assignment: str) -> Item:
        """Return what the file says of an assignment's line item."""
        return self.assignments.get(assignment, Item())


def find_registration(course: Path) -> Path:
    """
    Return where the registration of a course is.

    Parameters
    ----------
    course : Path
        The course folder.

    Returns
    -------
    Path
        The first of `FILES` that is there.

    Raises
    ------
    ConfigError
        If none is.
    """
    for name in FILES:
        if (course / name).is_file():
            return course / name
    raise ConfigError(
        course / FILES[0],
        "is not there, and so is no lti.json",
        "Write down how your LMS has registered the tool; docs/integrator/lti.md shows how.",
    )


def read_registration(path: Path) -> Registration:
    """
    Read the registration of a tool.

    Parameters
    ----------
    path : Path
        A TOML file, or JSON if it ends so.

    Returns
    -------
    Registration
        With addresses that may be sent secrets.

    Raises
    ------
    ConfigError
        If something is missing, unknown, of the wrong kind, or a secret.
    OperatorError
        If the file cannot be read.
    """
    told = _parsed(path)
    for name in told:
        if name not in _KNOWN:
            raise ConfigError(path, f"nothing is called {printable(name)!r} there", nearest(name, _KNOWN))
    texts = {name: _text(path, name, told.get(name, "")) for name in (*_TEXTS, *_SERVICES)}
    for name in ("client_id", "token_url"):
        if not texts[name]:
            raise ConfigError(path, f"{name} is missing", "Copy it from the tool's page in the LMS.")
    new_submission = told.get("new_submission", False)
    if not isinstance(new_submission, bool):
        raise ConfigError(path, "new_submission is neither true nor false", "Leave it out for false.")
    return Registration(
        where=path,
        lms=_platform(path, texts["platform"]),
        issuer=texts["issuer"],
        client_id=texts["client_id"],
        token_url=_address(path, "token_url", texts["token_url"]),
        audience=texts["audience"],
        lineitems=_address(path, "lineitems", texts["lineitems"]),
        context_memberships_url=_address(path, "context_memberships_url", texts["context_memberships_url"]),
        key_file=path.parent / Path(texts["key_file"]).expanduser() if texts["key_file"] else None,
        new_submission=new_submission,
        assignments=_assignments(path, told.get("assignments", {})),
    )


def _parsed(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise OperatorError(path, f"cannot be read ({error.strerror})", "Check name and rights.") from None
    if len(data) > MAX_BYTES:
        raise ConfigError(path, f"is longer than {MAX_BYTES // 2**10} KiB", "Name the right file.")
    if _SECRET.encode() in data:
        what = "has a key in it, and this file is no place for secrets"
        raise ConfigError(path, what, "Put the key into a file of its own, and its name here as key_file.")
    try:
        text = data.decode("utf-8-sig")
        told = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        what = f"is no {kind} ({printable(str(error))[:100]})"
        raise ConfigError(path, what, "Compare it with docs/integrator/lti.md.") from None
    if not isinstance(told, dict):
        raise ConfigError(path, "is no table of names and values", "Compare it with docs/integrator/lti.md.")
    return told


def _text(path: Path, name: str, value: object) -> str:
    # A client id of digits is a number to whoever writes the file.
    if isinstance(value, int) and not isinstance(value, bool) and name == "client_id":
        return str(value)
    if not isinstance(value, str):
        raise ConfigError(path, f"{name} is no text", "Put it into quotes.")
    if not value.isprintable():
        raise ConfigError(path, f"{name} has characters that are none", "Copy it again.")
    return value.strip()


def _platform(path: Path, name: str) -> Lms:
    try:
        return Lms(name.casefold()) if name else Lms.PLAIN
    except ValueError:
        what = f"platform = {name!r} is none that is known"
        remedy = f"{nearest(name, [lms.value for lms in Lms])} Leave it out if yours is not there."
        raise ConfigError(path, what, remedy) from None


def _address(path: Path, name: str, url: str) -> str:
    """Return an address if secrets may be sent there; unlike others it may have a query."""
    if not url:
        return ""
    parts = urlsplit(url)
    if parts.fragment:
        raise ConfigError(path, f"{name} has a # in it", "Copy the address of the service, not of a page.")
    checked_address(url.partition("?")[0], f"{path}: {name}")
    if origin_of(url)[1] != (parts.hostname or "").rstrip(".") or any(char in url for char in "\\<>\"'`"):
        raise ConfigError(path, f"{name} is no address", "Copy it again.")
    return url


def _assignments(path: Path, told: object) -> dict[str, Item]:
    if not isinstance(told, dict):
        raise ConfigError(path, "assignments is no table", "Write [assignments.NAME] above its lines.")
    found = {}
    for assignment, facts in told.items():
        where = f"assignments.{printable(assignment)}"
        if not isinstance(facts, dict):
            raise ConfigError(path, f"{where} is no table", f"Write [{where}] above its lines.")
        for name in facts:
            if name not in _OF_AN_ASSIGNMENT:
                what = f"nothing is called {printable(name)!r} in {where}"
                raise ConfigError(path, what, nearest(name, _OF_AN_ASSIGNMENT))
        texts = {name: _text(path, f"{where}.{name}", facts.get(name, "")) for name in _OF_AN_ASSIGNMENT}
        lineitem = _address(path, f"{where}.lineitem", texts["lineitem"])
        found[assignment] = Item(lineitem=lineitem, label=texts["label"])
    return found
