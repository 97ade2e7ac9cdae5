"""Adds up the sizes of all matrices, shape by shape."""

from itertools import repeat
from math import prod


class UnevenHeads(Exception):
    pass


def check(d_model, n_heads):
    if d_model % n_heads:
        raise UnevenHeads(d_model, n_heads)


def head_dim(d_model, n_heads):
    check(d_model, n_heads)
    return int(d_model / n_heads)


def parameter_count(d_model, n_heads):
    check(d_model, n_heads)
    d_k = d_model // n_heads
    shapes = [*repeat((d_model, d_k), 3 * n_heads), (n_heads * d_k, d_model)]
    return sum(prod(shape) for shape in shapes)


def single_head_parameter_count(d_model):
    shapes = {
        "Wq": (d_model, d_model),
        "Wk": (d_model, d_model),
        "Wv": (d_model, d_model),
        "Wo": (d_model, d_model),
    }
    return sum(rows * columns for rows, columns in shapes.values())


d_model, n_heads = 512, 8
d_k = d_model // n_heads
n_parameters = 3 * n_heads * d_model * d_k + d_model * d_model
n_parameters_single_head = 4 * d_model * d_model
