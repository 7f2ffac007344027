"""The words of `diff`: every pair of runs, whatever ails them, has a headline that is true."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import pytest

from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import END, UNIT, Commit, Header, JournalWriter
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal.diff import diff, format_diff
from tests.cli.helpers import goldrush
from tests.journals import commits_of, write
from tests.mining import fork, record

RUN = ({"rounds": 6, "rows": 4, "cols": 4}, "random*4")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    folder = tmp_path_factory.mktemp("runs")
    whole = folder / "whole"
    record(whole, *RUN)
    commits = commits_of(whole)
    data = whole.read_bytes()
    cuts = {"short": commits[3].end, "torn": commits[3].end + 30, "stub": 60, "no end": -1}
    for name, end in cuts.items():
        end = commits[-1].offset if name == "no end" else end
        (folder / name).write_bytes(data[:end])
    (folder / "torn end").write_bytes(data[: commits[-1].offset + 5])
    for name, before, commit in (
        ("open", commits[:4], Commit(UNIT, 4, None, [some(commits[4], 2)])),
        ("more open", commits[:4], Commit(UNIT, 4, None, [some(commits[4], 3)])),
        ("goes on", commits[:-1], Commit(UNIT, 7, None, [some(commits[4], 1)])),
    ):
        write(folder / name, (*before, commit))
    with JournalWriter(folder / "other rules", Header(MINING.name, 3)) as journal:
        journal.append(commits[0])
    (folder / "damaged").write_bytes(data[: commits[2].end - 1] + b"?" + data[commits[2].end :])
    fork(whole, 2, folder / "fork", settings={"stamina": 4})
    record(folder / "seed", {**RUN[0], "seed": 1}, RUN[1])
    assert commits[-1].kind == END
    return {path.name: path for path in sorted(folder.iterdir())}


def some(commit: Commit, agents: int) -> Block:
    return Block([(SUBMITTED, commit.blocks[0].rows(SUBMITTED)[:agents])])


def headline(a: Path, b: Path) -> str:
    return format_diff(diff(a, b))[0].replace(f"{a.parent}/", "")


def test_every_pair_has_a_headline_unless_neither_can_be_read(runs: Mapping[str, Path]) -> None:
    unread = {"stub", "damaged"}  # one after no commit, the other after two
    for one, two in itertools.product(set(runs) - {"other rules"}, repeat=2):
        if {one, two} <= unread:
            with pytest.raises(JournalError):
                diff(runs[one], runs[two])
            continue
        [first, *_] = format_diff(diff(runs[one], runs[two]))

        assert (one == two) == first.startswith("the same"), (one, two)


def test_a_difference_that_words_do_not_tell_is_shown_as_it_is(
    runs: Mapping[str, Path], tmp_path: Path
) -> None:
    ran = goldrush("diff", runs["whole"], runs["seed"], cwd=tmp_path)
    a, b = (line for line in ran.out.splitlines() if line.startswith(("  A: ", "  B: ")))

    assert ran.code == 1
    assert a[5:] != b[5:]
