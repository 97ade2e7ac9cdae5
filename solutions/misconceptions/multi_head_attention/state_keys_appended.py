"""You keep keys and values of earlier calls and attend to them too."""

import numpy as np

FAMILY = "state"
LOSES = "test_forward"
CHECK = "test_calls_do_not_disturb_each_other"
HINT = "Call forward twice and look at the shape of attn."


class MultiHeadAttention:
    def forward(self, x, mask=None):
        T, d_model = x.shape
        Q = self.split_heads(x @ self.Wq)
        K = self.split_heads(x @ self.Wk)
        V = self.split_heads(x @ self.Wv)
        old_K, old_V = getattr(self, "seen", (K[:, :0], V[:, :0]))
        K = np.concatenate([old_K, K], axis=1)
        V = np.concatenate([old_V, V], axis=1)
        self.seen = K, V
        scores = Q @ K.transpose(0, 2, 1) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask, -np.inf, scores)
        attn = softmax(scores)
        merged = (attn @ V).transpose(1, 0, 2).reshape(T, d_model)
        return merged @ self.Wo, attn
