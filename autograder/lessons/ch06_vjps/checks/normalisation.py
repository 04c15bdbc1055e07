"""Checks that all normalisations share."""

from __future__ import annotations

from autograder.judging import F32, F64, random
from autograder.lessons.ch06_vjps.checks.agreement import agree_on

LAYERNORM = ("dx", "dgamma", "dbeta")
RMSNORM = ("dx", "dgamma")
NORM_DTYPES = {  # g, x, gamma and beta
    "float32 throughout": (F32, F32, F32, F32),
    "float32 inputs and a float64 g": (F64, F32, F32, F32),
    "a float32 x, float64 parameters": (F64, F32, F64, F64),
    "a float32 gamma, the rest float64": (F64, F64, F32, F64),
}


# All checks but those of eps itself pass eps=0.0, so that an answer without eps only fails those.


def norm_arguments(rng, shape, parameters, dtypes=(F64,) * 4):
    """g, x and as many parameters; x has neither mean 0 nor variance 1."""
    g, x = random(rng, shape, dtypes[0]), 0.7 + 1.5 * random(rng, shape)
    return (g, x.astype(dtypes[1]), *(random(rng, shape[-1:], dtypes[2 + i]) for i in range(parameters)))


def agree_norm(mine, theirs, arguments, case, **options):
    names = LAYERNORM if len(arguments) == 4 else RMSNORM
    agree_on(mine, theirs, *arguments, names=names, case=case, **options)


LEADING_AXES = {
    "a single row without a batch axis": (4,),
    "three axes": (2, 3, 4),
    "three axes of one size": (3, 3, 3),
    "leading axes of size 1": (1, 1, 4),
    "four axes": (2, 1, 2, 3),
    "an empty batch": (0, 3),
}
