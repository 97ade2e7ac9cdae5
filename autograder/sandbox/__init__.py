"""
Student code runs here, and nowhere else.

`worker` is the untrusted side: a process of its own that runs cells and
answers calls. `process` starts, limits and kills it from the trusted side.
"""
