"""The measures of episodes: returns, finished episodes, variables, numbers that are none."""

from __future__ import annotations

from math import inf, nan
from pathlib import Path

import pytest

from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import Header
from goldrush.kernel.worlds.episode.events import GAVE
from goldrush.kernel.worlds.episode.subject import VECTOR
from goldrush.replay.data.groups import groups
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.find import tools_at
from goldrush.replay.summary import summarise
from goldrush.replay.worlds.episode.measures import MeasuredEpisodes
from tests.journals import changed, commits_of, write
from tests.replay.worlds.episode.recorded import (
    STEP,
    Growth,
    Walkers,
    act,
    change,
    record,
    reset,
    walked,
)


def test_returns_of_finished_episodes_and_where_the_best_begins(tmp_path: Path) -> None:
    # One agent stays where its seed puts it (0, then 5); the other goes by 1, then by 2.
    run = measured_at(walked(tmp_path / "run.journal"))

    names = ("episodes", "mean_return", "best_return", "best_episode", "best_step", "mean_length")
    assert [2, 47.5, 80, 2, 6, 5] == [run.of(name) for name in names]
    assert [None, 1, 2, 3, 4, 5, None] == list(run.values["reward"])[:7]
    assert {"return": [55, 25], "rewards": [70, 25]} == run.by_agent


def test_an_episode_that_is_broken_off_is_not_finished(tmp_path: Path) -> None:
    units = [reset(7), act(1, 0), reset(7), *[act(1, 0)] * 5]
    run = measured_at(record(tmp_path / "run.journal", Walkers(), units))

    assert (1, 15, 2) == tuple(run.of(name) for name in ("episodes", "mean_return", "best_step"))


def test_a_reset_at_the_end_leaves_the_return_of_the_episode_before(tmp_path: Path) -> None:
    run = measured_at(record(tmp_path / "run.journal", Walkers(), [reset(7), act(1, 0), reset(7)]))

    assert run.by_agent["rewards"] == run.by_agent["return"] != [0, 0]


def test_each_environment_of_a_vector_has_its_own_episodes(tmp_path: Path) -> None:
    class Vector(Walkers):
        """Two environments, which reset themselves: the first one after each step."""

        def step(self, actions):  # type: ignore[no-untyped-def]
            outcome = super().step({0: 1, 1: 1})
            rows = [(agent, reward, agent == 0, False) for agent, reward, _, _ in outcome.results]
            return type(outcome)((0, 1), False, rows, outcome.arrays)

    units = [reset(7), *[(1, [(None, 0)])] * 3]
    path = record(tmp_path / "run.journal", Vector(), units, kind=VECTOR)
    run = measured_at(path)

    assert isinstance(run, MeasuredEpisodes)
    assert [(0, 0, 1, True), (1, 0, 3, False), (0, 2, 2, True), (0, 3, 3, True)] == [
        (episode.agent, episode.first, episode.last, episode.is_finished)
        for episode in run.episodes
    ]
    assert [[1], [6], [2], [3]] == [episode.returns for episode in run.episodes]


def test_rewards_that_are_no_finite_numbers_are_undefined_and_break_nothing(tmp_path: Path) -> None:
    path = walked(tmp_path / "run.journal", rewards=[1.0, nan, inf, 2.0, -inf])
    run = measured_at(path)

    assert [None, 2, None, None, 4, None] == list(run.values["reward"])[:6]
    assert (2, None, None) == tuple(run.of(n) for n in ("episodes", "mean_return", "best_step"))
    assert ["2 finished episodes; no return is a finite number."] == tools_at(path).headline(
        run
    ).sentences


def test_the_variables_of_a_model_are_its_measures(tmp_path: Path) -> None:
    units = [reset(2), STEP, STEP, change("rate", 5.0), STEP]
    path = record(tmp_path / "run.journal", Growth(), units)
    run = measured_at(path)

    assert ["Size"] == list(run.known)
    assert [2, 3, 4, 9, 14, None] == list(run.values["Size"])
    assert 14 == run.of("Size")
    assert ["Reported last: Size is 14."] == tools_at(path).headline(run).sentences


@pytest.mark.parametrize("name", ["reward", "<script>alert(1)</script>", "a]b", "{0}"])
def test_a_variable_may_have_any_name(tmp_path: Path, name: str) -> None:
    path = record(tmp_path / "run.journal", Growth(f"variable[{name}]"), [reset(2), STEP])
    run = measured_at(path)

    assert [3.0] == [run.of(known) for known in run.known]


def test_runs_of_different_subjects_have_no_common_mean(tmp_path: Path) -> None:
    walk = walked(tmp_path / "walk.journal")
    other = record(tmp_path / "other.journal", Growth(), [reset(2), STEP])
    pytest.importorskip("scipy")

    assert [1, 1] == [group.runs for group in groups([walk, other], 1)]


@pytest.mark.parametrize("agent", [2, -1, 10**9])
def test_a_forged_agent_is_reported(tmp_path: Path, agent: int) -> None:
    commits = commits_of(walked(tmp_path / "run.journal"))
    rows = changed(commits, GAVE, lambda row: [agent, *row[1:]], first=True)
    path = write(tmp_path / "forged.journal", rows, Header("episode", 1))

    for act_on in (measured_at, summarise):
        with pytest.raises(MalformedEvents):
            act_on(path)


def test_episodes_of_one_return_have_no_best(tmp_path: Path) -> None:
    path = walked(tmp_path / "run.journal", rewards=[0.0] * 12)

    assert ["All 2 finished episodes have a return, added over the agents, of 0."] == (
        tools_at(path).headline(measured_at(path)).sentences
    )
