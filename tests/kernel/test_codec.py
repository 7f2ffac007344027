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


def exact(value: Any) -> str:
    """A form in which 1, 1.0 and True differ, and the order of keys counts."""
    return repr(value)


@given(VALUES)
def test_what_is_encoded_comes_back(value: Any) -> None:
    assert exact(unpack(pack(value))) == exact(value)


@given(VALUES)
def test_a_value_has_one_encoding(value: Any) -> None:
    packed = pack(value)

    assert pack(unpack(packed)) == packed
    assert packed == msgpack.packb(value, use_bin_type=True)


def test_lists_come_back_as_tuples() -> None:
    assert unpack(pack([1, [2, []]])) == (1, (2, ()))


def test_lists_and_tuples_are_encoded_alike() -> None:
    assert pack([1, (2,)]) == pack((1, [2]))


def test_keys_of_maps_may_be_numbers() -> None:
    assert {1: 2, None: 3} == unpack(pack({1: 2, None: 3}))


def test_maps_keep_the_order_of_their_keys() -> None:
    assert pack({"b": 1, "a": 2}) == bytes.fromhex("82 a1 62 01 a1 61 02")


@pytest.mark.parametrize(
    ("value", "encoding"),
    [
        (None, "c0"), (False, "c2"), (True, "c3"), (1.0, "cb 3ff0000000000000"),
        (-0.0, "cb 8000000000000000"), (0, "00"), (127, "7f"), (128, "cc 80"), (255, "cc ff"),
        (256, "cd 0100"), (2**16, "ce 00010000"), (2**32, "cf 0000000100000000"),
        (2**64 - 1, "cf ffffffffffffffff"), (-1, "ff"), (-32, "e0"), (-33, "d0 df"),
        (-129, "d1 ff7f"), (-(2**15) - 1, "d2 ffff7fff"), (-(2**63), "d3 8000000000000000"),
        ("", "a0"), ("é", "a2 c3a9"), ("a" * 32, "d9 20" + "61" * 32), (b"\x00", "c4 01 00"),
        ((), "90"), ((0,) * 16, "dc 0010" + "00" * 16), ({}, "80"),
    ],
)  # fmt: skip
def test_the_shortest_form_is_taken(value: Any, encoding: str) -> None:
    assert pack(value).hex() == encoding.replace(" ", "")


# What is refused.


@pytest.mark.parametrize("value", [2**64, -(2**63) - 1, 10**30, -(10**30)])
def test_integers_beyond_64_bits_are_refused(value: int) -> None:
    with pytest.raises(TooLarge):
        pack(("row", value))


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_lone_surrogates_are_refused(text: str) -> None:
    with pytest.raises(UnicodeEncodeError):
        pack((1, text))


@pytest.mark.parametrize("value", [{1, 2}, frozenset(), object(), 1j, range(3), pack])
def test_other_types_are_refused(value: object) -> None:
    with pytest.raises(TypeError):
        pack([1, value])


def test_a_list_that_holds_itself_is_refused() -> None:
    endless: list[Any] = []
    endless.append(endless)

    with pytest.raises(ValueError, match="recursion"):
        pack(endless)


@pytest.mark.parametrize("bad", [2**64, "\ud800", {1, 2}])
def test_a_refused_value_leaves_nothing_behind(bad: object) -> None:
    with pytest.raises((OverflowError, UnicodeEncodeError, TypeError)):
        pack(["much that was packed already", 1, 2, 3, bad])

    assert pack((7, "next")) == msgpack.packb((7, "next"))


# Reading.


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_undecodable(data: bytes) -> None:
    with suppress(Undecodable):
        unpack(data)


@given(st.data())
def test_a_changed_encoding_is_a_value_or_undecodable(data: st.DataObject) -> None:
    packed = bytearray(pack(data.draw(VALUES)))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(packed) - 1))
        packed[place] = data.draw(st.integers(0, 255))

    with suppress(Undecodable):
        unpack(bytes(packed))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xc1",                                # the one byte that msgpack does not use
        b"\x01\x02",                            # two values
        b"\x92\x01",                            # an array cut short
        b"\xa2\xff\xfe",                        # text that is not UTF-8
        b"\x81\x80\x01",                        # a map whose key is a map
        b"\xd7\xff\xff\xff\xff\xff\xff\xff\xff\xff",  # a timestamp of too many nanoseconds
        b"\x91" * 10_000 + b"\x90",             # nested too deep
        b"\x81\x01" * 10_000 + b"\x80",
        b"\xdd\xff\xff\xff\xff",                # 2^32 - 1 items declared
        b"\xdf\xff\xff\xff\xff",
        b"\xdb\xff\xff\xff\xff",
        b"\xc6\xff\xff\xff\xff",
    ],
)  # fmt: skip
def test_bytes_that_are_not_one_value_are_undecodable(data: bytes) -> None:
    with pytest.raises(Undecodable) as caught:
        unpack(data)

    assert str(caught.value)


@given(VALUES)
def test_a_value_that_was_cut_is_undecodable(value: Any) -> None:
    packed = pack(value)

    for size in range(len(packed)):
        with pytest.raises(Undecodable):
            unpack(packed[:size])


@pytest.mark.parametrize("head", [b"\xdd", b"\xdf", b"\xdb", b"\xc6"])
def test_a_declared_length_takes_no_memory(head: bytes) -> None:
    data = head + (2**31).to_bytes(4, "big") + bytes(1_000)

    def read() -> None:
        with pytest.raises(Undecodable):
            unpack(data)

    assert peak(read) < 1 << 20


def test_a_view_of_bytes_is_read_like_bytes() -> None:
    assert unpack(memoryview(pack((1, "a")))) == (1, "a")


# Fingerprints.


@given(VALUES)
def test_a_fingerprint_is_the_hash_of_the_encoding(value: Any) -> None:
    assert fingerprint(value) == xxh3_64_intdigest(msgpack.packb(value, use_bin_type=True), 0)


def test_not_a_number_is_encoded_too() -> None:
    assert math.isnan(unpack(pack(math.nan)))


@given(st.lists(VALUES, max_size=5))
def test_a_fingerprint_piece_by_piece_is_that_of_the_whole(parts: list[Any]) -> None:
    assert fingerprint_of(parts) == fingerprint(parts)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"\x91" * 5000 + b"\x01", "too deeply"),
        (b"\xa1\xff", "not UTF-8"),
        (b"\x92\x01", "not one complete"),
        (b"\xc1", "not one complete"),
        (b"\x01\x02", "not one complete"),
        (b"\xd4\x01\x02", "ext|not one complete"),
    ],
)
def test_why_bytes_cannot_be_read_is_told_in_our_own_words(data: bytes, says: str) -> None:
    with pytest.raises(Undecodable, match=says) as caught:
        unpack(data)

    assert not re.search("StackError|[Uu]npack|ExtraData|codec", str(caught.value))
