"""Canonical msgpack: the encoder and decoder of everything that is written, hashed or compared.

A value has exactly one encoding: the shortest form of each integer and length, UTF-8 text, doubles
for floats, map keys in the order given. Equal bytes therefore mean equal values, and the same run
gives the same file. Integers beyond 64 bits are refused, because many msgpack libraries cannot read
them.

Decoding is bounded: `unpack` reads exactly one value, refuses ext types and timestamps, limits the
depth, and refuses declared lengths beyond the buffer. A decoded map takes up to eighty times its
encoded size, so the number of maps is limited too (MAPS_MAX); other values take at most fifty
times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Never

import msgpack
import msgspec
from xxhash import xxh3_64, xxh3_64_intdigest

MAPS_MAX: Final = 1 << 20  # maps in one value: one for every agent, ten times over

_packer = msgpack.Packer(use_bin_type=True)
_encode = msgspec.msgpack.Encoder().encode


class Undecodable(ValueError):
    """The bytes are not one msgpack value. The message gives the reason."""


class TooLarge(OverflowError):
    """An integer beyond 64 bits."""


def pack(value: object) -> bytes:
    """Encode a value in the canonical form. `value`: None, bool, int (64 bits), float, str, bytes,
    and tuples, lists and dicts of these.

    Raises TooLarge for an integer beyond 64 bits; TypeError for a value of another type;
    UnicodeEncodeError for text with lone surrogates.
    """
    try:
        packed: bytes = _packer.pack(value)  # drops its buffer if it raises
    except OverflowError as error:
        raise TooLarge(str(error)) from None
    return packed


def encode(value: object) -> bytes:
    """As `pack`, at a fifth of its cost, for values whose types are checked elsewhere, as rows are:
    sets, dates, decimals, UUIDs, enumerations and records have an encoding here.
    """
    try:
        return _encode(value)
    except (OverflowError, RecursionError, TypeError):  # the last of a subclass of float, too
        return pack(value)


def unpack(packed: bytes | memoryview) -> Any:
    """Decode one value, arrays as tuples. Raises Undecodable for any invalid bytes."""
    try:
        return msgpack.unpackb(packed, **_limits(len(packed)))
    except MALFORMED as error:
        raise undecodable(error) from None


def undecodable(error: Exception) -> Undecodable:
    """The Undecodable for an exception of the decoder, with a message that names no library."""
    if isinstance(error, Undecodable):
        return error
    if isinstance(error, (RecursionError, msgpack.StackError)):
        return Undecodable("values nested too deeply")
    if isinstance(error, UnicodeDecodeError):
        return Undecodable("text that is not UTF-8")
    return Undecodable("bytes that are not one complete msgpack value")


# The exceptions of decoding. MemoryError is not among them: it proves nothing about the bytes.
MALFORMED = (ValueError, TypeError, RecursionError, msgpack.UnpackException)


def unpacker(size: int) -> msgpack.Unpacker:
    """An Unpacker for values of at most `size` bytes in total, with the limits of `unpack`.

    Its methods raise the exceptions in MALFORMED.
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
    if size > MAPS_MAX:  # a map takes at least a byte, so fewer bytes cannot hold more
        limits["object_hook"] = _CountedMaps()
    return limits


_MAP_HEADS = bytes((*range(0x80, 0x90), 0xDE, 0xDF))


def is_readable(packed: bytes) -> bool:
    """Whether packed bytes have at most MAPS_MAX maps, so that `unpack` reads them."""
    if len(packed) - len(packed.translate(None, _MAP_HEADS)) <= MAPS_MAX:
        return True  # nearly always, at a tenth of the cost
    try:
        unpack(packed)
    except Undecodable:
        return False
    return True


class _CountedMaps:
    """Object hook that counts the maps of a value and refuses more than MAPS_MAX."""

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
    """`fingerprint(parts)`, packed item by item to save memory.

    A part that is a sequence is packed one item at a time, so values shared between items are never
    held as bytes more than once.
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
    """xxh3-64 (seed 0) of the canonical encoding: the basis of state digests."""
    return xxh3_64_intdigest(pack(value))
