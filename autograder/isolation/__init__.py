"""Where submitted code runs: workers, and the sandbox around them."""

from autograder.isolation.base import Connection, IsolationError, Limits, PackageMissing, Worker
from autograder.isolation.choice import BACKENDS, EARLIER, Workers, start_worker
from autograder.isolation.folders import OUR_FOLDERS, remove_folders
from autograder.isolation.own_time import Starved

__all__ = [
    "BACKENDS",
    "EARLIER",
    "OUR_FOLDERS",
    "Connection",
    "IsolationError",
    "Limits",
    "PackageMissing",
    "Starved",
    "Worker",
    "Workers",
    "remove_folders",
    "start_worker",
]
