"""You copied the number that a framework prints: it includes four bias vectors."""

FAMILY = "counting"
LOSES = "test_worked_example"
CHECK = "test_parameters_of_eight_heads"
HINT = "By how much does your number differ from four square matrices?"

d_k = 64
n_parameters = 1_050_624
n_parameters_single_head = 1_050_624
