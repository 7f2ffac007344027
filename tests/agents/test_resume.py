"""A run that broke off goes on from its last whole round, and ends as if it never had."""

import sys
from pathlib import Path

import pytest

from goldrush.agents.players import Resources
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    JournalInUse,
    MalformedEvents,
    PolicyFailed,
    TornTail,
)
from goldrush.kernel.journal import UNIT, Commit, JournalWriter
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining.events import SUBMITTED
from goldrush.replay.journal.verify import verify
from tests.journals import commits_of, write
from tests.mining import record, resume

SETTINGS = {"rounds": 12, "seed": 3}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[int]]:
    """A finished journal, and where its commits end."""
    path = tmp_path_factory.mktemp("journals") / "whole.journal"
    record(path, SETTINGS, None, "scarce")
    return path.read_bytes(), [commit.end for commit in commits_of(path)]


def test_a_run_cut_anywhere_after_its_start_is_finished_byte_for_byte(
    whole: tuple[bytes, list[int]], tmp_path: Path
) -> None:
    data, ends = whole
    path = tmp_path / "cut.journal"
    cuts = {cut for end in ends[:-1] for cut in (end, end + 1, end + 11, end + 200)}
    for cut in sorted(cut for cut in cuts if cut < ends[-1]):
        path.write_bytes(data[:cut])
        resume(path)

        assert data == path.read_bytes(), cut


def test_the_rounds_that_were_there_are_not_played_again(
    whole: tuple[bytes, list[int]], tmp_path: Path
) -> None:
    data, ends = whole
    path = tmp_path / "cut.journal"
    path.write_bytes(data[: ends[8]])
    played: list[int] = []
    resume(path, on_round=lambda round_, _: played.append(round_))

    assert [9, 10, 11, 12] == played


def test_a_run_that_has_ended_is_refused_and_kept(
    whole: tuple[bytes, list[int]], tmp_path: Path
) -> None:
    path = tmp_path / "whole.journal"
    path.write_bytes(whole[0])
    with pytest.raises(BadInput, match="has ended with round 12"):
        resume(path)

    assert whole[0] == path.read_bytes()


def test_damage_before_the_tail_is_refused_and_kept(
    whole: tuple[bytes, list[int]], tmp_path: Path
) -> None:
    data, ends = whole
    path = tmp_path / "damaged.journal"
    broken = bytearray(data[: ends[9] + 5])
    broken[ends[4] + 30] ^= 1
    path.write_bytes(broken)
    with pytest.raises(DamagedJournal, match="commit 5"):
        resume(path)

    assert broken == path.read_bytes()


def test_a_journal_without_its_start_cannot_go_on(
    whole: tuple[bytes, list[int]], tmp_path: Path
) -> None:
    path = tmp_path / "stub.journal"
    path.write_bytes(whole[0][: whole[1][0] - 1])
    with pytest.raises(TornTail, match="0 whole commits"):
        resume(path)


def test_a_journal_that_is_being_written_is_refused(
    whole: tuple[bytes, list[int]], tmp_path: Path
) -> None:
    path = tmp_path / "busy.journal"
    path.write_bytes(whole[0][: whole[1][4]])
    with JournalWriter.reopen(path), pytest.raises(JournalInUse):
        resume(path)


def test_a_last_round_whose_digest_is_wrong_is_refused(tmp_path: Path) -> None:
    source, path = tmp_path / "source.journal", tmp_path / "forged.journal"
    record(source, {"rounds": 3})
    start, first, *_ = commits_of(source)
    write(path, [start, Commit(UNIT, 1, (first.digest or 0) ^ 1, first.blocks)])
    with pytest.raises(MalformedEvents, match="its events give"):
        resume(path)


@pytest.mark.parametrize("agents", [(3, 3), (10,)])
def test_a_round_left_open_with_submissions_that_it_cannot_have_is_refused(
    tmp_path: Path, agents: tuple[int, ...]
) -> None:
    source, path = tmp_path / "source.journal", tmp_path / "open.journal"
    record(source, {"rounds": 3})
    start, *_ = commits_of(source)
    rows = [(agent, (), None, None, None, None) for agent in agents]
    write(path, [start, *(Commit(UNIT, 1, None, [Block([(0, [row])])]) for row in rows)])
    before = path.read_bytes()
    with pytest.raises(MalformedEvents, match="submissions are not of different agents"):
        resume(path)

    assert before == path.read_bytes()


def test_submissions_of_scripted_agents_do_not_wait_for_a_round(tmp_path: Path) -> None:
    source, path = tmp_path / "source.journal", tmp_path / "open.journal"
    record(source, {"rounds": 3})
    start, first, *_ = commits_of(source)
    inputs = [block for block in first.blocks if block.batches[0][0] == SUBMITTED][:1]
    write(path, [start, Commit(UNIT, 1, None, [Block(inputs[0].batches[:1])])])
    before = path.read_bytes()
    with pytest.raises(BadInput, match="not what its agents submit"):
        resume(path)

    assert before == path.read_bytes()


FRAIL = """
from pathlib import Path

class Frail:
    def plan(self, seen, draws):
        if seen.round == 5 and not Path({flag!r}).exists():
            raise RuntimeError("not yet")
        return [("claim", plot, 1) for plot in draws.shuffled(seen.unowned)[:3]]
"""


def test_a_run_whose_policy_failed_goes_on_once_it_is_mended_and_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag = tmp_path / "mended"
    (tmp_path / "frail.py").write_text(FRAIL.format(flag=str(flag)))
    monkeypatch.syspath_prepend(tmp_path)
    broken, whole = tmp_path / "broken.journal", tmp_path / "whole.journal"
    roster = "raid*3,frail:Frail*2"
    with pytest.raises(PolicyFailed, match=r"round 5: .* RuntimeError: not yet"):
        record(broken, SETTINGS, roster)
    kept = broken.read_bytes()
    with pytest.raises(BadInput, match="agent 3 plays 'frail:Frail'"):
        resume(broken)
    untouched = broken.read_bytes()
    flag.touch()
    record(whole, SETTINGS, roster)
    resume(broken, trust=["frail:Frail"])

    assert kept == untouched
    assert whole.read_bytes() == broken.read_bytes()
    assert verify(broken, resources=Resources(trust=["frail:Frail"])).holds
    sys.modules.pop("frail")


def test_recorded_agents_go_on_when_their_journal_is_given(tmp_path: Path) -> None:
    source, path, cut = (tmp_path / name for name in ("source", "played", "cut"))
    record(source, SETTINGS)
    record(path, SETTINGS, f"recorded:{source}")
    cut.write_bytes(path.read_bytes()[: commits_of(path)[6].end])
    with pytest.raises(BadInput, match="give that journal"):
        resume(cut)
    resume(cut, sources=[str(source)])

    assert path.read_bytes() == cut.read_bytes()
