"""Grades on their way to other programs: one module for each format."""
