"""Einstein summation for the products, the merge and the counts of the weights."""

import numpy as np


def merge_heads(heads):
    return np.einsum("htd->thd", heads).reshape(heads.shape[1], -1)


class MultiHeadAttention:
    def split_heads(self, x):
        return np.einsum("thd->htd", x.reshape(len(x), self.h, self.dk))

    def forward(self, x, mask=None):
        d_model = x.shape[1]
        Wq, Wk, Wv = (W.reshape(d_model, self.h, self.dk) for W in (self.Wq, self.Wk, self.Wv))
        Q = np.einsum("tm,mhd->htd", x, Wq)
        K = np.einsum("tm,mhd->htd", x, Wk)
        V = np.einsum("tm,mhd->htd", x, Wv)
        scores = np.einsum("hqd,hkd->hqk", Q, K) / np.sqrt(self.dk)
        if mask is not None:
            scores = np.where(mask[None], -np.inf, scores)
        attn = softmax(scores)
        Wo = self.Wo.reshape(self.h, self.dk, d_model)
        return np.einsum("hqk,hkd,hdm->qm", attn, V, Wo), attn
