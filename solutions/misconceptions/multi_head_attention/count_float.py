"""You compute the head size with /, and so the count becomes a float."""

FAMILY = "types"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "What is the type of 6 / 2?"


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model / n_heads
    return 3 * n_heads * d_model * d_k + d_model * d_model
