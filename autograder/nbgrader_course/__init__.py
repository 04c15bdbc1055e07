"""Writes this course's lessons into an nbgrader course folder, and this grader's results into its gradebook."""
