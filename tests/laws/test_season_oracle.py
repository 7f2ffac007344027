"""Seasons, derived again by the naive oracle: whatever is done, the same must follow."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from goldrush.agents.competition.cast import cast_of
from goldrush.agents.competition.players import record
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.fold import block_events, events, units
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import Block
from tests.laws.seasons import Season, played, seasons
from tests.season_oracle import Act, Event, derived_from

# Thresholds are met, and sparks run out, within a few assignments; tests of claims cost next to
# nothing.
SMALL = {
    "workers": 4,
    "assignments": 14,
    "assignments_per_project": 2,
    "worker_tiers": [2, 4, 6, 8],
    "admin_projects": 1,
    "assistant_stages": [1, 2, 3, 5],
    "judge_stages": [1, 2, 4],
    "therapist_stages": [1, 2, 4],
    "test_agents": 4,
    "test_rounds": 6,
    "test_seeds": 1,
}


@pytest.mark.parametrize(
    "settings",
    [
        {"seed": 0},
        {"seed": 1, "assignments": 18, "elimination_bottoms": 2},
        {"seed": 2, "scoring": "absolute"},
        {"seed": 3, "workers": 3, "assignments": 18, "rolling_days": 2},
        {"seed": 4, "workers": 8, "assignments": 12},
        {"seed": 5, "workers": 5, "sparks_start": 3, "elimination_bottoms": 1},
    ],
)
def test_what_follows_in_a_recorded_season_is_what_the_oracle_derives(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "season.journal"
    record(path, SMALL | settings)

    with JournalReader(path) as reader:
        started = next(events(COMPETITION, reader))
    done, followed = zip(*steps_of(path), strict=True)
    derived = list(derived_from(started["config"], started["cast"], done))

    assert derived == list(followed)


def steps_of(path: Path) -> Iterator[tuple[list[Act], list[Event]]]:
    """What was done in each step of a journal, and what followed."""
    with JournalReader(path) as reader:
        for unit in units(reader, COMPETITION.arrange):
            for place, step in enumerate(unit.steps, 1):
                is_last = place == len(unit.steps)
                yield told(unit.number, step.inputs), told(unit.number, step.derived, is_last)


def told(unit: int, block: Block, is_last: bool = False) -> list[Event]:
    """The events of a block, with those of them that the oracle does not know made equal to its."""
    found = [event.as_dict() for event in block_events(COMPETITION, unit, block)]
    for event in found:
        if event["event"] == "joined":
            event["name"] = None
    closed = {"event": "assignment_closed", "assignment": unit - 1}
    return [*found, closed] if is_last else found


@given(seasons())
def test_what_follows_from_anything_done_is_what_the_oracle_derives(season: Season) -> None:
    done, followed = [], []
    for step in played(season):
        unit = step.before.assignment + 1
        done.append(told(unit, step.inputs))
        followed.append(told(unit, step.derived, step.closed is not None))

    derived = list(derived_from(season.config.as_dict(), cast_of(season.config.workers), done))

    assert derived == followed
