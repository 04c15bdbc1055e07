"""Builds notebooks from the lessons' sources, checks the course by health rules, and makes releases."""
