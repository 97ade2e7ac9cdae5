"""
You average the heads, which throws their differences away; they are put side by side and W_O does the
mixing.
"""

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "How many columns should the result have?"


def merge_heads(heads):
    return heads.mean(axis=0)
