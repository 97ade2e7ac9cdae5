"""Grades sent over LTI 1.3 Advantage, by the tool itself and without a launch: `pushing` is the way in."""
