"""Studies on a real Dask cluster of two worker processes on this machine, by its address."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents import given
from goldrush.games import fishery
from goldrush.games.fishery import Fishery
from goldrush.kernel.errors import BadInput
from goldrush.replay.study import backend as backends
from goldrush.replay.study import cluster as module
from goldrush.replay.study.backend import RunFailed, WorkersLost, processes
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.cluster import cluster
from goldrush.replay.study.plan import StudyPlan, plan_of
from tests.cli.helpers import ROOT, goldrush
from tests.journals import tree
from tests.llm.servers import closed_port
from tests.replay.study.dying import write_dying
from tests.waiting import HANGS, until

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

PLAN = plan_of(
    treatments=["baseline", "alpha-rich"], rosters=["random", "mixed"], seeds=3, rounds=5
)

WORKERS = 2


def local_cluster() -> Any:
    """A cluster that listens on loopback alone, at ports that are free, and has no dashboard."""
    anywhere = "127.0.0.1:0"
    return distributed.LocalCluster(
        n_workers=WORKERS, threads_per_worker=1, processes=True, host="127.0.0.1", silence_logs=50,
        dashboard_address=anywhere, worker_dashboard_address=anywhere,
        scheduler_kwargs={"dashboard": False},
    )  # fmt: skip


class Shared:
    """A cluster for many tests, and a fresh one where not all of it is there any more."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder  # of the policies
        self.local: Any = None

    def whole(self) -> Any:
        if self.local is None or len(self.local.scheduler.workers) < WORKERS:
            self.close()
            self.local = local_cluster()
        return self.local

    def close(self) -> None:
        if self.local is not None:
            with suppress(Exception):  # what is dead may not close as it should
                self.local.close()
        self.local = None


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_MAX", HANGS)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    """The cluster, whose workers know the policies."""
    folder = tmp_path_factory.mktemp("policies")
    write_dying(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, ROOT))))
        shared = Shared(folder)
        yield shared
        shared.close()


@pytest.fixture
def address(shared: Shared) -> str:
    """Its address."""
    return str(shared.whole().scheduler_address)


def own(name: str) -> StudyPlan:
    rosters = {"first": "random", "own": f"dying_players:{name}*2"}
    return plan_of(treatments=["baseline"], rosters=rosters, seeds=2, rounds=4)


def test_the_folder_is_the_same_as_on_this_machine(address: str, tmp_path: Path) -> None:
    carry_out(PLAN, tmp_path / "here", backend=processes(2))
    with cluster(address) as backend:
        carry_out(PLAN, tmp_path / "there", backend=backend)

    assert not backend.shares_folder
    assert tree(tmp_path / "here") == tree(tmp_path / "there")


@pytest.mark.turns("clusters")
def test_the_game_of_a_file_is_played_by_workers_that_have_it(address: str, tmp_path: Path) -> None:
    (tmp_path / "harbour.py").write_text(Path(fishery.__file__).read_text())
    words = ("study", "--world", "harbour.py", "--seeds", 2, "--rounds", 3)
    here = goldrush(*words, "--out", "here", cwd=tmp_path)
    there = goldrush(*words, "--out", "there", "--dask", address, cwd=tmp_path)

    assert (0, 0, "") == (here.code, there.code, there.err)
    assert "baseline/share/seasons-3/seed-0000.journal" in tree(tmp_path / "there")
    assert tree(tmp_path / "here") == tree(tmp_path / "there")


class Unplaced(Fishery):
    """A game that only this process has."""


def test_a_game_that_workers_do_not_have_is_refused(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(given, "_GIVEN", {})  # local workers of other tests are given none of it
    file, study = tmp_path / "harbour.py", tmp_path / "study"
    text = Path(fishery.__file__).read_text().replace("class Fishery(", "class Harbour(")
    file.write_text(text)
    given.give(str(file))
    plan = plan_of(world="harbour", rosters=["share*2"], seeds=1, rounds=3)
    with cluster(address) as backend:
        file.write_text(f"{text}# other")
        with pytest.raises(RunFailed, match=r"harbour.py is other code there"):
            carry_out(plan, study, backend=backend)
        file.unlink()
        with pytest.raises(RunFailed, match=r"harbour.py cannot be read: No such"):
            carry_out(plan, study, backend=backend)
        monkeypatch.setattr(Unplaced, "__module__", "__main__")
        given.give(Unplaced)
        alone = plan_of(world="unplaced", rosters=["share*2"], seeds=1, rounds=3)
        with pytest.raises(BadInput, match="workers elsewhere cannot import the game unplaced"):
            carry_out(alone, study, backend=backend)

    assert not list(study.rglob("*.journal"))


@pytest.mark.parametrize(
    "given", ["", "nonsense://x:1", "x:1\n", "127.0.0.1:{port}", "tls://127.0.0.1:{port}"]
)
def test_an_address_where_no_scheduler_answers_is_refused(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT_MAX", 0.3)
    address = given.format(port=closed_port())
    says = "has no certificates" if "tls" in given else "not the address|no Dask scheduler answers"
    with pytest.raises(BadInput, match=says) as error, cluster(address):
        pass

    assert "\n" not in str(error.value)


def another() -> str:
    return "0.0.1"


def test_workers_without_the_same_goldrush_are_refused(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    cloudpickle = pytest.importorskip("cloudpickle")
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    monkeypatch.setattr(module, "_version", another)
    with pytest.raises(BadInput, match=r"has goldrush 0\.0\.1, this"), cluster(address):
        pass
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.fixture
def small_cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A scheduler, and a worker that nobody starts again."""
    write_dying(tmp_path)
    file, anywhere = tmp_path / "scheduler.json", ("--dashboard-address", "127.0.0.1:0")
    here = ("--scheduler-file", str(file), "--host", "127.0.0.1", "--no-dashboard", *anywhere)
    made: list[subprocess.Popen[bytes]] = []
    try:
        for kind, more in (("scheduler", ("--port", "0")), ("worker", ("--no-nanny",))):
            made.append(
                subprocess.Popen(
                    [sys.executable, "-m", f"distributed.cli.dask_{kind}", *here, *more],
                    cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"},
                )
            )  # fmt: skip
            until(lambda: file.exists() and file.read_text())
        yield json.loads(file.read_text())["address"], made
    finally:
        for process in made:
            process.kill()
            process.wait(timeout=HANGS)


@pytest.mark.parametrize(
    ("dies", "watched", "says"),
    [(0, HANGS, "its worker is gone"), (1, 0.05, "has no workers left")],
)
def test_a_cluster_that_goes_away_is_told(
    tmp_path: Path,
    small_cluster: tuple[str, list[subprocess.Popen[bytes]]],
    monkeypatch: pytest.MonkeyPatch,
    dies: int,
    watched: float,
    says: str,
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(backends, "WATCH_AFTER", watched)
    address, made = small_cluster
    plan = attrs.evolve(own("Sleeps"), rosters={"own": "dying_players:Sleeps*2"})

    gone, processing = threading.Event(), distributed.Client.processing

    def kill_later() -> None:
        until((tmp_path / "sleeps").exists)
        made[dies].kill()
        gone.set()

    def looked_at(client: distributed.Client) -> object:
        gone.wait(HANGS)  # what was handed over may not have come to a worker yet
        return processing(client)

    monkeypatch.setattr(distributed.Client, "processing", looked_at)
    killer = threading.Thread(target=kill_later, daemon=True)
    killer.start()
    with cluster(address) as backend, pytest.raises((RunFailed, WorkersLost), match=says):
        carry_out(plan, tmp_path / "study", backend=backend)
    killer.join(HANGS)


# Last, for the cluster is another one after them.


@pytest.fixture
def looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of Dask's futures, those whose result was on a worker that dies do not always come to an end:
    seen after ten seconds in place of 45, in which workers have been started again.
    """
    processing = distributed.Client.processing

    def looked_at(client: distributed.Client) -> object:
        client.wait_for_workers(1, timeout=HANGS)
        return processing(client)

    monkeypatch.setattr(distributed.Client, "processing", looked_at)
    monkeypatch.setattr(backends, "WATCH_AFTER", 1.0)
    monkeypatch.setattr(module, "IDLE_MAX", 10)


@pytest.mark.turns("clusters")
@pytest.mark.usefixtures("looked_at")
def test_a_worker_that_dies_is_survived(address: str, tmp_path: Path) -> None:
    with cluster(address) as backend:
        carry_out(own("Once"), tmp_path / "there", backend=backend)
    carry_out(own("Once"), tmp_path / "here")

    assert tree(tmp_path / "here") == tree(tmp_path / "there")
