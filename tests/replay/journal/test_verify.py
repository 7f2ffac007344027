"""What verify says of journals that were forged under right checksums, field by field."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from goldrush.agents.players import Resources
from goldrush.kernel import fold
from goldrush.kernel.errors import MalformedEvents
from goldrush.kernel.journal import FORK, START, UNIT, Commit, JournalReader, sha256_of
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import EVENTS
from goldrush.replay.journal.outline import outline_of
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.verify import verify
from tests.journals import changed, commits_of, write
from tests.kernel.tiny import raw
from tests.mining import fork, record

SETTINGS = {"rounds": 6, "rows": 3, "cols": 3, "truce": 0, "communication": True}
ODD: Sequence[Any] = (
    None, True, -1, 2**64 - 1, 1.5, float("nan"), "x", (), ((),), ((1, 2, 3, 4),), {1: 2},
    {"a": float("nan")}, b"bytes", "long" * 1000, ((0, 0, 2**64 - 1),), ((9, 0, 1),),
    ((0, 0, 1),) * 1001,
)  # fmt: skip


@pytest.fixture(scope="module")
def commits(tmp_path_factory: pytest.TempPathFactory) -> list[Commit]:
    """The commits of a run in which every type of event occurs."""
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    (path.parent / "forger.py").write_text(
        "from goldrush.kernel.worlds.mining.submit import Plan\n"
        "class Forger:\n"
        "    def plan(self, seen, draws):\n"
        "        return Plan([('raid', p, 1) for p in range(9)] * 2, say='hi', memo='m')\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(path.parent)
        record(path, SETTINGS, "forger:Forger*1,random*3", "authority-punish")
    return commits_of(path)


def replaced(commits: Sequence[Commit], code: int, field: int, value: Any) -> list[Commit]:
    """The commits with one field of the first event of a type replaced."""
    assert any(block.rows(code) for commit in commits for block in commit.blocks)
    return changed(commits, code, lambda row: row.__setitem__(field, value), first=True)


@pytest.mark.parametrize("code", range(len(EVENTS)), ids=[event.name for event in EVENTS])
def test_a_value_of_the_wrong_kind_in_any_field_does_not_hold(
    commits: list[Commit], tmp_path: Path, code: int
) -> None:
    for field, kind in enumerate(EVENTS[code].fields.values()):
        for value in ODD:
            if kind.holds(value):
                continue
            path = write(tmp_path / "forged", replaced(commits, code, field, value))
            for level in (3, 4):
                verdict = verify(path, level)

                assert verdict.broken is not None, (field, value)
                assert verdict.broken.level in (2, 3)
            with JournalReader(path) as reader, pytest.raises(MalformedEvents):
                list(fold.events(MINING, reader))


def test_a_start_that_is_not_packed_in_the_one_way_breaks_level_3(
    commits: list[Commit], tmp_path: Path
) -> None:
    body = commits[0].body()
    long = body[:2] + b"\xde\x00\x02" + body[3:]  # a map of two in three bytes
    path = write(tmp_path / "forged", [raw(long), *commits[1:]])
    broken = verify(path, 3).broken

    assert verify(path, 2).holds
    assert (broken.level, broken.expected) == (3, "the canonical encoding")


def test_inputs_that_are_not_packed_in_the_one_way_break_level_3(
    commits: list[Commit], tmp_path: Path
) -> None:
    inputs, derived = commits[1].blocks
    long = Block(inputs.batches, b"\xdc\x00\x01" + inputs.packed[1:])
    body = Commit(UNIT, 1, commits[1].digest, [long, derived]).body()
    path = write(tmp_path / "forged", [commits[0], raw(body), *commits[2:]])

    assert [2, 3] == [b.level for level in (2, 3) if (b := verify(path, level).broken)]


def test_a_setup_that_the_world_does_not_take_breaks_level_2(
    commits: list[Commit], tmp_path: Path
) -> None:
    setup = dict(commits[0].setup or {})
    for name, value in (
        ("config", {**setup["config"], "truce": -1}),
        ("config", None),
        ("roster", setup["roster"][:2]),
        ("roster", tuple({**entry, "policy": 5} for entry in setup["roster"])),
        ("roster", tuple({**entry, "options": {1: 1}} for entry in setup["roster"])),
        ("more", 1),
    ):
        start = Commit(START, 0, 1, setup={**setup, name: value})
        path = write(tmp_path / "forged", [start, *commits[1:]])
        verdict = verify(path)

        assert (verdict.broken.level, "commit 0" in verdict.broken.where) == (2, True)
        with pytest.raises(MalformedEvents):
            rebuild(path, 0)


def test_what_is_no_commit_breaks_level_1_whatever_level_is_asked(
    commits: list[Commit], tmp_path: Path
) -> None:
    path = write(tmp_path / "forged", [commits[0], raw(b"\xc0")])
    for level in (1, 2, 3, 4):
        broken = verify(path, level).broken

        assert (broken.level, broken.where) == (1, f"commit 1 at byte {commits[0].end}")


def test_a_trusted_policy_that_cannot_be_made_cannot_be_judged(tmp_path: Path) -> None:
    (tmp_path / "gone.py").write_text(
        "class Gone:\n    def plan(self, seen, draws):\n        return []\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        record(tmp_path / "a.journal", {"rounds": 2}, "gone:Gone")
    sys.modules.pop("gone")
    verdict = verify(tmp_path / "a.journal", resources=Resources(trust=["gone:Gone"]))

    assert (None, 3) == (verdict.holds, verdict.level)
    assert "agent 0: policy gone:Gone cannot be made" in verdict.unknown[0]


def test_a_fork_begins_with_its_parents_bytes_and_names_their_hash(tmp_path: Path) -> None:
    parent, path = tmp_path / "run.journal", tmp_path / "fork.journal"
    record(parent, SETTINGS)
    fork(parent, 3, path, settings={"truce": 1})
    [forked] = outline_of(path).forks
    [at] = [commit.offset for commit in commits_of(path) if commit.kind == FORK]

    assert sha256_of(parent) == forked.fields["parent"]
    assert parent.read_bytes()[:at] == path.read_bytes()[:at]
