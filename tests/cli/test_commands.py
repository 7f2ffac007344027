"""`replay`, `verify`, `export`, `policies`, `treatments`, and what all commands have in common."""

import shutil
from pathlib import Path

import pytest

from goldrush.kernel.journal import FORK
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


def test_a_fork_that_was_never_finished_is_told_by_verify(journal: Path, tmp_path: Path) -> None:
    goldrush("fork", journal, "--at", 5, "--out", "f.journal", cwd=tmp_path)
    path = tmp_path / "f.journal"
    fork = next(commit for commit in commits_of(path) if commit.kind == FORK)
    path.write_bytes(path.read_bytes()[: fork.end - 1])
    ran = goldrush("log", path, cwd=tmp_path)

    assert (2, True) == (ran.code, "keeps what is intact" in ran.err)
    assert "keeps what is intact" in goldrush("verify", path, cwd=tmp_path).out
