"""Schedules of checkpointing: which layer runs when, in forward and in backward, and what is held meanwhile.

A schedule is a list of events, each with the number of a layer, from 0. Three of them take a step of time:

- ("run", i): layer i runs and keeps nothing;
- ("tape", i): layer i runs, and what it keeps for backward is held;
- ("back", i): the gradient goes back through layer i, and what it kept is let go.

Two take none: ("store", i) holds the input of layer i until ("free", i). Every input and what every layer keeps have
the size 1. The value at hand, the output of the layer that ran last, is not counted.
"""

from __future__ import annotations

from collections.abc import Callable

Event = tuple[str, int]


def keep_everything(n_layers: int) -> list[Event]:
    """Each layer runs once, with its tape."""
    return [*(("tape", i) for i in range(n_layers)), *(("back", i) for i in reversed(range(n_layers)))]


def segmented(n_layers: int, segments: int) -> list[Event]:
    """Hold the inputs of so many segments, of sizes that differ by one at most, and run each again in backward."""
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
    """Hold at most so many inputs at a time, that of the first layer among them, and tape one layer at a time.

    `least(n, s)` is the fewest layers that must run without a tape to take n layers back with s slots. It places the
    states that are stored on the way.
    """
    if n_layers < 1 or slots < 1:
        raise ValueError(f"{n_layers} layers, {slots} slots")

    def split(n: int, s: int) -> int:
        choices = range(1, n) if s > 1 else [n - 1]  # with one slot the state ahead is at hand, and not stored
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
    """The most that is held at once."""
    held = most = 0
    for kind, _ in events:
        held += {"store": 1, "tape": 1, "back": -1, "free": -1}.get(kind, 0)
        most = max(most, held)
    return most


def runs_again(events: list[Event]) -> int:
    """How many layers run once more: runs of any layer but its first."""
    ran = [i for kind, i in events if kind in ("run", "tape")]
    return len(ran) - len(set(ran))
