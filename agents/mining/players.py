"""Who plays a mining run: from what people type to what is recorded and who is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from goldrush.agents import players
from goldrush.agents.llm.budget import Estimate
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.usage import Answers
from goldrush.agents.mining.change import changed_by
from goldrush.agents.mining.miners import Miners, MinersAgain, replaced_in
from goldrush.agents.mining.prompt import PROMPT_MAX
from goldrush.agents.mining.recorded import Recording
from goldrush.agents.mining.roster import (
    LISTED,
    Entry,
    Roster,
    entries_in,
    models_in,
    names_in,
    parse_roster,
    with_models_decided,
)
from goldrush.agents.players import Asker, Players, Prepared, Seating
from goldrush.agents.trust import check_trust, is_own
from goldrush.kernel.errors import BadInput
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.config import MiningConfig, config_of
from goldrush.kernel.mining.events import SUBMITTED
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.mining.treatments import treated, treatment_named
from goldrush.kernel.run import OnUnit
from goldrush.kernel.treatments import BASELINE, Treatment
from goldrush.kernel.world import Row


def prepare(
    settings: Mapping[str, Any],
    roster: str | Roster | None = None,
    treatment: str | None = None,
    models: Models | None = None,
) -> tuple[MiningConfig, Roster]:
    """Configuration and roster, brought together: the number of agents follows the roster.

    `roster` in its text form or parsed (None: the default mix); `treatment`: a name (None: the
    baseline). Raises BadInput for what does not fit; nothing is written, and no model is asked.
    """
    named = treatment_named(treatment or BASELINE)
    wanted = agents_wanted(named, settings)
    if not isinstance(roster, Roster):
        roster = parse_roster(roster, wanted, models)
    elif wanted is not None and wanted != len(roster.entries):
        raise BadInput(f"the roster has {len(roster.entries)} agents", f"agents is {wanted}")
    config = treated(named, settings, len(roster.entries))
    check_recordings(roster.entries, roster.recordings, config)
    return config, roster


def prepared(config: MiningConfig, roster: Roster) -> Prepared:
    """The run that `prepare` brought together."""
    return Prepared(
        {"config": config.as_dict(), "roster": roster.as_setup()},
        roster.trust,
        [recording.path for recording in roster.recordings],
    )


def agents_wanted(treatment: Treatment[MiningConfig], settings: Mapping[str, Any]) -> int | None:
    """How many agents a treatment and settings ask for; None where the roster decides.

    Raises BadInput as `config_of` does.
    """
    asked_for = {**treatment.settings, **settings}
    return config_of(asked_for).agents if "agents" in asked_for else None


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
    """Play a whole mining run into a new journal at `path` and return the last state.

    `settings` are names and values of MiningConfig and go before those of the treatment; `roster`
    is its text form (None: the default mix), and the policies of somebody's own that it names are
    trusted. Otherwise as agents.players.record.
    """
    run = prepared(*prepare(settings or {}, roster, treatment, models))
    return players.record(
        MINING, MINERS, path, run, models=models, force=force, fsync=fsync, on_unit=on_round
    )


def resume(
    path: str | Path, *, on_round: OnUnit[MiningState] | None = None, **how: Any
) -> MiningState:
    """Go on with a mining run that broke off: agents.players.resume."""
    return players.resume(MINING, MINERS, path, on_unit=on_round, **how)


def fork(
    parent: str | Path,
    at: int,
    out: str | Path,
    *,
    settings: Mapping[str, Any] | None = None,
    treatment: str | None = None,
    roster: str | None = None,
    replace: Sequence[Mapping[str, Any]] = (),
    on_round: OnUnit[MiningState] | None = None,
    **how: Any,
) -> MiningState:
    """Play a mining run anew from the close of round `at` on: agents.players.fork.

    `settings` are names and new values of MiningConfig and go before those of the treatment;
    `roster` is a whole new one; `replace` has submissions of later rounds in the form of the
    `submitted` event, which are put in by hand (their `source` is not taken over). The grid, the
    number of agents and a horizon before `at` cannot change.
    """
    change = players.Change(settings or {}, treatment, roster, replace)
    return players.fork(MINING, MINERS, parent, at, out, change, on_unit=on_round, **how)


def _prepared(
    settings: Mapping[str, Any], roster: str | None, treatment: str | None, models: Models | None
) -> Prepared:
    return prepared(*prepare(settings, roster, treatment, models))


def _decided(setup: Mapping[str, Any], models: Models | None) -> Mapping[str, Any]:
    roster = Roster(entries_in(setup["roster"]))
    if not models_in(roster.entries):
        return setup
    roster = with_models_decided(roster, config_of(setup["config"]), models)
    return {**setup, "roster": roster.as_setup()}


def _seated(seating: Seating[MiningState]) -> Miners:
    state, waiting = seating.state, seating.waiting
    recordings = tuple(map(Recording, seating.sources))
    check_players(state, seating.trust, recordings)
    roster = Roster(entries_in(state.roster), recordings, seating.trust)
    there = {row[0] for row in waiting.rows(SUBMITTED)}
    is_last = state.round + 1 == state.config.rounds
    if seating.probe and (not is_last or models_in(roster.entries).keys() - there):
        # A wrong server is told now, not recorded as one that does not answer.
        with_models_decided(roster, state.config, seating.models)
    return Miners(
        state.config,
        roster,
        replaced=replaced_in(seating.forks),
        waiting=waiting if waiting.batches else None,
        models=seating.models,
        earlier=seating.earlier,
    )


def _again(
    trust: Sequence[str], sources: Sequence[str]
) -> Callable[[MiningState, Sequence[Mapping[str, Any]]], Asker]:
    recordings = tuple(map(Recording, sources))

    def asker(state: MiningState, forks: Sequence[Mapping[str, Any]]) -> Asker:
        miners = MinersAgain(state, forks, trust, recordings)
        # What was put in by hand is known, whoever can be asked.
        ask = miners if any(miners.entries) or miners.replaced else None
        return Asker(ask, miners.not_asked, miners.unknown, ask and miners.waiting)

    return asker


def _estimate(run: Prepared, models: Models) -> Sequence[Estimate]:
    from goldrush.agents.mining.estimate import estimates

    recordings = tuple(map(Recording, run.sources))
    roster = Roster(entries_in(run.setup["roster"]), recordings, run.trust)
    return estimates(config_of(run.setup["config"]), roster, models)


def _answer(row: Row) -> tuple[int, Any, Any, Mapping[str, Any] | None]:
    return row[0], None, row[2], row[5]


def check_players(
    state: MiningState, trust: Sequence[str], recordings: Sequence[Recording]
) -> None:
    """Raises BadInput where somebody cannot play on from a state that was read from a journal."""
    entries = entries_in(state.roster)
    for entry in entries:
        if is_own(entry.policy):
            check_trust(entry.policy, trust, f"agent {entry.agent}")
    check_recordings(entries, recordings, state.config)


def check_recordings(
    entries: Sequence[Entry], recordings: Sequence[Recording], config: MiningConfig
) -> None:
    """Raises BadInput unless the recordings hold what `recorded` agents are to play."""
    for recording in recordings:
        for entry in entries:
            if entry.options.get("journal") == recording.sha256:
                recording.check(entry.agent, config.rounds)


MINERS: Final = Players[MiningState](
    prepare=_prepared,
    names=names_in,
    seated=_seated,
    again=_again,
    decided=_decided,
    change=changed_by,
    answers=Answers(SUBMITTED, _answer, "agent", PROMPT_MAX),
    estimate=_estimate,
    has_recorded=True,
    policies=LISTED,
)
