"""A learner's way through the course: progress, the next exercise, putting a stub back, the model solution.

`check`, `watch` and notebooks call `progress.record` with their results. Nothing here runs a learner's code.
"""
