"""A run that broke off goes on from its last whole round, and ends as if it never had."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from goldrush.agents.players import Resources
from goldrush.kernel.errors import (
    BadInput,
    DamagedJournal,
    GoldrushError,
    MalformedEvents,
    PolicyFailed,
    TornTail,
)
from goldrush.kernel.journal import UNIT, Commit
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


@pytest.mark.parametrize(
    ("length", "broken", "refusal"),
    [(-1, None, BadInput), (9, 4, DamagedJournal), (0, None, TornTail)],
    ids=["has ended", "is damaged before its tail", "has no start"],
)
def test_a_run_that_cannot_go_on_is_refused_and_kept(
    length: int, broken: int | None, refusal: type[GoldrushError],
    whole: tuple[bytes, list[int]], tmp_path: Path,
) -> None:  # fmt: skip
    data, ends = whole
    path = tmp_path / "kept.journal"
    kept = bytearray(data[: ends[length] + (5 if broken else 0) - (length == 0)])
    if broken is not None:
        kept[ends[broken] + 30] ^= 1
    path.write_bytes(kept)
    with pytest.raises(refusal):
        resume(path)

    assert kept == path.read_bytes()


Rounds = Callable[[Commit], list[Commit]]  # the commits of a first round, from a sound one


def with_wrong_digest(first: Commit) -> list[Commit]:
    return [Commit(UNIT, 1, (first.digest or 0) ^ 1, first.blocks)]


def submitted_by(*agents: int) -> Rounds:
    rows = [(agent, (), None, None, None, None) for agent in agents]
    return lambda first: [Commit(UNIT, 1, None, [Block([(SUBMITTED, [row])])]) for row in rows]


def left_open(first: Commit) -> list[Commit]:
    [block] = [block for block in first.blocks if block.batches[0][0] == SUBMITTED]
    return [Commit(UNIT, 1, None, [Block(block.batches[:1])])]


@pytest.mark.parametrize(
    ("rounds", "refusal", "says"),
    [
        (with_wrong_digest, MalformedEvents, "its events give"),
        (submitted_by(3, 3), MalformedEvents, "not of different agents"),
        (submitted_by(10), MalformedEvents, "not of different agents"),
        (left_open, BadInput, "not what its agents submit"),
    ],
    ids=["wrong digest", "an agent twice", "an agent too many", "scripted agents do not wait"],
)
def test_a_first_round_that_no_run_leaves_is_refused_and_kept(
    rounds: Rounds, refusal: type[GoldrushError], says: str, tmp_path: Path
) -> None:
    source, path = tmp_path / "source.journal", tmp_path / "forged.journal"
    record(source, {"rounds": 3})
    start, first, *_ = commits_of(source)
    write(path, [start, *rounds(first)])
    before = path.read_bytes()
    with pytest.raises(refusal, match=says):
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
