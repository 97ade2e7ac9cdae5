"""Your class deals the columns out to the heads in turn; head i owns the column block i of W_Q."""

FAMILY = "layout"
LOSES = "test_forward"
CHECK = "test_split_heads_gives_each_head_its_columns"
HINT = "Compare self.split_heads(x)[0] with the first d_k columns of x."


class MultiHeadAttention:
    def split_heads(self, x):
        T = x.shape[0]
        return x.reshape(T, self.dk, self.h).transpose(2, 0, 1)
