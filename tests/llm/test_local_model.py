"""A real model, on this machine: a few answers, and then everything without it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from goldrush.agents.llm.model import SCHEMA, TEXT, Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.kernel.errors import RunStopped
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.usage import usage
from goldrush.replay.journal.verify import verify
from tests.llm import local
from tests.mining import record, resume
from tests.waiting import HANGS

pytestmark = [
    pytest.mark.turns("real models"),
    pytest.mark.skipif(local.weights() is None, reason=local.ABSENT),
]


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


def test_a_real_run_stops_at_its_ceiling_goes_on_and_is_replayed_without_it(
    path: Path, address: str
) -> None:
    settings = {"rows": 4, "cols": 4, "stamina": 4, "rounds": 2}
    with pytest.raises(RunStopped, match=r"at round 2: it may take up to .* are left"):
        record(path, settings, "llm:free*1,llm:strict*1", models=models(address, 9_000))
    before = usage(path).total.answers
    resume(path, models=models(address))
    [started] = log(path, Query(names=("run_started",)))
    submitted = [event for event in log(path, Query(names=("submitted",))) if event["agent"] == 1]

    assert SCHEMA == started["roster"][1]["options"]["answer"]
    assert [(None, True)] * 2 == [(e["error"], bool(e["actions"])) for e in submitted]
    assert submitted[0]["source"]["tokens_in"] > 100
    assert (2, 4) == (before, usage(path).total.answers)
    assert (4, True, True) == ((v := verify(path)).level, v.holds, v.finished)
