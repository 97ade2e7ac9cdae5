"""
You add a bias vector to each projection, as many frameworks do; the count asked for is of the matrices
alone.
"""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "Does x @ W add anything besides the product?"


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    return 4 * (d_model * d_model + d_model)
