"""Process groups, with ranks as threads and as processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from course.process_groups import in_processes, in_threads

BOTH = [in_threads, in_processes]
both = pytest.mark.parametrize("run", BOTH, ids=lambda run: run.__name__)
Run = Callable[..., list[Any]]
