"""You compare the means of the heads; rows sum to one, so all heads have the same mean."""

FAMILY = "comparisons"
LOSES = "test_heads_differ"
CHECK = "test_copies_are_told_from_different_heads"
HINT = "What is the mean of a map of T by T weights whose rows sum to one?"


def heads_differ(attn):
    means = [round(float(head.mean()), 12) for head in attn]
    return len(set(means)) == len(means)
