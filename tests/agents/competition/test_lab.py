"""The laboratory plays what would be recorded, and measures what `replay.mining.measured` does."""

from pathlib import Path

import pytest

from goldrush.agents.competition.lab import Lab, played, setting_of
from goldrush.agents.mining.players import record
from goldrush.agents.mining.roster import POLICIES as PLAYED
from goldrush.agents.roster import Roster
from goldrush.kernel.competition import conduct as named
from goldrush.kernel.competition.conduct import OBJECTIVES, Conduct
from goldrush.kernel.competition.config import config_of
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.mining.treatments import TREATMENTS
from goldrush.replay.mining.measured import measure

SIZE = {"test_agents": 5, "test_rounds": 12, "test_seeds": 2}
CONDUCTS: list[tuple[Conduct, str]] = [
    (("greedy-mine", None, 0, "scarce"), "scarce"),
    (("raid", "claim", 3, "truce-0"), "truce-0"),
    (("random", "defend", 5, "authority-punish"), "authority-adjudicate"),
    (("tit-for-tat-raid", "raid", 2, "stamina-mixed"), "stamina-mixed"),
    (("mine", None, 0, "baseline"), "alpha-rich"),
    (("defend-then-mine", "random", 1, "scarce"), "authority-punish"),
]


@pytest.mark.parametrize(("conduct", "treatment"), CONDUCTS)
def test_a_trial_is_the_run_that_would_be_recorded(
    conduct: Conduct, treatment: str, tmp_path: Path
) -> None:
    journal = tmp_path / "run.journal"
    config, entries = setting_of(conduct, treatment, 7, 5, 12)
    record(journal, config.as_dict(), Roster(tuple(entries)))
    with JournalReader(journal) as reader:
        digests = [commit.digest for commit in reader if commit.kind == UNIT]
    measured = measure(journal)

    trial = played(conduct, treatment, 7, 5, 12)

    assert digests[-1] == trial.digest
    assert tuple(measured.of(objective) for objective in OBJECTIVES) == trial.values


@pytest.mark.parametrize(
    ("share", "agents", "few"), [(1, 10, 1), (5, 10, 5), (3, 7, 2), (1, 9, 0), (0, 10, 0)]
)
def test_the_last_agents_play_the_minority(share: int, agents: int, few: int) -> None:
    minority = "raid" if share else None
    _, entries = setting_of(("mine", minority, share, "baseline"), "baseline", 0, agents, 1)

    assert ["mine"] * (agents - few) + ["raid"] * few == [entry.policy for entry in entries]


def test_the_value_is_the_mean_over_the_seeds_in_their_order() -> None:
    lab = Lab(config_of(SIZE))
    conduct = ("raid", "mine", 4, "scarce")
    values = [played(conduct, "scarce", seed, 5, 12) for seed in (3, 9, 4)]

    value, runs = lab.value(conduct, "scarce", "efficiency", (3, 9, 4))

    assert (values[0].values[0] + values[1].values[0] + values[2].values[0]) / 3 == value
    assert tuple((seed, run.digest) for seed, run in zip((3, 9, 4), values, strict=True)) == runs


def test_an_undefined_run_makes_the_value_undefined() -> None:
    lab = Lab(config_of({**SIZE, "test_rounds": 1}))

    assert lab.value(("mine", None, 0, "baseline"), "baseline", "turnover", (1, 2))[0] is None


def test_equal_trials_are_played_once_whatever_is_asked_of_them() -> None:
    lab = Lab(config_of(SIZE))
    for objective in OBJECTIVES:
        lab.value(("mine", None, 0, "scarce"), "scarce", objective, (1, 2))
        lab.value(("mine", None, 0, "baseline"), "scarce", objective, (2,))  # an edge of another

    assert 2 == lab.played


def test_the_names_that_the_kernel_knows_are_those_that_can_be_played() -> None:
    assert tuple(PLAYED) == named.POLICIES
    assert tuple(TREATMENTS) == named.TREATMENTS
