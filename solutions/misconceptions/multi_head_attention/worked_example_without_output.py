"""You leave W_O out of the single head, so it seems cheaper than the eight heads."""

LOSES = "test_worked_example"
HINT = "How many matrices does each of your two totals count?"

d_k = 64
n_parameters = 1048576
n_parameters_single_head = 3 * 512**2
