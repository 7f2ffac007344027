"""How two runs of programs differ: by caller, and that caller's first, second, ... request that
succeeded. Failures and the order of commits are no difference between simulations.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from goldrush.kernel.journal import JournalReader
from goldrush.replay.worlds.program.tape import Exchange, Tape, cut, difference
from goldrush.replay.worlds.program.texts import said_in

_NAMES = ("in A", "in B")


def differing(a: str | Path, b: str | Path) -> list[str]:
    """The first exchange of a caller that differs, as a line; none: all are the same. Raises
    JournalError.
    """
    one, two = map(_by_caller, (a, b))
    for caller, number in [*one, *(key for key in two if key not in one)]:
        pair = one.get((caller, number)), two.get((caller, number))
        if text := _difference(*pair):
            where = [f"exchange {e.number} {n}" for e, n in zip(pair, _NAMES, strict=True) if e]
            of = f"of {caller}, " if caller else ""
            return [f"  {of}success {number} ({', '.join(where)}): {text}"]
    return []


def _by_caller(path: str | Path) -> dict[tuple[str, int], Exchange]:
    """The successes of a run by caller and number, in the order of the journal."""
    with JournalReader(path) as reader:
        tape = Tape.of(reader)
    found, counts = {}, Counter[str]()
    for exchange in map(tape.exchanges.__getitem__, sorted(tape.valid)):
        if exchange.answer.is_success:
            counts[exchange.caller] += 1
            found[exchange.caller, counts[exchange.caller]] = exchange
    return found


def _difference(one: Exchange | None, two: Exchange | None) -> str | None:
    """How two exchanges differ, as text; None: they do not."""
    if one is None or two is None:
        return f"only {_NAMES[one is None]}"
    if request := difference(one.asked, two.asked, _NAMES):
        return f"the request: {request}"
    texts = [said_in(e.answer) for e in (one, two)]
    if texts[0] == texts[1]:
        return None
    at, *parts = cut(*texts)
    said = (f"'{part}' {name}" for part, name in zip(parts, _NAMES, strict=True))
    return f"the answer, character {at}: {', '.join(said)}"
