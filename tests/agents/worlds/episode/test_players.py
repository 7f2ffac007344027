"""Who acts in environments: recorded, forked and asked again, in each kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import goldrush
from goldrush.kernel.errors import BadInput, PolicyFailed, RulesFailed
from goldrush.kernel.worlds.episode.events import ACTED
from goldrush.replay.journal.log import Query, log
from tests.journals import commits_of
from tests.replay.worlds.episode.envs import MAKE, Lasts, NoisyWalk, Turns, of_lengths, play
from tests.replay.worlds.episode.models import Walk

kinds = pytest.mark.parametrize("kind", MAKE)


@pytest.fixture(autouse=True)
def nothing_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldrush.agents.given._MAKERS", {})


class Masked(Turns):
    """Each agent may take its own number alone, which it is told."""

    metadata = {"name": "masked_v0"}

    def reset(self, seed: int | None = None, options: Any = None) -> None:
        super().reset(seed, options)
        for number, agent in enumerate(self.agents):
            mask = np.zeros(4, "i1")
            mask[number + 1] = 1
            self.infos[agent] = {"action_mask": mask}


class Told:
    """A policy that tells who is asked."""

    def __init__(self, asked: list[tuple[str, object]]) -> None:
        self.asked = asked

    def act(self, observation: object, agent: str) -> object:
        self.asked.append((agent, observation))
        return np.ones(2, "f4")


class Up:
    def act(self, observation: Any, agent: str) -> int:
        return 2 if observation["x"][0] >= -99 else 0


def events(path: Path, *names: str) -> Iterator[dict[str, Any]]:
    return (event.as_dict() for event in log(path, Query(names=names)))


def driven(path: Path, kind: str = "environment", steps: int = 20, **parameters: Any) -> Path:
    """The journal of a program with a loop of its own."""
    env = goldrush.wrap(MAKE[kind], path, **parameters)
    play(env, kind, steps)
    env.close()
    return path


@kinds
def test_a_random_run_goes_on_by_drawn_seeds_and_is_asked_again(kind: str, tmp_path: Path) -> None:
    run = goldrush.record(tmp_path / "run.journal", world=MAKE[kind], steps=20, seed=4)
    verdict, resets = run.verify(), len([*events(run.path, "reset")])

    assert (True, 4, 20, 20) == (verdict.holds, verdict.level, verdict.counted, run.info().of)
    counts = (run.units, run.info().units, len(run), verdict.rounds)
    assert (20, 20, 20 + resets, 20 + resets) == counts
    assert run.info().planned is None
    assert 20 == len({event["step"] for event in events(run.path, "acted")})
    assert resets > (kind != "vector")


@pytest.mark.parametrize("kind", ["environment", "vector"])
def test_a_number_of_steps_is_one_of_steps_in_every_door(kind: str, tmp_path: Path) -> None:
    whole = goldrush.record(tmp_path / "whole.journal", world=MAKE[kind], steps=30, seed=4)
    cut = tmp_path / "cut.journal"
    cut.write_bytes(Path(whole.path).read_bytes()[:-900])
    resumed = goldrush.open(cut, world=MAKE[kind]).resume()
    forked = whole.fork(20, tmp_path / "forked.journal", steps=35)
    env = goldrush.wrap(MAKE[kind], tmp_path / "wrapped.journal", steps=30)
    with pytest.raises(BadInput, match="has ended"):
        play(env, kind, 99)

    runs = whole, resumed, forked, env.run
    counted = [{event["step"] for event in run.events("acted")} for run in runs]
    assert [30, 30, 35, 30] == [len(steps) for steps in counted]
    assert [30, 30, 35, 30] == [run.measured().as_dict()["steps"] for run in runs]
    with pytest.raises(BadInput, match=r"steps is \d+, but the run is forked at step 20; give "):
        whole.fork(20, tmp_path / "short.journal", steps=len({*counted[0]} & {*range(21)}))


@pytest.mark.parametrize("resets", [1, 8])
def test_an_action_is_replaced_behind_any_number_of_resets_and_has_the_recorded_type(
    resets: int, tmp_path: Path
) -> None:
    env = goldrush.wrap(NoisyWalk, tmp_path / "run.journal", steps=3)
    for seed in range(resets):
        env.reset(seed=seed)
    for _ in range(3):
        env.step(1)
    replaced = {"step": resets + 1, "agent": 0, "action": 2}
    fork = env.run.fork(resets - 1, tmp_path / "fork.journal", replace=[replaced])
    blocks = [block for commit in commits_of(Path(fork.path)) for block in commit.blocks]

    assert [1, 2, 1] == [row[1] for block in blocks for row in block.rows(ACTED)]
    assert goldrush.open(fork.path, sources=env.run.path).verify().holds


@pytest.mark.parametrize(("steps", "behind"), [(20, 1), (0, 900)])
def test_an_action_behind_the_end_is_refused_and_no_fork_is_left(
    steps: int, behind: int, tmp_path: Path
) -> None:
    run = goldrush.record(tmp_path / "run.journal", world=NoisyWalk, steps=steps, seed=4)
    last = [*events(run.path, "acted")][-1]
    again = run.fork(3, tmp_path / "again.journal", replace=[{**last, "action": 1}])
    behind = last["step"] + behind

    assert 1 == [*events(again.path, "acted")][-1]["action"]
    with pytest.raises(BadInput, match=f"step {behind} is replaced, "):
        run.fork(3, tmp_path / "fork.journal", replace=[{**last, "step": behind}])
    assert not (tmp_path / "fork.journal").exists()
    shorter = again.fork(5, tmp_path / "shorter.journal", steps=7)  # not what this one gave
    assert shorter.info().finished


def test_a_vector_that_does_not_reset_itself_is_reset_by_a_mask(tmp_path: Path) -> None:
    make = partial(of_lengths, 2, 5, mode=gymnasium.vector.AutoresetMode.DISABLED)
    run = goldrush.record(tmp_path / "run.journal", world=make, steps=10, seed=4)
    rows = [row for row in run.table("episodes").to_pylist() if row["finished"]]
    resumed = tmp_path / "cut.journal"
    resumed.write_bytes(Path(run.path).read_bytes()[:-700])
    goldrush.open(resumed, world=make).resume()

    assert [2, 2, 2, 2, 2] == [r["return"] for r in rows if r["agent"] == "environment 0"]
    assert [5, 5] == [r["length"] for r in rows if r["agent"] == "environment 1"]
    assert 4 == run.verify().level
    assert Path(run.path).read_bytes() == resumed.read_bytes()


def test_without_a_number_of_steps_a_run_is_one_episode(tmp_path: Path) -> None:
    run = goldrush.record(tmp_path / "run.journal", world=MAKE["AEC"])

    assert [0] == [event["step"] for event in events(run.path, "reset")]
    assert [True] == [event["is_over"] for event in events(run.path, "turn")][-1:]
    assert 1 == len([*events(run.path, "closed")])


def test_an_episode_that_nothing_ends_stops_at_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goldrush.agents.worlds.episode.players.UNENDED_MAX", 20)
    path, unending = tmp_path / "run.journal", partial(Lasts, 10**9)

    for go_on in (goldrush.record, lambda path, world: goldrush.open(path, world=world).resume()):
        with pytest.raises(RulesFailed, match="has not ended in 20 steps; give their number"):
            go_on(path, world=unending)
    assert 20 == goldrush.open(path).info().units


def test_what_has_no_end_of_its_own_needs_a_number_of_steps(tmp_path: Path) -> None:
    path, other = tmp_path / "run.journal", tmp_path / "other.journal"
    walk = goldrush.wrap(Walk, tmp_path / "whole.journal", seed=3)
    for _ in range(4):
        walk.step()
    path.write_bytes(Path(walk.journal).read_bytes())  # it is broken off
    run, size = goldrush.open(path, world=Walk), path.stat().st_size

    with pytest.raises(BadInput, match=r"steps is missing, and .*:vector has no end"):
        goldrush.record(other, world=MAKE["vector"])
    for go_on in (run.resume, partial(run.fork, 3, other)):
        with pytest.raises(BadInput, match=r"has no end of its own; fork the run with --set steps"):
            go_on()
    assert (size, False) == (path.stat().st_size, other.exists())
    assert 5 == run.fork(3, other, steps=5).info().units


def test_a_random_action_is_one_that_the_mask_allows(tmp_path: Path) -> None:
    run = goldrush.record(tmp_path / "run.journal", world=Masked, steps=30)
    actions = {(event["agent"], event["action"]) for event in events(run.path, "acted")}

    assert {(0, 1), (1, 2), (2, 3)} == actions


def test_a_policy_is_asked_by_the_name_of_its_agent_with_what_it_observes(tmp_path: Path) -> None:
    policies = [Told([]) for _ in range(3)]
    run = goldrush.record(tmp_path / "run.journal", world=MAKE["parallel"], roster=policies)
    names = [{name for name, _ in policy.asked} for policy in policies]

    assert [{"hunter_0"}, {"hunter_1"}, {"hunter_2"}] == names
    assert [3, 2, 1] == [len(policy.asked) for policy in policies]
    assert all(spaces.Box(-99, 99, (2,)).contains(seen) for p in policies for _, seen in p.asked)
    assert 3 == len({tuple(policy.asked[0][1]) for policy in policies})  # type: ignore[arg-type]
    assert run.verify(policies=dict(enumerate(policies))).holds


def test_each_environment_of_a_vector_shows_its_policy_its_own_observation(tmp_path: Path) -> None:
    class Walks(Told):
        def act(self, observation: Any, agent: str) -> object:
            self.asked.append((agent, float(observation["x"][0])))
            return 1

    policies = [Walks([]) for _ in range(3)]
    goldrush.record(tmp_path / "run.journal", world=MAKE["vector"], steps=3, roster=policies)

    assert 3 == len({policy.asked[-1][1] for policy in policies})


class Steady:
    """A policy that spoils what it has seen."""

    def act(self, observation: Any, agent: str) -> int:
        observation["x"][:] = 99
        return 2


class Shares(NoisyWalk):
    """A walk that goes on from what it showed."""

    def step(self, action: Any) -> Any:
        self.x = float(self.shown["x"][0])
        return super().step(action)

    def seen(self) -> Any:
        self.shown = super().seen()
        return self.shown


def test_what_a_policy_does_to_what_it_sees_changes_nothing(tmp_path: Path) -> None:
    spoilt, left = (
        goldrush.record(tmp_path / f"{at}.journal", world=Shares, roster=roster)
        for at, roster in enumerate(([Steady()], f"{__name__}:Up"))
    )

    assert [*events(left.path, "array", "gave")] == [*events(spoilt.path, "array", "gave")]


def test_each_agent_has_random_actions_of_its_own(tmp_path: Path) -> None:
    run = goldrush.record(tmp_path / "run.journal", world=MAKE["parallel"])
    first = [str(event["action"]) for event in events(run.path, "acted") if event["step"] == 1]

    assert 3 == len(first) == len({*first})


def test_an_object_is_asked_again_what_a_program_did_and_its_resets_are_believed(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.journal"
    env = goldrush.wrap(NoisyWalk, path)
    env.reset(seed=3)
    for action in (2, 2, 1):
        env.step(action)
    env.reset(seed=4)
    env.close()
    verdict = goldrush.open(path, world=NoisyWalk).verify(policies={0: Steady()})

    assert verdict.broken is not None
    assert (4, "step 3") == (verdict.broken.level, verdict.broken.where.partition(",")[0])


def test_runs_of_one_class_keep_each_what_made_it(tmp_path: Path) -> None:
    makers = [lambda: NoisyWalk(), lambda: NoisyWalk(drift=0.5, at=2)]
    runs = [goldrush.record(tmp_path / f"{at}", world=make) for at, make in enumerate(makers)]
    forks = [run.fork(3, tmp_path / f"{at}.fork") for at, run in enumerate(runs)]
    opened = [goldrush.open(run.path, world=make) for run, make in zip(runs, makers, strict=True)]

    assert runs[0].path.read_bytes() != runs[1].path.read_bytes()
    assert [True] * 6 == [run.verify().holds for run in (*runs, *forks, *opened)]
    assert goldrush.open(runs[0].path, world=makers[1]).verify().holds is False


@kinds
def test_a_forged_action_of_a_random_agent_is_found(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goldrush.agents.worlds.episode.policies.SEEDS", 1 << 30)
    run = goldrush.record(tmp_path / "run.journal", world=MAKE[kind], steps=8)
    monkeypatch.undo()
    verdict = goldrush.open(run.path, world=MAKE[kind]).verify()

    assert (False, 4) == (verdict.holds, verdict.broken.level)


@kinds
def test_a_fork_does_again_what_the_program_did(kind: str, tmp_path: Path) -> None:
    path = driven(tmp_path / "run.journal", kind)
    run = goldrush.open(path, world=MAKE[kind])
    fork = run.fork(4, tmp_path / "fork.journal")

    assert run.last().digest != fork.last().digest  # another roster
    assert [*events(path, "array", "gave", "closed")] == [
        *events(fork.path, "array", "gave", "closed")
    ]
    found = goldrush.open(fork.path, sources=path).verify()
    assert (True, 4) == (found.holds, found.level_in_part)


@kinds
def test_another_action_is_put_in_and_the_rest_is_done_again(kind: str, tmp_path: Path) -> None:
    path = driven(tmp_path / "run.journal", kind)
    run = goldrush.open(path, world=MAKE[kind])
    exported = [json.loads(json.dumps(event)) for event in events(path, "acted")]
    taken = next(event for event in exported if event["step"] == 3)
    same = run.fork(2, tmp_path / "same.journal", replace=[taken])
    other = {**taken, "action": _other(taken["action"])}
    fork = run.fork(2, tmp_path / "fork.journal", replace=[other])

    assert [*events(path, "array", "gave")] == [*events(same.path, "array", "gave")]
    assert other in [*events(fork.path, "acted")]
    assert 3 == run.diff(fork).first.round
    assert goldrush.open(fork.path, sources=path).verify().holds


def _other(action: Any) -> Any:
    """Another action of the same space."""
    if not isinstance(action, list):
        return (action + 1) % 3
    return [(number + 1) % 3 if isinstance(number, int) else number / 2 for number in action]


@pytest.mark.parametrize(
    "given",
    [
        {"action": 7}, {"action": 0.5}, {"action": [1]}, {"action": None}, {"agent": 3},
        {"agent": None}, {"step": 2}, {"step": 70}, {"event": "reset"},
    ],
)  # fmt: skip
def test_an_action_that_cannot_be_is_refused(given: dict[str, Any], tmp_path: Path) -> None:
    run = goldrush.open(driven(tmp_path / "run.journal"), world=NoisyWalk)
    replaced = {"event": "acted", "step": 3, "agent": 0, "action": 1, **given}

    with pytest.raises(BadInput):
        run.fork(2, tmp_path / "fork.journal", replace=[replaced])
    assert not (tmp_path / "fork.journal").exists()


@pytest.mark.parametrize(
    "change", [{"drift": 1.0}, {"unknown": 1}, {"steps": 2}, {"seed": 2}, {"roster": "random*2"}]
)
def test_a_fork_that_cannot_be_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    run = goldrush.open(driven(tmp_path / "run.journal", drift=0.5), world=NoisyWalk)

    with pytest.raises(BadInput, match=next(iter(change))):
        run.fork(3, tmp_path / "fork.journal", **change)
    assert not (tmp_path / "fork.journal").exists()


def test_the_number_of_agents_is_that_of_the_environment(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="3 agents, not 2"):
        goldrush.record(tmp_path / "run.journal", world=MAKE["parallel"], agents=2)


def test_environments_of_a_vector_are_all_recorded_or_none(tmp_path: Path) -> None:
    path = driven(tmp_path / "run.journal", "vector")
    with pytest.raises(BadInput, match="give all of them the same recording"):
        goldrush.record(
            tmp_path / "mixed.journal", world=MAKE["vector"], steps=3,
            roster=f"recorded:{path}*1,random*2",
        )  # fmt: skip


def test_a_recording_that_broke_off_is_not_resumed_in_place_of_a_learner(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    play(goldrush.wrap(NoisyWalk, path), "environment", 4)  # it is not closed

    with pytest.raises(BadInput, match="agent was played by the program that recorded the run"):
        goldrush.open(path, world=NoisyWalk).resume()


@pytest.mark.parametrize(
    ("action", "says"),
    [("up", r"agent 0 failed in step 1: .* 'up', which is not in"), (object(), "of type object")],
)
def test_an_action_that_the_environment_or_the_journal_cannot_take_is_its_policys_failure(
    action: object, says: str, tmp_path: Path
) -> None:
    policy = Told([])
    policy.act = lambda observation, agent: action  # type: ignore[method-assign]

    with pytest.raises(PolicyFailed, match=says):
        goldrush.record(tmp_path / "run.journal", world=NoisyWalk, roster=[policy])
    assert 1 == goldrush.open(tmp_path / "run.journal").info().closed
