"""The measures of a run, held against a second telling of all of them.

`QUARREL` is ten rounds of five plots and three agents in which everything happens that a measure
counts. The second telling, `tests/measures_oracle.py`, reads nothing but the events.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace
from statsmodels.duration.survfunc import SurvfuncRight

from goldrush.agents.roster import Entry
from goldrush.kernel import run
from goldrush.kernel.journal import END, START, UNIT, Commit, JournalWriter
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.kernel.worlds.mining.submit import resubmitted
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.mining.measures import MEASURES, MeasuredRun
from goldrush.replay.worlds.mining.spells import curve, survival
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
        run.last_of(
            run.steps(MINING, {"config": config.as_dict(), "roster": roster}, journal, ask=ask)
        )
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
    7: ("mine 3 2, defend 3", "raid 4, mine 0 1", "claim 4"),
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


def almost(values: Any) -> Any:
    """Values to 1e-9, None being nothing but None."""
    if isinstance(values, Mapping):
        return {name: almost(value) for name, value in values.items()}
    if isinstance(values, (list, tuple)):
        return [almost(value) for value in values]
    return values if values is None else pytest.approx(values, rel=1e-9, abs=1e-9)


# The second telling.


def told(path: Path) -> Told:
    """The measures of a journal, from what its export shows."""
    return Told(logged(path))


def assert_told_alike(path: Path) -> MeasuredRun:
    """Every measure of every round, of the run and of its halves, each count, spell and tie."""
    expected, measured = told(path), measured_at(path)
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
    assert spells == [Hold(*astuple(spell)) for spell in measured.spells]
    held = sum(len(round.after) for round in expected.closed)  # plots at the ends of rounds
    assert held == sum(spell.length for spell in measured.spells)
    assert expected.start == list(measured.gold_after(0))
    for round in expected.closed:
        assert round.gold == list(measured.gold_after(round.number))
    return measured


def test_what_is_stopped_or_hardly_begun_is_told_alike(
    quarrel_path: Path, stopped: Path, tmp_path: Path
) -> None:
    """And where nobody has stamina, and no plot is worth anything, nothing is defined."""
    nothing = {**SETTINGS, "stamina": 0, "alpha_by_plot": None, "alpha": 0.0, "rounds": 20}
    idle = dict.fromkeys(range(1, 21), ("claim 0", "", ""))
    runs = [
        stopped,
        play(tmp_path / "none.journal", SETTINGS, {}),
        play(tmp_path / "one.journal", SETTINGS, {1: QUARREL[1]}),
        play(tmp_path / "idle.journal", nothing, idle),
        quarrel_path,
    ]
    measured = [assert_told_alike(path) for path in runs]

    assert [5, 0, 1, 20, 10] == [run.units for run in measured]
    assert [False, True, False, True, False] == [
        run.as_dict()["run"] == dict.fromkeys(MEASURES) for run in measured
    ]


@pytest.mark.parametrize("name", sorted(NAMES))
def test_a_golden_journal_is_told_alike(name: str) -> None:
    assert_told_alike(path_of(name))


def test_a_run_that_is_forked_again_and_again_is_told_alike(tmp_path: Path) -> None:
    paths = [tmp_path / f"{place}.journal" for place in range(4)]
    record(paths[0], {"rounds": 30, "rows": 4, "cols": 4}, "random*3,raid*2")
    fork(paths[0], 8, paths[1], settings={"stamina": 3, "mining_cap": 2, "alpha": 0.5})
    fork(paths[1], 17, paths[2], treatment="authority-adjudicate", settings={"detection": 0.5})
    fork(paths[2], 25, paths[3], settings={"stamina_by_agent": [9, 0, 3, 12, 1], "rounds": 33})

    assert [30, 30, 30, 33] == [assert_told_alike(path).units for path in paths]


def test_rounds_that_repeat_are_told_alike(tmp_path: Path) -> None:
    """While holdings that are raided in vain grow old, with a plan that has the same outcome, and
    after a fork to more stamina that nobody needs.
    """
    plan = "mine 0, defend 0, defend 1", "raid 0, raid 1"
    plans = {1: ("claim 0, claim 2", ""), 2: ("", ""), 3: ("claim 1", "")}
    plans |= dict.fromkeys(range(4, 10), plan)
    plans |= dict.fromkeys(range(10, 13), (f"{plan[0]}, defend 2", plan[1]))
    settings = {"rows": 1, "cols": 3, "agents": 2, "rounds": 12, "stamina": 6, "truce": 0}
    assert_told_alike(play(tmp_path / "raided.journal", settings, plans))
    alone = {"rows": 1, "cols": 2, "agents": 1, "rounds": 20, "stamina": 6, "mining_cap": 2}
    record(tmp_path / "first.journal", alone, "greedy-mine")
    fork(tmp_path / "first.journal", 12, tmp_path / "forked.journal", settings={"stamina": 9})

    idle = assert_told_alike(tmp_path / "forked.journal").values["idle"]
    assert [2 / 6, 5 / 9] == [idle[11], idle[12]]


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


# What is no run to measure.


def test_a_round_under_way_is_not_measured(stopped: Path, tmp_path: Path) -> None:
    """Nor does it matter in how many pieces the answers of a round came."""
    *commits, last = in_pieces(commits_of(stopped), 3)
    write(tmp_path / "pieces.journal", [*commits, last])
    write(tmp_path / "open.journal", commits)
    whole, pieces, under_way = map(
        measured_at, (stopped, tmp_path / "pieces.journal", tmp_path / "open.journal")
    )

    assert replace(whole, path="") == replace(pieces, path="")
    assert 4 == under_way.units
    assert {name: values[:4] for name, values in whole.values.items()} == under_way.values


# Spells, and how long they last.


def test_halves_in_which_the_same_happens_survive_alike_however_old_their_holders_are() -> None:
    """29 plots are held for good, one is lost every twelve rounds, from round 1 to 108."""
    turnovers = [None, *(1 / 30 if round % 12 == 1 else 0.0 for round in range(2, 109))]
    first, second = (survival(turnovers[start - 1 : start + 47], 48) for start in (13, 61))

    left = 29 / 30  # behind each of the losses, in rounds 1, 13, 25 and 37 of 48
    assert almost(1 + 12 * (left + left**2 + left**3) + 11 * left**4) == first == second


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1))
def test_a_curve_is_that_of_statsmodels(spells: list[tuple[int, bool]]) -> None:
    lengths, lost = zip(*spells, strict=True)
    found = list(curve(Counter(spells)))
    if any(lost):
        theirs = SurvfuncRight(lengths, [int(one) for one in lost])
        assert [
            (at, almost(s)) for at, s in zip(theirs.surv_times, theirs.surv_prob, strict=True)
        ] == found
    else:
        assert [] == found
