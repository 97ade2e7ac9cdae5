"""Grades, comments and feedback sent to Moodle by its web services: `pushing` is the way in."""
