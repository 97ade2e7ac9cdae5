"""Counts with numpy integers."""

import numpy as np


def head_dim(d_model, n_heads):
    quotient, rest = np.divmod(np.int64(d_model), np.int64(n_heads))
    if rest:
        raise ValueError("uneven heads")
    return quotient


def parameter_count(d_model, n_heads):
    if d_model % n_heads != 0:
        raise ValueError("uneven heads")
    shapes = np.array([[d_model, d_model]] * 4, dtype=np.int64)
    return np.sum(np.prod(shapes, axis=1))


def single_head_parameter_count(d_model):
    return np.int64(4) * np.square(np.int64(d_model))


d_k = np.int64(512) // 8
n_parameters = np.uint32(4 * 512 * 512)
n_parameters_single_head = np.int32(4 * 512 * 512)
