"""Canonical msgpack: what is encoded comes back, nothing else is encoded, and any bytes are read
safely.
"""

import math
import re
from contextlib import suppress
from typing import Any

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import TooLarge, Undecodable, fingerprint, fingerprint_of, pack, unpack
from tests.journals import peak

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]))
    | st.binary()
)
VALUES = st.recursive(
    SCALARS,
    lambda values: (
        st.lists(values).map(tuple)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values)
    ),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_encoded_comes_back_and_has_one_encoding(value: Any) -> None:
    packed = pack(value)

    assert repr(unpack(packed)) == repr(value)  # 1, 1.0 and True differ; keys are in order
    assert packed == msgpack.packb(value, use_bin_type=True)
    assert fingerprint(value) == xxh3_64_intdigest(packed, 0)
    for size in range(len(packed)):
        with pytest.raises(Undecodable):
            unpack(packed[:size])


def test_lists_and_tuples_are_encoded_alike_and_come_back_as_tuples() -> None:
    assert pack([1, (2, [])]) == pack((1, [2, ()]))
    assert unpack(pack([1, [2, []]])) == (1, (2, ()))


def test_maps_keep_the_order_of_their_keys_which_may_be_numbers() -> None:
    assert pack({"b": 1, "a": 2}) == bytes.fromhex("82 a1 62 01 a1 61 02")
    assert {1: 2, None: 3} == unpack(pack({1: 2, None: 3}))


@pytest.mark.parametrize(
    ("value", "encoding"),
    [
        (1.0, "cb 3ff0000000000000"), (-0.0, "cb 8000000000000000"), (127, "7f"), (128, "cc 80"),
        (256, "cd 0100"), (2**32, "cf 0000000100000000"), (-33, "d0 df"), (-129, "d1 ff7f"),
        ("é", "a2 c3a9"), ("a" * 32, "d9 20" + "61" * 32), (b"\x00", "c4 01 00"),
        ((0,) * 16, "dc 0010" + "00" * 16),
    ],
)  # fmt: skip
def test_the_shortest_form_is_taken(value: Any, encoding: str) -> None:
    assert pack(value).hex() == encoding.replace(" ", "")


def test_not_a_number_is_encoded_too() -> None:
    assert math.isnan(unpack(pack(math.nan)))


# What is refused.

ENDLESS: list[Any] = []
ENDLESS.append(ENDLESS)


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (2**64, TooLarge), (-(2**63) - 1, TooLarge), ("a\udfffb", UnicodeEncodeError),
        ({1, 2}, TypeError), (object(), TypeError), (1j, TypeError), (range(3), TypeError),
        (ENDLESS, ValueError),
    ],
)  # fmt: skip
def test_other_values_are_refused_and_leave_nothing_behind(
    value: object, error: type[Exception]
) -> None:
    with pytest.raises(error):
        pack(["much that was packed already", 1, 2, 3, value])

    assert pack((7, "next")) == msgpack.packb((7, "next"))


# Reading.


@given(st.binary(max_size=200), VALUES, st.lists(st.tuples(st.integers(0), st.integers(0, 255))))
def test_any_bytes_are_a_value_or_undecodable(
    data: bytes, value: Any, changes: list[tuple[int, int]]
) -> None:
    with suppress(Undecodable):
        unpack(data)
    packed = bytearray(pack(value))
    for place, byte in changes:
        packed[place % len(packed)] = byte
    with suppress(Undecodable):
        unpack(bytes(packed))


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not one complete"),
        (b"\xc1", "not one complete"),  # the one byte that msgpack does not use
        (b"\x01\x02", "not one complete"),
        (b"\x92\x01", "not one complete"),
        (b"\xa2\xff\xfe", "not UTF-8"),
        (b"\x81\x80\x01", "."),  # a map whose key is a map
        (b"\xd4\x01\x02", "ext|not one complete"),
        (b"\xd7\xff" + b"\xff" * 8, "."),  # a timestamp of too many nanoseconds
        (b"\x91" * 10_000 + b"\x90", "too deeply"),
        (b"\x81\x01" * 10_000 + b"\x80", "too deeply"),
    ],
)
def test_bytes_that_are_not_one_value_are_undecodable(data: bytes, says: str) -> None:
    with pytest.raises(Undecodable, match=says) as caught:
        unpack(data)

    assert not re.search("StackError|[Uu]npack|ExtraData|codec", str(caught.value))


@pytest.mark.parametrize("head", [b"\xdd", b"\xdf", b"\xdb", b"\xc6"])
def test_a_declared_length_takes_no_memory(head: bytes) -> None:
    data = head + (2**31).to_bytes(4, "big") + bytes(1_000)

    def read() -> None:
        with pytest.raises(Undecodable):
            unpack(data)

    assert peak(read) < 1 << 20


def test_a_view_of_bytes_is_read_like_bytes() -> None:
    assert unpack(memoryview(pack((1, "a")))) == (1, "a")


@given(st.lists(VALUES, max_size=5))
def test_a_fingerprint_piece_by_piece_is_that_of_the_whole(parts: list[Any]) -> None:
    assert fingerprint_of(parts) == fingerprint(parts)
