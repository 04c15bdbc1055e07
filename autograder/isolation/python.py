"""The command and the environment variables that workers and zygotes start Python with."""

from __future__ import annotations

import os
import tempfile

from autograder.isolation.base import IsolationError
from autograder.isolation.packages import interpreter
from autograder.places import ROOT
from autograder.threads import ONE_THREAD

BOOTSTRAP = ROOT / "autograder" / "worker" / "bootstrap.py"


def variables() -> dict[str, str]:
    """The environment variables of a worker: no secrets, one thread, no accelerator."""
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    return {
        **kept,
        **ONE_THREAD,
        "CUDA_VISIBLE_DEVICES": "",
        "HOME": tempfile.gettempdir(),
        # PyTorch creates this folder when it is imported, so name one that exists
        "TORCHINDUCTOR_CACHE_DIR": os.path.realpath(tempfile.gettempdir()),
        "LC_ALL": "C.UTF-8",
        "PYTHONHASHSEED": "0",
        "PATH": os.defpath,
    }


def python() -> list[str]:
    """The command of the interpreter, without site-packages and without the script's folder on the path.

    -B: on a full disk Python 3.11 leaves truncated bytecode behind, and no later worker would start.

    Raises:
        IsolationError: this user may not execute the interpreter.
    """
    return [require_executable(interpreter()), "-B", "-S", "-P", "-X", "utf8"]


def require_executable(interpreter: str) -> str:
    """The path unchanged. `IsolationError` if this user may not execute it."""
    if not os.access(interpreter, os.X_OK):
        raise IsolationError(
            f"this user may not start {interpreter}, the Python of this environment: have its owner type "
            f"'chmod a+rx {interpreter}', or make the environment anew with a Python of your own"
        )
    return interpreter
