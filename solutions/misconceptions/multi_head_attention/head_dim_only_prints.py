"""You print a warning for an uneven share but go on: the caller gets None instead of an error."""

FAMILY = "sizes"
LOSES = "test_head_dim"
CHECK = "test_uneven_heads_are_refused"
HINT = "What does the caller hold in its hand after your message is printed?"


def head_dim(d_model, n_heads):
    if d_model % n_heads != 0:
        print("Error: d_model must be divisible by n_heads")
        return None
    return d_model // n_heads
