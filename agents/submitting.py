"""Agents that submit simultaneously: asked in every unit, and asked again to verify a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Generic, Self

from goldrush.agents.askable import Player, classify_players
from goldrush.agents.game import Game, S, V, prompting_of
from goldrush.agents.interrupts import deferred
from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL, Earlier
from goldrush.agents.llm.models import LLM, Model, Models
from goldrush.agents.llm.question import Answer, digest, server_facts
from goldrush.agents.people import HUMAN, Ask, Inquiry, required_person
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry, Roster, entries_in, models_in
from goldrush.agents.trust import EXTERNAL, RECORDED
from goldrush.kernel.errors import BadInput, PolicyFailed, format_error
from goldrush.kernel.run import InputPieces
from goldrush.kernel.world import Batch, Block, Row

if TYPE_CHECKING:
    from goldrush.agents.model_agents import ModelAgents

OUTSIDE: Final = (LLM, HUMAN)  # policies whose submissions come from outside

# Replaced submissions of a fork: unit -> agent -> row.
Replaced = Mapping[int, Mapping[int, Row]]


class Agents(Generic[S, V]):
    """The agents of a run. A context manager; the run loop calls it as its `ask`.

    Scripted policies submit first, together. Then models are asked, then people; each of their
    answers is committed as it arrives.
    """

    def __init__(
        self,
        game: Game[S, V],
        roster: Roster,
        *,
        replaced: Replaced | None = None,
        pending: Block | None = None,
        models: Models | None = None,
        earlier: Sequence[Earlier] = (),
        people: Ask | None = None,
    ) -> None:
        """Make the policies.

        Args:
            game: the world.
            roster: its agents.
            replaced: submissions that replace those of policies.
            pending: submissions of the next unit that the journal already has.
            models: how language models are reached.
            earlier: answers of models that the run already has.
            people: asks a person; None: nobody can be asked.

        Raises:
            BadInput: if an agent cannot play.

        """
        self._game = game
        self._replaced = replaced or {}
        self._pending = {row[0] for row in pending.rows(game.code)} if pending else set()
        self._asked: int | None = None  # the last unit
        self._scripted = [
            (entry, game.policy_set.factory_of(entry, roster)())
            for entry in roster.entries
            if entry.policy not in OUTSIDE
        ]
        vocabulary = game.world.vocabulary
        for entry, _ in self._scripted:
            if entry.agent in self._pending:  # only models and people commit before the others
                raise BadInput(
                    f"the journal has the plan of agent {entry.agent} ({entry.policy}) in its "
                    f"unfinished {vocabulary.unit}, without the plans of the other policies",
                    f"fork the run at the {vocabulary.unit} before it",
                )
        chosen = models_in(roster.entries)
        self._models: ModelAgents[S, V] | None = None
        if chosen:
            # Imports the client, which takes longer than a whole run of scripted agents.
            from goldrush.agents.model_agents import ModelAgents

            self._models = ModelAgents(game, chosen, models or Models(), earlier)
        seats = [entry.agent for entry in roster.entries if entry.policy == HUMAN]
        self._people = {agent: required_person(people, f"agent {agent}") for agent in seats}
        self._outside = sorted([*chosen, *seats])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._models is not None:
            self._models.close()

    def __call__(self, state: S) -> list[Batch] | InputPieces:
        """The submissions for the next unit.

        Raises:
            BadInput: for a second step of a unit with replaced or recorded submissions.
            PolicyFailed: if a policy fails.
            RunStopped: if a limit on models is reached.

        """
        game = self._game
        view, unit = game.view(state), game.unit(state)
        by_hand, pending = self._replaced.get(unit, {}), self._pending
        if unit == self._asked:
            is_recorded = any(entry.policy == RECORDED for entry, _ in self._scripted)
            if by_hand or is_recorded:
                place = f"{game.world.vocabulary.unit} {unit}"
                raise several_submissions(game, place, is_replaced=bool(by_hand))
        self._asked, self._pending = unit, set()
        scripted = self._scripted
        if pending:
            scripted = [pair for pair in scripted if pair[0].agent not in pending]
        if by_hand:
            given = [by_hand[entry.agent] for entry, _ in scripted if entry.agent in by_hand]
            others = [pair for pair in scripted if pair[0].agent not in by_hand]
            rows = sorted([*given, *ask_policies(game, others, view, unit)], key=itemgetter(0))
        else:
            rows = ask_policies(game, scripted, view, unit)
        if not self._outside:
            return [(game.code, rows)]
        rows += [by_hand[agent] for agent in self._outside if agent in by_hand.keys() - pending]
        left = [agent for agent in self._outside if agent not in by_hand.keys() | pending]
        pieces = self._pieces(view, unit, left, is_rest=bool(pending))
        return _and_then(pieces, [(game.code, sorted(rows))])

    def _pieces(
        self, view: V, unit: int, agents: Sequence[int], *, is_rest: bool
    ) -> Iterator[Sequence[Batch]]:
        """The submissions of models, then of people, as their answers arrive."""
        game = self._game
        models = [agent for agent in agents if agent not in self._people]
        if self._models is not None:
            yield from self._models.pieces(view, unit, models, is_rest=is_rest)
        for agent in agents:
            if agent in self._people:
                row = ask_person(game, self._people[agent], view, unit, agent)
                with deferred():
                    yield [(game.code, [row])]


def ask_person(game: Game[S, V], ask: Ask, view: V, unit: int, agent: int) -> Row:
    """The row of a person's submission; the question is repeated until the answer is readable.

    Args:
        game: the world.
        ask: asks the person.
        view: the shared observation of the unit.
        unit: its displayed number.
        agent: that the person plays.

    """
    prompting, error = prompting_of(game), game.field("error")
    messages = prompting.messages(view, agent)
    source = {**Answer(model=HUMAN).source(Model(HUMAN, HUMAN), messages)}

    def row(text: str) -> Row:
        return prompting.row(view, agent, text, None, {**source, "raw": text})

    def fault(text: str) -> str | None:
        code = row(text)[error]
        return None if code is None else f"it is not a plan ({code})"

    label = f"{game.world.vocabulary.unit} {unit}"
    schema = prompting.schema(view, agent)
    return row(ask(Inquiry(f"agent {agent}", label, messages, schema, fault)))


def _and_then(pieces: Iterator[Sequence[Batch]], rest: Sequence[Batch]) -> InputPieces:
    yield from pieces
    return rest


def ask_policies(
    game: Game[S, V], agents: Sequence[tuple[Entry, Any]], view: V, unit: int
) -> list[Row]:
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


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """The replaced submissions of all forks; a later fork overrides an earlier one."""
    replaced: dict[int, dict[int, Row]] = {}
    for facts in forks:
        for unit, row in facts["replaced"]:
            replaced.setdefault(unit, {})[row[0]] = row
    return replaced


class AgentsCheck(Generic[S, V]):
    """The agents of a journal, asked again with new policies in every unit.

    Models and people are not asked again: their recorded text is read again, and the digest of
    the prompt is checked against the prompt as it is made now.

    Agents that cannot be asked have None instead of a row: those with user-defined policies that
    are not in `trust` (a journal must not run code by naming it), with recordings or objects that
    are not given, and those that this version does not know.

    Attributes:
        replaced: the replaced submissions of all forks.
        entries: one for each agent; None: it cannot be asked.
        not_asked: descriptions of agents whose policy is not available here.
        unknown: descriptions of agents that this version does not know.

    """

    def __init__(
        self,
        game: Game[S, V],
        state: S,
        forks: Sequence[Mapping[str, Any]] = (),
        trust: Sequence[str] = (),
        recordings: Sequence[Recording] = (),
        policies: Mapping[int, Any] | None = None,
    ) -> None:
        """Look up the policies.

        Args:
            game: the world.
            state: after the START or FORK that named the agents.
            forks: the fields of the FORK commits so far.
            trust: names of user-defined policies that may be imported.
            recordings: the available recordings.
            policies: the objects of external agents, by agent.

        Raises:
            ImpossiblePlayer: for an agent that no run has.

        """
        self._game = game
        self.replaced = replaced_in(forks)
        entries = entries_in(state.roster)
        self._roster = Roster(entries, recordings, trust, policies or {})
        digests = {recording.sha256 for recording in recordings}
        found = classify_players(
            (Player(f"agent {e.agent}", e.policy, e.options) for e in entries),
            game.policy_set.askable(
                entries, trust, digests, {f"agent {agent}" for agent in policies or ()}
            ),
        )
        self.entries = [
            entry if can_ask else None
            for entry, can_ask in zip(entries, found.can_ask, strict=True)
        ]
        self.not_asked = found.not_asked
        self.unknown = (*found.unknown, *self._make())

    def _make(self) -> Iterator[str]:
        """Look up every policy once; yields a description of each that fails."""
        self._makers: dict[int, Callable[[], Any]] = {}
        for agent, entry in enumerate(self.entries):
            if entry is not None and entry.policy not in OUTSIDE:
                try:
                    self._makers[agent] = self._game.policy_set.factory_of(entry, self._roster)
                except BadInput as error:
                    if entry.policy == EXTERNAL:
                        raise  # the caller gave the object
                    self.entries[agent] = None
                    yield f"agent {agent}: {error.what}"

    def __call__(self, state: S, recorded: Block) -> list[tuple[int, list[Row | None]]]:
        """The submissions for the next unit. Raises PolicyFailed if a policy fails."""
        game = self._game
        view, unit = game.view(state), game.unit(state)
        rows = {row[0]: row for row in recorded.rows(game.code)}
        by_hand = self.replaced.get(unit, {})
        return [
            (
                game.code,
                [
                    by_hand.get(agent) or self._row(view, unit, entry, rows.get(agent))
                    for agent, entry in enumerate(self.entries)
                ],
            )
        ]

    def pending(self, state: S, recorded: Block) -> list[tuple[int, list[Row | None]]]:
        """As a call, but only the agents with a recorded submission, in the recorded order."""
        rows = recorded.rows(self._game.code)
        [(code, every)] = self(state, recorded)
        return [(code, [every[row[0]] for row in rows])]

    def _row(self, view: V, unit: int, entry: Entry | None, recorded: Row | None) -> Row | None:
        if entry is None:
            return None
        if entry.policy in OUTSIDE:
            return recorded and reread(self._game, recorded, view)
        agent = entry, self._makers[entry.agent]()
        return ask_policies(self._game, [agent], view, unit)[0]


def reread(game: Game[S, V], row: Row, view: V) -> Row:
    """The submission that a model's recorded text makes, with the prompt made again.

    Facts that only the server knew (refusals, cuts, tokens) are taken from the record if an answer
    can have them. Needs no model, key or network.
    """
    prompting = game.prompting
    assert prompting is not None  # no roster of such a world has models
    agent, error, source = row[0], row[game.field("error")], row[game.field("source")]
    known = error if error in (REFUSAL, CUT) else None
    text = source.get("raw") if source else None
    if type(text) is not str:
        text, known = None, NO_ANSWER
    prompt = digest(prompting.messages(view, agent))
    return prompting.row(
        view, agent, text, known, {**server_facts(source), "raw": text, "prompt": prompt}
    )
