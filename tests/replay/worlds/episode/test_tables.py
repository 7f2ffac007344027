"""Tables of episodes, and what differs between two of them."""

from __future__ import annotations

from math import inf, isinf, isnan, nan
from pathlib import Path

import pytest

from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import Header
from goldrush.kernel.worlds.episode.events import GAVE
from goldrush.replay.data.run_data import run_at
from goldrush.replay.data.tables import as_dicts
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import diff, format_diff
from goldrush.replay.run import Run
from goldrush.replay.worlds.episode.tables import ARRAYS, EPISODES, STEPS
from tests.journals import changed, commits_of, write
from tests.replay.worlds.episode.recorded import walked


def test_a_row_of_an_episode_has_its_steps_seed_returns_and_end(tmp_path: Path) -> None:
    _, second = as_dicts(EPISODES, run_at(walked(tmp_path / "run.journal")))

    assert {
        "episode": 2, "agent": None, "first": 6, "last": 11, "length": 5, "reset_seed": 363308307,
        "is_drawn": True, "return": 80, "returns": {"walker_0": 55, "walker_1": 25},
        "terminated": ["walker_0", "walker_1"], "truncated": [], "finished": True,
    } == second  # fmt: skip


def test_steps_and_arrays_add_up_to_what_was_given(tmp_path: Path) -> None:
    run = run_at(walked(tmp_path / "run.journal"))
    steps = [row for row in as_dicts(STEPS, run) if row["agent"] == "walker_0"]
    arrays = [row for row in as_dicts(ARRAYS, run) if row["step"] == 11]

    assert [1, 3, 6, 10, 15] == [row["return"] for row in steps[:5]]
    assert [("walker_0", [15.0, 30.0]), ("walker_1", [5.0, 10.0])] == [
        (row["agent"], row["value"]) for row in arrays if row["name"] == "observation"
    ]


def test_tables_of_forged_agents_are_refused(tmp_path: Path) -> None:
    commits = commits_of(walked(tmp_path / "run.journal"))
    rows = changed(commits, GAVE, lambda row: [9, *row[1:]], first=True)
    run = run_at(write(tmp_path / "forged.journal", rows, Header("episode", 1)))

    for table in (STEPS, EPISODES, ARRAYS):
        with pytest.raises(MalformedEvents):
            as_dicts(table, run)


def test_the_first_difference_is_named_with_both_values(tmp_path: Path) -> None:
    one, two = walked(tmp_path / "a.journal"), walked(tmp_path / "b.journal", odd=3)
    found = diff(one, two)
    came = consequences(found, by_unit=True)

    assert came is not None
    told = "\n".join(format_diff(found))
    assert "walker_0: observation is [3, 6]" in told
    assert "walker_0: observation is [3, 6.5]" in told
    assert (3, 12) == (came.since, came.until)
    assert all(each.a == each.b for each in came.agents)
    assert [] == came.units  # all rewards are the same


def test_rewards_and_returns_follow_from_the_first_difference(tmp_path: Path) -> None:
    one = walked(tmp_path / "a.journal")
    two = walked(tmp_path / "b.journal", rewards=[1.0, nan, inf])
    came = consequences(diff(one, two), by_unit=True)

    assert came is not None
    assert [(1, 1, 2), (2, 2, None), (3, 3, None)] == [
        (each.of, each.a, each.b) for each in came.units if each.name == "reward"
    ][:3]
    assert [(0, 55, None), (1, 25, None)] == [
        (each.of, each.a, each.b) for each in came.agents if each.name == "return"
    ]
    assert consequences(diff(one, one)) is None


def test_rewards_that_json_lacks_are_numbers_of_the_table_of_events(tmp_path: Path) -> None:
    run = Run(walked(tmp_path / "run.journal", rewards=[nan, inf, -inf]))
    rewards = [reward for reward in run.table("events")["reward"].to_pylist() if reward is not None]

    assert {inf, -inf} == {reward for reward in rewards if isinf(reward)}
    assert any(map(isnan, rewards))
