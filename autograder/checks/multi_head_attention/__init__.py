"""The hidden checks of the assignment, one pytest module for each test cell."""
