"""One submission, or one notebook, from what was handed in to its result."""
