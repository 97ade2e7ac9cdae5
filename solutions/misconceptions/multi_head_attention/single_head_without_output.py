"""You count a bare single head without W_O; then the two totals compare four matrices with three."""

FAMILY = "counting"
LOSES = "test_parameter_count"
CHECK = "test_one_head_has_an_output_projection_too"
HINT = "Which four matrices does the text ask for, even for one head?"


def single_head_parameter_count(d_model):
    return 3 * d_model * d_model
