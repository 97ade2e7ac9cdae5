"""What is in Moodle: who is in the course, what they have now, and what keeps them from getting more."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from autograder.errors import ServerError
from autograder.lms.model import IdKind, Lms, Person
from autograder.lms.push.moodle.answers import (
    as_object,
    as_objects,
    id_of,
    score_of,
    whole,
    yes,
)
from autograder.lms.push.moodle.service import MoodleRefusedError
from autograder.lms.push.wanted import words_of
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from autograder.lms.push.moodle.finding import Found
    from autograder.lms.push.moodle.service import Service

FLAGS, MAPPINGS, LOCKS = (
    "mod_assign_get_user_flags",
    "mod_assign_get_user_mappings",
    "gradereport_user_get_grade_items",
)
"""Functions that some assignments need, and that tell more of others."""
PAGE = 500
"""Users that are asked for at a time."""
MOST = 200_000
"""Users that are read; no course has as many."""

PLAIN = 2
"""Moodle's number of the format of a text without tags."""

_UNMARKED = "notmarked"


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A feedback file in Moodle: its name, its folder, its address, its bytes."""

    name: str
    folder: str
    url: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """
    What Moodle holds for one student.

    Parameters
    ----------
    score : Decimal or None
        None for none.
    comment : str
        HTML or plain text, as `comment_format` says.
    comment_format : int
        Moodle's number: 1 for HTML, 2 for plain text.
    files : tuple of File
        Feedback files.
    seen : bool
        False if Moodle tells nothing of it.
    handed_in : bool
        Whether there is work of the student's own, not of a team's.
    state : str
        The state of marking; empty if Moodle does not tell.
    """

    score: Decimal | None = None
    comment: str = ""
    comment_format: int = 1
    files: tuple[File, ...] = field(default=())
    seen: bool = True
    handed_in: bool = False
    state: str = ""

    @property
    def words(self) -> str:
        """What people read of the comment."""
        return words_of(self.comment, is_html=self.comment_format != PLAIN)


def read_users(service: Service, found: Found) -> tuple[Person, ...]:
    """
    Return who is in the course.

    Parameters
    ----------
    service : Service
        Which Moodle.
    found : Found
        Which course.

    Returns
    -------
    tuple of Person
        With the ids that the token may see.

    Raises
    ------
    ServerError
        If Moodle does not tell.
    """
    function = "core_enrol_get_enrolled_users"
    people: dict[str, Person] = {}
    for start in range(0, MOST, PAGE):
        options = {"limitfrom": start, "limitnumber": PAGE, "sortby": "id"}
        told = service.call(
            function,
            courseid=found.course,
            options=[{"name": name, "value": value} for name, value in options.items()],
        )
        page = as_objects(told)
        for user in page:
            person = _person(user)
            people.setdefault(person.ids[IdKind.USER], person)
        # A page may be shorter than it was asked for: some users are hidden after it was cut.
        if not page:
            return tuple(people.values())
    raise ServerError(function, f"there are more than {MOST} users", "Check the course.")


def _person(user: Mapping[str, Any]) -> Person:
    ids = {
        IdKind.USER: str(id_of(user.get("id"), "core_enrol_get_enrolled_users")),
        IdKind.LOGIN: str(user.get("username") or ""),
        IdKind.SIS: str(user.get("idnumber") or ""),
    }
    return Person(
        lms=Lms.MOODLE,
        first_name=str(user.get("firstname") or ""),
        last_name=str(user.get("lastname") or ""),
        name=str(user.get("fullname") or ""),
        email=str(user.get("email") or ""),
        ids={kind: value for kind, value in ids.items() if value},
    )


def read_participants(service: Service, found: Found) -> dict[str, str]:
    """Return the users behind the numbers of participants, where the token may see it."""
    if MAPPINGS not in found.functions:
        return {}
    pairs = _listed(service, MAPPINGS, found.id, "mappings")
    return {str(one.get("id")): str(one.get("userid")) for one in pairs}


def read_scores(service: Service, found: Found) -> dict[str, Decimal | None]:
    """
    Return the scores that Moodle lists: those of work that was handed in, not by a team.

    Parameters
    ----------
    service : Service
        Which Moodle.
    found : Found
        Which assignment.

    Returns
    -------
    dict of str to (Decimal or None)
        By Moodle's number of the user, of the latest attempt; None for no score.

    Raises
    ------
    ServerError
        If Moodle does not tell.
    """
    latest: dict[str, tuple[int, Decimal | None]] = {}
    for one in _listed(service, "mod_assign_get_grades", found.id, "grades"):
        user, attempt = str(one.get("userid")), whole(one.get("attemptnumber"))
        if user not in latest or attempt >= latest[user][0]:
            latest[user] = (attempt, score_of(one.get("grade"), "mod_assign_get_grades"))
    return {user: score for user, (_, score) in latest.items()}


def read_held(service: Service, found: Found, user: str) -> Held:
    """
    Return all that one student has in Moodle.

    Parameters
    ----------
    service : Service
        Which Moodle.
    found : Found
        Which assignment.
    user : str
        Moodle's number of the user.

    Returns
    -------
    Held
        Not seen if the student has neither a score nor feedback that Moodle would show: a marking
        workflow hides what there is until it is released.

    Raises
    ------
    ServerError
        If Moodle does not tell.
    """
    function = "mod_assign_get_submission_status"
    told = as_object(service.call(function, assignid=found.id, userid=int(user)), function)
    feedback, attempt = told.get("feedback"), told.get("lastattempt")
    attempt = attempt if isinstance(attempt, dict) else {}
    work = attempt.get("submission")
    is_own = isinstance(work, dict) and str(work.get("userid")) == user and not found.team
    state = str(attempt.get("gradingstatus") or "") if found.workflow else ""
    shown = _shown(feedback, function) if isinstance(feedback, dict) else Held(seen=False)
    return replace(shown, handed_in=is_own, state=state)


def _shown(feedback: Mapping[str, Any], function: str) -> Held:
    """Return the score and feedback that Moodle shows."""
    grade = feedback.get("grade")
    score = score_of(grade.get("grade"), function) if isinstance(grade, dict) else None
    plugins = {str(one.get("type")): one for one in as_objects(feedback.get("plugins"))}
    editors = as_objects(plugins.get("comments", {}).get("editorfields"))
    editor = next((one for one in editors if one.get("name") == "comments"), {})
    areas = as_objects(plugins.get("file", {}).get("fileareas"))
    files = (file for area in areas for file in as_objects(area.get("files")))
    return Held(
        score=score,
        comment=str(editor.get("text") or ""),
        comment_format=whole(editor.get("format", 1)),
        files=tuple(
            File(
                name=str(file.get("filename") or ""),
                folder=str(file.get("filepath") or "/"),
                url=str(file.get("fileurl") or ""),
                size=whole(file.get("filesize")),
            )
            for file in files
        ),
    )


def read_states(service: Service, found: Found) -> dict[str, str]:
    """Return the state of marking of each user who has one other than the first."""
    flags = _listed(service, FLAGS, found.id, "userflags")
    return {str(one.get("userid")): str(one.get("workflowstate") or _UNMARKED) for one in flags}


def state_of(held: Held, states: Mapping[str, str], user: str) -> str:
    """Return a user's state of marking, to be sent along: left out, it would begin anew."""
    return held.state or states.get(user, _UNMARKED)


def read_locks(service: Service, found: Found) -> dict[str, str]:
    """
    Return whose grade Moodle would not take.

    Parameters
    ----------
    service : Service
        Which Moodle.
    found : Found
        Which assignment.

    Returns
    -------
    dict of str to str
        By user why; empty if the token may not see it.

    Raises
    ------
    ServerError
        If Moodle does not answer.
    """
    if LOCKS not in found.functions:
        return {}
    try:
        told = as_object(service.call(LOCKS, courseid=found.course, userid=0), LOCKS)
    except MoodleRefusedError:
        return {}
    locks = {}
    for user in as_objects(told.get("usergrades")):
        for item in as_objects(user.get("gradeitems")):
            if str(item.get("cmid")) != str(found.cmid) or item.get("itemmodule") != "assign":
                continue
            if yes(item.get("locked")) or yes(item.get("gradeislocked")):
                locks[str(user.get("userid"))] = "the grade is locked in Moodle's gradebook; unlock it there"
            elif yes(item.get("gradeisoverridden")):
                locks[str(user.get("userid"))] = (
                    "the grade is overridden in Moodle's gradebook; take the override away there"
                )
    return locks


def _listed(service: Service, function: str, assignment: int, key: str) -> Iterator[dict[str, Any]]:
    """Yield what a function lists for an assignment."""
    told = as_object(service.call(function, assignmentids=[assignment]), function)
    refused = [one for one in as_objects(told.get("warnings")) if str(one.get("warningcode")) == "1"]
    if refused:
        said = printable(str(refused[0].get("message") or "no right"))
        raise MoodleRefusedError(function, "nopermissions", said)
    for one in as_objects(told.get("assignments")):
        if str(one.get("assignmentid")) == str(assignment):
            yield from as_objects(one.get(key))
