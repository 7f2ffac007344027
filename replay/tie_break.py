"""A tie-break laid open, whatever the world: who took part, the key, every word taken, and the
outcome worked out anew.

A draw is a function of its key, and the words taken stand in its event. So a world has to say which
tie-break it is (`Occasion`) and what the event holds, and the rest is the same everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import attrs

from goldrush.kernel.draws import Draws

Outcome = int | bool | float | tuple[int, ...] | None


@attrs.frozen
class Occasion:
    """Which tie-break it is.

    `place`: its numbers by name, the unit first (round and plot, say); `where`: the place in words.
    `parts`: what the key is packed from; the last one is the kind. `tied`: what takes part;
    `decides`: the word for the outcome.
    """

    location: Mapping[str, int]
    where: str
    parts: tuple[int | str, ...]
    tied: str = "agent"
    decides: str = "winner"

    @property
    def kind(self) -> str:
        """The kind of the draw."""
        return str(self.parts[-1])

    @property
    def draws(self) -> Draws:
        """Its words, none of them taken."""
        return Draws(*self.parts)

    @property
    def key(self) -> str:
        """What the key is packed from, as Python has it."""
        parts = (f'"{part}"' if isinstance(part, str) else str(part) for part in self.parts)
        return f"[{', '.join(parts)}]"


@attrs.frozen
class TieBreak:
    """One tie-break, recorded and worked out anew.

    `participants`: in the order in which they stood to the draw. `words`: those in the event, in
    hex, `words_again`: those that the key gives. `index`: the winner's place among the
    participants, or None where nothing was drawn or a shuffle or a chance decided. `outcome`: what
    the event says (a winner, an order, a number, whether a chance was met), `outcome_again` worked
    out anew; None where nobody wins. `rule` says why. `snippet`: a few lines of Python that print
    the outcome, given msgpack and xxhash; empty where nothing was drawn. `participants_again`: who
    took part as the rest of the journal tells it; None where the event alone does.
    """

    occasion: Occasion
    participants: Sequence[int]
    draw_words: Sequence[str]
    draw_words_again: Sequence[str]
    index: int | None
    outcome: Outcome
    outcome_again: Outcome
    rule: str
    snippet: str
    participants_again: Sequence[int] | None = None

    @property
    def kind(self) -> str:
        """The kind of the draw."""
        return self.occasion.kind

    @property
    def location(self) -> Mapping[str, int]:
        """The numbers of its place by name, the unit first."""
        return self.occasion.location

    @property
    def key(self) -> str:
        """The packed key in hex."""
        return self.occasion.draws.key.hex()

    @property
    def holds(self) -> bool:
        """Whether the participants are the right ones and stood in order, and words and outcome are
        what the key gives.
        """
        again = self.participants if self.participants_again is None else self.participants_again
        in_order = list(self.participants) == sorted(set(again))
        same = self.draw_words == self.draw_words_again and self.outcome == self.outcome_again
        return in_order and same

    def as_dict(self) -> dict[str, Any]:
        """The tie-break for JSON."""
        again = self.participants_again
        return {
            "kind": self.kind,
            **self.location,
            "participants": self.participants,
            **({} if again is None else {"participants_again": again}),
            "key": self.key,
            "words": self.draw_words,
            "words_again": self.draw_words_again,
            "index": self.index,
            "outcome": self.outcome,
            "outcome_again": self.outcome_again,
            "rule": self.rule,
            "snippet": self.snippet,
            "holds": self.holds,
        }

    @classmethod
    def drawn(
        cls, occasion: Occasion, participants: Sequence[int], words: Sequence[int],
        outcome: Outcome, again: Sequence[int] | None = None,
    ) -> Self:  # fmt: skip
        """One of these wins: by a draw, if there are two or more. `again`: who took part as the
        rest of the journal tells it, where it does.
        """
        among = participants if again is None else again
        count = len(among)
        if count < 2:
            rule = "one participant wins without a draw" if count else "nobody took part"
            first = among[0] if count else None
            return cls.undrawn(occasion, participants, words, outcome, first, rule, again)
        draws = occasion.draws
        index = draws.below(count)
        passed = draws.taken - 1
        rule = f"below({count}): word {passed} mod {count} is {index}"
        if passed:
            rule += (
                f"; the words before are not under 2^64 - (2^64 mod {count}), so they are passed "
                "over"
            )
        return cls(
            occasion, participants, _hex(words), _hex(draws.words()), index, outcome,
            among[index], rule,
            f"import msgpack, xxhash\n"
            f"print({list(among)}[xxhash.xxh3_64_intdigest(msgpack.packb({occasion.key}), "
            f"seed={passed}) % {count}])",
            again,
        )  # fmt: skip

    @classmethod
    def undrawn(
        cls, occasion: Occasion, participants: Sequence[int], words: Sequence[int],
        outcome: Outcome, outcome_again: Outcome, rule: str, again: Sequence[int] | None = None,
    ) -> Self:  # fmt: skip
        """Nothing had to be drawn: `rule` says why, and so no word is taken."""
        return cls(
            occasion,
            participants,
            _hex(words),
            (),
            None,
            outcome,
            outcome_again,
            rule,
            "",
            again,
        )

    @classmethod
    def chance(
        cls, occasion: Occasion, probability: float, words: Sequence[int], outcome: Outcome,
        meaning: str,
    ) -> Self:  # fmt: skip
        """Nobody takes part: a chance is met or not; `meaning` what it means if it is."""
        draws = occasion.draws
        again = draws.chance(probability)
        threshold = int(probability * 2**64)
        return cls(
            occasion, (), _hex(words), _hex(draws.words()), None, outcome, again,
            f"chance({probability}): {meaning} where the word is under {threshold}",
            f"import msgpack, xxhash\n"
            f"print(xxhash.xxh3_64_intdigest(msgpack.packb({occasion.key}), seed=0) < {threshold})",
        )  # fmt: skip

    @classmethod
    def number(
        cls, occasion: Occasion, words: Sequence[int], of: Callable[[int], float], formula: str
    ) -> Self:
        """Nobody takes part: a number is worked out from one word, by `of`, which `formula` is in
        Python, the word being called `word`.
        """
        again = occasion.draws
        expected = of(again.word())
        return cls(
            occasion, (), _hex(words), _hex(again.words()), None,
            of(words[0]) if words else None, expected, formula,
            f"import msgpack, xxhash\n"
            f"word = xxhash.xxh3_64_intdigest(msgpack.packb({occasion.key}), seed=0)\n"
            f"print({formula})",
        )  # fmt: skip

    @classmethod
    def shuffled(
        cls, occasion: Occasion, participants: Sequence[int], words: Sequence[int],
        outcome: Outcome, *, nth: int | None = None, meaning: str = "",
        again: Sequence[int] | None = None,
    ) -> Self:  # fmt: skip
        """All of these are shuffled: the outcome is their order or, with `nth`, who then stands in
        that place. `meaning` what comes of the order.
        """
        among = participants if again is None else again
        draws = occasion.draws
        order = draws.shuffled(among)
        outcome_again: Outcome = tuple(order)
        if nth is not None:
            outcome_again = order[nth] if nth < len(order) else None
        shown = "*order" if nth is None else f"order[{nth}]"
        return cls(
            occasion, participants, _hex(words), _hex(draws.words()), None, outcome,
            outcome_again,
            f"Fisher-Yates from the top gives {', '.join(map(str, order))}{meaning}",
            f"import msgpack, xxhash; key, order = msgpack.packb({occasion.key}), {list(among)}\n"
            f"for j, i in {_swaps(occasion.draws, len(among))}: "
            "k = xxhash.xxh3_64_intdigest(key, seed=i) % (j + 1); "
            f"order[j], order[k] = order[k], order[j]; print({shown}) if j == 1 else None",
            again,
        )  # fmt: skip


def _swaps(draws: Draws, count: int) -> list[tuple[int, int]]:
    """(j, i): for each place from the top, the word that chooses what it is swapped with."""
    swaps = []
    for j in range(count - 1, 0, -1):
        draws.below(j + 1)
        swaps.append((j, draws.taken - 1))
    return swaps


def _hex(words: Sequence[int]) -> tuple[str, ...]:
    """Words as people read them."""
    return tuple(f"{word:016x}" for word in words)
