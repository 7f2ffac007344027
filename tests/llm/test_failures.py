"""Models that do not play: when a run bears them no longer, and what it tells of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

import goldrush
from goldrush.agents.llm import asker
from goldrush.agents.llm.failures import (
    FIRST,
    Failures,
    failure_kind,
    merge_failures,
)
from goldrush.kernel.errors import RunStopped
from goldrush.replay.journal.usage import usage
from goldrush.replay.journal.verify import verify
from tests.llm.runs import models, playing
from tests.llm.seasons import WORLDS
from tests.llm.servers import Asked, Reply, completion, error, in_turn, serving
from tests.mining import record, resume

CUT = completion('{"actions": [[', "length", usage=(100, 500))
MISSING = error(400)
REFUSED = completion("I would rather not.", "content_filter")
UNREADABLE = completion("I claim everything!")
# Floats and words are no plots, and a plan of such has no error in the journal.
MALFORMED = completion(
    '{"actions": [{"type": "claim", "plot": 5.0, "stamina": 1.0}, ["raid", "all"]]}'
)
FAILED = {
    "cut": CUT, "no-answer": MISSING, "refusal": REFUSED, "no-json": UNREADABLE,
    "no-action": MALFORMED,
}  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda fd: None)
    monkeypatch.setattr(asker, "PAUSES", (0.001, 0.002))


def failing(bad: Reply, *agents: int) -> Callable[[Asked], Reply]:
    """A server that answers these agents so, and the others with a plan."""
    return lambda asked: bad if asked.agent in agents else playing(asked)


# --- outages ---

STATUSES = (401, 402, 403, 404, 429, 503)
DOWN = [*map(error, STATUSES), Reply(b"<html>"), Reply(b"", raw=True)]


def down_from(number: int, *replies: Reply) -> Callable[[Asked], Reply]:
    """A server that is down from a request on for as many, the last again and again."""
    down, numbers = in_turn(*replies, UNREADABLE), count(1)
    return lambda asked: UNREADABLE if next(numbers) < number else down(asked)


@pytest.mark.parametrize("world", WORLDS)
def test_an_outage_changes_nothing_but_the_time(world: str, tmp_path: Path) -> None:
    lines: list[str] = []
    with serving(lambda asked: UNREADABLE) as server:
        known = models(server.address, concurrency=1, warn=lines.append)
        whole = goldrush.record(path=tmp_path / "whole", models=known, **WORLDS[world])
        server.respond = down_from(5, *DOWN)
        run = goldrush.record(path=tmp_path / "run", models=known, **WORLDS[world])

    assert whole.path.read_bytes() == run.path.read_bytes()
    waits = [line for line in lines if "num_ctx" not in line]  # which comes once
    assert all("asked again in 0.00" in line for line in waits)
    assert all(f"HTTP {status}: no" in "".join(lines) for status in STATUSES)


@pytest.mark.parametrize("world", WORLDS)
def test_a_run_stops_where_patience_ends_and_goes_on(world: str, tmp_path: Path) -> None:
    """In the middle of a unit: of two agents who are asked in the second round one has answered."""
    with serving(lambda asked: UNREADABLE) as server:
        known = models(server.address, concurrency=1, patience=0)
        whole = goldrush.record(path=tmp_path / "whole", models=known, **WORLDS[world])
        questions = len(server.asked)
        server.respond = down_from(4, error(401, "no credit"))
        with pytest.raises(RunStopped, match=r"one agent: HTTP 401: no credit \(--patience\)"):
            goldrush.record(path=tmp_path / "run", models=known, **WORLDS[world])
        held = usage(tmp_path / "run").total.answers
        server.asked.clear()
        server.respond = lambda asked: UNREADABLE
        goldrush.open(tmp_path / "run", models=known).resume()

    assert (3, questions - 3) == (held, len(server.asked))
    assert whole.path.read_bytes() == (tmp_path / "run").read_bytes()


def test_the_tries_of_an_outage_count_under_a_ceiling(path: Path) -> None:
    """Of a server that takes the question and closes the connection: it may have charged."""
    with serving(lambda asked: Reply(b"", raw=True)) as server:
        known = models(server.address, max_tokens=20_000)
        with pytest.raises(RunStopped, match=r"it may take up to .*--max-tokens"):
            record(path, {"rounds": 6}, "llm:a*1,raid", models=known)

    assert 2 <= len(server.asked) < 10


# --- --fail-over ---


def test_the_first_answers_are_judged_by_no_share(path: Path) -> None:
    """19 answers of a, of which 19 fail, and 19 of b."""
    rounds = FIRST - 1
    with serving(failing(UNREADABLE, 0)) as server:
        limits = models(server.address, "a", "b", fail_over=0)
        record(path, {"rounds": rounds}, "llm:a*1,llm:b,raid", models=limits)

    assert [Failures("a", 19, {"no-json": 19}), Failures("b", 19, {})] == usage(path).failures


def test_too_many_failures_stop_the_run_before_the_next_round_and_count_when_it_goes_on(
    path: Path,
) -> None:
    """Four of ten answers a round fail: 40%, told when 20 are there."""
    with serving(failing(UNREADABLE, 0, 1, 2, 3)) as server:
        limits = models(server.address, fail_over=0.399)
        with pytest.raises(RunStopped) as stopped:
            record(path, {"rounds": 6}, "llm:a*10,raid", models=limits)
        assert ("round 3", "--fail-over") == (stopped.value.unit, stopped.value.option)
        assert "llm:a: 8 of 20 answers unreadable, over 39.9%" == stopped.value.limit
        asked = len(server.asked)
        with pytest.raises(RunStopped, match="round 3: llm:a: 8 of 20 answers"):
            resume(path, models=models(server.address, fail_over=0.3))
        assert asked == len(server.asked)
        resume(path, models=models(server.address, fail_over=0.4))

    assert verify(path).finished
    assert [Failures("a", 60, {"no-json": 24})] == usage(path).failures


# --- what is told ---


def test_the_first_answer_that_is_cut_off_is_told_with_the_limit_to_raise(path: Path) -> None:
    lines: list[str] = []
    with serving(failing(CUT, 0, 2)) as server:
        limits = models(server.address, "a", "b", warn=lines.append)
        record(path, {"rounds": 3}, "llm:a*2,llm:b,raid", models=limits)

    told = [line for line in sorted(lines) if "cut off at 500 tokens; raise max_tokens" in line]
    assert ["llm:a", "llm:b"] == [line[:5] for line in told]
    assert 2 == sum("counts 100 tokens in a question of about " in line for line in lines)


# --- what is summed up ---


def test_failures_are_counted_by_model_and_kind(path: Path) -> None:
    kinds = list(FAILED)

    def respond(asked: Asked) -> Reply:
        return FAILED[kinds[asked.agent]] if (asked.agent or 0) < 5 else playing(asked)

    with serving(respond) as server:
        limits = models(server.address, "a", "b")
        record(path, {"rounds": 2}, "llm:a*3,llm:b*4,raid", models=limits)
    a, b = usage(path).failures

    assert Failures("a", 6, {"no-answer": 2, "cut": 2, "refusal": 2}) == a
    assert Failures("b", 8, {"no-json": 2, "no-action": 2}) == b
    assert "llm:a: 6 of 6 answers failed: 2 missing, 2 cut off, 2 refused" == str(a)
    assert [True, False] == [a.hardly_played, b.hardly_played]


def test_a_plan_that_is_too_long_is_none_of_the_failures() -> None:
    errors = ["overflow", None, "a code of somebody's own"]

    assert [Failures("x", 3, {})] == merge_failures(Failures.of("x", error) for error in errors)
    assert [None] * 3 == list(map(failure_kind, errors))
