"""Miners that are language models: every round one question an agent, and a row for what came.

Whatever a server does becomes a submission; where it gives no plan, that is empty and its `error`
says why, and nothing is put in its place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from goldrush.agents.llm.asker import Asker
from goldrush.agents.llm.failures import Earlier
from goldrush.agents.llm.models import LLM, Model, Models, check_version, model_of
from goldrush.agents.llm.question import Answer
from goldrush.agents.mining import prompt
from goldrush.agents.mining.roster import Entry
from goldrush.agents.mining.rows import row_of
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.events import SUBMITTED
from goldrush.kernel.mining.observe import Observation, Shown
from goldrush.kernel.mining.state import initial
from goldrush.kernel.world import Batch


class ModelMiners:
    """The agents of a mining run that are models. To be closed."""

    def __init__(
        self,
        config: MiningConfig,
        chosen: Mapping[int, Model],
        models: Models,
        earlier: Sequence[Earlier] = (),
    ) -> None:
        """`chosen`: the model of each such agent; `earlier`: the answers that the run has already.

        Raises BadInput where a prompt of another version was used, and as `Asker` does.
        """
        for model in chosen.values():
            check_version(model, prompt.VERSION)
        self._config = config
        self._chosen = chosen
        self._asker = Asker(list(chosen.values()), models, earlier)

    def close(self) -> None:
        """Give up what is still out."""
        self._asker.close()

    def pieces(
        self, shown: Shown, agents: Sequence[int], *, is_rest: bool
    ) -> Iterator[Sequence[Batch]]:
        """The submissions of these agents for the next round, as their answers come.

        `is_rest`: others have been asked for it before. Raises RunStopped, before anything is
        asked, as `Asker` does.
        """
        if not agents:
            return  # whose answers are all there takes nothing more, whatever the ceiling
        prompts = prompt.Prompts(shown)
        asked = [
            (self._chosen[agent], prompts.of(agent), prompt.schema(Observation(shown, agent)))
            for agent in agents
        ]

        def row(index: int, answer: Answer) -> tuple[Batch, str | None]:
            model, messages, _ = asked[index]
            made = row_of(agents[index], model, messages, answer, self._config)
            return (SUBMITTED, [made]), made[2]

        unit = f"round {shown.state.round + 1}"
        yield from self._asker.answers(unit, asked, row, is_rest=is_rest)


def decided(entries: Sequence[Entry], config: MiningConfig, models: Models) -> tuple[Entry, ...]:
    """The roster with it written down how each model is asked, found out where that is left open.

    Every model is asked a short question. Raises BadInput where one does not answer it.
    """
    chosen = {e.options["name"]: model_of(e.options) for e in entries if e.policy == LLM}
    setup = {"config": config.as_dict(), "roster": [entry.as_dict() for entry in entries]}
    form = prompt.schema(Observation(Shown(initial(setup)), 0))
    asker = Asker(list(chosen.values()), models)
    try:
        options = {name: asker.settled(model, form).as_options() for name, model in chosen.items()}
    finally:
        asker.close()
    return tuple(
        attrs.evolve(e, options=options[e.options["name"]]) if e.policy == LLM else e
        for e in entries
    )
