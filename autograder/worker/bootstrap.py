"""Entry point of a worker: `python -I -S bootstrap.py CONFIG`, with the judge's stream as standard input.

CONFIG is JSON: `locations` (module name to path, for everything importable besides the standard library), `warm`
(modules to import before the first submission), `fork` (true: fork for each submission; false: serve one and exit)
and, if there is a sandbox, its `policy`. With `layers`, this process becomes a zygote and its forks are the workers.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import json
import os
import socket
import sys
from pathlib import Path


def main() -> None:
    config = json.loads(sys.argv[1])
    here = Path(__file__).parent
    sys.argv = [""]

    spec = importlib.util.spec_from_file_location("imports", here / "imports.py")
    assert spec is not None
    assert spec.loader is not None
    imports = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(imports)

    grader = imports.placeholder("autograder")
    grader.__path__ = [str(here.parent)]
    sys.modules["autograder"] = grader
    asked: list[str] = []
    finder = imports.AllowedImports(config["locations"], asked)
    sys.meta_path.insert(0, finder)
    from autograder.worker.stand_ins import spec_of
    from autograder.worker.uncompiled import without_compiler

    finder.stand_in = spec_of

    without_compiler()
    if "layers" in config:
        from autograder.worker import zygote

        config = zygote.fork_workers(finder, config["layers"], config["judge"], config["refused"])
    for name in config["warm"]:
        importlib.import_module(name)
    from autograder.worker import native, serve
    from autograder.worker.channel import Channel

    if config["fork"]:
        from autograder.worker import forkserver

        if "torch" in sys.modules:
            native.hide_ctypes(finder)
        forkserver.run(socket.socket(fileno=os.dup(0)), config, asked)
    else:
        stream = socket.create_connection(("127.0.0.1", config["port"]))
        stream.sendall(config["token"].encode())
        os.chdir(config["scratch"])
        if "torch" in sys.modules:
            native.hide_ctypes(finder)
        serve.serve(Channel(stream), asked)


main()
