"""Which assignment of which course in Moodle, what it is like, and what the token may do there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

from autograder.errors import CourseError, OperatorError, nearest
from autograder.lms.model import read_number
from autograder.lms.push.moodle.answers import as_object, as_objects, id_of, useless, yes
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from autograder.lms.push.moodle.service import MoodleTarget, Service

NEEDED = (
    "mod_assign_get_assignments",
    "core_enrol_get_enrolled_users",
    "mod_assign_get_grades",
    "mod_assign_get_submission_status",
    "mod_assign_save_grade",
)
"""Functions without which nothing goes."""
_NUMBER = re.compile(r"(?:(cmid|id):)?(\d{1,18})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """
    An assignment of Moodle.

    Parameters
    ----------
    id, cmid, course : int
        Its number, that of its page, and its course's.
    name, course_name : str
        As Moodle calls them.
    most : Decimal
        Its points; below 0 if it has a scale, 0 if it is not graded.
    functions : frozenset of str
        What the token may call.
    uploads : bool
        Whether it may upload files.
    plugins : frozenset of str
        Kinds of feedback that are on: ``comments``, ``file``.
    team, blind, workflow : bool
        Whether teams hand in, identities are hidden, marking has states.
    """

    id: int
    cmid: int
    course: int
    name: str
    course_name: str
    most: Decimal
    functions: frozenset[str] = frozenset()
    uploads: bool = False
    plugins: frozenset[str] = frozenset()
    team: bool = False
    blind: bool = False
    workflow: bool = False


def find(service: Service, target: MoodleTarget) -> Found:
    """
    Find the assignment in Moodle.

    Parameters
    ----------
    service : Service
        Which Moodle.
    target : MoodleTarget
        What is asked for.

    Returns
    -------
    Found
        The only one that is meant.

    Raises
    ------
    CourseError
        If there is none, or several could be meant.
    OperatorError
        If the token may not do what a push needs.
    ServerError
        If Moodle does not answer.
    """
    site = as_object(service.call("core_webservice_get_site_info"), "core_webservice_get_site_info")
    functions = frozenset(str(one.get("name")) for one in as_objects(site.get("functions")))
    missing = [name for name in NEEDED if name not in functions]
    if missing:
        what = f"its service has no {', '.join(missing)}"
        remedy = "Let an administrator add them: Site administration, Server, External services, Functions."
        raise OperatorError(target.token.source, what, remedy)
    courses = _courses(service, target.course.strip())
    course = _course(courses, target.course.strip(), service.url)
    facts = _assignment(as_objects(course.get("assignments")), target.assignment.strip(), service.url)
    return _found(facts, course, functions, uploads=bool(site.get("uploadfiles")))


def _courses(service: Service, name: str) -> list[dict[str, Any]]:
    asked: dict[str, Any] = {}
    if _is_number(name):
        # Who administers a site need not be enrolled.
        asked = {"courseids": [int(name)], "includenotenrolledcourses": True}
    told = as_object(service.call("mod_assign_get_assignments", **asked), "mod_assign_get_assignments")
    return as_objects(told.get("courses"))


def _course(courses: list[dict[str, Any]], name: str, where: str) -> dict[str, Any]:
    keys = ("id",) if _is_number(name) else ("shortname", "fullname")
    for key in keys:
        found = [one for one in courses if str(one.get(key, "")) == name]
        if len(found) == 1:
            return found[0]
        if found:
            numbers = ", ".join(str(one.get("id")) for one in found)
            what = f"several courses are called {printable(name)!r}: {numbers}"
            raise CourseError(where, what, "Give the number of the one that is meant.")
    names = [printable(str(one.get(keys[0], ""))) for one in courses]
    remedy = (
        "Check the number, and that its user is in the course." if _is_number(name) else nearest(name, names)
    )
    raise CourseError(where, f"your token finds no course {printable(name)!r}", remedy)


def _assignment(listed: list[dict[str, Any]], name: str, where: str) -> dict[str, Any]:
    kind, number = _number(name)
    if number:
        by_page = [one for one in listed if kind in {"", "cmid"} and str(one.get("cmid")) == number]
        by_id = [one for one in listed if kind in {"", "id"} and str(one.get("id")) == number]
        found = by_page + [one for one in by_id if one not in by_page]
    else:
        found = [one for one in listed if str(one.get("name", "")) == name]
    if len(found) == 1:
        return found[0]
    if found:
        ways = ", ".join(f"cmid:{one.get('cmid')}" for one in found)
        what = f"several assignments could be {printable(name)!r}: {ways}"
        raise CourseError(where, what, "Give the one that is meant.")
    names = [printable(str(one.get("name", ""))) for one in listed]
    raise CourseError(where, f"the course has no assignment {printable(name)!r}", nearest(name, names))


def _number(name: str) -> tuple[str, str]:
    """Return which number of an assignment a text gives, and the number; empty if it is a name."""
    if "/mod/assign/" in name:
        found = parse_qs(urlsplit(name).query).get("id", [""])[0]
        return ("cmid", found) if _is_number(found) else ("", "")
    match = _NUMBER.fullmatch(name)
    return (match[1] or "", match[2]) if match else ("", "")


def _found(
    facts: Mapping[str, Any], course: Mapping[str, Any], functions: frozenset[str], *, uploads: bool
) -> Found:
    plugins = {
        str(one.get("plugin"))
        for one in as_objects(facts.get("configs"))
        if one.get("subtype") == "assignfeedback" and one.get("name") == "enabled" and yes(one.get("value"))
    }
    function = "mod_assign_get_assignments"
    try:
        return Found(
            id=id_of(facts["id"], function),
            cmid=id_of(facts["cmid"], function),
            course=id_of(course["id"], function),
            name=str(facts.get("name", "")),
            course_name=str(course.get("fullname") or course.get("shortname") or ""),
            most=read_number(facts["grade"]),
            functions=functions,
            uploads=uploads,
            plugins=frozenset(plugins),
            team=yes(facts.get("teamsubmission")),
            blind=yes(facts.get("blindmarking")) and not yes(facts.get("revealidentities")),
            workflow=yes(facts.get("markingworkflow")),
        )
    except (KeyError, TypeError, ValueError, ArithmeticError):
        raise useless(function) from None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
