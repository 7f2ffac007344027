"""Pins: the SHA-256 hashes that files must have, in the format of `sha256sum`.

    line = sha256 " " marker name         marker = " " or "*", which has no meaning here
         | "\\" sha256 " " marker name    \\\\ \\n \\r in the name are escapes as in C

Names are relative to the working folder, as for `sha256sum -c`, or to the list's own folder if the
file is only there. A line of another form is refused, because a pin that is skipped in silence pins
nothing.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import attrs

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.files import open_regular

SUMS_MAX: Final = 1 << 24  # bytes of a file of pins

_LINE: Final = re.compile(rb"(\\?)([0-9a-fA-F]{64}) [ *]([^\r\0]+)")
_ESCAPED: Final = re.compile(rb"\\(.?)", re.DOTALL)
_MEANT: Final = {b"\\": b"\\", b"n": b"\n", b"r": b"\r"}


@attrs.frozen
class Sums:
    """The pins of one file.

    Attributes:
        path: the file.
        names: paths of the listed files, in order.
    """

    path: str
    names: tuple[str, ...]
    _pins: Mapping[str, str]

    def pin_of(self, path: str) -> str | None:
        """The SHA-256 in hex that a file must have; None if it is not listed."""
        return self._pins.get(os.path.abspath(path))


def read_sums(path: str | Path) -> Sums:
    """Read a list of pins.

    Raises BadInput, naming the line, for a malformed line and for a second, different pin of a
    file; and for an empty or unreadable list.
    """
    with open_regular(os.fspath(path), "a list of pins") as file:
        data = file.read(SUMS_MAX + 1)
    if len(data) > SUMS_MAX:
        raise BadInput(f"{path} has more than {SUMS_MAX:,} bytes", "give the output of sha256sum")
    lines = data.removesuffix(b"\n").split(b"\n") if data else []
    names: dict[str, None] = {}
    pins: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        name, pin = _read(line, where)
        name = _located(name, os.fspath(path))
        if pins.setdefault(os.path.abspath(name), pin) != pin:
            raise BadInput(
                f"{where}: {format_value(name)} has another pin above", "remove one of them"
            )
        names[name] = None
    if not names:
        raise BadInput(f"{path} lists no file", "give the output of `sha256sum *.journal`")
    return Sums(str(path), tuple(names), pins)


def _located(name: str, path: str) -> str:
    """The path of a listed file: beside the list if it is there and not in the working folder."""
    beside = os.path.join(os.path.dirname(path), name)
    return beside if os.path.lexists(beside) and not os.path.lexists(name) else name


def _read(line: bytes, where: str) -> tuple[str, str]:
    """The name and the pin in a line."""
    match = _LINE.fullmatch(line)
    name = match and match[3]
    if match and match[1]:
        marks = _ESCAPED.findall(match[3])
        name = None if set(marks) - set(_MEANT) else _ESCAPED.sub(_meant, match[3])
    if not match or not name:
        if line.endswith(b"\r"):
            raise BadInput(f"{where} ends with \\r", "end lines with \\n alone, as sha256sum does")
        raise BadInput(
            f"{where} is {format_value(line.decode(errors='replace'), 200)}",
            "write a SHA-256, two spaces and a name, as sha256sum does",
        )
    return os.fsdecode(name), match[2].decode().lower()


def _meant(match: re.Match[bytes]) -> bytes:
    return _MEANT[match[1]]
