"""
You fill hidden scores with zero, or with a number that is almost zero such as -1e-9; exp(0) is one,
so hidden keys keep their weight.
"""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_any_mask_hides_what_it_says"
HINT = "For which score is exp(score) zero?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -1e-9, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
