"""Moodle's web services: what is found there, and what is not taken for an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Answer
from loopback_moodle import TOKEN, Assign, MoodleSite, nested

from autograder.errors import CourseError, OperatorError, ServerError
from autograder.lms.model import IdKind
from autograder.lms.push.moodle import reading
from autograder.lms.push.moodle.pushing import MoodlePush
from autograder.lms.push.moodle.service import MoodleTarget, flat
from autograder.lms.push.tokens import Secret

if TYPE_CHECKING:
    from pathlib import Path

from moodle_course import CLASS, NUMBERS, Course, course, pages, users, wanted


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("Homework 1", 31),
        ("131", 31),
        ("cmid:132", 40),
        ("id:131", 41),
        ("https://moodle.example.edu/mod/assign/view.php?id=132&action=grading", 40),
        ("40", 40),
    ],
)
def test_an_assignment_is_found_by_name_number_or_address(tmp_path: Path, name: str, found: int) -> None:
    """The number in the address of its page is the one that people see."""
    others = [Assign(id=40, cmid=132, name="Homework 2"), Assign(id=41, cmid=133, name="homework 1")]
    if name == "id:131":
        others = [Assign(id=131, cmid=140, name="Homework 2")]
        found = 131
    site = MoodleSite(users(), [Assign(), *others])
    with site:
        way = Course(site=site, folder=tmp_path).way(name)

        assert way._found.id == found


@pytest.mark.parametrize(
    ("target", "says"),
    [
        ({"assignment": "Homework"}, "Did you mean 'Homework 1'?"),
        ({"assignment": "Twin"}, "cmid:150, cmid:151"),
        ({"assignment": "150"}, "several assignments could be '150': cmid:150, cmid:131"),
        ({"course": "6"}, "finds no course '6'"),
        ({"course": "ATT-2"}, "Did you mean 'ATT-1'?"),
        ({"url": "http://moodle.example.edu"}, "not encrypted"),
        ({"url": "https://moodle.example.edu/?token=x"}, "more in it than an address"),
        ({"url": "https://moodle.example.edu/login/index.php"}, "is a page of Moodle"),
    ],
)
def test_what_is_not_meant_for_sure_is_not_found(tmp_path: Path, target: dict[str, str], says: str) -> None:
    """One line says what there is instead."""
    twins = [Assign(id=60, cmid=150, name="Twin"), Assign(id=61, cmid=151, name="Twin")]
    site = MoodleSite(users(), [Assign(id=150), *twins])
    with site, pytest.raises(CourseError) as caught:
        Course(site=site, folder=tmp_path).way(**({"assignment": "Homework 1"} | target))

    assert says in str(caught.value)


def test_a_course_may_be_given_by_its_short_name(tmp_path: Path) -> None:
    """As people call it."""
    here = course(tmp_path)
    with here.site:
        assert here.way(course="ATT-1")._found.course == 5


def test_a_page_that_is_short_is_not_the_last_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moodle cuts pages first and leaves out afterwards whom the token may not see."""
    monkeypatch.setattr(reading, "PAGE", 3)
    here = course(tmp_path)
    with here.site:
        way = here.way()

        found = reading.read_users(way._service, way._found)

    assert [person.ids[IdKind.LOGIN] for person in found] == list(NUMBERS)


def test_a_token_that_may_not_do_enough_is_told_what_is_missing(tmp_path: Path) -> None:
    """Before anything else, by the names that an administrator adds."""
    here = course(tmp_path)
    here.site.functions.remove("mod_assign_save_grade")
    with here.site, pytest.raises(OperatorError, match="its service has no mod_assign_save_grade"):
        here.way()


def test_a_token_that_moodle_does_not_know_ends_at_once(tmp_path: Path) -> None:
    """The line names where the token is from, and not the token."""
    here = course(tmp_path)
    token = Secret("fedcba9876543210", "moodle.token")
    target = MoodleTarget(url=here.site.url, course="5", assignment="Homework 1", token=token)
    with here.site, pytest.raises(OperatorError, match=r"moodle\.token: Moodle does not know this token"):
        MoodlePush(target, tmp_path)


@pytest.mark.parametrize("body", [b"", b"<html>Log in</html>", b"null", b"[]", b'"x"', b"[" * 9999])
def test_an_answer_that_is_no_moodles_is_one_line(tmp_path: Path, body: bytes) -> None:
    """Another server may answer there."""
    here = course(tmp_path)
    here.site.instead = Answer(body=body)
    with here.site, pytest.raises(ServerError, match="what nobody can use"):
        here.way()


def test_no_token_is_anywhere(tmp_path: Path) -> None:
    """Not in addresses, records, plans or errors, also where a server repeats it."""
    here = course(tmp_path)
    with here.site:
        plan, outcomes = here.push(wanted(CLASS, comments=True, feedback=pages(tmp_path, "ana")))
        here.site.instead = Answer.of(
            {"exception": "x", "errorcode": TOKEN, "message": f"<b>{TOKEN}</b> \x1b[2J"}
        )
        with pytest.raises(ServerError) as caught:
            here.way()
        texts = [repr(plan), repr(outcomes), str(caught.value)]
        texts += [path.read_text() for path in (tmp_path / ".autograder").rglob("*.json")]
        texts += [asked.target for asked in here.site.asked]

    assert not any(TOKEN in text or "\x1b" in text for text in texts)
    assert all(TOKEN not in str(asked.headers) for asked in here.site.asked)


def test_a_file_on_another_server_is_not_fetched(tmp_path: Path) -> None:
    """The token goes with the request."""
    here = course(tmp_path)
    with here.site:
        service = here.way()._service
        with pytest.raises(ServerError, match="on another server"):
            service.download("https://evil.example/webservice/pluginfile.php/1/x.pdf")


values = st.recursive(
    st.integers(0, 99) | st.sampled_from(["", "a b", "é", "[x]"]) | st.booleans(),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "format", "userid"]), inner, min_size=1)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["grades", "options"]), values, min_size=1))
def test_php_reads_lists_and_dicts_from_the_form(arguments: dict[str, Any]) -> None:
    """What PHP makes of the names of fields is what was meant."""

    def as_php(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: as_php(one) for key, one in value.items()}
        if isinstance(value, list):
            return {str(at): as_php(one) for at, one in enumerate(value)}
        return str(int(value)) if isinstance(value, bool) else str(value)

    assert nested(dict(flat(arguments))) == as_php(arguments)


ODD = [True, None, -1, 0, "x", [1], {"id": 1}, float("inf"), float("nan"), 10**400, "9" * 400, "\ud800"]


@pytest.mark.parametrize("value", ODD, ids=ascii)
def test_numbers_that_are_none_end_in_one_line_or_do_no_harm(tmp_path: Path, value: object) -> None:
    """Of the assignment, of users, of scores, of the area of uploaded files; a truth value is no number."""
    asked = wanted({"ana": "9.5"}, comments=True, feedback=pages(tmp_path, "ana"))
    for function, told in (
        ("_assign", {"grade": value}),
        ("_assign", {"id": value}),
        ("_assign", {"cmid": value}),
        ("_upload", [{"itemid": value}]),
        ("_upload", value),
        ("_core_enrol_get_enrolled_users", [{"id": value, "username": "ana"}]),
        ("_mod_assign_get_grades", grades_of(71, value)),
        ("_mod_assign_get_submission_status", {"feedback": {"grade": {"grade": value}, "plugins": value}}),
        ("_mod_assign_get_submission_status", {"feedback": value, "lastattempt": value}),
        ("_mod_assign_get_submission_status", comment_of(value)),
        ("_mod_assign_get_submission_status", file_of(value)),
    ):
        here = course(tmp_path)
        is_fact = isinstance(told, dict) and function == "_assign"
        facts = here.site._assign(here.site.assigns[31]) if is_fact else {}
        setattr(here.site, function, lambda _, told=told, facts=facts: facts | told if facts else told)
        with here.site:
            try:
                _, outcomes = here.push(asked)
            except ServerError as problem:
                assert "Moodle answers what nobody can use" in str(problem)  # noqa: PT017 - either will do
            except CourseError as problem:
                assert "no assignment" in str(problem)  # noqa: PT017 - either will do
            else:
                assert {one.row.student for one in outcomes} <= {"ana"}


def grades_of(user: int, value: object) -> dict[str, Any]:
    """Return a list of scores."""
    grades = [{"userid": user, "grade": value, "attemptnumber": value}]
    return {"assignments": [{"assignmentid": 31, "grades": grades}]}


def comment_of(value: object) -> dict[str, Any]:
    """Return feedback whose comment is of that format and text."""
    editors = [{"name": "comments", "text": value, "format": value}]
    plugins = [{"type": "comments", "editorfields": editors}]
    return {"feedback": {"grade": {"grade": "3.0"}, "plugins": plugins}}


def file_of(value: object) -> dict[str, Any]:
    """Return feedback whose file is called so, and lies there."""
    files = [{"filename": value, "filepath": value, "fileurl": "http://[", "filesize": value}]
    plugins = [{"type": "file", "fileareas": [{"files": files}]}]
    return {"feedback": {"grade": {"grade": "3.0"}, "plugins": plugins}}
