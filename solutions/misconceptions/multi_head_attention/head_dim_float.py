"""You divide with /, which gives a float even when nothing is left over: a head cannot have 3.0 columns."""

FAMILY = "types"
LOSES = "test_head_dim"
CHECK = "test_size_is_an_integer"
HINT = "Which of Python's two division operators gives an integer?"


def head_dim(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("d_model must be divisible by n_heads")
    return d_model / n_heads
