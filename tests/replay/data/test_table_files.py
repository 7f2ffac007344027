"""Tables as files: where they go, whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from goldrush.kernel.errors import BadInput, TornTail
from goldrush.replay.data import encoded
from goldrush.replay.data.encoded import CSV, PARQUET
from tests.cli.helpers import ROOT
from tests.golden import path_of
from tests.mining import record

BOTH = pytest.mark.parametrize("form", [CSV, PARQUET])


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A short run."""
    path = tmp_path_factory.mktemp("runs") / "a.journal"
    record(path, {"rounds": 1}, "raid*3")
    return path


@BOTH
def test_force_replaces_an_earlier_table_and_no_other_file(
    journal: Path, tmp_path: Path, form: str
) -> None:
    """Another table in its place, with other columns, is no earlier one."""
    encoded.write_tables([journal], tmp_path, form)
    kept, other = tmp_path / f"agents.{form}", (tmp_path / f"spells.{form}").read_bytes()
    first = kept.read_bytes()
    with pytest.raises(BadInput, match=rf"agents\.{form} already exists; .*--force"):
        encoded.write_tables([journal], tmp_path, form, names=["agents"])
    assert 5 == len(encoded.write_tables([journal], tmp_path, form, force=True))
    assert first == kept.read_bytes()

    for data in (b"mine", first[:9], other):
        kept.write_bytes(data)
        for force in (False, True):
            with pytest.raises(BadInput, match=rf"agents\.{form} already exists and is not reco"):
                encoded.write_tables([journal], tmp_path, form, names=["agents"], force=force)
        assert data == kept.read_bytes()


@BOTH
def test_a_journal_that_is_read_is_never_written_over(
    journal: Path, tmp_path: Path, form: str
) -> None:
    data = journal.read_bytes()
    own = tmp_path / f"spells.{form}"
    own.write_bytes(data)
    (tmp_path / "link.journal").symlink_to(own)
    for read in (own, tmp_path / "link.journal"):
        with pytest.raises(BadInput, match="is a journal"):
            encoded.write_tables([path_of("baseline"), read], tmp_path, form, force=True)

    assert data == own.read_bytes()
    assert {own.name, "link.journal"} == {path.name for path in tmp_path.iterdir()}


@BOTH
def test_places_where_files_cannot_go_are_refused(journal: Path, tmp_path: Path, form: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "full" / f"rounds.{form}").mkdir(parents=True)
    wrong = {
        "file": "is not a folder",
        "full": "is a folder",
        "a/b": "cannot write",
        "\0": "cannot",
    }
    for place, says in (wrong | {"x" * 300: "cannot write"}).items():
        with pytest.raises(BadInput, match=says):
            encoded.write_tables([journal], tmp_path / place, form, force=True)

    assert {"file", "full"} == {path.name for path in tmp_path.iterdir()}


@BOTH
@pytest.mark.parametrize("is_new", [True, False])
def test_a_journal_that_breaks_leaves_nothing_behind(
    journal: Path, tmp_path: Path, form: str, is_new: bool
) -> None:
    torn = tmp_path / "torn.journal"
    torn.write_bytes(journal.read_bytes()[:-3])
    place = tmp_path / "tables"
    if not is_new:
        encoded.write_tables([journal], place, form, names=["events"])
        before = (place / f"events.{form}").read_bytes()
    with pytest.raises(TornTail):
        encoded.write_tables([journal, torn], place, form, force=True)

    assert is_new is not place.exists()
    assert is_new or [before] == [path.read_bytes() for path in place.iterdir()]


FULL = """
import resource, sys
from goldrush.kernel.errors import WriteFailed
from goldrush.replay.data import encoded
encoded.BATCH = encoded.GROUP = 3
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[4]),) * 2)
try:
    encoded.write_tables([sys.argv[1]], sys.argv[2], sys.argv[3], names=sys.argv[5:] or None)
except WriteFailed as error:
    print(error)
"""


@BOTH
@pytest.mark.parametrize(
    ("room", "names"),
    [(500, ()), (3, ("rounds",))],  # of so little nothing is written before the file is closed
)
def test_a_full_disk_is_told_in_a_line_and_leaves_nothing(
    journal: Path, tmp_path: Path, form: str, room: int, names: tuple[str, ...]
) -> None:
    arguments = map(str, (journal, tmp_path / "out", form, room, *names))
    done = subprocess.run(
        [sys.executable, "-c", FULL, *arguments],
        capture_output=True, text=True, cwd=ROOT, timeout=600,
    )  # fmt: skip

    assert (0, "") == (done.returncode, done.stderr)
    assert "cannot be written: file too large\n" == done.stdout.partition(": ")[2]
    assert [] == list(tmp_path.iterdir())


@BOTH
def test_an_interrupt_leaves_nothing_behind(journal: Path, tmp_path: Path, form: str) -> None:
    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encoded.write_tables([journal], tmp_path / "out", form, on_run=interrupt)

    assert [] == list(tmp_path.iterdir())


def test_how_far_it_is_is_told(journal: Path, tmp_path: Path) -> None:
    told: list[int] = []
    encoded.write_tables([journal] * 3, tmp_path, CSV, on_run=told.append)

    assert [1, 2, 3] == told


def test_a_name_that_is_no_utf_8_is_escaped(journal: Path, tmp_path: Path) -> None:
    odd = os.fsdecode(bytes(tmp_path / "odd-") + b"\xff.journal")
    Path(odd).write_bytes(journal.read_bytes())
    for form in encoded.FORMATS:
        encoded.write_tables([odd], tmp_path / "out", form)
    [name] = set(pd.read_csv(tmp_path / "out" / "agents.csv")["journal"])

    assert str(tmp_path / "odd-\\xff.journal") == name


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"form": "xlsx"}, "there is no format 'xlsx'"),
        ({"names": ["plots"]}, "no table 'plots'; take one of events, rounds, measures, agents"),
        ({"paths": []}, "there is no journal"),
    ],
)
def test_what_there_is_not_is_refused(
    journal: Path, tmp_path: Path, arguments: dict[str, Any], says: str
) -> None:
    chosen: dict[str, Any] = {"paths": [journal], "form": CSV} | arguments
    with pytest.raises(BadInput, match=says):
        encoded.write_tables(folder=tmp_path / "out", **chosen)

    assert [] == list(tmp_path.iterdir())


def test_without_pyarrow_it_says_what_to_install(
    journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BadInput, match=r"needs pyarrow; .*pip install 'goldrush-sim\[tables\]'"):
        encoded.write_tables([journal], tmp_path / "out", PARQUET)

    assert [] == list(tmp_path.iterdir())
    assert 5 == len(encoded.write_tables([journal], tmp_path / "out", CSV))
