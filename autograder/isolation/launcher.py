"""Starts a worker inside a sandbox, waits for it and removes its folder: `python launcher.py REQUEST`.

REQUEST is JSON: `wall` (the sandbox's options), `without` (what Landlock cannot refuse here, by sandlock's names),
`command` and `folder`.

A process of its own, because sandlock's supervisor lives in the process that starts the sandbox and closes every
descriptor above 2 in the child: the control stream must be this process's standard input.
"""

from __future__ import annotations

import json
import subprocess
import sys

from sandlock import Protection, Sandbox


def main() -> None:
    request = json.loads(sys.argv[1])
    without = [Protection[name] for name in request["without"]]
    sandbox = Sandbox(**request["wall"], allow_degraded=list(Protection), disable=without)
    try:
        result = sandbox.popen(request["command"]).wait()
    finally:  # the judge removes it too, unless it was killed
        subprocess.run(["rm", "-rf", "--", request["folder"]], check=False)
    sys.exit(0 if result.success else 1)


main()
