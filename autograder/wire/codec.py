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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autograder.wire.frames import WireError

if TYPE_CHECKING:
    from collections.abc import Callable

_LENGTH = struct.Struct(">I")
_MAX_DEPTH = 50
_MAX_NODES = 200_000
_MAX_NDIM = 16
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
_LAYOUTS = ("C", "F", "strided")


def _known_dtypes() -> dict[str, np.dtype[Any]]:
    types = (
        *(np.bool_, np.int8, np.int16, np.int32, np.int64),
        *(np.uint8, np.uint16, np.uint32, np.uint64),
        *(np.float16, np.float32, np.float64, np.longdouble, np.complex64, np.complex128),
    )
    return {dtype.str: dtype for dtype in map(np.dtype, types)}


DTYPES = _known_dtypes()
"""The dtypes that travel, by their `str`; every other array stays an object."""


@dataclass(frozen=True, slots=True)
class Handle:
    """
    An object that stays in the process that made it, by its number there.

    Parameters
    ----------
    number : int
        The object's number in its process.
    type_name : str
        Name of its class, to be shown to people only.
    callable : bool
        True if it can be called.
    """

    number: int
    type_name: str = "object"
    callable: bool = False


def encode(value: object, *, describe: Callable[[object], Handle] | None = None) -> bytes:
    """
    Return a value as bytes.

    Exact types survive for None, bool, int, float, complex, str, tuple,
    list, dict, numpy scalars and ndarrays; subclasses (a NamedTuple, a
    matrix) travel as their base type. An ndarray keeps dtype, shape, memory
    layout and its writeable flag.

    Parameters
    ----------
    value : object
        What to encode.
    describe : callable, optional
        Gives the `Handle` of an object that is not data. Without it, such an
        object is a TypeError.

    Returns
    -------
    bytes
        The payload.

    Raises
    ------
    TypeError
        If the value holds an object that is not data, and `describe` is None.
    """
    encoder = _Encoder(describe)
    header = json.dumps(encoder.node(value, 0), separators=(",", ":")).encode("ascii")
    return b"".join([_LENGTH.pack(len(header)), header, *encoder.buffers])


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
    try:
        (length,) = _LENGTH.unpack_from(payload)
        header = _read_header(payload[_LENGTH.size : _LENGTH.size + length])
        decoder = _Decoder(payload, _LENGTH.size + length, resolve)
        value = decoder.value(header, 0)
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
    decoder.finish()
    return value


class _Encoder:
    def __init__(self, describe: Callable[[object], Handle] | None) -> None:
        self.describe = describe
        self.buffers: list[bytes] = []

    def node(self, value: object, depth: int) -> Any:
        if depth > _MAX_DEPTH:
            return self._handle(value)
        if value is None or value is True or value is False:
            return value
        if isinstance(value, np.generic):
            return self._scalar(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, (str, int, float, complex)):
            return _number_or_text(value)
        return self._container(value, depth + 1)

    def _container(self, value: object, depth: int) -> Any:
        # The base classes' own iterators: a subclass may lie in its __iter__.
        if isinstance(value, tuple):
            return ["t", [self.node(item, depth) for item in tuple.__iter__(value)]]
        if isinstance(value, list):
            return ["l", [self.node(item, depth) for item in list.__iter__(value)]]
        if isinstance(value, dict):
            return ["d", [[self.node(key, depth), self.node(item, depth)] for key, item in dict.items(value)]]
        return self._handle(value)

    def _scalar(self, value: np.generic) -> Any:
        if value.dtype.newbyteorder("=").str not in DTYPES:
            return self._handle(value)
        array = np.asarray(value).astype(value.dtype.newbyteorder("="))
        self.buffers.append(array.tobytes())
        return ["s", array.dtype.str]

    def _array(self, value: np.ndarray[Any, Any]) -> Any:
        plain = np.asarray(value).view(np.ndarray)
        native = plain.dtype.newbyteorder("=")
        if native.str not in DTYPES or plain.ndim > _MAX_NDIM:
            return self._handle(value)
        flags = plain.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "strided"
        self.buffers.append(plain.astype(native, copy=False).tobytes(order="C"))
        return ["a", native.str, list(plain.shape), layout, bool(flags.writeable)]

    def _handle(self, value: object) -> Any:
        if isinstance(value, Handle):
            handle = value
        elif self.describe is None:
            msg = f"cannot send an object of class {type(value).__name__}: it is not data"
            raise TypeError(msg)
        else:
            handle = self.describe(value)
        return ["o", handle.number, handle.type_name, handle.callable]


def _number_or_text(value: complex | str) -> Any:
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return ["i", int.__format__(value, "x")]
    if isinstance(value, float):
        return ["f", float.hex(value)]
    return ["c", float.hex(value.real), float.hex(value.imag)]


class _Decoder:
    def __init__(self, payload: bytes, start: int, resolve: Callable[[Handle], object] | None) -> None:
        self.payload = payload
        self.position = start
        self.resolve = resolve
        self.nodes = 0
        self.plain_keys = 0

    def value(self, node: Any, depth: int) -> Any:
        self.nodes += 1
        _require(depth <= _MAX_DEPTH + 1 and self.nodes <= _MAX_NODES)
        if node is None or isinstance(node, (bool, str)):
            return node
        _require(isinstance(node, list) and len(node) > 1 and isinstance(node[0], str))
        tag, *rest = node
        if tag in {"t", "l", "d"}:
            return self._container(tag, rest, depth + 1)
        if tag in {"s", "a"}:
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
        _require(isinstance(shape, list) and len(shape) <= _MAX_NDIM)
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
        msg = "malformed payload"
        raise WireError(msg)
