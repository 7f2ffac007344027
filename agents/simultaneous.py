"""The players of a world whose agents submit simultaneously: each once in a step of a unit.

A world derives `SimultaneousPlayers`. Here its runs are prepared, played and forked; a step is
played in agents/rounds.py, and the agents of a journal are asked again in agents/again.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import cycle, islice
from typing import Any, Final

import attrs

from goldrush.agents.again import check_of
from goldrush.agents.estimate import asked_by_unit, estimates
from goldrush.agents.external import RosterText, roster_text
from goldrush.agents.llm.budget import Estimate
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import (
    Question,
    Whole,
    bounds_of,
)
from goldrush.agents.llm.usage import Bounds
from goldrush.agents.llm.wording_rosters import check_names
from goldrush.agents.llm.wordings import InvalidWording
from goldrush.agents.players import (
    Facts,
    ForkChange,
    PolicyCheck,
    PreparedRun,
    ResolvedChange,
    Resources,
    RunContext,
    recordings_of,
)
from goldrush.agents.plugins import Plugin
from goldrush.agents.recorded import Recording
from goldrush.agents.replaced import check_all_asked, check_asked, given_again, replaced_in, several
from goldrush.agents.roster import Entry, Roster, entries_in
from goldrush.agents.rounds import Played, RoundPlay, RoundPlayers, S, V
from goldrush.agents.seats import (
    OBJECT,
    ImpossiblePlayer,
    check_people,
    family_of,
    is_outside,
    models_in,
    with_models_resolved,
)
from goldrush.agents.session import Session
from goldrush.agents.trust import check_trust, is_import_name
from goldrush.kernel import fold
from goldrush.kernel.errors import (
    BadInput,
    JournalError,
)
from goldrush.kernel.forking import changes
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.rosters import Config
from goldrush.kernel.run import Ask
from goldrush.kernel.text import format_count
from goldrush.kernel.treatments import treated, treatment_named
from goldrush.kernel.world import Batch

PLAYED: Final = 20  # units, at most, that stand-ins play for an estimate


class SimultaneousPlayers(RoundPlayers[S, V]):
    """The players of a world whose agents submit simultaneously. A world derives it and gives the
    attributes and methods of RoundPlayers.
    """

    # Before a run.

    def prepare(
        self, settings: Mapping[str, object], roster: str | None, treatment: str | None,
        resources: Resources,
    ) -> PreparedRun:  # fmt: skip
        return self.prepared(*self.configured(settings, roster, treatment, resources.models))

    def configured(
        self,
        settings: Mapping[str, object],
        roster: str | Roster | None = None,
        treatment: str | None = None,
        models: Models | None = None,
    ) -> tuple[Config, Roster]:
        """The configuration and the roster of a run; the number of agents follows the roster.

        Writes nothing and asks no model. The settings override those of the treatment. Raises
        BadInput for invalid settings or rosters, and for settings that do not fit the roster.
        """
        named = treatment_named(self.treatments, treatment)
        if not self.submitted:
            if roster is not None:
                raise BadInput(
                    f"nobody plays in the {self.world.name} world", "leave the roster out"
                )
            return treated(named, settings, self.config_of), Roster(())
        required = {**named.settings, **settings}
        wanted = self.config_of(required).agents if "agents" in required else None
        if not isinstance(roster, Roster):
            roster = self.policy_set.parse(roster, wanted, models)
        elif wanted is not None and wanted != len(roster.entries):
            raise BadInput(
                f"the roster has {format_count(len(roster.entries), 'agent')}",
                f"agents is {wanted}",
            )
        config = treated(named, {**settings, "agents": len(roster.entries)}, self.config_of)
        self.check_recordings(roster, config)
        self.check_names(roster, config)
        return config, roster

    def prepared(self, config: Config, roster: Roster) -> PreparedRun:
        """The run with a configuration and a roster as `configured` gives them."""
        source = {} if self.source is None else {"source": self.source}
        return PreparedRun({"config": config.as_dict(), **source}, roster)

    def names(self, roster: str) -> Sequence[str]:
        return self.policy_set.names_in(roster)

    def roster_text(self, roster: Sequence[object]) -> RosterText:
        return roster_text(self.policy_set, roster)

    def worded(self, roster: str | None, wording: str, models: Models | None) -> str | None:
        return self.policy_set.worded(roster, wording, models)

    def installed(self) -> Mapping[str, Plugin]:
        return self.policy_set.installed()

    def estimate(self, run: PreparedRun, resources: Resources) -> Sequence[Estimate]:
        """See Players. The units that are not played are taken to be as long as the longest of
        those that are.
        """
        if self.prompt is None:
            return super().estimate(run, resources)
        chosen, models = models_in(run.roster.entries), resources.models or Models()
        by_name = {model.name: model for model in chosen.values()}
        longest = self.prompt.longest
        state = self.world.initial(run.setup)

        def most_in(name: str, questions: int) -> int:
            view, most = self.view(state), []
            for agent, model in chosen.items():
                if model.name == name:
                    question = Question(
                        agent,
                        model=model,
                        make_schema=partial(self.schema, view, agent),
                        whole=Whole.of(model.reasoning, 1),
                    )
                    most.append(longest + question.upper_bound.tokens_in)
            return questions * sum(most) // len(most)

        return estimates(
            list(by_name.values()), models, self.units(state.config),
            lambda: self.questions(run, resources),
            lambda amounts, left: left * max(amounts), most_in,
        )  # fmt: skip

    def asks(self, policy: str, agents: int | None = None) -> str:
        others = self.policy_set.names_by_agent(None) if self.policy_set.default else []
        each = [policy, *(one for other in dict.fromkeys(others) for one in (other, policy))]
        return ",".join(islice(cycle(each), agents or max(len(others), len(each))))

    def questions(self, run: PreparedRun, resources: Resources) -> Iterator[Sequence[Question]]:
        chosen = models_in(run.roster.entries)
        entries = [
            Entry(entry.agent, self.stand_in) if is_outside(entry.policy) else entry
            for entry in run.roster.entries
        ]
        policies = self._made(attrs.evolve(run.roster, entries=entries))

        def play_of(state: S) -> RoundPlay[V] | None:
            return self.play(state, policies, run.roster.entries, models=chosen)

        return asked_by_unit(self.world, self.world.initial(run.setup), play_of, PLAYED)

    def resolve_models(self, roster: Roster, facts: Facts, models: Models | None) -> Roster:
        def schema() -> Mapping[str, Any]:
            start = self.world.initial({**facts, "roster": roster.as_setup()})
            return self.schema(self.view(start), 0)

        return attrs.evolve(roster, entries=with_models_resolved(roster.entries, models, schema))

    def start_agents(self, context: RunContext[S]) -> AbstractContextManager[Ask[S]]:
        state, needs = context.state, context.resources
        roster = Roster(entries_in(state.roster), context.recordings, needs.trust, needs.policies)
        for entry in roster.entries:
            self.check_prompt(entry)
            if is_import_name(entry.policy):
                check_trust(entry.policy, roster.trust, entry.label)
        self.check_recordings(roster, state.config)
        self.check_names(roster, state.config)
        answered = {row[0] for _, rows in context.pending for row in rows}
        is_last = self.world.vocabulary.unit_of(self.unit(state)) == self.units(state.config)
        if context.probe and (not is_last or models_in(roster.entries).keys() - answered):
            # A wrong server is an error now, not a row of missing answers.
            self.resolve_models(roster, self._start(state.config), needs.models)
        return self.session(roster, context)

    def _start(self, config: Config) -> Facts:
        """The fields of START with a configuration, without the agents."""
        return self.prepared(config, Roster(())).facts

    def bounds(self, context: RunContext[S]) -> Bounds:
        view, entries = self.view(context.state), entries_in(context.state.roster)
        chosen = models_in(entries)
        given = (row[0] for _, rows in context.pending for row in rows)
        agents = (agent for agent in given if agent in chosen)
        return bounds_of(
            self.prompt_for(view, Question(agent), entries[agent], chosen[agent])
            for agent in agents
        )

    def policy_check(self, resources: Resources) -> Callable[[S, Sequence[Facts]], PolicyCheck]:
        recordings = recordings_of(self, resources.sources)

        def check(state: S, forks: Sequence[Facts]) -> PolicyCheck:
            entries, objects = entries_in(state.roster), resources.objects_for(state.roster)
            roster = Roster(entries, recordings, resources.trust, objects)
            checked = check_of(self, roster, forks)
            try:
                self.check_names(roster, state.config)
            except InvalidWording:
                pass  # of another version: its agent is among those that are not known
            except BadInput as error:
                expected = "wordings whose names all its agents can have together"
                raise ImpossiblePlayer("the roster", expected, error.what) from None
            return checked

        return check

    def check_parent(self, parent: JournalReader, change: ForkChange) -> None:
        if not change.replace or self.has_steps:
            return
        # The parent is read to the first unit of several steps, or to damage.
        with parent.again() as reader, suppress(JournalError):
            if any(len(unit.steps) > 1 for unit in fold.units(reader, self.world.arrange)):
                place = f"a {self.world.vocabulary.unit}"
                raise several(self, place, is_replaced=True)

    def resolve_change(self, state: S, change: ForkChange, resources: Resources) -> ResolvedChange:
        if self.forks is None:
            says = f"runs of the {self.world.name} world cannot be forked"
            raise BadInput(says, "record a new run")
        old: Config = state.config
        closed = self.world.vocabulary.unit_of(self.unit(state)) - 1

        named = treatment_named(self.treatments, change.treatment)
        config: Config = treated(named, change.settings, partial(self.forks.with_settings, old))
        self.forks.check_change(old, config, closed)
        replaced = given_again(self, change.replace, config)
        self.forks.check_replaced(replaced, config, closed)
        source = {} if self.source is None else {"source": self.source}
        facts = {"changes": changes(old, config), "roster": None, "replaced": replaced, **source}
        if change.roster is None:
            self.check_names(Roster(entries_in(state.roster)), config)
            return ResolvedChange(facts)
        models = resources.models
        roster = self.policy_set.parse(change.roster, config.agents, models)
        self.check_names(roster, config)
        roster = self.resolve_models(roster, self._start(old), models)
        return ResolvedChange({**facts, "roster": roster.as_setup()}, roster)

    def _made(self, roster: Roster) -> dict[int, Played]:
        """The policies of a roster, by agent. Raises BadInput if one cannot be made."""
        return {
            entry.agent: (entry, self.policy_set.factory_of(entry, roster)())
            for entry in roster.entries
            if not is_outside(entry.policy)
        }

    def check_names(self, roster: Roster, config: Config) -> None:
        """Check the names that the wordings of a roster give to things: see `wording_rosters`.

        Raises BadInput, also for a wording that no run records; InvalidWording, if the version of
        the prompt lacks it.
        """
        if roster.wordings and self.prompt is not None:
            is_open = bool(self.talk) and getattr(config, self.talk)
            check_names(roster, self.prompt, is_open=is_open)

    def check_recordings(self, roster: Roster, config: Config) -> None:
        """Raises BadInput unless the recordings cover all units of the `recorded` agents."""
        for recording in roster.recordings:
            for entry in roster.entries:
                if entry.options.get("journal") == recording.sha256:
                    recording.check(entry.agent, self.units(config))

    def session(self, roster: Roster, context: RunContext[S]) -> Session[S]:
        """The agents of a run. Raises BadInput if one cannot play.

        A policy is made once for a run.
        """
        policies = self._made(roster)
        check_people(roster.entries, context.resources.people)
        chosen, replaced = models_in(roster.entries), replaced_in(context.forks)
        if replaced and self.checks_replaced:
            makers = [e for e in roster.entries if family_of(e.policy) is not OBJECT]
            others = self._made(attrs.evolve(roster, entries=makers))
            check_all_asked(self, context.state, others, roster.entries, replaced)
        is_recorded = any(isinstance(policy, Recording) for _, policy in policies.values())
        all_policies = len(policies) == len(roster.entries)
        last: tuple[int, int] | None = None  # the last unit and step

        def play_of(state: S) -> RoundPlay[V] | list[Batch]:
            nonlocal last
            play = self.play(state, policies, roster.entries, models=chosen, replaced=replaced)
            if play is None:
                return []
            check_asked(play)
            if (play.number, play.step) == last and (play.replaced or is_recorded):
                place = f"{self.world.vocabulary.unit} {play.number}"
                raise several(self, place, is_replaced=bool(play.replaced))
            last = play.number, play.step
            if all_policies and not play.replaced:
                return [(play.code, play.submissions(play.agents))]
            return play

        return Session(self.world, play_of, context, list(chosen.values()), prompt=self.prompt)
