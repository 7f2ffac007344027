"""Recorded environments: journals, their repetition, forks, and what cannot be recorded."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import DERIVED, Walk
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.worlds.episode.making import SubjectMaker
from goldrush.replay.worlds.episode.stage import LiveStage
from tests.replay.worlds.episode.envs import MAKE, Hunt, NoisyWalk, Turns, of_lengths, play

kinds = pytest.mark.parametrize("kind", MAKE)


def derived(path: Path | str, make: Callable[..., object]) -> Any:
    """The last state of a journal whose events are all derived again."""
    with JournalReader(path) as reader:
        walk = Walk(episode_world(LiveStage(SubjectMaker(make)).outcome), reader, DERIVED)
        return [state for _, state in walk][-1]


def content(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, dict):
        return {key: content(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [content(item) for item in value]
    return value


@kinds
def test_a_recorded_environment_gives_what_it_gave(kind: str, tmp_path: Path) -> None:
    env = goldrush.wrap(MAKE[kind](), tmp_path / "run.journal")

    first = play(env, kind, 1)
    returned = play(MAKE[kind](), kind, 1)
    assert content(tuple(returned)) == content(tuple(first))


def test_the_same_calls_give_the_same_journal_in_a_fresh_process(tmp_path: Path) -> None:
    program = (
        "import sys; from tests.replay.worlds.episode.envs import MAKE, play; import goldrush\n"
        "for kind, make in MAKE.items():\n"
        "    env = goldrush.wrap(make, f'{sys.argv[1]}/{kind}', values=True, drift=0.5, at=3)\n"
        "    play(env, kind, 20); env.close(); env.close()\n"
    )
    for number in "12":
        (tmp_path / number).mkdir()
        command = [sys.executable, "-c", program, str(tmp_path / number)]
        subprocess.run(command, check=True, env={"PYTHONHASHSEED": number}, cwd=Path.cwd())

    for kind, make in MAKE.items():
        first, second = (tmp_path / number / kind for number in "12")
        assert first.read_bytes() == second.read_bytes()
        assert derived(first, make).is_closed


def test_resets_without_a_seed_get_one_that_follows_from_the_last(tmp_path: Path) -> None:
    env = goldrush.wrap(NoisyWalk, tmp_path / "run.journal")
    given: list[int | None] = [None, 5, None, None, 5, None, None]
    first = [content(env.reset(seed=seed) + env.step(1)) for seed in given]

    resets = list(goldrush.open(tmp_path / "run.journal").events("reset"))
    assert [seed is None for seed in given] == [event["is_drawn"] for event in resets]
    assert first[1:4] == first[4:]
    assert 4 == len({event["seed"] for event in resets})


def test_what_the_environment_raises_ends_a_whole_journal(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    env = goldrush.wrap(NoisyWalk, path, fails=4)
    env.reset()
    for _ in range(3):
        env.step(1)

    with pytest.raises(RuntimeError, match="StopIteration"):
        env.step(1)
    with pytest.raises(BadInput, match="ended when a RuntimeError was raised; wrap it anew"):
        env.reset()
    env.close()
    assert 4 == derived(path, NoisyWalk).unit


def test_what_cannot_be_recorded_is_refused_before_the_step(tmp_path: Path) -> None:
    env = goldrush.wrap(Hunt, tmp_path / "run.journal")
    with pytest.raises(BadInput, match=r"call reset\(\)"):
        env.step({"hunter_0": 1})
    env.reset(seed=1)

    for actions in ({"hunter_0": object()}, {"nobody": 1}, {}):
        with pytest.raises(BadInput):
            env.step(actions)
    for seed in (1.5, np.array([1, 2]), [1, 2]):
        with pytest.raises(BadInput):
            env.reset(seed=seed)
    env.step({"hunter_1": np.zeros(2, "f4")})
    assert 2 == derived(env.journal, Hunt).unit


def test_wrong_targets_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    wrong: list[tuple[Any, dict[str, Any]]] = [
        (3, {}), (lambda: 3, {}), (NoisyWalk(), {"drift": 1.0}), (NoisyWalk, {"drift": object()}),
        (NoisyWalk, {"ignore": 3}), (NoisyWalk, {"seed": -1}),
    ]  # fmt: skip
    for target, parameters in wrong:
        with pytest.raises(BadInput):
            goldrush.wrap(target, path, **parameters)
    with pytest.raises(BadInput):
        goldrush.wrap(NoisyWalk, __file__)

    assert [] == list(tmp_path.iterdir())


def test_values_and_ignored_arrays(tmp_path: Path) -> None:
    env = goldrush.wrap(
        NoisyWalk,
        tmp_path / "run.journal",
        values=True,
        ignore=("info[s", "info[a", "observation[end"),
    )
    env.reset(seed=3, options={"x": 2.0})
    env.step(1)

    names = [e["name"] for e in goldrush.open(env.journal).events("array")]
    assert ["observation[x]", "observation[x]", "info[left]", "info[of]"] == names
    first = next(goldrush.open(env.journal).events("array"))
    assert [2.0] == first["value"]


def test_what_each_environment_of_a_vector_gave_is_its_agents(tmp_path: Path) -> None:
    env = goldrush.wrap(MAKE["vector"], tmp_path / "run.journal")
    env.reset(seed=3)
    returned = [env.step(np.ones(3, int)) for _ in range(8)]

    gave = [(e["agent"], e["reward"]) for e in goldrush.open(env.journal).events("gave")]
    assert gave == [(k, r) for _, rewards, *_ in returned for k, r in enumerate(rewards.tolist())]
    ahead = [e for e in goldrush.open(env.journal).events("array") if e["name"] == "info[ahead]"]
    masks = [infos.get("_ahead", np.zeros(3, bool)) for *_, infos in returned]
    expected = [(step, k) for step, mask in enumerate(masks, 1) for k in np.flatnonzero(mask)]
    assert 0 < len(expected) < 7 * 3
    assert expected == [(event["step"], event["agent"]) for event in ahead]
    scores = [e for e in goldrush.open(env.journal).events("array") if e["name"] == "info[score]"]
    infos = [each for *_, each in returned if "score" in each]
    given = [score for each in infos for score in each["score"][each["_score"]]]
    assert given == pytest.approx([event["value"] for event in scores])


class Lettered(NoisyWalk):
    """Observes a text beside a pair of a number and a text."""

    observation_space = spaces.Dict(
        {"word": spaces.Text(9), "pair": spaces.Tuple((spaces.Discrete(99), spaces.Text(9)))}
    )

    def seen(self) -> Any:
        return {"word": f"w{self.left}", "pair": (self.left, f"p{self.left}")}


class Totalled(gymnasium.vector.VectorWrapper[Any, Any, Any]):
    """Tells of an episode what is of each environment beside what is of all."""

    def step(self, actions: Any) -> Any:
        *given, _ = self.env.step(actions)
        return *given, {"episode": {"r": np.arange(2.0), "mode": "train"}}


def test_environments_of_a_vector_observe_texts_and_share_infos(tmp_path: Path) -> None:
    vector = gymnasium.vector.SyncVectorEnv([Lettered, Lettered])
    env = goldrush.wrap(Totalled(vector), tmp_path / "run.journal")
    env.reset(seed=3)
    env.step(np.ones(2, int))
    rows = [
        (event["agent"], event["name"], event["value"])
        for event in goldrush.open(env.journal).events("array")
        if event["step"] == 1
    ]

    names = "observation[pair][0]", "observation[pair][1]", "observation[word]"
    each = [*zip(names, (5, "p5", "w5"), strict=True)]
    assert [
        (None, "info[episode][mode]", "train"),
        *((0, *row) for row in each), (0, "info[episode][r]", 0.0),
        *((1, *row) for row in each), (1, "info[episode][r]", 1.0),
    ] == rows  # fmt: skip


def test_parallel_agents_are_told_in_their_order_until_none_is_left(tmp_path: Path) -> None:
    env = goldrush.wrap(MAKE["parallel"], tmp_path / "run.journal")
    play(env, "parallel", 3)

    assert [0, 1, 2, 0, 1, 0] == [event["agent"] for event in env.run.events("gave")]
    assert env.recording.state.is_over


def test_an_episode_that_is_cut_off_is_over(tmp_path: Path) -> None:
    env = goldrush.wrap(gymnasium.wrappers.TimeLimit(NoisyWalk(), 2), tmp_path / "run.journal")
    env.reset(seed=1)
    for _ in range(2):
        env.step(1)
    with pytest.raises(BadInput, match="the episode is over"):
        env.step(1)
    env.reset()
    [row, _] = env.run.table("episodes").to_pylist()

    assert (True, [], ["agent"]) == (row["finished"], row["terminated"], row["truncated"])


@pytest.mark.parametrize(
    ("mode", "spans"),
    {
        "SameStep": [[(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)], [(0, 5), (5, 10)]],
        "NextStep": [[(0, 2), (3, 5), (6, 8)], [(0, 5)]],
        "Disabled": [[(0, 2), (3, 5), (6, 9), (10, 12), (13, 15)], [(0, 7), (8, 15)]],
    }.items(),
)
def test_episodes_of_a_vector_are_those_of_its_autoreset_mode(
    mode: str, spans: list[list[tuple[int, int]]], tmp_path: Path
) -> None:
    make = partial(of_lengths, 2, 5, mode=gymnasium.vector.AutoresetMode(mode))
    env = goldrush.wrap(make, tmp_path / "run.journal")
    env.reset(seed=123)
    for _ in range(10):
        ended = env.step(np.array([0, 1]))[2]
        if mode == "Disabled" and ended.any():
            env.reset(options={"reset_mask": ended})
    env.close()
    rows = [row for row in env.run.table("episodes").to_pylist() if row["finished"]]

    for agent, length in enumerate((2, 5)):
        own = [row for row in rows if row["agent"] == f"environment {agent}"]
        assert spans[agent] == [(row["first"], row["last"]) for row in own]
        assert {(length, length)} == {(row["length"], row["return"]) for row in own}
    lengths = [2] * len(spans[0]) + [5] * len(spans[1])
    measures = env.run.measures()
    assert [np.mean(lengths)] * 2 == [measures["mean_length"], measures["mean_return"]]
    assert env.run.verify().broken is None


def test_a_recording_has_the_seed_of_its_first_reset(tmp_path: Path) -> None:
    journals = []
    for seed in (None, 7, 2**62):
        env = goldrush.wrap(NoisyWalk, tmp_path / f"{seed}.journal", seed=5)
        env.reset(seed=seed)
        env.reset(seed=8)
        assert env.run.verify().broken is None
        journals.append(env.run)

    assert [5, 7, 2**62] == [outline_of(run.path).declared.seed for run in journals]


def test_a_reward_that_is_no_number_is_an_array(tmp_path: Path) -> None:
    class TwoAims(NoisyWalk):
        def step(self, action: Any) -> Any:
            seen, reward, *rest = super().step(action)
            return (seen, np.array([reward, 1.0]), *rest)

    env = goldrush.wrap(TwoAims(), tmp_path / "run.journal", values=True)
    env.reset(seed=3)
    _, reward, *_ = env.step(1)

    run = goldrush.open(env.journal)
    assert ["nan"] == [event["reward"] for event in run.events("gave")]
    arrays = {event["name"]: event["value"] for event in run.events("array")}
    assert reward.tolist() == arrays["reward"]


def test_agents_that_die_act_once_more_by_none(tmp_path: Path) -> None:
    env = goldrush.wrap(Turns, tmp_path / "run.journal")
    env.reset(seed=1)
    for action in (0, None, 2, 0, None, 0, None):
        assert content(env.last()) == content(env.last())
        env.step(action)

    assert [] == env.agents
    with pytest.raises(BadInput, match="the episode is over"):
        env.step(None)
    assert derived(env.journal, Turns).is_over


@pytest.mark.parametrize(
    "made",
    [
        lambda: gymnasium.make("CartPole-v1", sutton_barto_reward=True, max_episode_steps=5),
        lambda: gymnasium.make_vec("FrozenLake-v1", num_envs=2, map_name="8x8"),
        lambda: gymnasium.make_vec("CartPole-v1"),
    ],
)
def test_what_gymnasium_has_made_is_made_again(made: Callable[[], Any], tmp_path: Path) -> None:
    env = goldrush.wrap(made(), tmp_path / "run.journal")
    env.reset(seed=3)
    for _ in range(5):
        env.step(env.action_space.sample())
    env.close()

    assert env.run.verify().holds
    assert 4 == env.fork(3, tmp_path / "fork.journal").recording.state.unit


def test_an_environment_that_others_have_wrapped_is_not_made_again(tmp_path: Path) -> None:
    env = gymnasium.wrappers.ClipReward(gymnasium.make("FrozenLake-v1"), 0, 1)
    for target in (env, env.unwrapped, NoisyWalk()):
        wrapped = goldrush.wrap(target, tmp_path / "run.journal", force=True)
        wrapped.reset()

        with pytest.raises(BadInput, match="was given as an object"):
            wrapped.fork(0, tmp_path / "fork.journal")
        wrapped.close()


def test_environments_are_copied_before_their_first_reset_alone(tmp_path: Path) -> None:
    env = goldrush.wrap(NoisyWalk, tmp_path / "run.journal")
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    env.reset()

    for taken in copies:
        with pytest.raises(BadInput, match="already exists"):
            taken.reset()
    for copied in (copy.deepcopy, pickle.dumps):
        with pytest.raises(BadInput, match="has begun: its environment cannot be copied"):
            copied(env)


def test_a_journal_left_open_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    env = goldrush.wrap(NoisyWalk, path)
    env.reset()
    env.step(0)
    del env
    gc.collect()

    assert 2 == derived(path, NoisyWalk).unit
    goldrush.wrap(NoisyWalk, path, force=True).reset()  # the lock is gone


@pytest.mark.filterwarnings("ignore")
def test_libraries_take_recorded_environments_as_their_own(tmp_path: Path) -> None:
    check_env(goldrush.wrap(NoisyWalk, tmp_path / "a.journal"), skip_render_check=True)
    parallel_api_test(goldrush.wrap(Hunt, tmp_path / "b.journal"), num_cycles=10)
    api_test(goldrush.wrap(Turns, tmp_path / "c.journal"), num_cycles=10)

    for path, make in (("a", NoisyWalk), ("b", Hunt), ("c", Turns)):
        assert derived(tmp_path / f"{path}.journal", make).unit > 3
