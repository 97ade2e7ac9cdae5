"""You count queries, keys and values only and leave out the output projection that mixes the heads."""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "Which matrix is used after the heads are put side by side?"


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    return 3 * n_heads * d_model * d_k
