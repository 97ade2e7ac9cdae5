"""The plan of a push to Canvas: who is who, what differs, what is left alone, and that it only reads."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from canvas_scenes import Scene, grade, pages
from canvas_world import ASSIGNMENT, CATEGORY, Pupil, World
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loopback import Answer, Asked, Mishaps
from made_grades import made_grade, made_person

from autograder.errors import CourseError, OperatorError
from autograder.lms.model import GradeState, Lms
from autograder.lms.push.canvas import access
from autograder.lms.push.model import EXCUSED, Action

if TYPE_CHECKING:
    from pathlib import Path

    from autograder.lms.push.model import Plan, Row

MISSING, UNGRADED = GradeState.MISSING, GradeState.UNGRADED


def only(plan: Plan) -> Row:
    """Return the one row of a plan."""
    (row,) = plan.rows
    return row


# ---------------------------------------------------------------- the course and the assignment


@pytest.mark.parametrize("course", ["4021", " 4021 ", "sis_course_id:DL", "Deep Learning", "DL-26"])
@pytest.mark.parametrize("assignment", [str(ASSIGNMENT), "HW 1: Heads"])
def test_course_and_assignment_are_found_by_number_or_exact_name(
    tmp_path: Path, course: str, assignment: str
) -> None:
    """Names are looked for on all pages."""
    with Scene(tmp_path) as scene:
        scene.canvas.others = [{"id": 70_000 + one, "name": f"HW {one}"} for one in range(2, 9)]
        push = scene.push(course=course, assignment=assignment)
        assert "HW 1: Heads (70311), course Deep Learning (4021)" in push.plan(scene.wanted()).where
        assert scene.canvas.violations == []


def test_a_name_that_two_have_is_refused_with_their_numbers(tmp_path: Path) -> None:
    """The first of two courses is the wrong one half of the time."""
    with Scene(tmp_path) as scene:
        scene.canvas.courses.append({"id": 5, "name": "Deep Learning", "course_code": "DL-25"})
        scene.canvas.others = [{"id": 6, "name": "HW 1: Heads"}]
        with pytest.raises(CourseError, match="courses 4021, 5"):
            scene.push(course="Deep Learning")
        with pytest.raises(CourseError, match="assignments 70311, 6"):
            scene.push(assignment="HW 1: Heads")


@pytest.mark.parametrize("name", ["HW 1: heads", "HW 1", "99", "../70311", "sis_assignment_id:../../courses"])
def test_a_name_that_nothing_has_gets_an_offer_and_no_guess(tmp_path: Path, name: str) -> None:
    """Not even where only a letter's case differs; and what looks like a path leads nowhere."""
    with Scene(tmp_path) as scene:
        with pytest.raises(CourseError, match="finds no assignment"):
            scene.push(assignment=name)
        assert {one.path for one in scene.canvas.asked} <= {
            "/api/v1/courses/4021",
            "/api/v1/courses/4021/assignments",
            "/api/v1/courses/4021/assignments/99",
            "/api/v1/courses/4021/assignments/sis_assignment_id:..%2F..%2Fcourses",
        }


def test_a_token_that_canvas_does_not_know_is_named_by_its_place(tmp_path: Path) -> None:
    """And with where to get another."""
    with Scene(tmp_path) as scene:
        scene.token = "7053~anothertoken"  # noqa: S105 - of no server
        with pytest.raises(OperatorError, match=r"CANVAS_TOKEN: Canvas does not know this token.*New access"):
            scene.push()


# ---------------------------------------------------------------- who is who


@pytest.mark.parametrize(
    ("student", "details", "user"),
    [
        ("x", {"people": (made_person(Lms.CANVAS, user="503"),)}, "503"),
        ("x", {"people": (made_person(Lms.CANVAS, sis="007"),)}, "503"),
        ("x", {"people": (made_person(Lms.CANVAS, login="dnguyen"),)}, "504"),
        ("x", {"lms_user_id": "502"}, "502"),
        ("x", {"lms_user_id": "sis_user_id:S0002"}, "502"),
        ("x", {"lms_user_id": "sis_login_id:aruiz"}, "501"),
        ("x", {"email": "Cem@example.edu"}, "503"),
        ("aruiz", {}, "501"),
        ("S0004", {}, "504"),
    ],
    ids=str,
)
def test_a_student_is_found_by_what_is_known(
    tmp_path: Path, student: str, details: dict[str, Any], user: str
) -> None:
    """Ids letter for letter: 007 is not 7."""
    with Scene(tmp_path) as scene:
        row = only(scene.plan(made_grade(student, **details)))

    assert (row.key, row.action, row.after) == (user, Action.SEND, "9.5")


@pytest.mark.parametrize(
    ("details", "said"),
    [
        ({"first_name": "Bo", "last_name": "Lindqvist"}, "nobody there has one of their ids"),
        ({"lms_user_id": "7"}, "nobody there has one of their ids"),
        ({"lms_user_id": "sis_user_id:7"}, "nobody there has one of their ids"),
        (
            {"people": (made_person(Lms.CANVAS, user="501", sis="S0002"),)},
            "fits several people there: Lindqvist, Bo, Ruiz, Ana",
        ),
    ],
)
def test_who_cannot_be_told_gets_nothing(tmp_path: Path, details: dict[str, Any], said: str) -> None:
    """It is said why, and what to do; who handed in nothing needs no id."""
    with Scene(tmp_path) as scene:
        row = only(scene.plan(made_grade("zoe", **details)))
        missing = only(scene.plan(made_grade("zoe", MISSING, reason="nothing came", **details)))
        zero = only(scene.plan(made_grade("zoe", MISSING, **details), missing_as_zero=True))
        assert not scene.done(made_grade("zoe", **details))

    assert (row.action, row.key, row.after) == (Action.BLOCKED, "", "9.5")
    assert said in row.reason
    assert "lms_user_id" in row.reason
    assert (missing.action, missing.reason) == (Action.SKIP, "nothing came")
    assert (zero.action, zero.after) == (Action.BLOCKED, "0")


def test_one_person_in_canvas_is_not_two_students_here(tmp_path: Path) -> None:
    """One of the two would get the other's score."""
    with Scene(tmp_path) as scene:
        plan = scene.plan(grade("ana", "9"), made_grade("aruiz", "3"))

    assert [row.action for row in plan.rows] == [Action.BLOCKED, Action.BLOCKED]
    assert all("fits several students: ana, aruiz" in row.reason for row in plan.rows)


def test_people_whom_only_canvas_knows_are_told(tmp_path: Path) -> None:
    """A student who is in one list only is a mistake in one of them."""
    with Scene(tmp_path) as scene:
        plan = scene.plan(grade("ana"), grade("bo"))

    assert any("Müller, Cem" in note and "Nguyễn, Dia" in note for note in plan.notes)


# ---------------------------------------------------------------- what differs


@pytest.mark.parametrize(
    ("has", "points", "action"),
    [
        (None, "0", Action.SEND),
        (0.0, "0", Action.UNCHANGED),
        (9.5, "9.5", Action.UNCHANGED),
        (9.5, "9.50", Action.UNCHANGED),
        (9.504, "9.5", Action.UNCHANGED),
        (9.496, "9.5", Action.UNCHANGED),
        (9.49, "9.5", Action.SEND),
        (9.5, "9.51", Action.SEND),
        (0.1 + 0.2, "0.3", Action.UNCHANGED),
        (9.5, "0", Action.SEND),
    ],
)
def test_a_score_is_sent_if_it_differs(
    tmp_path: Path, has: float | None, points: str, action: Action
) -> None:
    """By more than half of the last decimal: floats and Canvas's own rounding are no difference."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered = has
        row = only(scene.plan(grade("ana", points)))

    assert row.action is action
    assert row.changes_score is (action is Action.SEND)


def test_what_canvas_takes_off_for_late_work_is_no_difference(tmp_path: Path) -> None:
    """The score that was entered counts: compared with the other, it would be sent again for ever."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered, scene.world.work[501].deducted = 9.5, 2.0
        plan = scene.plan(grade("ana"))
        scene.world.work[502].deducted = 1.0
        outcome = scene.done(grade("bo", "8"))["bo"]

    assert only(plan).action is Action.UNCHANGED
    assert any("takes points off for late work itself" in note for note in plan.notes)
    assert (outcome.state, outcome.found) == ("verified", "8")


@pytest.mark.parametrize("state", [MISSING, UNGRADED])
def test_what_has_no_number_is_left_alone(tmp_path: Path, state: GradeState) -> None:
    """Neither zero nor blank: an instructor may have entered a score by hand."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered = 7.0
        plan = scene.plan(grade("ana", state, reason="It waits."), grade("bo", state, reason="It waits."))

    assert [(row.action, row.before, row.after) for row in plan.rows] == [
        (Action.SKIP, "7", "7"),
        (Action.SKIP, "", ""),
    ]
    assert plan.rows[0].reason == "It waits"
    assert plan.to_send == ()


def test_missing_work_is_a_zero_if_that_is_asked_for(tmp_path: Path) -> None:
    """And only missing work; the table shows a score that it replaces."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered = 7.0
        grades = grade("ana", MISSING), grade("bo", MISSING), grade("cem", UNGRADED)
        plan = scene.plan(*grades, missing_as_zero=True)

    assert [(row.action, row.before, row.after) for row in plan.rows] == [
        (Action.SEND, "7", "0"),
        (Action.SEND, "", "0"),
        (Action.SKIP, "", ""),
    ]


def test_a_score_is_taken_away_only_if_that_is_asked_for(tmp_path: Path) -> None:
    """Then it is an action of its own name, and an excuse stays."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered = 7.0
        scene.world.work[502].excused = True
        grades = grade("ana", MISSING), grade("bo", MISSING), grade("cem", MISSING)
        plan = scene.plan(*grades, clear=True)
        assert [row.action for row in plan.rows] == [Action.CLEAR, Action.SKIP, Action.SKIP]
        assert plan.rows[0].after == ""
        assert {name: one.state for name, one in scene.done(*grades, clear=True).items()} == {
            "ana": "verified"
        }
        assert scene.scores()[501] is None
        assert scene.scores()[502] == "EX"


def test_a_score_of_work_that_waits_is_not_taken_away(tmp_path: Path) -> None:
    """It was handed in: what somebody entered meanwhile is more than nothing."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered = 7.0
        plan = scene.plan(grade("ana", UNGRADED, reason="It waits."), clear=True)
        assert [(row.action, row.after, row.reason) for row in plan.rows] == [(Action.SKIP, "7", "It waits")]


def test_an_excuse_in_canvas_is_not_undone_by_a_score(tmp_path: Path) -> None:
    """Canvas would take it away silently; whoever gave it knew why."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].excused = True
        row = only(scene.plan(grade("ana", comment="Well done"), comments=True))
        scene.world.enter(501, "9.5", excuse=False)
        assert scene.scores()[501] == 9.5, "the naive push undoes it"

    assert (row.action, row.before, row.after) == (Action.SKIP, EXCUSED, EXCUSED)
    assert "excused in Canvas" in row.reason


def test_an_excuse_is_sent_once(tmp_path: Path) -> None:
    """Over a score, too: who asks for it means it."""
    with Scene(tmp_path) as scene:
        scene.world.work[501].entered = 3.0
        assert only(scene.plan(grade("ana", GradeState.EXCUSED))).before == "3"
        assert scene.done(grade("ana", GradeState.EXCUSED))["ana"].found == EXCUSED
        assert only(scene.plan(grade("ana", GradeState.EXCUSED))).action is Action.UNCHANGED


# ---------------------------------------------------------------- laws

SCORES = st.decimals(0, 12, places=2)
CASES = st.fixed_dictionaries(
    {
        name: st.tuples(
            st.one_of(st.none(), st.just("EX"), SCORES),
            st.one_of(SCORES.map(str), st.sampled_from([MISSING, UNGRADED, GradeState.EXCUSED])),
        )
        for name in ("ana", "bo", "cem", "dia")
    }
)


@given(case=CASES, wanted=st.fixed_dictionaries({"missing_as_zero": st.booleans(), "clear": st.booleans()}))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_after_a_push_canvas_has_what_the_plan_said_and_nothing_is_left(
    tmp_path: Path, case: dict[str, tuple[Decimal | str | None, str | GradeState]], wanted: dict[str, bool]
) -> None:
    """Rows that are not sent stay as they were; a second plan is empty."""
    grades = [grade(name, points) for name, (_, points) in case.items()]
    with Scene(tmp_path) as scene:
        for user, (before, _) in zip(scene.world.work, case.values(), strict=True):
            scene.world.work[user].excused = before == "EX"
            scene.world.work[user].entered = float(before) if isinstance(before, Decimal) else None
        plan = scene.plan(*grades, **wanted)
        outcomes = scene.done(*grades, **wanted)
        has = {user: EXCUSED if score == "EX" else score for user, score in scene.scores().items()}
        again = scene.plan(*grades, **wanted)

    assert all(one.state == "verified" for one in outcomes.values())
    for row in plan.rows:
        now = has[int(row.key)]
        shown = now if isinstance(now, str) else "" if now is None else str(Decimal(str(now)).normalize() + 0)
        assert Decimal(shown) == Decimal(row.after) if shown[:1].isdigit() else shown == row.after
    assert again.to_send == ()
    assert [row.before for row in again.rows] == [row.after for row in plan.rows]


@pytest.mark.parametrize("seed", range(6))
def test_a_plan_only_reads_whatever_goes_wrong(tmp_path: Path, seed: int) -> None:
    """It is what `--dry-run` does: GET alone, and Canvas is as before."""
    with Scene(tmp_path, Mishaps(seed, 0.4), group_category_id=CATEGORY) as scene:
        scene.world.groups = {1: [501, 502]}
        grades = [grade(name, comment="Well done") for name in ("ana", "bo", "cem", "dia")]
        plan = scene.plan(*grades, comments=True, clear=True, feedback=pages(tmp_path, "ana", "bo"))
        assert len(plan.to_send) == 4
        assert {one.method for one in scene.canvas.asked} == {"GET"}
        assert scene.canvas.changing() == []
        fresh = World([Pupil(id=one.id, name=one.name) for one in scene.world.pupils.values()])
        assert scene.scores() == dict.fromkeys(fresh.work)
        assert all(not work.comments for work in scene.world.work.values())
    assert not (tmp_path / ".autograder").exists()


def test_a_list_that_leads_to_itself_ends(tmp_path: Path) -> None:
    """A page whose next page is itself would be read for ever."""
    with Scene(tmp_path) as scene:
        listing = scene.canvas._list

        def circle(path: str, entries: list[dict[str, Any]], fields: list[tuple[str, str]]) -> Any:
            return listing(path, entries, [(name, value) for name, value in fields if name != "page"])

        scene.canvas._list = circle  # type: ignore[method-assign]
        with pytest.raises(OperatorError, match="answers what nobody can use"):
            scene.plan(grade("ana"))


@pytest.mark.parametrize("pages", ["abcdefghijklmnopqrst", "12121212", "11111111", "1232323"])
@pytest.mark.parametrize("list_", ["search_users", "submissions", "groups", "users"])
def test_pages_without_anybody_and_without_an_end_are_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, list_: str, pages: str
) -> None:
    """Ever new ones, two that lead to each other, one that leads to itself, two behind a first one."""
    monkeypatch.setattr(access, "MOST_PAGES", 12)
    with Scene(tmp_path, group_category_id=CATEGORY) as scene:
        scene.world.groups = {1: [501, 502]}
        routed, following = scene.canvas._routed, list(pages)

        def endless(asked: Asked) -> Answer:
            if not asked.path.endswith(f"/{list_}"):
                return routed(asked)
            link = f'<{scene.canvas.url}{asked.path}?page={following.pop(0)}>; rel="next"'
            return Answer.of([], link=link)

        scene.canvas._routed = endless  # type: ignore[method-assign]
        with pytest.raises(OperatorError, match="answers what nobody can use"):
            scene.plan(grade("ana"))
        assert following


@pytest.mark.parametrize(
    "nonsense", [b"<html>login</html>", b"", b"[]", b'{"id": "x"}', b"[[]]", b"[" * 100_000]
)
def test_answers_that_are_none_of_canvas_are_told_so(tmp_path: Path, nonsense: bytes) -> None:
    """A portal that asks for a login answers everything, with 200."""
    with Scene(tmp_path) as scene:
        routed = scene.canvas._routed

        def answering(asked: Any) -> Any:
            answer = routed(asked)
            return type(answer)(body=nonsense, headers={"Content-Type": "application/json"})

        scene.canvas._routed = answering  # type: ignore[method-assign]
        with pytest.raises(OperatorError, match="answers what nobody can use"):
            scene.push()
