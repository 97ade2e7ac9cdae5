"""What a platform lets the tool do: line items, scores and results (AGS), by pylti1p3's messages."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from pylti1p3.assignments_grades import AssignmentsGradesService
from pylti1p3.exception import LtiException
from pylti1p3.lineitem import LineItem

from autograder.errors import ServerError
from autograder.lms.model import read_number
from autograder.lms.push.lti.paging import same_server
from autograder.lms.push.lti.service import (
    LINE_ITEMS,
    LINE_ITEMS_READ,
    RESULTS,
    SCORES,
    Connector,
    PlatformRefusedError,
    as_object,
)
from autograder.lms.push.web import DEFAULT_CLOCK, DEFAULT_POLICY, Clock, Policy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from decimal import Decimal

    from pylti1p3.assignments_grades import TAssignmentsGradersData
    from pylti1p3.grade import Grade
    from pylti1p3.lineitem import TLineItem

    from autograder.lms.push.lti.keys import ToolKey
    from autograder.lms.push.lti.registration import Registration

ITEM_TYPE = "application/vnd.ims.lis.v2.lineitem+json"
RESULTS_TYPE = "application/vnd.ims.lis.v2.resultcontainer+json"
_MOST_DIGITS = 6
"""Digits before the point of a score that is divided by its maximum."""
MOST = 200_000
"""Entries of a list that are read: no course has as many."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """
    A line item as the platform tells of it: a column of its gradebook.

    Parameters
    ----------
    url : str
        Its id, an address.
    label : str
        What people see.
    maximum : Decimal or None
        Its points; None if the platform does not say.
    resource_id, tag : str
        What the tool gave it; may be empty.
    """

    url: str
    label: str = ""
    maximum: Decimal | None = None
    resource_id: str = ""
    tag: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """
    What a platform has for a student in a line item.

    Parameters
    ----------
    share : Decimal or None
        The score divided by its maximum; None if the platform tells none.
    comment : str or None
        The comment as it is told; None if the platform tells none.
    """

    share: Decimal | None = None
    comment: str | None = None


class _Grades(AssignmentsGradesService):
    """The library's service, for addresses with any query."""

    @staticmethod
    def _add_url_path_ending(url: str, url_path_ending: str) -> str:
        return below(url, url_path_ending)


class Access:
    """
    A platform that can be asked.

    Parameters
    ----------
    registration : Registration
        The tool as the platform knows it.
    key : ToolKey
        Its private key.
    policy : Policy, optional
        Bounds of requests.
    clock : Clock, optional
        Time, as it passes.
    wall : callable, optional
        Time, as calendars count it: seconds since 1970.
    """

    def __init__(
        self,
        registration: Registration,
        key: ToolKey,
        *,
        policy: Policy = DEFAULT_POLICY,
        clock: Clock = DEFAULT_CLOCK,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.registration = registration
        self.connector = Connector(registration, key, policy=policy, clock=clock)
        self.clock = clock
        self.wall = wall
        self._items_scope = ""

    @property
    def may_make_columns(self) -> bool:
        """Whether the platform lets the tool make line items."""
        return self._scope_of_items() == LINE_ITEMS

    def columns(self) -> Iterator[Column]:
        """
        Yield the line items of the course that the tool may see.

        Yields
        ------
        Column
            In the platform's order.

        Raises
        ------
        ServerError
            If the platform does not tell.
        """
        url = self.registration.lineitems
        service = self._service(self._scope_of_items(), lineitems=url)
        where = url.partition("?")[0]
        with _understood(where):
            for count, told in enumerate(service.get_lineitems()):
                if count == MOST:
                    raise ServerError(where, f"names more than {MOST} line items", "Check lineitems.")
                yield _column(LineItem(cast("TLineItem", as_object(told, where))), url)

    def column(self, url: str) -> Column:
        """
        Return a line item.

        Parameters
        ----------
        url : str
            Its id.

        Returns
        -------
        Column
            As the platform tells of it.

        Raises
        ------
        ServerError
            If the platform does not tell.
        """
        answer = self.connector.make_service_request([self._scope_of_items()], url, accept=ITEM_TYPE)
        told = as_object(answer["body"], url.partition("?")[0])
        return _column(LineItem(cast("TLineItem", told | {"id": url})), url)

    def make_column(self, item: LineItem) -> Column:
        """
        Make a line item.

        Parameters
        ----------
        item : LineItem
            What it is to be.

        Returns
        -------
        Column
            As the platform has made it.

        Raises
        ------
        ServerError
            If the platform does not; `UncertainError` if it may have.
        """
        url = self.registration.lineitems
        with _understood(url.partition("?")[0]):
            return _column(self._service(LINE_ITEMS, lineitems=url).create_lineitem(item), url)

    def post(self, column: str, grade: Grade) -> None:
        """
        Send a score.

        Parameters
        ----------
        column : str
            The line item's id.
        grade : Grade
            The score.

        Raises
        ------
        ServerError
            If the platform does not take it; `UncertainError` if it may have.
        """
        self._service(SCORES, lineitem=column).put_grade(grade)

    def results(self, column: str, user: str = "") -> dict[str, Result]:
        """
        Return what students have in a line item.

        Parameters
        ----------
        column : str
            The line item's id.
        user : str
            Whose; everybody's if empty. Some platforms tell of others, too.

        Returns
        -------
        dict of str to Result
            By the student's id in LTI.

        Raises
        ------
        ServerError
            If the platform does not tell.
        """
        url = below(column, "results")
        if user:
            url += ("&" if "?" in url else "?") + urlencode({"user_id": user})
        where = url.partition("?")[0]
        found: dict[str, Result] = {}
        for page in self.connector.get_paginated_data([RESULTS], url, accept=RESULTS_TYPE):
            if not isinstance(page["body"], list) or len(found) > MOST:
                raise ServerError(where, "the platform answers no list of results", "Check the address.")
            for told in page["body"]:
                result = as_object(told, where)
                found[str(result.get("userId", ""))] = _result(result, where)
        return found

    def _service(self, scope: str, **where: str) -> AssignmentsGradesService:
        told = {"scope": [scope], **where}
        return _Grades(self.connector, cast("TAssignmentsGradersData", told))

    def _scope_of_items(self) -> str:
        """Return what tokens for line items are asked for: all that the platform grants."""
        if not self._items_scope:
            try:
                self.connector.get_access_token([LINE_ITEMS])
                self._items_scope = LINE_ITEMS
            except PlatformRefusedError as refused:
                try:
                    self.connector.get_access_token([LINE_ITEMS_READ])
                except PlatformRefusedError:
                    raise refused from None
                self._items_scope = LINE_ITEMS_READ
        return self._items_scope


def below(url: str, name: str) -> str:
    """Return the address of a service of a line item: a path goes before the query."""
    path, mark, query = url.partition("?")
    return f"{path.rstrip('/')}/{name}{mark}{query}"


@contextmanager
def _understood(where: str) -> Iterator[None]:
    """Turn what the library makes of an answer of another kind into an error of the kit."""
    try:
        yield
    except LtiException:
        raise ServerError(where, "the platform answers what nobody can use", "Check the address.") from None


def _column(item: LineItem, base: str) -> Column:
    url, maximum = item.get_id(), item.get_score_maximum()
    if not isinstance(url, str) or not url.isprintable() or " " in url:
        raise ServerError(
            base.partition("?")[0],
            "the platform names a line item without an id",
            "Tell its operator.",
        )
    return Column(
        url=same_server(url, base),
        label=str(item.get_label() or ""),
        maximum=_number(maximum),
        resource_id=str(item.get_resource_id() or ""),
        tag=str(item.get_tag() or ""),
    )


def _result(told: Mapping[str, Any], where: str) -> Result:
    score, comment = told.get("resultScore"), told.get("comment")
    share = None
    if score is not None:
        given, maximum = _number(score), _number(told.get("resultMaximum", 1))
        share = None if given is None or not maximum else given / maximum
        if share is None or share.adjusted() > _MOST_DIGITS:
            what = "the platform tells a result that is no number"
            raise ServerError(where, what, "Look at it in the LMS.")
    return Result(share=share, comment=comment if isinstance(comment, str) else None)


def _number(value: object) -> Decimal | None:
    try:
        return read_number(value)
    except ValueError:
        return None
