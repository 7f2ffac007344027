"""A study on a disk that fails: its folder is as before, or the same command ends it as planned."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import attrs

from goldrush.kernel.errors import BadInput, WriteFailed
from goldrush.replay.study.backend import Backend, RunFailed
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.listing import MANIFEST
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.plan import StudyPlan, plan_of
from tests.faults.disk import ALL, Disk
from tests.faults.tries import FOLDER, End, Lost, check, put, tree

Tree = Mapping[str, bytes]

STUDY, TEMPORARY = "study", "elsewhere"  # folders: of the study, of whoever does not see it
SMALL, GROWN = ("baseline",), ("baseline", "scarce")  # treatments


class Here(Executor):
    """Does all in this process, whose calls the disk knows."""

    def submit(self, act: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        """Do it at once; the power may go meanwhile."""
        future: Future[Any] = Future()
        try:
            future.set_result(act(*given, **more))
        except Exception as error:
            future.set_exception(error)
        return future


@attrs.frozen(eq=False)
class Student:
    """Carries out a study; `earlier`: one that stands in its folder; `damaged`: with a broken run.

    Where the workers do not see the folder (`away`), they have a temporary one.
    """

    name: str
    earlier: tuple[str, ...] = ()
    damaged: bool = False
    away: bool = False
    lacks: str = ""

    def prepare(self, folder: Path) -> None:
        (folder / TEMPORARY).mkdir()
        put(self.old, folder)

    def write(self, folder: Path) -> None:
        backend = Backend(lambda runs: Here(), 1, shares_folder=not self.away)
        with mock.patch.object(tempfile, "tempdir", str(folder / TEMPORARY)):
            carry_out(_plan(GROWN), folder / STUDY, backend=backend)

    def judge_failure(self, folder: Path, end: End) -> None:
        """The error names what was written; what the manifest lists is there; all can go on."""
        error = end.error
        if error is not None:
            check(isinstance(error, WriteFailed | BadInput | RunFailed), f"{error!r}")
            says = str(error)
            check(str(folder) in says or ".journal" in says, f"of no file: {says}")
        is_removed = end.failed != "remove_tree" and not end.has_failed_for_good
        check(not (is_removed and os.listdir(folder / TEMPORARY)), "a temporary folder is left")
        self._judge(folder, end)

    def judge_crash(self, folder: Path, end: End, seed: int) -> None:
        """What the manifest lists is there for good; with the process alone, no run is lost."""
        self._judge(folder, end, has_lost=seed != ALL)

    @property
    def old(self) -> Tree:
        state = dict(_carried_out(self.earlier)) if self.earlier else {}
        if self.damaged:
            [path] = (path for path in state if path.endswith(".journal"))
            state[path] = state[path][:-1]
        return state

    def _judge(self, folder: Path, end: End, *, has_lost: bool = False) -> None:
        left, new = self._left(folder), {TEMPORARY: FOLDER, **_carried_out(GROWN)}
        check(not end.returned or left == new, "it had returned, and not all is there", Lost)
        for path, data in left.items():
            if path.endswith(".journal") and not has_lost:
                was = self.old.get(path)
                check(data in (new.get(path), was), f"{path} is neither the old run nor the new")
        self._check_listed(folder / STUDY, left)
        with Disk(folder):
            self.write(folder)
        left = self._left(folder)
        check(left == new, f"it ends in another folder: {sorted(left)}")

    def _left(self, folder: Path) -> Tree:
        """What is in the folder but for what a dead process leaves to the system."""
        left = tree(folder).items()
        return {path: data for path, data in left if not path.startswith(f"{TEMPORARY}/")}

    def _check_listed(self, study: Path, left: Tree) -> None:
        """The manifest, if there is any, is whole, and its runs are there, but a broken one."""
        if self.earlier or (study / MANIFEST).exists():
            for run in read_manifest(study).runs:
                path = f"{STUDY}/{run.path}"
                if run.sha256 is not None and not (self.damaged and path in self.old):
                    check(left.get(path) == _carried_out(GROWN)[path], f"{path} is not there", Lost)


def _plan(treatments: Sequence[str]) -> StudyPlan:
    return plan_of(treatments=treatments, rosters=["random"], seeds=1, rounds=[2])


@cache
def _carried_out(treatments: Sequence[str]) -> Tree:
    """What is in the folder when the study has ended."""
    with tempfile.TemporaryDirectory() as name:
        backend = Backend(lambda runs: Here(), 1)
        carry_out(_plan(treatments), Path(name, STUDY), backend=backend)
        return tree(Path(name))


@cache
def students() -> dict[str, Student]:
    """All ways to carry out a study, by name."""
    found = [
        Student("study"),
        Student("study that grows", SMALL),
        Student("study with a broken run", SMALL, damaged=True),
        Student("study played elsewhere", SMALL, away=True),
        Student("study without links", away=True, lacks="link"),
    ]
    return {student.name: student for student in found}
