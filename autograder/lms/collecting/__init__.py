"""From a download to the folders of a course: who is who, which attempt counts, what is written."""
