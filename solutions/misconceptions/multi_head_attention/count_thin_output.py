"""You let the output projection read only one head (d_k rows); it reads all heads side by side."""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "What is the shape of the array that W_O is multiplied with?"


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    d_k = d_model // n_heads
    qkv = n_heads * 3 * d_model * d_k
    output = d_k * d_model
    return qkv + output
