"""The settings of this course, nbgrader's and the kit's."""

from autograder.course.settings import configure_nbgrader

c = get_config()  # noqa: F821 - given by traitlets when it runs this file

# nbgrader's own commands grade through the kit: same sandbox, same scores.
configure_nbgrader(c)

c.CourseDirectory.course_id = "multi_head_attention"

# Nothing is taken off late work; "zero" takes all points.
c.LateSubmissionPlugin.penalty_method = "none"

# Limits on student code, and how many submissions are graded at a time (0: one for each core).
# `autograder doctor` lists all settings with what they do.
c.Autograder.wall_time_s = 10
c.Autograder.memory_mib = 1024
c.Autograder.jobs = 0
