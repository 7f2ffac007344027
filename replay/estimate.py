"""Estimates of the tokens and costs of a run with language models, before it begins.

The first units are played in memory by scripted stand-ins, to count questions and measure prompts;
the other units are extrapolated. That is a guess, because prompts depend on what agents do. The
upper bound therefore follows from the limits of prompts and answers alone. Every question counts
once: repeated tries are not included.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import TYPE_CHECKING, Any, Final

import msgspec

from goldrush.agents.llm.budget import Budget, prices
from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import AROUND_MAX
from goldrush.agents.seats import distinct_models
from goldrush.kernel.errors import BadInput
from goldrush.kernel.text import escaped
from goldrush.replay.text import format_table

if TYPE_CHECKING:
    from goldrush.agents.players import Players, PreparedRun, Resources

LIKE: Final = 4  # units that are extrapolated

BYTES_PER_TOKEN: Final = 2.0  # of mining prompts with SmolLM2, which has one token for a digit


class Estimate(msgspec.Struct, frozen=True):
    """The estimate of a whole run for one model, named as in the roster.

    Attributes:
        questions: their number.
        tokens_in: expected tokens of all questions.
        most_in, most_out: upper bounds of the tokens of all questions and of all answers.
        cost: expected cost, with answers as long as they may be; `most_cost`: its upper bound.
            None: there are no prices.
    """

    model: str
    questions: int
    tokens_in: int
    most_in: int
    most_out: int
    cost: float | None
    most_cost: float | None


def estimate(players: Players[Any], run: PreparedRun, resources: Resources) -> Sequence[Estimate]:
    """The estimate of each model, for a whole run. The units that are not played are taken to be
    like the last LIKE of those that are.

    Raises BadInput as the run would, and where no model can play.
    """
    if players.prompt is None:
        raise BadInput("runs of this world cannot be estimated", "leave --dry-run out")
    # Of agents with one wording the lowest alone has its text, and they are one model.
    chosen = {model.name: model for model in distinct_models(run.roster.entries)}
    models = resources.models or Models()
    Budget(models, [*chosen])  # refuses what a run would
    known = prices(models.by_name)
    played = [*players.questions(run, resources)] if chosen else []
    left: int = run.facts["config"][players.horizon] - len(played)

    def whole(amounts: Sequence[int]) -> int:
        like = amounts[-LIKE:]
        return sum(amounts) + ceil(left * sum(like) / len(like))

    results = []
    for model in chosen.values():
        first = [[one for one in asked if one.asked_model.name == model.name] for asked in played]
        questions = whole([len(asked) for asked in first])
        size = whole([sum(one.upper_bound.tokens_in for one in asked) for asked in first])
        most = questions * (players.prompt.longest + AROUND_MAX)
        most_out = questions * model.max_tokens
        price = known.get(model.name)
        about = min(round(size / BYTES_PER_TOKEN), most)
        costs = [price and price.millionths(each, most_out) / 1_000_000 for each in (about, most)]
        results.append(Estimate(model.name, questions, about, most, most_out, *costs))
    return results


def format_estimates(estimates: Sequence[Estimate]) -> str:
    """Estimates as a table; without one that nothing would be asked."""
    if not estimates:
        return "no language model plays; nothing would be asked"
    head = ("model", "questions", "tokens in, about", "at most", "tokens out, at most", "cost")
    rows: list[Sequence[str]] = [head]
    for model in estimates:
        cost = "no price given"
        if model.cost is not None and model.most_cost is not None:
            cost = f"about {model.cost:,.2f}, at most {model.most_cost:,.2f}"
        numbers = (model.questions, model.tokens_in, model.most_in, model.most_out)
        rows.append((escaped(model.model), *(f"{number:,}" for number in numbers), cost))
    return format_table(rows, numbers=range(1, 6))
