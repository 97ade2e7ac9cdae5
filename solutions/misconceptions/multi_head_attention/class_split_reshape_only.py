"""
Your class splits by reshape alone, so a head mixes the features of different tokens and the maps
compare pieces of tokens.
"""

FAMILY = "layout"
LOSES = "test_forward"
CHECK = "test_split_heads_gives_each_head_its_columns"
HINT = "Compare self.split_heads(x)[0] with the first d_k columns of x."


class MultiHeadAttention:
    def split_heads(self, x):
        return x.reshape(self.h, x.shape[0], self.dk)
