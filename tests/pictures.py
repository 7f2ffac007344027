"""SVG drawn by a renderer that is no browser, as pixels."""

import struct
import zlib
from collections import Counter

import resvg_py

Pixel = tuple[int, ...]  # red, green, blue, opacity


def pixels_of(svg: str) -> list[list[Pixel]]:
    """The pixels of an SVG by rows from the top."""
    data = resvg_py.svg_to_bytes(svg_string=svg)
    width, height, *form = struct.unpack(">2I5B", data[16:29])
    assert (b"\x89PNG", [8, 6, 0, 0, 0]) == (data[:4], form)  # 8 bits of each of four channels
    packed, at = b"", 8
    while at < len(data):
        [size] = struct.unpack(">I", data[at : at + 4])
        packed += data[at + 8 : at + 8 + size] if data[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    lines, step = zlib.decompress(packed), 1 + 4 * width
    above, rows = bytes(4 * width), []
    for start in range(0, height * step, step):
        above = _unfiltered(lines[start], lines[start + 1 : start + step], above)
        rows.append([tuple(above[at : at + 4]) for at in range(0, 4 * width, 4)])
    return rows


def counted(rows: list[list[Pixel]]) -> Counter[Pixel]:
    """How many pixels have each colour."""
    return Counter(pixel for row in rows for pixel in row)


def _unfiltered(kind: int, line: bytes, above: bytes) -> bytes:
    """A line of a PNG, whose bytes are given as differences from those around them."""
    done = bytearray(4)  # left of the line
    corner = bytes(4) + above
    for at, byte in enumerate(line):
        left, up, before = done[at], above[at], corner[at]
        near = (0, left, up, (left + up) // 2, _paeth(left, up, before))[kind]
        done.append((byte + near) & 255)
    return bytes(done[4:])


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    return min((left, up, corner), key=lambda value: abs(guess - value))
