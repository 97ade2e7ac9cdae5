"""
The hidden checks and what runs them, all of it in the trusted process.

Each folder is an assignment, each module in it holds the checks of one test
cell and is named as that cell's grade_id. A check is a pytest function with
the fixtures `student` and `rng`; its docstring is the sentence the student
reads, its marker `points` what it earns.
"""
