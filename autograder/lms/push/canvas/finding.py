"""What is in Canvas: the course, the assignment, who is in it, and what they have now."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from canvasapi.assignment import Assignment
from canvasapi.course import Course
from canvasapi.group import GroupCategory
from canvasapi.paginated_list import PaginatedList

from autograder.errors import CourseError, RefusedError, nearest
from autograder.lms.model import IdKind, Lms, Person, read_number
from autograder.terminal import printable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from autograder.lms.push.canvas.access import Access

MOST = 200_000
"""Entries of a list that are read: no course has as many."""

_STATES = ("active", "invited", "inactive", "completed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Student:
    """
    A student of the course in Canvas.

    Parameters
    ----------
    person : Person
        With the ids that the token may see.
    concluded : bool
        True if no enrolment of theirs lasts.
    """

    person: Person
    concluded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """
    A comment on a submission.

    Parameters
    ----------
    id : str
        Canvas's number.
    text : str
        As Canvas tells it.
    files : tuple of str
        Names of the attached files.
    """

    id: str
    text: str
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """
    What Canvas holds for one student.

    Parameters
    ----------
    score : Decimal or None
        As somebody entered it, before Canvas takes off anything for late work.
    excused : bool
        True if the student is excused.
    deducted : Decimal
        Points that Canvas takes off by a late policy of its own.
    comments : tuple of Comment
        Those that the token may see, without students' own.
    """

    score: Decimal | None = None
    excused: bool = False
    deducted: Decimal = Decimal(0)
    comments: tuple[Comment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """
    A course and an assignment of Canvas.

    Parameters
    ----------
    course, assignment : object
        canvasapi's.
    facts : mapping
        What Canvas says of the assignment.
    """

    course: Course
    assignment: Assignment
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> int:
        """Canvas's number of the assignment."""
        return int(self.assignment.id)


def find(access: Access, course: str, assignment: str) -> Found:
    """
    Find the assignment in Canvas.

    Parameters
    ----------
    access : Access
        Which Canvas.
    course, assignment : str
        As of `CanvasTarget`.

    Returns
    -------
    Found
        Both.

    Raises
    ------
    CourseError
        If there is none, or several have that name.
    """
    theirs, assignment = _course(access, course.strip()), assignment.strip()
    where = f"courses/{int(theirs.id)}/assignments"
    facts = _by_id(access, where, assignment, "sis_assignment_id:")
    if facts is None:
        with access.asking("the assignments of the course"):
            listed = [vars(one) for one in _all(theirs.get_assignments())]
        facts = _named(assignment, listed, ("name",), "assignment", access.url)
    facts = {name: value for name, value in facts.items() if not name.startswith("_")}
    with access.asking("the assignment"):
        one = Assignment(access.requester, facts | {"course_id": int(theirs.id)})
        return Found(course=theirs, assignment=one, facts=facts | {"id": int(one.id)})


def _course(access: Access, name: str) -> Course:
    facts = _by_id(access, "courses", name, "sis_course_id:")
    if facts is None:
        with access.asking("your courses"):
            listed = PaginatedList(Course, access.requester, "GET", "courses")
            courses = [vars(one) for one in _all(listed)]
        facts = _named(name, courses, ("name", "course_code"), "course", access.url)
    with access.asking("the course"):
        return Course(
            access.requester,
            {"id": int(facts["id"])} | {key: str(facts.get(key, "")) for key in ("name", "course_code")},
        )


def _all(listed: Iterable[Any]) -> Iterator[Any]:
    """Yield all entries of a list that comes in pages."""
    for count, one in enumerate(listed):
        if count == MOST:
            raise ValueError(count)
        yield one


def _by_id(access: Access, where: str, name: str, sis: str) -> dict[str, Any] | None:
    """Return what has an id, or None if the name is no id or nothing has it."""
    if not (name.isascii() and name.isdigit()) and not name.startswith(sis):
        return None
    try:
        with access.asking(f"{where}/{printable(name)}"):
            answer = access.requester.request("GET", f"{where}/{quote(name, safe=':')}")
            facts: dict[str, Any] = dict(answer.json())
            int(facts["id"])
    except RefusedError:
        return None
    return facts


def _named(
    name: str, listed: Sequence[dict[str, Any]], keys: Sequence[str], kind: str, where: str
) -> dict[str, Any]:
    """Return what has exactly this name, and that alone."""
    found = [one for one in listed if name in {str(one.get(key, "")) for key in keys}]
    if len(found) > 1:
        numbers = ", ".join(str(one.get("id")) for one in found)
        what = f"several have the name {printable(name)!r}: {kind}s {numbers}"
        raise CourseError(where, what, "Give the number of the one that is meant.")
    if not found:
        names = [printable(str(one.get(keys[0], ""))) for one in listed]
        what = f"your token finds no {kind} {printable(name)!r}"
        raise CourseError(where, what, nearest(name, names))
    return found[0]


def read_students(access: Access, found: Found) -> dict[int, Student]:
    """
    Return the students of the course.

    Parameters
    ----------
    access : Access
        Which Canvas.
    found : Found
        Which course.

    Returns
    -------
    dict of int to Student
        By Canvas's number. Whoever's sections the token may not see is missing.

    Raises
    ------
    ServerError
        If Canvas does not tell.
    """
    with access.asking("the students of the course"):
        users = found.course.get_users(
            enrollment_type=["student"],
            enrollment_state=list(_STATES),
            include=["enrollments", "email"],
        )
        return {int(user.id): _student(vars(user)) for user in _all(users)}


def _student(user: Mapping[str, Any]) -> Student:
    ids = {
        IdKind.USER: str(user["id"]),
        IdKind.SIS: str(user.get("sis_user_id") or ""),
        IdKind.LOGIN: str(user.get("login_id") or ""),
    }
    states = {str(one.get("enrollment_state", "")) for one in user.get("enrollments") or []}
    person = Person(
        lms=Lms.CANVAS,
        name=str(user.get("sortable_name") or user.get("name") or ""),
        email=str(user.get("email") or ""),
        ids={kind: value for kind, value in ids.items() if value},
    )
    return Student(person=person, concluded=bool(states) and states <= {"completed"})


def read_held(
    access: Access,
    found: Found,
    users: Sequence[int] | None = None,
    *,
    students: Collection[int] = (),
) -> dict[int, Held]:
    """
    Return what students have in Canvas.

    Parameters
    ----------
    access : Access
        Which Canvas.
    found : Found
        Which assignment.
    users : sequence of int, optional
        Whose, by Canvas's numbers; by default everybody's.
    students : collection of int
        Whose comments are none of ours, whatever is in them.

    Returns
    -------
    dict of int to Held
        By Canvas's number; only those to whom the assignment is assigned.

    Raises
    ------
    ServerError
        If Canvas does not tell.
    """
    include = ["submission_comments"]
    with access.asking("the submissions"):
        if users is None:
            listed = found.assignment.get_submissions(include=include)
        else:
            listed = found.course.get_multiple_submissions(
                student_ids=list(users), assignment_ids=[found.id], include=include
            )
        mine = (one for one in _all(listed) if int(one.assignment_id) == found.id)
        return {int(one.user_id): _held(vars(one), students) for one in mine}


def _held(facts: Mapping[str, Any], students: Collection[int]) -> Held:
    # `score` is after Canvas's own late policy, `entered_score` is what was sent.
    entered = facts.get("entered_score", facts.get("score"))
    return Held(
        score=None if entered is None else read_number(entered),
        excused=bool(facts.get("excused")),
        deducted=read_number(facts.get("points_deducted") or 0),
        comments=comments_of(facts, students),
    )


def comments_of(facts: Mapping[str, Any], students: Collection[int] = ()) -> tuple[Comment, ...]:
    """
    Return the comments in what Canvas says of a submission.

    Parameters
    ----------
    facts : mapping
        A submission, in Canvas's words.
    students : collection of int
        Whose comments are left out.

    Returns
    -------
    tuple of Comment
        In Canvas's order.
    """
    return tuple(
        Comment(id=str(one["id"]), text=str(one.get("comment") or ""), files=tuple(_file_names(one)))
        for one in facts.get("submission_comments") or []
        if one.get("author_id") not in students
    )


def _file_names(comment: Mapping[str, Any]) -> Iterator[str]:
    for file in comment.get("attachments") or []:
        yield str(file.get("display_name") or file.get("filename") or "")


def read_groups(access: Access, category: object) -> dict[int, str]:
    """
    Return who is in which group.

    Parameters
    ----------
    access : Access
        Which Canvas.
    category : object
        Canvas's number of the set of groups, as Canvas tells it.

    Returns
    -------
    dict of int to str
        Names of groups, each with its number, by Canvas's numbers of users.

    Raises
    ------
    ServerError
        If Canvas does not tell.
    """
    with access.asking("the groups of the assignment"):
        groups = GroupCategory(access.requester, {"id": int(str(category))}).get_groups()
        return {
            int(user.id): f"{group.name} ({group.id})"
            for group in _all(groups)
            for user in _all(group.get_users())
        }
