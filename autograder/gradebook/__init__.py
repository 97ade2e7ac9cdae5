"""nbgrader's gradebook, read and written without nbgrader."""

from __future__ import annotations

from autograder.gradebook.book import Gradebook
from autograder.gradebook.records import Record
from autograder.gradebook.writing import Entry

__all__ = ["Entry", "Gradebook", "Record"]
