"""Estimates of questions, tokens and costs of the models in a season, before it begins.

The first PLAYED assignments are played in memory by scripted stand-ins, with drawn values in place
of tests, to count questions and measure prompts; the other assignments are extrapolated from the
last LIKE of these. Models talk differently from stand-ins, so the upper bound follows from the
limits of prompts and answers alone. Repeated tries are not included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.agents.estimate import BYTES_PER_TOKEN
from goldrush.agents.llm.budget import Budget, Estimate, prices
from goldrush.agents.llm.models import Model, Models
from goldrush.agents.llm.question import AROUND_MAX, Question
from goldrush.agents.players import PreparedRun, Resources
from goldrush.agents.worlds.competition.arenas import bench_of, rules_of
from goldrush.agents.worlds.competition.bench import Bench, Run, Tests
from goldrush.agents.worlds.competition.cast import SCRIPTED, models_in
from goldrush.agents.worlds.competition.limits import PROMPT_MAX
from goldrush.agents.worlds.competition.script import Scripts
from goldrush.agents.worlds.competition.seats import model_at
from goldrush.agents.worlds.competition.step import OUTSIDE, Step, batches
from goldrush.agents.worlds.competition.step import Question as SeasonQuestion
from goldrush.kernel.draws import Draws
from goldrush.kernel.world import Block, advance
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arena import Arena, Conduct
from goldrush.kernel.worlds.competition.config import SeasonConfig, config_of

PLAYED: Final = 12  # assignments, at most
LIKE: Final = 4  # assignments that are extrapolated


def estimates(prepared: PreparedRun, models: Models, resources: Resources) -> list[Estimate]:
    """The estimate of each model in a cast.

    Args:
        prepared: the season.
        models: has prices and limits.
        resources: has the test program, which is not run.

    Raises:
        BadInput: as the season would.

    """
    config = config_of(prepared.setup["config"])
    cast = prepared.setup["cast"]
    chosen = models_in((entry["policy"], entry["options"]) for entry in cast)
    Budget(models, [model.name for model in chosen])  # refuses what a season would
    played = list(_played(config, cast, models, resources, prepared.trust))
    known = prices(models, [model.name for model in chosen])
    return [_estimate(model, config, played, known.get(model.name)) for model in chosen]


# The questions of an assignment by model: their number, and their size in bytes.
_Asked = tuple[Counter[str], Counter[str]]


def _estimate(
    model: Model,
    config: SeasonConfig,
    played: Sequence[_Asked],
    price: tuple[float, float] | None,
) -> Estimate:
    left, like = config.assignments - len(played), played[-LIKE:]

    def whole(which: int) -> int:
        counted = sum(asked[which][model.name] for asked in played)
        return counted + round(left * sum(asked[which][model.name] for asked in like) / len(like))

    questions, size = whole(0), whole(1)
    most_in, most_out = questions * (PROMPT_MAX + AROUND_MAX), questions * model.max_tokens
    cost = price and (most_in * price[0] + most_out * price[1]) / 1_000_000
    about = min(round(size / BYTES_PER_TOKEN), most_in)
    return Estimate(model.name, questions, about, most_in, most_out, cost)


def _played(
    config: SeasonConfig,
    cast: Sequence[Mapping[str, Any]],
    models: Models,
    resources: Resources,
    trust: Collection[str],
) -> Iterator[_Asked]:
    """The questions of each of the first assignments."""
    # A stand-in keeps the options of the model whose seat it has, and newcomers inherit them.
    seats = [{**e, "policy": SCRIPTED if e["policy"] in OUTSIDE else e["policy"]} for e in cast]
    world = competition(rules_of(config.arena))
    state = world.initial({"config": config.as_dict(), "cast": seats})
    with Tests(config.arena, lambda: _guessing(config.arena, resources)) as tests:
        scripts = Scripts(tests)
        for _ in range(min(PLAYED, config.assignments)):
            questions: Counter[str] = Counter()
            sizes: Counter[str] = Counter()
            is_closed = False
            while not is_closed:
                step = Step(state, scripts, trust)
                for question in _questions(step):
                    model = model_at(question.agent)
                    endpoint = models.endpoint(model.name)
                    sent = Question(model, endpoint, question.messages, question.schema)
                    questions[model.name] += 1
                    sizes[model.name] += sent.upper_bound().tokens_in
                inputs = world.arrange(Block(batches(step.rows)))
                state, _, is_closed = advance(world, state, inputs)
            yield questions, sizes


def _questions(step: Step) -> Iterator[SeasonQuestion]:
    """Play a step to its end; its questions to agents that are models."""
    asked = step.next()
    while asked is not None:
        for one in asked:
            question = step.question(one) if "model" in step.agent_of(one).options else None
            if question is not None:
                yield question
        asked = step.next([step.answer(one, index, {}) for index, one in enumerate(asked)])


def _guessing(arena: Arena, resources: Resources) -> Bench:
    """The bench of an arena with drawn values in place of runs."""

    def test(conduct: Conduct, treatment: str, objective: str, seed: int) -> Run:
        word = Draws(objective, treatment, repr(conduct), seed).word()
        return word / 2**64, word

    bench = bench_of(arena, resources.program)
    return attrs.evolve(bench, test=test, together=None, deterministic=False, at_once="alone")
