"""What a run of language models would take, before anybody is asked.

The first rounds are played by scripted stand-ins, in memory, to see how long the questions become;
what is not played is taken to be as long as the longest. That is a guess: models claim, raid and
talk otherwise than stand-ins do, and questions tell of it. So the most is told from the limits of a
question and of an answer alone. Both count every question once: tries come on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from goldrush.agents.llm.budget import Amount, Budget, Estimate, prices
from goldrush.agents.llm.models import LLM, Model, Models, model_of
from goldrush.agents.llm.question import Question
from goldrush.agents.mining.miners import Miners
from goldrush.agents.mining.prompt import PROMPT_MAX, Prompts, schema
from goldrush.agents.mining.roster import Entry, Roster
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.config import MiningConfig
from goldrush.kernel.mining.observe import Observation, Shown
from goldrush.kernel.run import rest_of
from goldrush.kernel.world import Block

STAND_IN: Final = "greedy-mine"
PLAYED: Final = 20  # rounds, at most
BYTES_PER_TOKEN: Final = 2.0  # of these prompts with SmolLM2, whose numbers are a token a digit


def estimates(config: MiningConfig, roster: Roster, models: Models) -> list[Estimate]:
    """What each model of a roster would take in a whole run. Raises BadInput as a run would."""
    chosen = {e.agent: model_of(e.options) for e in roster.entries if e.policy == LLM}
    Budget(models, [model.name for model in chosen.values()])  # refuses what a run would
    sizes: dict[str, int] = {}
    found = _questions(config, roster, chosen, models)
    for amounts in found:
        for amount in amounts:
            sizes[amount.name] = sizes.get(amount.name, 0) + amount.tokens_in
    longest: dict[str, int] = {}
    for amounts in found:
        for name in sizes:
            size = sum(amount.tokens_in for amount in amounts if amount.name == name)
            longest[name] = max(longest.get(name, 0), size)
    left = config.rounds - len(found)
    known = prices(models, list(sizes))
    most = _most(config, roster, chosen, models)
    return [
        _estimate(
            name,
            sum(model.name == name for model in chosen.values()) * config.rounds,
            round((size + left * longest[name]) / BYTES_PER_TOKEN),
            [amount for amount in most if amount.name == name],
            config.rounds,
            known.get(name),
        )
        for name, size in sizes.items()
    ]


def _estimate(
    name: str,
    questions: int,
    about_in: int,
    most: Sequence[Amount],
    rounds: int,
    price: tuple[float, float] | None,
) -> Estimate:
    most_in = rounds * sum(amount.tokens_in for amount in most)
    most_out = rounds * sum(amount.tokens_out for amount in most)
    cost = price and (most_in * price[0] + most_out * price[1]) / 1_000_000
    return Estimate(name, questions, min(about_in, most_in), most_in, most_out, cost)


def _most(
    config: MiningConfig, roster: Roster, chosen: dict[int, Model], models: Models
) -> list[Amount]:
    """The most that a round's question to each agent can take, whatever has happened before."""
    shown = Shown(MINING.initial({"config": config.as_dict(), "roster": roster.as_setup()}))
    most = []
    for agent, model in chosen.items():
        form = schema(Observation(shown, agent))
        bare = Question(model, models.endpoint(model.name), (), form).most()
        most.append(attrs.evolve(bare, tokens_in=bare.tokens_in + PROMPT_MAX))
    return most


def _questions(
    config: MiningConfig, roster: Roster, chosen: dict[int, Model], models: Models
) -> Sequence[Sequence[Amount]]:
    """The most that the questions of each of the first rounds can take."""
    players = [
        Entry(entry.agent, STAND_IN) if entry.agent in chosen else entry for entry in roster.entries
    ]
    setup = {"config": config.as_dict(), "roster": roster.as_setup()}
    state = MINING.initial(setup)
    rounds: list[Sequence[Amount]] = []
    with Miners(config, Roster(players, roster.recordings, roster.trust)) as miners:
        while not MINING.ended(state) and len(rounds) < PLAYED:
            shown = Shown(state)
            prompts = Prompts(shown)
            rounds.append(
                [
                    Question(
                        model,
                        models.endpoint(model.name),
                        prompts.of(agent),
                        schema(Observation(shown, agent)),
                    ).most()
                    for agent, model in chosen.items()
                ]
            )
            inputs = Block(rest_of(miners(state), lambda batches: None))
            derived = Block(MINING.decide(state, inputs))
            state = MINING.close(MINING.evolve(MINING.evolve(state, inputs), derived))
    return rounds
