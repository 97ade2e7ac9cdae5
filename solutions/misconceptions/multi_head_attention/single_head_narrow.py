"""You take one narrow head out of eight for the single head; the single head is as wide as the model."""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_one_head_has_an_output_projection_too"
HINT = "What is d_k when there is only one head?"


def single_head_parameter_count(d_model):
    d_k = d_model // 8
    return 3 * d_model * d_k + d_k * d_model
