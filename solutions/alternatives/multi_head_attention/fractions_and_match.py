"""Counts with fractions and takes cases apart with `match`."""

from fractions import Fraction


def head_dim(d_model, n_heads):
    match Fraction(d_model, n_heads):
        case Fraction(denominator=1) as share:
            return share.numerator
        case share:
            raise ArithmeticError(f"{share} features for a head")


def parameter_count(d_model, n_heads):
    d_k = head_dim(d_model, n_heads)
    return sum(d_model * d_k for head in range(n_heads) for matrix in "qkvo")


def single_head_parameter_count(d_model):
    return (d_model << 1) ** 2


def tokens_in_naive_head(n_tokens, d_model, n_heads, head):
    begin, end = (Fraction(n_tokens * edge, n_heads) for edge in (head, head + 1))
    return [token for token in range(n_tokens) if begin < token + 1 and token < end]


(d_k, n_parameters, n_parameters_single_head) = (
    head_dim(512, n_heads=8),
    parameter_count(d_model=512, n_heads=8),
    single_head_parameter_count(d_model=512),
)
