"""Those that write what follows from journals, and their law: old or new, and always whole."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from unittest import mock

import attrs

from goldrush.kernel import files
from goldrush.replay.data import encoded
from goldrush.replay.worlds.competition import leaderboard as season_folder
from tests.faults.disk import Disk
from tests.faults.journals import small, twin
from tests.faults.tries import End, Lost, check, put, tree
from tests.seasons import kept

Act = Callable[[Path], object]
Tree = Mapping[str, bytes]


def _at_once(path: str) -> str:
    """All that a writer writes changes at the same instant."""
    return ""


def _each(path: str) -> str:
    """A file changes alone."""
    return path


@attrs.frozen(eq=False)
class Exporter:
    """Writes files into a folder. `earlier`: who wrote what stands there, if anything does; `part`:
    the files that change at once, as text that they share.
    """

    name: str
    write: Act
    earlier: Act | None = None
    part: Callable[[str], str] = _at_once
    lacks: str = ""

    def prepare(self, folder: Path) -> None:
        put(self.old, folder)

    def judge_failure(self, folder: Path, end: End) -> None:
        """Every part is the old one or the new one, and without an error all are new."""
        left = self._check_parts(folder)
        check(not end.returned or left == self.new, "not all is new, and there is no error")
        self._check_goes_on(folder, left)

    def judge_crash(self, folder: Path, end: End, seed: int) -> None:
        """Every part is the old one or the new one, and once it returned all are new for good."""
        left = self._check_parts(folder)
        check(not end.returned or left == self.new, "it had returned, and not all is new", Lost)
        self._check_goes_on(folder, left)

    @property
    def old(self) -> Tree:
        return _states(self)[0]

    @property
    def new(self) -> Tree:
        return _states(self)[1]

    def _check_parts(self, folder: Path) -> Tree:
        left = tree(folder)
        for part in {self.part(path) for path in [*left, *self.old, *self.new]}:
            has, old, new = (self._of(part, state) for state in (left, self.old, self.new))
            check(has in (old, new), f"{part} is neither old nor new: {sorted(has)}")
        return left

    def _of(self, part: str, state: Tree) -> Tree:
        return {path: data for path, data in state.items() if self.part(path) == part}

    def _check_goes_on(self, folder: Path, left: Tree) -> None:
        """The next run works; where nothing may be replaced, unless it is there already."""
        if self.earlier is None and left == self.new:
            return
        with Disk(folder):
            self.write(folder)
        check(self._check_parts(folder) == self.new, "the next run gives something else")


@cache
def _states(exporter: Exporter) -> tuple[Tree, Tree]:
    """What is in the folder before and after."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with Disk(folder):
            if exporter.earlier is not None:
                exporter.earlier(folder)
            old = tree(folder)
            exporter.write(folder)
        return old, tree(folder)


@cache
def _inputs() -> Path:
    """A folder with what is read."""
    folder = Path(_kept.name)
    (folder / "one.journal").write_bytes(small().data)
    (folder / "two.journal").write_bytes(twin())
    shutil.copy(kept("short"), folder / "season.journal")
    return folder


_kept = tempfile.TemporaryDirectory()


def _tables(journal: str, form: str, folder: Path) -> object:
    names = ["rounds", "agents"]
    return encoded.write_tables(
        [_inputs() / journal], folder / "tables", form, names=names, force=True
    )


_season_at = cache(season_folder.season_at)


def _season(assignment: int, folder: Path) -> object:
    with mock.patch.object(season_folder, "season_at", _season_at):
        return season_folder.export(_inputs() / "season.journal", folder / "season", assignment)


def _file(text: str, folder: Path) -> None:
    """As pages and reports are written."""
    files.write_whole(str(folder / "out.html"), f"{files.MARK}{text}".encode(), force=True)


@cache
def exporters() -> dict[str, Exporter]:
    """All that write what follows from journals, by name."""
    csv, parquet = (partial(_tables, "one.journal", form) for form in encoded.FORMATS)
    old_csv = partial(_tables, "two.journal", "csv")
    found = [
        Exporter("tables: CSV over others", csv, old_csv, _each),
        Exporter("tables: Parquet", parquet),
        Exporter("file over another", partial(_file, "new"), partial(_file, "old")),
        Exporter("season folder", partial(_season, 2)),
    ]
    return {exporter.name: exporter for exporter in found}
