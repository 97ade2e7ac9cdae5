"""Python and numpy values as bytes, the way there; `autograder.wire.codec` says how they look."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH = struct.Struct(">I")
"""How the length of the header is written."""
MAX_DEPTH = 50
"""Levels of containers that travel; what lies deeper stays an object."""
MAX_NDIM = 16
"""Axes of an array that travels."""
# Made once; a tree that was just built holds no circle.
_to_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


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
    return _payload(encoder.node(value, 0), encoder.buffers)


class ListEncoder:
    """
    Encodes a list one item at a time, each as it is when it is added.

    Parameters
    ----------
    describe : callable, optional
        As in `encode`.
    """

    def __init__(self, describe: Callable[[object], Handle] | None = None) -> None:
        self._encoder = _Encoder(describe)
        self._items: list[Any] = []

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def add(self, value: object) -> None:
        """
        Add an item; what changes in it later is not seen.

        Parameters
        ----------
        value : object
            The item. If it cannot be encoded, the list is as before.

        Raises
        ------
        TypeError
            If it holds an object that is not data, and there is no `describe`.
        """
        buffers = self._encoder.buffers
        before = len(buffers)
        try:
            self._items.append(self._encoder.node(value, 1))
        except BaseException:
            del buffers[before:]
            raise

    def payload(self) -> bytes:
        """Return the list as bytes, which `decode` turns into a list."""
        return _payload(["l", self._items], self._encoder.buffers)


class _Encoder:
    def __init__(self, describe: Callable[[object], Handle] | None) -> None:
        self.describe = describe
        self.buffers: list[bytes] = []

    def node(self, value: Any, depth: int) -> Any:
        # Most nodes are keys, names and small numbers.
        kind = type(value)
        if kind is str or kind is bool or value is None:
            return value
        if kind is int:
            return ["i", format(value, "x")]
        if depth > MAX_DEPTH:
            return self._handle(value)
        if isinstance(value, np.ndarray):
            return self._array(value)
        if isinstance(value, np.generic):
            return self._scalar(value)
        is_plain = isinstance(value, (str, int, float, complex))
        return _number_or_text(value) if is_plain else self._container(value, depth + 1)

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
        plain = value if type(value) is np.ndarray else np.asarray(value).view(np.ndarray)
        native = plain.dtype if plain.dtype.isnative else plain.dtype.newbyteorder("=")
        if native.str not in DTYPES or plain.ndim > MAX_NDIM:
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


def _payload(header: Any, buffers: list[bytes]) -> bytes:
    text = _to_json(header).encode("ascii")
    return b"".join([LENGTH.pack(len(text)), text, *buffers])
