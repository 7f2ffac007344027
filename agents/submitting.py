"""Agents that all submit at once: asked unit by unit, and asked again to verify a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Generic, Self

from goldrush.agents.askable import Player, classify_players
from goldrush.agents.game import Game, S, V, prompting_of
from goldrush.agents.llm.failures import CUT, NO_ANSWER, REFUSAL, Earlier
from goldrush.agents.llm.models import LLM, Model, Models
from goldrush.agents.llm.question import Answer, digest, server_facts
from goldrush.agents.people import HUMAN, Ask, Inquiry, required_person
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry, Roster, entries_in, models_in
from goldrush.agents.trust import RECORDED
from goldrush.kernel.errors import BadInput, PolicyFailed, format_error
from goldrush.kernel.run import InputPieces
from goldrush.kernel.world import Batch, Block, Row

if TYPE_CHECKING:
    from goldrush.agents.model_agents import ModelAgents

OUTSIDE: Final = (LLM, HUMAN)  # policies whose submissions come from outside

# Submissions put in by hand in a fork: unit -> agent -> row.
Replaced = Mapping[int, Mapping[int, Row]]


class Agents(Generic[S, V]):
    """Asks every agent for what it submits; to be given to the run loop as `ask`, and to be closed.

    Scripted policies answer first, all at once. Then models are asked, then people, and each of
    their answers is given to be committed as it comes.
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
            replaced: submissions that were put in by hand.
            pending: submissions of the next unit that are there already.
            models: how language models are reached.
            earlier: models' answers that the run has already.
            people: how people are asked.

        Raises:
            BadInput: where somebody cannot play.

        """
        self._game = game
        self._replaced = replaced or {}
        self._pending = {row[0] for row in pending.rows(game.code)} if pending else set()
        self._scripted = [
            (entry, game.policy_set.factory_of(entry, roster)())
            for entry in roster.entries
            if entry.policy not in OUTSIDE
        ]
        vocabulary = game.world.vocabulary
        for entry, _ in self._scripted:
            if entry.agent in self._pending:  # only answers from outside are committed early
                raise BadInput(
                    f"agent {entry.agent} plays {entry.policy}, which never waits for others, but "
                    f"the journal has its plan of the {vocabulary.unit} left open",
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
        """The submissions for the next unit. Raises PolicyFailed where a policy fails, RunStopped
        where models are not to be asked any more.
        """
        game = self._game
        view, unit = game.view(state), game.unit(state)
        by_hand, pending = self._replaced.get(unit, {}), self._pending
        self._pending = set()
        scripted = self._scripted
        if pending:
            scripted = [pair for pair in scripted if pair[0].agent not in pending]
        rows = [
            by_hand.get(entry.agent) or ask_policy(game, policy, entry, view, unit)
            for entry, policy in scripted
        ]
        if not self._outside:
            return [(game.code, rows)]
        rows += [by_hand[agent] for agent in self._outside if agent in by_hand.keys() - pending]
        left = [agent for agent in self._outside if agent not in by_hand.keys() | pending]
        pieces = self._pieces(view, unit, left, is_rest=bool(pending))
        return _and_then(pieces, [(game.code, sorted(rows))])

    def _pieces(
        self, view: V, unit: int, agents: Sequence[int], *, is_rest: bool
    ) -> Iterator[Sequence[Batch]]:
        """What models and then people submit, as it comes."""
        game = self._game
        models = [agent for agent in agents if agent not in self._people]
        if self._models is not None:
            yield from self._models.pieces(view, unit, models, is_rest=is_rest)
        for agent in agents:
            if agent in self._people:
                row = ask_person(game, self._people[agent], view, unit, agent)
                yield [(game.code, [row])]


def ask_person(game: Game[S, V], ask: Ask, view: V, unit: int, agent: int) -> Row:
    """The row of what a person submits, asked until the answer can be read."""
    prompting, error = prompting_of(game), game.field("error")
    messages = prompting.messages(view, agent)
    source = {**Answer(model=HUMAN).source(Model(HUMAN, HUMAN), messages)}

    def row(text: str) -> Row:
        return prompting.row(view, agent, text, None, {**source, "raw": text})

    def fault(text: str) -> str | None:
        code = row(text)[error]
        return None if code is None else f"it is no plan ({code})"

    words = f"{game.world.vocabulary.unit} {unit}"
    schema = prompting.schema(view, agent)
    return row(ask(Inquiry(f"agent {agent}", words, messages, schema, fault)))


def _and_then(pieces: Iterator[Sequence[Batch]], rest: Sequence[Batch]) -> InputPieces:
    yield from pieces
    return rest


def ask_policy(game: Game[S, V], policy: Any, entry: Entry, view: V, unit: int) -> Row:
    """The row of what an agent submits. Raises PolicyFailed where its policy does not answer."""
    try:
        if entry.policy == RECORDED:
            recorded = policy.units[game.world.vocabulary.unit_of(unit) - 1]
            return game.replayed(recorded[entry.agent], view)
        return game.ask(policy, entry, view)
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # whatever somebody's policy raises
        raise PolicyFailed(entry.policy, entry.agent, unit, format_error(error)) from error


def replaced_in(forks: Sequence[Mapping[str, Any]]) -> Replaced:
    """All submissions that were put in by hand; those of a later fork go first."""
    replaced: dict[int, dict[int, Row]] = {}
    for facts in forks:
        for unit, row in facts["replaced"]:
            replaced.setdefault(unit, {})[row[0]] = row
    return replaced


class AgentsCheck(Generic[S, V]):
    """Asks the agents of a journal again, with policies made afresh for every unit.

    Models and people are not asked again: what they wrote is in the journal, and that is read
    again, and held against the prompt that they must have been given.

    Who cannot be asked gets None in place of a row, and a line in `not_asked`: agents with policies
    of their own that are not in `trust` (a journal must not make code run by naming it), recorded
    agents whose journal is not among `recordings`, external agents whose object is not among
    `policies`. `unknown` says whom this version does not know.
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
        """Raises ImpossiblePlayer for an agent that no run has."""
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
        """Look every policy up, once; who cannot be asked after all is told."""
        self._makers: dict[int, Callable[[], Any]] = {}
        for agent, entry in enumerate(self.entries):
            if entry is not None and entry.policy not in OUTSIDE:
                try:
                    self._makers[agent] = self._game.policy_set.factory_of(entry, self._roster)
                except BadInput as error:
                    self.entries[agent] = None
                    yield f"agent {agent}: {error.what}"

    def __call__(self, state: S, recorded: Block) -> list[tuple[int, list[Row | None]]]:
        """The submissions for the next unit. Raises PolicyFailed where a policy fails."""
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
        """The submissions of the agents of whom one is recorded, in that order; else as a call."""
        rows = recorded.rows(self._game.code)
        [(code, every)] = self(state, recorded)
        return [(code, [every[row[0]] for row in rows])]

    def _row(self, view: V, unit: int, entry: Entry | None, recorded: Row | None) -> Row | None:
        if entry is None:
            return None
        if entry.policy in OUTSIDE:
            return recorded and reread(self._game, recorded, view)
        return ask_policy(self._game, self._makers[entry.agent](), entry, view, unit)


def reread(game: Game[S, V], row: Row, view: V) -> Row:
    """What a recorded submission of a model should be: its prompt made again, its text read again.

    What only the server knew (that an answer was refused or cut, its tokens) is taken as it is, if
    an answer can have it. Nothing here needs a model, a key or a network.
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
