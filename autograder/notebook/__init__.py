"""`check` in a notebook: the kernel sends its cells to a judge of its own and shows what comes back."""

from autograder.notebook.check import lesson

__all__ = ["lesson"]
