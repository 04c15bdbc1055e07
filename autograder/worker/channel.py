"""One end of a stream between judge and worker: whole frames, with a deadline on every wait."""

from __future__ import annotations

import os
import select
import socket
import time

from autograder.worker import wire


class ChannelClosed(ConnectionError):
    """The other end is gone."""


class DeadlinePassed(TimeoutError):
    """The other end did not answer in time."""


class Channel:
    """Frames over a connected stream socket.

    On POSIX the descriptor is read and written with plain `read` and `write`: a sandbox that inspects the
    socket calls makes `send` and `recv` five times slower.
    """

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._descriptors_work = os.name == "posix"
        stream.setblocking(False)

    def fileno(self) -> int:
        """The descriptor, for `select` and for passing on."""
        return self._stream.fileno()

    def close(self) -> None:
        """Close this end; the other end's next read says so."""
        self._stream.close()

    def send(self, frame: bytes, seconds: float | None = None) -> None:
        """Write a whole frame.

        Raises:
            ChannelClosed: the reader is gone.
            DeadlinePassed: it did not read for `seconds`.
        """
        deadline = _deadline(seconds)
        rest = memoryview(frame)
        while rest:
            self._wait(for_writing=True, deadline=deadline)
            try:
                rest = rest[self._write(rest) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChannelClosed(str(error)) from None

    def receive(self, seconds: float | None = None) -> bytes:
        """Read a whole frame, prefix included.

        Raises:
            ChannelClosed: the writer is gone, perhaps in the middle of a frame.
            DeadlinePassed: the frame was not complete after `seconds`.
            wire.WireError: the prefix announces more than a frame may hold.
        """
        deadline = _deadline(seconds)
        prefix = self._exactly(wire.PREFIX_SIZE, deadline)
        return prefix + self._exactly(wire.frame_size(prefix), deadline)

    def _exactly(self, size: int, deadline: float | None) -> bytes:
        chunks = bytearray()
        while len(chunks) < size:
            self._wait(for_writing=False, deadline=deadline)
            try:
                chunk = self._read(min(size - len(chunks), 2**20))
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChannelClosed(str(error)) from None
            if not chunk:
                raise ChannelClosed("the stream ended")
            chunks += chunk
        return bytes(chunks)

    def _wait(self, *, for_writing: bool, deadline: float | None) -> None:
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise DeadlinePassed
        me = [self._stream]
        ready = select.select([] if for_writing else me, me if for_writing else [], [], left)
        if not (ready[0] or ready[1]):
            raise DeadlinePassed

    def _read(self, size: int) -> bytes:
        return os.read(self.fileno(), size) if self._descriptors_work else self._stream.recv(size)

    def _write(self, data: memoryview) -> int:
        return os.write(self.fileno(), data) if self._descriptors_work else self._stream.send(data)


def _deadline(seconds: float | None) -> float | None:
    return None if seconds is None else time.monotonic() + seconds
