"""What students hand in: which file is which notebook, how it is repaired, and what lies astray."""
