"""The one encoder: canonical msgpack.

A value has exactly one encoding: the shortest form of each integer and length, UTF-8 text, doubles
for floats, map keys in the order given. Equal bytes therefore mean equal values, and the
same run gives the same file. Integers beyond 64 bits are refused here, so that no journal holds
what another language could not read.

Reading is bounded: `unpack` takes one value, all of the buffer, and nothing that would make it
build an object by name; msgpack limits the depth, and each declared length to what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgpack
from xxhash import xxh3_64, xxh3_64_intdigest

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
        return msgpack.unpackb(packed, use_list=False, strict_map_key=False)
    except (ValueError, TypeError, RecursionError, MemoryError, msgpack.UnpackException) as error:
        raise Undecodable(str(error) or type(error).__name__) from None


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
