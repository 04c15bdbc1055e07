"""The Python that workers and zygotes run in: the command that starts it, and its few variables."""

from __future__ import annotations

import os
import tempfile

from autograder.isolation.base import IsolationError
from autograder.isolation.packages import interpreter
from autograder.places import ROOT
from autograder.threads import ONE_THREAD

BOOTSTRAP = ROOT / "autograder" / "worker" / "bootstrap.py"


def variables() -> dict[str, str]:
    """The few variables that a worker gets: no secrets, one thread, no accelerator."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        **ONE_THREAD,
        "CUDA_VISIBLE_DEVICES": "",
        "HOME": tempfile.gettempdir(),
        "TORCHINDUCTOR_CACHE_DIR": os.path.realpath(
            tempfile.gettempdir()
        ),  # it is made at import, and this one is there
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PATH": os.defpath,
    }


def python() -> list[str]:
    """The interpreter as workers have it: no site-packages, no folder of the script on the path.

    No bytecode is written: on a full disk Python 3.11 leaves half of it, and no later worker would start.

    Raises `IsolationError` where this user may not start it.
    """
    return [that_may_be_started(interpreter()), "-B", "-S", "-P", "-X", "utf8"]


def that_may_be_started(interpreter: str) -> str:
    """The path of a Python. `IsolationError` where this user may not start it, whoever started this one."""
    if not os.access(interpreter, os.X_OK):
        raise IsolationError(
            f"this user may not start {interpreter}, the Python of this environment: have its owner type "
            f"'chmod a+rx {interpreter}', or make the environment anew with a Python of your own"
        )
    return interpreter
