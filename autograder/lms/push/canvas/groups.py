"""
Groups that Canvas gives one score: whose scores a score of one member changes.

A score that is entered for one goes to all, also to who is in no table of ours.
So nothing is sent of which another member would get a score that they are not to have.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from autograder.errors import RefusedError
from autograder.lms.push.canvas.finding import read_groups
from autograder.lms.push.model import EXCUSED, Action, same_score

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from autograder.lms.push.canvas.access import Access
    from autograder.lms.push.canvas.finding import Held
    from autograder.lms.push.model import Row

_WANTING = (Action.SEND, Action.CLEAR, Action.UNCHANGED)
_SEPARATELY = "let Canvas grade each student of a group separately"


class Groups:
    """
    Who is in which group.

    Parameters
    ----------
    names : mapping of int to str
        The group's name by Canvas's numbers of users.
    """

    def __init__(self, names: Mapping[int, str]) -> None:
        self.members: dict[str, set[int]] = defaultdict(set)
        """Canvas's numbers of users by the group's name."""
        self._names = names
        for user, name in names.items():
            self.members[name].add(user)

    def fellows(self, row: Row) -> set[int]:
        """Return who else gets the score that a row gives."""
        if not gives(row):
            return set()
        return self.members.get(self._names.get(int(row.key), ""), set()) - {int(row.key)}


def is_grouped(facts: Mapping[str, Any]) -> bool:
    """Return whether Canvas gives all of a group one score."""
    return bool(facts.get("group_category_id")) and not facts.get("grade_group_students_individually")


def gives(row: Row) -> bool:
    """Return whether a row enters a score, or takes one away; an excuse is nobody else's."""
    return bool(row.key) and row.changes_score and row.after != EXCUSED


def changes(held: Held | None, after: str) -> bool:
    """Return whether a member's score would be another one: they have it not, and are not excused."""
    # Of whom Canvas shows nothing, nobody knows what they have.
    return held is None or not (held.excused or same_score(held.score, after))


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """
    What is known of the members of groups.

    Parameters
    ----------
    held : mapping of int to Held
        What Canvas has, by its numbers of users.
    absent : collection of str
        The students who handed in nothing: one of a group hands in for all, so they get the group's score
        if they have none, and their rows say so.
    name : callable
        Returns what Canvas calls a user.
    """

    held: Mapping[int, Held]
    absent: Collection[str]
    name: Callable[[int], str]


def by_group(access: Access, facts: Mapping[str, Any], rows: Sequence[Row], known: Known) -> list[Row]:
    """
    Return rows as they are where members of a group get one score.

    Parameters
    ----------
    access : Access
        Which Canvas.
    facts : mapping
        What Canvas says of the assignment.
    rows : sequence of Row
        One for each student, as if each had a score of their own.
    known : Known
        What Canvas has, and who handed in nothing.

    Returns
    -------
    list of Row
        Those are blocked that would change the score of anybody who is not to get it.
    """
    try:
        groups = Groups(read_groups(access, facts["group_category_id"]))
    except RefusedError as problem:
        reason = f"all members of a group get one score, and {problem.what[0].lower()}{problem.what[1:]}"
        return [_blocked(row, reason) if row.changes_score else row for row in rows]
    result = {row.student: row for row in rows}
    by_user = {int(row.key): row for row in rows if row.key}
    for group, members in groups.members.items():
        mine = {user: by_user.get(user) for user in sorted(members)}
        result |= {row.student: row for row in _of_one_group(group, mine, known)}
    return [result[row.student] for row in rows]


def _of_one_group(group: str, members: Mapping[int, Row | None], known: Known) -> list[Row]:
    """Return the rows of a group that become others; of some members there is none."""
    sent = {user: row for user, row in members.items() if row and row.action in _WANTING}
    giving = [row for row in sent.values() if gives(row)]
    scores = sorted({row.after for row in sent.values() if row.after != EXCUSED})
    if not giving:
        return []
    one = f"Canvas gives all of group {group} one score"
    if len(scores) > 1:
        said = ", ".join(score or "none" for score in scores)
        return [_blocked(row, f"{one}, and here they have {said}; {_SEPARATELY}") for row in giving]
    others = {user for user in members if user not in sent and changes(known.held.get(user), scores[0])}
    along = {user: row for user, row in members.items() if user in others and _comes_along(row, known)}
    if others - set(along):
        whose = "; ".join(sorted(known.name(user) for user in others - set(along)))
        reason = f"{one}, also {whose}, to whom none is sent here; send it to all of them, or {_SEPARATELY}"
        return [_blocked(row, reason) for row in giving]
    rows = [row for row in along.values() if row is not None]
    return [replace(row, action=Action.SEND, after=scores[0], reason=f"{row.reason}; {one}") for row in rows]


def _comes_along(row: Row | None, known: Known) -> bool:
    """Return whether a member without a score gets the group's: they handed in nothing."""
    if row is None or row.action is not Action.SKIP or row.before:
        return False
    return row.student in known.absent and int(row.key) in known.held


def _blocked(row: Row, reason: str) -> Row:
    return replace(row, action=Action.BLOCKED, comment="", file=None, file_name="", reason=reason)
