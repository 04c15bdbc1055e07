"""The reference of bucketed_all_reduce against something independent."""

from __future__ import annotations

import torch

from autograder.judging import exercise
from autograder.lessons.ch14_scaling_out.oracles.parallel_layers import rows
from course.process_groups import in_threads


@exercise("bucketed_all_reduce")
def test_buckets_against_sums(reference):
    shapes = [(2, 3), (), (5,), (1, 4), (2, 2)]
    for bucket_bytes in (0, 40, 1000):

        def step(group, bucket_bytes=bucket_bytes):
            grads = [(group.rank + 1) * rows(*shape) for shape in shapes]
            return reference.implementations["bucketed_all_reduce"](grads, bucket_bytes, group.all_reduce)

        for reduced in in_threads(step, 3):
            for tensor, shape in zip(reduced, shapes, strict=True):
                torch.testing.assert_close(tensor, 6 * rows(*shape))
