"""Takes any arguments, in place and by name, and checks sizes by trying."""

import numpy as np


def split_heads(*args, **kwargs):
    x, n_heads = (*args, *kwargs.values())
    try:
        return x.reshape(len(x), n_heads, x.shape[1] // n_heads).transpose(1, 0, 2)
    except ValueError as error:
        raise TypeError("uneven heads") from error


def merge_heads(heads, /):
    n_heads, n_tokens, d_k = heads.shape
    return np.dstack(heads).reshape(n_tokens, d_k, n_heads).swapaxes(1, 2).reshape(n_tokens, -1)


class MultiHeadAttention:
    def __init__(self, *sizes, **options):
        d_model, n_heads, seed = (*sizes, options.get("seed", 0))[:3]
        if d_model != n_heads * (d_model // n_heads):
            raise IndexError(d_model)
        self.__dict__.update(h=n_heads, dk=d_model // n_heads)
        draw = np.random.RandomState(seed).standard_normal
        for name in ("Wq", "Wk", "Wv", "Wo"):
            self.__dict__[name] = draw((d_model, d_model)) / d_model**0.5

    def forward(self, *inputs, mask=None):
        x, hidden = (*inputs, mask)[:2]
        q, k, v = (self.split_heads(x.dot(vars(self)[name])) for name in ("Wq", "Wk", "Wv"))
        logits = np.matmul(q, np.moveaxis(k, -1, -2)) * (1.0 / self.dk) ** 0.5
        logits = logits + np.where(hidden is not None and hidden, -np.inf, 0.0)
        attn = softmax(logits, -1)
        return np.moveaxis(attn @ v, 0, 1).reshape(x.shape) @ self.Wo, attn
