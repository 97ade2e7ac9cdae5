"""
The untrusted side: the process that runs one notebook of one student.

It imports the standard library, numpy, IPython and `autograder.wire` only,
and knows nothing of checks, references, courses or grades.
"""

NAME_BYTES = 2
"""Bytes of a length: a request begins with the length of a snapshot's name, and the name."""
NOTES_BYTES = 4
"""Bytes of a length: an answer begins with the length of the notes, and the notes."""
