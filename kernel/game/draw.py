"""Recorded draws: each is an event with its key, what it was for and the words that decided it.

So any draw of a game can be audited, and nobody has to write that down. A draw is named by what it
decides and for whom: `draw.below(6, "die", agent)`. In one step a key is used once: two draws with
one key would silently be the same number.

Draws with a logarithm or an exponential take those of Python's `decimal`, which are correctly
rounded, and else only sums, products, quotients and square roots of floats, which IEEE 754 fixes:
a platform's own functions differ in the last bit, and a run must give the same bytes everywhere.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Sequence
from decimal import Context, Decimal
from itertools import accumulate
from typing import Any, Final, TypeVar, cast

import msgspec

from goldrush.kernel import shape
from goldrush.kernel.draws import WORD_RANGE, Draws
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.watch import check_ordered
from goldrush.kernel.shape import amount
from goldrush.kernel.world import EventType, Row

T = TypeVar("T")
R = TypeVar("R")
Label = int | str
Key = tuple[Label, ...]

USES: Final = (
    "word", "below", "between", "chance", "choice", "shuffled", "sample",
    "normal", "exponential", "poisson", "weighted",
)  # fmt: skip
MEAN_MAX: Final = 1_000_000  # of `poisson`, whose time grows with it
PART_MAX: Final = 500  # of the mean that one word decides: exp(-PART_MAX) is a float
DIGITS: Final = Context(prec=40)  # of logarithms and exponentials

DRAWN: Final = EventType(
    "drawn",
    {
        "key": shape.several(shape.LABEL).means("what is drawn, and for whom, within the step"),
        "use": shape.one_of(USES).means("how the words are used"),
        "arguments": shape.several(shape.AMOUNT).means("its limits"),
        "results": shape.several(shape.AMOUNT).means("a number, or places in a list"),
        "words": shape.several(shape.WORD).means("the words that were taken"),
    },
    text="{key:quoted} is drawn: {results:amount} ({use} {arguments:amount})",
)


class Draw(msgspec.Struct, eq=False):
    """The draws of a step. Every method takes the key of the draw as its last arguments: texts and
    whole numbers that name it, such as `"die", agent`.

    All of them raise BadInput for a key that has been used in this step, and for a set whose order
    differs between processes.

    Attributes:
        _prefix: the front of every key: seed, unit and step, and for a policy its agent.
        _made: by key the place of the use in USES, its arguments, the results and the words.
    """

    _prefix: Key
    _made: dict[Key, tuple[int, tuple[float, ...], tuple[float, ...], Draws]] = {}

    def rows(self) -> list[Row]:
        """The rows of the events DRAWN, in order."""
        return [
            (key, use, arguments, results, draws.words())
            for key, (use, arguments, results, draws) in self._made.items()
        ]

    def word(self, *key: Label) -> int:
        """64 random bits."""
        return self._drawn(0, (), key, Draws.word)

    def below(self, n: int, *key: Label) -> int:
        """A whole number from 0 to n - 1, all equally likely. Raises ValueError unless n is a whole
        number above 0.
        """
        _check(not isinstance(n, float), "below", "the number of results", n)
        draws = self._keyed("below", key)
        place = draws.below(n)
        self._made[key] = 1, (n,), (place,), draws
        return place

    def between(self, low: float, high: float, *key: Label) -> float:
        """A number from `low` to `high`: low + (high - low) × word ÷ 2^64. Raises ValueError unless
        low is at most high, and both are finite.
        """
        _check(-math.inf < low <= high < math.inf, "between", "the limits", (low, high))
        return self._drawn(
            2, (low, high), key, lambda draws: low + (high - low) * (draws.word() / WORD_RANGE)
        )

    def chance(self, probability: float, *key: Label) -> bool:
        """True with this probability. Raises ValueError unless it is from 0 to 1."""
        _check(0 <= probability <= 1, "chance", "the probability", probability)
        return self._drawn(3, (probability,), key, lambda draws: draws.chance(probability))

    def choice(self, items: Sequence[T], *key: Label) -> T:
        """One of the items. Raises ValueError if there are none."""
        if type(items) is not list:  # a twentieth of the time of a draw
            check_ordered(items, "draw.choice takes")
        count = len(items)
        if not count:
            raise ValueError("draw.choice: the list of items is empty")
        draws = self._keyed("choice", key)
        place = draws.below(count)
        self._made[key] = 4, (count,), (place,), draws
        return items[place]

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
        draws = self._keyed("sample", key)
        places = draws.sample(count, size)
        self._made[key] = 6, (count, amount(size)), tuple(places), draws
        return [items[place] for place in places]

    def normal(self, mean: float, deviation: float, *key: Label) -> float:
        """A number of the normal distribution: mean + deviation × that of `standard_normal`. Raises
        ValueError for a negative deviation.
        """
        _check(deviation >= 0, "normal", "the standard deviation", deviation)
        return self._drawn(
            7, (mean, deviation), key, lambda draws: mean + deviation * standard_normal(draws)
        )

    def exponential(self, mean: float, *key: Label) -> float:
        """A waiting time with this mean: -mean × ln((word + 1) ÷ 2^64). Raises ValueError for a
        negative mean.
        """
        _check(mean >= 0, "exponential", "the mean", mean)
        return self._drawn(8, (mean,), key, lambda draws: mean * waiting_time(draws))

    def poisson(self, mean: float, *key: Label) -> int:
        """How often something happens that happens this often on average; see `occurrences`. Raises
        ValueError for a mean that is not from 0 to MEAN_MAX.
        """
        return self._drawn(9, (mean,), key, lambda draws: occurrences(draws, mean))

    def weighted(self, items: Sequence[T], weights: Sequence[float], *key: Label) -> T:
        """One of the items, each as likely as its weight; see `place_by_weight`. Raises ValueError
        unless each has a weight from 0 on, and one of them more.
        """
        is_valid = len(items) == len(weights) and all(0 <= weight < math.inf for weight in weights)
        _check(is_valid and sum(weights) > 0, "weighted", "the weights", weights)
        given = tuple(map(float, weights))
        return items[self._drawn(10, given, key, lambda draws: place_by_weight(draws, given))]

    def _drawn(
        self, use: int, arguments: tuple[float, ...], key: Key, take: Callable[[Draws], R]
    ) -> R:
        draws = self._keyed(USES[use], key)
        result = take(draws)
        numbers: Any = result if type(result) is list else (cast(float, result) + 0,)
        self._made[key] = use, tuple(map(amount, arguments)), tuple(map(amount, numbers)), draws
        return result

    def _keyed(self, use: str, key: Key) -> Draws:
        """The words of a key. Raises BadInput for no key, and for one that was used."""
        if not key:
            raise BadInput(f"draw.{use} has no key", 'name what is drawn, as in "die", agent')
        if key in self._made:
            raise BadInput(
                f"draw.{use} has the key {', '.join(map(format_value, key))}, which this step has "
                "used: it would be the same number again",
                "add what tells both apart, such as the agent",
            )
        draws = Draws(*self._prefix, *key)
        _ = draws.key  # refuses a set, say
        return draws


def _check(is_valid: bool, use: str, what: str, value: object) -> None:
    if not is_valid:
        raise ValueError(f"draw.{use}: {what} cannot be {format_value(value)}")


def standard_normal(draws: Draws) -> float:
    """A standard normal number by the polar method (Marsaglia and Bray, SIAM Review 6, 1964): of
    a point in the circle of radius 1, a × √(-2 ln s ÷ s), with s its squared distance from the
    centre. Takes two words for each point, until one is in the circle.
    """
    while True:
        a, b = ((2 * draws.word() + 1 - WORD_RANGE) / WORD_RANGE for _ in range(2))
        s = a * a + b * b
        if 0 < s < 1:
            return a * math.sqrt(-2.0 * float(DIGITS.ln(Decimal(s))) / s)


def waiting_time(draws: Draws) -> float:
    """An exponential number of mean 1, of one word."""
    part = DIGITS.divide(Decimal(draws.word() + 1), Decimal(WORD_RANGE))
    return abs(float(DIGITS.ln(part)))


def occurrences(draws: Draws, mean: float) -> int:
    """A Poisson number: the first count whose cumulative probability is over word ÷ 2^64. A mean
    over PART_MAX is cut into equal parts, each with a word, and their counts are added. Raises
    ValueError for a mean that is not from 0 to MEAN_MAX, in a row that was forged, too.
    """
    _check(0 <= mean <= MEAN_MAX, "poisson", "the mean", mean)
    parts = math.ceil(mean / PART_MAX)
    count = 0
    for _ in range(parts):
        u, part, k = draws.word() / WORD_RANGE, mean / parts, 0
        p = total = float(DIGITS.exp(Decimal(-part)))
        while u >= total:
            k += 1
            p *= part / k
            if total + p == total:  # the rest is below the precision of a float
                break
            total += p
        count += k
    return count


def place_by_weight(draws: Draws, weights: Sequence[float]) -> int:
    """The first place whose sum of the weights up to it is over word ÷ 2^64 × the sum of all."""
    totals = list(accumulate(weights))
    place = bisect_right(totals, draws.word() / WORD_RANGE * totals[-1])
    # A product that was rounded up to the whole sum stands for the last item that can be drawn.
    return min(place, totals.index(totals[-1]))


class TogetherDraw(Draw):
    """The draws of a policy that is asked for several agents: every key names one of them first,
    and the prefix does not.

    All methods raise BadInput for a key that does not.

    Attributes:
        _agents: those that are asked.
    """

    _agents: Collection[int] = ()

    def _keyed(self, use: str, key: Key) -> Draws:
        if not key or key[0] not in self._agents:
            named = f"has the key {', '.join(map(format_value, key))}" if key else "has no key"
            raise BadInput(
                f"draw.{use} {named}; it begins with one of the agents that are asked",
                'name the agent first, as in agent, "die"',
            )
        return super()._keyed(use, key)
