"""Keyed randomness: every draw is a pure function of its key, never of what was drawn before.

A shared generator would tie each draw to all earlier ones: one more tie-break and everything after
it moves. Here a key names the draw (`[seed, round, plot, "claim"]`, say), word i is the xxh3-64
hash of the packed key under seed i, and anybody can redo one draw alone with two libraries.
There is no floating point in it but the threshold of `chance`, which is exact.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from xxhash import xxh3_64_intdigest

from goldrush.kernel.codec import pack

WORD_RANGE = 1 << 64

T = TypeVar("T")


class Draws:
    """The words of one key, taken in order: `word(i) = xxh3_64(packed key, seed=i)`.

    `taken` counts the words used so far; `words()` gives them again, for the record.
    """

    __slots__ = ("_packed", "parts", "taken")

    def __init__(self, *key: int | str) -> None:
        self.parts = key
        self._packed: bytes | None = None  # many a Draws is made and never drawn from
        self.taken = 0

    @property
    def key(self) -> bytes:
        """The packed key."""
        if self._packed is None:
            self._packed = pack(self.parts)
        return self._packed

    def word(self) -> int:
        """The next 64-bit word."""
        word = xxh3_64_intdigest(self.key, self.taken)
        self.taken += 1
        return word

    def words(self) -> tuple[int, ...]:
        """All words taken so far, in order."""
        key = self.key
        return tuple(xxh3_64_intdigest(key, i) for i in range(self.taken))

    def below(self, n: int) -> int:
        """An unbiased index in 0 .. n-1. Raises ValueError unless n is 1 .. 2^64.

        A word at or above the largest multiple of n that fits into 64 bits is passed over, which
        is what makes the remainder of the others uniform.
        """
        if not 1 <= n <= WORD_RANGE:
            raise ValueError(f"below({n}): a word can choose among 1 to 2^64")
        while True:
            word = self.word()
            index = word % n
            if word - index <= WORD_RANGE - n:
                return index

    def shuffled(self, items: Iterable[T]) -> list[T]:
        """A new list in random order: Fisher-Yates from the top, `below(j + 1)` for each j."""
        result = list(items)
        key, i = self.key, self.taken
        # `below` written out: policies shuffle hundreds of plots a round.
        for j in range(len(result) - 1, 0, -1):
            while True:
                word = xxh3_64_intdigest(key, i)
                i += 1
                index = word % (j + 1)
                if word - index <= WORD_RANGE - 1 - j:
                    break
            result[j], result[index] = result[index], result[j]
        self.taken = i
        return result

    def chance(self, probability: float) -> bool:
        """True with the given probability (0 .. 1); always takes one word."""
        return self.word() < int(probability * WORD_RANGE)
