"""You leave W_O out of the single head, so it seems cheaper than the eight heads."""

FAMILY = "counting"
LOSES = "test_worked_example"
CHECK = "test_parameters_of_a_single_head"
HINT = "How many matrices does each of your two totals count?"

d_k = 64
n_parameters = 1048576
n_parameters_single_head = 3 * 512**2
