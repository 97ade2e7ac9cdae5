"""What our record keeps of a student in Moodle, and what it says of what is there."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

from autograder.lms.push.record import digest
from autograder.lms.push.wanted import words_of

if TYPE_CHECKING:
    from autograder.lms.push.model import Row
    from autograder.lms.push.record import Record

_SENT, _BEGUN = "sent", "begun"
_COMMENT, _NEXT = "comment", "next_comment"


class Marks:
    """
    Notes of what was sent.

    Parameters
    ----------
    record : Record
        Where they are kept.
    """

    def __init__(self, record: Record) -> None:
        self._record = record

    def begin(self, row: Row) -> None:
        """
        Note on the disk what is about to be sent, for who is stopped on the way.

        Parameters
        ----------
        row : Row
            What is sent.

        Raises
        ------
        OperatorError
            If it cannot be written.
        """
        facts = {_BEGUN: _mark(row) if row.changes_score else ""}
        if row.comment:
            facts[_NEXT] = _comment_mark(row.comment)
        self._record.note(row.key, **facts)
        self._record.save()

    def end(self, row: Row) -> None:
        """
        Note on the disk that a row has arrived.

        Parameters
        ----------
        row : Row
            What was sent.

        Raises
        ------
        OperatorError
            If it cannot be written.
        """
        facts = {_SENT: _mark(row), _BEGUN: ""}
        if row.comment:
            facts |= {_COMMENT: _comment_mark(row.comment), _NEXT: ""}
        self._record.note(row.key, **facts)
        self._record.save()

    def were_sent(self, row: Row, *, is_there: bool) -> bool:
        """
        Return whether a row was sent before, where Moodle does not show it.

        Parameters
        ----------
        row : Row
            What is to be sent.
        is_there : bool
            Whether Moodle lists the score: then what was begun has arrived.

        Returns
        -------
        bool
            As our record says.
        """
        known = self._record.of(row.key)
        return _mark(row) in {known.get(_SENT), known.get(_BEGUN) if is_there else None}

    def is_ours(self, user: str, words: str, comment: str) -> bool:
        """
        Return whether a comment in Moodle is one of ours.

        Parameters
        ----------
        user : str
            Moodle's number of the student.
        words : str
            What people read of it.
        comment : str
            The one that is to be there.

        Returns
        -------
        bool
            True if it says the same, or was sent by us.
        """
        known = self._record.of(user)
        return words == words_of(to_html(comment)) or digest(words) in {known.get(_COMMENT), known.get(_NEXT)}


def to_html(comment: str) -> str:
    """Return a plain comment as the HTML that Moodle's editor keeps."""
    return html.escape(comment, quote=False).replace("\n", "<br />")


def _mark(row: Row) -> str:
    return digest(json.dumps([row.after, row.comment, row.file_name]))


def _comment_mark(comment: str) -> str:
    return digest(words_of(to_html(comment)))
