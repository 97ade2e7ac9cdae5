"""How fast the kit is, and nbgrader beside it; `make bench`."""
