"""What people, or the grader, wrote under students' answers."""

from __future__ import annotations

from sqlalchemy import select

from autograder.gradebook.database import Database


def read_comments(db_url: str, assignment: str) -> dict[str, dict[tuple[str, str], str]]:
    """
    Return the comments on an assignment's answers.

    Parameters
    ----------
    db_url : str
        SQLAlchemy address of the gradebook.
    assignment : str
        The assignment.

    Returns
    -------
    dict of str to dict
        For each student the comments by notebook and grade_id: a person's if
        there is one, else the grader's.

    Raises
    ------
    GradebookError
        If the gradebook cannot be read.
    """
    database = Database(db_url)
    names = ("assignment", "submitted_assignment", "submitted_notebook", "notebook", "comment", "base_cell")
    task, submission, book, notebook, comment, cell = map(database.table, names)
    joined = (
        comment.join(book, book.c.id == comment.c.notebook_id)
        .join(submission, submission.c.id == book.c.assignment_id)
        .join(task, task.c.id == submission.c.assignment_id)
        .join(notebook, notebook.c.id == book.c.notebook_id)
        .join(cell, cell.c.id == comment.c.cell_id)
    )
    columns = (
        submission.c.student_id,
        notebook.c.name,
        cell.c.name,
        comment.c.manual_comment,
        comment.c.auto_comment,
    )
    query = select(*columns).select_from(joined).where(task.c.name == assignment)
    comments: dict[str, dict[tuple[str, str], str]] = {}
    try:
        with database.reading() as connection:
            for student, name, grade_id, manual, auto in connection.execute(query):
                if text := manual or auto:
                    comments.setdefault(student, {})[name, grade_id] = text
    finally:
        database.close()
    return comments
