"""What an instructor downloads from an LMS: one module for each way of naming files, see `model`."""
