"""
Your formula is right, but you count weights for heads that cannot exist: an uneven share is not
refused.
"""

FAMILY = "sizes"
LOSES = "test_parameter_count"
CHECK = "test_uneven_heads_are_refused"
HINT = "What should happen before the formula when n_heads does not divide d_model?"


def parameter_count(d_model, n_heads):
    return 4 * d_model * d_model
