"""You use the mask as a list of positions: whole numbers 0 and 1 pick out rows 0 and 1."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_any_mask_hides_what_it_says"
HINT = "What does scores[:, [0, 1]] pick?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores[:, mask.astype(int)] = -1e9
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
