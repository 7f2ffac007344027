"""The golden journals: every treatment has one, each holds at every level and is made anew."""

from pathlib import Path

import pytest

from goldrush.agents.worlds.mining.players import GAME, record
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.prompts import prompted
from goldrush.replay.journal.verify import verify
from tests.golden import FOLDER, FORKED, MODELS, NAMES, SETTINGS, fork_baseline, path_of


def test_every_treatment_a_fork_and_models_have_a_golden_journal_and_no_other_is_kept() -> None:
    kept = {path.stem for path in FOLDER.glob("*.journal")}

    assert kept == NAMES


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_golden_journal_holds_at_every_level(name: str) -> None:
    verdict = verify(path_of(name))
    rounds = 6 if name == MODELS else 20

    assert (verdict.broken, verdict.rounds, verdict.finished) == (None, rounds, True)
    assert (verdict.level, verdict.not_asked) == (4, ())


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_golden_journal_is_recorded_again_byte_for_byte(treatment: str, tmp_path: Path) -> None:
    record(tmp_path / "again.journal", SETTINGS, None, treatment)

    assert (tmp_path / "again.journal").read_bytes() == path_of(treatment).read_bytes()


def test_the_golden_fork_is_forked_again_byte_for_byte(tmp_path: Path) -> None:
    fork_baseline(tmp_path / "again.journal")

    assert (tmp_path / "again.journal").read_bytes() == path_of(FORKED).read_bytes()


def test_the_golden_models_have_talked_and_were_answered_by_a_real_server() -> None:
    submitted = list(log(path_of(MODELS), Query(names=("submitted",))))
    answers = [event for event in submitted if event["agent"] < 3]

    assert 18 == len(answers)
    assert all(event["source"]["raw"] and event["source"]["tokens_in"] for event in answers)
    assert any(event["say"] for event in answers)
    assert any(event["actions"] for event in answers)


@pytest.mark.parametrize("agent", range(3))
@pytest.mark.parametrize("round", range(1, 7))
def test_the_prompts_of_the_golden_models_are_made_again(round: int, agent: int) -> None:
    found = prompted(path_of(MODELS), GAME, round, agent)

    assert found.recorded == found.digest
