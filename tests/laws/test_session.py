"""The session: the short path of scripted agents and the long one are the same, what arrived
together is one commit, and nobody but models and people commits early.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.agents.llm import asker
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.versions import decided
from goldrush.agents.players import RunContext
from goldrush.agents.roster import Entry, Roster
from goldrush.agents.session import Session, asked_again
from goldrush.agents.simultaneous import StepPlay
from goldrush.agents.worlds.competition.play import ANSWERED
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.roster import POLICIES, PROMPT
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, Commit, JournalReader
from goldrush.kernel.run import rest_of
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.journal.verify import verify
from tests.faults.journals import small
from tests.journals import commits_of, write
from tests.laws.test_interrupts import Game, Outside, run, season
from tests.mining import prepare

ROSTER = "raid,llm:a*3,human,random"
CAST = ("ada=llm:a", "ben=llm:a", "cleo=llm:a", "judge=human")
PLAYED = {"mining": run(ROSTER), "competition": season(CAST)}


@given(st.lists(st.sampled_from(sorted(POLICIES)), min_size=1, max_size=6), st.integers(0, 999))
def test_the_short_path_gives_the_inputs_of_the_long_one(names: list[str], seed: int) -> None:
    """When a run is recorded, and when its agents are asked again."""
    config, roster = prepare({"rounds": 4, "seed": seed}, ",".join(names))
    setup = {"config": config.as_dict(), "roster": roster.as_setup()}
    state = MINING.initial(setup)
    entries = roster.entries
    policies = {e.agent: (e, MINING_PLAYERS.policy_set.factory_of(e, roster)()) for e in entries}

    def play_of(state: MiningState) -> StepPlay[Any]:
        play = MINING_PLAYERS.play(state, policies, entries)
        assert play is not None
        return play

    brief = MINING_PLAYERS.session(roster, RunContext(state))
    long = Session(MINING, play_of, RunContext(state))
    check = MINING_PLAYERS.roster_check(Roster(entries))
    assert check.ask is not None
    while not MINING.ended(state):
        short = brief(state)
        assert isinstance(short, list)
        inputs = Block(short)
        others = [
            rest_of(long(state), lambda batches: None),
            asked_again(play_of(state), inputs),
            check.ask(state, inputs),
        ]

        assert [inputs.packed] * 3 == [MINING.arrange(Block(one)).packed for one in others]
        derived = Block(MINING.decide(state, inputs))
        state = MINING.close(MINING.evolve(MINING.evolve(state, inputs), derived))


class Together(Outside):
    """All answers to questions that were asked together arrive together."""

    def together(
        self, questions: Sequence[Any], budget: object, unit: str = ""
    ) -> Iterator[list[Any]]:
        yield [(index, self.answer(question)) for index, question in enumerate(questions)]


@pytest.fixture(params=PLAYED)
def game(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Game:
    outside = Together(0)
    monkeypatch.setattr(asker, "Client", lambda concurrency, warn: outside)
    return Game(PLAYED[request.param], outside)


def test_what_arrived_together_is_one_commit(game: Game, path: Path) -> None:
    game.record(path)
    early = [c.blocks[-1] for c in commits_of(path) if c.kind == UNIT and c.digest is None]
    sizes = [len(block.rows(answers_of(path))) for block in early]

    assert 3 == max(sizes), "the answers of three models"
    assert 1 == min(sizes), "the answer of a person"


def test_inputs_of_scripted_agents_among_those_committed_early_are_found_and_refused(
    game: Game, tmp_path: Path
) -> None:
    """Whatever else is there: some answers, or all of the step, or none."""
    path, forged = tmp_path / "run.journal", tmp_path / "forged.journal"
    game.record(path)
    commits = commits_of(path)
    with JournalReader(path) as reader:
        header = reader.header
    count = 0
    for at, commit in enumerate(commits):
        is_rest = commit.kind == UNIT and commit.digest is not None
        if not is_rest or not commit.blocks[0].batches:
            continue
        rows = [(code, row) for code, rows in commit.blocks[0] for row in rows]
        first = next(n for n in range(at, 0, -1) if commits[n - 1].unit != commit.unit)
        for kept in {first, (first + at) // 2, at}:
            for code, row in rows:
                piece = Commit(UNIT, commit.unit, None, [Block([(code, [row])])])
                before = [_copied(one) for one in commits[:kept]]
                write(forged, [*before, piece], header)
                broken = verify(forged).broken

                assert 4 == broken.level
                with pytest.raises(BadInput, match="not what its agents submit"):
                    game.resume(forged)
                count += 1
    assert count


def test_a_step_left_open_is_asked_again_up_to_its_last_answer(game: Game, tmp_path: Path) -> None:
    """Scripts are not told of answers that have not arrived yet."""
    path, cut = tmp_path / "run.journal", tmp_path / "cut.journal"
    game.record(path)
    for commit in commits_of(path)[:-1]:
        cut.write_bytes(path.read_bytes()[: commit.end])
        verdict = verify(cut)

        assert (None, 4) == (verdict.broken, verdict.level)


def test_an_early_row_of_a_policy_that_is_not_trusted_is_found_without_it(tmp_path: Path) -> None:
    forged, sound = tmp_path / "forged.journal", small()
    closing = sound.commits[sound.closing(2)]
    row = closing.blocks[0].rows(SUBMITTED)[2]
    before = [_copied(commit) for commit in sound.commits[: sound.closing(2)]]
    write(forged, [*before, Commit(UNIT, closing.unit, None, [Block([(SUBMITTED, [row])])])])

    broken = verify(forged).broken

    assert "only answers of models and people" in broken.expected
    assert '"agent": 2' in broken.found
    assert "a policy must keep" not in str(broken)


def answers_of(path: Path) -> int:
    """The code of the event of an answer from outside."""
    with JournalReader(path) as reader:
        return SUBMITTED if reader.header.world == MINING.name else ANSWERED


def _copied(commit: Commit) -> Commit:
    return Commit(commit.kind, commit.unit, commit.digest, commit.blocks, commit.setup)


def test_a_model_whose_prompt_has_another_version_is_not_asked() -> None:
    config, roster = prepare({})
    model = decided(Model("a", "a"), replace(PROMPT, number=99))
    roster = Roster([Entry(0, "llm", model.as_options()), *roster.entries[1:]])
    state = MINING.initial({"config": config.as_dict(), "roster": roster.as_setup()})
    with pytest.raises(BadInput, match="asked with version 99 of the prompt"):
        MINING_PLAYERS.start_agents(RunContext(state))
