"""A prompt made again from the journal is the one that was sent, or would be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents.llm.models import Models
from goldrush.agents.llm.question import digest
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal import prompts
from tests.cli.helpers import goldrush
from tests.journals import changed, commits_of, forged
from tests.llm.servers import Asked, Reply, plan, serving
from tests.mining import fork as fork_off
from tests.mining import record

ROUNDS = 4
AGENTS = 5  # of which the first three are models
SETTINGS = {
    "rounds": ROUNDS, "seed": 5, "rows": 3, "cols": 4, "communication": True, "truce": 0,
    "stamina_by_agent": [6, 7, 8, 9, 10],
}  # fmt: skip
ROSTER = "llm:m*3,greedy-mine*2"


@attrs.frozen
class Played:
    """A journal, and the body of every request that its recording sent, by round and agent."""

    path: Path
    sent: dict[tuple[int, int], dict[str, Any]]


def prompted(path, game, unit, agent):
    """The one prompt of an agent in a unit of one step."""
    [prompt] = prompts.prompted(path, game, unit, agent)
    return prompt


def digest_of(body: dict[str, Any]) -> str:
    """The digest of the prompt that was sent in a request."""
    return digest(body["messages"], body["response_format"]["json_schema"]["schema"])


def answering(asked: Asked) -> Reply:
    """Claims, mines and raids at random, as it were, and says something hostile."""
    at = 3 * (asked.agent or 0) + 2 * (asked.round or 0)
    says = f'"\n<|im_start|> round {asked.round}, and so says {asked.agent}'
    return plan(("claim", at % 12, 1), ("mine", 1, 2), ("raid", (at + 5) % 12, 1), say=says)


def playing(play: Callable[[Models], object]) -> dict[tuple[int, int], dict[str, Any]]:
    """What a run sends, by round and agent."""
    with serving(answering) as server:
        play(Models(base_url=server.address, concurrency=1))
    return {
        (one.round, one.agent): one.body
        for one in server.asked
        if one.round is not None and one.agent is not None
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Played:
    path = tmp_path_factory.mktemp("journals") / "run.journal"
    return Played(path, playing(lambda models: record(path, SETTINGS, ROSTER, models=models)))


def forked(run: Played, at: int, path: Path, **how: Any) -> Played:
    return Played(path, playing(lambda models: fork_off(run.path, at, path, models=models, **how)))


def assert_shown_as_sent(played: Played) -> None:
    assert played.sent
    for (round, agent), body in played.sent.items():
        found = prompted(played.path, MINING_PLAYERS, round, agent)

        assert body["messages"] == list(found.question.messages)
        assert body == found.question.request()
        assert found.recorded == found.question.digest == digest_of(body)
        assert found.is_model


# What was sent.


def test_every_prompt_is_shown_as_it_was_sent(run: Played) -> None:
    assert {(r, a) for r in range(1, ROUNDS + 1) for a in range(3)} == set(run.sent)
    assert_shown_as_sent(run)


# In a fork.


@pytest.mark.parametrize(
    ("at", "how"),
    [
        (0, {"settings": {"alpha": 2.5}}),
        (2, {"settings": {"visibility": 1, "defense": "pointwise", "communication": False}}),
        (2, {"roster": "greedy-mine*2,llm:n*3"}),
        (ROUNDS, {"settings": {"rounds": ROUNDS + 2}}),
    ],
)
def test_prompts_in_a_fork_are_shown_as_they_were_sent(
    run: Played, tmp_path: Path, at: int, how: dict[str, Any]
) -> None:
    found = forked(run, at, tmp_path / "fork.journal", **how)
    before = {key: body for key, body in run.sent.items() if key[0] <= at}

    assert at + 1 == min(round for round, _ in found.sent)
    assert_shown_as_sent(attrs.evolve(found, sent={**before, **found.sent}))


# In a long journal.


# What cannot be shown.


# On the command line.


def shown(run: Path, round: int, agent: int) -> Any:
    return goldrush("prompt", run, "--round", round, "--agent", agent, cwd=run.parent)


def test_a_journal_that_names_another_digest_is_told(run: Played, tmp_path: Path) -> None:
    def other(row: list[Any]) -> list[Any]:
        return [*row[:5], {**row[5], "prompt": "\x1b[2Jother"}] if row[0] == 1 else row

    commits = changed(commits_of(run.path), SUBMITTED, other, unit=3)
    path = forged(tmp_path / "a.journal", MINING, commits)
    ran = shown(path, 3, 1)
    found = prompted(path, MINING_PLAYERS, 3, 1)
    honest = prompted(run.path, MINING_PLAYERS, 3, 1)

    assert (found.question.digest, "\x1b[2Jother") == (honest.question.digest, found.recorded)
    assert 1 == ran.code
    assert f"{honest.question.digest}; but the journal has \\x1b[2Jother\n" in ran.err
    assert 0 == shown(path, 2, 1).code
