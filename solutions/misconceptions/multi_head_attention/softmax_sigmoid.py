"""You squash every score by itself into 0 to 1; a softmax makes the keys of a row compete."""

import numpy as np

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "What do the weights of a row sum to?"


def softmax(scores, axis=-1):
    return 1 / (1 + np.exp(-np.clip(scores, -700, 700)))
