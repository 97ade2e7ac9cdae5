"""You give all the weight to the best key; the softmax gives every visible key a share."""

FAMILY = "softmax"
LOSES = "test_forward"
CHECK = "test_attention_weights_follow_the_formula"
HINT = "Which weights do two keys get whose scores are nearly equal?"


def softmax(scores, axis=-1):
    best = scores == scores.max(axis=axis, keepdims=True)
    return best / best.sum(axis=axis, keepdims=True)
