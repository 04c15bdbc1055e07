"""Where submitted code runs: workers, and the walls around them."""

from autograder.isolation.base import Connection, IsolationError, Limits, Worker
from autograder.isolation.choice import BACKENDS, start_worker

__all__ = ["BACKENDS", "Connection", "IsolationError", "Limits", "Worker", "start_worker"]
