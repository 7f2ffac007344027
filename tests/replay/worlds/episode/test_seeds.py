"""Where the seed of a model or an environment goes, and what takes none."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.episode.config import MODEL, About
from goldrush.kernel.worlds.episode.events import RESET
from goldrush.kernel.worlds.episode.values import DICT
from goldrush.replay.making import SEED_NAMES
from goldrush.replay.worlds.episode.making import SubjectMaker
from goldrush.replay.worlds.episode.model import ModelSubject
from goldrush.replay.worlds.episode.recording import SubjectRecorder, config_for
from tests.replay.worlds.episode.envs import NoisyWalk
from tests.replay.worlds.episode.models import Walk


class Odd(Walk):
    """Its seed has a name of its own."""

    def __init__(self, world_seed: int = 0, drift: float = 0.0) -> None:
        super().__init__(world_seed, drift=drift)


class Passed(Walk):
    """Passes a seed of a common name on."""

    def __init__(self, rng_seed: int = 0, **others: Any) -> None:
        super().__init__(rng_seed, **others)


class Deep(Passed):
    """Passes everything on."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)


class Fixed(Walk):
    """Takes no seed."""

    def __init__(self, drift: float = 0.0) -> None:
        super().__init__(5, drift=drift)


def odd(**given: Any) -> Odd:
    """Makes a model, and does not tell what it takes."""
    return Odd(**given)


def named(name: str) -> Callable[..., Walk]:
    """The class of a model whose seed has this name."""
    made: dict[str, Any] = {"Walk": Walk}
    source = (
        f"class Model(Walk):\n    def __init__(self, {name}=0):\n        super().__init__({name})"
    )
    exec(source, made)
    return made["Model"]  # type: ignore[no-any-return]


def end_of(make: Callable[..., Any], path: Path, **how: Any) -> object:
    return goldrush.wrap(make, path, steps=5, force=True, **how).measures()["mean"]


def bare(seed: int) -> float:
    model = Walk(seed)
    return [model.step() for _ in range(5)][-1]


@pytest.mark.parametrize("name", SEED_NAMES)
def test_a_seed_reaches_parameters_of_common_names(name: str, tmp_path: Path) -> None:
    path = tmp_path / "run.journal"

    assert end_of(named(name), path, seed=7) == bare(7)
    assert goldrush.open(path, world=named(name)).verify().holds


@pytest.mark.parametrize("make", [Passed, Deep, partial(Passed, points=5)])
def test_a_seed_is_passed_on(make: Callable[..., Any], tmp_path: Path) -> None:
    assert end_of(make, tmp_path / "run.journal", seed=7) == bare(7)


@pytest.mark.parametrize("make", [Odd, Fixed, odd, partial(Fixed, drift=1.0)])
def test_what_takes_no_seed_is_refused_and_leaves_no_journal(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "run.journal"

    with pytest.raises(BadInput, match="--seed-parameter"):
        goldrush.wrap(make, path, steps=5)
    with pytest.raises(BadInput, match="--seed-parameter"):
        goldrush.record(path, world=make, steps=5)
    assert not path.exists()


class Sown(Walk):
    """Has a number of plants that has the name of a seed."""

    def __init__(self, seed: int = 10, rng_seed: int = 1) -> None:
        super().__init__(rng_seed)


def test_of_two_names_of_seeds_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with pytest.raises(BadInput, match="--seed-parameter rng_seed"):
        end_of(Sown, path, seed=7)
    assert not path.exists()
    assert bare(7) == end_of(Sown, path, seed=7, seed_parameter="rng_seed")
    assert goldrush.open(path, world=Sown).verify().holds


def test_the_parameter_that_takes_the_seed_can_be_named(tmp_path: Path) -> None:
    path, other = tmp_path / "run.journal", tmp_path / "other.journal"
    for make in Odd, odd:
        assert end_of(make, path, seed=7, seed_parameter="world_seed") == bare(7)
        goldrush.record(other, world=make, seed=7, steps=5, seed_parameter="world_seed", force=True)
        assert path.read_bytes() == other.read_bytes()

    fork = goldrush.open(path, world=odd).fork(2, tmp_path / "fork.journal", drift=1.0)
    assert goldrush.open(path, world=odd).verify().holds
    assert fork.verify().holds
    with pytest.raises(BadInput, match="world_sed"):
        end_of(Odd, path, seed_parameter="world_sed")


def test_a_model_without_a_seed_is_recorded_and_has_one_run(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"

    assert end_of(Fixed, path, seed_parameter="") == bare(5)
    assert goldrush.open(path, world=Fixed).verify().holds
    with JournalReader(path) as reader:
        rows = [row for commit in reader for block in commit.blocks for row in block.rows(RESET)]
    assert [(None, False, (DICT, ()))] == rows
    with pytest.raises(BadInput, match=r"the seed is 7, and .* takes none"):
        end_of(Fixed, path, seed=7, seed_parameter="")


def test_a_study_of_what_takes_no_seed_is_refused_or_has_one_seed(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    for how in ({}, {"seed_parameter": ""}):  # all runs would be the same
        with pytest.raises(BadInput):
            goldrush.study(folder, world=Fixed, seeds=3, rounds=4, **how)
    treatments = {"still": {}, "drifting": {"drift": 1.0}}
    study = goldrush.study(
        folder, world=Odd, treatments=treatments, seeds=3, rounds=4, seed_parameter="world_seed",
        ignore="variable[drift]",
    )  # fmt: skip

    means = [run.run["mean"] for runs in study.results().by_cell.values() for run in runs]
    assert 6 == len({*means})
    assert {"mean"} == {*study.results().measures.known}


def test_a_parameter_that_takes_the_seed_is_no_setting(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with pytest.raises(BadInput, match="which takes the seed"):
        goldrush.record(path, world=named("rng_seed"), steps=5, rng_seed=5)
    with pytest.raises(BadInput, match="there is no setting 'rng_seed'"):
        goldrush.study(path, world=named("rng_seed"), seeds=2, rounds=2, rng_seed=5)
    how: dict[str, Any] = {"seed_parameter": "world_seed", "world_seed": 5, "seed": 2, "steps": 5}
    for make in Odd, odd:
        with pytest.raises(BadInput, match="which takes the seed"):
            goldrush.wrap(make, path, **how)
    assert not path.exists()


def test_a_journal_without_the_name_of_the_parameter_is_of_seed_or_rng(tmp_path: Path) -> None:
    """As such a model was recorded once: its seed reached nothing."""
    make, path = named("rng_seed"), tmp_path / "run.journal"
    about = About(name="models:Model", kind=MODEL, report=())
    subject = ModelSubject(make, about)
    config = config_for(7, 5, {})
    recording: SubjectRecorder[Any] = SubjectRecorder.new(
        subject, about, config, SubjectMaker(make), path, force=False
    )
    recording.do((RESET, [(7, False, (DICT, ()))]))
    while not recording.is_over:
        recording.do()

    run = goldrush.open(path, world=make)
    assert run.measures()["mean"] == bare(0)
    assert run.verify().holds


class Reset(NoisyWalk):
    """Its `reset` takes no seed."""

    def reset(self) -> Any:  # type: ignore[override]
        return super().reset(seed=5)


class Renamed(NoisyWalk):
    """Its `reset` calls the seed otherwise."""

    def reset(self, random_state: int | None = None, options: Any = None) -> Any:  # type: ignore[override]
        return super().reset(seed=random_state)


def test_an_environment_that_takes_no_seed_is_refused_or_reset_without(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    with pytest.raises(BadInput, match=r"Reset.reset takes no parameter seed or rng"):
        goldrush.wrap(Reset, path)
    with pytest.raises(BadInput, match=r"Reset.reset takes no parameter seed or rng"):
        goldrush.record(path, world=Reset, roster="random", steps=5)
    env = goldrush.wrap(Reset, path, seed_parameter="")
    with pytest.raises(BadInput, match="the seed 3 is given, and reset takes none"):
        env.reset(seed=3)
    env.reset()
    env.close()
    run = goldrush.record(
        tmp_path / "b.journal", world=Reset, roster="random", steps=5, seed_parameter=""
    )

    assert goldrush.open(path, world=Reset).verify().holds
    assert run.verify().holds


def test_a_seed_of_a_common_name_reaches_the_reset_of_an_environment(tmp_path: Path) -> None:
    draws = []
    for make, seed in (NoisyWalk, 3), (Renamed, 3), (Renamed, 4):
        env = goldrush.wrap(make, tmp_path / "run.journal", force=True)
        env.reset(seed=seed)
        draws.append(env.unwrapped.np_random.random())
        env.close()

    first, same, other = draws
    assert first == same != other
