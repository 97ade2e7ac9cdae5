"""
The course: its folders, its configuration, its secret, and what was handed out.

`course.Course` is what everybody uses; below it are configuration, layout,
settings, rules and released notebooks.
"""
