"""
You count d_k by d_k blocks; each head is narrow in what it produces, but it reads all d_model features
of a token.
"""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "How many rows must a matrix have that x of shape (T, d_model) is multiplied with?"


def parameter_count(d_model, n_heads):
    assert d_model % n_heads == 0
    d_k = d_model // n_heads
    return n_heads * 4 * d_k * d_k
