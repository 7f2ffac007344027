"""What the page of a run says about it: its title, its facts, and who plays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Final

from goldrush.kernel.text import format_count
from goldrush.kernel.world import World
from goldrush.replay.journal.declared import Declared
from goldrush.replay.journal.outline import units_of
from goldrush.replay.tools import Tools
from goldrush.replay.view.numbers import POLICIES_MAX
from goldrush.replay.view.walked import Walked

AGENTS_MAX: Final = 10_000  # agents whose policies it names


def title_of(world: World[object], tools: Tools, walked: Walked) -> str:
    """The world, or what was run in it; how long the run is, and its seed."""
    declared = walked.declared[-1][1]
    length, of = format_count(walked.counted, world.vocabulary.unit), units_of(tools, declared)
    last = world.vocabulary.number(walked.closed)
    part = "" if of in (None, walked.counted, last) else f" of {of:,}"
    seed = "" if declared.seed is None else f", seed {declared.seed}"
    first = world.vocabulary.first  # the last one's number would be taken for their count
    span = f" ({first} to {last:,})" if first == 0 and walked.closed > 1 else ""
    of_this = next((text for _, text in tools.about(walked.setup)), world.name)
    return f"{of_this}: {length}{span}{part}{seed}"


def facts_of(
    world: World[object], size: int, walked: Walked, about: Sequence[tuple[str, str]]
) -> list[tuple[str, str]]:
    """The facts about a run whose journal has so many bytes, by name; `about`: as `Tools.about`."""
    declared = walked.declared[-1][1]
    first, last, closed = map(world.vocabulary.number, (walked.first, walked.last, walked.closed))
    part = "" if walked.is_all else f" of {closed:,}; goldrush view --at shows others"
    facts = [
        ("world", f"{world.name}, rules {world.rules}"),
        (world.vocabulary.units, f"{first:,} to {last:,}{part}"),
        ("seed", str(declared.seed)),
        ("agents", _rosters(world, declared) or str(len(declared.players) or None)),
        *about,
        ("journal", f"{size:,} bytes"),
        *(("parent", f"SHA-256 {parent}") for _, _, parent in walked.forks),
    ]
    return [(name, text) for name, text in facts if text != "None"]


def rosters_of(declared: Declared) -> list[tuple[int, list[tuple[str, int]]]]:
    """For the page: the first unit of each roster, and the policies of neighbours with their
    number.
    """
    return [
        (first, [(label, len(list(same))) for label, same in groupby(labels)])
        for first, labels in _labels(declared)
    ]


def _rosters(world: World[object], declared: Declared) -> str:
    """The rosters in force, one after the other."""
    unit = world.vocabulary.unit
    texts = [(first, _agents(labels)) for first, labels in _labels(declared)]
    return "; ".join(
        f"from {unit} {first:,} {text}" if index else text
        for index, (first, text) in enumerate(texts)
        if text
    )


def _agents(labels: Sequence[str]) -> str:
    """Policies with their numbers of agents: `greedy-mine × 15, raid × 5`, the most first."""
    counts = Counter(labels).most_common()
    shown = [label if count == 1 else f"{label} × {count:,}" for label, count in counts]
    left = len(shown) - POLICIES_MAX
    more = [f"{left:,} more"] if left > 0 else []
    return ", ".join([*shown[:POLICIES_MAX], *more])


def _labels(declared: Declared) -> list[tuple[int, list[str]]]:
    """The policies of agents, by the first unit of each roster."""
    return [(first, labels[:AGENTS_MAX]) for first, labels in declared.labels]
