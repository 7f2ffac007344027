"""Mining runs in which language models play, against a server of the tests."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.players import Resources
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.errors import BadInput, MalformedEvents, PolicyFailed, RunStopped
from goldrush.kernel.journal import UNIT, Commit, JournalReader
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining.events import KINDS
from goldrush.replay.estimate import estimate
from goldrush.replay.journal.usage import asked_by, usage
from goldrush.replay.journal.verify import verify
from tests import golden
from tests.journals import commits_of, progress, write
from tests.llm.runs import arriving, bytes_in, models, pairs, playing, rows_in, text_of, told
from tests.llm.servers import (
    Asked,
    Reply,
    Server,
    closed_port,
    completion,
    error,
    reply,
    serving,
)
from tests.mining import fork, prepare, record, resume
from tests.quick_disk import syncing

SOURCE = ["model", "prompt", "raw", "tokens_in", "tokens_out", "tries"]  # of every answer
SHORT = {"rounds": 4, "seed": 3}
MIXED = "llm:a*2,greedy-mine,llm:b,raid*2"
MODELS = {0, 1, 3}  # who are models in it


@pytest.fixture(autouse=True, scope="module")
def quick_disk() -> Iterator[None]:
    """That a run waits for the disk is a test of its own; the others need not."""
    with syncing():
        yield


@pytest.fixture
def server() -> Iterator[Server]:
    with serving(playing) as told:
        yield told


def test_models_are_asked_once_a_round_and_what_they_write_is_what_they_play(
    server: Server, path: Path
) -> None:
    record(path, SHORT, MIXED, models=models(server.address, "a", "b"))
    everybody = {(round, agent) for round in range(1, 5) for agent in MODELS}

    assert sorted(everybody) == sorted(pairs(server.asked))
    for (round, agent), row in rows_in(path).items():
        plan = json.loads(text_of(agent, round))["actions"]

        assert [(KINDS.index(kind), plot, k) for kind, plot, k in plan] == list(row[1])
        assert (None, None, None) == row[2:5]
        assert SOURCE == list(row[5])[: len(SOURCE)]
        assert ("test-1", text_of(agent, round), len(text_of(agent, round)), 1) == tuple(
            row[5][name] for name in ("model", "raw", "tokens_out", "tries")
        )
    verdict = verify(path)

    assert (None, 4, True) == (verdict.broken, verdict.level, verdict.finished)


def test_what_models_did_is_played_by_recordings_beside_other_models(
    server: Server, tmp_path: Path
) -> None:
    first, path = tmp_path / "first.journal", tmp_path / "second.journal"
    record(first, SHORT, "llm:a*3,raid*3", models=models(server.address))
    server.asked.clear()
    roster = f"recorded:{first}*2,llm:a*2,random,recorded:{first}"
    record(path, SHORT, roster, models=models(server.address))
    before, after = rows_in(first), rows_in(path, models_only=False)

    assert {2, 3} == {asked.agent for asked in server.asked}
    assert [before[r, 1][1] for r in range(1, 5)] == [after[r, 1][1] for r in range(1, 5)]
    assert verify(path, resources=Resources(sources=[str(first)])).holds
    without = verify(path)
    assert (True, ("recorded (3 agents)",)) == (without.holds, without.not_asked), "believed"


def test_a_run_of_another_version_of_the_prompt_goes_on_with_other_agents_alone(
    server: Server, tmp_path: Path
) -> None:
    cut, new = tmp_path / "cut.journal", tmp_path / "new.journal"
    whole = golden.path_of(golden.MODELS)  # its models were asked with the first version
    cut.write_bytes(whole.read_bytes()[: [c for c in commits_of(whole) if c.unit == 2][-1].end])
    known = models(server.address)
    with pytest.raises(BadInput, match=r"version 1 .* asks with version 3"):
        resume(cut, models=known)
    with pytest.raises(BadInput, match=r"version 1 .* asks with version 3"):
        fork(whole, 2, new, models=known)
    fork(whole, 2, new, roster="llm:a*4,raid", models=known)

    assert 16 == len(server.asked)
    assert verify(new).holds is None
    assert verify(new, 3).holds


ACTION = '{"actions": [["claim", 5, 1]]}'
CLAIMED = ((KINDS.index("claim"), 5, 1),)
MANY = json.dumps({"actions": [["claim", n % 100, 1] for n in range(1_001)]})
MANY_ACTIONS = tuple((KINDS.index("claim"), n % 100, 1) for n in range(1_000))
# What a server sends: the error, the plan and the text that are recorded of it.
ANSWERS: dict[str, tuple[Reply, str | None, tuple[Any, ...], str | None]] = {
    "a plan": (completion(ACTION), None, CLAIMED, ACTION),
    "words": (completion("I pass."), "no-json", (), "I pass."),
    "a refusal": (completion(None, refusal="No."), "refusal", (), "No."),
    "a refusal with a plan": (completion(ACTION, "content_filter"), "refusal", (), ACTION),
    "cut before a plan": (completion('{"actions": [[', "length"), "cut", (), '{"actions": [['),
    "cut behind a plan": (completion(ACTION + " and", "length"), None, CLAIMED, ACTION + " and"),
    "too many actions": (completion(MANY), "overflow", MANY_ACTIONS, MANY),
    "no text": (completion(None), "no-answer", (), None),
    "no server": (error(500), "no-answer", (), None),
}  # fmt: skip


def test_whatever_a_server_does_is_recorded_and_the_run_goes_on(path: Path) -> None:
    """One agent for each; in the second round all have a plan."""
    kinds = list(ANSWERS)

    def respond(asked: Asked) -> Reply:
        first = asked.round == 1 and asked.agent is not None and asked.agent < len(kinds)
        return ANSWERS[kinds[asked.agent or 0]][0] if first else playing(asked)

    lines: list[str] = []
    with serving(respond) as server:
        limits = models(server.address, warn=lines.append, record_failures=True)
        record(path, {"rounds": 2}, f"llm:a*{len(kinds)},greedy-mine", models=limits)
    rows = rows_in(path)
    found = {
        kind: (rows[1, agent][2], tuple(rows[1, agent][1]), rows[1, agent][5]["raw"])
        for agent, kind in enumerate(kinds)
    }

    assert {kind: tuple(expected) for kind, (_, *expected) in ANSWERS.items()} == found
    assert {None} == {row[2] for (round, _), row in rows.items() if round == 2}
    counted = {"no-answer": 2, "cut": 1, "no-json": 1, "refusal": 2, "overflow": 1}
    assert counted == usage(path).total.errors
    [cut, context] = [line for line in lines if "was cut off" in line or "num_ctx" in line]
    assert all(line.startswith("round 1: no answer for ") for line in {*lines} - {cut, context})
    assert verify(path).holds


def test_nobody_is_asked_before_a_scripted_agent_that_fails(
    server: Server, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "failing.py").write_text(
        "class Late:\n"
        "    def plan(self, seen, draws):\n"
        "        return [] if seen.round < 3 else 1 / 0\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PolicyFailed, match="round 3"):
        record(path, SHORT, "llm:a*2,failing:Late", models=models(server.address))

    assert {1, 2} == {asked.round for asked in server.asked}
    assert (2, 0) == progress(path)


# --- runs that stop ---


def spent(path: Path) -> int:
    total = usage(path).total
    return total.tokens_in + total.tokens_out


CEILINGS: dict[str, Callable[[int], dict[str, Any]]] = {
    "max_tokens": lambda tokens: {"max_tokens": tokens},
    "max_cost": lambda tokens: {"max_cost": tokens / 1e6, "price_in": 1.0, "price_out": 1.0},
}


@pytest.mark.parametrize("kind", CEILINGS)
def test_a_run_stops_before_a_ceiling_is_passed_and_goes_on_under_a_higher_one(
    server: Server, tmp_path: Path, kind: str
) -> None:
    free = tmp_path / "free.journal"
    record(free, SHORT, "llm:a*3,raid", models=models(server.address))
    whole = spent(free)
    path, ceiling = tmp_path / "run.journal", int(0.7 * whole)
    limits = models(server.address, tokens=200, **CEILINGS[kind](ceiling))
    server.asked.clear()
    with pytest.raises(RunStopped, match=f"--{kind.replace('_', '-')}") as stopped:
        record(path, SHORT, "llm:a*3,raid", models=limits)
    rounds, waiting = progress(path)

    assert (f"round {rounds + 1}", 0) == (stopped.value.unit, waiting)
    assert 0 < rounds < 4
    assert 3 * rounds == len(server.asked)
    assert spent(path) <= ceiling
    resume(path, models=models(server.address, **CEILINGS[kind](2 * whole)))
    assert 12 == len(server.asked)
    assert whole == spent(path)


THOUGHT = "so " * 60_000


@pytest.mark.parametrize(
    ("tokens", "thought", "warning", "known"),
    [
        (40_000, "", "an answer has 40,000 tokens, over", 40_000),
        (20, THOUGHT, "an answer has 45,003 tokens, by its size", 4_099),
        (None, THOUGHT, "by its size (its server reports none, or too few), over", 4_099),
    ],
)
def test_a_ceiling_holds_where_a_server_ignores_the_limit_of_an_answer(
    tmp_path: Path, tokens: int | None, thought: str, warning: str, known: int
) -> None:
    """`known`: the tokens of an answer as a resumed run counts it, of what the journal keeps."""
    usage = {"prompt_tokens": 100, "completion_tokens": tokens}
    sent = reply('{"actions": []}', {"reasoning_content": thought}, usage=usage)
    told: list[str] = []
    with serving(lambda asked: sent) as server:
        limited = models(server.address, max_tokens=60_000, warn=told.append)
        with pytest.raises(RunStopped, match=r"at round 2.*--max-tokens"):
            record(tmp_path / "run", SHORT, "llm:a*2", models=limited)
        assert 2 == len(server.asked)
        left = models(server.address, max_tokens=2 * (100 + known) + 7)
        with pytest.raises(RunStopped, match=rf"at round 2.* 7 of {left.max_tokens:,} are left"):
            resume(tmp_path / "run", models=left)

    assert 2 == len(server.asked)
    assert 1 == sum(warning in line for line in told), told
    assert verify(tmp_path / "run").holds


def test_a_fork_counts_under_its_ceiling_only_what_it_asked_itself(
    server: Server, tmp_path: Path
) -> None:
    parent, out = tmp_path / "parent.journal", tmp_path / "fork.journal"
    record(parent, {"rounds": 8, "seed": 3}, "llm:a*3,raid", models=models(server.address))
    with JournalReader(parent) as reader:
        of_two = sum(one.amount.tokens for one in asked_by(reader) if one.unit > 6)
    limits = models(server.address, tokens=200, max_tokens=of_two + 6_000)
    server.asked.clear()
    fork(parent, 6, out, models=limits)
    cut = tmp_path / "cut.journal"
    whole = [c.end for c in commits_of(out) if c.unit == 7 and c.digest is not None]
    cut.write_bytes(out.read_bytes()[: whole[0]])
    resume(cut, models=limits)

    assert spent(parent) > of_two + 6_000
    assert Counter(pairs(server.asked)) == Counter(
        [(7, a) for a in range(3)] + 2 * [(8, a) for a in range(3)]
    )
    assert told(out) == told(cut)


# --- rounds left open ---


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose answers came backwards."""
    path = tmp_path_factory.mktemp("runs") / "recorded.journal"
    with serving(arriving(path, lambda _: [3, 1, 0])) as server:
        record(path, SHORT, MIXED, models=models(server.address, "a", "b"))
    return path


def waiting(*rows: Any) -> list[Commit]:
    return [Commit(UNIT, 1, None, [Block([row])]) for row in rows]


def submission(agent: object, *, source: object = None) -> tuple[int, list[Any]]:
    return (0, [(agent, (), None, None, None, source)])


@pytest.mark.parametrize(
    ("commits", "says"),
    [
        (waiting(submission(1), submission(1)), "not of different agents of the step"),
        (waiting(submission("0")), "integer >= 0 expected"),
        (waiting(submission(0), submission(5)), "is not what its agents submit"),
        (waiting((2, [(1, (0,), 0, ())])), "claim_drawn among inputs"),
        (waiting(submission(0, source={"raw": float("nan")})), "map of names to plain values"),
    ],
)
def test_forged_answers_that_wait_are_refused_before_anybody_is_asked(
    recorded: Path, server: Server, path: Path, commits: list[Commit], says: str
) -> None:
    write(path, [commits_of(recorded)[0], *commits])
    before = path.read_bytes()
    with pytest.raises((BadInput, MalformedEvents), match=says):
        resume(path, models=models(server.address, "a", "b"))

    assert ([], before) == (server.asked, path.read_bytes())


# --- forks ---


def test_a_submission_put_in_by_hand_is_not_asked_for(
    recorded: Path, tmp_path: Path, server: Server
) -> None:
    out = tmp_path / "fork.journal"
    by_hand = [
        {"round": 3, "agent": 1, "actions": [["claim", 7, 1]]},
        *({"round": 4, "agent": agent, "actions": []} for agent in MODELS),
    ]
    fork(recorded, 2, out, replace=by_hand, models=models(server.address, "a", "b"))

    assert [(3, 0), (3, 3)] == sorted(pairs(server.asked))
    assert ((KINDS.index("claim"), 7, 1),) == rows_in(out, models_only=False)[3, 1][1]
    assert verify(out).holds


@pytest.mark.parametrize(("roster", "force"), [(None, False), ("llm:a*6", True)])
def test_no_model_is_asked_where_a_fork_cannot_be_written(
    recorded: Path, tmp_path: Path, server: Server, roster: str | None, force: bool
) -> None:
    out = tmp_path / "fork.journal"
    out.symlink_to(recorded) if force else out.write_text("precious")
    greeted = server.greeted
    with pytest.raises(BadInput, match=r"fork\.journal"):
        fork(recorded, 2, out, roster=roster, force=force, models=models(server.address, "a", "b"))

    assert (greeted, []) == (server.greeted, server.asked)


# --- before a run ---


def test_an_estimate_asks_nobody_and_counts_every_question(server: Server, tmp_path: Path) -> None:
    chosen = models(server.address, "a", "b", price_in=1.0, price_out=2.0)
    run = MINING_PLAYERS.prepared(*prepare({"rounds": 50}, MIXED, models=chosen))
    a, b = estimate(MINING_PLAYERS, run, Resources(models=chosen))

    assert ([], []) == (server.asked, list(tmp_path.iterdir()))
    assert [("a", 100, 50_000), ("b", 50, 25_000)] == [
        (one.model, one.questions, one.most_out) for one in (a, b)
    ]
    assert (a.most_in + 2 * a.most_out) / 1e6 == a.most_cost
    unpriced = estimate(MINING_PLAYERS, run, Resources(models=models(server.address, "a", "b")))
    assert None is unpriced[0].most_cost
    nobody = MINING_PLAYERS.prepared(*prepare({}, "raid"))
    assert [] == estimate(MINING_PLAYERS, nobody, Resources(models=chosen))


def talkative(asked: Asked) -> Reply:
    """Plays as much as it can, all over the map, and says as much as it may."""
    round, agent = asked.round or 0, asked.agent or 0
    first = [["claim", (17 * agent + n) % 100, 1] for n in range(10)]
    chance = random.Random(f"{round} {agent}")
    later = [
        [chance.choice(["claim", "raid", "raid", "defend"]), chance.randrange(100), 1]
        for _ in range(40)
    ]
    text = json.dumps({"actions": first if round == 1 else later, "say": "\u00e9" * 280})
    return completion(text, usage=(bytes_in(asked), 400))


def test_no_run_takes_more_than_was_estimated(path: Path, server: Server) -> None:
    server.respond = talkative
    chosen = models(server.address)
    settings = {"rounds": 15, "seed": 3}
    run = MINING_PLAYERS.prepared(*prepare(settings, "llm:a*5,raid*2", "history-all", chosen))
    [most] = estimate(MINING_PLAYERS, run, Resources(models=chosen))
    record(path, settings, "llm:a*5,raid*2", "history-all", models=chosen)
    total = usage(path).total

    assert most.questions == total.answers == len(server.asked)
    assert total.tokens_in <= most.most_in
    assert total.tokens_out <= most.most_out


# --- going on with another server ---


def test_a_server_that_is_not_there_is_told_before_a_run_goes_on_unless_nobody_is_left_to_ask(
    recorded: Path, tmp_path: Path
) -> None:
    cut = tmp_path / "cut.journal"
    nowhere = models(f"http://127.0.0.1:{closed_port()}/v1", "a", "b", tries=1)
    *missing, all_there = [c.end for c in commits_of(recorded) if c.unit in (3, 4)][3:7]
    for end in missing:
        cut.write_bytes(before := recorded.read_bytes()[:end])
        with pytest.raises(BadInput, match="does not answer: ConnectError"):
            resume(cut, models=nowhere)
        assert before == cut.read_bytes()
    cut.write_bytes(recorded.read_bytes()[:all_there])
    resume(cut, models=nowhere)

    assert recorded.read_bytes() == cut.read_bytes()


# --- how a server wants to be asked ---
