"""The golden journals: every treatment has one, each holds at every level and is made anew; those
under rules 1 hold, and are continued and forked as they were.
"""

from pathlib import Path

import pytest
from msgspec.structs import replace

from goldrush.agents import players
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.errors import UnsupportedJournal
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.journal.index import states_near
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify
from goldrush.replay.run import Run
from tests.cli.helpers import goldrush
from tests.golden import (
    FOLDER,
    FORKED,
    MODEL_SEASON,
    MODELS,
    NAMES,
    RULES_1,
    SETTINGS,
    WORDED,
    WORDED_NAMES,
    fork_baseline,
    path_of,
    season_path,
)
from tests.indexes import cache_apart
from tests.mining import prepare, record, resume


def test_every_treatment_a_fork_and_models_have_a_golden_journal_and_no_other_is_kept() -> None:
    for folder in (FOLDER, RULES_1):
        assert NAMES == {path.stem for path in folder.glob("*.journal")}


@pytest.mark.parametrize("folder", [FOLDER, RULES_1], ids=["rules 2", "rules 1"])
@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_golden_journal_holds_at_every_level(name: str, folder: Path) -> None:
    verdict = verify(path_of(name, folder))
    rounds = 6 if name == MODELS else 20

    assert (verdict.broken, verdict.rounds, verdict.finished) == (None, rounds, True)
    assert (verdict.level, verdict.not_asked) == (3 if name == MODELS else 4, ())


@pytest.mark.parametrize(
    ("path", "unit", "agent", "says"),
    [
        (path_of(MODELS, RULES_1), 1, 0, "agent 0 is a model that was asked with version 1"),
        (season_path(MODEL_SEASON), 0, 5, "ada is a model that was asked with version 3"),
    ],
)
def test_what_models_of_an_older_prompt_decided_is_refused_by_name(
    path: Path, unit: int, agent: int, says: str, tmp_path: Path
) -> None:
    ran = goldrush("verify", path, cwd=tmp_path)
    prompts = Run(path).prompts(unit, agent)

    assert (2, True, True) == (ran.code, says in ran.err, "(--level 3)" in ran.err)
    assert verify(path, 3).holds
    assert prompts
    assert all((p.question, p.answer is None) == (None, False) for p in prompts)


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_golden_journal_is_recorded_again_byte_for_byte(treatment: str, tmp_path: Path) -> None:
    record(tmp_path / "again.journal", SETTINGS, None, treatment)

    assert (tmp_path / "again.journal").read_bytes() == path_of(treatment).read_bytes()


@pytest.mark.parametrize("name", WORDED_NAMES)
def test_a_run_with_a_wording_is_recorded_again_byte_for_byte(name: str, tmp_path: Path) -> None:
    kept, again = path_of(name, WORDED), tmp_path / "again.journal"
    WORDED_NAMES[name](again)

    assert kept.read_bytes() == again.read_bytes(), "did a prompt change? see tests/golden.py"
    assert (4, True) == ((verdict := verify(kept)).level, verdict.holds)


@pytest.mark.parametrize("folder", [FOLDER, RULES_1], ids=["rules 2", "rules 1"])
def test_the_golden_fork_is_forked_again_byte_for_byte(folder: Path, tmp_path: Path) -> None:
    fork_baseline(tmp_path / "again.journal", folder)

    assert (tmp_path / "again.journal").read_bytes() == path_of(FORKED, folder).read_bytes()


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_run_under_rules_1_goes_on_under_rules_1(treatment: str, tmp_path: Path) -> None:
    whole = path_of(treatment, RULES_1).read_bytes()
    path = tmp_path / "cut.journal"
    path.write_bytes(whole[: len(whole) // 3])

    resume(path)

    assert path.read_bytes() == whole


def test_a_long_run_under_rules_1_is_reached_from_its_index(tmp_path: Path) -> None:
    path = tmp_path / "long.journal"
    run = MINING_PLAYERS.prepared(*prepare({**SETTINGS, "rounds": 2000}))
    players.record(MINING.under(1), MINING_PLAYERS, path, run)
    folded = rebuild(path, 1900)  # and leaves an index

    with cache_apart():
        apart = rebuild(path, 1900)
    found = rebuild(path, 1900)
    with JournalReader(path) as reader:
        nearest, _ = next(iter(states_near(MINING, reader, 1900)))

    assert nearest.unit > 1000  # so it did not begin at the start
    assert found.state.rules == folded.state.rules == 1
    assert found.digest == folded.digest == apart.digest


def test_rules_that_nobody_knows_are_refused_by_number(tmp_path: Path) -> None:
    path = tmp_path / "later.journal"
    run = MINING_PLAYERS.prepared(*prepare(SETTINGS))
    players.record(replace(MINING, rules=3), MINING_PLAYERS, path, run)

    with pytest.raises(UnsupportedJournal, match="under rules 3"):
        rebuild(path, 20)
