"""Who is in a course, from each LMS's own gradebook or participants export: one module for each LMS."""
