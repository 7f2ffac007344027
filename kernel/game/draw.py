"""Recorded draws: each is an event with its key, what it was for and the words that decided it.

So any draw of a game can be audited, and nobody has to write that down. A draw is named by what it
decides and for whom: `draw.below(6, "die", agent)`. In one step a key is used once: two draws with
one key would silently be the same number.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, Final, TypeVar

import attrs

from goldrush.kernel import shape
from goldrush.kernel.draws import WORD_RANGE, Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.watch import check_ordered
from goldrush.kernel.shape import amount
from goldrush.kernel.world import EventType, Row

T = TypeVar("T")
R = TypeVar("R")
Label = int | str

USES: Final = ("word", "below", "between", "chance", "choice", "shuffled", "sample")

_LABEL: Final = attrs.evolve(
    shape.INTEGER,
    name="integer or text",
    holds=lambda value: type(value) in (int, str),
    schema={},
)
DRAWN: Final = EventType(
    "drawn",
    {
        "key": shape.several(_LABEL).means("what is drawn, and for whom, within the step"),
        "use": shape.one_of(USES).means("how the words are used"),
        "arguments": shape.several(shape.AMOUNT).means("its limits"),
        "results": shape.several(shape.AMOUNT).means("a number, or places in a list"),
        "words": shape.several(shape.WORD).means("the words that were taken"),
    },
    text="{key:quoted} is drawn: {results:amount} ({use} {arguments:amount})",
)


class Draw:
    """The draws of a step. Every method takes the key of the draw as its last arguments: texts and
    whole numbers that name it, such as `"die", agent`.

    All of them raise BadInput for a key that has been used in this step, and for a set whose order
    differs between processes.
    """

    __slots__ = ("_prefix", "_rows")

    def __init__(self, *prefix: Label) -> None:
        """`prefix`: the front of every key: seed, unit and step, and for a policy its agent."""
        self._prefix = prefix
        self._rows: dict[tuple[Label, ...], Row] = {}  # by key

    @property
    def rows(self) -> list[Row]:
        """The rows of the events DRAWN, in order."""
        return list(self._rows.values())

    def word(self, *key: Label) -> int:
        """64 random bits."""
        return self._drawn(0, (), key, Draws.word)

    def below(self, n: int, *key: Label) -> int:
        """A whole number from 0 to n - 1, all equally likely. Raises ValueError unless n > 0."""
        return self._drawn(1, (n,), key, lambda draws: draws.below(n))

    def between(self, low: float, high: float, *key: Label) -> float:
        """A number from `low` to `high`: low + (high - low) × word ÷ 2^64."""
        return self._drawn(
            2, (low, high), key, lambda draws: low + (high - low) * (draws.word() / WORD_RANGE)
        )

    def chance(self, probability: float, *key: Label) -> bool:
        """True with this probability, from 0 to 1."""
        return self._drawn(3, (probability,), key, lambda draws: draws.chance(probability))

    def choice(self, items: Sequence[T], *key: Label) -> T:
        """One of the items. Raises ValueError if there are none."""
        check_ordered(items, "draw.choice takes")
        count = len(items)
        if not count:
            raise ValueError("draw.choice: the list of items is empty")
        return items[self._drawn(4, (count,), key, lambda draws: draws.below(count))]

    def shuffled(self, items: Iterable[T], *key: Label) -> list[T]:
        """The items in random order."""
        check_ordered(items, "draw.shuffled takes")
        given = list(items)
        count = len(given)
        places = self._drawn(5, (count,), key, lambda draws: draws.shuffled(range(count)))
        return [given[place] for place in places]

    def sample(self, items: Sequence[T], size: int, *key: Label) -> list[T]:
        """Up to `size` different items in random order. Raises ValueError for a negative size."""
        check_ordered(items, "draw.sample takes")
        count = len(items)
        places = self._drawn(6, (count, size), key, lambda draws: draws.sample(count, size))
        return [items[place] for place in places]

    def _drawn(
        self,
        use: int,
        arguments: tuple[float, ...],
        key: tuple[Label, ...],
        take: Callable[[Draws], R],
    ) -> R:
        self._check_key(USES[use], key)
        draws = Draws(*self._prefix, *key)
        result = take(draws)
        several: Any = result
        results = tuple(several) if type(several) is list else (amount(several + 0),)
        self._rows[key] = (key, use, tuple(map(amount, arguments)), results, draws.words())
        return result

    def _check_key(self, use: str, key: tuple[Label, ...]) -> None:
        """Raises BadInput for no key, and for one that was used."""
        if not key:
            raise BadInput(f"draw.{use} has no key", 'name what is drawn, as in "die", agent')
        if key in self._rows:
            raise BadInput(
                f"draw.{use} has the key {', '.join(map(format_value, key))}, which this step has "
                "used: it would be the same number again",
                "add what tells both apart, such as the agent",
            )


class TogetherDraw(Draw):
    """The draws of a policy that is asked for several agents: every key names one of them first.

    All methods raise BadInput for a key that does not.
    """

    __slots__ = ("_agents",)

    def __init__(self, agents: Collection[int], *prefix: Label) -> None:
        """`agents`: those that are asked; `prefix`: as of Draw, for a policy without its agent."""
        super().__init__(*prefix)
        self._agents = frozenset(agents)

    def _check_key(self, use: str, key: tuple[Label, ...]) -> None:
        if not key or key[0] not in self._agents:
            named = f"has the key {', '.join(map(format_value, key))}" if key else "has no key"
            raise BadInput(
                f"draw.{use} {named}; it begins with one of the agents that are asked",
                'name the agent first, as in agent, "die"',
            )
        super()._check_key(use, key)
