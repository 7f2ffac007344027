"""The one encoder: canonical msgpack.

A value has exactly one encoding: the shortest form of each integer and length, UTF-8 text, doubles
for floats, map keys in the order given. Equal bytes therefore mean equal values, and the
same run gives the same file. Integers beyond 64 bits are refused here, so that no journal holds
what another language could not read.

Reading is bounded: `unpack` takes one value, all of the buffer, and no ext or timestamp; msgpack
limits the depth, and each declared length to what is there. A map costs eighty times its byte in
the file, so there is a limit on maps; whatever else there is costs fifty times its bytes at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Never

import msgpack
from xxhash import xxh3_64, xxh3_64_intdigest

MAPS_MAX: Final = 1 << 20  # maps in one value: one for every agent, ten times over

_packer = msgpack.Packer(use_bin_type=True)


class Undecodable(ValueError):
    """The bytes are not one msgpack value. The message says why."""


def pack(value: object) -> bytes:
    """Encode None, bool, int (64 bits), float, str, bytes, and tuples, lists and dicts of these.

    Raises OverflowError for an integer beyond 64 bits, TypeError for another type and
    UnicodeEncodeError for text with lone surrogates.
    """
    packed: bytes = _packer.pack(value)  # which drops what it had packed when it raises
    return packed


def unpack(packed: bytes | memoryview) -> Any:
    """Decode one value; arrays become tuples. Raises Undecodable, whatever the bytes."""
    try:
        return msgpack.unpackb(packed, **_limits(len(packed)))
    except MALFORMED as error:
        raise undecodable(error) from None


def undecodable(error: Exception) -> Undecodable:
    """What decoding raised, in words that need no knowledge of a library."""
    if isinstance(error, Undecodable):
        return error
    if isinstance(error, (RecursionError, msgpack.StackError)):
        return Undecodable("values within values, too deep to be read")
    if isinstance(error, UnicodeDecodeError):
        return Undecodable("text that is no UTF-8")
    return Undecodable("bytes that are no whole value of msgpack")


# What decoding raises. Running out of memory says nothing of the bytes, and is not among it.
MALFORMED = (ValueError, TypeError, RecursionError, msgpack.UnpackException)


def unpacker(size: int) -> msgpack.Unpacker:
    """An Unpacker for values that are together `size` bytes at most, with every limit of `unpack`.

    Its methods raise what stands in MALFORMED.
    """
    return msgpack.Unpacker(max_buffer_size=size, **_limits(size))


def _limits(size: int) -> dict[str, Any]:
    limits = {
        "use_list": False,
        "strict_map_key": False,
        "max_array_len": size,
        "max_map_len": size,
        "max_ext_len": 0,
        "ext_hook": _no_ext,
    }
    if size > MAPS_MAX:  # a map is a byte at least, so in what is smaller nobody need count them
        limits["object_hook"] = _CountedMaps()
    return limits


_MAP_HEADS = bytes((*range(0x80, 0x90), 0xDE, 0xDF))


def is_readable(packed: bytes) -> bool:
    """Whether what `pack` gave has no more maps than `unpack` takes."""
    if len(packed) - len(packed.translate(None, _MAP_HEADS)) <= MAPS_MAX:
        return True  # as nearly always, and at a tenth of the cost
    try:
        unpack(packed)
    except Undecodable:
        return False
    return True


class _CountedMaps:
    """Counts the maps of a value while it is decoded."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, value: dict[Any, Any]) -> dict[Any, Any]:
        self.count += 1
        if self.count > MAPS_MAX:
            raise Undecodable(f"more than {MAPS_MAX} maps")
        return value


def _no_ext(code: int, data: bytes) -> Never:
    raise Undecodable("an ext value")


def fingerprint_of(parts: Sequence[object]) -> int:
    """`fingerprint(parts)`, packed piece by piece: of a part that is a sequence one item after the
    other. What is shared between the items is never in memory as bytes more than once.
    """
    hashed = xxh3_64(_packer.pack_array_header(len(parts)))
    for part in parts:
        if isinstance(part, (list, tuple)):
            hashed.update(_packer.pack_array_header(len(part)))
            for item in part:
                hashed.update(pack(item))
        else:
            hashed.update(pack(part))
    return hashed.intdigest()


def fingerprint(value: object) -> int:
    """xxh3-64 (seed 0) of the canonical encoding: the building block of state digests."""
    return xxh3_64_intdigest(pack(value))
