"""You fill hidden scores with a large positive number, so hidden keys win."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_any_mask_hides_what_it_says"
HINT = "Count the minus signs."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, 1e9, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
