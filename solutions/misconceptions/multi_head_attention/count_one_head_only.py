"""You count the query, key and value matrices of a single head instead of all heads."""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "How often does your formula use the number of heads?"


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    return 3 * d_model * d_k + d_model * d_model
