"""`check` in a notebook: the kernel sends its cells to a judge in another process and shows the result."""

from autograder.notebook.check import lesson

__all__ = ["lesson"]
