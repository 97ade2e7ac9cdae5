"""Feedback on its way back: the archive that each LMS takes, one module for each."""
