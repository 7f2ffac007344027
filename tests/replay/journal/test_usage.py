"""What models took, told from the journal, against what the server counted."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.llm.question import AROUND_MAX, REPORTED_MAX, Amount
from goldrush.agents.llm.usage import earlier_in
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.roster import PROMPT_MAX
from goldrush.kernel.journal import UNIT, Commit, JournalReader
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.usage import Taken, asked_by, usage
from tests.journals import commits_of, write
from tests.llm.runs import models, text_of
from tests.llm.servers import Asked, Reply, completion, error, serving
from tests.mining import fork, record
from tests.quick_disk import syncing

ROSTER = "llm:a,llm:a[sample=2],raid,llm:b*2"
AGENTS = {0: "a", 1: "a", 3: "b", 4: "b"}
LABELS = {**AGENTS, 1: "a[sample=2]"}
QUESTION_MAX = PROMPT_MAX + AROUND_MAX
PRICES = {"a": (1.0, 10.0), "b": (2.0, 0.0)}

assert MINING_PLAYERS.answers is not None
ANSWERS = MINING_PLAYERS.answers


def counts(round: int, agent: int) -> tuple[int, int]:
    return 100 * round + agent, 10 * round + 2 * agent


def respond(asked: Asked) -> Reply:
    """Agent 1 gets no answer in round 2; those of agent 3 in round 3 are not counted."""
    at = asked.round or 0, asked.agent or 0
    if at == (2, 1):
        return error(400)
    usage = {(3, 3): None, (4, 3): {"prompt_tokens": 5}}.get(at, counts(*at))
    return completion("no" if at == (1, 4) else text_of(at[1], at[0]), usage=usage)


COUNTED = {(r, a): counts(r, a) for r in range(1, 5) for a in AGENTS}
for missing in ((2, 1), (3, 3)):
    del COUNTED[missing]
COUNTED[4, 3] = (5, 0)  # only half of it was counted


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("usage")
    with serving(respond) as server, syncing():
        chosen = models(server.address, "a", "b", concurrency=1)
        record(folder / "run", {"rounds": 4}, ROSTER, models=chosen)
        fork(folder / "run", 3, folder / "fork", roster="llm:b,raid*4", models=chosen)
        record(folder / "scripted", {"rounds": 2}, "raid*2")
        yield folder


def sums(pairs: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(a for a, _ in pairs), sum(b for _, b in pairs)


def of(taken: Taken) -> tuple[int, int]:
    return taken.tokens_in, taken.tokens_out


def test_the_total_is_what_the_server_counted_and_the_same_by_agent(
    folder: Path,
) -> None:
    found = usage(folder / "run", PRICES)

    assert sums(list(COUNTED.values())) == of(found.total)
    assert (16, 2, 16) == (found.total.answers, found.total.uncounted, found.total.tries)
    assert {"no-answer": 1, "no-json": 1} == found.total.errors
    assert list(LABELS.items()) == [(agent, model) for agent, model, _ in found.agents]
    for agent, _, taken in found.agents:
        assert sums([n for (_, a), n in COUNTED.items() if a == agent]) == of(taken)
        assert 4 == taken.answers
    parts = [taken for *_, taken in found.agents]
    assert of(found.total) == sums([of(taken) for taken in parts])
    assert found.total.uncounted == sum(taken.uncounted for taken in parts)
    assert found.total.cost == pytest.approx(sum(taken.cost or 0.0 for taken in parts))


def test_it_costs_what_the_prices_say(folder: Path) -> None:
    expected = {
        model: sum(
            n[0] * PRICES[model][0] + n[1] * PRICES[model][1]
            for (_, agent), n in COUNTED.items()
            if AGENTS[agent] == model
        )
        / 1e6
        for model in PRICES
    }
    whole = usage(folder / "run", PRICES)
    half = usage(folder / "run", {"b": PRICES["b"]})

    assert expected["a"] + expected["b"] == pytest.approx(whole.total.cost)
    assert expected["b"] == pytest.approx(sum(t.cost or 0 for _, m, t in half.agents if m == "b"))
    assert None is half.total.cost


@pytest.mark.parametrize(("count", "torn"), [(1, 25), (3, 0), (4, 25)])
def test_answers_of_a_round_left_open_count_and_a_torn_one_does_not(
    folder: Path, tmp_path: Path, count: int, torn: int
) -> None:
    inside = [c for c in commits_of(folder / "run") if c.unit == 3]
    cut = tmp_path / "cut"
    cut.write_bytes((folder / "run").read_bytes()[: inside[count - 1].end + torn])
    found = usage(cut)
    there = list(AGENTS)[:count]
    expected = [n for (r, a), n in COUNTED.items() if r < 3 or (r == 3 and a in there)]

    assert sums(expected) == of(found.total)
    assert 8 + count == found.total.answers


def test_a_fork_counts_what_its_parent_took_before_it_too(folder: Path) -> None:
    found = usage(folder / "fork")
    with JournalReader(folder / "fork") as reader:
        behind = [one for one in asked_by(reader) if one.forks]

    assert [("b", 4, 0)] == [(one.asked.longest.name, one.unit, one.answer.agent) for one in behind]
    assert 12 + 1 == found.total.answers
    assert {(0, "a"), (0, "b"), (1, LABELS[1]), (3, "b"), (4, "b")} == {
        (agent, model) for agent, model, _ in found.agents
    }
    assert sums([n for (r, _), n in COUNTED.items() if r < 4] + [counts(4, 0)]) == of(found.total)


@pytest.mark.parametrize(
    ("source", "counted"),
    [
        ({"tokens_in": -1, "tokens_out": 3}, (0, 3)),
        ({"tokens_in": "9", "tokens_out": True}, (0, 0)),
        ({"tokens_in": REPORTED_MAX + 1, "tokens_out": REPORTED_MAX}, (0, REPORTED_MAX)),
    ],
)
def test_what_is_no_count_is_uncounted(
    folder: Path, tmp_path: Path, source: dict[str, Any], counted: tuple[int, int]
) -> None:
    start, first, *_ = commits_of(folder / "run")
    [row] = first.blocks[0].rows(0)
    forged = Commit(UNIT, 1, None, [Block([(0, [(*row[:5], source)])])])
    found = usage(write(tmp_path / "forged", [start, forged])).total

    assert (1, 1, counted, 1) == (found.answers, found.uncounted, of(found), found.tries)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"tokens_in": 10**15, "tokens_out": 10**15}, Amount("a", QUESTION_MAX, 500)),
        ({"tokens_out": 9}, Amount("a", QUESTION_MAX, 9)),
        ({}, Amount("a", 0, 0)),
    ],
    ids=["more than anything can take", "no text, but partly counted", "no text, not counted"],
)
def test_what_an_answer_may_have_cost_is_charged(
    folder: Path, tmp_path: Path, answer: dict[str, Any], expected: Amount
) -> None:
    start, first, *_ = commits_of(folder / "run")
    [row] = first.blocks[0].rows(0)
    if "tokens_in" not in answer:
        row = (row[0], (), "no-answer", None, None)
    forged = Commit(UNIT, 1, None, [Block([(0, [(*row[:5], answer)])])])
    with JournalReader(write(tmp_path / "forged", [start, forged])) as reader:
        [earlier] = earlier_in(reader, MINING, ANSWERS, 0)

    assert expected == earlier.charged
