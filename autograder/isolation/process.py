"""The plain-process backend: no wall, only limits. For your own code on your own machine."""

from __future__ import annotations

import json
import socket
import subprocess
from typing import Any

from autograder.isolation.forking import BOOTSTRAP, ForkingWorker, environment, python
from autograder.isolation.tasks import TASKS, tasks_of_user


class ProcessWorker(ForkingWorker):
    """A forking worker that nothing but resource limits and time-outs confines (Linux, macOS)."""

    isolation = "process"

    def rlimits(self) -> dict[str, int]:
        return {**super().rlimits(), "RLIMIT_NPROC": tasks_of_user() + TASKS}  # which root is free of

    def launch(self, config: dict[str, Any], stream: socket.socket) -> subprocess.Popen[bytes]:
        config = {**config, "folder": self._folder}
        return subprocess.Popen(
            [*python(), str(BOOTSTRAP), json.dumps(config)],
            stdin=stream.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=environment(),
            start_new_session=True,  # Ctrl-C and a kill of the judge's group are the judge's: the worker cleans up
        )
