"""The measures of a run: what is worked out by hand, and a second telling of all of them.

`QUARREL` is ten rounds of five plots and three agents in which everything happens that a measure
counts, each figure with its arithmetic beside it. What by hand would be too long is held against
`tests/measures_oracle.py`, which reads nothing but the events.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.duration.survfunc import SurvfuncRight

from goldrush.agents.roster import Entry
from goldrush.kernel import run
from goldrush.kernel.errors import DamagedJournal
from goldrush.kernel.journal import END, START, UNIT, Commit, JournalWriter
from goldrush.kernel.measures import gini, mean
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.kernel.worlds.mining.measures import land_of
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import resubmitted
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.data.measures import Span
from goldrush.replay.worlds.mining.measures import MEASURES, MeasuredRun, hhi, measure
from goldrush.replay.worlds.mining.spells import (
    Seen,
    Spell,
    curve,
    half_life,
    restricted_mean,
    seen,
)
from tests import measures_oracle
from tests.golden import NAMES, path_of
from tests.journals import MINING_HEADER, commits_of, counts_of, in_pieces, logged, write
from tests.laws.strategies import Game, games, played
from tests.measures_oracle import Hold, Told
from tests.mining import fork, record

Plans = Mapping[int, Sequence[str]]  # round -> by agent, "kind plot" or "kind plot amount, ..."


# A run of known plans.


def submissions(plans: Plans) -> list[dict[str, Any]]:
    """Plans in the form in which an export shows them."""
    found = []
    for round, agents in plans.items():
        for agent, text in enumerate(agents):
            words = [item.split() for item in text.split(",") if item.strip()]
            actions = [[kind, int(plot), *map(int, k or ["1"])] for kind, plot, *k in words]
            found.append({"round": round, "agent": agent, "actions": actions})
    return found


class StoppedHere(Exception):
    """The plans have come to their end before the run has."""


def play(path: Path, settings: Mapping[str, Any], plans: Plans) -> Path:
    """A journal of these plans; without plans for all rounds, of a run that was stopped."""
    config = config_of(settings)
    roster = [Entry(agent, "mine").as_dict() for agent in range(config.agents)]
    rows = submissions(plans)

    def ask(state: MiningState) -> list[Batch]:
        of_round = [item for item in rows if item["round"] == state.round + 1]
        if not of_round:
            raise StoppedHere
        return [(SUBMITTED, [resubmitted(item, config) for item in of_round])]

    with JournalWriter(path, MINING_HEADER) as journal, suppress(StoppedHere):
        run.record(MINING, {"config": config.as_dict(), "roster": roster}, ask, journal)
    return path


# Truce 0 and pointwise defence. The seed is one for which agent 0 wins the tie for plot 1 in round
# 1, and agent 1 gets past the one point on plot 0 in round 4.
SETTINGS: dict[str, Any] = {
    "seed": 8, "rounds": 10, "rows": 1, "cols": 5, "agents": 3, "stamina": 3, "mining_cap": 3,
    "alpha_by_plot": [2.0, 1.0, 1.0, 1.0, 1.0], "truce": 0, "defense": "pointwise", "fine": 5.0,
}  # fmt: skip

QUARREL: Plans = {
    # Plot 0 is claimed by 0 and captured by 1 at once, plot 1 falls to 0, who beats 1, plot 2 to 2;
    # nobody claims plot 3, so that the raid on it is void.
    1: ("claim 0, claim 1", "claim 1, raid 0", "claim 2, raid 3"),
    # 2 captures plot 0 from 1, whose 3 points of mining are forfeited, and claims plot 3.
    2: ("mine 1 2, defend 1", "mine 0 3", "raid 0, mine 2 1, claim 3"),
    # Two points stop two raiders on plot 0; 1 captures plot 2, 0 captures plot 3.
    3: ("raid 0, raid 3", "raid 0, raid 2", "defend 0 2, mine 0 1"),
    # One point does not stop two raiders: 1 captures plot 0, 2 forfeits 2 points of mining.
    4: ("raid 0, mine 3 2", "raid 0, mine 2 2", "defend 0, mine 0 2"),
    5: ("", "", ""),
    # From here on captures are undone, and the agents have 4, 2 and 2 points. 2 captures plots 0
    # and 1 and has to give back both.
    6: ("mine 1 3, defend 3", "mine 0 2", "raid 1, raid 0"),
    # 1 captures plot 4 from 2, who has just claimed it and gets it back.
    7: ("mine 3 2", "raid 4, mine 0 1", "claim 4"),
    # From here on captures stand and cost 5 gold. 0 captures plot 0; two points save plot 4, one
    # saves plot 1.
    8: ("raid 4, raid 0, defend 1, defend 3", "raid 1, raid 4", "defend 4 2"),
    # 2 captures plot 2, where 1 forfeits 2, and is fined all it has: 3.
    9: ("mine 1 2", "mine 2 2", "raid 2, mine 4 1"),
    # 1 captures plot 4.
    10: ("mine 0 3, defend 0", "raid 0, raid 4", "mine 2 2"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("quarrel")


@pytest.fixture(scope="module")
def stopped(folder: Path) -> Path:
    """The first five rounds: a run that was stopped."""
    first = {round: plans for round, plans in QUARREL.items() if round <= 5}
    return play(folder / "stopped.journal", SETTINGS, first)


@pytest.fixture(scope="module")
def quarrel_path(folder: Path, stopped: Path) -> Path:
    """All ten rounds, forked after rounds 5 and 7."""
    forked, path = folder / "forked.journal", folder / "quarrel.journal"
    later = submissions({round: plans for round, plans in QUARREL.items() if round > 5})
    adjudicate = {"authority": "adjudicate", "stamina_by_agent": [4, 2, 2]}
    fork(stopped, 5, forked, settings=adjudicate, replace=later)
    last = [item for item in later if item["round"] > 7]
    fork(forked, 7, path, settings={"authority": "punish"}, replace=last)
    return path


@pytest.fixture(scope="module")
def quarrel(quarrel_path: Path) -> MeasuredRun:
    return measure(quarrel_path)


def almost(values: Any) -> Any:
    """Values to 1e-9, None being nothing but None."""
    if isinstance(values, Mapping):
        return {name: almost(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [almost(value) for value in values]
    return values if values is None else pytest.approx(values, rel=1e-9, abs=1e-9)


# By hand, round by round.


def test_the_quarrel_takes_the_course_that_its_figures_are_worked_out_for(
    quarrel: MeasuredRun,
) -> None:
    gold = [list(quarrel.gold_after(round)) for round in range(11)]

    assert [
        [0, 0, 0],
        [0, 0, 0],
        [2, 0, 1],
        [2, 0, 3],
        [4, 2, 3],
        [4, 2, 3],
        [7, 6, 3],  # what is given back is mined by whom it belongs to
        [9, 8, 3],
        [4, 8, 3],  # 9 − 5
        [6, 8, 1],  # 3 − min(5, 3) + 1
        [12, 3, 3],  # 0 mines 3 points on plot 0, where α is 2; 8 − 5
    ] == gold
    assert (10, True, Span(1, 10)) == (quarrel.units, quarrel.finished, quarrel.whole)
    assert ["mine", "mine", "mine"] == quarrel.roster


BY_ROUND = {
    # Plots with another owner ÷ plots owned at round start: none in round 1, then 3, 4, and 5 from
    # round 8 on. A plot that is claimed, or given back, has not turned over.
    "turnover": [None, 1 / 3, 2 / 4, 1 / 4, 0, 0, 0, 1 / 5, 1 / 5, 1 / 5],
    # Raids on them ÷ the same plots; the raids of rounds 1 and 7 are on plots that nobody owned.
    "raid_rate": [None, 1 / 3, 4 / 4, 2 / 4, 0, 2 / 4, 0, 4 / 5, 1 / 5, 2 / 5],
    # Defended plots that were raided ÷ defended plots: 0 of plot 1; plot 0 twice; 0 of plot 3;
    # plots 1 and 4 of 1, 3 and 4; plot 0.
    "defense_trigger": [None, 0, 1, 1, None, 0, None, 2 / 3, None, 1],
    # That ÷ (owned plots that were raided ÷ owned plots): 1 of 3, 3 of 4, 1 of 4, 2 of 4, 3 of 5,
    # 2 of 5.
    "targeting": [
        None, 0, 1 / (3 / 4), 1 / (1 / 4), None, 0, None, (2 / 3) / (3 / 5), None, 1 / (2 / 5),
    ],
    # Captures that stand ÷ raids, speculative ones too.
    "raid_success": [1 / 2, 1 / 1, 2 / 4, 1 / 2, None, 0 / 2, 0 / 1, 1 / 4, 1 / 1, 1 / 2],
    # Gold mined ÷ 3 × (2 + 1 + 1 + 1 + 1) = 18. Fines are no matter of mining.
    "efficiency": [0, 3 / 18, 2 / 18, 4 / 18, 0, 7 / 18, 4 / 18, 0, 3 / 18, 8 / 18],
    # Gold mined ÷ 3 × 2 + 6 × 1 = 12 with 9 points, from round 6 on 3 × 2 + 5 × 1 = 11 with 8.
    "reachable_efficiency": [0, 3 / 12, 2 / 12, 4 / 12, 0, 7 / 11, 4 / 11, 0, 3 / 11, 8 / 11],
    # Points not spent ÷ 9, from round 6 on ÷ 8.
    "idle": [3 / 9, 0, 2 / 9, 0, 9 / 9, 0, 3 / 8, 0, 2 / 8, 0],
    "wasted": [
        2 / 6,  # 1's claim of plot 1 and the void raid; 0's claim of plot 0 was won
        4 / 9,  # 3 points of mining on plot 0, and the defence of plot 1
        2 / 7,  # both raids that were blocked
        3 / 9,  # the raid that was blocked, and 2 points of mining
        None,  # nothing was spent
        3 / 8,  # both raids whose captures were undone, and the defence of plot 3
        1 / 5,  # the raid whose capture was undone
        4 / 8,  # both raids on plot 4, the one on plot 1, and the defence of plot 3
        2 / 6,  # 2 points of mining on plot 2
        1 / 8,  # the raid that was blocked
    ],
    "share_defend": [0, 1 / 9, 2 / 7, 1 / 9, None, 1 / 8, 0, 4 / 8, 0, 1 / 8],
    "share_raid": [2 / 6, 1 / 9, 4 / 7, 2 / 9, None, 2 / 8, 1 / 5, 4 / 8, 1 / 6, 2 / 8],
    "share_mine": [0, 6 / 9, 1 / 7, 6 / 9, None, 5 / 8, 3 / 5, 0, 5 / 6, 5 / 8],
    "share_claim": [4 / 6, 1 / 9, 0, 0, None, 0, 1 / 5, 0, 0, 0],
    "convergence": [None] * 10,  # there is one window only
    # Twice the sum of the three differences ÷ 2 × 9 × mean, which is 6 × sum.
    "gini": [
        None,
        2 * (2 + 1 + 1) / (6 * 3),  # 2, 0, 1
        2 * (2 + 1 + 3) / (6 * 5),  # 2, 0, 3
        2 * (2 + 1 + 1) / (6 * 9),  # 4, 2, 3
        2 * (2 + 1 + 1) / (6 * 9),
        2 * (1 + 4 + 3) / (6 * 16),  # 7, 6, 3
        2 * (1 + 6 + 5) / (6 * 20),  # 9, 8, 3
        2 * (4 + 1 + 5) / (6 * 15),  # 4, 8, 3
        2 * (2 + 5 + 7) / (6 * 15),  # 6, 8, 1
        2 * (9 + 9 + 0) / (6 * 18),  # 12, 3, 3
    ],
    "hhi": [
        3 / 9,  # 1, 1, 1 of 3 plots
        (1 + 9) / 16,  # 1, 0, 3
        (4 + 1 + 1) / 16,  # 2, 1, 1
        (4 + 4) / 16,  # 2, 2, 0
        (4 + 4) / 16,
        (4 + 4) / 16,
        (4 + 4 + 1) / 25,  # 2, 2, 1
        (9 + 1 + 1) / 25,  # 3, 1, 1
        (9 + 4) / 25,  # 3, 0, 2
        (9 + 1 + 1) / 25,  # 3, 1, 1
    ],
    # Plots held for 5 rounds: plot 1 from round 6 on (claimed in round 1), plots 2 and 3 from round
    # 8 on (captured in round 3), plot 2 until it is captured in round 9.
    "respect": [
        None, None, None, None, None,  # no plot was held for so long
        (1 / 1) / (1 / 3),  # a raid on plot 1, one on plots 0, 2 and 3
        None,  # no raids on the others, to compare with
        (1 / 3) / (3 / 2),  # one on plots 1, 2 and 3, three on plots 0 and 4
        None,
        (0 / 2) / (2 / 3),  # none on plots 1 and 3, two on plots 0, 2 and 4
    ],
    # Plots held by claim: 1, and 4 until it is captured in round 10.
    "respect_claimed": [
        None, None, None, None, None, None, None, (1 / 1) / (2 / 1), None, (0 / 1) / (1 / 1),
    ],
    # Plots held by capture: 0, 2 and 3.
    "respect_captured": [
        None, None, None, None, None, None, None, (0 / 2) / (1 / 1), None, (0 / 1) / (1 / 2),
    ],
    "contention": [1 / 3, 0, None, None, None, None, 0, None, None, None],
}  # fmt: skip


@pytest.mark.parametrize("name", BY_ROUND)
def test_a_measure_by_round_is_what_is_worked_out_by_hand(quarrel: MeasuredRun, name: str) -> None:
    assert almost(BY_ROUND[name]) == quarrel.values[name]


def test_every_measure_that_a_round_has_is_worked_out_by_hand(quarrel: MeasuredRun) -> None:
    assert {*BY_ROUND} == {*quarrel.values}
    assert {*BY_ROUND, "half_life", "survival"} == {*MEASURES}
    assert all(name == measure.name and measure.definition for name, measure in MEASURES.items())


def test_spells_are_those_that_are_read_off_by_hand(quarrel: MeasuredRun) -> None:
    """The claim of plot 0 never saw a round end, and what was given back was never lost."""
    assert [
        Spell(0, 1, 1, 1, "capture", 2),
        Spell(1, 0, 1, 10, "claim", None),
        Spell(2, 2, 1, 2, "claim", 1),
        Spell(0, 2, 2, 3, "capture", 1),
        Spell(3, 2, 2, 2, "claim", 0),
        Spell(2, 1, 3, 8, "capture", 2),
        Spell(3, 0, 3, 10, "capture", None),
        Spell(0, 1, 4, 7, "capture", 0),
        Spell(4, 2, 7, 9, "claim", 1),
        Spell(0, 0, 8, 10, "capture", None),
        Spell(2, 2, 9, 10, "capture", None),
        Spell(4, 1, 10, 10, "capture", None),
    ] == quarrel.spells
    assert [1, 10, 2, 2, 1, 6, 8, 4, 3, 3, 2, 1] == [spell.length for spell in quarrel.spells]
    assert [("capture", False), (None, True)] == [
        (spell.lost, spell.censored) for spell in quarrel.spells[:2]
    ]


# By hand, over the run and its halves.


def test_a_run_is_the_mean_of_the_rounds_in_which_a_measure_is_defined(
    quarrel: MeasuredRun,
) -> None:
    expected = {
        "turnover": 101 / 540,  # (1/3 + 1/2 + 1/4 + 3/5) ÷ 9 rounds
        # Lost: two spells of 1, two of 2, one each of 3, 4, 6. Running: 1, 2, 3, 8, 10. The curve
        # is 10/12 behind 1, × 7/9 = 35/54 behind 2, × 5/6 = 175/324 behind 3, × 3/4 behind 4.
        "half_life": 4,
        "survival": 4.36,  # 1 + 1 + 2/3 + 1/3 + 1/4 (four times) + 1/5 + 4/25
        "raid_rate": 56 / 135,  # (1/3 + 1 + 1/2 + 1/2 + 4/5 + 1/5 + 2/5) ÷ 9
        "defense_trigger": 11 / 18,  # (1 + 1 + 2/3 + 1) ÷ 6
        "targeting": 161 / 108,  # (4/3 + 4 + 10/9 + 5/2) ÷ 6
        "raid_success": 17 / 36,  # (1/2 + 1 + 1/2 + 1/2 + 1/4 + 1 + 1/2) ÷ 9
        "efficiency": 31 / 180,
        "reachable_efficiency": 11 / 40,  # (9/12 + 22/11) ÷ 10
        "idle": 157 / 720,  # (1/3 + 2/9 + 1 + 5/8) ÷ 10
        "wasted": 923 / 2835,  # (1/3 + 67/63 + 23/15) ÷ 9
        "share_defend": 317 / 2268,
        "share_raid": 547 / 1890,
        "share_mine": 1747 / 3780,
        "share_claim": 44 / 405,
        "convergence": None,
        "gini": 1 / 3,  # at the end
        "hhi": 11 / 25,
        "respect": 29 / 27,  # (3 + 2/9 + 0) ÷ 3
        "respect_claimed": 1 / 4,
        "respect_captured": 0,
        "contention": 1 / 9,
    }

    assert almost(expected) == quarrel.as_dict()["run"]
    assert expected["turnover"] == pytest.approx(quarrel.of("turnover", quarrel.whole))


def test_halves_begin_behind_the_burn_in_and_the_second_has_the_odd_round(
    quarrel: MeasuredRun,
) -> None:
    """⌊10 ÷ 10⌋ = 1 round is left out; of the other nine the first half has four."""
    first, second = quarrel.as_dict()["halves"].values()

    assert (Span(2, 5), Span(6, 10)) == quarrel.halves()
    assert (
        almost(
            {
                "first": 2,
                "last": 5,
                "turnover": 13 / 48,
                # Lost: one of three owned plots in round 2, two of four in 3, one of four in 4.
                "survival": 9 / 4,  # 1 + 2/3 + 1/3 + 1/4
                "raid_rate": 11 / 24,
                "defense_trigger": 2 / 3,
                "targeting": 16 / 9,
                "raid_success": 2 / 3,
                "efficiency": 1 / 8,
                "reachable_efficiency": 3 / 16,
                "idle": 11 / 36,
                "wasted": 67 / 189,
                "share_defend": 32 / 189,
                "share_raid": 19 / 63,
                "share_mine": 31 / 63,
                "share_claim": 1 / 27,
                "convergence": None,
                "gini": 4 / 27,  # of 4, 2, 3
                "hhi": 1 / 2,
                "respect": None,
                "respect_claimed": None,
                "respect_captured": None,
                "contention": 0,
            }
        )
        == first
    )
    assert (
        almost(
            {
                "first": 6,
                "last": 10,
                "turnover": 3 / 25,
                # Lost: one of five in rounds 8, 9 and 10; looked at as far as the first half goes.
                "survival": 19 / 5,  # 1 + 1 + 1 + 4/5
                "raid_rate": 19 / 50,
                "defense_trigger": 5 / 9,
                "targeting": 65 / 54,
                "raid_success": 7 / 20,
                "efficiency": 11 / 45,
                "reachable_efficiency": 2 / 5,
                "idle": 1 / 8,
                "wasted": 23 / 75,
                "share_defend": 3 / 20,
                "share_raid": 41 / 150,
                "share_mine": 161 / 300,
                "share_claim": 1 / 25,
                "convergence": None,
                "gini": 16 / 27,  # 8, 1 and 0 were earned: 2 × (7 + 8 + 1) ÷ (6 × 9)
                "hhi": 11 / 25,
                "respect": 29 / 27,
                "respect_claimed": 1 / 4,
                "respect_captured": 0,
                "contention": 0,
            }
        )
        == second
    )
    assert almost([13 / 48, 3 / 25]) == [*quarrel.compared("turnover")]


def test_a_half_has_no_half_life(quarrel: MeasuredRun) -> None:
    assert (None, None) == quarrel.compared("half_life")
    assert "half_life" not in quarrel.as_dict()["halves"]["first_half"]


def test_a_run_says_where_it_is_from_and_how_crowded_it_is(
    quarrel: MeasuredRun, quarrel_path: Path
) -> None:
    shown = quarrel.as_dict()

    # ⌈4/3⌉ + ⌈2/3⌉ + ⌈2/3⌉ = 4 plots of 5 could be used.
    assert (str(quarrel_path), 10, True, 3, 0.8) == (
        shown["path"], shown["rounds"], shown["finished"], shown["agents"], shown["pressure"]
    )  # fmt: skip
    assert [*MEASURES] == [*shown["run"]]


# Runs that were stopped, forked, or hardly begun.


def test_a_run_that_was_stopped_is_measured_as_far_as_it_went(stopped: Path) -> None:
    measured = measure(stopped)

    assert (5, False) == (measured.units, measured.finished)
    assert (Span(1, 2), Span(3, 5)) == measured.halves()  # of rounds closed, not of those planned
    for name, values in BY_ROUND.items():
        assert almost(values[:5]) == measured.values[name]
    assert Spell(0, 1, 4, 5, "capture", None) in measured.spells


def test_a_round_under_way_is_not_measured(stopped: Path, tmp_path: Path) -> None:
    """Nor does it matter in how many pieces the answers of a round came."""
    *commits, last = in_pieces(commits_of(stopped), 3)
    write(tmp_path / "pieces.journal", [*commits, last])
    write(tmp_path / "open.journal", commits)
    whole, pieces, under_way = map(
        measure, (stopped, tmp_path / "pieces.journal", tmp_path / "open.journal")
    )

    assert attrs.evolve(whole, path="") == attrs.evolve(pieces, path="")
    assert 4 == under_way.units
    assert {name: values[:4] for name, values in whole.values.items()} == under_way.values


def test_what_a_fork_changes_counts_from_its_first_round_on(stopped: Path, tmp_path: Path) -> None:
    """The grid is worth something else, and so is what could be reached."""
    path = tmp_path / "rich.journal"
    settings = {"mining_cap": 2, "alpha_by_plot": [1.0, 1.0, 1.0, 1.0, 6.0], "stamina": 1}
    fork(stopped, 5, path, settings=settings, replace=submissions({6: ("mine 1 1", "", "")}))
    measured = measure(path)

    assert almost([0, 1 / (2 * 10)]) == measured.values["efficiency"][4:6]
    # Three points: two on plot 4, one elsewhere.
    assert almost([0, 1 / (2 * 6 + 1)]) == measured.values["reachable_efficiency"][4:6]
    assert almost([9 / 9, 2 / 3]) == measured.values["idle"][4:6]


def test_where_no_round_is_closed_nothing_is_defined(tmp_path: Path) -> None:
    measured = measure(play(tmp_path / "none.journal", SETTINGS, {}))

    assert (0, False, None, None) == (
        measured.units, measured.finished, measured.halves(), measured.halves(burn_in=False)
    )  # fmt: skip
    assert dict.fromkeys(MEASURES) == measured.as_dict()["run"]
    assert (None, None) == measured.compared("turnover")
    assert measured.as_dict()["halves"] is None


def test_one_round_has_no_halves(tmp_path: Path) -> None:
    measured = measure(play(tmp_path / "one.journal", SETTINGS, {1: QUARREL[1]}))

    assert (1, None) == (measured.units, measured.halves())
    assert measured.of("survival") is None  # nothing was owned yet when it began
    assert almost(1 / 3) == measured.of("hhi")
    assert measured.as_dict()["halves_without_burn_in"] is None


def test_where_there_is_nothing_to_divide_by_a_measure_is_undefined(tmp_path: Path) -> None:
    """Nobody has stamina, and no plot is worth anything."""
    nothing = {**SETTINGS, "stamina": 0, "alpha_by_plot": None, "alpha": 0.0, "rounds": 20}
    measured = measure(
        play(
            tmp_path / "nothing.journal", nothing, dict.fromkeys(range(1, 21), ("claim 0", "", ""))
        )
    )

    assert 20 == measured.units
    assert dict.fromkeys(MEASURES) == measured.as_dict()["run"]


# Convergence.


CHANGING: Plans = {
    # 1–10: one point of claiming, three of mining.
    1: ("claim 0",), 2: ("mine 0 2",), 10: ("mine 0 1",),
    # 11–20: two of mining, two of defence: 1/2 (|0 − 1/2| + |3/4 − 1/2| + |1/4 − 0|) = 1/2 away.
    11: ("mine 0 1, defend 0",), 20: ("mine 0 1, defend 0",),
    # 21–30: three of mining, one of defence: 1/2 (1/4 + 1/4) away.
    21: ("mine 0 2",), 30: ("defend 0, mine 0 1",),
    # 31–40: nothing. 41–44: what is no full window.
    44: ("defend 0",),
}  # fmt: skip


@pytest.fixture(scope="module")
def changing(folder: Path) -> MeasuredRun:
    settings = {"rows": 1, "cols": 2, "agents": 1, "stamina": 2, "rounds": 44}
    plans = {round: CHANGING.get(round, ("",)) for round in range(1, 45)}
    return measure(play(folder / "changing.journal", settings, plans))


def test_convergence_is_the_distance_between_the_pooled_shares_of_successive_windows(
    changing: MeasuredRun,
) -> None:
    defined = {
        round: value
        for round, value in enumerate(changing.values["convergence"], 1)
        if value is not None
    }

    assert almost({20: 1 / 2, 30: 1 / 4}) == defined
    assert (44, almost(3 / 8)) == (changing.units, changing.of("convergence"))


def test_a_window_belongs_to_the_half_in_which_it_ends(changing: MeasuredRun) -> None:
    assert (Span(5, 24), Span(25, 44)) == changing.halves()
    assert almost([1 / 2, 1 / 4]) == [*changing.compared("convergence")]


# Small functions, by hand.


def test_gini_of_small_lists() -> None:
    assert almost(0) == gini([5.0, 5.0, 5.0])
    assert almost(3 / 4) == gini([0.0, 0.0, 0.0, 7.0])  # 1 − 1/N
    assert almost(1 / 4) == gini([3.0, 1.0])  # 2 × 2 ÷ (2 × 4 × 2)
    assert almost(2) == gini([-1.0, 2.0, -1.0, 2.0, 0.0, 0.0])  # 2 × 24 ÷ (72 × 1/3)
    assert gini([0.0, 0.0]) is None
    assert gini([1.0, -2.0]) is None
    assert gini([1.0, -1.0]) is None


def test_hhi_of_small_lists() -> None:
    assert almost(1) == hhi([0, 4, 0])
    assert almost(1 / 3) == hhi([2, 2, 2])
    assert almost(5 / 8) == hhi([1, 0, 3])
    assert hhi([0, 0]) is None


def test_a_mean_is_over_what_is_defined() -> None:
    assert almost(2) == mean([None, 1.0, None, 3.0])
    assert mean([None, None]) is None
    assert mean([]) is None


def test_what_can_be_reached_fills_the_best_plots_first() -> None:
    settings = {"rows": 1, "cols": 4, "agents": 1, "mining_cap": 3}
    alphas = {"alpha_by_plot": [1.0, 5.0, 0.5, 2.0]}

    for stamina, reachable in ((0, 0), (2, 10), (3, 15), (4, 17), (9, 24), (10, 24.5), (99, 25.5)):
        land = land_of(config_of({**settings, **alphas, "stamina": stamina}))

        assert (25.5, reachable) == (land.all, land.reachable)


# Spells in sight, by hand.


@pytest.mark.parametrize(
    ("start", "end", "lost_to", "expected"),
    [
        # Rounds 11 to 20 are looked at: round 11 is 1 on their clock, round 20 is 10.
        (1, 10, 1, (1, True, 0)),  # lost in round 11: that loss is one of these rounds
        (10, 10, 1, (1, True, 0)),
        (10, 15, 1, (6, True, 0)),  # there from the start, whatever its age
        (1, 15, 1, (6, True, 0)),
        (1, 30, 1, (10, False, 0)),
        (1, 20, None, (10, False, 0)),  # the run ends there
        # Begun in round 11, it can be lost from round 12 on.
        (11, 11, 1, (2, True, 1)),
        (12, 15, 1, (6, True, 2)),
        (11, 19, 1, (10, True, 1)),  # lost in round 20
        (12, 20, 1, (10, False, 2)),  # lost in round 21: not seen
        (12, 25, 1, (10, False, 2)),
        (19, 20, None, (10, False, 9)),
        # Lost in round 10, or at risk from round 21 on at the earliest.
        (1, 9, 1, None),
        (20, 20, None, None),
        (20, 25, 1, None),
        (21, 25, 1, None),
    ],
)
def test_what_some_rounds_show_of_a_spell(
    start: int, end: int, lost_to: int | None, expected: Seen | None
) -> None:
    found = list(seen(times_of([Spell(0, 0, start, end, "claim", lost_to)]), 11, 20))

    assert ([] if expected is None else [expected]) == found


def times_of(spells: Iterable[Spell]) -> list[tuple[int, int, bool]]:
    return [(spell.start, spell.end, spell.lost_to is not None) for spell in spells]


def spells_of(*lengths: tuple[int, bool]) -> list[Spell]:
    """Spells of these lengths from round 1 on, lost or not."""
    return [
        Spell(plot, 0, 1, length, "claim", 1 if lost else None)
        for plot, (length, lost) in enumerate(lengths)
    ]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], None),
        ([(3, False)], None),
        ([(7, True)], 7),
        ([(1, True), (2, True), (3, True)], 2),  # 2/3, 1/3, 0
        ([(1, True), (5, False)], 1),  # one half is enough
        ([(1, True), (5, False), (5, False)], None),  # 2/3, and stays there
        ([(1, True), (2, False), (4, True)], 4),  # 2/3; at 4 only one is at risk
        ([(2, False), (2, True), (2, False)], None),  # what is cut off at 2 was at risk there: 2/3
        ([(2, False), (2, True), (3, True)], 3),  # 2/3, then 0
        # 4/6, then × 3/4: one half exactly, where sums of logarithms end up above it.
        ([(1, True), (1, True), (3, True), (5, True), (6, True), (6, False)], 3),
    ],
)
def test_half_life_is_the_first_length_that_no_more_than_one_half_outlasts(
    lengths: list[tuple[int, bool]], expected: float | None
) -> None:
    assert expected == half_life(times_of(spells_of(*lengths)))


def held_from_before(*lost: int | None) -> list[Spell]:
    """Spells that began in round 1, each lost in the round given, or never."""
    return [
        Spell(plot, 0, 1, 30 if round is None else round - 1, "claim", None if round is None else 1)
        for plot, round in enumerate(lost)
    ]


@pytest.mark.parametrize(
    ("lost", "horizon", "expected"),
    [
        # Rounds 11 to 20.
        ([None], 5, 5),  # nothing is lost: the curve stays at 1
        ([12], 5, 2),
        ([12], 2, 2),
        ([12], 1, 1),
        ([11, 13], 5, 2),  # 1 + 1/2 + 1/2 + 0 + 0
        ([11, 13], 2, 3 / 2),
        ([11, None], 4, 5 / 2),  # 1 + 1/2 + 1/2 + 1/2
        ([14, None], 4, 4),  # what is lost at the horizon is not missed before it
        ([11, None, None], 3, 7 / 3),  # 1 + 2/3 + 2/3
        ([11, 25], 3, 2),  # lost in round 25: not seen, 1 + 1/2 + 1/2
    ],
)
def test_restricted_mean_is_the_area_under_the_curve_up_to_the_horizon(
    lost: list[int | None], horizon: int, expected: float
) -> None:
    assert almost(expected) == restricted_mean(times_of(held_from_before(*lost)), 11, 20, horizon)


def test_a_span_in_which_nothing_is_owned_has_no_survival() -> None:
    assert restricted_mean([], 1, 10, 5) is None
    assert restricted_mean(times_of(held_from_before(10)), 11, 20, 5) is None  # lost before
    assert restricted_mean(times_of([Spell(0, 0, 20, 30, "claim", None)]), 11, 20, 5) is None


def test_a_spell_that_begins_later_enters_late() -> None:
    """Rounds 6 to 10. In round 6 one of two is lost to a capture, which is lost in its turn in
    round 8, as one of two.
    """
    spells = [
        Spell(0, 0, 1, 5, "claim", 1),
        Spell(0, 1, 6, 7, "capture", 2),
        Spell(0, 2, 8, 10, "capture", None),
        Spell(1, 0, 1, 10, "claim", None),
    ]

    assert almost(1 + 1 / 2 + 1 / 2 + 1 / 4 + 1 / 4) == restricted_mean(times_of(spells), 6, 10, 5)


def test_halves_in_which_the_same_happens_survive_alike_however_old_their_holders_are() -> None:
    """29 plots are held for good, one is lost every twelve rounds, from round 1 to 108."""
    forever = [Spell(plot, 0, 1, 108, "claim", None) for plot in range(29)]
    restless = [
        Spell(29, turn, 12 * turn + 1, 12 * turn + 12, "capture", turn + 1 if turn < 8 else None)
        for turn in range(9)
    ]
    times = times_of([*forever, *restless])
    first, second = (restricted_mean(times, start, start + 47, 48) for start in (13, 61))

    left = 29 / 30  # behind each of the losses, in rounds 1, 13, 25 and 37 of 48
    assert almost(1 + 12 * (left + left**2 + left**3) + 11 * left**4) == first == second


def test_a_spell_that_stands_for_several_weighs_as_much_as_they_do() -> None:
    lost, late, running = (2, True, 0), (3, True, 2), (5, False, 1)

    # 3 × lost of 3 + 2 at risk at 2; 1 × late of 1 + 2 at risk at 3.
    expected = [(2, almost(2 / 5)), (3, almost(2 / 5 * 2 / 3))]
    assert expected == list(curve([(lost, 3), (late, 1), (running, 2)]))
    assert expected == list(curve([(lost, 2), (running, 2), (late, 1), (lost, 1)]))
    assert [] == list(curve([(running, 2)]))


@given(
    st.lists(
        st.tuples(st.integers(1, 9), st.booleans(), st.integers(0, 8)).filter(
            lambda s: s[2] < s[0]
        ),
        min_size=1,
    )
)
def test_a_curve_is_that_of_statsmodels(shown: list[tuple[int, bool, int]]) -> None:
    exits, over, entries = zip(*shown, strict=True)
    found = list(curve([(one, 1) for one in shown]))
    if any(over):
        theirs = SurvfuncRight(exits, [int(one) for one in over], entry=entries)
        assert [
            (at, almost(s)) for at, s in zip(theirs.surv_times, theirs.surv_prob, strict=True)
        ] == found
    else:
        assert [] == found


# What is no run to measure.


def test_a_damaged_journal_is_not_measured(quarrel_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "damaged.journal"
    path.write_bytes(quarrel_path.read_bytes()[:-40] + b"x" * 40)

    with pytest.raises(DamagedJournal):
        measure(path)


# The second telling.


def told(path: Path) -> Told:
    """The measures of a journal, from what its export shows."""
    return Told(logged(path))


def assert_told_alike(path: Path) -> MeasuredRun:
    """Every measure of every round, of the run and of its halves, each count, spell and tie."""
    expected, measured = told(path), measure(path)
    shown = measured.as_dict()

    assert (len(expected.closed), expected.finished) == (measured.units, measured.finished)
    assert {*MEASURES} == {*expected.run}
    for name, values in measured.values.items():
        assert almost([round[name] for round in expected.rounds]) == values, name
    for counts, round in zip(expected.counts, counts_of(path), strict=True):
        assert counts == {name: getattr(round, name) for name in counts}
    assert almost(expected.run) == shown["run"]
    for key, burn_in in (("halves", True), ("halves_without_burn_in", False)):
        spans, values = expected.halves(burn_in=burn_in), expected.of_halves(burn_in=burn_in)
        if spans is None or values is None:
            assert shown[key] is None
            continue
        for span, half, found in zip(spans, values, shown[key].values(), strict=True):
            assert almost({**span._asdict(), **half}) == found
    spells = sorted(expected.spells, key=lambda spell: (spell.start, spell.plot))
    assert spells == [Hold(*attrs.astuple(spell)) for spell in measured.spells]
    assert expected.start == list(measured.gold_after(0))
    for round in expected.closed:
        assert round.gold == list(measured.gold_after(round.number))
    return measured


def test_the_quarrel_is_told_alike(quarrel_path: Path) -> None:
    assert_told_alike(quarrel_path)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_golden_journal_is_told_alike(name: str) -> None:
    assert_told_alike(path_of(name))


ROSTERS = (None, "random", "raid,claim,defend,mine,tit-for-tat-raid")


@pytest.mark.parametrize("treatment", TREATMENTS)
def test_runs_of_every_treatment_are_told_alike(treatment: str, tmp_path: Path) -> None:
    """Each with one of the rosters that differ, on a grid that is small enough to quarrel on."""
    seed = [*TREATMENTS].index(treatment)
    grid = {} if "scarce" in treatment else {"rows": 5, "cols": 6}
    for number in (seed, seed + 1):
        path = tmp_path / f"{number}.journal"
        settings = {"rounds": 40, "seed": number, **grid}
        record(path, settings, ROSTERS[number % len(ROSTERS)], treatment)
        measured = assert_told_alike(path)

        assert (40, True) == (measured.units, measured.finished)


def test_a_run_that_is_forked_again_and_again_is_told_alike(tmp_path: Path) -> None:
    paths = [tmp_path / f"{place}.journal" for place in range(4)]
    record(paths[0], {"rounds": 30, "rows": 4, "cols": 4}, "random*3,raid*2")
    fork(paths[0], 8, paths[1], settings={"stamina": 3, "mining_cap": 2, "alpha": 0.5})
    fork(paths[1], 17, paths[2], treatment="authority-adjudicate", settings={"detection": 0.5})
    fork(paths[2], 25, paths[3], settings={"stamina_by_agent": [9, 0, 3, 12, 1], "rounds": 33})

    assert [30, 30, 30, 33] == [assert_told_alike(path).units for path in paths]


def journal_of(game: Game, folder: Path) -> Path:
    """A game as a journal."""
    state = game.world.initial(game.setup)
    commits = [Commit(START, 0, MINING.digest(state), setup=game.setup)]
    for turn in played(game):
        state = turn.after
        blocks = [turn.inputs, turn.derived]
        commits.append(Commit(UNIT, turn.round, MINING.digest(state), blocks))
    if MINING.ended(state):
        commits.append(Commit(END, state.round))
    return write(folder / "game.journal", commits)


@given(games())
def test_games_of_hostile_plans_are_told_alike(game: Game) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert_told_alike(journal_of(game, Path(folder)))


# What holds for all spells.


@given(games())
def test_spells_account_for_every_plot_at_every_round_end(game: Game) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = journal_of(game, Path(folder))
        measured, counted = measure(path), counts_of(path)
    turns = list(played(game))
    owners = [turn.after.owner for turn in turns]
    held = {
        (plot, round): spell.owner
        for spell in measured.spells
        for plot, round in ((spell.plot, round) for round in range(spell.start, spell.end + 1))
    }

    assert sum(spell.length for spell in measured.spells) == len(held)
    assert {
        (plot, round): owner
        for round, of_round in enumerate(owners, 1)
        for plot, owner in enumerate(of_round)
        if owner is not None
    } == held
    assert len(held) == sum(counts.owned for counts in counted[1:]) + sum(
        owner is not None for owner in owners[-1]
    )
    assert sum(counts.turned for counts in counted) == sum(
        spell.lost_to is not None for spell in measured.spells
    )
    running = [spell.plot for spell in measured.spells if spell.lost_to is None]
    assert sorted(running) == [p for p, owner in enumerate(owners[-1]) if owner is not None]
    assert all(spell.end == measured.units for spell in measured.spells if spell.lost_to is None)


@given(games())
def test_one_spell_of_a_plot_follows_on_the_other(game: Game) -> None:
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(journal_of(game, Path(folder)))

    for before, after in pairwise(sorted(measured.spells, key=lambda s: (s.plot, s.start))):
        if before.plot == after.plot:
            assert (before.lost_to, before.end + 1) == (after.owner, after.start)
            assert "capture" == after.gained
            assert before.owner != after.owner


@given(games())
def test_a_loss_is_seen_in_one_half_and_exposure_adds_up(game: Game) -> None:
    """Nothing that happens to a spell is counted twice, and nothing is left out."""
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(journal_of(game, Path(folder)))
    halves = measured.halves(burn_in=False)
    if halves is None:
        return
    for spell in measured.spells:
        parts = [one for half in halves for one in seen(times_of([spell]), half.first, half.last)]
        losses = sum(is_over for _, is_over, _ in parts)

        assert (spell.lost_to is not None) == losses
        # It can be lost in every round from the second of its own on, and in that of its loss.
        rounds = spell.length - 1 + losses
        assert rounds == sum(exit - entry for exit, _, entry in parts)


@st.composite
def spells(draw: st.DrawFn) -> list[Spell]:
    """Spells in a run of 30 rounds; those that are running run to its end."""
    found = []
    for plot in range(draw(st.integers(0, 12))):
        start = draw(st.integers(1, 30))
        end = draw(st.integers(start, 30))
        found.append(Spell(plot, 0, start, end, "claim", None if end == 30 else 1))
    return found


@given(spells())
def test_half_life_is_the_median_of_the_second_telling(spells: list[Spell]) -> None:
    whole = [measures_oracle.Length(s.end - s.start + 1, s.lost_to is not None) for s in spells]

    assert measures_oracle.median(whole) == half_life(times_of(spells))
