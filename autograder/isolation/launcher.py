"""Starts a worker inside a sandbox and waits for it: `python launcher.py '{"wall": ..., "command": ...}'`.

A process of its own, because sandlock's supervisor lives in the process that starts the sandbox and closes every
descriptor above 2 in the child: the control stream must be this process's standard input.
"""

from __future__ import annotations

import json
import sys

from sandlock import Protection, Sandbox


def main() -> None:
    request = json.loads(sys.argv[1])
    sandbox = Sandbox(**request["wall"], allow_degraded=list(Protection))
    result = sandbox.popen(request["command"]).wait()
    sys.exit(0 if result.success else 1)


main()
