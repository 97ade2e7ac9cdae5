"""What the smaller commands do: one module each, and what they need."""
