"""Mining runs for tests: recorded, resumed and forked by functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from goldrush.agents import players
from goldrush.agents.llm.models import Models
from goldrush.agents.roster import Roster
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.run import OnUnit
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig
from goldrush.kernel.worlds.mining.state import MiningState


def prepare(
    settings: Mapping[str, Any],
    roster: str | Roster | None = None,
    treatment: str | None = None,
    models: Models | None = None,
) -> tuple[MiningConfig, Roster]:
    """The configuration and the roster of a mining run: see SimultaneousPlayers.configured."""
    given = roster if isinstance(roster, Roster) else None
    if given is not None:
        settings, roster = {**settings, "agents": len(given.entries)}, None
    config, parsed = MINING_PLAYERS.configured(settings, roster, treatment, models)
    assert isinstance(config, MiningConfig)  # made by its config_of
    return config, given or parsed


def record(
    path: str | Path,
    settings: Mapping[str, Any] | None = None,
    roster: str | Roster | None = None,
    treatment: str = BASELINE,
    *,
    models: Models | None = None,
    force: bool = False,
    fsync: bool = False,
    on_round: OnUnit[MiningState] | None = None,
) -> MiningState:
    """Play a whole mining run into a new journal and return the last state. `settings` override
    those of the treatment; user-defined policies in `roster` are trusted; `on_round` is called as
    each round closes.

    Raises BadInput, PolicyFailed, RunStopped, WriteFailed as agents.players.record.
    """
    run = MINING_PLAYERS.prepared(*prepare(settings or {}, roster, treatment, models))
    return players.record(
        MINING, MINING_PLAYERS, path, run, resources=players.Resources(models=models),
        force=force, fsync=fsync, on_unit=on_round,
    )  # fmt: skip


def resume(
    path: str | Path,
    *,
    fsync: bool = False,
    on_round: OnUnit[MiningState] | None = None,
    **needs: Any,
) -> MiningState:
    """Continue an unfinished mining run: see agents.players.resume; `needs`: of Resources."""
    resources = players.Resources(**needs)
    return players.resume(
        MINING, MINING_PLAYERS, path, resources=resources, fsync=fsync, on_unit=on_round
    )


def fork(
    parent: str | Path,
    at: int,
    out: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    treatment: str | None = None,
    roster: str | None = None,
    replace: Sequence[Mapping[str, Any]] = (),
    force: bool = False,
    fsync: bool = False,
    on_round: OnUnit[MiningState] | None = None,
    **needs: Any,
) -> MiningState:
    """Play a mining run anew from the close of round `at` on: see agents.players.fork. The grid,
    the number of agents and a horizon before `at` cannot change.

    Args:
        settings: of MiningConfig, by name; they override those of the treatment.
        replace: submissions of later rounds, in the form of the `submitted` event; their `source`
            is ignored.
        needs: fields of Resources.

    Raises BadInput, PolicyFailed, RunStopped, WriteFailed as agents.players.fork.
    """
    change = players.ForkChange(settings or {}, treatment, roster, replace)
    return players.fork(
        MINING, MINING_PLAYERS, parent, at, out, change, resources=players.Resources(**needs),
        force=force, fsync=fsync, on_unit=on_round,
    )  # fmt: skip
