"""The play of worlds whose agents submit simultaneously: one question an agent and step.

An answer is the row of a submission, also that of a model or a person, so nothing follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final, Generic

import attrs

from goldrush.agents.askable import Player, classify_players
from goldrush.agents.estimate import asked_by_unit, estimates
from goldrush.agents.game import Game, S, V, prompting_of, version_of
from goldrush.agents.llm.budget import Amount, Estimate
from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL
from goldrush.agents.llm.models import Model, Models
from goldrush.agents.llm.question import Answer, answer_error, server_facts, upper_bound
from goldrush.agents.people import HUMAN, Inquiry, required_person
from goldrush.agents.players import PolicyCheck, RunContext
from goldrush.agents.roster import Entry, Roster, models_in
from goldrush.agents.session import (
    OUTSIDE,
    About,
    Asked,
    Input,
    PlayOf,
    Query,
    Script,
    Session,
    asked_again,
)
from goldrush.agents.trust import EXTERNAL, RECORDED
from goldrush.kernel.errors import BadInput, PolicyFailed, format_error
from goldrush.kernel.rosters import Config
from goldrush.kernel.submissions import arrange
from goldrush.kernel.world import Batch, Block, Row

PLAYED: Final = 20  # units, at most, that stand-ins play for an estimate

# Replaced submissions of a fork: unit -> agent -> row.
Replaced = Mapping[int, Mapping[int, Row]]
Policies = Sequence[tuple[Entry, Any]]  # each agent with its policy


class Rounds(Generic[S, V]):
    """The play of each step of a run."""

    def __init__(
        self,
        game: Game[S, V],
        agents: int,
        policies: Callable[[], Policies],
        models: Mapping[int, Model] | None = None,
        replaced: Replaced | None = None,
        believed: Collection[int] = (),
    ) -> None:
        """Make a function of a state.

        Args:
            game: the world.
            agents: their number.
            policies: gives the agents that policies play, in order, for a step; the others answer
                from outside.
            models: the models that play, or in whose place policies play, by agent.
            replaced: submissions that replace those of agents.
            believed: agents from outside whose recorded rows are not read again.

        """
        self.game = game
        self.agents = agents
        self.models = models or {}
        self.replaced = replaced or {}
        self.believed = believed
        self._policies = policies

    def __call__(self, state: S) -> Round[S, V] | list[Batch]:
        """The play of the next step, or its inputs if they depend on policies alone."""
        game, policies = self.game, self._policies()
        number = game.unit(state)
        if len(policies) < self.agents or number in self.replaced:
            return Round(self, policies, game.view(state), number)
        return [(game.code, ask_policies(game, policies, game.view(state), number))]

    def play(self, state: S) -> Round[S, V]:
        """The play of the next step."""
        game = self.game
        return Round(self, self._policies(), game.view(state), game.unit(state))


class Round(Generic[S, V]):
    """One step: a `session.Play`."""

    def __init__(self, rounds: Rounds[S, V], policies: Policies, view: V, number: int) -> None:
        """See Rounds. `number`: of the unit, as displayed."""
        self.code = rounds.game.code
        self.unit = f"{rounds.game.world.vocabulary.unit} {number}"
        self._rounds, self._game = rounds, rounds.game
        self._policies = {entry.agent: (entry, policy) for entry, policy in policies}
        self._view, self._number = view, number

    def script(self) -> Script:
        """Asks everybody whose submission is not replaced."""
        found: dict[int, Row | None] = {**self._rounds.replaced.get(self._number, {})}
        agents = range(self._rounds.agents)
        asked = [Asked(agent) for agent in agents if agent not in found]
        answers = yield asked
        found.update((one.agent, row) for one, row in zip(asked, answers, strict=True))
        yield self.code, [row for agent in agents if (row := found[agent]) is not None]

    def do(self, acts: Batch) -> list[Input]:
        """As of `session.Play`."""
        code, rows = acts
        return [(code, row) for row in rows]

    def is_outside(self, asked: Asked) -> bool:
        """As of `session.Play`."""
        return asked.agent not in self._policies

    def answer(self, asked: Asked, number: int) -> Row:
        """As of `session.Play`; draws do not depend on the number of the question."""
        agents = [self._policies[asked.agent]]
        return ask_policies(self._game, agents, self._view, self._number)[0]

    def model(self, asked: Asked) -> Model | None:
        """As of `session.Play`."""
        return self._rounds.models.get(asked.agent)

    def query(self, asked: Asked) -> Query:
        """As of `session.Play`."""
        agent, view = asked.agent, self._view
        if agent in self._rounds.believed:
            return Query(asked, None, (), dict)
        prompting = prompting_of(self._game)
        messages = prompting.messages(view, agent)
        return Query(asked, self.model(asked), messages, lambda: prompting.schema(view, agent))

    def inquiry(self, query: Query) -> Inquiry:
        """As of `session.Play`."""

        def fault(text: str) -> str | None:
            code = self.about(self.row(query, Answer(text, model=HUMAN))).error
            return None if code is None else f"it is not a plan ({code})"

        player, schema = f"agent {query.asked.agent}", query.make_schema()
        return Inquiry(player, self.unit, query.messages, schema, fault)

    def row(self, query: Query, answer: Answer) -> Row:
        """As of `session.Play`."""
        source = answer.source(query.model or Model(HUMAN, HUMAN), query.prompt)
        return self._row(query, answer.text, answer_error(answer), source)

    def about(self, row: Row) -> About:
        """As of `session.Play`."""
        if self._game.prompting is None:
            return About(row[0], "", None, None)
        error, source = row[self._game.field("error")], row[self._game.field("source")]
        return About(row[0], "", (source or {}).get("prompt"), error)

    def read(self, asked: Asked, row: Row | None) -> None:
        """Nothing: the row itself is an input."""

    def reread(self, query: Query, row: Row | None) -> Row | None:
        """As of `session.Play`.

        Facts that only the server knew (refusals, cuts, tokens) are taken from the record if an
        answer can have them.
        """
        if row is None or query.asked.agent in self._rounds.believed:
            return row
        known, source = self.about(row).error, row[self._game.field("source")]
        known = known if known in (REFUSAL, CUT) else None
        text = source.get("raw") if source else None
        if type(text) is not str:
            text, known = None, NO_ANSWER
        facts = {**server_facts(source), "raw": text, "prompt": query.prompt}
        return self._row(query, text, known, facts)

    def rest(self, asked: Sequence[Asked], acts: Sequence[Input]) -> None:
        """None: who cannot be asked again is believed, and no other act of the step follows."""

    def _row(
        self, query: Query, text: str | None, error: str | None, source: dict[str, Any]
    ) -> Row:
        return prompting_of(self._game).row(self._view, query.asked.agent, text, error, source)


def session_of(game: Game[S, V], roster: Roster, context: RunContext[S]) -> Session[S]:
    """The agents of a run. Raises BadInput if one cannot play.

    A policy is made once for a run.
    """
    policies = _made(game, roster)
    for entry in roster.entries:
        if entry.policy == HUMAN:
            required_person(context.resources.people, f"agent {entry.agent}")
    chosen = models_in(roster.entries)
    rounds = Rounds(game, len(roster.entries), lambda: policies, chosen, replaced_in(context.forks))
    is_recorded = any(entry.policy == RECORDED for entry, _ in policies)
    version = version_of(game) if chosen else 0
    play_of = _once_a_unit(rounds, is_recorded=is_recorded)
    return Session(game.world, play_of, context, list(chosen.values()), version)


def _made(game: Game[S, V], roster: Roster) -> Policies:
    """The policies of a roster. Raises BadInput if one cannot be made."""
    return [
        (entry, game.policy_set.factory_of(entry, roster)())
        for entry in roster.entries
        if entry.policy not in OUTSIDE
    ]


def _once_a_unit(rounds: Rounds[S, V], *, is_recorded: bool) -> PlayOf[S]:
    """The plays, or BadInput for a second step of a unit with replaced or recorded submissions."""
    game, last = rounds.game, None

    def play_of(state: S) -> Round[S, V] | list[Batch]:
        nonlocal last
        unit, is_replaced = game.unit(state), game.unit(state) in rounds.replaced
        if unit == last and (is_replaced or is_recorded):
            place = f"{game.world.vocabulary.unit} {unit}"
            raise several_submissions(game, place, is_replaced=is_replaced)
        last = unit
        return rounds(state)

    return play_of


def check_of(
    game: Game[S, V], roster: Roster, forks: Sequence[Mapping[str, Any]] = ()
) -> PolicyCheck:
    """The agents of a journal, asked again with new policies in every unit.

    Agents that cannot be asked are believed: those with user-defined policies that are not trusted
    (a journal must not run code by naming it), with recordings or objects that are not given, and
    those that this version does not know.

    Args:
        game: the world.
        roster: of the START or FORK that named the agents, with what is given to ask them.
        forks: the fields of the FORK commits so far.

    Raises:
        ImpossiblePlayer: for an agent that no run has.

    """
    entries = roster.entries
    found = classify_players(
        (Player(f"agent {e.agent}", e.policy, e.options) for e in entries),
        game.policy_set.askable(
            entries,
            roster.trust,
            {recording.sha256 for recording in roster.recordings},
            {f"agent {agent}" for agent in roster.policies},
        ),
    )
    unknown = list(found.unknown)
    makers: dict[int, Callable[[], Any]] = {}
    believed: set[int] = set()
    for entry, can_ask in zip(entries, found.can_ask, strict=True):
        if not can_ask:
            believed.add(entry.agent)
        elif entry.policy not in OUTSIDE:
            try:
                makers[entry.agent] = game.policy_set.factory_of(entry, roster)
            except BadInput as error:
                if entry.policy == EXTERNAL:
                    raise  # the caller gave the object
                believed.add(entry.agent)
                unknown.append(f"agent {entry.agent}: {error.what}")

    def policies() -> Policies:
        return [(entries[agent], make()) for agent, make in makers.items()]

    rounds = Rounds(game, len(entries), policies, {}, replaced_in(forks), believed)

    def ask(state: S, recorded: Block, *, is_whole: bool = True) -> Sequence[Batch]:
        unit = game.unit(state)
        if len(makers) + len(believed) == len(entries) and is_whole and unit not in rounds.replaced:
            rows = [row for row in recorded.rows(game.code) if row[0] in believed]
            rows += ask_policies(game, policies(), game.view(state), unit)
            return [(game.code, sorted(rows, key=itemgetter(0)))]
        play = rounds.play(state)
        return arrange(Block(asked_again(play, recorded, is_whole=is_whole))).batches

    # Replaced submissions are known even if no agent can be asked.
    if len(believed) == len(entries) and not rounds.replaced:
        return PolicyCheck(None, found.not_asked, unknown)
    return PolicyCheck(ask, found.not_asked, unknown, partial(ask, is_whole=False))


def several_submissions(game: Game[S, V], place: str, *, is_replaced: bool) -> BadInput:
    """The error for replaced or recorded submissions where a unit has several steps: they are known
    by unit and agent, so one of them would be the submission of every step.

    Args:
        game: the world.
        place: a unit, as text.
        is_replaced: replaced ones; otherwise those of `recorded` agents.

    """
    what = f"agents of the {game.world.name} world submit several times in {place}"
    if is_replaced:
        return BadInput(
            f"{what}, so a replaced submission would replace all of them",
            "fork without replaced submissions",
        )
    return BadInput(f"{what}, so `recorded` cannot replay them", "give other policies")


def estimates_of(
    game: Game[S, V], config: Config, roster: Roster, models: Models
) -> list[Estimate]:
    """The estimate of each model of a roster, for a whole run. Raises BadInput as a run would.

    The units that are not played are taken to be as long as the longest of these.
    """
    chosen = models_in(roster.entries)
    by_name = {model.name: model for model in chosen.values()}
    state = game.world.initial({"config": config.as_dict(), "roster": roster.as_setup()})

    def played() -> Iterator[Sequence[Amount]]:
        stand_in = prompting_of(game).stand_in
        entries = [
            Entry(entry.agent, stand_in) if entry.policy in OUTSIDE else entry
            for entry in roster.entries
        ]
        policies = _made(game, attrs.evolve(roster, entries=entries))
        rounds = Rounds(game, len(entries), lambda: policies, chosen)
        return asked_by_unit(game.world, state, rounds.play, PLAYED)

    def most_in(name: str, questions: int) -> int:
        prompting, view = prompting_of(game), game.view(state)
        most = [
            prompting.longest + upper_bound(model, (), prompting.schema(view, agent)).tokens_in
            for agent, model in chosen.items()
            if model.name == name
        ]
        return questions * sum(most) // len(most)

    units = game.units(config)
    return estimates(
        list(by_name.values()), models, units, played, lambda amounts, left: left * max(amounts),
        most_in,
    )  # fmt: skip


def ask_policies(game: Game[S, V], agents: Policies, view: V, unit: int) -> list[Row]:
    """The rows of agents' submissions.

    Args:
        game: the world.
        agents: each with its policy; a `recorded` agent with its recording.
        view: the shared observation of the unit.
        unit: its displayed number.

    Raises:
        PolicyFailed: for any exception of a policy.

    """
    rows: list[Row] = []
    ask = game.ask
    try:
        for entry, policy in agents:
            if entry.policy == RECORDED:
                recorded = policy.units[game.world.vocabulary.unit_of(unit) - 1]
                rows.append(game.replayed(recorded[entry.agent], view))
            else:
                rows.append(ask(policy, entry, view))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # a policy may raise anything
        raise PolicyFailed(entry.policy, entry.agent, unit, format_error(error)) from error
    return rows


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """The replaced submissions of all forks; a later fork overrides an earlier one."""
    replaced: dict[int, dict[int, Row]] = {}
    for facts in forks:
        for unit, row in facts["replaced"]:
            replaced.setdefault(unit, {})[row[0]] = row
    return replaced
