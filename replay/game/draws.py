"""The draws of a game: each event `drawn`, computed again from its key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from goldrush.kernel import draws as keyed
from goldrush.kernel.draws import WORD_RANGE
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
from goldrush.kernel.world import Row
from goldrush.replay.journal.tie_break import DrawAudits, Occasion, Outcome, TieBreak

AMONG_MAX: Final = 20  # outcomes of a draw that are listed


def draws_of(compiled: Compiled) -> DrawAudits[State]:
    """The draws of a game."""
    return DrawAudits(USES, {compiled.drawn: partial(_audit, compiled)})


def _audit(compiled: Compiled, state: State, row: Row) -> TieBreak:
    step = state.step - 1 if compiled.has_steps else 0
    key, use, arguments, results, words = row
    vocabulary, unit = compiled.vocabulary, state.unit + 1
    place = {vocabulary.unit: vocabulary.number(unit)}
    name = ", ".join(map(str, key))
    where = f"{name} of {vocabulary.format_unit(unit)}"
    if compiled.has_steps:
        place, where = {**place, "step": step}, f"{where}, step {step}"
    parts = state.config.seed, unit, step, "decide", *key
    occasion = Occasion(place, where, parts, "place", "result", USES[use], name)
    draws = occasion.draws
    again, rule = _drawn_again(USES[use], arguments, len(results), draws)
    outcome: Outcome = tuple(results)
    if not isinstance(again, tuple):
        [outcome] = results if len(results) == 1 else [None]
    if isinstance(again, bool) and outcome in (0, 1):
        outcome = bool(outcome)
    among, index = 0, None
    if USES[use] in ("below", "choice") and isinstance(again, int):
        among, index = arguments[0] if arguments[0] <= AMONG_MAX else 0, again
    elif USES[use] == "shuffled":
        among = len(results)
    participants = tuple(range(among))
    return TieBreak(occasion, participants, words, outcome, again, rule, None, draws.words(), index)


def _drawn_again(
    use: str, arguments: Sequence[Any], places: int, draws: keyed.Draws
) -> tuple[Outcome, str]:
    """What the key gives for a use and its arguments, and the rule as text. `places`: how many the
    event has: a forged number would decide how long its draw takes.

    Raises ValueError for arguments that the use does not have.
    """
    result: Outcome
    match use, *arguments:
        case ("word",):
            return draws.word(), "the word"
        case "below" | "choice", n:
            result = draws.below(n)
            return result, f"below({n}): word {draws.taken - 1} mod {n} is {result}"
        case "between", low, high:
            result = float(low + (high - low) * (draws.word() / WORD_RANGE))
            return result, f"{low} + ({high} - {low}) * (word / 2**64)"
        case "chance", probability:
            limit = int(probability * WORD_RANGE)
            rule = f"chance({probability}): true where the word is under {limit}"
            return draws.chance(probability), rule
        case "shuffled", count if count == places:
            result = tuple(draws.shuffled(range(count)))
            return result, f"Fisher-Yates from the top gives {', '.join(map(str, result))}"
        case "sample", count, size if min(count, size) == places:
            result = tuple(draws.sample(count, size))
            return result, f"Fisher-Yates from the front gives {', '.join(map(str, result))}"
        case "normal", mean, deviation:
            rule = f"normal({mean}, {deviation}): the polar method, of the last two words"
            return float(mean + deviation * standard_normal(draws)), rule
        case "exponential", mean:
            rule = f"exponential({mean}): -{mean} * ln((word + 1) / 2**64)"
            return float(mean * waiting_time(draws)), rule
        case "poisson", mean:
            rule = (
                f"poisson({mean}): the first count whose cumulative probability is over "
                f"word / 2**64, added up over parts of at most {PART_MAX}"
            )
            result = occurrences(draws, mean)
            return result, rule if draws.taken else "poisson(0) is 0"
        case "weighted", *weights:
            result = place_by_weight(draws, tuple(map(float, weights)))
            text = f"weighted: the first of {len(weights)} sums of weights over"
            return result, f"{text} word / 2**64 of the whole"
    raise ValueError(f"{use} of {arguments}, with {places} places")
