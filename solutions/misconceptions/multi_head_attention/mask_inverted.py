"""You hide what the mask leaves visible: here True means hidden, as in some libraries and unlike others."""

import numpy as np

FAMILY = "masks"
LOSES = "test_forward"
CHECK = "test_any_mask_hides_what_it_says"
HINT = "Which entries of the mask are True: those to hide or those to keep?"


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, scores, -1e9)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
