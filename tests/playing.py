"""Whole seasons of real policies, played in memory: no files, no run loop; and recorded."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.agents import players
from goldrush.agents.players import Resources, RunContext
from goldrush.agents.worlds.competition.arenas import arena_record, opened_tests, rules_of
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.play import session_of
from goldrush.agents.worlds.competition.players import SEASON_PLAYERS, configured, prepared
from goldrush.agents.worlds.competition.seats import Seat
from goldrush.kernel.fold import fold
from goldrush.kernel.run import OnUnit, rest_of
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arena import Arena
from goldrush.kernel.worlds.competition.events import CODES
from goldrush.kernel.worlds.competition.state import SeasonState
from tests.laws.seasons import Step


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    cast: Sequence[Seat] | None = None,
    *,
    force: bool = False,
    fsync: bool = False,
    on_assignment: OnUnit[SeasonState] | None = None,
    **needs: Any,
) -> SeasonState:
    """Play a season into a new journal and return the last state. `settings` are as for
    `configured`; without a `cast` all are scripted. User-defined policies in it are trusted.
    `on_assignment` is called as each assignment closes; `needs` are fields of Resources.

    Raises BadInput, PolicyFailed, RunStopped, WriteFailed as agents.players.record.
    """
    resources = Resources(**needs)
    config = configured(settings or {}, resources)
    world = competition(rules_of(config.arena))
    return players.record(
        world, SEASON_PLAYERS, path, prepared(config, cast), resources=resources, force=force,
        fsync=fsync, on_unit=on_assignment,
    )  # fmt: skip


def nk() -> Arena:
    """The arena in which a test costs next to nothing."""
    return arena_record("nk", 100)


def mining() -> Arena:
    """The default arena with small tests, of the subjects that are screened for larger ones: of all
    others most have nothing to find.
    """
    small = arena_record("mining[agents=5;rounds=20;seeds=2]")
    return attrs.evolve(small, subjects=arena_record("mining").subjects)


def steps(
    settings: Mapping[str, Any],
    cast: Sequence[Seat] | None = None,
    trust: Collection[str] = (),
    program: str | None = None,
) -> Iterator[Step]:
    """The steps of a season of which nobody is asked outside."""
    config = configured(settings, Resources(program=program))
    world = competition(rules_of(config.arena))
    seats = [seat.as_dict() for seat in cast or cast_of(config.workers)]
    state = world.initial({"config": config.as_dict(), "cast": seats})
    context = RunContext(state, resources=Resources(trust=list(trust)))
    with session_of(context, opened_tests(config.arena, program)) as season:
        while not world.ended(state):
            inputs = Block(rest_of(season(state), lambda batches: None))
            derived = Block(world.decide(state, inputs))
            after = fold(world, state, [inputs, derived])
            closed = world.close(world.copy(after)) if world.unit_done(after) else None
            yield Step(state, inputs, derived, after, closed)
            state = closed or after


def events(step: Step, kind: Any) -> list[Any]:
    """The events of one kind in a step, as its named tuples."""
    code = CODES[kind]
    return [kind(*row) for block in (step.inputs, step.derived) for row in block.rows(code)]
