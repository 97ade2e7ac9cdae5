"""You wrote the number of heads of one example into the loop, so the others never get computed."""

import numpy as np

FAMILY = "sizes"
LOSES = "test_forward"
CHECK = "test_sizes_that_coincide_do_not_matter"
HINT = "Make a layer with 3 heads and look at the shape of attn."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T = x.shape[0]
        Q = self.split_heads(x @ self.Wq)[:2]
        K = self.split_heads(x @ self.Wk)[:2]
        V = self.split_heads(x @ self.Wv)[:2]
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, 2 * self.dk)
        return merged @ self.Wo[: 2 * self.dk], attn
