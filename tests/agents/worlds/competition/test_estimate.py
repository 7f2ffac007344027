from typing import Any

import pytest

from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.llm.options import TEXT
from goldrush.agents.llm.question import AROUND_MAX
from goldrush.agents.players import Resources
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.players import (
    PLAYED,
    SEASON_PLAYERS,
    configured,
    prepared,
)
from goldrush.agents.worlds.competition.versions import PROMPT
from goldrush.replay.estimate import LIKE, Estimate, estimate

MODELS = Models(
    by_name={
        "a": (Model("a", "test-1", answer=TEXT, max_tokens=50), Endpoint(price_in=2, price_out=4)),
        "b": (Model("b", "test-2", answer=TEXT, max_tokens=70), Endpoint()),
    }
)


def estimated(*parts: str, **settings: Any) -> dict[str, Estimate]:
    config = configured({"arena": "nk[seeds=1]", **settings})
    season = prepared(config, cast_of(config.workers, parts, MODELS))
    return {one.model: one for one in estimate(SEASON_PLAYERS, season, Resources(models=MODELS))}


@pytest.mark.parametrize("assignments", [3, PLAYED, PLAYED + 10 * LIKE])
def test_who_is_asked_once_in_an_assignment_is_asked_as_often_as_there_are(
    assignments: int,
) -> None:
    found = estimated("assistant=llm:a", assignments=assignments, tiers=False)

    assert [("a", assignments)] == [(name, one.questions) for name, one in found.items()]


def test_the_most_is_told_from_the_limits_and_the_cost_where_there_are_prices() -> None:
    found = estimated("assistant=llm:a", "judge=llm:b", assignments=2)
    a, b = found["a"], found["b"]

    for one, tokens in ((a, 50), (b, 70)):
        assert 0 < one.tokens_in < one.most_in == one.questions * (PROMPT.longest + AROUND_MAX)
        assert one.questions * tokens == one.most_out
    assert 2 < b.questions  # after every round
    assert pytest.approx((a.most_in * 2 + a.most_out * 4) / 1_000_000) == a.most_cost
    assert b.most_cost is None


def test_a_worker_is_the_model_of_its_class() -> None:
    of = "worker=llm:a,sonnet=llm:b"
    early = estimated(of, assignments=2)
    late = estimated(of, assignments=6, worker_tiers=(1, 1, 1, 9), sparks_start=100)

    assert 0 == early["b"].questions < early["a"].questions
    assert 0 < late["b"].questions


def test_a_scripted_cast_takes_nothing() -> None:
    assert {} == estimated(assignments=1)
