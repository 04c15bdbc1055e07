"""Starts a worker, waits for it and removes its folder: `python launcher.py REQUEST`.

REQUEST is JSON: `command` and `folder`.

A process of its own, because the worker's wall keeps it from removing the folder that it lies in. Its standard input
is the worker's control stream.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main() -> None:
    request = json.loads(sys.argv[1])
    try:
        worker = subprocess.Popen(request["command"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # where the worker ends, the stream does
        status = worker.wait()
    finally:  # the judge removes it too, unless it was killed
        for _ in range(100):  # a submission may live a moment longer than its worker, and still write
            subprocess.run(["rm", "-rf", "--", request["folder"]], stderr=subprocess.DEVNULL, check=False)
            if not os.path.lexists(request["folder"]):
                break
            time.sleep(0.1)
    sys.exit(0 if status == 0 else 1)


main()
