"""`replay`, `verify`, `export`, `policies`, `treatments`, and what all commands have in common."""

import shutil
from pathlib import Path

import pytest

from tests.cli.helpers import goldrush
from tests.journals import commits_of
from tests.mining import record


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    record(path, {"seed": 7, "rounds": 20})
    return path


@pytest.mark.parametrize("forked", [False, True])
def test_a_tail_torn_off_in_the_first_round_is_resumed(
    journal: Path, path: Path, tmp_path: Path, forked: bool
) -> None:
    shutil.copy(journal, path)
    if forked:
        goldrush("fork", journal, "--at", 0, "--out", path, "--force", cwd=tmp_path)
    data = path.read_bytes()
    first = next(commit for commit in commits_of(path) if commit.unit == 1)
    path.write_bytes(data[: first.offset + 20].ljust(first.end, b"\0"))
    ran = goldrush("verify", path, cwd=tmp_path)
    command = f"resume {path}"

    assert (1, True) == (ran.code, f"{command}` removes them and continues the run" in ran.out)
    assert 0 == goldrush(*command.split(), cwd=tmp_path).code
    assert data == path.read_bytes()
