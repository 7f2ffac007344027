"""Agents that are language models: every unit one question an agent, and a row for what came.

Whatever a server does becomes a submission; where it gives no plan, that is empty and its `error`
says why, and nothing is put in its place.
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
    """The agents of a run that are models. To be closed."""

    def __init__(
        self,
        game: Game[S, V],
        chosen: Mapping[int, Model],
        models: Models,
        earlier: Sequence[Earlier] = (),
    ) -> None:
        """`chosen`: the model of each such agent; `earlier`: the answers that the run has already.

        Raises BadInput where a prompt of another version was used, and as `Asker` does.
        """
        self._game, self._prompting = game, prompting_of(game)
        version = version_of(game)
        for model in chosen.values():
            check_version(model, version)
        self._chosen = chosen
        self._asker = Asker(list(chosen.values()), models, earlier)

    def close(self) -> None:
        """Give up what is still out."""
        self._asker.close()

    def pieces(
        self, view: V, unit: int, agents: Sequence[int], *, is_rest: bool
    ) -> Iterator[Sequence[Batch]]:
        """The submissions of these agents for a unit, as their answers come.

        `is_rest`: others have been asked for it before. Raises RunStopped, before anything is
        asked, as `Asker` does.
        """
        if not agents:
            return  # whose answers are all there takes nothing more, whatever the ceiling
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

        words = f"{game.world.vocabulary.unit} {unit}"
        yield from self._asker.answers(words, asked, row, is_rest=is_rest)


def resolve_models(game: Game[S, V], roster: Roster, config: Config, models: Models) -> Roster:
    """The roster with it written down how each model is asked, found out where that is left open.

    Every model is asked a short question. Raises BadInput where one does not answer it.
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
