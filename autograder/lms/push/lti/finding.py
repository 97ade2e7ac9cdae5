"""Which line item is an assignment's: the one that is named, one that the tool made, else a new one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pylti1p3.lineitem import LineItem

from autograder.errors import ConfigError, CourseError, ServerError, UncertainError
from autograder.lms.push.lti.access import Column
from autograder.lms.push.lti.service import PlatformRefusedError

if TYPE_CHECKING:
    from decimal import Decimal

    from autograder.lms.push.lti.access import Access

TAG = "autograder"
"""By this the tool knows its line items among its others."""
MAKING_TRIES = 3
"""How often a line item is asked for whose making nobody confirms, each time after looking for it."""

_NO_RIGHT = {400, 401, 403}


def find_column(access: Access, assignment: str) -> Column | None:
    """
    Find an assignment's line item.

    Parameters
    ----------
    access : Access
        The platform.
    assignment : str
        The assignment's name in this course.

    Returns
    -------
    Column or None
        None if there is none yet.

    Raises
    ------
    CourseError
        If it cannot be told which one is meant, or the registration names no line items.
    ServerError
        If the platform does not tell.
    """
    registration = access.registration
    named = registration.item(assignment).lineitem
    if named:
        try:
            return access.column(named)
        except PlatformRefusedError as refused:
            if refused.status not in _NO_RIGHT:
                raise
            # Who may send scores need not be allowed to look.
            return Column(url=named)
    if not registration.lineitems:
        what = f"neither lineitems nor the lineitem of {assignment} is there"
        raise ConfigError(registration.where, what, "One of them says where scores go.")
    label = label_of(access, assignment)
    found = [column for column in access.columns() if _is_of(column, assignment, label)]
    if len(found) > 1:
        what = f"several line items are of {assignment}: {', '.join(column.url for column in found)}"
        remedy = f"Name the one that is meant as lineitem of [assignments.{assignment}]."
        raise CourseError(registration.where, access.connector.session.scrubbed(what), remedy)
    return found[0] if found else None


def make_column(access: Access, assignment: str, max_points: Decimal) -> Column:
    """
    Make an assignment's line item.

    Parameters
    ----------
    access : Access
        The platform.
    assignment : str
        The assignment's name in this course.
    max_points : Decimal
        Its points.

    Returns
    -------
    Column
        The only one of the assignment, also where an answer was lost.

    Raises
    ------
    CourseError
        If the assignment has no points.
    ServerError
        If the platform does not make it.
    """
    if max_points <= 0:
        raise CourseError(assignment, "has no points, and a line item needs some", "Give its cells points.")
    item = LineItem()
    item.set_label(label_of(access, assignment)).set_score_maximum(number(max_points))
    item.set_resource_id(assignment).set_tag(TAG)
    for attempt in range(MAKING_TRIES):
        try:
            return access.make_column(item)
        except UncertainError as error:
            access.clock.sleep(2.0**attempt)
            found = find_column(access, assignment)
            if found is not None:
                return found
            problem = error
    raise ServerError(problem.where, problem.what, problem.remedy)


def label_of(access: Access, assignment: str) -> str:
    """Return what people see of an assignment's line item."""
    return access.registration.item(assignment).label or assignment


def number(points: Decimal) -> float:
    """Return points as JSON has them: whole ones without a fraction, which Open edX wants."""
    return int(points) if points == points.to_integral_value() else float(points)


def _is_of(column: Column, assignment: str, label: str) -> bool:
    # Moodle 3 kept the tag alone.
    same = column.resource_id == assignment or (not column.resource_id and column.label == label)
    return column.tag == TAG and same
