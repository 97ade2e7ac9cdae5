"""
Downloads opened: a zip, a tar or a folder, of which nothing is trusted.

Nothing is ever extracted. An archive lists entries whose names are safe to be
written, says what it left out and why, and hands out bytes within limits.
"""

from autograder.lms.archive.opening import open_archive, open_inner
from autograder.lms.archive.reading import OpenArchive

__all__ = ["OpenArchive", "open_archive", "open_inner"]
