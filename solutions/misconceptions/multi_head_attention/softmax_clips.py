"""You clip large scores so that exp cannot overflow; different scores become ties."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_large_scores_do_no_harm"
HINT = "A shift changes no weight. Does a clip?"


def softmax(scores, axis=-1):
    powers = np.exp(np.clip(scores, -np.inf, 50))
    return powers / powers.sum(axis=axis, keepdims=True)
