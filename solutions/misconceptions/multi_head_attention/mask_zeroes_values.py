"""You set the values of hidden tokens to zero, but their scores still take weight from the others."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_any_mask_hides_what_it_says"
HINT = "Do the weights of the visible keys sum to one?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        attn = softmax(scores)
        mixed = attn @ V
        if mask is not None:
            mixed = np.where(mask, 0, attn) @ V
        merged = mixed.transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
