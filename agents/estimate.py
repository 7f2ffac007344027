"""Estimates of the tokens and costs of a run with language models, before it begins.

The first units are played in memory by scripted stand-ins, to count questions and measure prompts;
the other units are extrapolated. That is a guess, because prompts depend on what agents do. The
upper bound therefore follows from the limits of prompts and answers alone. Every question counts
once: repeated tries are not included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from goldrush.agents.llm.budget import Budget, Estimate, prices
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import Question
from goldrush.agents.session import Play, PlayedStep, batches
from goldrush.kernel.world import Block, World, advance

S = TypeVar("S")

BYTES_PER_TOKEN: Final = 2.0  # of mining prompts with SmolLM2, which has one token for a digit


def estimates(
    chosen: Sequence[Model],
    models: Models,
    units: int,
    played: Callable[[], Iterator[Sequence[Question]]],
    rest: Callable[[Sequence[int], int], int],
    most_in: Callable[[str, int], int],
) -> list[Estimate]:
    """The estimate of each model, for a whole run.

    Args:
        played: gives the questions of each of the first units.
        rest: `(amounts, left)`: the amount of the units that are left, from that of each played.
        most_in: `(name, questions)`: the upper bound of the tokens of so many questions to a model.

    Raises BadInput as a run would.
    """
    names = [model.name for model in chosen]
    Budget(models, names)  # refuses what a run would
    known = prices(models.by_name)
    asked = played() if chosen else ()
    first = [[each.upper_bound for each in prompts if each.model is not None] for prompts in asked]

    def whole(amounts: Sequence[int]) -> int:
        return sum(amounts) + rest(amounts, units - len(amounts))

    results = []
    for model in chosen:
        of_model = [[each for each in amounts if each.name == model.name] for amounts in first]
        questions = whole([len(amounts) for amounts in of_model])
        size = whole([sum(amount.tokens_in for amount in amounts) for amounts in of_model])
        most, most_out = most_in(model.name, questions), questions * model.max_tokens
        price = known.get(model.name)
        cost = price and price.millionths(most, most_out) / 1_000_000
        about = min(round(size / BYTES_PER_TOKEN), most)
        results.append(Estimate(model.name, questions, about, most, most_out, cost))
    return results


def asked_by_unit(
    world: World[S], state: S, play_of: Callable[[S], Play | None], units: int
) -> Iterator[list[Question]]:
    """The questions to models in each of the first `units` of a run, in which policies play instead
    of models and people. `play_of` gives None for a step in which nobody is asked. Raises
    PolicyFailed.
    """
    for _ in range(units):
        if world.ended(state):
            return
        prompts: list[Question] = []
        is_done = False
        while not is_done:
            play, inputs = play_of(state), Block(())
            if play is not None:
                step = PlayedStep(play)
                while step.asked:
                    for asked in step.asked:
                        prompt = play.prompt(asked) if play.model(asked) else None
                        if prompt is not None:
                            prompts.append(prompt)
                    step.go_on(step.of_policies(), {})
                inputs = world.arrange(Block(batches(step.inputs)))
            state, _, is_done = advance(world, state, inputs)
        yield prompts
