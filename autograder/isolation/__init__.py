"""Where submitted code runs: workers, and the walls around them."""

from autograder.isolation.base import Connection, IsolationError, Limits, PackageMissing, Worker
from autograder.isolation.choice import APART, BACKENDS, EARLIER, TOGETHER, Kinds, Workers, start_worker
from autograder.isolation.folders import OUR_FOLDERS, remove_folders
from autograder.isolation.own_time import Starved

__all__ = [
    "APART",
    "BACKENDS",
    "EARLIER",
    "OUR_FOLDERS",
    "TOGETHER",
    "Connection",
    "IsolationError",
    "Kinds",
    "Limits",
    "PackageMissing",
    "Starved",
    "Worker",
    "Workers",
    "remove_folders",
    "start_worker",
]
