"""nbgrader's gradebook, read and written without nbgrader."""

from __future__ import annotations

from autograder.gradebook.book import Gradebook

__all__ = ["Gradebook"]
