"""The draws of a game: each event `drawn`, computed again from its key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.draws import WORD_RANGE, Draws
from goldrush.kernel.game.draw import (
    PART_MAX,
    USES,
    occurrences,
    place_by_weight,
    standard_normal,
    waiting_time,
)
from goldrush.kernel.game.records import State
from goldrush.kernel.game.world import Compiled
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Row, World
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.tie_break import Occasion, Outcome, TieBreak

AMONG_MAX: Final = 20  # outcomes of a draw that are listed and tested for fairness


@reader_of
def draws_of_game(path: str | Path, world: World[State], compiled: Compiled) -> Iterator[TieBreak]:
    """The draws of a journal, in order, for `Tools.draws`."""
    with JournalReader(path) as reader:
        for _, step, state in Walk(world, reader).steps():
            if step is not None:
                number = state.step - 1 if compiled.has_steps else 0
                for row in step.derived.rows(compiled.drawn):
                    yield _audit(compiled, state, number, row)


def _audit(compiled: Compiled, state: State, step: int, row: Row) -> TieBreak:
    key, use, arguments, results, words = row
    vocabulary, unit = compiled.vocabulary, state.unit + 1
    place = {vocabulary.unit: vocabulary.number(unit)}
    name = ", ".join(map(str, key))
    where = f"{name} of {vocabulary.format_unit(unit)}"
    if compiled.has_steps:
        place, where = {**place, "step": step}, f"{where}, step {step}"
    occasion = Occasion(
        place,
        where,
        (state.config.seed, unit, step, "decide", *key),
        "place",
        "result",
        USES[use],
        name,
    )
    return _AUDITS[USES[use]](occasion, arguments, results, words)


def _shown(words: Any) -> tuple[str, ...]:
    return tuple(f"{word:016x}" for word in words)


def _computed(
    occasion: Occasion, results: Any, words: Any, again: Outcome, draws: Draws, rule: str,
    expression: str, among: int = 0, before: str = "",
) -> TieBreak:  # fmt: skip
    """A draw with one result. `expression`: the result as Python, from `word`, the last one;
    `before`: lines of Python before it, in which `of(i)` is a word.
    """
    [outcome] = results if len(results) == 1 else [None]
    if isinstance(again, bool) and outcome in (0, 1):
        outcome = bool(outcome)
    last = draws.taken - 1
    snippet = (
        f"import msgpack, xxhash\n"
        f"word = xxhash.xxh3_64_intdigest(msgpack.packb({occasion.key}), seed={last})\n"
        f"{before}print({expression})"
    )
    participants = range(among) if among <= AMONG_MAX else ()
    index = again if among and isinstance(again, int) else None
    return TieBreak(
        occasion, tuple(participants), _shown(words), _shown(draws.words()), index, outcome, again,
        rule, snippet,
    )  # fmt: skip


def _word(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    draws = occasion.draws
    return _computed(occasion, results, words, draws.word(), draws, "the word", "word")


def _below(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    [n], draws = arguments, occasion.draws
    again = draws.below(n)
    rule = f"below({n}): word {draws.taken - 1} mod {n} is {again}"
    return _computed(occasion, results, words, again, draws, rule, f"word % {n}", n)


def _between(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    (low, high), draws = arguments, occasion.draws
    again = low + (high - low) * (draws.word() / WORD_RANGE)
    formula = f"{low} + ({high} - {low}) * (word / 2**64)"
    return _computed(occasion, results, words, float(again), draws, formula, formula)


def _chance(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    [probability], draws = arguments, occasion.draws
    again, limit = draws.chance(probability), int(probability * WORD_RANGE)
    rule = f"chance({probability}): true where the word is under {limit}"
    return _computed(occasion, results, words, again, draws, rule, f"word < {limit}")


def _shuffled(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    [count] = arguments
    _check_places(count, results)
    return TieBreak.shuffled(occasion, tuple(range(count)), words, tuple(results))


def _check_places(count: Any, results: Any) -> None:
    """Raises ValueError unless a row has as many places as its arguments say: a forged number
    would decide how long its draw takes.
    """
    if count != len(results):
        raise ValueError(f"{len(results)} places of {count}")


def _sample(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    (count, size), draws = arguments, occasion.draws
    _check_places(min(count, size), results)
    again = tuple(draws.sample(count, size))
    taken, picks = occasion.draws, []
    for i in range(len(again)):
        taken.below(count - i)
        picks.append((i, taken.taken - 1))
    snippet = (
        f"import msgpack, xxhash; key, order = msgpack.packb({occasion.key}), "
        f"list(range({count}))\n"
        f"for i, n in {picks}: k = i + xxhash.xxh3_64_intdigest(key, seed=n) % ({count} - i); "
        f"order[i], order[k] = order[k], order[i]\n"
        f"print(order[:{len(again)}])"
    )
    rule = f"Fisher-Yates from the front gives {', '.join(map(str, again))}"
    return TieBreak(
        occasion, (), _shown(words), _shown(draws.words()), None, tuple(results), again, rule,
        snippet,
    )  # fmt: skip


_DECIMAL: Final = "import math; from decimal import Context, Decimal\n"


def _normal(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    (mean, deviation), draws = arguments, occasion.draws
    again = mean + deviation * standard_normal(draws)
    before = (
        f"{_DECIMAL}first = xxhash.xxh3_64_intdigest(msgpack.packb({occasion.key}), "
        f"seed={draws.taken - 2})\n"
        "a, b = ((2 * each + 1 - 2**64) / 2**64 for each in (first, word)); s = a * a + b * b\n"
    )
    formula = "a * math.sqrt(-2.0 * float(Context(40).ln(Decimal(s))) / s)"
    rule = f"normal({mean}, {deviation}): the polar method, of the last two words"
    expression = f"{mean} + {deviation} * ({formula})"
    return _computed(occasion, results, words, float(again), draws, rule, expression, before=before)


def _exponential(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    [mean], draws = arguments, occasion.draws
    again = mean * waiting_time(draws)
    formula = "abs(float(Context(40).ln(Context(40).divide(Decimal(word + 1), Decimal(2**64)))))"
    rule = f"exponential({mean}): -{mean} * ln((word + 1) / 2**64)"
    return _computed(
        occasion, results, words, float(again), draws, rule, f"{mean} * {formula}",
        before=_DECIMAL,
    )  # fmt: skip


def _poisson(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    [mean], draws = arguments, occasion.draws
    again, parts = occurrences(draws, mean), draws.taken
    if not parts:  # of a mean of 0
        return TieBreak(
            occasion, (), _shown(words), (), None, results[0], again, "poisson(0) is 0", ""
        )
    before = (
        f"{_DECIMAL}count, part = 0, {mean} / {parts}\n"
        f"for i in range({parts}):\n"
        f"    u = xxhash.xxh3_64_intdigest(msgpack.packb({occasion.key}), seed=i) / 2**64\n"
        "    k, p = 0, float(Context(40).exp(Decimal(-part))); total = p\n"
        "    while u >= total:\n"
        "        k += 1; p *= part / k\n"
        "        if total + p == total: break\n"
        "        total += p\n"
        "    count += k\n"
    )
    rule = (
        f"poisson({mean}): the first count whose cumulative probability is over word / 2**64, "
        f"added up over parts of at most {PART_MAX}"
    )
    return _computed(occasion, results, words, again, draws, rule, "count", before=before)


def _weighted(occasion: Occasion, arguments: Any, results: Any, words: Any) -> TieBreak:
    weights, draws = tuple(map(float, arguments)), occasion.draws
    again = place_by_weight(draws, weights)
    before = f"from itertools import accumulate\ntotals = list(accumulate({list(weights)}))\n"
    expression = (
        "min(sum(total <= word / 2**64 * totals[-1] for total in totals), totals.index(totals[-1]))"
    )
    rule = f"weighted: the first of {len(weights)} sums of weights over word / 2**64 of the whole"
    return _computed(occasion, results, words, again, draws, rule, expression, before=before)


_AUDITS: Final = {
    "word": _word, "below": _below, "between": _between, "chance": _chance, "choice": _below,
    "shuffled": _shuffled, "sample": _sample, "normal": _normal, "exponential": _exponential,
    "poisson": _poisson, "weighted": _weighted,
}  # fmt: skip
