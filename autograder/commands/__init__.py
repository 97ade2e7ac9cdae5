"""What each command does between its line in `autograder.cli` and the rest of the kit."""
