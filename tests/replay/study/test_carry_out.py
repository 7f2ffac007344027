"""Studies carried out: the folder, restarts, whatever lies there, and workers that die."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs
import pytest

import goldrush.agents.llm.client  # noqa: F401  for all workers: those that are forked need not load it
from goldrush.agents.llm.models import Endpoint, Model, Models
from goldrush.agents.mining.players import fork, record
from goldrush.kernel import files
from goldrush.kernel.errors import BadInput, GoldrushError, WriteFailed
from goldrush.kernel.journal import END, FORK, Commit, JournalReader, sha256_of
from goldrush.replay.batch import journals_in, verify_all
from goldrush.replay.study import carry_out as module
from goldrush.replay.study import place as places
from goldrush.replay.study import play
from goldrush.replay.study.carry_out import CHECKED, PLAYED, carry_out
from goldrush.replay.study.manifest import MANIFEST, UNFINISHED, read_manifest
from goldrush.replay.study.place import Place, RunFailed, WorkersLost, processes
from goldrush.replay.study.plan import Plan, Planned, plan_of
from goldrush.replay.study.play import kept
from goldrush.replay.verify import Verdict, verify
from goldrush.replay.workers import workers
from tests.cli.helpers import ROOT
from tests.journals import commits_of, write
from tests.llm.runs import models, rows_in
from tests.llm.servers import Asked, Reply, completion, serving
from tests.waiting import HANGS, until, until_gone

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

PLAN = plan_of(
    treatments=["baseline", "alpha-rich", "agents-20"], rosters=["random", "mixed"], seeds=2,
    rounds=[5, 6],
)  # fmt: skip
RUNS = PLAN.runs()
FIRST, LAST = RUNS[0].path, RUNS[-1].path


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers of a study that was killed end in their own time."""
    monkeypatch.setattr(module, "LOCK_WAIT", HANGS)


Tree = dict[str, bytes | None]
Stamps = dict[str, tuple[int, int]]


def tree(folder: Path) -> Tree:
    """All that is in a folder and below it; None for a folder."""
    return {
        str(path.relative_to(folder)): None if path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def stamps(folder: Path) -> Stamps:
    """Which files the journals are: one that is written again is another."""
    return {
        str(path.relative_to(folder)): (path.lstat().st_ino, path.lstat().st_mtime_ns)
        for path in folder.rglob("*.journal")
    }


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of PLAN, never interrupted."""
    folder = tmp_path_factory.mktemp("whole") / "study"
    carry_out(PLAN, folder, place=processes(1))
    return folder


@pytest.fixture
def study(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(whole, tmp_path / "study")
    return tmp_path / "study"


def again(folder: Path, whole: Path) -> set[str]:
    """Carry it out once more: the same folder in the end. What was played."""
    before, steps = stamps(folder), [(PLAYED, 0, 0)]
    carry_out(PLAN, folder, on_step=lambda *step: steps.append(step))
    after = stamps(folder)
    changed = {path for path in after if after[path] != before.get(path)}

    assert tree(whole) == tree(folder)
    assert max(done for what, done, _ in steps if what == PLAYED) == len(changed)
    return changed


# The folder.


def test_every_run_is_a_journal_in_its_place_and_holds_at_level_4(whole: Path) -> None:
    paths = [str(whole / run.path) for run in RUNS]

    assert sorted([MANIFEST, *(run.path for run in RUNS)]) == sorted(
        path for path, data in tree(whole).items() if data is not None
    )
    assert [(True, 4, True)] * len(RUNS) == [
        (o.holds, o.verdict and o.verdict.level, o.verdict and o.verdict.finished)
        for o in verify_all(paths, jobs=1)
    ]


def test_journals_are_those_that_record_writes(whole: Path, tmp_path: Path) -> None:
    for run in RUNS[:: len(RUNS) // 5]:
        roster = None if run.cell.roster == "mixed" else run.cell.roster
        settings = {"rounds": run.cell.rounds, "seed": run.seed}
        record(tmp_path / "x", settings, roster, run.cell.treatment, force=True)

        assert (tmp_path / "x").read_bytes() == (whole / run.path).read_bytes()


def test_the_manifest_has_the_plan_the_versions_and_a_line_for_every_run(whole: Path) -> None:
    text = (whole / MANIFEST).read_text()
    table = json.loads(text)
    manifest = read_manifest(whole)
    listed = [run for cell in table["cells"] for run in cell["runs"]]

    assert ("mining", 1, 1) == (table["world"], table["format"], table["rules"])
    assert json.loads(json.dumps(PLAN.as_dict())) == table["plan"] == manifest.plan
    assert manifest.finished
    assert [(run.cell, run.seed, run.path, run.config) for run in RUNS] == [
        (run.cell, run.seed, run.path, run.config) for run in manifest.runs
    ]
    for run in listed:
        [line] = [line for line in text.splitlines() if run["path"] in line]

        assert run == json.loads(line.strip().rstrip(","))
        assert sha256_of(whole / run["path"]) == run["sha256"]
        assert (whole / run["path"]).stat().st_size == run["bytes"]
    cell = table["cells"][-1]

    assert ("agents-20", "mixed", 6) == (cell["treatment"], cell["roster"], cell["rounds"])
    assert (20, RUNS[-1].config.pressure) == (len(cell["policies"]), cell["pressure"])
    assert {"seed": 1} == cell["runs"][1]["config"]
    assert 100 == len(table["cells"][4]["runs"][0]["config"]["alpha_by_plot"])


@pytest.mark.parametrize(
    "place",
    [
        processes(2), processes(50), Place(lambda runs: ThreadPoolExecutor(3), 5),
        Place(lambda runs: ThreadPoolExecutor(1), 1, sees_folder=False),
    ],
    ids=["2 processes", "more processes than runs", "threads", "a place without the folder"],
)  # fmt: skip
def test_the_folder_is_the_same_wherever_runs_are_played(
    whole: Path, tmp_path: Path, place: Place
) -> None:
    carry_out(PLAN, tmp_path / "new" / "study", place=place)

    assert tree(whole) == tree(tmp_path / "new" / "study")


def test_no_more_processes_than_runs_are_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(places, "workers", lambda jobs: asked.append(jobs) or workers(jobs))
    few = attrs.evolve(PLAN, treatments=["baseline"], rosters={"random": "random"}, rounds=[5])
    carry_out(few, tmp_path / "study", place=processes(900))
    carry_out(few, tmp_path / "study", place=processes(1))

    assert [2, 1] == asked


def test_steps_tell_what_is_checked_and_what_is_played(study: Path) -> None:
    (study / FIRST).unlink()
    (study / LAST).write_bytes(b"")
    steps: list[tuple[str, int, int]] = []
    carry_out(PLAN, study, on_step=lambda *step: steps.append(step))
    there = len(RUNS) - 1

    assert [
        *((CHECKED, done, there) for done in range(1, there + 1)),
        *((PLAYED, done, 2) for done in range(3)),
    ] == steps


# Again.


def test_finished_runs_are_kept_and_nothing_is_written(study: Path, whole: Path) -> None:
    assert set() == again(study, whole)


def damaged(data: bytes) -> bytes:
    return data[:-40] + bytes([data[-40] ^ 1]) + data[-39:]


@pytest.mark.parametrize("manifest", ["whole", "unfinished"])
@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        damaged,
        lambda data: data[: len(data) // 2],
        lambda data: data[:-5],
        lambda data: data + b"\0",
        lambda data: b"hello, this is no journal",
        lambda data: bytes(len(data)),
    ],
    ids=["empty", "damaged", "half", "torn", "longer", "foreign", "zeros"],
)
def test_a_journal_that_is_broken_is_played_anew(
    study: Path, whole: Path, change: Callable[[bytes], bytes], manifest: str
) -> None:
    if manifest == "unfinished":
        forget(study)
    for path in (FIRST, LAST):
        (study / path).write_bytes(change((study / path).read_bytes()))

    assert {FIRST, LAST} == again(study, whole)


def forget(folder: Path) -> None:
    """Make the manifest that of a study that was killed: nothing is done yet."""
    table = json.loads((folder / MANIFEST).read_text())
    for cell in table["cells"]:
        for run in cell["runs"]:
            run.update(sha256=None, bytes=None)
    (folder / MANIFEST).write_text(json.dumps(table))


@pytest.mark.parametrize("manifest", ["whole", "unfinished"])
def test_a_journal_of_another_run_is_played_anew(study: Path, whole: Path, manifest: str) -> None:
    if manifest == "unfinished":
        forget(study)
    a, b = study / RUNS[0].path, study / RUNS[1].path  # two seeds
    there = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(there)
    other = study / RUNS[4].path
    record(other, {"rounds": 5, "seed": 0}, "raid*10", force=True)  # another roster
    forked = study / RUNS[5].path
    fork(whole / RUNS[5].path, 2, forked, settings={"fine": 3.0}, force=True)
    longer = study / RUNS[6].path
    record(longer, {"rounds": 7, "seed": 0}, None, force=True)

    assert {RUNS[place].path for place in (0, 1, 4, 5, 6)} == again(study, whole)


def test_a_journal_that_has_not_ended_is_played_anew(study: Path, whole: Path) -> None:
    forget(study)
    path = study / FIRST
    with JournalReader(path) as reader:
        *_, last = reader
    os.truncate(path, last.offset)

    assert (END, True) == (last.kind, verify_one(path))
    assert {FIRST} == again(study, whole)


def verify_one(path: Path) -> bool | None:
    [outcome] = verify_all([str(path)], jobs=1)
    return outcome.holds


def test_a_journal_of_other_rules_is_not_kept(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(study / FIRST)
    before = kept(RUNS[0], path)
    monkeypatch.setattr(play, "MINING", attrs.evolve(play.MINING, rules=2))

    assert before is not None
    assert kept(RUNS[0], path) is None


def test_what_is_no_file_is_no_journal(study: Path, whole: Path, tmp_path: Path) -> None:
    """A link is replaced, and what it leads to is left alone."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for run in RUNS[:4]:
        (study / run.path).unlink()
    (study / RUNS[0].path).symlink_to(tmp_path / "nowhere")
    (study / RUNS[1].path).symlink_to(precious)
    (study / (RUNS[2].path + UNFINISHED)).symlink_to(precious)
    os.mkfifo(study / RUNS[3].path)

    assert {run.path for run in RUNS[:4]} == again(study, whole)
    assert "precious" == precious.read_text()
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("is_whole", [True, False])
@pytest.mark.parametrize("name", ["baseline", MANIFEST])
def test_nothing_is_written_through_a_link_out_of_the_folder(
    study: Path, tmp_path: Path, name: str, is_whole: bool
) -> None:
    elsewhere = tmp_path / "elsewhere"
    if not is_whole:
        (study / FIRST).write_bytes(b"")
    shutil.move(study / name, elsewhere)
    (study / name).symlink_to(elsewhere)
    before = tree(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()
    with pytest.raises((BadInput, WriteFailed), match=r"symbolic link|no ordinary file"):
        carry_out(PLAN, study)

    assert before == (tree(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes())
    assert (study / name).is_symlink()


def test_a_folder_that_becomes_a_link_between_two_runs_is_refused(tmp_path: Path) -> None:
    study, elsewhere = tmp_path / "study", tmp_path / "elsewhere"
    elsewhere.mkdir()
    last = study / LAST.split("/")[0]

    def swap(what: str, done: int, every: int) -> None:
        if done == 1:
            shutil.rmtree(last)
            last.symlink_to(elsewhere)

    place = Place(lambda runs: ThreadPoolExecutor(1), 1)
    with pytest.raises(RunFailed, match="symbolic link"):
        carry_out(PLAN, study, place=place, on_step=swap)

    assert last.is_symlink()
    assert [] == list(elsewhere.iterdir())


@pytest.mark.parametrize("name", [FIRST, FIRST + UNFINISHED, "baseline"])
def test_what_is_in_the_way_is_told_and_the_rest_is_kept(
    study: Path, whole: Path, name: str
) -> None:
    """Nothing but a journal is taken away."""
    path = study / name
    before = set(stamps(study))
    if path.is_dir():
        shutil.rmtree(path)
        path.write_text("precious")
    else:
        (study / FIRST).unlink()
        path.mkdir()
        (path / "precious").touch()
    with pytest.raises((RunFailed, WriteFailed)) as error:
        carry_out(PLAN, study)

    assert name.removesuffix(UNFINISHED) in str(error.value)
    assert path.is_file() or (path / "precious").exists()
    if name != "baseline":
        assert before - {FIRST} == set(stamps(study)) - {FIRST}
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    again(study, whole)


def test_what_is_left_of_runs_that_were_under_way_disappears(study: Path, whole: Path) -> None:
    for run in RUNS[:3]:
        (study / (run.path + UNFINISHED)).write_bytes((study / run.path).read_bytes()[:500])
    (study / RUNS[0].path).unlink()
    (study / f".goldrush-{'0' * 16}").write_text("{")
    (study / RUNS[0].path).with_name(f".goldrush-{'1' * 16}").write_text("half a journal")

    assert {RUNS[0].path} == again(study, whole)


def test_a_study_that_died_before_its_manifest_begins(tmp_path: Path, whole: Path) -> None:
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / f".goldrush-{'0' * 16}").write_text('{"gold')

    assert len(RUNS) == len(again(tmp_path / "study", whole))


@pytest.mark.parametrize(
    "grown",
    [
        {"seeds": (0, 1, 2)},
        {"seeds": (5, 1, 0)},
        {"treatments": ("scarce", "baseline", "alpha-rich", "agents-20")},
        {"rosters": {"raid": "raid", "random": "random", "mixed": None}},
        {"rounds": (4, 5, 6)},
    ],
    ids=["seeds", "seeds in another order", "treatments", "rosters", "horizons"],
)
def test_a_plan_may_grow(study: Path, tmp_path: Path, grown: dict[str, Any]) -> None:
    before = stamps(study)
    plan = attrs.evolve(PLAN, **grown)
    manifest = carry_out(plan, study)
    carry_out(plan, tmp_path / "at once")

    assert before.items() <= stamps(study).items()
    assert len(plan.runs()) == len(manifest.runs) > len(RUNS)
    assert tree(tmp_path / "at once") == tree(study)


@pytest.mark.parametrize(
    "other",
    [
        {"seeds": (0,)},
        {"treatments": ("baseline",)},
        {"settings": {"fine": 9.0}},
        {"rosters": {"random": "raid", "mixed": None}},
        {"rosters": {"random": "random", "mixed": "raid"}},
        {"rosters": {"Random": "random", "random": "random", "mixed": None}},
    ],
    ids=["fewer seeds", "fewer treatments", "settings", "roster", "mix", "folder of another"],
)
def test_a_folder_of_another_plan_is_refused_and_not_touched(
    study: Path, whole: Path, other: dict[str, Any]
) -> None:
    before = stamps(study)
    with pytest.raises(BadInput, match=r"holds a study with .*give another folder") as error:
        carry_out(attrs.evolve(PLAN, **other), study)

    assert "\n" not in str(error.value)
    assert (tree(whole), before) == (tree(study), stamps(study))


def test_a_roster_that_now_has_the_folder_of_another_is_refused(tmp_path: Path) -> None:
    small = attrs.evolve(PLAN, treatments=["baseline"], rosters={"a b": "random"})
    carry_out(small, tmp_path / "study")
    with pytest.raises(BadInput, match="which is another run in this plan"):
        carry_out(
            attrs.evolve(small, rosters={"a_b": "random", "a b": "random"}), tmp_path / "study"
        )


def test_a_folder_of_somebody_elses_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("precious")
    with pytest.raises(BadInput, match="not empty and holds no study"):
        carry_out(PLAN, tmp_path)

    assert {"notes.txt": b"precious"} == tree(tmp_path)


def test_journals_without_their_manifest_are_refused(study: Path, whole: Path) -> None:
    (study / MANIFEST).unlink()
    there = tree(study)
    with pytest.raises(BadInput, match=r"no manifest.json.*bring the manifest back"):
        carry_out(PLAN, study)
    there_after = tree(study)
    shutil.copy(whole / MANIFEST, study / MANIFEST)

    assert there == there_after
    assert set() == again(study, whole)


HOSTILE: list[tuple[str, Any]] = [
    ("text", ""), ("text", "[" * 100_000), ("text", "{}"), ("text", "[]"), ("text", "null"),
    ("text", "\xff"), ("text", '{"cells": 1' + "0" * 5000),
    ("world", "competition"), ("plan", []), ("plan", {}), ("plan", {"rosters": 3}),
    ("cells", None), ("cells", []), ("cells", [3]), ("cells", {"a": 1}), ("cells", [{"runs": 3}]),
    ("path", 3), ("path", ""), ("path", "../x"), ("path", "/x"), ("path", "a//b"),
    ("path", "a\0b"), ("path", LAST), ("sha256", 3), ("sha256", "x"), ("sha256", "A" * 64),
    ("sha256", None), ("bytes", "3"), ("bytes", -1), ("bytes", True), ("bytes", None),
    ("config", None), ("config", {"seed": 10**400}), ("config", {"oops": 1}),
    ("config", {"detection": float("nan")}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), HOSTILE)
def test_a_manifest_that_is_none_is_refused_and_not_touched(
    study: Path, name: str, value: Any
) -> None:
    table = json.loads((study / MANIFEST).read_text())
    if name in table:
        table[name] = value
    elif name in table["cells"][0]["runs"][0]:
        table["cells"][0]["runs"][0][name] = value
    text = value if name == "text" else json.dumps(table)
    (study / MANIFEST).write_bytes(text.encode("latin-1"))
    there = tree(study)
    with pytest.raises(BadInput, match=r"manifest.json is no manifest of a study") as error:
        carry_out(PLAN, study)

    assert len(str(error.value)) < 500
    assert there == tree(study)


def test_a_manifest_that_is_too_large_or_no_file_is_refused(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goldrush.replay.study.manifest.MANIFEST_MAX", 100)
    with pytest.raises(BadInput, match="more than 100 bytes"):
        read_manifest(study)
    with pytest.raises(BadInput, match="the study's manifest would have about"):
        carry_out(PLAN, study.parent / "new")
    (study / MANIFEST).unlink()
    os.mkfifo(study / MANIFEST)
    with pytest.raises(BadInput, match="no ordinary file"):
        read_manifest(study)

    assert not (study.parent / "new").exists()


@pytest.mark.parametrize("kind", ["file", "link to nowhere", "below a file", "NUL", "long", "ro"])
def test_a_folder_that_cannot_be_is_refused(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x"
    if kind == "link to nowhere":
        path.symlink_to("nowhere/at/all")
    elif kind == "ro":  # for root, no folder is
        path.mkdir()
        monkeypatch.setattr("os.access", lambda path, mode: False)
    else:
        path.write_text("precious")
    names = {"below a file": "x/study", "NUL": "a\0b", "long": "y" * 300}
    with pytest.raises(BadInput, match=r"(cannot (use|write in) |is no folder).*--out"):
        carry_out(PLAN, tmp_path / names.get(kind, "x"))

    assert ["x"] == os.listdir(tmp_path)


def test_two_studies_at_once_in_a_folder_are_refused(
    study: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOCK_WAIT", 0.1)
    (study / FIRST).unlink()
    refused: list[str] = []

    def another(*step: object) -> None:
        with pytest.raises(BadInput, match="another study is at work") as error:
            carry_out(PLAN, study)
        refused.append(str(error.value))

    carry_out(PLAN, study, place=processes(1), on_step=another)

    assert refused
    assert set() == again(study, whole)


def test_a_study_waits_for_one_that_is_just_ending(
    study: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[float] = []
    with module._locked(study):
        monkeypatch.setattr(module.time, "sleep", lambda seconds: tries.append(seconds))
        waiting = threading.Thread(target=again, args=(study, whole))
        waiting.start()
        was_waiting = until(tries.copy) and waiting.is_alive()
    waiting.join(HANGS)

    assert (True, False) == (was_waiting, waiting.is_alive())
    assert set() == again(study, whole)


# Nobody can play.


@pytest.mark.parametrize(
    ("roster", "says"),
    [
        ("no.such:Policy", "no.such:Policy cannot be made"),
        ("json:dumps", "cannot be made"),
        ("llm:a", "the environment has no OPENAI_API_KEY"),
    ],
)
def test_players_that_cannot_be_are_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, roster: str, says: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BadInput, match=says):
        carry_out(attrs.evolve(PLAN, rosters={"x": roster}), tmp_path / "study")

    assert [] == os.listdir(tmp_path)


# Policies that raise, and that end their process.

POLICIES = """
import os, signal, time
from pathlib import Path

class Idle:
    def plan(self, seen, draws):
        if seen.round == 3 and seen.agent == 0:
            self.act()
        return [("claim", plot, 1) for plot in seen.unowned[:1]]
    def act(self):
        pass

class Once(Idle):
    def act(self):
        path = Path("{folder}", "died")
        if not path.exists():
            path.touch()
            os.kill(os.getpid(), signal.SIGKILL)

class Always(Idle):
    def act(self):
        os._exit(3)

class Raises(Idle):
    def act(self):
        raise ValueError("cannot go on")

class Interrupted(Idle):
    def act(self):
        if not Path("{folder}", "ready").exists():
            raise KeyboardInterrupt

class Sleeps(Idle):
    def act(self):
        Path("{folder}", "sleeps").touch()
        if not Path("{folder}", "ready").exists():
            time.sleep({hangs})
            Path("{folder}", "woke").touch()
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Plan]]:
    """Plans in which a policy of one's own plays, between others."""
    (tmp_path / "players.py").write_text(POLICIES.format(folder=tmp_path, hangs=HANGS))
    monkeypatch.syspath_prepend(tmp_path)

    def plan(name: str) -> Plan:
        rosters = {"first": "random", "own": f"players:{name}*2", "last": "raid"}
        return plan_of(treatments=["baseline"], rosters=rosters, seeds=3, rounds=5)

    yield plan
    sys.modules.pop("players", None)


def test_a_sound_journal_that_is_not_the_one_of_the_manifest_is_played_anew(
    tmp_path: Path, own: Callable[[str], Plan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a policy that was another one then, say."""
    plan, folder = own("Idle"), tmp_path / "study"
    carry_out(plan, folder)
    there = tree(folder)
    run = plan.runs()[3]
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["players"].Idle, "plan", lambda *asked: [])
        record(folder / run.path, {"rounds": 5}, "players:Idle*2", force=True)
    is_sound = kept(run, str(folder / run.path)) is not None
    carry_out(plan, folder)

    assert is_sound
    assert there == tree(folder)


def test_a_run_is_kept_by_the_setup_of_the_bytes_that_were_verified(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not by that of a file that takes their place meanwhile."""
    path = tmp_path / "a.journal"
    for one, other in (RUNS[:2], RUNS[1::-1]):
        shutil.copy(whole / one.path, path)

        def swapping(path: str, level: int, other: Planned = other) -> Verdict:
            verdict = verify(path, level)
            shutil.copy(whole / other.path, path)
            return verdict

        with monkeypatch.context() as patch:
            patch.setattr("goldrush.replay.study.play.verify", swapping)

            assert kept(other, str(path)) is None
        assert kept(other, str(path)) is not None


def test_a_worker_that_dies_is_survived_and_its_run_played_again(
    tmp_path: Path, own: Callable[[str], Plan]
) -> None:
    carry_out(own("Once"), tmp_path / "a", place=processes(2))
    died = (tmp_path / "died").exists()
    carry_out(own("Once"), tmp_path / "b", place=processes(1))

    assert died
    assert tree(tmp_path / "b") == tree(tmp_path / "a")


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_run_that_always_ends_its_worker_is_named_and_others_are_kept(
    tmp_path: Path, own: Callable[[str], Plan], jobs: int
) -> None:
    with pytest.raises(WorkersLost, match=r"own/rounds-5/seed-0000.journal died 3 times") as error:
        carry_out(own("Always"), tmp_path / "study", place=processes(jobs))
    done = stamps(tmp_path / "study")

    assert "baseline/own/rounds-5/seed-0000.journal" == error.value.path
    assert {f"baseline/first/rounds-5/seed-000{seed}.journal" for seed in range(3)} <= done.keys()
    assert not read_manifest(tmp_path / "study").finished
    (tmp_path / "players.py").write_text(
        POLICIES.format(folder=tmp_path, hangs=HANGS).replace("os._exit(3)", "pass")
    )
    sys.modules.pop("players", None)
    carry_out(own("Always"), tmp_path / "study")

    assert done.items() <= stamps(tmp_path / "study").items()
    assert read_manifest(tmp_path / "study").finished


def test_a_worker_that_dies_while_runs_are_handed_out_is_survived(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_out = []
    submit = places.Workers.submit

    def submit_but_once(pool: places.Workers, *task: Any) -> Future[Any]:
        handed_out.append(task)
        if len(handed_out) == 3:
            raise places.BrokenExecutor
        return submit(pool, *task)

    monkeypatch.setattr(places.Workers, "submit", submit_but_once)
    carry_out(PLAN, tmp_path / "study", place=processes(2))

    assert tree(whole) == tree(tmp_path / "study")
    assert len(RUNS) + 1 == len(handed_out)


def test_a_run_that_fails_is_named_and_what_was_under_way_is_kept(
    tmp_path: Path, own: Callable[[str], Plan]
) -> None:
    with pytest.raises(RunFailed, match=r"own/rounds-5/.*players:Raises of agent 0") as error:
        carry_out(own("Raises"), tmp_path / "study", place=processes(2))

    assert error.value.path.startswith("baseline/own/rounds-5/seed-000")
    assert "ValueError: cannot go on" in error.value.reason
    assert len(stamps(tmp_path / "study")) >= 3
    assert not any("last/rounds-5/seed-0002" in path for path in stamps(tmp_path / "study"))


def test_a_failure_where_the_folder_is_not_keeps_what_came_back(
    tmp_path: Path, own: Callable[[str], Plan]
) -> None:
    place = Place(lambda runs: ThreadPoolExecutor(1), 20, sees_folder=False)
    with pytest.raises(RunFailed):
        carry_out(own("Raises"), tmp_path / "study", place=place)

    assert 6 == len(stamps(tmp_path / "study")), "all of those that others play"


def test_what_is_printed_in_a_worker_is_no_part_of_an_answer(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with workers(1) as pool:
        pool.submit(print, "loud").result()

    assert ("", "loud\n") == capfd.readouterr()


def test_ctrl_c_waits_for_nobody_and_leaves_nobody(
    tmp_path: Path, own: Callable[[str], Plan]
) -> None:
    """Whether it reaches a worker or who waits for it."""
    with pytest.raises(KeyboardInterrupt):
        carry_out(own("Interrupted"), tmp_path / "a")
    (tmp_path / "ready").touch()
    carry_out(own("Interrupted"), tmp_path / "a")
    (tmp_path / "ready").unlink()

    def interrupt(*step: object) -> None:
        if (tmp_path / "sleeps").exists():
            raise KeyboardInterrupt

    plan = attrs.evolve(own("Sleeps"), rosters={"a": "players:Sleeps*2", "b": "random"})
    with pytest.raises(KeyboardInterrupt):
        # With two processes, one sleeps over and over while the other plays what is quick.
        carry_out(attrs.evolve(plan, seeds=[0, 1]), tmp_path / "b", place=processes(3),
                  on_step=interrupt)  # fmt: skip

    assert not (tmp_path / "woke").exists()
    assert read_manifest(tmp_path / "a").finished


@pytest.mark.parametrize("error", [TypeError("oops"), MemoryError(), OSError(5, "bad")])
def test_a_place_that_cannot_play_is_told_in_a_line(tmp_path: Path, error: Exception) -> None:
    class Broken(ThreadPoolExecutor):
        def submit(self, *task: Any, **more: Any) -> Future[Any]:
            future: Future[Any] = Future()
            future.set_exception(error)
            return future

    with pytest.raises(RunFailed, match=type(error).__name__):
        carry_out(PLAN, tmp_path / "study", place=Place(lambda runs: Broken(1), 3))


def test_a_place_where_nothing_comes_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent(ThreadPoolExecutor):
        def submit(self, *task: Any, **more: Any) -> Future[Any]:
            return Future()

    def watch() -> bool:
        raise WorkersLost("nobody is there")

    monkeypatch.setattr(places, "WATCHED", 0.05)
    with pytest.raises(WorkersLost, match="nobody is there"):
        carry_out(PLAN, tmp_path / "x", place=Place(lambda runs: Silent(1), 3, watch=watch))


def test_what_a_place_lost_without_a_word_is_handed_over_again(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgets(ThreadPoolExecutor):
        def submit(self, *task: Any, **more: Any) -> Future[Any]:
            return Future() if next(tries) in (1, 2, 4) else super().submit(*task, **more)

    tries = itertools.count()
    monkeypatch.setattr(places, "WATCHED", 0.05)
    place = Place(lambda runs: Forgets(1), 3, watch=lambda: True)
    carry_out(PLAN, tmp_path / "x", place=place)

    assert tree(whole) == tree(tmp_path / "x")


# Disks.


def test_a_full_disk_is_told_and_later_the_folder_is_the_same(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*anything: object, **more: object) -> None:
        raise OSError(28, "No space left on device")

    threads = Place(lambda runs: ThreadPoolExecutor(1), 2)
    away = Place(lambda runs: ThreadPoolExecutor(1), 2, sees_folder=False)
    folder = tmp_path / "study"
    calls = ("sync", "write", "rename", "make_folder")
    for call, place in [*((call, threads) for call in calls), ("link", away), ("write", away)]:
        folder.mkdir(exist_ok=True)
        with monkeypatch.context() as patch:
            patch.setattr(files, "system", attrs.evolve(files.system, **{call: full}))
            with pytest.raises(GoldrushError, match=r"(?i)no space left on device"):
                carry_out(PLAN, folder, place=place)

    assert len(RUNS) == len(again(folder, whole))


def test_a_folder_that_is_taken_away_meanwhile_is_told(tmp_path: Path, whole: Path) -> None:
    def take_away(what: str, done: int, every: int) -> None:
        while done == 3 and (tmp_path / "study").exists():  # a run may be writing there
            shutil.rmtree(tmp_path / "study", ignore_errors=True)

    says = r"(?i)no such file|create the folder|in the way|another process|was removed"
    with pytest.raises((RunFailed, WriteFailed), match=says):
        carry_out(PLAN, tmp_path / "study", on_step=take_away, place=processes(1))
    assert len(RUNS) == len(again(tmp_path / "study", whole))


# Killed.

# The runs of the last roster do not end while there is a file `hold`: nor does the study.
HELD = """
import pathlib, time

class Held:
    def plan(self, seen, draws):
        while pathlib.Path("hold").exists():
            time.sleep(0.005)
        return [("claim", plot, 1) for plot in seen.unowned[:1]]
"""
ROSTERS = ["random", "raid", "held_players:Held*2"]
KILLED = plan_of(treatments=["baseline"], rosters=ROSTERS, seeds=3, rounds=20)
FREE = 6  # runs that end in any case


@pytest.fixture
def held(tmp_path: Path, patient: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where studies are killed, and one that was not."""
    (tmp_path / "held_players.py").write_text(HELD)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    carry_out(KILLED, tmp_path / "whole")
    yield tmp_path
    sys.modules.pop("held_players", None)


def study_command(folder: Path, token: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "goldrush", "study", "--out", str(folder), "--jobs", "2",
         "--treatment", "baseline", "--seeds", "3", "--rounds", "20",
         *(word for roster in ROSTERS for word in ("--roster", roster))],
        cwd=folder.parent, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MARK": token},
    )  # fmt: skip


def test_killed_at_any_instant_it_ends_in_the_same_folder(held: Path) -> None:
    chance, folder = random.Random(0), held / "study"
    (held / "hold").touch()
    for number, count in enumerate((0, *sorted(chance.choices(range(1, FREE + 1), k=4)))):
        token = f"{held}-{number}"
        process = study_command(folder, token)
        until((folder / MANIFEST).exists)
        while len(before := stamps(folder)) < count:
            until(lambda there=before: stamps(folder) != there)  # type: ignore[misc]
        process.kill()
        _, err = process.communicate(timeout=HANGS)
        until_gone(token)

        assert (-signal.SIGKILL, b"") == (process.returncode, err)
        assert before.items() <= stamps(folder).items(), "nothing is played twice"
    before = stamps(folder)
    (held / "hold").unlink()
    process = study_command(folder, "last")
    _, err = process.communicate(timeout=HANGS)

    assert (0, b"") == (process.returncode, err)
    assert before.items() <= stamps(folder).items(), "nothing is played twice"
    assert tree(held / "whole") == tree(folder)


def test_a_study_goes_on_at_once_after_one_that_was_killed(held: Path) -> None:
    """Its workers are not gone yet."""
    (held / "hold").touch()
    process = study_command(held / "study", "x")
    until(lambda: stamps(held / "study"))
    process.kill()
    (held / "hold").unlink()
    carry_out(KILLED, held / "study")
    process.communicate(timeout=HANGS)

    assert tree(held / "whole") == tree(held / "study")


# Language models.

ASKING = plan_of(
    treatments=["baseline"], rosters={"models": "llm:a*2,greedy-mine*2", "others": "raid*3"},
    seeds=2, rounds=4,
)  # fmt: skip
NOBODY = "http://127.0.0.1:9/v1"
PAIRS = {(round, agent) for round in range(1, 5) for agent in range(2)}


def answering(asked: Asked) -> Reply:
    plot = (7 * (asked.round or 0) + 31 * (asked.agent or 0)) % 100
    plan = {"actions": [["claim", plot, 1], ["mine", plot, 2]]}
    return completion(json.dumps(plan), usage=(100, 10))


def test_models_are_asked_from_all_workers_once_a_round(tmp_path: Path) -> None:
    with serving(answering) as server:
        carry_out(ASKING, tmp_path / "a", place=processes(2), models=models(server.address))
        asked = len(server.asked)
        carry_out(ASKING, tmp_path / "a", place=processes(2), models=models(server.address))

        assert 2 * len(PAIRS) == asked == len(server.asked)
    assert [True] * 4 == [o.holds for o in verify_all(journals_in([tmp_path]), jobs=1)]
    assert not list(tmp_path.rglob("*" + UNFINISHED))


def answers_there(folder: Path, count: int) -> dict[Path, set[tuple[int, int]]]:
    """The answers in each journal that is under way; none at all before there are so many."""
    found = [path for path in folder.rglob("seed-*" + UNFINISHED) if path.stat().st_size]
    there = {path: set(rows_in(path)) for path in found}
    return there if sum(map(len, there.values())) == count else {}


def test_a_study_of_models_that_was_killed_asks_for_no_answer_twice(
    tmp_path: Path, patient: None
) -> None:
    folder, gone = tmp_path / "study", threading.Event()
    file = tmp_path / "models.toml"

    def gated(asked: Asked) -> Reply:
        if not gone.is_set() and (
            (asked.round or 0) > 2 or (asked.round == 2 and asked.agent == 1)
        ):
            gone.wait(HANGS)
            raise ConnectionResetError
        return answering(asked)

    with serving(gated) as server:
        file.write_text(
            f'[a]\nmodel = "a-1"\nanswer = "text"\ntries = 1\nbase_url = "{server.address}"\n'
        )
        plan = tmp_path / "plan.toml"
        plan.write_text(
            'treatments = "baseline"\nseeds = 2\nrounds = 4\n'
            '[roster]\nmodels = "llm:a*2,greedy-mine*2"\nothers = "raid*3"'
        )
        process = subprocess.Popen(
            [sys.executable, "-m", "goldrush", "study", str(plan), "--out", str(folder),
             "--models", str(file), "--jobs", "2"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        there = until(lambda: answers_there(folder, 6))
        process.kill()
        process.communicate(timeout=HANGS)
        gone.set()
        before = len(server.asked)
        known = Models(
            {"a": (Model("a", "a-1", answer="text"), Endpoint(server.address, None, tries=1))}
        )
        carry_out(ASKING, folder, models=known, place=processes(2))
        after = [(one.round or 0, one.agent or 0) for one in server.asked[before:]]

    assert [{(1, 0), (1, 1), (2, 0)}] * 2 == list(there.values())
    assert sorted([*(PAIRS - {(1, 0), (1, 1), (2, 0)})] * 2) == sorted(after)
    assert read_manifest(folder).finished
    assert not list(folder.rglob("*" + UNFINISHED))
    assert [(True, 4)] * 4 == [
        (o.holds, o.verdict and o.verdict.level) for o in verify_all(journals_in([folder]), jobs=1)
    ]


@pytest.fixture
def asked_for(tmp_path: Path) -> Path:
    """A study of models that has ended."""
    with serving(answering) as server:
        carry_out(ASKING, tmp_path / "study", models=models(server.address))
    return tmp_path / "study"


def test_answers_in_a_journal_that_was_cut_are_not_paid_for_again(asked_for: Path) -> None:
    path = asked_for / ASKING.runs(models(None))[0].path
    path.write_bytes(path.read_bytes()[:-300])
    there = set(rows_in(path))
    with serving(answering) as server:
        carry_out(ASKING, asked_for, models=models(server.address))
        asked = {(one.round, one.agent) for one in server.asked}

    assert there
    assert PAIRS - there == asked
    assert read_manifest(asked_for).finished
    assert verify_one(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (damaged, "expected .* found .*take it away"),
        (lambda data: b"something of somebody's", "not a goldrush journal.*take it away"),
    ],
)
def test_a_journal_that_was_paid_for_and_is_broken_is_not_thrown_away(
    asked_for: Path, change: Callable[[bytes], bytes], says: str
) -> None:
    path = asked_for / ASKING.runs(models(None))[0].path
    data = change(path.read_bytes())
    path.write_bytes(data)
    with serving(answering) as server:
        for _ in range(2):
            with pytest.raises(RunFailed, match=says):
                carry_out(ASKING, asked_for, models=models(server.address))
        left = path.with_name(path.name + UNFINISHED)

        assert ([], data) == (server.asked, left.read_bytes())
        left.unlink()
        carry_out(ASKING, asked_for, models=models(server.address))

        assert len(PAIRS) == len(server.asked)


def test_a_journal_of_other_players_that_was_paid_for_is_not_thrown_away(asked_for: Path) -> None:
    a, b = (asked_for / run.path for run in ASKING.runs(models(None))[:2])
    there = a.read_bytes(), b.read_bytes()
    a.write_bytes(there[1])
    with serving(answering) as server:
        with pytest.raises(RunFailed, match="is another run; take it away"):
            carry_out(ASKING, asked_for, models=models(server.address))

        assert [] == server.asked
    assert there[1] == a.with_name(a.name + UNFINISHED).read_bytes()


@pytest.mark.parametrize("cut", [0, 1, 20, 10**6])
def test_a_fork_whole_or_cut_inside_is_no_run_of_a_study(asked_for: Path, cut: int) -> None:
    """Cut by so much, but no further than to the 13th byte of the FORK."""
    path = asked_for / ASKING.runs(models(None))[0].path
    [*_, end] = (there := commits_of(path))
    fork = Commit(FORK, end.unit, there[-2].digest, (), {"parent": "0" * 64})
    write(path, [*there[:-1], fork])
    [*_, last] = commits_of(path)
    data = path.read_bytes()[: max(last.end - cut, last.offset + 13)]
    path.write_bytes(data)
    with serving(answering) as server:
        with pytest.raises(RunFailed, match=r"is another run|breaks off inside a fork"):
            carry_out(ASKING, asked_for, models=models(server.address))

        assert [] == server.asked
    assert data == path.with_name(path.name + UNFINISHED).read_bytes()


@pytest.mark.parametrize("size", [0, 100])
def test_a_journal_that_ends_before_anybody_was_asked_is_played(asked_for: Path, size: int) -> None:
    path = asked_for / ASKING.runs(models(None))[0].path
    os.truncate(path, size)
    with serving(answering) as server:
        carry_out(ASKING, asked_for, models=models(server.address))

        assert len(PAIRS) == len(server.asked)
    assert verify_one(path)


def test_a_ceiling_is_that_of_the_whole_study(tmp_path: Path) -> None:
    """Of which each run that asks has an equal share, whatever the number of processes."""
    shared = module._shared(
        models(None, max_tokens=10_001, max_cost=3.0), ASKING.runs(models(None))
    )

    def costly(asked: Asked) -> Reply:
        return completion('{"actions": []}', usage=(2000, 400))

    with serving(costly) as server:
        limited = models(server.address, max_tokens=30_000)
        with pytest.raises(RunFailed, match=r"--max-tokens"):
            carry_out(ASKING, tmp_path / "study", models=limited)
        taken = 2400 * len(server.asked)

    assert 0 < taken <= 30_000
    with pytest.raises(BadInput, match="1 tokens are less than one for each of 2 runs"):
        carry_out(ASKING, tmp_path / "new", models=models(NOBODY, max_tokens=1))

    assert shared is not None
    assert (5_000, 1.5) == (shared.max_tokens, shared.max_cost)
    assert not (tmp_path / "new").exists()


def test_models_are_not_asked_from_elsewhere(tmp_path: Path) -> None:
    away = Place(lambda runs: ThreadPoolExecutor(1), 2, sees_folder=False)
    with pytest.raises(BadInput, match="language models are asked from this machine alone"):
        carry_out(ASKING, tmp_path / "study", place=away, models=models(NOBODY))

    assert [] == os.listdir(tmp_path)
