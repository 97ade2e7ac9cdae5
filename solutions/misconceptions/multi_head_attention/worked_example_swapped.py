"""You give the number of heads as the width of a head; d_k is how many features one head has."""

FAMILY = "counting"
LOSES = "test_worked_example"
CHECK = "test_size_of_one_head"
HINT = "How many heads are there, and how wide is one?"

d_k = 8
n_parameters = 4 * 512 * 512
n_parameters_single_head = 4 * 512 * 512
