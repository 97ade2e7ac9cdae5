"""You make the scores positive and divide by their sum; the exponential is missing."""

FAMILY = "softmax"
LOSES = "test_softmax"
CHECK = "test_each_row_is_shared_out"
HINT = "A score that is larger by ln 2 should get twice the weight. Does it, whatever the other scores are?"


def softmax(scores):
    positive = scores - scores.min(axis=-1, keepdims=True) + 1
    return positive / positive.sum(axis=-1, keepdims=True)
