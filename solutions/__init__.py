"""Known solutions of the assignments: the reference, right alternatives and misconceptions."""
