"""What is said of walks over a graph."""

from __future__ import annotations

SEEN_IN_A_LIST = (
    "What has been seen is kept in a list, and `in` goes through all of it for every node: with 100,000 nodes "
    "that takes minutes. Use a set."
)
RECURSIVE = (
    "The walk calls itself for every parent, and Python stops that at a depth of about 1,000. Keep the nodes "
    "that are still to be visited on a stack of your own, a list."
)
