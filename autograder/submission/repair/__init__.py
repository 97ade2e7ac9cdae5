"""
Repair of a submitted notebook, so that it can be graded whatever happened to it.

Students duplicate, split, merge, delete, move and retype cells; editors drop
the metadata that nbgrader relies on; some change a test on purpose. Every cell
of the release is found again: by its grade_id, else its cell id, else its text,
else what it defines, else its place. Locked cells get the instructor's source.
What was not a plain accident of saving is told. Nothing is executed, nothing
raises, and a repaired notebook is repaired to itself.

`work` holds a notebook on its way. It goes through `cleaning`, `merges`,
`splits`, `matching` with `copies`, `arranging`, `answers` with `written` and
`typed`, `changes` and `finishing`, in this order.
"""

from autograder.submission.repair.repairing import repair

__all__ = ["repair"]
