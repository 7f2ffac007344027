"""The `Players` of a world in which all agents submit simultaneously, from its `StageGame`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import cycle, islice
from typing import Any, Generic

import attrs

from goldrush.agents.external import RosterText, roster_text
from goldrush.agents.llm.budget import Estimate
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import Question, bounds_of
from goldrush.agents.llm.usage import AnswerFields, Bounds
from goldrush.agents.llm.versions import with_recorded
from goldrush.agents.llm.wordings import InvalidWording
from goldrush.agents.players import (
    Facts,
    ForkChange,
    Players,
    PolicyCheck,
    PreparedRun,
    ResolvedChange,
    Resources,
    RunContext,
    recordings_of,
)
from goldrush.agents.plugins import Plugin
from goldrush.agents.roster import Roster, entries_in
from goldrush.agents.rounds import (
    check_of,
    estimates_of,
    questions_of,
    session_of,
    several_submissions,
)
from goldrush.agents.seats import ImpossiblePlayer, models_in
from goldrush.agents.seats import with_models_resolved as resolved
from goldrush.agents.stage_game import S, StageGame, V
from goldrush.agents.trust import check_trust, is_import_name
from goldrush.kernel.errors import BadInput, BadPlan, JournalError, format_value
from goldrush.kernel.fold import units
from goldrush.kernel.forking import Replaced, changes
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.rosters import Config
from goldrush.kernel.run import Ask
from goldrush.kernel.treatments import treated, treatment_named
from goldrush.kernel.world import Row


class StagePlayers(Players[S], Generic[S, V]):
    """The players of a world, from its `StageGame`."""

    def __init__(self, game: StageGame[S, V]) -> None:
        self.game = game
        self.recording = game.policy_set.recording
        self.policies = game.policy_set.catalogue
        self.horizon = game.horizon
        self.prompt = game.policy_set.prompt
        if self.prompt is not None:
            self.answers = AnswerFields(game.submitted, game.about, "agent", self.prompt)

    def prepare(
        self, settings: Mapping[str, object], roster: str | None, treatment: str | None,
        resources: Resources,
    ) -> PreparedRun:  # fmt: skip
        game = self.game
        made = prepare(game, settings, roster, treatment, resources.models)
        return prepared(*made, game.source)

    def names(self, roster: str) -> Sequence[str]:
        return self.game.policy_set.names_in(roster)

    def roster_text(self, roster: Sequence[object]) -> RosterText:
        return roster_text(self.game.policy_set, roster)

    def worded(self, roster: str | None, wording: str, models: Models | None) -> str | None:
        return self.game.policy_set.worded(roster, wording, models)

    def installed(self) -> Mapping[str, Plugin]:
        return self.game.policy_set.installed()

    def estimate(self, run: PreparedRun, resources: Resources) -> Sequence[Estimate]:
        if self.game.prompting is None:
            return super().estimate(run, resources)
        return estimates_of(self.game, run, resources.models or Models())

    def asks(self, policy: str, agents: int | None = None) -> str:
        others = self.game.policy_set.names_by_agent(None) if self.game.policy_set.default else []
        each = [policy, *(one for other in dict.fromkeys(others) for one in (other, policy))]
        return ",".join(islice(cycle(each), agents or max(len(others), len(each))))

    def questions(self, run: PreparedRun, resources: Resources) -> Iterator[Sequence[Question]]:
        return questions_of(self.game, run)

    def resolve_models(self, roster: Roster, facts: Facts, models: Models | None) -> Roster:
        return self._resolved(roster, facts, models, is_new=True)

    def _resolved(
        self, roster: Roster, facts: Facts, models: Models | None, *, is_new: bool
    ) -> Roster:
        game = self.game

        def schema() -> Mapping[str, Any]:
            start = game.world.initial({**facts, "roster": roster.as_setup()})
            return game.asked.schema(game.view(start), 0)

        entries = resolved(roster.entries, models, schema, is_new=is_new)
        return attrs.evolve(roster, entries=entries)

    def start_agents(self, context: RunContext[S]) -> AbstractContextManager[Ask[S]]:
        game, state, needs = self.game, context.state, context.resources
        roster = Roster(entries_in(state.roster), context.recordings, needs.trust, needs.policies)
        for entry in roster.entries:
            game.check_prompt(entry)
            if is_import_name(entry.policy):
                check_trust(entry.policy, roster.trust, entry.label)
        game.check_recordings(roster, state.config)
        game.check_names(roster, state.config)
        answered = {row[0] for _, rows in context.pending for row in rows}
        is_last = game.world.vocabulary.unit_of(game.unit(state)) == game.units(state.config)
        if context.probe and (not is_last or models_in(roster.entries).keys() - answered):
            # A wrong server is an error now, not a row of missing answers.
            self._resolved(roster, self._start(state.config), needs.models, is_new=False)
        return session_of(game, roster, context)

    def _start(self, config: Config) -> Facts:
        """The fields of START with a configuration, without the agents."""
        return prepared(config, Roster(()), self.game.source).facts

    def bounds(self, context: RunContext[S]) -> Bounds:
        game = self.game
        view, entries = game.view(context.state), entries_in(context.state.roster)
        chosen = models_in(entries)
        given = (row[0] for _, rows in context.pending for row in rows)
        agents = (agent for agent in given if agent in chosen)
        return bounds_of(
            game.prompt(view, Question(agent), entries[agent], chosen[agent]) for agent in agents
        )

    def policy_check(self, resources: Resources) -> Callable[[S, Sequence[Facts]], PolicyCheck]:
        recordings = recordings_of(self, resources.sources)

        def check(state: S, forks: Sequence[Facts]) -> PolicyCheck:
            entries, objects = entries_in(state.roster), resources.objects_for(state.roster)
            roster = Roster(entries, recordings, resources.trust, objects)
            checked = check_of(self.game, roster, forks)
            try:
                self.game.check_names(roster, state.config)
            except InvalidWording:
                pass  # of another version: its agent is among those that are not known
            except BadInput as error:
                expected = "wordings whose names all its agents can have together"
                raise ImpossiblePlayer("the roster", expected, error.what) from None
            return checked

        return check

    def check_parent(self, parent: JournalReader, change: ForkChange) -> None:
        game = self.game
        if not change.replace or game.has_steps:
            return
        # The parent is read to the first unit of several steps, or to damage.
        with parent.again() as reader, suppress(JournalError):
            if any(len(unit.steps) > 1 for unit in units(reader, game.world.arrange)):
                place = f"a {game.world.vocabulary.unit}"
                raise several_submissions(game, place, is_replaced=True)

    def resolve_change(self, state: S, change: ForkChange, resources: Resources) -> ResolvedChange:
        game = self.game
        if game.forks is None:
            says = f"runs of the {game.world.name} world cannot be forked"
            raise BadInput(says, "record a new run")
        old: Config = state.config
        closed = game.world.vocabulary.unit_of(game.unit(state)) - 1

        def config_of(settings: Mapping[str, Any]) -> Config:
            return game.config_of({**old.as_dict(), **settings})

        config: Config = treated(
            treatment_named(game.treatments, change.treatment), change.settings, config_of
        )
        game.forks.check_change(old, config, closed)
        replaced = _replaced(game, change.replace, config)
        game.forks.check_replaced(replaced, config, closed)
        facts: dict[str, Any] = {
            "changes": changes(old, config),
            "roster": None,
            "replaced": replaced,
        }
        if game.source is not None:
            facts["source"] = game.source
        if change.roster is None:
            game.check_names(Roster(entries_in(state.roster)), config)
            return ResolvedChange(facts)
        models = resources.models
        before, known = Roster(entries_in(state.roster)), game.policy_set
        prompt = known.prompt and with_recorded(known.prompt, before)
        offer = attrs.evolve(known, prompt=prompt)
        roster = offer.parse(change.roster, config.agents, models)
        game.check_names(roster, config)
        roster = self.resolve_models(roster, self._start(old), models)
        facts["roster"] = roster.as_setup()
        return ResolvedChange(facts, roster)


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
    named = treatment_named(game.treatments, treatment)
    if not game.submitted:
        if roster is not None:
            raise BadInput(f"nobody plays in the {game.world.name} world", "leave the roster out")
        return treated(named, settings, game.config_of), Roster(())
    required = {**named.settings, **settings}
    wanted = game.config_of(required).agents if "agents" in required else None
    if not isinstance(roster, Roster):
        roster = game.policy_set.parse(roster, wanted, models)
    elif wanted is not None and wanted != len(roster.entries):
        raise BadInput(f"the roster has {len(roster.entries)} agents", f"agents is {wanted}")
    config = treated(named, {**settings, "agents": len(roster.entries)}, game.config_of)
    game.check_recordings(roster, config)
    game.check_names(roster, config)
    return config, roster


def prepared(
    config: Config, roster: Roster, source: Mapping[str, object] | None = None
) -> PreparedRun:
    """The run with a configuration and a roster from `prepare`. `source`: see StageGame."""
    facts = {"config": config.as_dict()}
    return PreparedRun(facts if source is None else {**facts, "source": source}, roster)


def _replaced(
    game: StageGame[S, V], items: Sequence[Mapping[str, Any]], config: Config
) -> list[Replaced]:
    """The submissions that are replaced, ordered by unit, step and agent."""
    unit = game.world.vocabulary.unit
    replaced: list[tuple[int, int, Row]] = []
    for number, item in enumerate(items, 1):
        where = f"submission {number}"
        code = _submitted(game, item, where)
        event = game.world.events[code]
        see = f"see `{event.name}` in an export"
        keys = ("event", unit, *(["step"] if game.has_steps else []), *event.fields)
        if not isinstance(item, Mapping) or set(item) - set(keys):
            raise BadInput(
                f"{where} is {format_value(item)}", f"give an object of {', '.join(keys)}"
            )
        if type(item.get(unit)) is not int:
            raise BadInput(
                f"{where} has {unit} {format_value(item.get(unit))}", "give a whole number"
            )
        try:
            row = game.resubmitted(item, config, code)
        except BadPlan as bad:
            raise BadInput(f"{where}: {bad}", see) from None
        except KeyError as error:
            raise BadInput(f"{where} has no {error.args[0]}", see) from None
        if fault := event.fault(row):
            raise BadInput(f"{where}: {fault}", see)
        step = _step_of(game, item, code, where) if game.has_steps else 0
        replaced.append((item[unit], step, row))
    replaced.sort(key=lambda placed: (*placed[:2], placed[2][0]))
    return [*replaced] if game.has_steps else [(number, row) for number, _, row in replaced]


def _submitted(game: StageGame[S, V], item: object, where: str) -> int:
    """The code of the event of a submission that is given. Raises BadInput."""
    codes = {game.world.events[code].name: code for code in game.submitted}
    if not (isinstance(item, Mapping) and "event" in item):
        if len(codes) == 1:
            return game.submitted[0]
        raise BadInput(f"{where} has no event", f"give one: {' or '.join(codes)}")
    name = item["event"]
    if type(name) is not str or name not in codes:
        raise BadInput(
            f"{where} is a {format_value(name)} event", f"give {' or '.join(codes)} ones"
        )
    return codes[name]


def _step_of(game: StageGame[S, V], item: Mapping[str, Any], code: int, where: str) -> int:
    """The number of the step of a submission that is given. Raises BadInput."""
    steps = [step for step, submitted in enumerate(game.codes) if submitted == code]
    given = item.get("step", steps[0] if len(steps) == 1 else None)
    if type(given) is not int or given not in steps:
        listed = " or ".join(map(str, steps))
        raise BadInput(f"{where} has step {format_value(given)}", f"give {listed}")
    return given
