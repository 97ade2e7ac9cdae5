"""Who is in a course, from the exports of each LMS: one module for each."""

from autograder.lms.rosters.reading import read_roster, roster_of

__all__ = ["read_roster", "roster_of"]
