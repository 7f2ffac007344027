"""What recorded episodes come to, told again from their events: measures, tables, the page, and
what differs between two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import fsum, inf, isfinite, nan
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import goldrush
from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import Header
from goldrush.kernel.worlds.episode.events import GAVE
from goldrush.replay.data.run_data import measured_at, run_at
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.story import narrator
from goldrush.replay.summary import summarise
from goldrush.replay.view.page import page_of
from goldrush.replay.worlds.episode.tables import EPISODES
from tests.journals import changed, commits_of, events_of, write
from tests.replay.worlds.episode.envs import Hunt, NoisyWalk, play
from tests.tables import by_name

Row = dict[str, Any]
HOSTILE = "<script>alert(1)</script>\u202e"


class Named(Hunt):
    """Its agents have these names, and get these rewards in the first steps."""

    def __init__(self, names: Sequence[str] = ("a", "b"), rewards: Sequence[float] = ()) -> None:
        super().__init__()
        self.possible_agents, self.given = list(names), list(rewards)

    def step(self, actions: Any) -> Any:
        seen, rewards, *rest = super().step(actions)
        if self.steps <= len(self.given):
            rewards = dict.fromkeys(rewards, self.given[self.steps - 1])
        return (seen, rewards, *rest)


# The subject, its kind, and what it gives: an episode of a walk is a reset and six steps.
RUNS: dict[str, tuple[Callable[[], Any], str, int]] = {
    "the third is broken off": (NoisyWalk, "environment", 17),
    "the third is a reset alone": (NoisyWalk, "environment", 15),
    "none has ended": (NoisyWalk, "environment", 3),
    "several agents": (Hunt, "parallel", 9),
    "no numbers": (partial(Named, rewards=[nan, 1.0, inf]), "parallel", 8),
}


def recorded(path: Path, make: Callable[..., Any], kind: str, steps: int) -> goldrush.Run:
    env = goldrush.wrap(make, path, values=True)
    play(env, kind, steps)
    env.close()
    return goldrush.open(path)


@pytest.fixture(params=RUNS)
def run(request: pytest.FixtureRequest, path: Path) -> goldrush.Run:
    return recorded(path, *RUNS[request.param])


def told(run: goldrush.Run) -> list[Row]:
    """The episodes, each with its events of what was given."""
    episodes: list[Row] = []
    for event in run.events():
        if event.name == "reset":
            episodes.append({"first": event["step"], "reset": event, "gave": []})
        elif event.name == "gave":
            episodes[-1]["gave"].append(event)
        elif event.name == "turn":
            episodes[-1]["finished"] = event["is_over"]
        elif event.name == "closed":
            break
        elif event.name == "step_closed":
            episodes[-1]["last"] = event["step"]
    return episodes


def rewards_of(episode: Row, agent: int | None = None) -> list[float]:
    return [float(e["reward"]) for e in episode["gave"] if agent in (None, e["agent"])]


def finite(value: float) -> float | None:
    return value if isfinite(value) else None


def almost(values: Any) -> Any:
    return pytest.approx(values, nan_ok=True)


def test_measures_are_those_of_the_events(run: goldrush.Run) -> None:
    measured, episodes = run.measured(), told(run)
    agents = range(len(measured.by_agent["return"]))
    finished = [episode for episode in episodes if episode["finished"]]
    totals = {sum(rewards_of(e)) for e in finished if finite(sum(rewards_of(e))) is not None}
    best = max(totals, default=None)
    expected = {
        "episodes": len(finished),
        "mean_length": fmean(e["last"] - e["first"] for e in finished) if finished else None,
        "mean_return": fmean(totals) if totals else None,
        "best_return": best,
    }

    assert {name: almost(value) for name, value in expected.items()} == {
        name: measured.of(name) for name in expected
    }
    gave = [event for episode in episodes for event in episode["gave"]]
    for step in range(episodes[-1]["last"] + 1):
        rewards = [float(event["reward"]) for event in gave if event["step"] == step]
        assert almost(finite(fsum(rewards)) if rewards else None) == measured.values["reward"][step]
    last = next(episode for episode in reversed(episodes) if episode["gave"])
    for name, of in (("rewards", episodes), ("return", [last])):
        sums = [fsum(r for e in of for r in rewards_of(e, agent)) for agent in agents]
        assert [finite(total) for total in sums] == almost(measured.by_agent[name])


def test_the_table_is_that_of_the_events(run: goldrush.Run) -> None:
    names = run.at(0).state.about.agents
    rows = by_name(EPISODES, run_at(run.path))
    for number, (episode, row) in enumerate(zip(told(run), rows, strict=True), 1):
        gave, reset = episode["gave"], episode["reset"]
        sums = dict.fromkeys(names, 0.0)

        assert {
            "episode": number, "first": episode["first"], "last": episode["last"],
            "length": episode["last"] - episode["first"], "finished": episode["finished"],
            "reset_seed": reset["seed"],
        }.items() <= row.items()  # fmt: skip
        for end in ("terminated", "truncated"):
            assert {names[event["agent"]] for event in gave if event[end]} == {*row[end]}
        for event in gave:
            sums[names[event["agent"]]] += float(event["reward"])
        assert {name: finite(total) for name, total in sums.items()} == almost(row["returns"])


@pytest.mark.parametrize("agent", [3, -1, 10**9])
def test_a_forged_agent_is_reported(agent: int, path: Path) -> None:
    recorded(path, Hunt, "parallel", 4)
    rows = changed(commits_of(path), GAVE, lambda row: [agent, *row[1:]], first=True)
    forged = write(path.with_name("forged.journal"), rows, Header("episode", 1))

    for read in (measured_at, summarise, lambda path: by_name(EPISODES, run_at(path))):
        with pytest.raises(MalformedEvents):
            read(forged)


# What a person sees.


def lines(path: Path, unit: int) -> list[str]:
    return list(narrator(path)(e for e in events_of(path) if e.unit == unit))


def test_a_step_is_told_with_the_names_of_agents(path: Path) -> None:
    recorded(path, partial(Named, rewards=[1.0, 2.0]), "parallel", 3)
    told = lines(path, 1)

    for name in "ab":
        for says in (" acts: ", ": observation is ", ": info[near] is 2", " gets the reward 1"):
            assert any(line.startswith(f"{name}{says}") for line in told)
    assert "a          2        3" in repr(rebuild(path, 2))  # its reward, and the sum


def test_names_and_numbers_of_anybody_are_text(path: Path) -> None:
    recorded(path, partial(Named, [HOSTILE, "\x1b[31mred"], [nan, inf]), "parallel", 3)
    page, told = page_of(path), [line for unit in (1, 2) for line in lines(path, unit)]

    assert HOSTILE[:-1] not in page
    assert not set("\x1b\u202e") & set(page + "".join(told))
    for reward in ("nan", "inf, terminated"):
        assert f"<script>alert(1)</script>\\u202e gets the reward {reward}" in told


# What differs.


def test_rewards_and_returns_follow_from_the_first_difference(path: Path) -> None:
    one = recorded(path, NoisyWalk, "environment", 14)
    two = recorded(path.with_name("two"), partial(NoisyWalk, drift=0.5, at=3), "environment", 14)
    nans = [
        recorded(path.with_name(name), partial(Named, rewards=rewards), "parallel", 3)
        for name, rewards in (("a", [1.0, 2.0]), ("b", [1.0, nan]))
    ]
    found, without = (consequences(a.diff(b)) for a, b in ((one, two), nans))

    assert found is not None
    assert without is not None
    assert (3, 14) == (found.since, found.until)
    reward, undefined = found.first, without.first
    assert ("reward", 3, pytest.approx(0.5)) == (reward.name, reward.of, reward.b - reward.a)
    assert ("reward", 2.0, None) == (undefined.name, undefined.a, undefined.b)
    assert consequences(one.diff(one)) is None
