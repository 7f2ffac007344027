"""Seasons, derived again by the naive oracle: whatever is done, the same must follow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from goldrush.agents.worlds.competition.arenas import arena_record, rules_of
from goldrush.kernel.fold import block_events, events, units
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Block, World
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.events import EVENTS
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import Refusal, names_of
from tests.laws.seasons import Season, logical, played, seasons, world_of
from tests.playing import record
from tests.season_oracle import Act, Event, SeasonOracle

# Thresholds are met, and sparks run out, within a few assignments; tests of claims cost next to
# nothing.
SMALL: dict[str, Any] = {
    "workers": 4,
    "assignments": 14,
    "assignments_per_project": 2,
    "worker_tiers": [2, 4, 6, 8],
    "admin_projects": 1,
    "assistant_stages": [1, 2, 3, 5],
    "judge_stages": [1, 2, 4],
    "therapist_stages": [1, 2, 4],
}
MINING, NK = "mining[agents=4;rounds=6;seeds=1]", "nk[seeds=2]"


@pytest.mark.parametrize(
    ("arena", "changed"),
    [
        (MINING, {"seed": 1, "workers": 3, "assignments": 18, "rolling_days": 2}),
        (NK, {"seed": 1, "assignments": 18, "elimination_bottoms": 2}),
        (NK, {"seed": 5, "workers": 5, "sparks_start": 3, "elimination_bottoms": 1}),
        (NK, {"seed": 6, "table": False, "elimination": False, "tiers": False}),
    ],
)
def test_what_follows_in_a_recorded_season_is_what_the_oracle_derives(
    arena: str, changed: dict[str, Any], path: Path
) -> None:
    config = SMALL | changed
    found = arena_record(arena, config["assignments"])
    record(path, config | {"arena": found.as_dict()})
    world = competition(rules_of(found))

    with JournalReader(path) as reader:
        started = next(events(world, reader))
    done, followed = zip(*steps_of(path, world), strict=True)
    season = SeasonOracle(logical(started["config"]), started["cast"])
    derived = [season.step(acts) for acts in done]

    assert derived == list(followed)


def steps_of(path: Path, world: World[SeasonState]) -> Iterator[tuple[list[Act], list[Event]]]:
    """What was done in each step of a journal, and what followed."""
    with JournalReader(path) as reader:
        for unit in units(reader, world.arrange):
            for count, step in enumerate(unit.steps, 1):
                is_last = count == len(unit.steps)
                acts = shown(world, unit.number, step.inputs)
                yield acts, shown(world, unit.number, step.derived, is_last)


def shown(world: World[SeasonState], unit: int, block: Block, is_last: bool = False) -> list[Event]:
    """The events of a block, with those of them that the oracle does not know made equal to its."""
    found = [event.as_dict() for event in block_events(world, unit, block)]
    for event in found:
        if event["event"] == "joined":
            event["name"] = None
    closed = {"event": "assignment_closed", "assignment": unit - 1}
    return [*found, closed] if is_last else found


def test_what_follows_from_anything_done_is_what_the_oracle_derives() -> None:
    """The seasons drawn meet every event and every refusal."""
    met: set[Any] = set()

    @settings(max_examples=max(160, 4 * settings().max_examples))  # fewer do not meet all
    @given(seasons())
    def derive(season: Season) -> None:
        world, oracle = world_of(season.config), season.oracle

        for step in played(season):  # each held before the next: what is done comes from the oracle
            unit = step.before.assignment + 1
            inputs = shown(world, unit, step.inputs)
            derived = oracle.step(inputs)

            assert derived == shown(world, unit, step.derived, step.closed is not None)
            assert [(a["stage"], a["self-determined"]) for a in oracle.agents.values()] == [
                (agent.stage, agent.is_self_determined)
                for agent in (step.closed or step.after).agents.values()
            ]
            refused = {event["act"]["index"] for event in derived if event["event"] == "refused"}
            done = [event for index, event in enumerate(inputs) if index not in refused]
            met.update(event["event"] for event in (*done, *derived))
            met.update(event["code"] for event in derived if event["event"] == "refused")

    derive()

    every = {event.name for event in EVENTS} | {*names_of(Refusal)}
    assert every == met - {"assignment_closed"}
