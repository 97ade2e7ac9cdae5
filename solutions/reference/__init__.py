"""Reference solutions, written for reading; only the hidden checks import them."""
