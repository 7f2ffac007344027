"""What is kept of a study's runs, held against the measures, and journals that are refused."""

import json
import math
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import sha256_of
from goldrush.kernel.measures import mean
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.study import measuring as module
from goldrush.replay.study.backend import processes
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.measuring import result_of, results_of
from goldrush.replay.study.plan import plan_of
from goldrush.replay.study.records import POINTS, Cell, StudyRun
from goldrush.replay.worlds.mining.measures import MEASURES
from goldrush.replay.worlds.mining.study import MiningResults
from tests.indexes import cached
from tests.journals import commits_of, write
from tests.mining import fork, record

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that no test changes."""
    folder = tmp_path_factory.mktemp("studies") / "study"
    plan = plan_of(
        treatments=["baseline", "scarce"], rosters=["random", "mixed"], seeds=[3, 0], rounds=[12]
    )
    carry_out(plan, folder, backend=processes(1))
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> MiningResults:
    return results_of(folder, jobs=1)


@pytest.fixture
def copy(folder: Path, tmp_path: Path) -> Path:
    shutil.copytree(folder, tmp_path / "copy")
    return tmp_path / "copy"


def test_every_run_is_there_by_cell_with_its_journal(folder: Path, found: MiningResults) -> None:
    cells = [Cell(t, r, 12) for t in ("baseline", "scarce") for r in ("random", "mixed")]

    assert cells == list(found.by_cell)
    for cell in cells:
        for result in found.by_cell[cell]:
            measured = measured_at(folder / result.path)
            assert (cell, measured.config) == (result.cell, result.config)
            assert measured.config.seed == result.seed
        assert [3, 0] == [result.seed for result in found.by_cell[cell]]


def test_what_is_kept_of_a_run_is_what_it_measures(folder: Path, found: MiningResults) -> None:
    for results in found.by_cell.values():
        for result in results:
            measured = measured_at(folder / result.path)

            assert {name: measured.of(name) for name in MEASURES} == result.run
            halves = set(MEASURES) - {"half_life"}
            assert {name: measured.compared(name) for name in halves} == result.halves
            assert {
                name: measured.compared(name, burn_in=False) for name in halves
            } == result.halves_whole
            assert list(measured.gold_after(12)) == list(result.by_agent["gold"])
            assert list(measured.roster) == list(result.policies)
            spells = Counter((s.length, s.lost_to is not None) for s in measured.spells)
            assert spells == result.kept.lengths


@pytest.mark.parametrize("rounds", [1, POINTS, POINTS + 1, 95])
def test_points_of_a_curve_are_values_of_windows_that_cover_all_rounds(
    rounds: int, tmp_path: Path
) -> None:
    record(tmp_path / "a.journal", {"rounds": rounds, "rows": 3, "cols": 3}, "random*4")
    measured = measured_at(tmp_path / "a.journal")
    run = StudyRun(Cell("baseline", "random*4", rounds), 0, "a.journal", measured.config)
    result = result_of(run, measured, None)
    length = math.ceil(rounds / POINTS)

    for name, values in measured.values.items():
        windows = [values[at : at + length] for at in range(0, rounds, length)]
        at_end = measured.known[name].at_end
        points = [window[-1] if at_end else mean(window) for window in windows]
        assert points == list(result.curves[name])
        assert len(windows) <= POINTS


def test_results_do_not_depend_on_the_number_of_processes(
    folder: Path, found: MiningResults, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    assert found == results_of(folder, jobs=2)


# what is kept from one report to the next


def measured_runs(folder: Path, found: MiningResults) -> int:
    """How many runs are measured for the same results once more."""
    written: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        keep = module.keep
        patch.setattr(
            module, "keep", lambda of, run, *more: [written.append(run.path), keep(of, run, *more)]
        )
        assert found == results_of(folder, jobs=1)
    return len(written)


@pytest.fixture
def kept(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Path]:
    """The files of the eight runs, in a cache of their own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    results_of(folder, jobs=1)
    return sorted(cached().iterdir())


def test_what_was_measured_is_not_measured_again(
    copy: Path, found: MiningResults, kept: list[Path]
) -> None:
    again = results_of(copy, jobs=1)  # the same journals in another folder

    assert (8, found.by_cell, kept) == (len(kept), again.by_cell, sorted(cached().iterdir()))
    assert 0 == measured_runs(Path(found.folder), found)


def test_damage_to_what_is_kept_changes_no_answer(
    folder: Path, found: MiningResults, kept: list[Path]
) -> None:
    one, data = kept[0], kept[0].read_bytes()
    flipped = [
        data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        for at in range(0, len(data), len(data) // 40)
    ]
    for other in (*flipped, data[:-1], b"", kept[1].read_bytes(), b"\xc1" * 28):
        one.write_bytes(other)

        assert 1 == measured_runs(folder, found)
        assert data == one.read_bytes()


def test_another_code_measures_anew(
    folder: Path, found: MiningResults, kept: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_CODE", ("0", "0"))

    assert 8 == measured_runs(folder, found)
    assert 16 == len(list(cached().iterdir()))


# what is refused


def first_of(study: Path) -> Path:
    return study / "baseline" / "random" / "rounds-12" / "seed-0003.journal"


def refused(study: Path, says: str) -> None:
    with pytest.raises(BadInput, match=says) as caught:
        results_of(study, jobs=1)
    assert "run the study's command again" in str(caught.value)


def test_a_journal_that_is_missing_or_of_which_one_bit_changed_is_refused(copy: Path) -> None:
    data = bytearray(first_of(copy).read_bytes())
    data[len(data) // 2] ^= 1
    first_of(copy).write_bytes(data)

    refused(copy, r"seed-0003.journal is not the journal that the manifest lists")
    first_of(copy).unlink()
    refused(copy, r"seed-0003.journal is missing")
    listing(copy, lambda run: run.update(sha256=None, bytes=None))
    refused(copy, "is not finished: 1 of 8 runs are left")


def listing(study: Path, change: Any) -> None:
    """Change how the manifest lists the first run."""
    path = study / "manifest.json"
    manifest = json.loads(path.read_text())
    change(manifest["runs"][0])
    path.write_text(json.dumps(manifest))


def test_what_is_listed_and_no_run_of_the_plan_is_refused(copy: Path, tmp_path: Path) -> None:
    first = first_of(copy)
    unfinished, forked = tmp_path / "unfinished.journal", tmp_path / "fork.journal"
    write(unfinished, commits_of(first)[:-1])
    fork(first, 6, forked, roster="random*10")
    for path, says in {
        unfinished: "seed-0003.journal is not finished",
        forked: "seed-0003.journal is a fork",
        first.with_name("seed-0000.journal"): "the configuration of .* differs from the manifest",
    }.items():
        shutil.copy(path, first)
        digest = sha256_of(first)
        listing(copy, lambda run, digest=digest: run.update(sha256=digest))

        refused(copy, says)


def exchanged(copy: Path, one: str, other: str, where: str) -> None:
    """Exchange two names in the manifest: in the list or in the plan."""
    path = copy / "manifest.json"
    manifest = json.loads(path.read_text())
    names = {one: other, other: one}

    def swapped(value: str) -> str:
        return names.get(value, value)

    if where == "plan":
        plan = manifest["plan"]
        plan["treatments"] = [swapped(name) for name in plan["treatments"]]
        plan["rosters"] = {name: plan["rosters"][swapped(name)] for name in plan["rosters"]}
    for run in manifest["runs"] if where == "list" else []:
        run.update(treatment=swapped(run["treatment"]), roster=swapped(run["roster"]))
    path.write_text(json.dumps(manifest))


@pytest.mark.parametrize("names", [("random", "mixed"), ("baseline", "scarce")])
@pytest.mark.parametrize("where", ["list", "plan"])
def test_names_that_were_exchanged_in_the_manifest_are_not_believed(
    copy: Path, names: tuple[str, str], where: str
) -> None:
    exchanged(copy, *names, where)

    with pytest.raises(BadInput) as caught:
        results_of(copy, jobs=1)

    assert "restore" in str(caught.value) or "is not the journal" in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": [4, 0]},
        {"settings": {"truce": 2}},
        {"rosters": {"random": "random*9", "mixed": None}},
        {"treatments": ["baseline"]},
        {"own": {"scarce": {"truce": 0}}},
        {"own": []},
        {"more": 1},
    ],
)
def test_a_plan_that_says_other_runs_than_are_listed_is_refused(
    copy: Path, change: dict[str, Any]
) -> None:
    path = copy / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["plan"].update(change)
    path.write_text(json.dumps(manifest))

    with pytest.raises(BadInput, match="; restore "):
        results_of(copy, jobs=1)
