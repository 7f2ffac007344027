"""Agents that are language models: one question for each agent and unit, one row for each answer.

Every response of a server becomes a submission. Without a plan it is empty and its `error` has the
reason; no other policy replaces the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Generic

import attrs

from goldrush.agents.game import Game, S, V, prompting_of, version_of
from goldrush.agents.llm.asker import Asker
from goldrush.agents.llm.failures import Earlier
from goldrush.agents.llm.models import LLM, Model, Models, check_version
from goldrush.agents.llm.question import Answer, answer_error
from goldrush.agents.roster import Roster, models_in
from goldrush.kernel.rosters import Config
from goldrush.kernel.world import Batch


class ModelAgents(Generic[S, V]):
    """The agents of a run that are models. Call `close` at the end."""

    def __init__(
        self,
        game: Game[S, V],
        chosen: Mapping[int, Model],
        models: Models,
        earlier: Sequence[Earlier] = (),
    ) -> None:
        """Open connections.

        Args:
            game: the world.
            chosen: the model of each agent that is one.
            models: how they are reached.
            earlier: answers that the run already has.

        Raises:
            BadInput: for a model recorded with another version of the prompt, and as `Asker`.

        """
        self._game, self._prompting = game, prompting_of(game)
        version = version_of(game)
        for model in chosen.values():
            check_version(model, version)
        self._chosen = chosen
        self._asker = Asker(list(chosen.values()), models, earlier)

    def close(self) -> None:
        """Cancel the questions that are not answered yet."""
        self._asker.close()

    def pieces(
        self, view: V, unit: int, agents: Sequence[int], *, is_rest: bool
    ) -> Iterator[Sequence[Batch]]:
        """The submissions of these agents for a unit, as their answers arrive.

        Args:
            view: the shared observation of the unit.
            unit: its displayed number.
            agents: ids of the agents to ask.
            is_rest: the journal already has answers of other agents for this unit.

        Raises:
            RunStopped: before anything is asked, as `Asker`.

        """
        if not agents:
            return  # a unit whose answers are all recorded is not subject to the limits
        prompting, game = self._prompting, self._game
        asked = [
            (self._chosen[agent], prompting.messages(view, agent), prompting.schema(view, agent))
            for agent in agents
        ]
        error = game.field("error")

        def row(index: int, answer: Answer) -> tuple[Batch, str | None]:
            model, messages, _ = asked[index]
            source = answer.source(model, messages)
            made = prompting.row(view, agents[index], answer.text, answer_error(answer), source)
            return (game.code, [made]), made[error]

        label = f"{game.world.vocabulary.unit} {unit}"
        yield from self._asker.answers(label, asked, row, is_rest=is_rest)


def resolve_models(game: Game[S, V], roster: Roster, config: Config, models: Models) -> Roster:
    """The roster with the request options of each model decided, by a short question.

    Raises BadInput if a model does not answer.
    """
    chosen = {model.name: model for model in models_in(roster.entries).values()}
    start = game.world.initial({"config": config.as_dict(), "roster": roster.as_setup()})
    schema = prompting_of(game).schema(game.view(start), 0)
    asker = Asker(list(chosen.values()), models)
    try:
        options = {
            name: asker.settled(model, schema).as_options() for name, model in chosen.items()
        }
    finally:
        asker.close()
    entries = (
        attrs.evolve(e, options=options[e.options["name"]]) if e.policy == LLM else e
        for e in roster.entries
    )
    return attrs.evolve(roster, entries=tuple(entries))
