"""What is said of both chains."""

from __future__ import annotations

MATRICES_FIRST = (
    "You multiply the matrices first, and the vector last. A product of two n × n matrices takes n³ "
    "multiply–adds, one with a vector n²: start with the vector."
)
RETURN_ENDS_THE_LOOP = "with `return` inside the loop, the loop ends there. An empty chain gives None."
A_VECTOR_OUT = "A vector in, a vector out: shape (n,)."
