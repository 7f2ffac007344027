"""`replay`, `verify`, `export`, `policies`, `treatments`, and what all commands have in common."""

import json
import shutil
from pathlib import Path

import pytest

from goldrush.kernel.journal import FORK
from tests.cli.helpers import assert_refused, goldrush
from tests.journals import commits_of
from tests.mining import record


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    record(path, {"seed": 7, "rounds": 20})
    return path


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("replay run.journal --round 1 --at 2", "--at is given 2 times; give it once; see"),
        ("log run.journal --agent 1 --agent=", "Invalid value for '--agent': it is empty; see"),
        ("record --out --force", "Invalid value for '--out': it is missing before --force"),
    ],
)
def test_an_option_has_one_value_and_a_whole_one(
    journal: Path, tmp_path: Path, words: str, says: str
) -> None:
    (tmp_path / "run.journal").symlink_to(journal)

    assert_refused(goldrush(*words.split(), cwd=tmp_path), says)
    assert ["run.journal"] == [path.name for path in tmp_path.iterdir()]


def test_verify_of_several_files_hides_no_break_behind_what_cannot_be_judged(
    journal: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.journal"
    data = bytearray(journal.read_bytes())
    data[3000] ^= 1
    broken.write_bytes(data)
    holds = goldrush("verify", journal, cwd=tmp_path)
    differs = goldrush("verify", journal, broken, cwd=tmp_path)
    trouble = goldrush("verify", journal, tmp_path / "missing", cwd=tmp_path)
    both = goldrush("verify", journal, broken, tmp_path / "missing", cwd=tmp_path)

    assert (holds.code, differs.code, trouble.code, both.code) == (0, 1, 2, 1)


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


def test_export_gives_as_many_events_as_verify_counts(journal: Path, tmp_path: Path) -> None:
    lines = goldrush("export", journal, "--format", "jsonl", cwd=tmp_path).out.splitlines()
    [verdict] = json.loads(goldrush("verify", journal, "--json", cwd=tmp_path).out)

    assert len(lines) == verdict["events"]
