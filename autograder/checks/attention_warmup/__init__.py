"""The hidden checks of the assignment: of the one test cell that is no classic one."""
