"""The wire: what is sent arrives, and what is not a value is refused."""

from __future__ import annotations

import contextlib
import json
import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from autograder.wire import encoding
from autograder.wire.codec import DTYPES, Handle, ListEncoder, decode, decode_each, encode
from autograder.wire.frames import (
    WireError,
)

arrays = st.sampled_from(sorted(DTYPES)).flatmap(
    lambda dtype: hnp.arrays(
        np.dtype(dtype), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=5)
    )
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text()
values = st.recursive(
    scalars | arrays,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(left: Any, right: Any) -> bool:
    """Compare type, dtype, shape and every bit that matters."""
    if type(left) is not type(right):
        return False
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and left.shape == right.shape and _same_numbers(left, right)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[key], right[key]) for key in left)
    if isinstance(left, (float, complex)):
        return _same_numbers(np.asarray(left), np.asarray(right))
    return bool(left == right)


def _same_numbers(left: np.ndarray[Any, Any], right: np.ndarray[Any, Any]) -> bool:
    return bool(np.array_equal(left, right, equal_nan=left.dtype.kind in "fc"))


@given(value=values)
def test_a_value_arrives_as_it_was_sent(value: Any) -> None:
    """Decoding undoes encoding, exact types included."""
    assert same(decode(encode(value)), value)


@given(array=arrays, order=st.sampled_from("CF"), step=st.sampled_from([1, 2, -1]), frozen=st.booleans())
def test_an_array_keeps_its_layout(
    array: np.ndarray[Any, Any], order: Any, step: int, *, frozen: bool
) -> None:
    """A check on Fortran-ordered or read-only input must reach the student as such."""
    array = np.array(array, order=order)
    array = array[(..., *(slice(None, None, step),) * array.ndim)]  # type: ignore[arg-type]
    array.flags.writeable = not frozen

    arrived = decode(encode(array))

    assert same(arrived, array)
    assert arrived.flags.writeable != frozen
    if array.size > 1:
        assert arrived.flags.c_contiguous == array.flags.c_contiguous
        assert arrived.flags.f_contiguous == array.flags.f_contiguous


@pytest.mark.parametrize("value", [np.int64(3), np.float32(0.5), np.bool_(1), np.complex64(1j)])
def test_a_numpy_scalar_stays_one(value: np.generic) -> None:
    """A count may be a numpy integer, and a check must be able to tell."""
    arrived = decode(encode(value))

    assert type(arrived) is type(value)
    assert arrived == value


def test_byte_order_is_undone() -> None:
    """A big-endian array is the same numbers."""
    array = np.arange(5, dtype=">i4")

    assert np.array_equal(decode(encode(array)), array)


def test_subclasses_travel_as_their_base() -> None:
    """A NamedTuple pair is a pair, a matrix is an array."""
    pair = type("Pair", (tuple,), {})((1, 2))

    assert same(decode(encode(pair)), (1, 2))
    assert type(decode(encode(np.ma.masked_array([1.0, 2.0])))) is np.ndarray


def test_an_object_without_a_handle_is_refused() -> None:
    """The trusted side sends data only."""
    with pytest.raises(TypeError, match="not data"):
        encode(object())


def test_an_object_travels_as_its_handle() -> None:
    """Objects stay where they are; only their number goes."""
    payload = encode((object(), 1), describe=lambda _: Handle(7, "thing", callable=True))

    assert decode(payload) == (Handle(7, "thing", callable=True), 1)
    assert decode(payload, resolve=lambda handle: handle.number) == (7, 1)


def test_deep_nesting_becomes_a_handle_not_a_crash() -> None:
    """A student's list that holds itself has no end."""
    endless: list[Any] = []
    endless.append(endless)

    payload = encode(endless, describe=lambda _: Handle(0))

    assert isinstance(decode(payload), list)


@pytest.mark.parametrize("leaf", [1.5, 1j, np.float64(2), np.zeros(2), (), {}, [], "name", 7, None, True])
@pytest.mark.parametrize("above", [-2, -1, 0, 1])
def test_what_is_decoded_can_be_encoded(leaf: object, above: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder that sends more than ours, at the depth where ours sends objects."""
    value = leaf
    for _ in range(encoding.MAX_DEPTH + above):
        value = [value]
    with monkeypatch.context() as patch:
        patch.setattr(encoding, "MAX_DEPTH", 1000)
        payload = encode(value)

    with contextlib.suppress(WireError):
        assert decode(encode(decode(payload))) is not None


@given(items=st.lists(values, max_size=5))
def test_a_list_can_be_sent_and_read_item_by_item(items: list[Any]) -> None:
    """The bytes are those of the list as a whole."""
    encoder = ListEncoder()
    for item in items:
        encoder.add(item)

    assert encoder.payload() == encode(items)
    assert same(list(decode_each(encoder.payload())), items)


def test_an_item_is_as_it_was_when_it_was_added() -> None:
    """What happens to it later is not sent."""
    encoder, array, inner = ListEncoder(), np.zeros(2), [1]
    encoder.add((array, inner))
    array[:] = 5
    inner.append(2)

    ((arrived, numbers),) = decode(encoder.payload())
    assert (arrived.tolist(), numbers) == ([0, 0], [1])


def test_an_item_that_cannot_be_sent_leaves_no_trace() -> None:
    """The numbers of an array before it in the same item would else be those of the next."""
    encoder = ListEncoder()
    with pytest.raises(TypeError, match="not data"):
        encoder.add((np.ones(3), object()))
    encoder.add(np.zeros(3))

    assert len(encoder) == 1
    assert decode(encoder.payload())[0].tolist() == [0, 0, 0]


def test_an_item_is_read_when_it_is_asked_for() -> None:
    """What stands for an object may depend on what was done with the items before."""
    done: list[int] = []
    items = decode_each(encode([Handle(3), Handle(4)]), resolve=lambda _: len(done))

    assert next(items) == 0
    done.append(1)
    assert next(items) == 1


def header(node: Any, raw: bytes = b"") -> bytes:
    """Return a payload with any header one likes."""
    text = node if isinstance(node, bytes) else json.dumps(node).encode()
    return struct.pack(">I", len(text)) + text + raw


HOSTILE = {
    "nothing": b"",
    "half a length": b"\0\0",
    "header longer than payload": struct.pack(">I", 0xFFFFFFFF) + b"null",
    "not JSON": header(b"{"),
    "not UTF-8": header(b'"\xff\xfe"'),
    "bracket bomb": header(b"[" * 2_000_000),
    "unknown tag": header(["x", 1]),
    "tag that is no string": header([["l"], []]),
    "empty node": header([]),
    "bare number": header(3),
    "bare dict": header({"a": 1}),
    "int that is no text": header(["i", 5]),
    "int that is no number": header(["i", "zz"]),
    "float that is no number": header(["f", "zz"]),
    "complex with one part": header(["c", "0x1p+0"]),
    "tuple of no list": header(["t", "ab"]),
    "dict of no pairs": header(["d", [["a"]]]),
    "dict of texts": header(["d", ["ab"]]),
    "unhashable key": header(["d", [[["l", [None]], None]]]),
    "object dtype": header(["a", "|O", [1], "C", True], b"\0" * 8),
    "structured dtype": header(["a", "<f8,<f8", [1], "C", True], b"\0" * 16),
    "dtype of a list": header(["a", ["<f8"], [1], "C", True], b"\0" * 8),
    "negative size": header(["a", "<f8", [-1, -8], "C", True], b"\0" * 64),
    "size of a float": header(["a", "<f8", [1.0], "C", True], b"\0" * 8),
    "size of a bool": header(["a", "<f8", [True], "C", True], b"\0" * 8),
    "huge size": header(["a", "<f8", [2**40], "C", True], b"\0" * 8),
    "sizes that overflow": header(["a", "<f8", [2**32, 2**32], "C", True], b""),
    "empty, and vast": header(["a", "<f8", [0, 2**40], "C", True]),
    "keys that may collide": header(["d", [[["i", f"{n:x}"], None] for n in range(2000)]]),
    "a number of many digits": header(["i", "f" * 20_000]),
    "structure without end": header(b"[" + b"[]," * 600_000 + b"[]]"),
    "too many axes": header(["a", "<f8", [1] * 17, "C", True], b"\0" * 8),
    "too few bytes": header(["a", "<f8", [2], "C", True], b"\0" * 8),
    "too many bytes": header(["a", "<f8", [1], "C", True], b"\0" * 16),
    "bytes nobody asked for": header(None, b"more"),
    "unknown layout": header(["a", "<f8", [1], "K", True], b"\0" * 8),
    "handle with a text for number": header(["o", "1", "x", False]),
    "handle with too little": header(["o", 1]),
    "too many nodes": header(["l", [None] * 300_000]),
    "too deep": header(json.loads("[" * 80 + '"l"' + "]" * 80)),
}


@pytest.mark.parametrize("payload", HOSTILE.values(), ids=HOSTILE)
def test_a_malformed_payload_is_refused(payload: bytes) -> None:
    """Whatever a student's process sends is a value or a WireError, nothing else."""
    with pytest.raises(WireError):
        decode(payload)
    with pytest.raises(WireError):
        list(decode_each(payload))


@given(payload=st.binary(max_size=200))
def test_random_bytes_are_a_value_or_refused(payload: bytes) -> None:
    """No bytes raise anything but WireError."""
    with contextlib.suppress(WireError):
        decode(payload)


@given(value=values, position=st.integers(min_value=0), byte=st.integers(0, 255))
def test_a_flipped_byte_is_a_value_or_refused(value: Any, position: int, byte: int) -> None:
    """Nearly right payloads get further into the decoder than random ones."""
    payload = bytearray(encode(value))
    payload[position % len(payload)] = byte
    with contextlib.suppress(WireError):
        decode(bytes(payload))


def test_a_layout_costs_no_more_than_twice_the_memory() -> None:
    """Sixteen axes of one, doubled each, would be a vast block."""
    arrived = decode(header(["a", "<f8", [1] * 15 + [1000], "strided", True], bytes(8000)))

    assert not arrived.flags.c_contiguous
    assert arrived.base.nbytes == 16_000


def test_brackets_in_a_text_are_no_structure() -> None:
    """A student may print as many as the output limit allows."""
    text = '[{,"' * 500_000

    assert decode(encode(text)) == text


def test_a_boolean_array_holds_zeros_and_ones_only() -> None:
    """A byte of 2 would be a boolean that equals neither True nor False."""
    arrived = decode(header(["a", "|b1", [3], "C", True], b"\0\1\2"))

    assert arrived.view(np.uint8).tolist() == [0, 1, 1]
