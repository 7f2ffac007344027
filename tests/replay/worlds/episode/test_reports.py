"""What a model reports, by methods, properties and a collector; what never changes is a setting."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.replay.journal.consequences import consequences
from goldrush.replay.journal.diff import diff
from tests.replay.worlds.episode.envs import NoisyWalk
from tests.replay.worlds.episode.models import Walk
from tests.replay.worlds.episode.test_models import means

pytest.importorskip("scipy")


class Telling(Walk):
    """Tells by a method and by properties; to look at some of them draws and writes."""

    def __init__(self, seed: int, drift: float = 0.0) -> None:
        super().__init__(seed, drift=drift)
        self._rng, self.looked = np.random.default_rng(seed), 0

    def report(self) -> dict[str, float]:
        return {"total": sum(self.places), "still": 4.0}

    @property
    def highest(self) -> float:
        return max(self.places)

    @property
    def anybody(self) -> float:
        self.looked += 1
        self._cached = 1
        global_draws = random.random() + np.random.random()
        return self.random.choice(self.places) + float(self._rng.random()) + global_draws

    @property
    def broken(self) -> float:
        return 1 / self._steps

    @property
    def listed(self) -> list[float]:
        return self.places

    def spread(self) -> float:
        return max(self.places) - min(self.places)


def known(run: goldrush.Run) -> list[str]:
    return [*run.measured().known]


def test_methods_and_properties_are_measures_and_constants_are_not(tmp_path: Path) -> None:
    run = goldrush.wrap(Telling, tmp_path / "run.journal", seed=7, steps=5)
    measured = run.measured()

    assert {"total", "still", "highest", "anybody", "broken", "mean"} == {*known(run)}
    assert ["looked", "drift"] == sorted(measured.still, reverse=True)
    assert [None, 1, 1 / 2, 1 / 3, 1 / 4, 1 / 5] == list(measured.values["broken"])
    assert (4, 0.0) == (measured.of("still"), measured.of("drift"))
    assert "drift" not in f"{run.outcome()}"
    assert run.verify().holds


def test_to_look_at_a_model_changes_nothing_of_it(tmp_path: Path) -> None:
    random.seed(5)
    np.random.seed(5)
    expected = random.random(), np.random.random()
    random.seed(5)
    np.random.seed(5)
    recorded = goldrush.wrap(Telling, tmp_path / "run.journal", seed=7)
    for _ in range(5):
        recorded.step()

    assert means(Walk(7), 5)[-1] == recorded.model.mean
    assert (0, False) == (recorded.model.looked, hasattr(recorded.model, "_cached"))
    bare = np.random.default_rng(7).bit_generator.state
    assert bare == recorded.model._rng.bit_generator.state
    assert expected == (random.random(), np.random.random())
    recorded.close()


def test_what_is_asked_for_is_reported_alone(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    wanted = ["spread", "drift", "total", "listed"]
    run = goldrush.wrap(Telling, path, seed=7, steps=3, report=wanted)

    assert ["spread", "drift", "total"] == known(run)[:3]
    bare = Telling(7)
    for _ in range(3):
        bare.step()
    assert run.measured().of("spread") == bare.spread()
    names = {row["name"] for row in run.events("array") if row["step"] == 1}
    assert {f"report[{name}]" for name in wanted} <= {*names}
    assert not any(name.startswith("variable[") for name in names)
    assert run.verify().holds


def test_a_report_that_is_none_and_one_of_an_environment_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.journal"
    wrong: list[tuple[Any, Any]] = [(Telling, "totl"), (Telling, 3), (NoisyWalk, "total")]
    for make, report in wrong:
        with pytest.raises(BadInput):
            goldrush.wrap(make, path, report=report)
    assert not path.exists()


def test_an_attribute_that_only_a_fork_sets_is_a_setting_in_it_too(tmp_path: Path) -> None:
    run = goldrush.wrap(Walk, tmp_path / "run.journal", seed=7, steps=6)
    fork = goldrush.open(run.path, world=Walk).fork(3, tmp_path / "fork.journal", drift=2.0)
    changed = goldrush.wrap(Walk, tmp_path / "changed.journal", seed=7)
    changed.step()
    changed.change(drift=0.5)
    changed.step()
    changed.close()

    assert [["mean"]] * 3 == [known(run), known(fork), known(changed.run)]
    assert "drift" not in f"{run.outcome().headline}"


def test_a_difference_goes_past_the_parameter_to_what_follows_from_it(tmp_path: Path) -> None:
    run = goldrush.wrap(Slow, tmp_path / "run.journal", seed=7, steps=9)
    fork = goldrush.open(run.path, world=Slow).fork(3, tmp_path / "fork.journal", drift=2.0)
    found = run.diff(fork)
    follows = consequences(found)

    assert found.first is not None
    assert follows is not None
    assert follows.first is not None
    assert ("drift", 4) == (found.causes[0].name, found.first.round)
    assert ("shown", 5) == (follows.first.name, follows.first.of)
    assert (run.measured().values["shown"][5], fork.measured().values["shown"][5]) == (
        follows.first.a, follows.first.b,
    )  # fmt: skip
    assert "first in step 5: shown is" in follows.format({})
    assert {"shown"} == {pair.name for pair in follows.measures}


class Slow(Walk):
    """Shows its mean a step later."""

    def __init__(self, seed: int, drift: float = 0.0) -> None:
        super().__init__(seed, drift=drift)
        self._shown = [0.0, 0.0]

    @property
    def shown(self) -> float:
        return self._shown[-2]

    def step(self) -> float:
        found = super().step()
        del self.mean
        self._shown.append(found)
        return found


def test_what_changes_in_one_run_of_a_study_is_a_measure_of_all(tmp_path: Path) -> None:
    study, plain = (
        goldrush.study(
            tmp_path / f"{len(report)}", world=Growing, seeds=2, rounds=3,
            treatments={"none": {}, "some": {"rate": 1}}, **report,
        )
        for report in ({"report": ["size"]}, {})
    )  # fmt: skip

    sizes = {
        cell.treatment: [run.run["size"] for run in runs]
        for cell, runs in plain.results().by_cell.items()
    }
    assert {"none": [5, 5], "some": [8, 8]} == sizes
    assert [{"size"}, {"size"}] == [{*each.results().measures.known} for each in (plain, study)]
    none, some = (plain.folder / runs[0].path for runs in plain.results().by_cell.values())
    follows = consequences(diff(none, some))
    assert follows is not None
    assert [("size", 5, 8)] == [(pair.name, pair.a, pair.b) for pair in follows.measures]


class Growing:
    """Grows by its rate."""

    def __init__(self, seed: int, rate: int = 0) -> None:
        self.rate, self.size = rate, 5

    def step(self) -> None:
        self.size += self.rate
