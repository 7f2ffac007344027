"""A difference between two runs as text."""

from __future__ import annotations

import json
from typing import Final

from goldrush.kernel.world import Vocabulary
from goldrush.replay.journal.diff import Diff, Side
from goldrush.replay.journal.story import narrator

SHOWN_MAX: Final = 20  # causes: how many are listed


def format_diff(difference: Diff) -> list[str]:
    """The headline, the causes, and the first event that differs as each run has it, line by line.

    Raises JournalError as reading the journals does.
    """
    a, b = difference.a, difference.b
    lines = [_headline(difference)]
    lines += [f"cause: {cause.kind}: {cause.text}" for cause in difference.causes[:SHOWN_MAX]]
    if len(difference.causes) > SHOWN_MAX:
        lines.append(f"and {len(difference.causes) - SHOWN_MAX} more; --json has all")
    if difference.first is not None:
        lines += _both(difference)
    causes = " ".join(cause.text for cause in difference.causes)
    lines += [
        f"note: {side.trouble}" for side in (a, b) if side.trouble and side.trouble not in causes
    ]
    return lines


def _headline(difference: Diff) -> str:
    a, b, vocabulary = difference.a, difference.b, difference.vocabulary
    both = f"{a.path} (a) and {b.path} (b)"
    if difference.same:
        end = "finished" if a.finished else "unfinished"
        return f"the same: {a.rounds} {vocabulary.units}, {end}"
    if difference.first is not None:
        return f"{both} differ from {vocabulary.unit} {difference.first.round} on"
    if difference.prefix is not None:
        return _prefix(*((a, b) if difference.prefix == "a" else (b, a)), vocabulary)
    kinds = {cause.kind for cause in difference.causes}
    broken = [
        vocabulary.unit_of(cause.round) for cause in difference.causes if cause.kind == "damage"
    ]
    common = min(a.rounds, b.rounds, *(unit - 1 for unit in broken))
    if kinds & {"world", "rules"} or (common < 1 and kinds):
        return f"{both} cannot be compared event by event"
    last = vocabulary.number(common)
    units = f"{vocabulary.units} {vocabulary.first} to {last}"
    return f"{both} differ, but not in the events of {units}"


def _prefix(short: Side, long: Side, words: Vocabulary) -> str:
    """The headline for a run that is the beginning of the other."""
    ends = "ends" if short.finished else "breaks off"
    if long.rounds > short.rounds:
        goes_on = f"goes on to {words.number(long.rounds)}"
    elif long.finished:
        goes_on = "has come to its end"
    else:
        goes_on = f"has {long.open} inputs of the next one"
    return (
        f"{short.path} is a prefix of {long.path}: it {ends} with "
        f"{words.format_unit(short.rounds)}, the other one {goes_on}"
    )


def _both(difference: Diff) -> list[str]:
    """The first event that differs in both runs; as JSON where their texts are the same."""
    story = narrator(difference.a.path).lines
    assert difference.first is not None
    events = difference.first.a, difference.first.b
    nothing = f"nothing more in this {difference.vocabulary.unit}"
    texts = [nothing if event is None else next(story([event])) for event in events]
    if texts[0] == texts[1]:
        texts = [json.dumps(event and event.as_dict()) for event in events]
    return [f"  {name}: {text}" for name, text in zip("ab", texts, strict=True)]
