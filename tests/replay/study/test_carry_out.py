"""Studies carried out: the folder, restarts, whatever lies there, and workers that die."""

import importlib
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import attrs
import pytest

import goldrush
import goldrush.agents.llm.client
from goldrush.agents import players
from goldrush.agents.game.new import new_game
from goldrush.agents.llm.model import Model
from goldrush.agents.llm.models import Endpoint, Models
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.errors import BadInput, WriteFailed
from goldrush.kernel.journal import END, FORK, Commit, sha256_of
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.batch import verify_all
from goldrush.replay.journal.usage import usage as usage_of
from goldrush.replay.study import backend as backends
from goldrush.replay.study import carry_out as module
from goldrush.replay.study import play
from goldrush.replay.study.backend import (
    Backend,
    RunFailed,
    WorkersLost,
    as_completed,
    call_each,
    processes,
)
from goldrush.replay.study.carry_out import CHECKED, PLAYED, carry_out
from goldrush.replay.study.comparisons import equal_runs
from goldrush.replay.study.inference import interval
from goldrush.replay.study.listing import MANIFEST
from goldrush.replay.study.manifest import UNFINISHED, read_manifest
from goldrush.replay.study.measuring import results_of
from goldrush.replay.study.plan import Planned, StudyPlan, plan_of
from goldrush.replay.study.play import check_journal
from goldrush.replay.study.study import Study
from tests.cli.helpers import ROOT
from tests.journals import commits_of, tree, write
from tests.llm.runs import models, pairs, rows_in
from tests.llm.servers import Asked, Reply, completion, error, serving
from tests.mining import fork, record
from tests.replay.study.dying import write_dying

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

PLAN = plan_of(
    treatments=["baseline", "alpha-rich", "agents-20"], rosters=["random", "mixed"], seeds=2,
    rounds=[3, 4],
)  # fmt: skip
RUNS = PLAN.runs()
FIRST, LAST = RUNS[0].path, RUNS[-1].path


Stamps = dict[str, tuple[int, int]]


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
    carry_out(PLAN, folder, backend=processes(1))
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

    assert {MANIFEST, *(run.path for run in RUNS)} == tree(whole).keys()
    assert ("mining", 1, 2) == (table["world"], table["format"], table["rules"])
    assert json.loads(json.dumps(PLAN.as_dict())) == table["plan"] == manifest.plan
    assert manifest.runs == manifest.played
    assert [(run.cell, run.seed, run.path, run.config) for run in RUNS] == [
        (run.cell, run.seed, run.path, run.config) for run in manifest.runs
    ]
    for run in table["runs"]:
        [line] = [line for line in text.splitlines() if run["path"] in line]

        assert run == json.loads(line.strip().rstrip(","))
        assert sha256_of(whole / run["path"]) == run["sha256"]
        assert (whole / run["path"]).stat().st_size == run["bytes"]


@pytest.mark.parametrize(
    "backend",
    [
        processes(2), Backend(lambda runs: ThreadPoolExecutor(3), 5),
        Backend(lambda runs: ThreadPoolExecutor(1), 1, batch=5, shares_folder=False),
    ],
    ids=["2 processes", "threads", "a backend without the folder"],
)  # fmt: skip
def test_the_folder_is_the_same_wherever_runs_are_played(
    whole: Path, tmp_path: Path, backend: Backend
) -> None:
    carry_out(PLAN, tmp_path / "new" / "study", backend=backend)

    assert tree(whole) == tree(tmp_path / "new" / "study")


# Again.


def cut_before_the_end(data: bytes, path: Path) -> bytes:
    """The journal of a run that broke off before its END."""
    path.write_bytes(data)
    [*_, last] = commits_of(path)
    assert END == last.kind
    return data[: last.offset]


BROKEN: list[Callable[[bytes, Path], bytes]] = [
    lambda data, path: b"",
    lambda data, path: damaged(data),
    lambda data, path: data[: len(data) // 2],
    lambda data, path: data + b"\0",
    lambda data, path: bytes(len(data)),
    cut_before_the_end,
]


@pytest.mark.parametrize("is_killed", [False, True])
def test_what_is_no_journal_of_its_run_is_played_anew_and_all_else_is_kept(
    study: Path, whole: Path, tmp_path: Path, is_killed: bool
) -> None:
    """Broken, of another seed, roster, treatment or horizon: also where no run is in the manifest
    yet.
    """
    if is_killed:
        forget(study)
    for run, broken in zip(RUNS, BROKEN, strict=False):
        (study / run.path).write_bytes(broken((study / run.path).read_bytes(), tmp_path / "x"))
    a, b, roster, forked, longer = (study / run.path for run in RUNS[-5:])
    there = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(there)
    record(roster, {"rounds": 3, "seed": 0}, "raid*10", force=True)
    fork(whole / FIRST, 2, forked, settings={"fine": 3.0}, force=True)
    record(longer, {"rounds": 7, "seed": 0}, None, force=True)

    assert {run.path for run in (*RUNS[: len(BROKEN)], *RUNS[-5:])} == again(study, whole)
    assert set() == again(study, whole)


def damaged(data: bytes) -> bytes:
    return data[:-40] + bytes([data[-40] ^ 1]) + data[-39:]


def forget(folder: Path) -> None:
    """Make the manifest that of a study that was killed: nothing is done yet."""
    table = json.loads((folder / MANIFEST).read_text())
    for run in table["runs"]:
        run.update(sha256=None, bytes=None)
    (folder / MANIFEST).write_text(json.dumps(table))


def test_a_link_in_place_of_a_journal_is_replaced_and_what_it_leads_to_left_alone(
    study: Path, whole: Path, tmp_path: Path
) -> None:
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


@pytest.mark.parametrize("name", ["baseline", MANIFEST])
def test_nothing_is_written_through_a_link_out_of_the_folder(
    study: Path, tmp_path: Path, name: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    (study / FIRST).write_bytes(b"")
    shutil.move(study / name, elsewhere)
    (study / name).symlink_to(elsewhere)
    before = tree(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes()
    with pytest.raises((BadInput, WriteFailed), match=r"symbolic link|not an ordinary file"):
        carry_out(PLAN, study)

    assert before == (tree(elsewhere) if elsewhere.is_dir() else elsewhere.read_bytes())
    assert (study / name).is_symlink()


@pytest.mark.parametrize("name", [FIRST, FIRST + UNFINISHED])
def test_what_is_in_the_way_is_told_and_the_rest_is_kept(
    study: Path, whole: Path, name: str
) -> None:
    """Nothing but a journal is taken away."""
    before = stamps(study)
    (study / FIRST).unlink()
    (study / name).mkdir()
    (study / name / "precious").touch()
    with pytest.raises((RunFailed, WriteFailed), match=re.escape(FIRST)):
        carry_out(PLAN, study)

    assert (study / name / "precious").exists()
    assert before.keys() - {FIRST} == stamps(study).keys() - {FIRST}
    shutil.rmtree(study / name)
    again(study, whole)


def test_a_plan_may_grow(study: Path, tmp_path: Path) -> None:
    before = stamps(study)
    plan = PLAN
    for more in (
        {"seeds": (5, 1, 0)}, {"treatments": ("scarce", "baseline", "alpha-rich", "agents-20")},
        {"rosters": {"raid": "raid", "random": "random", "mixed": None}}, {"rounds": (2, 3, 4)},
    ):  # fmt: skip
        before.update(stamps(study))
        plan = attrs.evolve(plan, **more)
        manifest = carry_out(plan, study)

        assert before.items() < stamps(study).items()
        assert len(plan.runs()) == len(manifest.runs) > len(RUNS)
    carry_out(plan, tmp_path / "at once")

    assert tree(tmp_path / "at once") == tree(study)


@pytest.mark.parametrize(
    "other",
    [
        {"seeds": (0,)},
        {"settings": {"fine": 9.0}},
        {"rosters": {"random": "random", "mixed": "raid"}},
        {"rosters": {"Random": "random", "random": "random", "mixed": None}},
    ],
    ids=["fewer seeds", "settings", "roster", "folder of another"],
)
def test_a_folder_of_another_plan_is_refused(study: Path, other: dict[str, Any]) -> None:
    with not_touched(study, r"holds a study with .*give another folder"):
        carry_out(attrs.evolve(PLAN, **other), study)


@contextmanager
def not_touched(folder: Path, says: str) -> Iterator[None]:
    """Refused in one short line, and the folder stays as it is."""
    before = tree(folder), stamps(folder)
    with pytest.raises(BadInput, match=says) as error:
        yield

    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 500
    assert before == (tree(folder), stamps(folder))


HOSTILE: list[tuple[str, Any]] = [
    ("text", ""), ("text", "[" * 100_000), ("text", "[]"), ("text", "\xff"),
    ("text", '{"runs": 1' + "0" * 5000), ("world", "competition"), ("plan", {}), ("runs", [3]),
    ("path", 3), ("path", "../x"), ("path", "/x"), ("path", "a//b"), ("path", "a\0b"),
    ("path", LAST), ("sha256", 3), ("sha256", "A" * 64), ("sha256", None), ("bytes", -1),
    ("bytes", True), ("bytes", None), ("treatment", "scarce"), ("roster", None),
    ("plan", {"settings": {"oops": 1}}),
]  # fmt: skip


def test_a_manifest_that_is_none_is_refused(study: Path) -> None:
    there = (study / MANIFEST).read_text()
    for name, value in HOSTILE:
        table = json.loads(there)
        if name in table["runs"][0]:
            table["runs"][0][name] = value
        else:
            table[name] = value
        text = value if name == "text" else json.dumps(table)
        (study / MANIFEST).write_bytes(text.encode("latin-1"))
        with not_touched(study, r"manifest.json is not the manifest of a study"):
            carry_out(PLAN, study)


def test_a_study_under_older_rules_is_reported_and_not_continued(study: Path) -> None:
    """Played under rules 1, as journals and manifest say."""
    manifest = study / MANIFEST
    table = json.loads(manifest.read_text())
    for run, listed in zip(RUNS, table["runs"], strict=True):
        path = study / run.path
        players.record(MINING.under(1), MINING_PLAYERS, path, run.prepared, force=True)
        listed.update(sha256=sha256_of(path), bytes=path.stat().st_size)
    manifest.write_text(json.dumps({**table, "rules": 1}))

    found = results_of(study, jobs=1)

    assert len(RUNS) == sum(map(len, found.by_cell.values()))
    with not_touched(study, r"holds a study under rules 1, and this plays rules 2"):
        carry_out(PLAN, study)
    manifest.write_text(json.dumps({**table, "rules": 3}))
    with not_touched(study, r"rules 3 of the mining world; .* reads format 1, rules 1 and 2"):
        read_manifest(study)


def test_two_studies_at_once_in_a_folder_are_refused(
    study: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "LOCK_WAIT", 0.0)
    (study / LAST).write_bytes(b"")
    steps = []

    def another(what: str, done: int, every: int) -> None:
        """One that is checking, and one that is playing."""
        steps.append((what, done, every))
        with pytest.raises(BadInput, match="another study is running"):
            carry_out(PLAN, study)

    carry_out(PLAN, study, backend=processes(1), on_step=another)

    assert [*((CHECKED, done, len(RUNS)) for done in range(1, len(RUNS) + 1)),
            (PLAYED, 0, 1), (PLAYED, 1, 1)] == steps  # fmt: skip
    assert set() == again(study, whole)


# Policies that end their process.


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], StudyPlan]]:
    """Plans in which a policy of one's own plays, between others."""
    write_dying(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)

    def plan(name: str) -> StudyPlan:
        rosters = {"first": "random", "own": f"dying_players:{name}*2", "last": "raid"}
        return plan_of(treatments=["baseline"], rosters=rosters, seeds=3, rounds=4)

    yield plan
    sys.modules.pop("dying_players", None)


def test_a_sound_journal_that_is_not_the_one_of_the_manifest_is_played_anew(
    tmp_path: Path, own: Callable[[str], StudyPlan], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a policy that was another one then, say."""
    plan, folder = own("Idle"), tmp_path / "study"
    carry_out(plan, folder)
    there = tree(folder)
    run = plan.runs()[3]
    with monkeypatch.context() as patch:
        patch.setattr(sys.modules["dying_players"].Idle, "plan", lambda *asked: [])
        record(folder / run.path, {"rounds": 4}, "dying_players:Idle*2", force=True)
    is_sound = check_journal(run, str(folder / run.path)) is not None
    carry_out(plan, folder)

    assert is_sound
    assert there == tree(folder)


@pytest.mark.turns("workers that die")
def test_a_worker_that_dies_is_survived_and_its_run_played_again(
    tmp_path: Path, own: Callable[[str], StudyPlan]
) -> None:
    carry_out(own("Once"), tmp_path / "a", backend=processes(2))
    died = (tmp_path / "died").exists()
    carry_out(own("Once"), tmp_path / "b", backend=processes(1))

    assert died
    assert tree(tmp_path / "b") == tree(tmp_path / "a")


@pytest.mark.turns("workers that die")
def test_a_run_that_always_ends_its_worker_is_named_and_others_are_kept(
    tmp_path: Path, own: Callable[[str], StudyPlan]
) -> None:
    with pytest.raises(WorkersLost, match=r"own/rounds-4/seed-0000.journal died 3 times") as error:
        carry_out(own("Always"), tmp_path / "study", backend=processes(1))
    done = stamps(tmp_path / "study")

    assert "baseline/own/rounds-4/seed-0000.journal" == error.value.path
    assert {f"baseline/first/rounds-4/seed-000{seed}.journal" for seed in range(3)} <= done.keys()
    manifest = read_manifest(tmp_path / "study")
    assert len(manifest.played) < len(manifest.runs)


@pytest.mark.turns("workers that die")
def test_a_worker_that_dies_while_runs_are_handed_out_is_survived(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_out = []
    submit = backends.Workers.submit

    def submit_but_once(pool: backends.Workers, *task: Any) -> Future[Any]:
        handed_out.append(task)
        if len(handed_out) == 3:
            raise backends.BrokenExecutor
        return submit(pool, *task)

    monkeypatch.setattr(backends.Workers, "submit", submit_but_once)
    carry_out(PLAN, tmp_path / "study", backend=processes(2))

    assert tree(whole) == tree(tmp_path / "study")
    assert len(RUNS) + 1 == len(handed_out)


def test_a_task_of_several_runs_keeps_those_before_a_failure_and_gives_back_those_after_its_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(run: Planned) -> str:
        if run is RUNS[2]:
            raise ValueError("cannot go on")
        return run.path

    *before, failure = call_each(fails, RUNS)
    monkeypatch.setattr(backends, "TASK_SECONDS", -1.0)
    backend = Backend(lambda runs: ThreadPoolExecutor(1), 1, batch=3)

    assert [RUNS[0].path, RUNS[1].path] == before
    assert str(failure).startswith(f"{RUNS[2].path}: ")
    assert str(failure).endswith(" ValueError: cannot go on")
    assert [RUNS[0].path] == call_each(fails, RUNS)
    assert RUNS == [run for run, _ in as_completed(RUNS, backend, attrgetter("path"))]


def test_what_a_place_lost_without_a_word_is_handed_over_again(
    tmp_path: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Forgets(ThreadPoolExecutor):
        def submit(self, *task: Any, **more: Any) -> Future[Any]:
            if next(tries) not in (1, 2, 4):
                return super().submit(*task, **more)
            forgotten.append(Future())
            return forgotten[-1]

    def watch() -> bool:
        was_lost = bool(forgotten)
        forgotten.clear()
        return was_lost

    tries, forgotten = itertools.count(), list[Future[Any]]()
    monkeypatch.setattr(backends, "WATCH_AFTER", 0.05)
    backend = Backend(lambda runs: Forgets(1), 3, watch=watch)
    carry_out(PLAN, tmp_path / "x", backend=backend)

    assert tree(whole) == tree(tmp_path / "x")


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


@pytest.fixture(scope="module")
def asked_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of models that has ended."""
    folder = tmp_path_factory.mktemp("asked") / "study"
    with serving(answering) as server:
        carry_out(ASKING, folder, backend=processes(2), models=models(server.address))

        assert 2 * len(PAIRS) == len(server.asked)
    return folder


@pytest.fixture
def asked_for(asked_once: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(asked_once, tmp_path / "study")
    return tmp_path / "study"


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize("kept", [0, 100, -300])
def test_answers_in_a_journal_that_was_cut_are_not_paid_for_again(
    asked_for: Path, kept: int, is_killed: bool
) -> None:
    path = asked_for / ASKING.runs(models(None))[0].path
    path.write_bytes(path.read_bytes()[:kept])
    there = set(rows_in(path)) if kept < 0 else set()
    if is_killed:
        forget(asked_for)
        path.rename(f"{path}{UNFINISHED}")
    with serving(answering) as server:
        carry_out(ASKING, asked_for, models=models(server.address))
        asked = pairs(server.asked)

    assert (kept < 0) == bool(there)
    assert sorted(PAIRS - there) == sorted(asked)
    assert len(read_manifest(asked_for).played) == len(read_manifest(asked_for).runs)
    assert not Path(f"{path}{UNFINISHED}").exists()
    assert all(outcome.holds for outcome in verify_all([str(path)], jobs=1))


def forked(path: Path, other: Path) -> bytes:
    """A fork in place of the END, which is cut off at its 13th byte."""
    [*there, end] = commits_of(path)
    write(path, [*there, Commit(FORK, end.unit, there[-1].digest, (), {"parent": "0" * 64})])
    [*_, last] = commits_of(path)
    return path.read_bytes()[: last.offset + 13]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda path, other: damaged(path.read_bytes()), "expected .* found .*move it elsewhere"),
        (lambda path, other: b"something else", "not a goldrush journal.*move it elsewhere"),
        (lambda path, other: other.read_bytes(), "is another run: it has another config; move it"),
        (forked, r"is another run|ends inside a fork"),
    ],
)  # fmt: skip
def test_a_journal_that_may_have_been_paid_for_is_not_thrown_away(
    asked_for: Path, change: Callable[[Path, Path], bytes], says: str
) -> None:
    path, other = (asked_for / run.path for run in ASKING.runs(models(None))[:2])
    data = change(path, other)
    path.write_bytes(data)
    with serving(answering) as server:
        for _ in range(2):
            with pytest.raises((BadInput, RunFailed), match=says):
                carry_out(ASKING, asked_for, models=models(server.address))

        [there] = path.parent.glob(f"{path.name}*")
        assert ([], data) == (server.asked, there.read_bytes())
    # Only what could be gone on with, but for its end, has got another name.
    assert there == path or "ends inside" in says


def test_a_study_whose_models_were_changed_stays_as_it_is(asked_for: Path) -> None:
    model, _ = models(None).by_name["a"]
    changed = {"a": (attrs.evolve(model, temperature=0.25), Endpoint("http://127.0.0.1:9/v1"))}
    with not_touched(asked_for, "has another temperature of agent 0; move it elsewhere"):
        carry_out(ASKING, asked_for, models=Models(changed))

    assert len(read_manifest(asked_for).played) == len(read_manifest(asked_for).runs)


@pytest.mark.parametrize("greets", [True, False])
def test_a_study_goes_on_without_a_cell_whose_server_is_down(tmp_path: Path, greets: bool) -> None:
    """From the start, where it does not answer the short question, or in the middle of a run."""
    rosters = {"down": "llm:b*2", "up": "llm:a*2", "others": "raid*3"}
    wanted = plan_of(treatments=["baseline"], rosters=rosters, seeds=2, rounds=3)

    def down(asked: Asked) -> Reply:
        is_down = asked.body["model"] == "b-1" and (asked.round or 2) == 2
        return error(503, "asleep") if is_down else answering(asked)

    with serving(down, greets=greets) as server:
        known = models(server.address, "a", "b", concurrency=1, patience=0)
        with pytest.raises(RunFailed, match=r"/down.* asleep.* 1 other run stop") as failed:
            carry_out(wanted, tmp_path / "study", backend=processes(2), models=known)
        played = Study.open(tmp_path / "study").runs()
        server.respond, before = answering, len(server.asked)
        carry_out(wanted, tmp_path / "study", backend=processes(2), models=known)
        asked = [asked for asked in server.asked[before:] if asked.agent is not None]
        carry_out(wanted, tmp_path / "whole", backend=processes(2), models=known)

    assert (2, 4) == (failed.value.stopped, len(played))
    assert {"b-1"} == {each.body["model"] for each in asked}
    assert (8 if greets else 12) == len(asked)
    assert tree(tmp_path / "whole") == tree(tmp_path / "study")


def test_what_a_server_decided_is_no_other_run() -> None:
    """Of a server that refuses seeds, and whose template opens the reasoning."""
    [run, *_] = ASKING.runs(models(None))

    def begun(server: Mapping[str, str], **more: object) -> dict[str, Any]:
        roster = []
        for entry in run.setup["roster"]:
            options = entry["options"]
            if entry["policy"] == "llm":
                model = attrs.evolve(Model.of(options).resolved(**server), answer="text")
                options = {**model.as_options(), **more}
            roster.append({**entry, "options": options})
        return {**run.setup, "roster": roster}

    for server in ({}, {"seed_from": "option", "reasoning": "open"}):
        assert play._difference(run, begun(server)) is None
        assert "max_tokens of agent 0" == play._difference(run, begun(server, max_tokens=9))
    assert "reasoning of agent 0" == play._difference(run, begun({}, reasoning="field"))


@pytest.mark.parametrize(
    ("ceilings", "whole"),
    [
        ({"max_requests": 13}, {"max_requests": 16}),
        ({"max_tokens": 30_000}, {"max_tokens": 60_000}),
        ({"max_cost": 30.0, "price_in": 1e3, "price_out": 1e3}, {"max_tokens": 60_000}),
    ],
)
def test_a_ceiling_is_that_of_the_whole_study_whose_runs_share_it_as_they_need_it(
    tmp_path: Path, ceilings: dict[str, Any], whole: dict[str, Any]
) -> None:
    """16 questions of 2,400 tokens in two processes; what is left is never asked for twice."""

    def costly(asked: Asked) -> Reply:
        return completion('{"actions": []}', usage=(2000, 400))

    with serving(costly) as server:
        play = partial(carry_out, ASKING, tmp_path / "study", backend=processes(2))
        with pytest.raises(RunFailed, match=f"--{next(iter(ceilings)).replace('_', '-')}"):
            play(models=models(server.address, **ceilings))
        asked = len(server.asked)
        usage = [usage_of(path).total for path in (tmp_path / "study").rglob("*.journal*")]
        play(models=models(server.address, **whole))

    assert 8 <= asked <= 13
    assert asked == sum(taken.tries for taken in usage)
    assert 2400 * asked == sum(taken.tokens_in + taken.tokens_out for taken in usage)
    assert 16 == len(server.asked)


def test_models_are_not_asked_from_elsewhere(tmp_path: Path) -> None:
    away = Backend(lambda runs: ThreadPoolExecutor(1), 2, shares_folder=False)
    with pytest.raises(BadInput, match="a cluster cannot ask language models"):
        carry_out(ASKING, tmp_path / "study", backend=away, models=models(NOBODY))

    assert [] == os.listdir(tmp_path)


MODEL = """
class Grown:
    def __init__(self, seed=0, n=3):
        self.x = n * (1 + seed % 2)

    def step(self):
        self.x += 1
"""


def test_equal_runs_among_others_count_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two distinct runs in eight said p = 0.008; and then "the study could have found one of 8.1 or
    more", beside an interval of eight.
    """
    monkeypatch.setattr("goldrush.agents.given._MAKERS", {})
    (tmp_path / "same.py").write_text(MODEL)
    study = goldrush.study(
        tmp_path / "study", world=f"{tmp_path / 'same.py'}:Grown", seeds=8, rounds=5, jobs=1,
        treatments={"more": {"n": 4}, "less": {"n": 2}},
    )  # fmt: skip
    answer = study.answer("x")
    [compared] = answer.comparisons["treatments"]
    assert (0.5, None) == (compared.p, compared.detectable)
    assert (2, 2, -3.0) == (
        compared.change.n, compared.change.seeds, compared.change.difference.mean
    )  # fmt: skip
    assert not compared.differs
    assert "Only 4 of 16 runs are distinct" in answer.sentences[0]
    assert "2 distinct pairs: in 1 comparison the least possible p is 0.500" in answer.sentences[2]
    assert [interval([9.0, 13.0]), interval([7.0, 9.0])] == [
        standing.values for standing in answer.standings[:2]
    ]
    assert [0, 1] * 4 == [run.draw for run in next(iter(study.results().by_cell.values()))]
    assert 16 == study.table().num_rows


EDITED = "VALUE = 1\n", "VALUE = 22\n"
# By kind: what is given for the world, the roster, and the file that is edited.
GIVEN_CODE = {
    "model": ("grown_model.py:Grown", "mixed", "grown_model.py"),
    "policy": ("mining", "grown_policy:Grown*2", "grown_policy.py"),
    "helper of a game": ("grown_farm.py", "random", "soil/rain.py"),
    "optional module": ("grown_model.py:Grown", "mixed", "tuning.py"),
}
OPTIONAL = "try:\n    import tuning\nexcept ImportError:\n    pass\n"
PLAYER = "class Grown:\n    RATE = 1\n    def plan(self, seen, draws): return []\n"


@pytest.fixture
def given_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})
    monkeypatch.setattr("goldrush.agents.given._MAKERS", {})
    monkeypatch.setattr("sys.path", [*sys.path, str(tmp_path)])
    monkeypatch.chdir(tmp_path)
    Path("soil").mkdir()
    _, fishery = new_game("grown-farm")
    for name, text in {
        "grown_model.py": MODEL + EDITED[0] + OPTIONAL,
        "grown_policy.py": EDITED[0] + PLAYER,
        "grown_farm.py": f"{fishery}\ndef rain():\n    from soil.crops import CORN\n",
        "soil/crops.py": "from .rain import VALUE as CORN\n",
        "soil/rain.py": EDITED[0],
    }.items():
        Path(name).write_text(text)
    yield
    start_anew()


def start_anew() -> None:
    for name in ("grown_model", "grown_policy", "soil", "soil.crops", "soil.rain", "tuning"):
        sys.modules.pop(name, None)


def edit(file: Path, old: str, new: str) -> None:
    """Replace in a file; a file that is empty is none."""
    text = file.read_text() if file.exists() else ""
    file.write_text(text.replace(old, new) if text else new)
    if not file.read_text():
        file.unlink()


def grown_to(seeds: int, kind: str, folder: str = "study") -> goldrush.Study:
    world, roster, _ = GIVEN_CODE[kind]
    given: dict[str, Any] = {"treatments": "baseline", "rounds": 2, "jobs": 1}
    return goldrush.study(folder, world=world, rosters=roster, seeds=seeds, **given)


@pytest.mark.usefixtures("given_code")
@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        *((kind, *EDITED) for kind in GIVEN_CODE),
        ("optional module", "", EDITED[0]),
        ("optional module", EDITED[0], ""),
    ],
)
def test_a_study_of_code_that_was_edited_does_not_grow(kind: str, old: str, new: str) -> None:
    """Runs of two codes were compared without a word."""
    edited = Path(GIVEN_CODE[kind][2])
    if old and not edited.exists():
        edited.write_text(old)
    grown_to(1, kind)
    grown_to(2, kind)
    there = tree(Path("study"))
    edit(edited, old, new)
    start_anew()
    grown_to(2, kind)  # plays nothing

    with pytest.raises(BadInput, match=re.escape(str(edited))) as error:
        grown_to(3, kind)
    assert "give another folder (--out)" in str(error.value)
    assert there == tree(Path("study"))
    edit(edited, new, old)
    start_anew()
    assert 3 == len(grown_to(3, kind).manifest.runs)


@pytest.mark.usefixtures("given_code")
def test_code_that_was_edited_since_its_import_is_refused() -> None:
    """The manifest had the SHA-256 of a text that did not play."""
    importlib.import_module("grown_policy")
    edit(Path("grown_policy.py"), "return []", "return [*()]")

    with pytest.raises(BadInput, match=r"is not the code .*: Grown\.plan differs"):
        grown_to(1, "policy")
    assert not Path("study").exists()
    start_anew()


@pytest.mark.usefixtures("given_code")
def test_a_study_that_kept_no_run_takes_mended_code() -> None:
    edit(Path("grown_model.py"), "self.x += 1", "self.x += 1 / 0")
    with pytest.raises(RunFailed, match="ZeroDivisionError"):
        grown_to(1, "model")
    edit(Path("grown_model.py"), "self.x += 1 / 0", "self.x += 1")
    start_anew()

    assert 1 == len(grown_to(1, "model").manifest.runs)


@pytest.mark.usefixtures("given_code")
def test_a_study_whose_manifest_has_no_code_grows() -> None:
    """Nobody knows which code played its runs."""
    grown_to(1, "model")
    table = json.loads(Path("study", MANIFEST).read_text())
    assert ["grown_model.py"] == list(table.pop("code"))
    Path("study", MANIFEST).write_text(json.dumps(table))
    assert {} == grown_to(1, "model").manifest.code

    assert {} == grown_to(2, "model").manifest.code


@pytest.mark.usefixtures("given_code")
def test_code_that_joins_a_study_of_none_is_recorded() -> None:
    given: dict[str, Any] = {"treatments": "baseline", "rounds": 2, "jobs": 1, "seeds": 1}
    assert {} == goldrush.study("study", rosters="random", **given).manifest.code
    grown = goldrush.study("study", rosters=["random", "grown_policy:Grown*2"], **given)

    assert ["grown_policy.py"] == list(grown.manifest.code)


def test_equal_runs_are_found_by_their_events(whole: Path) -> None:
    runs = [attrs.evolve(run, sha256="") for run in RUNS if run.cell == RUNS[0].cell]
    link = whole / "again.journal"
    link.symlink_to(whole / runs[0].path)
    again = attrs.evolve(runs[0], seed=99, path=link.name)

    assert {} == equal_runs(whole, runs)
    assert {again.path: runs[0].seed} == equal_runs(whole, [*runs, again])


SCRIPT = """
import multiprocessing, sys
import goldrush
multiprocessing.set_start_method("spawn", force=True)  # as Mesa does
goldrush.study("st", treatments="baseline", rosters="random", seeds=2, rounds=2, jobs=2)
"""


def test_a_script_without_a_main_guard_is_told_of_it(tmp_path: Path) -> None:
    """A new interpreter imports the script, which would play the study once more."""
    (tmp_path / "go.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(
        [sys.executable, "go.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )

    assert 1 == ran.returncode
    assert 1 == ran.stderr.count("Traceback")
    assert 'if __name__ == "__main__":' in ran.stderr
    assert not list(tmp_path.glob("st/*/*/*/*.journal"))
