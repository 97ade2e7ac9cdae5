"""You count a bare single head without W_O; then the two totals compare four matrices with three."""

LOSES = "test_parameter_count"
HINT = "Which four matrices does the text ask for, even for one head?"


def single_head_parameter_count(d_model):
    return 3 * d_model * d_model
