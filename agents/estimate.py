"""Estimates of the tokens and costs of a run with language models, before it begins.

The first units are played in memory by scripted stand-ins, to measure the size of the prompts; the
other units are taken to be as long as the longest of these. That is a guess, because prompts depend
on what agents do. The upper bound therefore follows from the limits of prompts and answers alone.
Both count every question once: repeated tries are not included.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import attrs

from goldrush.agents.game import Game, S, V, prompting_of
from goldrush.agents.llm.budget import Amount, Budget, Estimate, prices
from goldrush.agents.llm.models import Model, Models
from goldrush.agents.llm.question import Question
from goldrush.agents.people import HUMAN
from goldrush.agents.roster import Entry, Roster, models_in
from goldrush.agents.submitting import Agents
from goldrush.kernel.rosters import Config
from goldrush.kernel.run import rest_of
from goldrush.kernel.world import Block, advance

PLAYED: Final = 20  # units, at most
BYTES_PER_TOKEN: Final = 2.0  # of mining prompts with SmolLM2, which has one token for a digit


def estimates(game: Game[S, V], config: Config, roster: Roster, models: Models) -> list[Estimate]:
    """The estimate of each model of a roster, for a whole run. Raises BadInput as a run would."""
    chosen = models_in(roster.entries)
    Budget(models, [model.name for model in chosen.values()])  # refuses what a run would
    sizes: dict[str, int] = {}
    found = _questions(game, config, roster, chosen, models)
    for amounts in found:
        for amount in amounts:
            sizes[amount.name] = sizes.get(amount.name, 0) + amount.tokens_in
    longest: dict[str, int] = {}
    for amounts in found:
        for name in sizes:
            size = sum(amount.tokens_in for amount in amounts if amount.name == name)
            longest[name] = max(longest.get(name, 0), size)
    units = game.units(config)
    left = units - len(found)
    known = prices(models, list(sizes))
    most = _most(game, config, roster, chosen, models)
    return [
        _estimate(
            name,
            sum(model.name == name for model in chosen.values()) * units,
            round((size + left * longest[name]) / BYTES_PER_TOKEN),
            [amount for amount in most if amount.name == name],
            units,
            known.get(name),
        )
        for name, size in sizes.items()
    ]


def _estimate(
    name: str,
    questions: int,
    about_in: int,
    most: Sequence[Amount],
    units: int,
    price: tuple[float, float] | None,
) -> Estimate:
    most_in = units * sum(amount.tokens_in for amount in most)
    most_out = units * sum(amount.tokens_out for amount in most)
    cost = price and (most_in * price[0] + most_out * price[1]) / 1_000_000
    return Estimate(name, questions, min(about_in, most_in), most_in, most_out, cost)


def _most(
    game: Game[S, V], config: Config, roster: Roster, chosen: dict[int, Model], models: Models
) -> list[Amount]:
    """The upper bound of a question to each agent, in any unit."""
    prompting = prompting_of(game)
    start = game.world.initial({"config": config.as_dict(), "roster": roster.as_setup()})
    view = game.view(start)
    most = []
    for agent, model in chosen.items():
        schema = prompting.schema(view, agent)
        bare = Question(model, models.endpoint(model.name), (), schema).upper_bound()
        most.append(attrs.evolve(bare, tokens_in=bare.tokens_in + prompting.longest))
    return most


def _questions(
    game: Game[S, V], config: Config, roster: Roster, chosen: dict[int, Model], models: Models
) -> Sequence[Sequence[Amount]]:
    """The upper bounds of the questions of each of the first PLAYED units."""
    world, prompting = game.world, prompting_of(game)
    players = [
        Entry(entry.agent, prompting.stand_in)
        if entry.agent in chosen or entry.policy == HUMAN
        else entry
        for entry in roster.entries
    ]
    state = world.initial({"config": config.as_dict(), "roster": roster.as_setup()})
    units: list[Sequence[Amount]] = []
    with Agents(game, Roster(players, roster.recordings, roster.trust)) as agents:
        while not world.ended(state) and len(units) < PLAYED:
            view = game.view(state)
            units.append(
                [
                    Question(
                        model,
                        models.endpoint(model.name),
                        prompting.messages(view, agent),
                        prompting.schema(view, agent),
                    ).upper_bound()
                    for agent, model in chosen.items()
                ]
            )
            inputs = Block(rest_of(agents(state), lambda batches: None))
            state, _, _ = advance(world, state, inputs)
    return units
