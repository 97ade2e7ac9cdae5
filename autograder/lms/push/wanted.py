"""What is to be in an LMS afterwards, and what that means for one student's score."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from unicodedata import category

from autograder.lms.model import GradeState, points_text
from autograder.lms.push.model import same_score

_NO_TEXT = {"Cc", "Cs"}
"""Categories of characters that are no text: controls, halves of surrogate pairs."""

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from decimal import Decimal
    from pathlib import Path

    from autograder.lms.model import Grade

_TAG = re.compile(
    r"</?(?:a|abbr|b|blockquote|br|code|del|div|em|h[1-6]|hr|i|img|ins|li|ol|p|pre|s|small|span|strong|sub|sup"
    r"|table|tbody|td|th|thead|tr|u|ul)"
    r"(?:\s+[\w:-]+\s*=\s*(?:\"[^\"<>]*\"|'[^'<>]*'))*\s*/?>",
    re.IGNORECASE,
)
"""A tag as LMSs write them; "a<b and c>d" has none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """
    What is to be in an LMS.

    Parameters
    ----------
    assignment : str
        The assignment's name in this course.
    grades : sequence of Grade
        One for each student.
    feedback : mapping of str to Path
        The feedback file of students, by their ids; empty to send none.
    comments : bool
        True to send the grades' comments.
    missing_as_zero : bool
        True to give a zero to who handed in nothing.
    clear : bool
        True to take away scores that the LMS has from who handed in nothing.
    everybody : bool
        False if only some of the course's students were chosen: then others in the LMS are no news.
    """

    assignment: str
    grades: Sequence[Grade]
    feedback: Mapping[str, Path] = field(default_factory=dict)
    comments: bool = False
    missing_as_zero: bool = False
    clear: bool = False
    everybody: bool = True

    @property
    def max_points(self) -> Decimal | None:
        """Points of the assignment; None without a grade."""
        return max((grade.max_points for grade in self.grades), default=None)

    def after(self, grade: Grade, before: str) -> tuple[str | None, str]:
        """
        Return the score that a student is to have.

        Parameters
        ----------
        grade : Grade
            The grade here.
        before : str
            The score in the LMS; empty for none.

        Returns
        -------
        score : str or None
            Equal to `before` if the LMS would not tell the two apart; empty to take it away; None to
            leave what there is.
        reason : str
            Why, where it is not plain.
        """
        zero = grade.state is GradeState.MISSING and self.missing_as_zero
        if grade.points is None and not zero:
            reason = grade.reason.rstrip(".") or "there is no score"
            if self.clear and before and grade.state is GradeState.MISSING:
                return "", f"{reason}; the score that is there is taken away"
            return None, reason
        after = "0" if grade.points is None else points_text(grade.points)
        return (before if same_score(before, after) else after), ""

    def comment(self, grade: Grade) -> str:
        """Return the comment that goes with a grade: plain lines; empty for none."""
        if not self.comments or grade.state is not GradeState.GRADED:
            return ""
        lines = grade.comment.replace("\r\n", "\n").replace("\r", "\n")
        # Joiners stay, which Persian and Hindi are written with.
        kept = (char for char in lines if char in "\n\t" or category(char) not in _NO_TEXT)
        return "".join(kept).strip()


def words_of(text: str, *, is_html: bool = True) -> str:
    """Return what people read of a comment: tags go first, for what is written as `&lt;` is no tag."""
    return " ".join((html.unescape(_TAG.sub(" ", text)) if is_html else text).split())


def says(told: str, ours: str) -> bool:
    """Return whether what an LMS tells, as plain text or as HTML, is a plain comment of ours."""
    return words_of(ours, is_html=False) in {words_of(told, is_html=False), words_of(told)}
