"""How mining is studied: the trade-off; treatments that change nothing, against what is played."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel import fold
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.treatments import BASELINE
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import MiningConfig, config_of
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.levelled import levelled
from goldrush.replay.study.inference import correlated
from goldrush.replay.study.records import Cell
from goldrush.replay.worlds.mining import study
from goldrush.replay.worlds.mining.study import trade_offs
from tests.mining import prepare, record
from tests.replay.study.made_up import made, results

ROSTER = "greedy-mine"
ROSTERS = ("random", ROSTER, "tit-for-tat-raid,greedy-mine,defend", "mine,raid,claim")


def config(treatment: str, roster: str, seed: int) -> MiningConfig:
    return prepare({"seed": seed, "rounds": 30}, roster, treatment)[0]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The derived events of a run, by configuration and roster; each is played once."""
    folder = tmp_path_factory.mktemp("runs")

    @cache
    def derived(treatment: str, roster: str, seed: int) -> list[Any]:
        path = folder / f"{treatment}-{roster}-{seed}.journal"
        record(path, {"seed": seed, "rounds": 30}, roster, treatment=treatment)
        return derived_in(path)

    return derived


def derived_in(path: Path) -> list[Any]:
    own = ("run_started", "submitted", "round_closed", "run_ended")
    with JournalReader(path) as reader:
        return [
            (event.name, event.fields)
            for event in fold.events(MINING, reader)
            if event.name not in own
        ]


def same_by_construction(ours: MiningConfig, theirs: MiningConfig, policies: list[str]) -> bool:
    return study.same_by_construction(
        levelled([ours.as_dict()], lambda settings: ()),
        levelled([theirs.as_dict()], lambda settings: ()),
        policies,
    )


def policies(roster: str) -> list[str]:
    return [entry.policy for entry in prepare({"rounds": 1}, roster)[1].entries]


@pytest.mark.parametrize("roster", ROSTERS)
def test_what_is_called_identical_by_construction_is_identical_when_it_is_played(
    roster: str, played: Any
) -> None:
    identical = 0
    for treatment in TREATMENTS:
        if treatment == BASELINE:
            continue
        theirs, ours = (config(name, roster, 0) for name in (BASELINE, treatment))
        if same_by_construction(ours, theirs, policies(roster)):
            identical += 1
            for seed in (0, 1):
                assert played(BASELINE, roster, seed) == played(treatment, roster, seed)
    assert identical


PUNISH = {"authority": "punish"}


@pytest.mark.parametrize(
    ("base", "changes", "policy", "same"),
    [
        ({}, {}, ROSTER, True),
        ({}, {"visibility": "all", "communication": True}, ROSTER, True),
        ({}, {"detection": 0.5, "fine": 9.0}, ROSTER, True),
        ({}, {"truce": 0}, ROSTER, True),
        ({}, {"truce": 0}, "raid", False),  # who raids what nobody owns
        ({}, {"truce": 2}, ROSTER, False),
        ({}, PUNISH, ROSTER, False),
        (PUNISH, {"detection": 0.5}, ROSTER, False),
        (PUNISH, {"fine": 9.0}, ROSTER, False),
        ({}, {"alpha_by_plot": [1.0] * 99 + [2.0]}, ROSTER, False),
        ({}, {"defense": "pointwise", "visibility": 1}, ROSTER, False),
    ],
)
def test_only_settings_that_nobody_looks_at_may_differ(
    base: dict[str, Any], changes: dict[str, Any], policy: str, same: bool
) -> None:
    ours, theirs = config_of({**base, **changes}), config_of(base)

    assert same == same_by_construction(ours, theirs, [policy] * 10)
    assert same == same_by_construction(theirs, ours, [policy] * 10)


@pytest.mark.parametrize("policy", ["llm:a", "recorded", "package.module:Class"])
def test_one_policy_that_may_look_is_enough_not_to_be_identical(policy: str) -> None:
    ours, theirs = config_of({"agents": 10, "visibility": 1}), config_of({"agents": 10})

    assert not same_by_construction(ours, theirs, [ROSTER] * 9 + [policy])
    assert not same_by_construction(theirs, theirs, [policy])


def test_the_trade_off_is_over_the_runs_of_each_roster_and_of_all() -> None:
    figures = [(0.1, 0.5, 0.9), (0.2, 0.4, 0.7), (0.3, 0.2, 0.8), (0.4, 0.3, 0.1)]
    runs = [
        made(Cell(t, roster, 9), seed, run={"turnover": a + shift, "gini": b, "hhi": c})
        for t, shift in (("baseline", 0.0), ("scarce", 0.05))
        for roster in (ROSTER, "random")
        for seed, (a, b, c) in enumerate(figures)
    ]
    found = {one.roster: one for one in trade_offs(results(*runs))}
    turnover = [a for a, _, _ in figures] + [a + 0.05 for a, _, _ in figures]

    assert [None, ROSTER, "random"] == list(found)
    for place, name in ((1, "gini"), (2, "hhi")):
        of = [each[place] for each in figures] * 2
        assert correlated(of, turnover) == getattr(found["random"], name)
    assert (16, 8) == (found[None].gini.n, found[ROSTER].hhi.n)


def test_every_horizon_has_a_trade_off_of_its_own() -> None:
    runs = [made(Cell("baseline", ROSTER, rounds), seed) for rounds in (5, 9) for seed in range(4)]

    assert [(None, 5), (ROSTER, 5), (None, 9), (ROSTER, 9)] == [
        (one.roster, one.rounds) for one in trade_offs(results(*runs))
    ]
