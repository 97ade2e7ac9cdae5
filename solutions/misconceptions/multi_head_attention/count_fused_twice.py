"""You count the fused matrix of queries, keys and values, and then its three parts once more."""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "Which numbers did you count twice?"


def parameter_count(d_model, n_heads):
    d_k = head_dim(d_model, n_heads)
    fused = d_model * 3 * d_model
    return fused + n_heads * 3 * d_model * d_k + d_model * d_model
