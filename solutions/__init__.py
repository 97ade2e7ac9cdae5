"""Solutions of the assignments: references, right alternatives and known mistakes."""
