"""Grades and feedback sent to an LMS over the network: one module for each interface."""
