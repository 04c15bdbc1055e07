"""Schedules of checkpointing: when each layer runs forward and backward, and what is saved meanwhile.

A schedule is a list of events, each with the number of a layer, from 0. Three kinds take one step of time:

- ("run", i): layer i runs forward and saves nothing;
- ("tape", i): layer i runs forward and saves its activations;
- ("back", i): layer i runs backward and frees its activations.

Two take no time: ("store", i) saves the input of layer i until ("free", i). Every input and the activations of every
layer have size 1. The current value, the output of the last layer that ran, does not count.
"""

from __future__ import annotations

from collections.abc import Callable

Event = tuple[str, int]


def keep_everything(n_layers: int) -> list[Event]:
    """Each layer runs once and saves its activations."""
    return [*(("tape", i) for i in range(n_layers)), *(("back", i) for i in reversed(range(n_layers)))]


def segmented(n_layers: int, segments: int) -> list[Event]:
    """Save the inputs of `segments` segments, whose sizes differ by at most one, and rerun each in backward.

    Raises:
        ValueError: `segments` is not between 1 and `n_layers`.
    """
    if not 1 <= segments <= n_layers:
        raise ValueError(f"{segments} segments of {n_layers} layers")
    ends = [n_layers * i // segments for i in range(segments + 1)]
    events: list[Event] = []
    for i in range(n_layers):
        events += [("store", i)] * (i in ends) + [("run", i)]
    for start, end in zip(reversed(ends[:-1]), reversed(ends[1:]), strict=True):
        events += [("tape", i) for i in range(start, end)]
        events += [("back", i) for i in reversed(range(start, end))]
        events.append(("free", start))
    return events


def few_slots(n_layers: int, slots: int, least: Callable[[int, int], int]) -> list[Event]:
    """Save at most `slots` inputs at a time, including the first layer's, and the activations of one layer at a time.

    Args:
        least: `least(n, s)` is the minimum number of ("run", i) events for the backward pass of n layers with s slots.

    Raises:
        ValueError: `n_layers` or `slots` is less than 1.
    """
    if n_layers < 1 or slots < 1:
        raise ValueError(f"{n_layers} layers, {slots} slots")

    def split(n: int, s: int) -> int:
        choices = range(1, n) if s > 1 else [n - 1]  # with one slot nothing more can be stored
        return min(choices, key=lambda j: j + (least(n - j, s - 1) if n - j > 1 else 0) + least(j, s))

    events: list[Event] = []

    def back(start: int, end: int, free: int) -> None:
        while end - start > 1:
            middle = start + split(end - start, free)
            events.extend(("run", i) for i in range(start, middle))
            if end - middle > 1:
                events.append(("store", middle))
                back(middle, end, free - 1)
                events.append(("free", middle))
            else:
                events.extend([("tape", middle), ("back", middle)])
            end = middle
        events.extend([("tape", start), ("back", start)])

    events.append(("store", 0))
    back(0, n_layers, slots)
    events.append(("free", 0))
    return events


def peak(events: list[Event]) -> int:
    """The maximum size that is saved at once."""
    held = most = 0
    for kind, _ in events:
        held += {"store": 1, "tape": 1, "back": -1, "free": -1}.get(kind, 0)
        most = max(most, held)
    return most


def runs_again(events: list[Event]) -> int:
    """The number of forward runs of layers beyond their first."""
    ran = [i for kind, i in events if kind in ("run", "tape")]
    return len(ran) - len(set(ran))
