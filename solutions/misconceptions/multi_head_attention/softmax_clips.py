"""You clip large scores so that exp cannot overflow; different scores become ties."""

import numpy as np

LOSES = "test_forward"
HINT = "A shift changes no weight. Does a clip?"


def softmax(scores, axis=-1):
    powers = np.exp(np.clip(scores, -np.inf, 50))
    return powers / powers.sum(axis=axis, keepdims=True)
