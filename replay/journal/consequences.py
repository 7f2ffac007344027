"""Consequences of the first event that differs between two runs, in any world: their measures from
its unit on, and what their agents have after the last unit of both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final

import attrs

from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped
from goldrush.kernel.world import Vocabulary
from goldrush.replay.data.measures import Measure, Measured, Span
from goldrush.replay.data.run_data import measured_until
from goldrush.replay.find import tools_at
from goldrush.replay.journal.diff import Diff
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.text import TABLE_DIGITS, format_change, format_number, format_table
from goldrush.replay.tools import Tools

SHOWN_MAX: Final = 40  # rows of a table


@attrs.frozen
class Pair:
    """A number in both runs; None where it is undefined.

    Attributes:
        name: of the measure.
        title: for people.
        a, b: the number in the first run and in the second.
        of: the agent that has it, or the public number of the unit; None: the run.
    """

    name: str
    title: str
    a: Value
    b: Value
    of: int | None = None


@attrs.frozen
class Consequences:
    """Two runs compared from a unit on to the last one of both.

    Attributes:
        since, until: the public numbers of these units.
        first: the first measure of a unit that differs: where a setting differs, what follows from
            it; None: none does.
        measures: each measure over these units.
        agents: each measure of agents after the last of these units, for each agent.
        vocabulary: the nouns of the world.
    """

    since: int
    until: int
    first: Pair | None
    measures: Sequence[Pair]
    agents: Sequence[Pair]
    vocabulary: Vocabulary = attrs.field(repr=False)

    def as_dict(self) -> dict[str, Any]:
        """The consequences for JSON."""
        return attrs.asdict(self, filter=attrs.filters.exclude("vocabulary"))

    def format(self, names: Mapping[int, str]) -> str:
        """The consequences as text. `names`: of agents."""
        words = self.vocabulary
        rows = [_row(pair.title, pair) for pair in self.measures if pair.a != pair.b]
        for pair in self.agents:
            who = names.get(pair.of or 0, f"agent {pair.of}")
            rows += [_row(f"{pair.title} of {who}", pair)] if pair.a != pair.b else []
        span = f"{words.units} {self.since} to {self.until}"
        of_agents = f", and of agents after {words.unit} {self.until}" if self.agents else ""
        parts = [] if self.first is None else [_first(self.first, words)]
        parts += [f"over {span}{of_agents}:"]
        table = format_table([("", "A", "B", "B - A"), *rows], (1, 2, 3), SHOWN_MAX)
        parts.append(table if rows else "every measure is the same")
        return "\n".join(parts)


def consequences(difference: Diff) -> Consequences | None:
    """The consequences of the first event that differs; None if no event differs in a unit that
    both runs closed, and in a world without measures, or whose units do not compare by number.
    Raises JournalError if a journal cannot be read.
    """
    a, b = difference.a.path, difference.b.path
    tools, last = tools_at(a), min(difference.a.rounds, difference.b.rounds)
    vocabulary = difference.vocabulary
    if difference.first is None or difference.first.round > vocabulary.number(last):
        return None
    if not (tools.measures.outcomes and tools.by_number):
        return None
    first = max(1, vocabulary.unit_of(difference.first.round))
    with reporting_forged(a, b):
        runs = measured_until(a, last), measured_until(b, last)
    titles = {**runs[0].known, **runs[1].known}
    span = Span(first, last)
    follows = next(_by_unit(runs, titles, span, vocabulary), None)
    measures = [
        Pair(name, measure.title, _over(runs[0], name, span), _over(runs[1], name, span))
        for name, measure in titles.items()
    ]
    return Consequences(
        max(vocabulary.first, difference.first.round), vocabulary.number(last), follows, measures,
        list(_agents(tools, *runs)), vocabulary,
    )  # fmt: skip


def _over(run: Measured[Any], name: str, span: Span) -> Value:
    return run.over(name, span, len(span)) if name in run.every else None


def _by_unit(
    runs: tuple[Measured[Any], Measured[Any]],
    known: Mapping[str, Measure],
    span: Span,
    vocabulary: Vocabulary,
) -> Iterator[Pair]:
    one, two = runs
    for unit in range(span.first, span.last + 1):
        for name, measure in known.items():
            if measure.by_unit and name in one.values and name in two.values:
                a, b = one.values[name][unit - 1], two.values[name][unit - 1]
                if a != b:
                    yield Pair(name, measure.title, a, b, vocabulary.number(unit))


def _agents(tools: Tools, *runs: Measured[Any]) -> Iterator[Pair]:
    for name, measure in tools.measures.of_agents.items():
        values = (run.by_agent.get(name, ()) for run in runs)
        for agent, (a, b) in enumerate(zip_longest(*values)):
            yield Pair(name, measure.title, a, b, agent)


def _first(pair: Pair, words: Vocabulary) -> str:
    """Where a measure differs first, and both values."""
    a, b = (format_number(value, TABLE_DIGITS) for value in (pair.a, pair.b))
    if a == b:  # they differ in later digits
        a, b = str(pair.a), str(pair.b)
    return f"first in {words.unit} {pair.of}: {escaped(pair.title)} is {a} in A, {b} in B"


def _row(title: str, pair: Pair) -> Sequence[str]:
    numbers = (format_number(pair.a, TABLE_DIGITS), format_number(pair.b, TABLE_DIGITS))
    return escaped(title), *numbers, format_change(pair.a, pair.b)
