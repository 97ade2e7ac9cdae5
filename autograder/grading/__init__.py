"""The command `grade`: which submissions, in which processes, and where their results go."""
