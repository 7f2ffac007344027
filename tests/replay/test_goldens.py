"""The golden journals: every treatment has one, each holds at every level and is made anew."""

from pathlib import Path

import pytest

from agents.mining import record
from kernel.mining.treatments import TREATMENTS
from replay.verify import verify
from tests.golden import FOLDER, FORKED, SETTINGS, fork_baseline, path_of


def test_every_treatment_and_a_fork_have_a_golden_journal_and_no_other_is_kept() -> None:
    kept = {path.stem for path in FOLDER.glob("*.journal")}

    assert kept == {*TREATMENTS, FORKED}


@pytest.mark.parametrize("name", [*TREATMENTS, FORKED])
def test_a_golden_journal_holds_at_every_level(name: str) -> None:
    verdict = verify(path_of(name))

    assert (verdict.broken, verdict.rounds, verdict.finished) == (None, 20, True)
    assert verdict.not_asked == ()


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_a_golden_journal_is_recorded_again_byte_for_byte(treatment: str, tmp_path: Path) -> None:
    record(tmp_path / "again.journal", SETTINGS, None, treatment)

    assert (tmp_path / "again.journal").read_bytes() == path_of(treatment).read_bytes()


def test_the_golden_fork_is_forked_again_byte_for_byte(tmp_path: Path) -> None:
    fork_baseline(tmp_path / "again.journal")

    assert (tmp_path / "again.journal").read_bytes() == path_of(FORKED).read_bytes()
