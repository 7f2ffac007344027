"""Recorded models: what is recorded, changed and forked, what is no model, when all is digested."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldrush
from goldrush.agents.targets import target_of
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.walk import DERIVED, NotDerived
from goldrush.kernel.walk import Walk as Walked
from goldrush.kernel.worlds.episode.events import ARRAY
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.worlds.episode.making import SubjectMaker
from goldrush.replay.worlds.episode.recorded import RecordedEnv
from goldrush.replay.worlds.episode.stage import LiveStage
from tests.replay.worlds.episode.models import (
    Duck,
    Failing,
    Forgetful,
    Herd,
    LazyEnv,
    Nested,
    Numbered,
    Walk,
    numbered,
)  # fmt: skip


def shown(path: Path | str, make: Callable[..., object]) -> list[Mapping[Any, object]]:
    """The recorded values of each step, derived again."""
    with JournalReader(path) as reader:
        walk = Walked(episode_world(LiveStage(SubjectMaker(make)).outcome), reader, DERIVED)
        return [state.shown for commit, state in walk if commit.kind == UNIT]


def arrays(path: Path | str, name: str) -> list[int]:
    """The steps in which arrays whose names begin so are recorded."""
    with JournalReader(path) as reader:
        return [
            commit.unit - 1
            for commit in reader
            if any(row[1].startswith(name) for block in commit.blocks for row in block.rows(ARRAY))
        ]


def means(model: Walk, steps: int, changes: Mapping[int, float] = {}) -> list[float]:
    """Those of a model that nobody records. `changes`: of its drift, by step."""
    found = [model.mean]
    for step in range(1, steps + 1):
        model.drift = changes.get(step, model.drift)
        found.append(model.step())
    return found


MEAN = (None, "variable[mean]")


class Late:
    """Has a variable from its second step on."""

    def __init__(self, seed: int) -> None:
        self.steps = seed

    def step(self) -> None:
        self.steps += 1
        if self.steps > 1:
            self.later = 10 * self.steps


def test_a_variable_that_comes_later_is_undefined_before(tmp_path: Path) -> None:
    run = goldrush.wrap(Late, tmp_path / "run.journal", seed=0, steps=3)

    assert [None, None, 20, 30] == list(run.measured().values["later"])
    assert 30 == run.measured().of("later")


def test_what_a_collector_reports_is_recorded_in_place_of_attributes(tmp_path: Path) -> None:
    run = goldrush.wrap(Herd, tmp_path / "run.journal", seed=7, steps=3)

    bare = Herd(seed=7)
    for _ in range(3):
        bare.step()
    alive = bare.datacollector.model_vars["alive"]
    assert shown(run.path, Herd) == [
        {(None, "report[alive]"): now, (None, "report[by kind][old]"): now // 2}
        for now in alive
    ]  # fmt: skip
    assert arrays(run.path, "agents") == arrays(run.path, "generator[rng]") == [0, 1, 2, 3]


class Rare(Herd):
    """Collects every fifth step only."""

    def collect(self) -> None:
        if self.steps % 5 == 0:
            super().collect()


class Window(Herd):
    """Keeps the last three rows."""

    def collect(self) -> None:
        kept = self.datacollector.model_vars
        super().collect()
        for name in kept:
            kept[name] = deque(kept[name], maxlen=3)  # type: ignore[assignment]
        self.datacollector._agent_records = {0: [(0, one, 1.5) for one in range(self.alive)]}


class Sliding(Herd):
    """As Window, in the same lists, of which nothing is new but the last row."""

    def collect(self) -> None:
        super().collect()
        for rows in self.datacollector.model_vars.values():
            del rows[:-1]


class Steady:
    """Its collector keeps two rows, which are equal; in the last steps it collects no more."""

    def __init__(self, seed: int = 0) -> None:
        self.rows: list[float] = [float("1.5"), float("1.5")]
        self.collector, self.steps = SimpleNamespace(model_vars={"share": self.rows}), 0

    def step(self) -> None:
        self.steps += 1
        if self.steps < 5:
            self.rows[:] = [self.rows[-1], float("1.5")]


class Filling(Steady):
    """Its collector keeps the same object in each of three rows, from the third step on."""

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.rows[:] = [0.5, 0.25, 1.5]

    def step(self) -> None:
        self.rows[:] = [*self.rows[1:], self.rows[-1]]


@pytest.mark.parametrize(
    ("make", "steps", "recorded"),
    [
        (partial(Rare, alive=500), 12, (0, 5, 10)),
        (partial(Window, alive=500), 6, range(7)),
        (partial(Sliding, alive=500), 6, range(7)),
        (Steady, 6, range(5)),
        (Filling, 6, range(3)),
    ],
)
def test_a_row_of_a_collector_is_recorded_in_the_step_in_which_it_came(
    make: Callable[..., Any], steps: int, recorded: Sequence[int], tmp_path: Path
) -> None:
    run = goldrush.wrap(make, tmp_path / "run.journal", seed=7, steps=steps)

    assert [*recorded] == arrays(run.path, "report[")


def test_a_collector_without_lists_is_refused_in_one_line(tmp_path: Path) -> None:
    class Odd(Steady):
        def __init__(self, seed: int = 0) -> None:
            super().__init__()
            self.collector.model_vars["share"] = 3

    with pytest.raises(BadInput, match=r"share in the model_vars of .*Odd is 3; give a list"):
        goldrush.wrap(Odd, tmp_path / "run.journal", steps=2)


def test_a_model_that_stops_ends_the_run(tmp_path: Path) -> None:
    run = goldrush.wrap(Herd, tmp_path / "run.journal", seed=7, steps=500, alive=2)

    last = len(shown(run.path, Herd)) - 1
    assert last < 500
    assert arrays(run.path, "attributes[alive]") == [last]


@given(
    changes=st.dictionaries(st.integers(1, 8), st.floats(-9, 9), max_size=3),
    at=st.integers(0, 8), drift=st.floats(-9, 9),
)  # fmt: skip
def test_a_fork_is_the_run_with_another_change(
    tmp_path_factory: pytest.TempPathFactory, changes: dict[int, float], at: int, drift: float
) -> None:
    folder = tmp_path_factory.mktemp("runs")

    with goldrush.wrap(Walk, folder / "run.journal", seed=7) as recorded:
        for step in range(1, 9):
            if step in changes:
                recorded.change(drift=changes[step])
            recorded.step()
        with recorded.fork(at, folder / "fork.journal", drift=drift) as fork:
            for _ in range(at, 9):
                fork.step()

    kept = {step: value for step, value in changes.items() if step <= at}
    there, here = (shown(each.journal, Walk)[:-1] for each in (fork, recorded))
    assert [values[MEAN] for values in here] == means(Walk(7), 8, changes)
    assert [values[MEAN] for values in there] == means(Walk(7), 9, {**kept, at + 1: drift})


def test_a_change_is_made_once_and_reaches_attributes_of_attributes(tmp_path: Path) -> None:
    bare = Herd(seed=7)
    bare.alive, bare.scenario.risk = 50, 0.5
    with goldrush.wrap(Herd, tmp_path / "run.journal", seed=7) as recorded:
        recorded.change(alive=50, **{"scenario.risk": 0.5})
        assert recorded.model.scenario.risk == 0.2
        for _ in range(2):
            recorded.step()
            bare.step()

    assert recorded.model.alive == bare.alive


def test_an_attribute_that_a_model_does_not_have_is_refused(tmp_path: Path) -> None:
    with goldrush.wrap(Walk, tmp_path / "run.journal") as recorded:
        recorded.step()
        with pytest.raises(BadInput, match="did you mean drift"):
            recorded.change(drif=1.0)
        with pytest.raises(BadInput):
            recorded.fork(1, tmp_path / "fork.journal", drif=1.0)

    assert not (tmp_path / "fork.journal").exists()
    assert [2] == arrays(recorded.journal, "attributes")  # digested as it is closed


@pytest.mark.parametrize(
    "name",
    [
        "__class__.K", "_steps", "a.__dict__", "kind.K", "of_class.a", "step.__doc__", "module.K",
    ],
)  # fmt: skip
def test_a_change_reaches_nothing_that_runs_share(tmp_path: Path, name: str) -> None:
    with goldrush.wrap(Nested, tmp_path / "run.journal", seed=7) as recorded:
        recorded.step()
        with pytest.raises(BadInput, match=f"'{name}' cannot be changed"):
            recorded.change(**{name: 5})
        with pytest.raises(BadInput, match=f"'{name}' cannot be changed"):
            recorded.recording.subject.change(name, 5)  # as a journal has it


def test_a_model_that_fails_leaves_what_was_before(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError, match="the third step"):
        goldrush.wrap(Failing, tmp_path / "run.journal", seed=7, steps=20)

    recorded = [values[MEAN] for values in shown(tmp_path / "run.journal", Failing)]
    assert recorded == means(Walk(7), 2)


def test_what_no_variable_shows_is_found_by_the_digest_of_all(tmp_path: Path) -> None:
    run = goldrush.wrap(Forgetful, tmp_path / "run.journal", seed=7, steps=6, every=3)

    with pytest.raises(NotDerived, match=r"step 3, .*attributes\[hidden\]"):
        shown(run.path, Forgetful)


@pytest.mark.parametrize(("every", "steps"), [(0, [8]), (3, [3, 6, 8]), (4, [4, 8])])
def test_all_is_digested_every_so_many_steps_and_at_the_end(
    tmp_path: Path, every: int, steps: list[int]
) -> None:
    run = goldrush.wrap(Walk, tmp_path / "run.journal", seed=7, steps=8, every=every)

    assert arrays(run.path, "attributes") == steps


@pytest.mark.parametrize("make", [Numbered, numbered])
def test_a_model_is_made_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[..., Any]
) -> None:
    monkeypatch.setattr(Numbered, "made", 0)
    run = goldrush.wrap(make, tmp_path / "run.journal", seed=7, steps=3)
    monkeypatch.setattr("goldrush.agents.given._MAKERS", {"": target_of(make)})
    monkeypatch.setattr(Numbered, "made", 0)  # as in another process
    recorded = goldrush.record(tmp_path / "other.journal", world=make, seed=7, steps=3)

    for path in run.path, recorded.path:
        monkeypatch.setattr(Numbered, "made", 0)
        assert shown(path, make)[0][None, "variable[number]"] == 1


def test_what_has_spaces_is_no_model_though_its_step_needs_no_action(tmp_path: Path) -> None:
    assert isinstance(goldrush.wrap(LazyEnv, tmp_path / "run.journal"), RecordedEnv)
    with pytest.raises(BadInput, match="Duck makes an environment"):
        goldrush.wrap(Duck, tmp_path / "duck.journal")


WITHOUT_NUMPY = """
import random, sys
sys.modules["numpy"] = None  # as where goldrush alone is installed

import goldrush

class Town:
    def __init__(self, growth=1.0, seed=None):
        self.random, self.growth, self.total = random.Random(seed), growth, 4.0

    def step(self):
        self.total += self.growth * self.random.random()

run = goldrush.wrap(Town, "a.journal", seed=7, steps=9)
fork = run.fork(4, "b.journal", growth=0.5)
first = run.diff(fork).first
print(first.a["name"], first.a["value"], first.b["value"])
print(run.verify().holds, fork.verify().holds, run.measures()["total"] > fork.measures()["total"])
"""


def test_a_plain_class_needs_no_numpy(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-c", WITHOUT_NUMPY], cwd=tmp_path, capture_output=True, text=True
    )

    assert "" == told.stderr
    first, second = told.stdout.splitlines()
    assert "variable[growth] 1.0 0.5" == first
    assert "True True True" == second


def test_a_reset_is_no_step(tmp_path: Path) -> None:
    run = goldrush.record(tmp_path / "run.journal", world=Walk, steps=12, seed=1)
    verdict, info = run.verify(), run.info()

    assert (12, 12, 12, None) == (run.units, info.units, info.of, info.planned)
    assert (13, 12, 12) == (verdict.rounds, verdict.counted, measured_at(run.path).counted)
