"""Keyed randomness: a draw is a pure function of its key, independent of all other draws.

With a shared generator each draw would depend on all earlier ones: one more tie-break, and every
later draw changes. Here a key identifies the draw (for example `[seed, round, plot, "claim"]`), and
word i is the xxh3-64 hash of the packed key under seed i. So any single draw can be recomputed with
a msgpack and an xxhash library. The arithmetic is on integers; the only floating-point number is
the threshold of `chance`, which is exact.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import TypeVar

from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import encode, pack

WORD_RANGE = 1 << 64

T = TypeVar("T")


class Draws:
    """The 64-bit words of one key, in order: `word(i) = xxh3_64(packed key, seed=i)`.

    Attributes:
        parts: the key.
        taken: how many words have been used.
    """

    __slots__ = ("_packed", "parts", "taken")

    def __init__(self, *key: int | str) -> None:
        self.parts = key
        self._packed = b""  # packed late: many a Draws is never used
        self.taken = 0

    @property
    def key(self) -> bytes:
        """The packed key. Raises TypeError for a part of another type: a set, say, whose order
        differs between processes.
        """
        if not self._packed:
            for part in self.parts:
                if type(part) is not int and type(part) is not str:
                    pack(part)
            self._packed = encode(self.parts)
        return self._packed

    def word(self) -> int:
        """The next 64-bit word."""
        word = xxh3_64_intdigest(self._packed or self.key, self.taken)
        self.taken += 1
        return word

    def words(self) -> tuple[int, ...]:
        """All words used so far, in order; events record them."""
        key = self._packed or self.key
        if self.taken == 1:  # nearly always
            return (xxh3_64_intdigest(key, 0),)
        return tuple([xxh3_64_intdigest(key, i) for i in range(self.taken)])

    def below(self, n: int) -> int:
        """An unbiased index in 0 .. n-1.

        Words at or above the largest multiple of n within 64 bits are rejected, so the remainder of
        the others is uniform.

        Raises ValueError unless n is 1 .. 2^64.
        """
        if not 1 <= n <= WORD_RANGE:
            raise ValueError(f"below({n}): n must be from 1 to 2^64")
        key, last = self._packed or self.key, WORD_RANGE - n
        while True:
            word: int = xxh3_64_intdigest(key, self.taken)
            self.taken += 1
            if word <= last or word - word % n <= last:  # the first decides nearly always
                return word % n

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """A new list in random order: Fisher-Yates from the top, `below(j + 1)` for each j."""
        result = list(items)
        key, i = self.key, self.taken
        # `below` inlined, for a shuffle takes many words. Every word of at most 2^64 - n passes for
        # each bound up to n, so nearly always one comparison decides.
        safe = WORD_RANGE - len(result)
        for j in range(len(result) - 1, 0, -1):
            word = xxh3_64_intdigest(key, i)
            i += 1
            while word > safe and word - word % (j + 1) > WORD_RANGE - 1 - j:
                word = xxh3_64_intdigest(key, i)
                i += 1
            index = word % (j + 1)
            result[j], result[index] = result[index], result[j]
        self.taken = i
        return result

    def sample(self, n: int, size: int) -> list[int]:
        """Up to `size` different indices in 0 .. n-1 in random order: Fisher-Yates from the front.

        Pick i swaps place i with place `i + below(n - i)`, and is what then stands there. Words are
        taken for these picks alone, and only places that were swapped are held, so the cost depends
        on the picks, not on n.

        Raises ValueError unless n is 0 .. 2^64 and size is not negative; TypeError unless both are
        integers.
        """
        if not 0 <= n <= WORD_RANGE or size < 0:
            raise ValueError(
                f"sample({n}, {size}): n must be from 0 to 2^64, and size not negative"
            )
        n = operator.index(n)
        picked: list[int] = []
        moved: dict[int, int] = {}  # what stands where it did not stand at first
        key, taken = self._packed or self.key, self.taken
        for i in range(min(n, size)):
            left = n - i
            while True:  # `below`, inlined
                word = xxh3_64_intdigest(key, taken)
                taken += 1
                if word <= WORD_RANGE - left or word - word % left <= WORD_RANGE - left:
                    break
            place = i + word % left
            picked.append(moved.get(place, place))
            moved[place] = moved.get(i, i)
        self.taken = taken
        return picked

    def chance(self, probability: float) -> bool:
        """True with this probability (0 to 1). Always uses one word."""
        return self.word() < int(probability * WORD_RANGE)
