"""You remember results by the shape of x only, so another x of the same shape gets the old heads."""

FAMILY = "state"
LOSES = "test_split_heads"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Call it twice with different numbers of the same shape."


def split_heads(x, n_heads, cache={}):
    T, d_model = x.shape
    if d_model % n_heads != 0:
        raise ValueError("n_heads must divide d_model")
    if (T, d_model, n_heads) not in cache:
        cache[T, d_model, n_heads] = x.reshape(T, n_heads, d_model // n_heads).transpose(1, 0, 2).copy()
    return cache[T, d_model, n_heads]
