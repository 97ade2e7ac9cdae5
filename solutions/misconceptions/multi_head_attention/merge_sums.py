"""You add the heads up; they are put side by side and W_O does the mixing."""

FAMILY = "layout"
LOSES = "test_merge_heads"
CHECK = "test_heads_stand_side_by_side"
HINT = "Could you get the heads back out of your result?"


def merge_heads(heads):
    return heads.sum(axis=0)
