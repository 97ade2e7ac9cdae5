"""Grades as files that an LMS imports: one module for each format, see `model.Format`."""
