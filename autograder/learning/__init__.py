"""A learner's way through the course: what passes, what comes next, a stub put back, the model solution.

`check`, `watch` and notebooks tell `progress.record` what they found. Nothing here runs an answer.
"""
