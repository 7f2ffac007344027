"""The `Players` of a world in which all agents submit simultaneously, made from its `StageGame`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import attrs

from goldrush.agents.external import roster_text
from goldrush.agents.llm.budget import Estimate
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.usage import AnswerFields, Bounds
from goldrush.agents.players import (
    Facts,
    ForkChange,
    Players,
    PolicyCheck,
    PreparedRun,
    ResolvedChange,
    Resources,
    RunContext,
)
from goldrush.agents.roster import Roster, entries_in
from goldrush.agents.rounds import check_of, estimates_of, session_of, several_submissions
from goldrush.agents.seats import models_in
from goldrush.agents.seats import with_models_resolved as resolved
from goldrush.agents.session import Asked, Session, bounds_of
from goldrush.agents.stage_game import S, StageGame, V, prompting_of
from goldrush.agents.trust import check_trust, is_import_name
from goldrush.kernel.errors import BadInput, BadPlan, JournalError, format_value
from goldrush.kernel.fold import units
from goldrush.kernel.forking import changes
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.rosters import Config
from goldrush.kernel.treatments import Treatment, treated, treatment_named
from goldrush.kernel.world import Row


def make_players(game: StageGame[S, V]) -> Players[S]:
    """The `Players` of a world."""

    def prepare_(
        settings: Mapping[str, Any],
        roster: str | None,
        treatment: str | None,
        models: Models | None,
    ) -> PreparedRun:
        return prepared(*prepare(game, settings, roster, treatment, models))

    def policy_check(resources: Resources) -> Callable[[S, Sequence[Facts]], PolicyCheck]:
        read = game.policy_set.recording
        recordings = () if read is None else tuple(map(read, resources.sources))

        def asker(state: S, forks: Sequence[Mapping[str, Any]]) -> PolicyCheck:
            entries, objects = entries_in(state.roster), resources.objects_for(state.roster)
            return check_of(game, Roster(entries, recordings, resources.trust, objects), forks)

        return asker

    def estimate(run: PreparedRun, resources: Resources) -> Sequence[Estimate]:
        models = resources.models or Models()
        return estimates_of(game, game.config_of(run.facts["config"]), run.roster, models)

    prompting, answers = game.prompting, None
    if prompting is not None:
        answers = AnswerFields(game.code, game.about, "agent", prompting.longest)
    return Players(
        prepare=prepare_,
        names=game.policy_set.names_in,
        roster_text=partial(roster_text, game.policy_set),
        policies=game.policy_set.catalogue,
        start_agents=partial(_start_agents, game),
        policy_check=policy_check,
        resolve_models=partial(with_models_resolved, game),
        resolve_change=partial(changed_by, game),
        check_parent=partial(_check_parent, game),
        answers=answers,
        bounds=partial(_bounds, game),
        estimate=None if prompting is None else estimate,
        recording=game.policy_set.recording,
        installed=game.policy_set.installed,
        horizon=game.horizon,
    )


def prepare(
    game: StageGame[S, V],
    settings: Mapping[str, Any],
    roster: str | Roster | None = None,
    treatment: str | None = None,
    models: Models | None = None,
) -> tuple[Config, Roster]:
    """The configuration and the roster of a run; the number of agents follows the roster.

    Writes nothing and asks no model. The settings override those of the treatment. Raises BadInput
    for invalid settings or rosters, and for settings that do not fit the roster.
    """
    named = _treatment(game, treatment)
    required = {**named.settings, **settings}
    wanted = game.config_of(required).agents if "agents" in required else None
    if not isinstance(roster, Roster):
        roster = game.policy_set.parse(roster, wanted, models)
    elif wanted is not None and wanted != len(roster.entries):
        raise BadInput(f"the roster has {len(roster.entries)} agents", f"agents is {wanted}")
    config = treated(named, {**settings, "agents": len(roster.entries)}, game.config_of)
    game.check_recordings(roster, config)
    return config, roster


def prepared(config: Config, roster: Roster) -> PreparedRun:
    """The run with a configuration and a roster from `prepare`."""
    return PreparedRun({"config": config.as_dict()}, roster)


def _treatment(game: StageGame[S, V], name: str | None) -> Treatment[Any]:
    """The treatment of this name; None: one without settings."""
    return Treatment("", "") if name is None else treatment_named(game.treatments, name)


def with_models_resolved(
    game: StageGame[S, V], roster: Roster, facts: Facts, models: Models | None
) -> Roster:
    """See Players.resolve_models."""

    def schema() -> Mapping[str, Any]:
        start = game.world.initial({**facts, "roster": roster.as_setup()})
        return prompting_of(game).schema(game.view(start), 0)

    return attrs.evolve(roster, entries=resolved(roster.entries, models, schema))


def _start_agents(game: StageGame[S, V], context: RunContext[S]) -> Session[S]:
    state, needs = context.state, context.resources
    roster = Roster(entries_in(state.roster), context.recordings, needs.trust, needs.policies)
    for entry in roster.entries:
        if is_import_name(entry.policy):
            check_trust(entry.policy, roster.trust, entry.label)
    game.check_recordings(roster, state.config)
    answered = {row[0] for row in context.pending.rows(game.code)}
    is_last = game.world.vocabulary.unit_of(game.unit(state)) == game.units(state.config)
    if context.probe and (not is_last or models_in(roster.entries).keys() - answered):
        # A wrong server is an error now, not a row of missing answers.
        with_models_resolved(game, roster, {"config": state.config.as_dict()}, needs.models)
    return session_of(game, roster, context)


def _bounds(game: StageGame[S, V], context: RunContext[S]) -> Bounds:
    """The upper bound of each pending answer of a model."""
    view, chosen = game.view(context.state), models_in(entries_in(context.state.roster))
    agents = (row[0] for row in context.pending.rows(game.code) if row[0] in chosen)
    return bounds_of(game.prompt(view, Asked(agent), chosen[agent]) for agent in agents)


def _check_parent(game: StageGame[S, V], parent: JournalReader, change: ForkChange) -> None:
    """Raises BadInput for replaced submissions if a unit of the parent has several steps.

    The parent is read to the first such unit or to damage.
    """
    if not change.replace:
        return
    with parent.again() as reader, suppress(JournalError):
        if any(len(unit.steps) > 1 for unit in units(reader, game.world.arrange)):
            place = f"a {game.world.vocabulary.unit}"
            raise several_submissions(game, place, is_replaced=True)


def changed_by(
    game: StageGame[S, V], state: S, change: ForkChange, resources: Resources
) -> ResolvedChange:
    """A change checked against the state after the last unit that stays. The models of a new roster
    are asked a short question.

    Raises BadInput for a change that is not possible during a run, for invalid settings, rosters
    and submissions, and for a model that does not answer.
    """
    if game.forks is None:
        raise BadInput(f"runs of the {game.world.name} world cannot be forked", "record a new run")
    old: Config = state.config
    closed = game.world.vocabulary.unit_of(game.unit(state)) - 1

    def config_of(settings: Mapping[str, Any]) -> Config:
        return game.config_of({**old.as_dict(), **settings})

    config: Config = treated(_treatment(game, change.treatment), change.settings, config_of)
    game.forks.check_change(old, config, closed)
    replaced = _replaced(game, change.replace, config)
    game.forks.check_replaced(replaced, config, closed)
    facts: dict[str, Any] = {
        "changes": changes(old, config),
        "roster": None,
        "replaced": replaced,
    }
    if change.roster is None:
        return ResolvedChange(facts)
    models = resources.models
    roster = game.policy_set.parse(change.roster, config.agents, models)
    roster = with_models_resolved(game, roster, {"config": old.as_dict()}, models)
    facts["roster"] = roster.as_setup()
    return ResolvedChange(facts, roster)


def _replaced(
    game: StageGame[S, V], items: Sequence[Mapping[str, Any]], config: Config
) -> list[tuple[int, Row]]:
    """(unit, row) of each replaced submission, ordered by unit and agent."""
    event, unit = game.world.events[game.code], game.world.vocabulary.unit
    keys, see = ("event", unit, *event.fields), f"see `{event.name}` in an export"
    replaced = []
    for number, item in enumerate(items, 1):
        where = f"submission {number}"
        if not isinstance(item, Mapping) or set(item) - set(keys):
            raise BadInput(
                f"{where} is {format_value(item)}", f"give an object of {', '.join(keys)}"
            )
        if item.get("event", event.name) != event.name:
            raise BadInput(
                f"{where} is a {format_value(item['event'])} event", f"give {event.name} ones"
            )
        if type(item.get(unit)) is not int:
            raise BadInput(
                f"{where} has {unit} {format_value(item.get(unit))}", "give a whole number"
            )
        try:
            row = game.resubmitted(item, config)
        except BadPlan as bad:
            raise BadInput(f"{where}: {bad}", see) from None
        except KeyError as error:
            raise BadInput(f"{where} has no {error.args[0]}", see) from None
        if fault := event.fault(row):
            raise BadInput(f"{where}: {fault}", see)
        replaced.append((item[unit], row))
    return sorted(replaced, key=lambda pair: (pair[0], pair[1][0]))
