"""The reference of pipeline_bubble against something independent."""

from __future__ import annotations

import pytest

from autograder.judging import exercise
from course.experiments.pipeline import gpipe, idle_share, one_forward_one_backward, simulate


@exercise("pipeline_bubble")
def test_bubble_against_schedules(reference):
    for stages in (1, 2, 5):
        for microbatches in (1, 2, 5, 8):
            for orders in (gpipe(stages, microbatches), one_forward_one_backward(stages, microbatches)):
                idle = idle_share(simulate(orders, {"F": 1.0, "B": 2.0}))
                assert reference.implementations["pipeline_bubble"](stages, microbatches) == pytest.approx(idle)
