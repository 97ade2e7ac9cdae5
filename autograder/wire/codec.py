"""
Python and numpy values as bytes: a JSON header, then the raw numbers.

A payload is a 4-byte big-endian header length, the header in JSON, and the
bytes of all arrays and numpy scalars one after another. In the header None,
booleans and strings are themselves; everything else is a list that begins
with a tag: ``["i", hex]`` int, ``["f", hex]`` float, ``["c", hex, hex]``
complex, ``["t", items]`` tuple, ``["l", items]`` list, ``["d", pairs]``
dict, ``["s", dtype]`` numpy scalar, ``["a", dtype, shape, layout,
writeable]`` ndarray, ``["o", number, type_name, callable]`` an object that
stays where it is. There is no pickle and no npy anywhere.

Decoding trusts nothing: it gives plain data or raises `WireError`.
"""

from __future__ import annotations

import json
import math
import re
import struct
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.wire.encoding import DTYPES, LENGTH, MAX_DEPTH, MAX_NDIM, Handle, ListEncoder, encode
from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["DTYPES", "Handle", "ListEncoder", "decode", "decode_each", "encode"]

_MAX_NODES = 200_000
_MAX_NAME = 200
# Keys that are not text can be chosen to collide, which makes a dict quadratic.
_MAX_PLAIN_KEYS = 1000
# Longer integers cost more time than any count is worth.
_MAX_DIGITS = 10_000
# What an array without numbers may claim to be: (0, 2**60) is easily turned into 2**60 zeros.
_MAX_EMPTY_SIZE = 2**24
# JSON builds its lists before anything counts them; text in quotes is no structure.
_MAX_STRUCTURE = 1_000_000
_QUOTED = re.compile(rb'"(?:[^"\\]|\\.)*+"', re.DOTALL)
_CONTAINERS = frozenset("tld")
_NUMBERS = frozenset("sa")
_SIMPLE = frozenset("io")
_LAYOUTS = ("C", "F", "strided")


def decode(payload: bytes, *, resolve: Callable[[Handle], object] | None = None) -> Any:
    """
    Return the value that `encode` turned into these bytes.

    Parameters
    ----------
    payload : bytes
        What was received; it may be hostile.
    resolve : callable, optional
        Turns a `Handle` into what stands for it here. By default the handle.

    Returns
    -------
    object
        Plain data, with what `resolve` gave in it.

    Raises
    ------
    WireError
        If the bytes are not exactly one well-formed value.
    """
    with _malformed():
        header, decoder = _opened(payload, resolve)
        value = decoder.value(header, 0)
        decoder.finish()
        return value


def decode_each(payload: bytes, *, resolve: Callable[[Handle], object] | None = None) -> Iterator[Any]:
    """
    Yield the items of an encoded list, each decoded when it is asked for.

    What `resolve` gives may therefore depend on what was done with the items before.

    Parameters
    ----------
    payload : bytes
        What `encode` or `ListEncoder` made of a list.
    resolve : callable, optional
        As in `decode`.

    Yields
    ------
    object
        Plain data, with what `resolve` gave in it.

    Raises
    ------
    WireError
        If the bytes are not exactly one well-formed list.
    """
    with _malformed():
        header, decoder = _opened(payload, resolve)
        tag, items = header
        _require(tag == "l" and isinstance(items, list))
    for node in items:
        with _malformed():
            value = decoder.value(node, 1)
        yield value
        del value
    decoder.finish()


def _opened(payload: bytes, resolve: Callable[[Handle], object] | None) -> tuple[Any, _Decoder]:
    (length,) = LENGTH.unpack_from(payload)
    start = LENGTH.size + length
    return _read_header(payload[LENGTH.size : start]), _Decoder(payload, start, resolve)


@contextmanager
def _malformed() -> Iterator[None]:
    """Turn whatever bytes can raise into `WireError`."""
    try:
        yield
    except WireError:
        raise
    except (
        ValueError,
        TypeError,
        KeyError,
        OverflowError,
        RecursionError,
        MemoryError,
        struct.error,
    ) as error:
        msg = f"malformed payload ({type(error).__name__})"
        raise WireError(msg) from None


class _Decoder:
    def __init__(self, payload: bytes, start: int, resolve: Callable[[Handle], object] | None) -> None:
        self.payload = payload
        self.position = start
        self.resolve = resolve
        self.nodes = 0
        self.plain_keys = 0

    def value(self, node: Any, depth: int) -> Any:
        self.nodes += 1
        if depth > MAX_DEPTH + 1 or self.nodes > _MAX_NODES:
            raise _malformed_payload()
        kind = type(node)
        if kind is str or kind is bool or node is None:
            return node
        if kind is not list or len(node) < 2 or type(node[0]) is not str:  # noqa: PLR2004 - a tag and more
            raise _malformed_payload()
        tag, *rest = node
        # What lies so deep is encoded as an object, if it is more than a name or a count.
        if depth > MAX_DEPTH and tag not in _SIMPLE:
            raise _malformed_payload()
        if tag in _CONTAINERS:
            return self._container(tag, rest, depth + 1)
        if tag in _NUMBERS:
            return self._numbers(tag, rest)
        if tag == "o":
            return self._object(rest)
        return _number(tag, rest)

    def finish(self) -> None:
        _require(self.position == len(self.payload))

    def _container(self, tag: str, rest: list[Any], depth: int) -> Any:
        (items,) = rest
        _require(isinstance(items, list))
        if tag == "d":
            _require(all(isinstance(pair, list) for pair in items))
            return {self._key(key, depth): self.value(item, depth) for key, item in items}
        values = [self.value(item, depth) for item in items]
        return tuple(values) if tag == "t" else values

    def _key(self, node: Any, depth: int) -> Any:
        self.plain_keys += not isinstance(node, str)
        _require(self.plain_keys <= _MAX_PLAIN_KEYS)
        return self.value(node, depth)

    def _numbers(self, tag: str, rest: list[Any]) -> Any:
        _require(isinstance(rest[0], str) and rest[0] in DTYPES)
        dtype = DTYPES[rest[0]]
        if tag == "s":
            _require(len(rest) == 1)
            return self._take(dtype, ())[()]
        _, shape, layout, writeable = rest
        _require(isinstance(shape, list) and len(shape) <= MAX_NDIM)
        _require(all(type(size) is int and size >= 0 for size in shape))
        _require(layout in _LAYOUTS and isinstance(writeable, bool))
        array = _laid_out(self._take(dtype, tuple(shape)), layout)
        array.flags.writeable = writeable
        return array

    def _take(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
        # math.prod on Python ints cannot overflow, so a lying shape is caught here.
        count = math.prod(shape)
        end = self.position + count * dtype.itemsize
        _require(end <= len(self.payload))
        _require(count > 0 or math.prod(size or 1 for size in shape) <= _MAX_EMPTY_SIZE)
        array = np.frombuffer(self.payload, dtype, count, self.position) if count else np.empty(0, dtype)
        self.position = end
        if dtype == np.bool_:
            # A byte other than 0 and 1 would be a boolean unlike both.
            array = array.view(np.uint8) != 0
        return array.reshape(shape).copy()

    def _object(self, rest: list[Any]) -> object:
        number, type_name, is_callable = rest
        _require(type(number) is int and isinstance(type_name, str) and isinstance(is_callable, bool))
        handle = Handle(number, type_name[:_MAX_NAME], is_callable)
        return handle if self.resolve is None else self.resolve(handle)


def _number(tag: str, rest: list[Any]) -> complex:
    _require(all(isinstance(part, str) for part in rest))
    if tag == "i":
        (digits,) = rest
        _require(len(digits) <= _MAX_DIGITS)
        return int(digits, 16)
    if tag == "f":
        (digits,) = rest
        return float.fromhex(digits)
    _require(tag == "c")
    real, imaginary = map(float.fromhex, rest)
    return complex(real, imaginary)


def _laid_out(array: np.ndarray[Any, Any], layout: str) -> np.ndarray[Any, Any]:
    if layout == "F":
        return np.asfortranarray(array)
    if layout == "C" or array.size <= 1:
        return array
    # Every second item along one axis: no more than twice the memory, whatever the shape.
    axis = max(index for index, size in enumerate(array.shape) if size > 1)
    shape = [size * (1 + (index == axis)) for index, size in enumerate(array.shape)]
    view = np.zeros(shape, array.dtype)[(slice(None),) * axis + (slice(None, None, 2),)]
    view[...] = array
    return view


def _read_header(text: bytes) -> Any:
    if sum(map(text.count, (b"[", b"{", b","))) > _MAX_STRUCTURE:
        bare = _QUOTED.sub(b"", text)
        _require(sum(map(bare.count, (b"[", b"{", b","))) <= _MAX_STRUCTURE)
    return json.loads(text)


def _require(condition: bool) -> None:  # noqa: FBT001 - an assertion that -O keeps
    if not condition:
        raise _malformed_payload()


def _malformed_payload() -> WireError:
    return WireError("malformed payload")
