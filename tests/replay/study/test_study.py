"""Studies as Python objects."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

import attrs
import pytest

import goldrush
from goldrush.games.fishery import Fishery
from goldrush.kernel.errors import BadInput
from goldrush.kernel.measures import mean
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import read_plan


class Idle:
    def plan(self, seen: Any, draws: Any) -> list[Any]:
        return []


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> goldrush.Study:
    return goldrush.study(
        tmp_path_factory.mktemp("studies") / "study",
        treatments={"baseline": {}, "crowded": {"rows": 3, "cols": 3}},
        rosters={"greedy": ["greedy-mine"] * 4, "random": "random*4"},
        seeds=2,
        rounds=10,
        jobs=1,
    )


def test_its_runs_are_those_of_the_plan(study: goldrush.Study) -> None:
    assert len(study.runs()) == 8
    [run] = study.runs(treatment="crowded", roster="greedy", seed=1)

    assert (run.last().state.config.rows, run.seed) == (3, 1)
    assert "8 runs, 2 treatments, 2 rosters, 2 seeds>" in repr(study)
    assert repr(study) == repr(goldrush.Study.open(study.folder))


def test_runs_that_are_not_played_yet_are_left_out(study: goldrush.Study) -> None:
    part = goldrush.Study.open(study.folder)
    first, *others = part.manifest.runs
    waiting = attrs.evolve(first, sha256=None, bytes=None)
    part.manifest = attrs.evolve(part.manifest, runs=(waiting, *others))

    assert [run.path for run in study.runs()[1:]] == [run.path for run in part.runs()]


def seasons(state: Any) -> float:
    """A measure that is called as the horizon of the fishery."""
    return 1.0


def test_a_plan_of_a_game_has_the_horizon_by_its_name(tmp_path: Path) -> None:
    plan = tmp_path / "plan.toml"
    head = "world = 'goldrush.games.fishery:Fishery'\nseeds = 1\nseasons = [3, 4]\n"
    plan.write_text(head)

    world = "goldrush.games.fishery:Fishery"
    assert (3, 4) == read_plan(plan, world=world).rounds
    for more in ("rounds = 5\n", "[settings]\nseasons = 5\n"):
        plan.write_text(head + more)
        with pytest.raises(BadInput, match="seasons is given twice"):
            read_plan(plan, world=world)


def test_a_study_of_a_game_takes_and_tells_the_horizon_by_its_name(tmp_path: Path) -> None:
    of_game = goldrush.study(
        tmp_path / "study", world=Fishery, treatments="baseline", rosters="share*2", seeds=2,
        seasons=[3, 4], jobs=1,
    )  # fmt: skip

    folders = [[run.path.parent.name for run in runs]
               for runs in (of_game.runs(), of_game.runs(rounds=4))]  # fmt: skip
    assert [["seasons-3"] * 2 + ["seasons-4"] * 2, ["seasons-4"] * 2] == folders
    with pytest.raises(BadInput, match="the study has no rounds '5'; give one of 3, 4"):
        of_game.runs(rounds=5)
    columns = of_game.table()
    assert "rounds" not in columns.column_names
    assert [3, 3, 4, 4] == columns["seasons"].to_pylist()
    with pytest.raises(BadInput, match="a measure cannot be called seasons, as a column"):
        of_game.table(measures=[seasons])
    with pytest.raises(BadInput, match="seasons is given twice"):
        goldrush.study(tmp_path / "two", world=Fishery, seasons=3, rounds=3)


def test_a_plan_in_a_file_is_played_with_the_policies_that_are_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, played = tmp_path / "plan.toml", tmp_path / "played"
    plan.write_text("treatments = 'baseline'\nseeds = 2\nrounds = 3\nrosters = 'at_hand:Idle*4'")
    (tmp_path / "at_hand.py").write_text(
        "class Idle:\n    def plan(self, seen, draws):\n        return []\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput, match="at_hand:Idle"):
        goldrush.Study.play(plan, played)
    study = goldrush.Study.play(plan, played, trust="at_hand:Idle", jobs=1)

    assert (2, ("at_hand:Idle",)) == (len(study.runs()), study.trust)
    assert [] == study.failures()


def test_its_table_has_a_row_for_each_run(study: goldrush.Study) -> None:
    table = study.table()

    assert table.num_rows == 8
    results = results_of(study.folder, jobs=1)
    expected = [one.run["turnover"] for of in results.by_cell.values() for one in of]
    assert expected == table.column("turnover").to_pylist()
    for name in ("gold", "plots"):
        means = [mean(run.outcome(name).by_agent) for run in study.runs()]
        assert means == table.column(name).to_pylist()
    assert str(table.schema.field("half_life").type) == "double"
    paths = [goldrush.open(path).path for path in table.column("journal").to_pylist()]
    assert [run.path for run in study.runs()] == paths
    assert set(map(str, paths)) == set(study.table("events").column("journal").to_pylist())
    rounds = study.table("rounds")
    assert rounds.num_rows == 80
    assert set(rounds.column("treatment").to_pylist()) == {"baseline", "crowded"}


def test_its_answer_is_that_of_its_report(study: goldrush.Study) -> None:
    answer = study.answer("plots")
    path = study.report(outcome="plots", force=True)
    page = path.read_text()

    assert all(f'<p class="leads">{escape(sentence)}</p>' in page for sentence in answer.sentences)
    assert "\n".join(answer.sentences) == repr(answer)
    assert {"treatments", "rosters"} == set(answer.comparisons)
    with pytest.raises(BadInput, match="no measure 'plot'"):
        study.answer("plot")


@pytest.mark.parametrize("as_object", [False, True])
def test_what_other_processes_cannot_import_is_refused(as_object: bool, tmp_path: Path) -> None:
    class Local(Idle):
        def __init__(self) -> None:
            self.kept: list[object] = [object()]

    rosters = {"own": ["random", Local() if as_object else Local]}
    with pytest.raises(BadInput, match=r"roster own has policies .* \(agents 1\); give classes"):
        goldrush.study(tmp_path / "study", rosters=rosters, seeds=1, rounds=1)
    assert not (tmp_path / "study").exists()
    with pytest.raises(BadInput, match="holds no study"):
        goldrush.Study.open(tmp_path)
