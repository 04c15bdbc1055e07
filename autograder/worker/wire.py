"""The wire format between the judge and a worker: plain data, arrays as bytes, nothing that executes.

A frame is a JSON header and the raw buffers of its arrays. Decoding builds only builtin values, real `ndarray`s and
tensors; whatever a hostile peer sends, the result is data or a `WireError`. Values that are not data are sent as
references: objects of the submission as handles, functions of the judge as call-backs.
"""

from __future__ import annotations

import json
import math
import re
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_DEPTH = 40
MAX_KEYS = 1_000
"""At most this many entries in one dict."""
MAX_KEY = 2**31
"""Dict keys are text or integers below this: frames of tuples chosen to have equal hashes took minutes to read."""

_PREFIX = struct.Struct("<II")
PREFIX_SIZE = _PREFIX.size
_DTYPE = re.compile(r"[<>|][biufc][0-9]{1,2}")
_TENSOR_DTYPE = re.compile(r"bool|u?int(8|16|32|64)|b?float16|float(32|64)|complex(64|128)")
"""Dtypes that can be rebuilt from raw bytes; quantized and sub-byte dtypes cannot."""


class WireError(ValueError):
    """A value that cannot be sent, or bytes that are not a valid frame; the message says why."""


@dataclass(frozen=True)
class Handle:
    """An object that stays in the submission's process; the judge can only pass its handle back."""

    id: int
    type_name: str

    def __repr__(self) -> str:
        return f"<an object of type {self.type_name}>"


@dataclass(frozen=True)
class Bounds:
    """Limits for one frame."""

    frame: int
    """Bytes of header and arrays together."""
    header: int
    """Bytes of the header, that is, of everything but the arrays' contents."""
    items: int
    """Number of values; an array counts once."""


REQUEST = Bounds(64 * 2**20, 8 * 2**20, 200_000)
"""Limits for frames that the judge sends: one contains the calls of a whole exercise."""
ANSWER = Bounds(8 * 2**20, 2**19, 10_000)
"""Limits for frames that the judge reads. The largest right answers had 0.8 MB, or 200 values that are not arrays."""

Reference = tuple[str, list[Any]]
"""Replaces a value that is not data: a tag and its plain arguments."""


_BUILTINS: dict[type, Callable[[Any], Any]] = {
    str: str.__str__,
    bool: bool,
    int: int.__int__,
    float: float.__float__,
}
_ARRAYS = (np.ndarray, np.generic)
_JSON = json.JSONEncoder(separators=(",", ":"))


def _no_references(value: Any) -> Reference:
    raise WireError(f"a value of type {type(value).__name__} cannot be sent")


def _no_revival(tag: str, arguments: list[Any]) -> Any:
    raise WireError(f"unexpected {tag!r}")


def encode(value: Any, refer: Callable[[Any], Reference] = _no_references, bounds: Bounds = REQUEST) -> bytes:
    """Encode `value` as a frame; `refer` returns the reference for a value that is not data.

    Raises:
        WireError: too deep, too many items, too large, or a value that `refer` refuses.
    """
    buffers: list[bytes] = []
    encoder = _Encoder(buffers, refer, bounds)
    body = encoder.plain(value, 0)
    sizes = [len(buffer) for buffer in buffers]
    header = _JSON.encode([body, sizes]).encode()
    total = len(header) + sum(sizes)
    for size, limit, what in ((len(header), bounds.header, "data that are no arrays"), (total, bounds.frame, "data")):
        if size > limit:
            raise WireError(f"{_megabytes(size)} of {what}, and at most {_megabytes(limit)} can be sent")
    return b"".join([_PREFIX.pack(len(header), total), header, *buffers])


def frame_size(prefix: bytes, bounds: Bounds = REQUEST) -> int:
    """Number of bytes that follow a frame's prefix of `PREFIX_SIZE` bytes; raises `WireError` if too many."""
    header, total = _PREFIX.unpack(prefix)
    if header > bounds.header or total > bounds.frame or header > total:
        raise WireError("a frame that is too large or malformed")
    return total


def decode(frame: bytes, revive: Callable[[str, list[Any]], Any] = _no_revival, bounds: Bounds = REQUEST) -> Any:
    """Decode a whole frame, prefix included; `revive` turns references back into objects.

    Raises:
        WireError: for anything that `encode` could not have written.
    """
    if len(frame) < PREFIX_SIZE:
        raise WireError("a frame without its prefix")
    header_size, _ = _PREFIX.unpack_from(frame)
    if frame_size(frame[:PREFIX_SIZE], bounds) != len(frame) - PREFIX_SIZE:
        raise WireError("a frame of the wrong length")
    try:
        body, sizes = json.loads(frame[PREFIX_SIZE : PREFIX_SIZE + header_size])
    except (ValueError, TypeError, RecursionError):
        raise WireError("a frame whose header is not readable") from None
    buffers = _split(frame, PREFIX_SIZE + header_size, sizes, bounds)
    return _Decoder(buffers, revive, bounds).value(body, 0)


def _split(frame: bytes, start: int, sizes: Any, bounds: Bounds) -> list[memoryview]:
    if not isinstance(sizes, list) or len(sizes) > bounds.items:
        raise WireError("a frame whose buffers are not described")
    if not all(type(size) is int and size >= 0 for size in sizes):
        raise WireError("a frame whose buffers are not described")
    if start + sum(sizes) != len(frame):
        raise WireError("a frame whose buffers do not add up")
    view, buffers = memoryview(frame), []
    for size in sizes:
        buffers.append(view[start : start + size])
        start += size
    return buffers


class _Encoder:
    """Writes one frame. Scalars are written as they are, everything else as `{"tag": ..., "of": ...}`."""

    def __init__(self, buffers: list[bytes], refer: Callable[[Any], Reference], bounds: Bounds) -> None:
        self.buffers = buffers
        self.refer = refer
        self.bounds = bounds
        self.items = 0

    def plain(self, value: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH:
            raise WireError(f"data nested more than {MAX_DEPTH} deep")
        if self.items > self.bounds.items:
            raise WireError(f"more than {self.bounds.items:,} values")
        value = _as_builtin(value)
        kind = type(value)
        if value is None or kind in (bool, float, str):
            return value
        if kind is int:
            if value.bit_length() > 4096:
                raise WireError("an integer of more than 4096 bits")
            return value
        if isinstance(value, _ARRAYS):
            return self.array(value)
        if kind is tuple or kind is list:
            return {"tag": kind.__name__, "of": [self.plain(item, depth + 1) for item in value]}
        if isinstance(value, dict):
            if len(value) > MAX_KEYS:
                raise WireError(f"a dict of more than {MAX_KEYS:,} keys")
            pairs = list(value.items())
            return {"tag": "dict", "of": [[self.key(k), self.plain(v, depth + 1)] for k, v in pairs]}
        tensor = _tensor_parts(value, self.bounds.frame)
        if tensor is not None:
            dtype, shape, raw = tensor
            self.buffers.append(raw)
            return {"tag": "tensor", "of": [dtype, shape, len(self.buffers) - 1]}
        tag, arguments = self.refer(value)
        return {"tag": tag, "of": arguments}

    @staticmethod
    def key(value: Any) -> str | int:
        value = _as_builtin(value)
        if not _is_key(value):
            raise WireError(
                f"a dict with a key of type {type(value).__name__}, and keys are text or small whole numbers"
            )
        return value

    def array(self, value: Any) -> Any:
        array = np.asarray(value)
        if _DTYPE.fullmatch(array.dtype.str) is None:
            tag, arguments = self.refer(value)
            return {"tag": tag, "of": arguments}
        if array.nbytes > self.bounds.frame:
            most = _megabytes(self.bounds.frame)
            raise WireError(f"an array of {_megabytes(array.nbytes)}, and at most {most} can be sent")
        self.buffers.append(array.tobytes())
        return {"tag": "array", "of": [array.dtype.str, list(array.shape), len(self.buffers) - 1]}


class _Decoder:
    """Reads one frame without trusting it."""

    def __init__(self, buffers: list[memoryview], revive: Callable[[str, list[Any]], Any], bounds: Bounds) -> None:
        self.buffers = dict(enumerate(buffers))
        """Unused buffers. Each serves one array: a frame could otherwise name the same bytes often, and fill memory."""
        self.revive = revive
        self.bounds = bounds
        self.items = 0

    def value(self, body: Any, depth: int) -> Any:
        self.items += 1
        if depth > MAX_DEPTH or self.items > self.bounds.items:
            raise WireError("a frame that is too deep or has too many values")
        if body is None or isinstance(body, bool | int | float):
            return body
        if isinstance(body, str):
            return body.encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be printed
        if not isinstance(body, dict) or set(body) != {"tag", "of"} or not isinstance(body["of"], list):
            raise WireError("a frame with an unknown kind of value")
        tag, arguments = body["tag"], body["of"]
        if tag == "array":
            return self.array(*self.described(arguments))
        if tag == "tensor":
            return self.tensor(*self.described(arguments))
        if tag in ("tuple", "list"):
            items = [self.value(item, depth + 1) for item in arguments]
            return tuple(items) if tag == "tuple" else items
        if tag == "dict":
            return self.mapping(arguments, depth)
        if not isinstance(tag, str):
            raise WireError("a frame with an unknown kind of value")
        return self.revive(tag, arguments)

    def mapping(self, pairs: list[Any], depth: int) -> dict[Any, Any]:
        if len(pairs) > MAX_KEYS or not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            raise WireError("a dict that is malformed or too large")
        if not all(_is_key(key) for key, _ in pairs):
            raise WireError("a dict whose keys are neither text nor small whole numbers")
        return {self.value(key, depth + 1): self.value(value, depth + 1) for key, value in pairs}

    def described(self, arguments: list[Any]) -> tuple[str, list[int], memoryview]:
        """The checked parts of an array's description: dtype, shape and its bytes."""
        if len(arguments) != 3:
            raise WireError("an array that is not described")
        dtype, shape, index = arguments
        if not isinstance(dtype, str) or not isinstance(shape, list) or type(index) is not int:
            raise WireError("an array that is not described")
        if len(shape) > 32 or not all(type(size) is int and 0 <= size <= self.bounds.frame for size in shape):
            raise WireError("an array or a tensor of an impossible shape")
        # Zeros are skipped: an empty array with other huge sizes would fill the memory when it is summed over an axis.
        if math.prod(size for size in shape if size) > self.bounds.frame:
            raise WireError("an array or a tensor of an impossible shape")
        if index not in self.buffers:
            raise WireError("an array without its bytes")
        return dtype, shape, self.buffers.pop(index)

    def array(self, dtype_name: str, shape: list[int], raw: memoryview) -> np.ndarray:
        if _DTYPE.fullmatch(dtype_name) is None:
            raise WireError("an array of an unknown dtype")
        try:
            dtype = np.dtype(dtype_name)
            if math.prod(shape) * dtype.itemsize != len(raw):
                raise WireError("an array whose bytes do not fit its shape")
            flat = np.frombuffer(raw, dtype=dtype)
            if dtype.kind == "b":  # a byte other than 0 and 1 would be true, but not equal to True
                return (flat.view(np.uint8) != 0).reshape(shape)
            return flat.reshape(shape).copy()
        except (TypeError, ValueError) as error:
            raise WireError(f"an array that cannot be: {error}") from None

    def tensor(self, dtype_name: str, shape: list[int], raw: memoryview) -> Any:
        torch = sys.modules.get("torch")
        dtype = getattr(torch, dtype_name, None) if _TENSOR_DTYPE.fullmatch(dtype_name) else None
        if torch is None or not isinstance(dtype, torch.dtype):
            raise WireError("a tensor, where none is expected")
        if math.prod(shape) * dtype.itemsize != len(raw):
            raise WireError("a tensor whose bytes do not fit its shape")
        if not len(raw):
            return torch.empty(shape, dtype=dtype)
        if dtype is torch.bool:
            return (torch.frombuffer(bytearray(raw), dtype=torch.uint8) != 0).reshape(shape)
        return torch.frombuffer(bytearray(raw), dtype=dtype).reshape(shape)


def _as_builtin(value: Any) -> Any:
    """Convert instances of subclasses of str, int or float (`StrEnum`, `np.str_`) to the builtin, np.bool_ to bool.

    No method of the subclass is called. Other values, NumPy's numbers included, are returned unchanged.
    """
    kind = type(value)
    if kind is np.bool_:
        return bool(value)
    if kind in _BUILTINS or (isinstance(value, np.generic) and not isinstance(value, str)):
        return value
    return next((convert(value) for builtin, convert in _BUILTINS.items() if issubclass(kind, builtin)), value)


def _is_key(value: Any) -> bool:
    return type(value) is str or (type(value) is int and abs(value) < MAX_KEY)


def _tensor_parts(value: Any, most: int) -> tuple[str, list[int], bytes] | None:
    """The dtype name, shape and bytes of a PyTorch tensor; None for anything else. Never imports torch."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(value, torch.Tensor):
        return None
    if type(value) not in (torch.Tensor, torch.nn.Parameter) or vars(value):  # they may override methods
        raise WireError("a tensor with attributes, or of a class, of its own")
    with torch._C.DisableTorchFunction():
        flat = value.detach().cpu().resolve_conj().resolve_neg().contiguous().reshape(-1)
        if flat.numel() == 1:  # counts as contiguous whatever its stride is, and `view` refuses strides other than 1
            flat = flat.clone(memory_format=torch.contiguous_format)
        if flat.numel() * flat.element_size() > most:
            raise WireError(f"a tensor of {_megabytes(flat.numel() * flat.element_size())}")
        # `force`, because forward mode makes zero tensors that plain `numpy()` refuses
        raw = flat.view(torch.uint8).numpy(force=True).tobytes() if flat.numel() else b""
    return str(value.dtype).removeprefix("torch."), list(value.shape), raw


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MiB"
