"""You take one narrow head out of eight for the single head; the single head is as wide as the model."""

LOSES = "test_parameter_count"
HINT = "What is d_k when there is only one head?"


def single_head_parameter_count(d_model):
    d_k = d_model // 8
    return 3 * d_model * d_k + d_k * d_model
