"""The play of worlds whose agents submit simultaneously: one question an agent and step.

An answer is the row of a submission, also that of a model or a person: the script passes it on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from operator import itemgetter
from typing import Any, Final, Generic

import attrs

from goldrush.agents.estimate import asked_by_unit, estimates
from goldrush.agents.llm.budget import Estimate
from goldrush.agents.llm.failures import NO_JSON
from goldrush.agents.llm.model import FIELD, Model
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import About, Answer, Question, Source, reasoned, upper_bound
from goldrush.agents.llm.wordings import RESERVED
from goldrush.agents.people import Inquiry
from goldrush.agents.players import Facts, PolicyCheck, PreparedRun, RunContext
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry, Roster
from goldrush.agents.seats import OBJECT, check_people, classified, family_of, is_outside, models_in
from goldrush.agents.session import (
    Input,
    Script,
    Session,
    asked_again,
    row_of,
)
from goldrush.agents.stage_game import S, StageGame, Turn, V
from goldrush.agents.trust import HUMAN, LLM
from goldrush.kernel.collector import CollectorPaused
from goldrush.kernel.errors import BadInput, PolicyFailed, RulesFailed, format_error
from goldrush.kernel.forking import place_of
from goldrush.kernel.world import Batch, Block, Row, advance

PLAYED: Final = 20  # units, at most, that stand-ins play for an estimate

# Replaced submissions of a fork: (unit, step) -> agent -> row.
Replaced = Mapping[tuple[int, int], Mapping[int, Row]]
Played = tuple[Entry, Any]  # an agent and its policy


@attrs.frozen
class RoundPlay(Generic[V]):
    """One step: a `session.Play`.

    Attributes:
        number: of the unit, as displayed.
        turn: who submits in the step.
        policies: the agents that policies play; the others answer from outside.
        entries: of the roster, by agent.
        models: the models that play, or in whose place policies play, by agent.
        replaced: submissions that replace those of agents, by agent.
        believed: agents from outside whose recorded rows are not read again.
        seed: the run's, for seeds of requests.
    """

    game: StageGame[Any, V]
    number: int
    view: V
    turn: Turn
    policies: Mapping[int, Played]
    entries: Sequence[Entry]
    models: Mapping[int, Model] = attrs.field(factory=dict)
    replaced: Mapping[int, Row] = attrs.field(factory=dict)
    believed: Collection[int] = ()
    seed: int = 0

    @property
    def code(self) -> int:
        assert self.turn.code is not None  # a step in which nobody submits is not played
        return self.turn.code

    @property
    def unit(self) -> str:
        step = f", step {self.turn.step}" if self.game.has_steps else ""
        return f"{self.game.world.vocabulary.unit} {self.number}{step}"

    def script(self) -> Script:
        """Asks everybody whose submission is not replaced."""
        asked = [Question(agent) for agent in self.turn.agents if agent not in self.replaced]
        answers = yield asked
        rows = {**self.replaced, **dict(zip((a.agent for a in asked), answers, strict=True))}
        yield tuple(row for agent in self.turn.agents if (row := rows[agent]) is not None)

    def do(self, acts: tuple[Row, ...]) -> list[Input]:
        return [(self.code, row) for row in acts]

    def is_outside(self, asked: Question) -> bool:
        return asked.agent not in self.policies

    def answer(self, asked: Question, number: int) -> Row:
        # Draws do not depend on the number of the question: an agent has one in a step.
        return ask_policies(
            self.game, [self.policies[asked.agent]], self.view, self.number, self.turn.step
        )[0]

    def model(self, asked: Question) -> Model | None:
        return self.models.get(asked.agent)

    def prompt(self, asked: Question) -> Question:
        if asked.agent in self.believed:
            return attrs.evolve(asked, is_believed=True)
        entry = self.entries[asked.agent]
        return self.game.prompt(self.view, asked, entry, self.model(asked), self._all_models)

    @cached_property
    def _all_models(self) -> int:
        return sum(entry.policy == LLM for entry in self.entries)

    def inquiry(self, prompt: Question) -> Inquiry:
        agent = prompt.agent
        wording = self.game.wording_of(self.entries[agent], Roster(self.entries))
        player, unit = f"agent {agent}", self.unit
        wrong = f"it is not a {self.game.noun or f'`{self.game.world.events[self.code].name}`'}"
        if wording is not None:  # the world's own words would give away what it renames
            is_named = wording.names.agents is not None
            player = wording.names.agent(agent) if is_named else f"number {agent}"
            unit, wrong = "", "it does not have the form that is asked for"

        def fault(text: str) -> str | None:
            code = self.about(row_of(self, prompt, Answer(text, model=HUMAN))).error
            if code == NO_JSON:
                keys = prompt.schema["properties"]
                fields = " or ".join([key for key in keys if key not in RESERVED] or keys)
                return f"{wrong}: there is no JSON object with {fields}"
            return None if code is None else f"{wrong} ({code})"

        return Inquiry(player, unit, prompt.messages, prompt.schema, fault)

    def row(self, prompt: Question, text: str | None, error: str | None, source: Source) -> Row:
        agent = prompt.agent
        return self.game.asked.row(self.view, agent, text, error, source)

    def unanswered(self, prompt: Question) -> None:
        """None: an agent that is not asked submits nothing."""

    def about(self, row: Row) -> About:
        return self.game.about(row)

    def read(self, asked: Question, row: Row | None) -> None:
        """None: the row itself is an input."""

    def rest(self, asked: Sequence[Question], acts: Sequence[Input]) -> None:
        """None: who cannot be asked again is believed, and no other act of the step follows."""


def session_of(game: StageGame[S, V], roster: Roster, context: RunContext[S]) -> Session[S]:
    """The agents of a run. Raises BadInput if one cannot play.

    A policy is made once for a run.
    """
    policies = _made(game, roster)
    check_people(roster.entries, context.resources.people)
    chosen, replaced = models_in(roster.entries), replaced_in(context.forks)
    if replaced and game.turn is not None and game.plays_ahead:
        _check_replaced(game, roster, context.state, replaced)
    is_recorded = any(isinstance(policy, Recording) for _, policy in policies.values())
    all_policies = len(policies) == len(roster.entries)
    last: tuple[int, int] | None = None  # the last unit and step

    def play_of(state: S) -> RoundPlay[V] | list[Batch]:
        nonlocal last
        turn, unit = game.turn_of(state), game.unit(state)
        if turn.code is None:
            return []
        view, by_hand = game.view(state), _by_hand(game, turn, unit, replaced)
        if game.turn is None and (unit, 0) == last and (by_hand or is_recorded):
            place = f"{game.world.vocabulary.unit} {unit}"
            raise several_submissions(game, place, is_replaced=bool(by_hand))
        last = unit, turn.step
        if all_policies and not by_hand:
            asked = map(policies.__getitem__, turn.agents)
            return [(turn.code, ask_policies(game, asked, view, unit, turn.step))]
        return RoundPlay(
            game, unit, view, turn, policies, roster.entries, chosen, by_hand,
            seed=state.config.seed,
        )  # fmt: skip

    return Session(
        game.world, play_of, context, list(chosen.values()), prompt=game.policy_set.prompt
    )


def _check_replaced(game: StageGame[S, V], roster: Roster, state: S, replaced: Replaced) -> None:
    """Play on in memory, as far as policies alone decide, up to the last replaced submission: one
    of an agent who is not asked is refused before anything is written. Raises BadInput.
    """
    world, state = game.world, game.world.copy(state)
    objects = {entry.agent for entry in roster.entries if family_of(entry.policy) is OBJECT}
    policies = _made(game, roster)
    while not world.ended(state):
        turn, unit = game.turn_of(state), game.unit(state)
        if (unit, turn.step) > max(replaced):
            return
        rows = dict(_by_hand(game, turn, unit, replaced))
        asked = [agent for agent in turn.agents if agent not in rows]
        if not policies.keys() - objects >= set(asked):
            return
        view = game.view(state)
        try:
            answers = ask_policies(game, map(policies.__getitem__, asked), view, unit, turn.step)
            rows.update(zip(asked, answers, strict=True))
            ordered = [rows[agent] for agent in turn.agents]
            inputs = Block([] if turn.code is None else [(turn.code, ordered)])
            state, _, _ = advance(world, state, inputs)
        except (PolicyFailed, RulesFailed):  # the run tells it when it comes to it
            return


def _by_hand(game: StageGame[S, V], turn: Turn, unit: int, replaced: Replaced) -> Mapping[int, Row]:
    """The replaced submissions of a step. Raises BadInput for one of an agent who is not asked."""
    by_hand = replaced.get((unit, turn.step), {})
    for agent in by_hand:
        if agent not in turn.agents:
            step = f", step {turn.step}," if game.has_steps else ""
            raise BadInput(
                f"the submission of agent {agent} is replaced in {game.world.vocabulary.unit} "
                f"{unit}{step} in which it is not asked",
                "fork without it",
            )
    return by_hand


def _made(game: StageGame[S, V], roster: Roster) -> dict[int, Played]:
    """The policies of a roster, by agent. Raises BadInput if one cannot be made."""
    return {
        entry.agent: (entry, game.policy_set.factory_of(entry, roster)())
        for entry in roster.entries
        if not is_outside(entry.policy)
    }


def check_of(game: StageGame[S, V], roster: Roster, forks: Sequence[Facts] = ()) -> PolicyCheck:
    """The agents of a journal, asked again with new policies in every unit.

    Agents that cannot be asked are believed: those with user-defined policies that are not trusted
    (a journal must not run code by naming it), with recordings or objects that are not given, and
    those that this version does not know. Raises ImpossiblePlayer for an agent that no run has.
    """
    entries, replaced = roster.entries, replaced_in(forks)
    known = classified(game.policy_set, roster)
    unknown = list(known.unknown)
    believed = {e.agent for e, can in zip(entries, known.can_ask, strict=True) if not can}
    makers: dict[int, Callable[[], object]] = {}
    for entry in entries:
        if entry.agent not in believed and not is_outside(entry.policy):
            try:
                makers[entry.agent] = game.policy_set.factory_of(entry, roster)
            except BadInput as error:
                if family_of(entry.policy) is OBJECT:
                    raise  # the caller gave the object
                believed.add(entry.agent)
                unknown.append(f"{entry.label}: {error.what}")
    is_alone = len(makers) + len(believed) == len(entries)  # no model and no person
    outside = {entry.agent for entry in entries if is_outside(entry.policy)}
    # A user-defined policy may change what it is shown.
    played = {entries[agent].policy for agent in makers}
    are_of_world = played <= game.policy_set.policies.keys()

    def ask(state: S, recorded: Block, *, is_whole: bool = True) -> Sequence[Batch]:
        turn, view, unit = game.turn_of(state), game.view(state), game.unit(state)
        code = turn.code
        if code is None:
            return []
        by_hand = replaced.get((unit, turn.step), {})
        asked = [agent for agent in turn.agents if agent in makers]
        policies = {agent: (entries[agent], makers[agent]()) for agent in asked}
        if is_alone and is_whole and not by_hand:
            rows = [row for row in recorded.rows(code) if row[0] in believed]
            rows += ask_policies(game, policies.values(), view, unit, turn.step)
            return [(code, sorted(rows, key=itemgetter(0)))]
        if not is_whole:  # nobody else's is recorded before the step is complete
            rows = [row for row in recorded.rows(code) if row[0] in outside]
            recorded = Block([(code, rows)] if rows else ())
        play = RoundPlay(
            game, unit, view, turn, policies, entries, replaced=by_hand, believed=believed
        )
        return game.world.arrange(Block(asked_again(play, recorded, is_whole=is_whole))).batches

    # Replaced submissions are known even if no agent can be asked.
    if len(believed) == len(entries) and not replaced:
        return PolicyCheck(None, known.not_asked, unknown)
    return PolicyCheck(
        ask, known.not_asked, unknown, partial(ask, is_whole=False),
        leaves_state=game.leaves_state and are_of_world,
    )  # fmt: skip


def several_submissions(game: StageGame[S, V], place: str, *, is_replaced: bool) -> BadInput:
    """The error for replaced submissions, or those of `recorded` agents, where a unit has several
    steps: they are known by unit and agent, so one would be the submission of every step.
    """
    what = f"agents of the {game.world.name} world submit several times in {place}"
    if is_replaced:
        return BadInput(
            f"{what}, so a replaced submission would replace all of them",
            "fork without replaced submissions",
        )
    return BadInput(f"{what}, so `recorded` cannot replay them", "give other policies")


def estimates_of(game: StageGame[S, V], run: PreparedRun, models: Models) -> list[Estimate]:
    """The estimate of each model of a roster, for a whole run. Raises BadInput as a run would.

    The units that are not played are taken to be as long as the longest of these.
    """
    chosen = models_in(run.roster.entries)
    by_name = {model.name: model for model in chosen.values()}
    longest = 0 if game.policy_set.prompt is None else game.policy_set.prompt.longest
    state = game.world.initial(run.setup)

    def most_in(name: str, questions: int) -> int:
        view, most = game.view(state), []
        for agent, model in chosen.items():
            if model.name == name:
                schema = game.asked.schema(view, agent)
                schema = reasoned(schema) if model.reasoning == FIELD else schema
                around = upper_bound(model, (), schema).tokens_in
                most.append(longest + around)
        return questions * sum(most) // len(most)

    units = game.units(state.config)
    return estimates(
        list(by_name.values()), models, units, lambda: questions_of(game, run),
        lambda amounts, left: left * max(amounts), most_in,
    )  # fmt: skip


def questions_of(game: StageGame[S, V], run: PreparedRun) -> Iterator[Sequence[Question]]:
    """The questions to the models of a run in each of its first units."""
    chosen = models_in(run.roster.entries)
    entries = [
        Entry(entry.agent, game.stand_in) if is_outside(entry.policy) else entry
        for entry in run.roster.entries
    ]
    policies = _made(game, attrs.evolve(run.roster, entries=entries))

    def play_of(state: S) -> RoundPlay[V] | None:
        turn = game.turn_of(state)
        if turn.code is None:
            return None
        unit, view = game.unit(state), game.view(state)
        return RoundPlay(game, unit, view, turn, policies, run.roster.entries, chosen)

    return asked_by_unit(game.world, game.world.initial(run.setup), play_of, PLAYED)


def ask_policies(
    game: StageGame[S, V], agents: Iterable[Played], view: V, unit: int, step: int
) -> list[Row]:
    """The rows of agents' submissions. Raises PolicyFailed for any exception of a policy."""
    rows: list[Row] = []
    ask = game.ask
    try:
        with CollectorPaused():
            for entry, policy in agents:
                if isinstance(policy, Recording):
                    number = game.world.vocabulary.unit_of(unit)
                    recorded = policy.submission(number, step, entry.agent)
                    rows.append(game.replayed(recorded, view))
                else:
                    rows.append(ask(policy, entry, view))
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # a policy may raise anything
        noun = game.world.vocabulary.unit
        fault = format_error(error)
        raise PolicyFailed(entry.policy, entry.agent, unit, fault, noun) from error
    return rows


def replaced_in(forks: Sequence[Facts]) -> Replaced:
    """The replaced submissions of all forks; a later fork overrides an earlier one."""
    replaced: dict[tuple[int, int], dict[int, Row]] = {}
    for facts in forks:
        for unit, step, row in map(place_of, facts["replaced"]):
            replaced.setdefault((unit, step), {})[row[0]] = row
    return replaced
