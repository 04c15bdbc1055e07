"""One end of a stream between judge and worker: whole frames, with a deadline on every wait."""

from __future__ import annotations

import contextlib
import select
import socket
import time
from typing import Protocol

from autograder.worker import wire


class ChannelClosed(ConnectionError):
    """The other end is gone."""


class DeadlinePassed(TimeoutError):
    """The other end did not answer in time."""


class Clock(Protocol):
    """A source of time for deadlines."""

    def now(self) -> float:
        """Seconds since some point in time."""

    def settle(self) -> None:
        """Subtract the time that the other end could not use; called before a deadline counts as passed."""


class WallClock:
    """Wall time, from which nothing is subtracted."""

    def now(self) -> float:
        return time.monotonic()

    def settle(self) -> None:
        pass


class Channel:
    """Frames over a connected stream socket.

    What has arrived is read as a whole, frames that are held are written as a whole: a small frame costs less than the
    calls that move it.

    Args:
        bounds: of the frames that arrive.
        clock: measures how long the other end takes.
    """

    def __init__(self, stream: socket.socket, bounds: wire.Bounds = wire.REQUEST, clock: Clock | None = None) -> None:
        self.clock = clock or WallClock()
        self._stream = stream
        self._bounds = bounds
        self._arrived = bytearray()
        self._held: list[bytes] = []
        stream.setblocking(False)

    def fileno(self) -> int:
        """The descriptor, for `select` and for passing on."""
        return self._stream.fileno()

    def close(self) -> None:
        """Close this end; the other end's next read fails."""
        self._stream.close()

    def hold(self, frame: bytes) -> None:
        """Keep a frame back until the next `send` or `flush`."""
        self._held.append(frame)

    def flush(self, seconds: float | None = None) -> None:
        """Write what is held; raises as `send` does."""
        if self._held:
            self.send(b"", seconds)

    def waiting(self) -> bool:
        """Whether bytes have arrived that `receive` has not returned yet."""
        if not self._arrived:
            with contextlib.suppress(BlockingIOError, ChannelClosed):
                self._take()
        return bool(self._arrived)

    def send(self, frame: bytes, seconds: float | None = None) -> None:
        """Write a whole frame, or several in one.

        Raises:
            ChannelClosed: the reader is gone.
            DeadlinePassed: it did not read for `seconds`.
        """
        deadline = self._deadline(seconds)
        rest = memoryview(b"".join([*self._held, frame]))
        self._held.clear()
        while rest:
            try:
                rest = rest[self._stream.send(rest) :]
            except BlockingIOError:
                self._wait(for_writing=True, deadline=deadline)
            except OSError as error:
                raise ChannelClosed(str(error)) from None

    def receive(self, seconds: float | None = None) -> bytes:
        """Read a whole frame, prefix included.

        Raises:
            ChannelClosed: the writer is gone, perhaps in the middle of a frame.
            DeadlinePassed: the frame was not complete after `seconds`, or `seconds` is not positive.
            wire.WireError: the prefix announces more than a frame may hold.
        """
        deadline = self._deadline(seconds)
        if seconds is not None and seconds <= 0:
            self._left(deadline)  # raises even if data is ready: a flood of frames must not outlast the deadline
        self._await(wire.PREFIX_SIZE, deadline)
        size = wire.PREFIX_SIZE + wire.frame_size(bytes(self._arrived[: wire.PREFIX_SIZE]), self._bounds)
        self._await(size, deadline)
        frame = bytes(self._arrived[:size])
        del self._arrived[:size]
        return frame

    def _await(self, size: int, deadline: float | None) -> None:
        """Read until `size` bytes have arrived."""
        while len(self._arrived) < size:
            try:
                self._take(size - len(self._arrived))
            except BlockingIOError:
                self._wait(for_writing=False, deadline=deadline)

    def _take(self, missing: int = 0) -> None:
        """Read available bytes: at most `missing` or 64 KiB, whichever is more, and never over 1 MiB."""
        try:
            chunk = self._stream.recv(min(max(missing, 2**16), 2**20))
        except BlockingIOError:
            raise
        except OSError as error:
            raise ChannelClosed(str(error)) from None
        if not chunk:
            raise ChannelClosed("the stream ended")
        self._arrived += chunk

    def _wait(self, *, for_writing: bool, deadline: float | None) -> None:
        me = [self._stream]
        while True:
            left = self._left(deadline)
            ready = select.select([] if for_writing else me, me if for_writing else [], [], left)
            if ready[0] or ready[1]:
                return

    def _deadline(self, seconds: float | None) -> float | None:
        return None if seconds is None else self.clock.now() + seconds

    def _left(self, deadline: float | None) -> float | None:
        """The seconds until a deadline. Raises `DeadlinePassed` if it has passed."""
        if deadline is None:
            return None
        if self.clock.now() >= deadline:
            self.clock.settle()
        left = deadline - self.clock.now()
        if left <= 0:
            raise DeadlinePassed
        return left
