"""
You count full d_model by d_model matrices for every head; the heads share d_model, so more heads do not
mean more weights.
"""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "How many columns of W_Q belong to one head?"


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return n_heads * 4 * d_model**2
