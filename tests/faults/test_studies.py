"""A disk that fails, or loses its power, while a study is carried out: the same command ends it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.kernel import files
from goldrush.replay.study import carry_out, play
from goldrush.replay.study.backend import Backend
from goldrush.replay.study.manifest import UNFINISHED
from goldrush.replay.study.plan import Planned, plan_of
from tests.faults.conftest import Counted
from tests.faults.disk import LEAST, Disk
from tests.faults.sampling import step
from tests.faults.studies import Here, students
from tests.faults.tries import Found, crashes, failures
from tests.llm.runs import models, playing, rows_in
from tests.llm.servers import serving


@pytest.mark.parametrize("name", students())
@pytest.mark.parametrize(
    ("law", "kind"), [(failures, "calls that failed"), (crashes, "losses of power")]
)
def test_a_study_goes_on_to_the_same_folder_whatever_call_fails(
    law: Callable[..., Found], kind: str, name: str, tmp_path: Path, counted: Counted
) -> None:
    found = law(students()[name], tmp_path, step(97))
    counted(f"{kind} while a study was carried out", found.cases)

    assert [] == found.says


@pytest.mark.parametrize(
    ("broken", "part"), [(carry_out, "_sync"), (files, "sync_folder"), (files, "sync_file")]
)
def test_a_study_that_promises_too_much_is_found_out_when_the_power_goes(
    broken: object, part: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broken, part, lambda *given: None)

    assert crashes(students()["study"], tmp_path, 1000).kinds["things lost"] > 0


def test_answers_that_a_study_has_paid_for_survive_a_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plan_of(treatments=["baseline"], rosters=["llm:a*2"], seeds=1, rounds=[2])
    [run] = plan.runs(models(None))
    clear_path, left = play.clear_path, tmp_path / "left"
    folder = tmp_path / "disk"
    folder.mkdir()

    def ended(run: Planned, folder: str) -> None:
        if Path(folder, run.path + UNFINISHED).exists():  # played, and not in its place yet
            raise KeyboardInterrupt
        clear_path(run, folder)

    monkeypatch.setattr(play, "clear_path", ended)
    with serving(playing) as server:
        disk, backend = Disk(folder), Backend(lambda runs: Here(), 1)
        there = models(server.address)
        error = disk.tried(
            lambda: carry_out.carry_out(plan, folder / "x", backend=backend, models=there)
        )
        paid = len(server.asked)
    disk.leave(left, LEAST)

    assert isinstance(error, KeyboardInterrupt)
    assert paid == len(rows_in(left / "x" / (run.path + UNFINISHED))) == 4
