"""An atlas: the values of all conducts of an arena, under seeds that no test has.

Measures use it to rank a conclusion among all conducts; agents do not see it. Its file is
a msgpack map of the fields below, with the values as little-endian 32-bit floats (NaN for none), in
the order of the subjects and of the arena's conducts.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from typing import Any, Self

import attrs

from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.measures import Value


@attrs.frozen
class Atlas:
    """The values of all conducts.

    Attributes:
        arena: name of the arena.
        version: of the arena.
        options: of the arena.
        seeds: of the runs of which each value is the mean.
        table: values by (objective, treatment), in the order of the arena's conducts.

    """

    arena: str
    version: int
    options: Mapping[str, Any]
    seeds: Sequence[int]
    table: Mapping[tuple[str, str], Sequence[Value]]

    def values(self, objective: str, treatment: str) -> Sequence[Value]:
        """The values of all conducts. Raises KeyError for a subject that it does not have."""
        return self.table[objective, treatment]

    def written(self) -> bytes:
        """The bytes of its file."""
        head = {
            "arena": self.arena,
            "version": self.version,
            "options": dict(self.options),
            "seeds": list(self.seeds),
            "subjects": [list(subject) for subject in self.table],
        }
        values = [math.nan if v is None else v for row in self.table.values() for v in row]
        return pack({**head, "values": struct.pack(f"<{len(values)}f", *values)})

    @classmethod
    def read(cls, packed: bytes) -> Self:
        """The atlas of a file, which is part of the package and trusted."""
        head = unpack(packed)
        values = struct.unpack(f"<{len(head['values']) // 4}f", head["values"])
        width = len(values) // len(head["subjects"])
        table = {
            subject: [None if math.isnan(v) else v for v in values[k * width : (k + 1) * width]]
            for k, subject in enumerate(head["subjects"])
        }
        return cls(head["arena"], head["version"], head["options"], head["seeds"], table)
