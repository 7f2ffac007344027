"""Miners that are language models: every round one question an agent, and a row for what came.

Whatever a server does becomes a submission; where it gives no plan, that is empty and its `error`
says why, and nothing is put in its place. A run of paid answers stops by itself, before it asks,
where a round could pass a ceiling or where nobody has answered for some rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import attrs

from agents.llm import prompt
from agents.llm.budget import Amount, Budget
from agents.llm.client import Client
from agents.llm.models import AUTO, LLM, Model, Models, model_of
from agents.llm.probe import settled
from agents.llm.question import Message, Question
from agents.llm.rows import check_version, row_of
from agents.roster import Entry
from kernel.errors import RunStopped
from kernel.mining.config import MiningConfig
from kernel.mining.observe import Observation, Shown
from kernel.mining.state import initial
from kernel.world import Row


class ModelMiners:
    """The agents of a mining run that are models. To be closed."""

    def __init__(
        self,
        config: MiningConfig,
        chosen: Mapping[int, Model],
        models: Models,
        taken: Sequence[Amount] = (),
    ) -> None:
        """`chosen`: the model of each such agent; `taken`: what earlier answers took.

        Raises BadInput where a prompt of another version was used, where a key is missing, and
        where a ceiling of cost is given without a price.
        """
        self._config = config
        self._chosen = chosen
        self._models = models
        self._endpoints = {m.name: models.endpoint(m.name) for m in chosen.values()}
        for model in chosen.values():
            check_version(model)
        for endpoint in self._endpoints.values():
            endpoint.key()
        self.budget = Budget(models, list(self._endpoints), taken)
        self._client = Client(models.concurrency)
        self._silent = 0

    def close(self) -> None:
        """Give up what is still out."""
        self._client.close()

    def rows(self, shown: Shown, agents: Sequence[int]) -> Iterator[Row]:
        """The rows of these agents for the next round, as their answers come.

        Raises RunStopped, before anything is asked, where that could pass a ceiling or where no
        agent has answered for as many rounds as patience lasts.
        """
        if not agents:
            return  # whose answers are all there takes nothing more, whatever the ceiling
        round = shown.state.round + 1
        if self._silent >= self._models.patience:
            raise RunStopped(round, f"no model has answered for {self._silent} rounds")
        prompts = prompt.Prompts(shown)
        asked = [(agent, prompts.of(agent)) for agent in agents]
        questions = [self._question(shown, agent, messages) for agent, messages in asked]
        objection = self.budget.objection([question.most() for question in questions])
        if objection is not None:
            raise RunStopped(round, objection)
        troubles: Counter[str] = Counter()
        for place, answer in self._client.answers(questions, self.budget):
            agent, messages = asked[place]
            if answer.text is None:
                troubles[answer.trouble or "it has no text"] += 1
            yield row_of(agent, self._chosen[agent], messages, answer, self._config)
        self._tell(round, troubles)
        silent = troubles.total() == len(agents)
        self._silent = self._silent + 1 if silent else 0

    def _question(self, shown: Shown, agent: int, messages: Sequence[Message]) -> Question:
        model = self._chosen[agent]
        form = prompt.schema(Observation(shown, agent))
        return Question(model, self._endpoints[model.name], messages, form)

    def _tell(self, round: int, troubles: Counter[str]) -> None:
        for says, count in troubles.items():
            who = "one agent" if count == 1 else f"{count} agents"
            self._models.tell(f"round {round}: no answer for {who}: {says}")


def decided(entries: Sequence[Entry], config: MiningConfig, models: Models) -> tuple[Entry, ...]:
    """The roster with it written down how each model is asked, found out where that is left open.

    Raises BadInput where a model cannot be asked at all.
    """
    chosen = {e.options["name"]: model_of(e.options) for e in entries if e.policy == LLM}
    if not any(model.answer == AUTO for model in chosen.values()):
        return tuple(entries)
    Budget(models, list(chosen))  # a price that is missing is told before anything is asked
    setup = {"config": config.as_dict(), "roster": [entry.as_dict() for entry in entries]}
    form = prompt.schema(Observation(Shown(initial(setup)), 0))
    with Client(concurrency=1) as client:
        options = {
            name: settled(client, model, models.endpoint(name), _SHORT, form).as_options()
            for name, model in chosen.items()
        }
    return tuple(
        attrs.evolve(e, options=options[e.options["name"]]) if e.policy == LLM else e
        for e in entries
    )


_SHORT: Final = (
    {"role": "user", "content": 'Answer with this JSON object and nothing else: {"actions": []}'},
)
