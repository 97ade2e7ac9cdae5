"""
What travels between the grader and the process that runs student code.

`frames` moves length-prefixed byte strings over a socket; `codec` turns
Python and numpy values into such bytes and back. Both sides import this
package, so it knows nothing of checks, courses or scores. The trusted side
treats every byte it receives as hostile: decoding either gives plain data or
raises `WireError`.
"""
