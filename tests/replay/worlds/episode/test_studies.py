"""Studies of models: parameters as settings, variables as outcomes."""

from __future__ import annotations

from pathlib import Path

import pytest

import goldrush
from goldrush.kernel.errors import BadInput
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.data.measures import Span
from goldrush.replay.data.run_data import RunData, measured_at
from goldrush.replay.study.outcomes import outcome_named
from tests.replay.worlds.episode.envs import NoisyWalk
from tests.replay.worlds.episode.models import Walk

pytest.importorskip("scipy")


def test_treatments_of_a_model_are_compared_in_its_variables(tmp_path: Path) -> None:
    study = goldrush.study(
        tmp_path / "study", world=Walk, treatments={"still": {}, "drifting": {"drift": 2.0}},
        seeds=3, rounds=10,
    )  # fmt: skip

    by_treatment = {
        cell.treatment: [run.run["mean"] for run in runs]
        for cell, runs in study.results().by_cell.items()
    }
    bare = []
    for seed in range(3):
        model = Walk(seed, drift=2.0)
        bare.append([model.step() for _ in range(10)][-1])
    assert by_treatment["drifting"] == bare
    assert set(study.results().measures.known) == {"mean"}


def test_a_point_of_a_curve_is_a_step_and_no_reset(tmp_path: Path) -> None:
    study = goldrush.study(tmp_path / "study", world=Walk, seeds=1, rounds=3)
    results = study.results()
    [[result]] = results.by_cell.values()
    run = RunData(study.folder / result.path, results.of, episode_world(), None)
    points = [value for _, value in outcome_named(results, "mean").curves(result)[""].values()]

    assert [Span(2, 2), Span(3, 3), Span(4, 4)] == [*result.windows]
    assert [*run.measured.values["mean"]][1:] == points

    path = tmp_path / "run.journal"
    env = goldrush.wrap(NoisyWalk, path)
    for steps in (2, 1):
        env.reset(seed=1)
        for _ in range(steps):
            env.step(1)
    windows = measured_at(path).units_of(map(Span, (1, 3, 4), (2, 3, 4)))

    assert [Span(2, 3), Span(5, 5)] == windows


def test_an_unknown_parameter_and_an_environment_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no setting 'drif'; did you mean drift"):
        goldrush.study(tmp_path / "study", world=Walk, drif=1.0, seeds=1, rounds=1)
    with pytest.raises(BadInput, match="no class of a model is given"):
        goldrush.study(tmp_path / "study", world=NoisyWalk, seeds=1, rounds=1)
