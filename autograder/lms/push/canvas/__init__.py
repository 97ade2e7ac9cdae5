"""Grades, comments and feedback sent to Canvas: `pushing` is the way in."""
