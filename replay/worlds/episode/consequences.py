"""Consequences of a difference between two episode journals: what differs first and by how much,
and the rewards and returns in both from then on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from goldrush.kernel.journal import Commit, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import number_in
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.journal.diff import Diff
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.text import format_table
from goldrush.replay.worlds.episode.episodes import closed_units, finite
from goldrush.replay.worlds.episode.repetition import format_difference
from goldrush.replay.worlds.episode.show import named

SHOWN_MAX = 20  # agents or steps that text lists


@attrs.frozen
class Compared:
    """A figure in both runs; None where a run has none, or no finite one."""

    name: str
    a: Value
    b: Value


@attrs.frozen
class StepDifference:
    """The rewards of a step in both runs, added over the agents."""

    step: int
    a: Value
    b: Value


@attrs.frozen
class EpisodeConsequences:
    """Two runs compared from the first step that differs to the last one of both.

    Attributes:
        since, until: these steps.
        difference: what differs first in what they were given, and by how much; empty: it stands
            in the events.
        rewards: by agent, the sum of its rewards in these steps.
        returns: by agent, its return at the end of them.
        variables: of a model at the end of them.
        steps: each of these steps whose rewards differ.
    """

    since: int
    until: int
    difference: str
    rewards: Sequence[Compared]
    returns: Sequence[Compared]
    variables: Sequence[Compared]
    steps: Sequence[StepDifference]

    def as_dict(self) -> dict[str, object]:
        """The consequences for JSON."""
        return attrs.asdict(self)


def consequences(difference: Diff, *, by_round: bool = False) -> EpisodeConsequences | None:
    """The consequences of the first event that differs; None if no event differs in a step that
    both runs closed. Raises JournalError.
    """
    until = min(difference.a.rounds, difference.b.rounds) - 1  # rounds are counted from 1
    if difference.first is None or difference.first.round > until:
        return None
    since, text = difference.first.round, ""
    sums: tuple[list[float], list[float]] = [], []
    steps: list[StepDifference] = []
    paths = difference.a.path, difference.b.path
    with (
        reporting_forged(*paths),
        JournalReader(paths[0]) as one,
        JournalReader(paths[1]) as two,
    ):
        for (ours, a), (theirs, b) in zip(_units(one, until), _units(two, until), strict=True):
            step = ours.unit - 1
            if step < since:
                continue
            blocks = ours.blocks[-1], theirs.blocks[-1]
            if not text and _is_derived(ours, theirs):
                text = format_difference(a.about.as_dict(), *blocks, ("in A", "in B"))
                text = text and f"step {step}: {text}"
            for known, state in zip(sums, (a, b), strict=True):
                _add(known, state.rewards)
            if by_round and a.rewards != b.rewards:
                steps.append(StepDifference(step, *(finite(sum(each.rewards)) for each in (a, b))))
    names = max(a.about.agents, b.about.agents, key=len)
    variables = _numbers(a), _numbers(b)
    return EpisodeConsequences(
        since, until, text, _pairs(names, *sums), _pairs(names, a.returns, b.returns),
        [Compared(name, variables[0].get(name), variables[1].get(name))
         for name in {**variables[0], **variables[1]}],
        steps,
    )  # fmt: skip


def _units(reader: JournalReader, until: int) -> Iterator[tuple[Commit, EpisodeState]]:
    """The closed units up to a step, with a copy of the state after each."""
    for commit, state in closed_units(episode_world(), reader):
        yield commit, attrs.evolve(state)
        if commit.unit - 1 == until:
            return


def _is_derived(a: Commit, b: Commit) -> bool:
    """Whether two units differ in what they gave."""
    blocks: list[tuple[Block, Block]] = list(zip(a.blocks[1::2], b.blocks[1::2], strict=False))
    return any(list(ours) != list(theirs) for ours, theirs in blocks)


def _add(sums: list[float], rewards: Sequence[float]) -> None:
    sums += [0.0] * (len(rewards) - len(sums))
    for agent, reward in enumerate(rewards):
        sums[agent] += reward


def _pairs(names: Sequence[str], a: Sequence[float], b: Sequence[float]) -> list[Compared]:
    def at(side: Sequence[float], agent: int) -> Value:
        return finite(side[agent]) if agent < len(side) else None

    agents = range(max(len(a), len(b)))
    return [Compared(named(agent, names), at(a, agent), at(b, agent)) for agent in agents]


def _numbers(state: EpisodeState) -> Mapping[str, float]:
    """The numbers that a model reports after a step."""
    if not state.is_model:
        return {}
    numbers = {name: number_in(value) for (_, name), value in state.shown.items()}
    return {name: number for name, number in numbers.items() if number is not None}


def format_consequences(found: EpisodeConsequences, by_round: bool) -> str:
    """The consequences as text."""
    parts = [escaped(found.difference)] if found.difference else []
    rows: list[Sequence[str]] = [("", "A", "B", "B - A")]
    rows += [_row(f"reward of {each.name}", each) for each in found.rewards]
    rows += [_row(f"return of {each.name}", each) for each in found.returns]
    rows += [_row(each.name, each) for each in found.variables]
    if len(rows) > 1:
        parts.append(f"steps {found.since} to {found.until}: rewards in them, returns at the end")
        parts.append(format_table(rows, numbers=(1, 2, 3), most=2 * SHOWN_MAX))
    if by_round:
        steps = [
            (str(each.step), *_row("", Compared("", each.a, each.b))[1:]) for each in found.steps
        ]
        parts += ["", format_table([("step", "reward A", "reward B", "B - A"), *steps], range(4))]
    return "\n".join(parts)


def _row(title: str, pair: Compared) -> tuple[str, str, str, str]:
    change = "-" if pair.a is None or pair.b is None else f"{pair.b - pair.a:+,.6g}"
    return escaped(title), _number(pair.a), _number(pair.b), change


def _number(value: Value) -> str:
    return "-" if value is None else f"{value:,.6g}"
