"""
You multiply the number of weights by the number of heads, although the eight heads share one set of
columns.
"""

FAMILY = "counting"
LOSES = "test_worked_example"
CHECK = "test_parameters_of_eight_heads"
HINT = "Call your own function for this layer and compare."

d_k = 512 // 8
n_parameters = 8 * 4 * 512 * 512
n_parameters_single_head = 4 * 512 * 512
