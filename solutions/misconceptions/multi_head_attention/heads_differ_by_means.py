"""You compare the means of the heads; rows sum to one, so all heads have the same mean."""

LOSES = "test_heads_differ"
HINT = "What is the mean of a map of T by T weights whose rows sum to one?"


def heads_differ(attn):
    means = [round(float(head.mean()), 12) for head in attn]
    return len(set(means)) == len(means)
