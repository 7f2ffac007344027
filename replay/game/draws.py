"""The draws of a game: each event `drawn`, drawn again from its key."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from goldrush.kernel.game.draw import PART_MAX, USES, Draw, Key
from goldrush.kernel.game.records import State
from goldrush.kernel.game.world import Compiled
from goldrush.kernel.world import Row
from goldrush.replay.journal.tie_break import DrawAudits, Occasion, Outcome, TieBreak

AMONG_MAX: Final = 20  # outcomes of a draw that are listed
_RULES: Final = {  # by use, with the arguments
    "word": "the word",
    "below": "below({0}): the last word mod {0}",
    "between": "{0} + ({1} - {0}) * (word / 2**64)",
    "chance": "chance({0}): true where the word is under {0} * 2**64",
    "choice": "below({0}): the last word mod {0}",
    "shuffled": "Fisher-Yates from the top",
    "sample": "Fisher-Yates from the front",
    "normal": "normal({0}, {1}): the polar method, of the last two words",
    "exponential": "exponential({0}): -{0} * ln((word + 1) / 2**64)",
    "poisson": "poisson({0}): the first count whose cumulative probability is over word / 2**64, "
    f"added up over parts of at most {PART_MAX}",
    "weighted": "weighted: the first sum of weights over word / 2**64 of the whole",
}


def draws_of(compiled: Compiled) -> DrawAudits[State]:
    """The draws of a game."""
    return DrawAudits(USES, {compiled.drawn: partial(_audit, compiled)})


def _audit(compiled: Compiled, state: State, row: Row) -> TieBreak:
    step = state.step - 1 if compiled.has_steps else 0
    key, code, arguments, results, words = row
    use, vocabulary, unit = USES[code], compiled.vocabulary, state.unit + 1
    place = {vocabulary.unit: vocabulary.number(unit)}
    name = ", ".join(map(str, key))
    where = f"{name} of {vocabulary.format_unit(unit)}"
    if compiled.has_steps:
        place, where = {**place, "step": step}, f"{where}, step {step}"
    prefix = state.config.seed, unit, step, "decide"
    occasion = Occasion(place, where, (*prefix, *key), "place", "result", use, name)
    results_again, words_again = _drawn_again(Draw(prefix), key, use, arguments, len(results))
    outcome, again = _outcome(use, results), _outcome(use, results_again)
    among, index = 0, None
    if use in ("below", "choice") and isinstance(again, int):
        among, index = arguments[0] if arguments[0] <= AMONG_MAX else 0, again
    elif use == "shuffled":
        among = len(results)
    rule = _RULES[use].format(*arguments)
    participants = tuple(range(among))
    return TieBreak(occasion, participants, words, outcome, again, rule, None, words_again, index)


def _outcome(use: str, results: Sequence[int]) -> Outcome:
    if use in ("shuffled", "sample"):
        return tuple(results)
    [result] = results if len(results) == 1 else [None]
    return bool(result) if use == "chance" and result in (0, 1) else result


def _drawn_again(
    draw: Draw, key: Key, use: str, arguments: Sequence[Any], places: int
) -> tuple[Sequence[Any], Sequence[int]]:
    """The results and words that a key gives for a use and its arguments. `places`: how many
    results the event has: a forged number would decide how long its draw takes.

    Raises TypeError or ValueError for no key, and for arguments that the use does not have.
    """
    if not key:
        raise ValueError("no key")
    match use, *arguments:
        case ("shuffled", int(count)) | ("sample", int(count), int()) if min(arguments) == places:
            getattr(draw, use)(range(count), *arguments[1:], *key)
        case "shuffled" | "sample", *_:
            raise ValueError(f"{use} of {arguments}, with {places} places")
        case "choice", count:
            draw.below(count, *key)
        case "weighted", *weights:
            draw.weighted(range(len(weights)), weights, *key)
        case _:
            getattr(draw, use)(*arguments, *key)
    [(*_, results, words)] = draw.rows()
    return results, words
