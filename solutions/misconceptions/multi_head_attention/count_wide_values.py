"""You make the values of every head d_model wide; they are d_k wide, as queries and keys are."""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_all_four_projections_are_counted"
HINT = "Which shape has W_V of one head?"


def parameter_count(d_model, n_heads):
    d_k = head_dim(d_model, n_heads)
    return n_heads * (2 * d_model * d_k + d_model * d_model) + d_model * d_model
