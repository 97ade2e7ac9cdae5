"""
A class in an LMS and in our course, not quite the same people, and what must hold of any export between them.

An oracle is a copy of one LMS: it has `scores`, gives its own file with `download` and takes ours
with `upload`. The laws here are the same for all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from hypothesis import assume
from hypothesis import strategies as st
from made_grades import MAXIMA, made_grade, made_request
from nasty_people import NASTY, TWINS, classes

from autograder.lms.exports.model import WHOLE, Action
from autograder.lms.model import GradeState, Lms, rounded
from autograder.lms.people import fold, full_names
from autograder.lms.sheets import parse_sheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nasty_people import Nasty

    from autograder.lms.exports.model import Export, Request
    from autograder.lms.model import Grade

Scores = dict[tuple[str, str], Decimal]
"""By login and title what the LMS has."""

CUT = "unless the item can exceed"
"""Of the reason of a score that an LMS may cut, and that is sent again as nobody knows whether it did."""

OTHER = "Another item"
"""An item that no export is about; its scores stay."""

COMMENTS = (
    "",
    "well done",
    "=HYPERLINK(1)",
    "+1 for the proof",
    "-1: no proof",
    "@ana",
    'he said "no"; twice, even',
    "one line\nand another\r\nand a third",
    "ends in a backslash\\",
    '\\"',
    "<script>alert(1)</script> & more",
    "a\ttab",
    "NUL \x00 and half \ud800 of a letter",
    "Ünïcode 李 \u202emarks",
)


@dataclass(slots=True)
class Imported:
    """What an LMS says of a file: why it refuses it, items that it would make, whom it does not know."""

    errors: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


class Oracle(Protocol):
    """A copy of an LMS."""

    scores: Scores

    def download(self) -> bytes:
        """Return the instructor's own export."""
        ...

    def upload(self, data: bytes) -> Imported:
        """Take a file as the LMS does; nothing is changed if it is refused."""
        ...

    def title(self, header: str) -> str:
        """Return which item a header of `download` is of."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """
    Who is where, and what is asked for.

    Parameters
    ----------
    enrolled : tuple of Nasty
        In the LMS.
    grades : tuple of Grade
        In the course; a student's id is their login.
    titles : mapping of str to str
        What the LMS calls the whole, or each notebook.
    before : dict
        What the LMS has.
    mark : str
        Its decimal mark.
    asked : mapping of str to object
        Of the request.
    """

    enrolled: tuple[Nasty, ...]
    grades: tuple[Grade, ...]
    titles: Mapping[str, str]
    before: Scores
    mark: str = "."
    asked: Mapping[str, Any] = field(default_factory=dict)

    def request(self, like: bytes | None, **options: str) -> Request:
        """Return what is asked for, with a file of the LMS."""
        sheet = None if like is None else parse_sheet(like, "theirs.csv")
        return made_request(
            self.grades, sheet, columns=dict(self.titles), options=options, **dict(self.asked)
        )

    def maximum(self, title: str) -> Decimal:
        """Return what an item is worth here."""
        return {name: MAXIMA.get(key, Decimal(10)) for key, name in self.titles.items()}.get(
            title, Decimal(7)
        )


POINTS = st.decimals(0, 10, places=2).map(str)


@st.composite
def _grades(draw: st.DrawFn, lms: Lms, people: Sequence[Nasty]) -> tuple[Grade, ...]:
    """Return a grade for each; half of them are known by the LMS's ids, all by their login."""
    states = st.sampled_from([GradeState.MISSING, GradeState.EXCUSED, GradeState.UNGRADED])
    grades = (
        made_grade(
            one.login,
            draw(POINTS | states),
            first_name=one.first,
            last_name=one.last,
            email=one.email,
            people=draw(st.sampled_from([(), (one.person(lms),)])),
            comment=draw(st.sampled_from(COMMENTS)),
        )
        for one in people
    )
    # Now and then one notebook has no number beside one that has: its cell must not cost a score.
    return tuple(
        replace(grade, parts=(replace(grade.parts[0], points=None), *grade.parts[1:])) if one_lacks else grade
        for grade in grades
        for one_lacks in [draw(st.integers(0, 4)) == 0]
    )


def _one_might_be_taken_for_another(strangers: Sequence[Nasty], left: Sequence[Nasty]) -> bool:
    """Return whether somebody only the LMS knows is called like somebody whom only the course knows."""
    names = [
        {fold(way) for one in group for way in full_names(one.person(Lms.PLAIN))}
        for group in (strangers, left)
    ]
    return bool(names[0] & names[1])


@st.composite
def scenes(
    draw: st.DrawFn, /, lms: Lms, titles: st.SearchStrategy[str], *, whole: bool = False, **asked: Any
) -> Scene:
    """Return a class, in part in the LMS and in part in the course, with scores here and there."""
    everybody = draw(
        classes() | st.lists(st.sampled_from((*NASTY, *TWINS)), max_size=6, unique=True).map(tuple)
    )
    where = [draw(st.sampled_from(["both", "both", "both", "lms", "course"])) for _ in everybody]
    enrolled = [one for one, place in zip(everybody, where, strict=True) if place != "course"]
    ours = [one for one, place in zip(everybody, where, strict=True) if place != "lms"]
    assume(
        not _one_might_be_taken_for_another(
            [one for one in enrolled if one not in ours], [one for one in ours if one not in enrolled]
        )
    )
    by_exercise = not whole and draw(st.booleans())
    keys = list(MAXIMA) if by_exercise else [WHOLE]
    named = draw(
        st.lists(titles.filter(lambda one: one != OTHER), min_size=len(keys), max_size=len(keys), unique=True)
    )
    grades = draw(_grades(lms, ours))
    ours_now = {grade.student: grade.points for grade in grades}
    before = {}
    for one in enrolled:
        for title in (*named, OTHER):
            has = draw(st.none() | st.decimals(0, 7, places=3) | st.just(ours_now.get(one.login)))
            if has is not None:
                before[one.login, title] = has
    return Scene(
        enrolled=tuple(enrolled),
        grades=grades,
        titles=dict(zip(keys, named, strict=True)),
        before=before,
        mark=draw(st.sampled_from(".,")),
        asked={"by_exercise": by_exercise, "missing_as_zero": draw(st.booleans())} | asked,
    )


def assert_told_is_done(
    scene: Scene, oracle: Oracle, exported: Export, cut: Callable[[str, Decimal], Decimal]
) -> None:
    """
    Upload an export, and compare what it said with what the LMS did.

    Parameters
    ----------
    scene, oracle, exported
        The class, the LMS with its scores, and the files.
    cut : callable
        What the LMS makes of a score above an item's maximum, by title and score.
    """
    before = dict(oracle.scores)
    for file in exported.files:
        imported = oracle.upload(file.data)
        assert (imported.errors, imported.created, imported.unknown) == ([], [], [])
    here = {one.login for one in scene.enrolled}
    told = {(change.student, oracle.title(change.column)): change for change in exported.changes}
    pairs = {(grade.student, title) for grade in scene.grades for title in scene.titles.values()}
    strangers = len(here - {grade.student for grade in scene.grades}) * len(scene.titles)
    assert len(exported.changes) == len(pairs) + strangers
    assert pairs <= told.keys()
    may_change = set()
    for grade in scene.grades:
        for key, title in scene.titles.items():
            change = told[grade.student, title]
            was, now = (scores.get((grade.student, title)) for scores in (before, oracle.scores))
            sent = grade.student in here and (
                (grade.state is GradeState.GRADED and points_of(grade, key) is not None)
                or (grade.state is GradeState.MISSING and scene.asked["missing_as_zero"])
            )
            assert sent == (change.action is not Action.SKIPPED)
            if change.action is Action.APPLIED:
                may_change.add((grade.student, title))
                value = Decimal(change.after.replace(",", "."))
                assert now == cut(title, value)
                assert was is None or rounded(was) != value
            else:
                assert change.action in {Action.UNCHANGED, Action.SKIPPED}
                assert change.reason or change.action is Action.UNCHANGED
    changed = {
        key for key in before.keys() | oracle.scores.keys() if before.get(key) != oracle.scores.get(key)
    }
    assert changed <= may_change
    assert all(change.action is Action.SKIPPED for key, change in told.items() if key not in pairs)


def assert_a_round_trip_changes_nothing_else(
    scene: Scene, oracle: Oracle, export: Callable[[Request], Export], **options: str
) -> None:
    """Somebody works in the LMS after the upload; a second export takes none of their work away."""
    skipped = [
        one.login for one in scene.enrolled if not any(grade.student == one.login for grade in scene.grades)
    ]
    for login in skipped:
        for title in scene.titles.values():
            oracle.scores[login, title] = Decimal("1.25")
    for one in scene.enrolled:
        oracle.scores[one.login, OTHER] = Decimal("6.5")
    before = dict(oracle.scores)

    again = export(scene.request(oracle.download(), **options))
    for file in again.files:
        assert not oracle.upload(file.data).errors

    assert oracle.scores == before
    new = [change for change in again.changes if change.action in {Action.APPLIED, Action.CLEARED}]
    assert not [change for change in new if CUT not in change.reason]


def points_of(grade: Grade, key: str) -> Decimal | None:
    """Return the points of a notebook, or of the whole."""
    return grade.points if key == WHOLE else {part.name: part.points for part in grade.parts}[key]


def uncut(_: str, value: Decimal) -> Decimal:
    """Return a score as it was sent."""
    return value


def rescored(scene: Scene, student: str, points: str) -> Scene:
    """Return a scene in which one student has other points."""
    grades = tuple(
        made_grade(student, points, people=grade.people) if grade.student == student else grade
        for grade in scene.grades
    )
    return replace(scene, grades=grades)
