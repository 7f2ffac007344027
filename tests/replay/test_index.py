"""The index of a long journal: it makes reading quicker and never changes what is read."""

import os
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_intdigest

from agents.mining import record, resume
from kernel import fold
from kernel.codec import pack, unpack
from kernel.errors import BadInput, DamagedJournal, TornTail
from kernel.journal import FORK, START, UNIT, Commit, Header, JournalReader, JournalWriter, Place
from kernel.mining import MINING
from kernel.mining.state import MiningState
from kernel.world import Block
from replay import index
from replay.fork import fork
from replay.index import index_path
from replay.log import Query, log
from replay.rebuild import rebuild
from tests.laws.strategies import Game, Played, games, played, submissions

ROUNDS = 30
SETTINGS: dict[str, Any] = {
    "seed": 3,
    "rounds": ROUNDS,
    "rows": 3,
    "cols": 4,
    "agents": 5,
    "stamina_by_agent": [4, 7, 10, 13, 2],
    "alpha_by_plot": [1.0, 0.1, 1 / 3, 2.5] * 3,
    "authority": "punish",
    "detection": 0.5,
}
KEEPER = """
from kernel.mining.submit import Plan

class Keeper:
    def plan(self, seen, draws):
        raids = [("raid", plot, 1) for plot in draws.shuffled(seen.others)[:2]]
        claims = [("claim", plot, 1) for plot in seen.unowned[:3]]
        mines = [("mine", plot, 1) for plot in seen.own]
        memo = (seen.memo or "") + str(seen.round % 10)
        return Plan(raids + claims + mines, memo=memo if seen.round % 7 else None)
"""
ROSTER = "keepers_of_memos:Keeper*2,random*2,raid*1"


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Small journals have indexes, with a frozen state every third round."""
    monkeypatch.setattr("replay.index.INDEX_FROM", 1)
    monkeypatch.setattr("replay.index.SPACING", 3)
    monkeypatch.setattr("replay.index.SHARE", 0)
    return monkeypatch


@pytest.fixture(scope="module")
def keepers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A policy of somebody's own that keeps a memo can be imported."""
    folder = tmp_path_factory.mktemp("policies")
    (folder / "keepers_of_memos.py").write_text(KEEPER)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory, keepers: None) -> bytes:
    """The bytes of a run with memos, and with agents and plots that are not alike."""
    path = tmp_path_factory.mktemp("journals") / "a.journal"
    record(path, SETTINGS, ROSTER)
    return path.read_bytes()


@pytest.fixture
def journal(recorded: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "a.journal"
    path.write_bytes(recorded)
    return path


def facts_of(state: MiningState) -> tuple[object, ...]:
    """Everything that a closed state holds, in values that compare."""
    return (
        MINING.digest(state), state.round, state.config, state.roster,
        list(state.owner), list(state.since), list(state.how), [list(p) for p in state.plots_of],
        list(state.gold), [list(points) for points in state.spent], list(state.memo),
        [(r.round, r.inputs.packed, r.derived.packed, r.fingerprint) for r in state.history],
    )  # fmt: skip


def folded(path: Path) -> list[tuple[object, ...]]:
    """Round by round, from the start: the state, its events, the digest in the journal."""
    rounds: list[tuple[object, ...]] = []
    events: list[Any] = []
    under_way = fold.Steps(MINING.arrange)
    with JournalReader(path) as reader:
        for commit, state in fold.states(MINING, reader):
            if commit.kind != FORK:
                events += fold.commit_events(MINING, reader, commit, under_way)
                if commit.digest is not None:
                    rounds.append((facts_of(state), events, commit.digest))
            events = [] if commit.digest is not None else events
    return rounds


def rebuilt(path: Path, round_: int) -> tuple[object, ...]:
    again = rebuild(path, round_)
    return facts_of(again.state), list(again.events), again.digest


def index_of(path: Path) -> Path:
    return Path(index_path(str(path)))


def identity(path: Path) -> tuple[int, int]:
    """What changes when a file is written anew."""
    found = path.stat()
    return found.st_ino, found.st_mtime_ns


def assert_rebuilt_alike(path: Path) -> None:
    for round_, expected in enumerate(folded(path)):
        assert expected == rebuilt(path, round_), round_


@pytest.mark.parametrize("visibility", [1, 5, 20, "all"])
def test_every_round_is_rebuilt_by_an_index_as_it_is_folded_from_the_start(
    tmp_path: Path, small: pytest.MonkeyPatch, keepers: None, visibility: object
) -> None:
    path = tmp_path / "a.journal"
    record(path, {**SETTINGS, "visibility": visibility}, ROSTER)

    assert_rebuilt_alike(path)
    assert index_of(path).exists()


@pytest.mark.parametrize("before", [1, 5, "all"])
@pytest.mark.parametrize("after", [1, 20, "all"])
@pytest.mark.parametrize("at", [12, 13])
def test_rounds_on_both_sides_of_a_fork_are_rebuilt_as_they_are_folded(
    tmp_path: Path,
    small: pytest.MonkeyPatch,
    keepers: None,
    before: object,
    after: object,
    at: int,
) -> None:
    record(tmp_path / "a.journal", {**SETTINGS, "visibility": before}, ROSTER)
    path = tmp_path / "b.journal"
    fork(
        tmp_path / "a.journal", at, path, trust=["keepers_of_memos:Keeper"],
        settings={"visibility": after, "seed": 8, "truce": 0},
    )  # fmt: skip

    assert_rebuilt_alike(path)


def test_a_fork_of_a_fork_of_a_fork_is_rebuilt_as_it_is_folded(
    journal: Path, small: pytest.MonkeyPatch, keepers: None, tmp_path: Path
) -> None:
    trust = ["keepers_of_memos:Keeper"]
    paths = [journal, *(tmp_path / f"{name}.journal" for name in "bcde")]
    fork(paths[0], 0, paths[1], settings={"visibility": 9}, trust=trust)
    fork(paths[1], 12, paths[2], settings={"visibility": "all", "alpha": 7.0}, trust=trust)
    fork(paths[2], 12, paths[3], settings={"visibility": 4}, roster="random*3,raid*2")
    fork(paths[3], 25, paths[4], settings={"visibility": 20, "rounds": ROUNDS + 4})

    assert_rebuilt_alike(paths[4])


def test_the_log_from_any_round_on_is_the_same_by_an_index(
    journal: Path, small: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    forked = tmp_path / "b.journal"
    fork(journal, 12, forked, settings={"visibility": 7}, roster="raid")
    with JournalReader(forked) as reader:
        events = list(fold.events(MINING, reader))
    for first in range(ROUNDS + 1):
        expected = [event for event in events if event.unit >= first]
        two = [event for event in expected if event.unit <= first + 1]

        assert expected == list(log(forked, Query(first)))
        assert two == list(log(forked, Query(first, first + 1)))
    assert index_of(forked).exists()


def test_a_short_journal_gets_no_index(journal: Path) -> None:
    rebuild(journal, ROUNDS)

    assert ["a.journal"] == os.listdir(journal.parent)


def test_a_world_without_frozen_states_gets_no_index(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    for world in (attrs.evolve(MINING, freeze=None), attrs.evolve(MINING, thaw=None)):
        again = rebuild(journal, 20, world=world)

        assert folded(journal)[20][0] == facts_of(again.state)
    assert ["a.journal"] == os.listdir(journal.parent)


def test_an_index_is_made_when_it_is_first_needed_and_kept(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    rebuild(journal, 10)
    made = identity(index_of(journal))
    for round_ in (ROUNDS, 1, 0):
        rebuild(journal, round_)
    list(log(journal, Query(first=20)))

    assert made == identity(index_of(journal))
    assert ["a.journal", "a.journal.index"] == sorted(os.listdir(journal.parent))


def test_an_index_may_be_read_by_who_may_read_the_journal(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    journal.chmod(0o640)
    rebuild(journal, 10)

    assert 0o640 == index_of(journal).stat().st_mode & 0o777


def test_frozen_states_take_no_more_than_their_share_of_the_journal(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    rebuild(journal, 10)
    dense = _entries(index_of(journal))
    small.setattr("replay.index.SHARE", 4)
    index_of(journal).unlink()
    rebuild(journal, 10)
    sparse = _entries(index_of(journal))

    assert ROUNDS // 3 == len(dense) > len(sparse) > 0
    assert sum(entry[4] for entry in sparse[:-1]) <= journal.stat().st_size / 4


def _refuse(*_: object, **__: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "name", ["tempfile.NamedTemporaryFile", "os.replace", "os.fchmod", "index._freeze_all"]
)
def test_where_no_index_can_be_kept_the_answers_are_right_and_nothing_is_left(
    journal: Path, small: pytest.MonkeyPatch, name: str
) -> None:
    holder, _, attribute = name.partition(".")
    small.setattr({"tempfile": tempfile, "os": os, "index": index}[holder], attribute, _refuse)
    expected = folded(journal)

    for round_ in (0, 1, 17, ROUNDS):
        assert expected[round_] == rebuilt(journal, round_)
    assert ["a.journal"] == os.listdir(journal.parent)


def test_an_index_that_cannot_be_read_does_not_matter(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    index_of(journal).mkdir()

    assert folded(journal)[17] == rebuilt(journal, 17)
    assert ["a.journal", "a.journal.index"] == sorted(os.listdir(journal.parent))
    assert [] == os.listdir(index_of(journal))


class _Stopped(Exception):
    pass


def _stop_after(last: int) -> Callable[[int, object], None]:
    def on_round(round_: int, _: object) -> None:
        if round_ == last:
            raise _Stopped

    return on_round


def test_the_index_of_a_journal_that_has_grown_is_made_anew(
    tmp_path: Path, small: pytest.MonkeyPatch, keepers: None, recorded: bytes
) -> None:
    path = tmp_path / "a.journal"
    with pytest.raises(_Stopped):
        record(path, SETTINGS, ROSTER, on_round=_stop_after(14))
    rebuild(path, 14)
    made = identity(index_of(path))
    with pytest.raises(BadInput, match="from 0 to 14"):
        rebuild(path, 15)
    assert made == identity(index_of(path))
    resume(path, trust=["keepers_of_memos:Keeper"])

    assert recorded == path.read_bytes()
    assert_rebuilt_alike(path)
    assert made != identity(index_of(path))


def test_the_index_of_a_journal_that_was_overwritten_is_made_anew(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    rebuild(journal, 14)
    record(journal, {**SETTINGS, "seed": 4}, "random", force=True)

    assert_rebuilt_alike(journal)


def test_size_and_time_alone_do_not_make_an_index_right(
    tmp_path: Path, small: pytest.MonkeyPatch
) -> None:
    """Another run of as many bytes, put in its place with its time of change."""
    first, second = tmp_path / "a.journal", tmp_path / "b.journal"
    quiet = {"rounds": 9, "rows": 1, "cols": 1, "stamina": 0}
    record(first, {**quiet, "alpha": 1.5}, "random*1")
    record(second, {**quiet, "alpha": 2.5}, "random*1")
    rebuild(first, 8)
    found = first.stat()
    first.write_bytes(second.read_bytes())
    os.utime(first, ns=(found.st_atime_ns, found.st_mtime_ns))

    assert (found.st_size, found.st_mtime_ns) == (first.stat().st_size, first.stat().st_mtime_ns)
    before = identity(index_of(first))
    assert_rebuilt_alike(first)
    assert before != identity(index_of(first))


# The form of the file, from the page of replay/index.py alone.
_ENTRY, _FOOT = struct.Struct(">6Q"), struct.Struct(">8s6Q")


def _entries(path: Path) -> list[list[int]]:
    """(unit, offset, commit, place and size of the state, checksum) of every entry."""
    data = path.read_bytes()
    count = _FOOT.unpack(data[-_FOOT.size :])[5]
    table = data[len(data) - _FOOT.size - count * _ENTRY.size : -_FOOT.size]
    return [list(fields) for fields in _ENTRY.iter_unpack(table)]


def _forged(path: Path, entries: Sequence[Sequence[int]], facts: Sequence[Any]) -> None:
    """Put other entries and another foot into an index, under checksums that hold."""
    data = path.read_bytes()
    count = _FOOT.unpack(data[-_FOOT.size :])[5]
    table = b""
    for fields in entries:
        checksum = xxh3_64_intdigest(_ENTRY.pack(*fields[:5], 0))
        table += _ENTRY.pack(*fields[:5], checksum)
    foot = _FOOT.pack(*facts, len(entries), 0)[:-8]
    frozen = data[: len(data) - _FOOT.size - count * _ENTRY.size]
    path.write_bytes(frozen + table + foot + struct.pack(">Q", xxh3_64_intdigest(foot)))


def _facts(path: Path) -> Sequence[Any]:
    return _FOOT.unpack(path.read_bytes()[-_FOOT.size :])[:5]


def test_a_foreign_index_is_made_anew(journal: Path, small: pytest.MonkeyPatch) -> None:
    other = journal.parent / "other.journal"
    record(other, {**SETTINGS, "seed": 9}, "random")
    rebuild(other, 5)
    index_of(journal).write_bytes(index_of(other).read_bytes())
    foreign = identity(index_of(journal))

    assert folded(journal)[17] == rebuilt(journal, 17)
    assert foreign != identity(index_of(journal))
    assert _facts(index_of(other)) != _facts(index_of(journal))


def test_a_foreign_index_that_passes_for_ones_own_is_not_believed(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    other = journal.parent / "other.journal"
    record(other, {**SETTINGS, "seed": 9}, ROSTER)
    rebuild(other, 5)
    rebuild(journal, 5)
    facts = _facts(index_of(journal))
    index_of(journal).write_bytes(index_of(other).read_bytes())
    _forged(index_of(journal), _entries(index_of(other)), facts)

    assert_rebuilt_alike(journal)
    assert folded(journal) != folded(other)


def _swapped(entries: list[list[int]]) -> None:
    """Each entry has the frozen state of the next one."""
    states = [entry[3:5] for entry in entries]
    for entry, state in zip(entries, states[1:] + states[:1], strict=True):
        entry[3:5] = state


def _shifted(entries: list[list[int]]) -> None:
    for entry in entries:
        entry[0] += 1


def _moved(entries: list[list[int]]) -> None:
    """Each entry but the last stands at the next one's place, as the end of its own unit."""
    for entry, later in pairwise(entries):
        entry[1] = later[1]


def _beyond(entries: list[list[int]]) -> None:
    for entry in entries:
        entry[1] = entry[3] = 2**62


def _endless(entries: list[list[int]]) -> None:
    for entry in entries:
        entry[4] = 2**40


def _none(entries: list[list[int]]) -> None:
    entries.clear()


@pytest.mark.parametrize("wrong", [_swapped, _shifted, _moved, _beyond, _endless, _none])
def test_a_wrong_index_under_right_checksums_cannot_change_an_answer(
    journal: Path, small: pytest.MonkeyPatch, wrong: Callable[[list[list[int]]], None]
) -> None:
    rebuild(journal, 5)
    entries = _entries(index_of(journal))
    facts = _facts(index_of(journal))
    good = index_of(journal).read_bytes()
    wrong(entries)
    expected = folded(journal)
    for round_ in (2, 3, 4, 17, ROUNDS):
        index_of(journal).write_bytes(good)
        _forged(index_of(journal), entries, facts)

        assert expected[round_] == rebuilt(journal, round_)
        index_of(journal).write_bytes(good)
        _forged(index_of(journal), entries, facts)
        assert list(expected[round_][1]) == [  # type: ignore[call-overload]
            event for event in log(journal, Query(round_, round_)) if event.name != "run_ended"
        ]


def test_a_frozen_state_that_is_another_is_not_believed_and_made_anew(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    rebuild(journal, 5)
    [*_, at, size, _] = next(e for e in _entries(index_of(journal)) if e[0] == 15)
    good = index_of(journal).read_bytes()
    *front, gold, spent, memo = unpack(good[at : at + size])
    forged = pack((*front, (gold[0] + 1.0, *gold[1:]), spent, memo))
    assert size == len(forged)
    index_of(journal).write_bytes(good[:at] + forged + good[at + size :])

    assert folded(journal)[17] == rebuilt(journal, 17)
    assert good == index_of(journal).read_bytes()


def test_an_index_damaged_or_cut_anywhere_does_not_change_an_answer(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    rebuild(journal, 5)
    good = index_of(journal).read_bytes()
    expected = folded(journal)[ROUNDS]
    table = len(good) - _FOOT.size - len(_entries(index_of(journal))) * _ENTRY.size
    places = [*range(0, table, 97), *range(table, len(good), 7), len(good) - 1]
    for place in places:
        flipped = good[:place] + bytes([good[place] ^ 0x41]) + good[place + 1 :]
        for data in (flipped, good[:place]):
            index_of(journal).write_bytes(data)

            assert expected == rebuilt(journal, ROUNDS), place


def test_damage_behind_a_round_does_not_keep_it_from_being_rebuilt(
    journal: Path, small: pytest.MonkeyPatch
) -> None:
    expected = folded(journal)
    with JournalReader(journal) as reader:
        commits = list(reader)
    data = bytearray(journal.read_bytes())
    data[commits[20].offset + 20] ^= 1
    journal.write_bytes(data)

    for round_ in (0, 5, 19):
        assert expected[round_] == rebuilt(journal, round_)
    for round_ in (20, 25):
        with pytest.raises(DamagedJournal, match="commit 20 at byte"):
            rebuild(journal, round_)


def test_a_torn_tail_is_met_by_who_reads_so_far(journal: Path, small: pytest.MonkeyPatch) -> None:
    expected = folded(journal)
    with JournalReader(journal) as reader:
        ends = [commit.end for commit in reader]
    journal.write_bytes(journal.read_bytes()[: ends[18] + 5])

    assert expected[18] == rebuilt(journal, 18)
    with pytest.raises(TornTail, match="19 whole commits"):
        rebuild(journal, 19)


@pytest.mark.parametrize("round_", [-1, ROUNDS + 1, 10**30])
def test_a_round_that_was_not_played_is_refused_with_the_rounds_there_are(
    journal: Path, small: pytest.MonkeyPatch, round_: int
) -> None:
    with pytest.raises(BadInput, match=f"from 0 to {ROUNDS}"):
        rebuild(journal, round_)


@pytest.mark.parametrize("last", [14, 15])
def test_a_round_that_an_unfinished_run_has_not_come_to_is_refused_with_those_there_are(
    tmp_path: Path, small: pytest.MonkeyPatch, last: int
) -> None:
    path = tmp_path / "a.journal"
    with pytest.raises(_Stopped):
        record(path, SETTINGS, "random", on_round=_stop_after(last))

    for _ in range(2):  # without an index, and with it
        with pytest.raises(BadInput, match=f"from 0 to {last}"):
            rebuild(path, last + 1)
        with pytest.raises(BadInput, match=f"from 0 to {last}"):
            list(log(path, Query(last + 1)))


def test_one_round_of_a_long_journal_is_reached_without_reading_the_rest(
    tmp_path: Path, small: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.journal"
    record(path, {**SETTINGS, "rounds": 300, "visibility": 5}, "random")
    rebuild(path, 300)
    read: list[int] = []
    commits_of = JournalReader.commits

    def counted(self: JournalReader, place: Place | None = None) -> Iterator[Commit]:
        for commit in commits_of(self, place):
            read.append(commit.end - commit.offset)
            yield commit

    small.setattr(JournalReader, "commits", counted)
    small.setattr(JournalReader, "__iter__", counted)
    for round_ in (50, 299, 300):
        read.clear()
        again = rebuild(path, round_)

        assert round_ == again.round
        assert len(read) <= 16  # the frozen one, five of the record, three to go, and the seams
        assert sum(read) < path.stat().st_size / 10
    read.clear()
    list(log(path, Query(298, 298)))
    assert len(read) <= 6


def _written(path: Path, game: Game, rounds: Sequence[Played]) -> None:
    """A game as a journal."""
    with JournalWriter(path, Header(MINING.name, MINING.rules), force=True) as journal:
        journal.append(Commit(START, 0, MINING.digest(rounds[0].before), setup=game.setup))
        for round_ in rounds:
            blocks = [round_.inputs, round_.derived]
            journal.append(Commit(UNIT, round_.round, MINING.digest(round_.after), blocks))


@given(games(), st.data())
def test_a_state_that_was_frozen_plays_on_as_the_one_it_was(
    game: Game, data: st.DataObject
) -> None:
    rounds = list(played(game))
    at = data.draw(st.integers(0, len(rounds)))
    state = rounds[at - 1].after if at else rounds[0].before
    frozen = unpack(pack(MINING.freeze(state)))  # type: ignore[misc]
    with tempfile.TemporaryDirectory() as folder:
        _written(Path(folder, "a.journal"), game, rounds)
        past = fold.past(MINING, os.path.join(folder, "a.journal"), at)
        thawed = MINING.thaw(frozen, past)  # type: ignore[misc]

    assert facts_of(state)[4:] == facts_of(thawed)[4:]
    assert MINING.digest(state) == MINING.digest(thawed)
    for round_, answers in zip(rounds[at:], game.answers[at:], strict=True):
        inputs = Block([(0, submissions(game, thawed, answers))])
        derived = Block(MINING.decide(thawed, inputs))
        thawed = MINING.close(fold.fold(MINING, thawed, [inputs, derived]))

        assert (round_.inputs, round_.derived) == (inputs, derived)
        assert MINING.digest(round_.after) == MINING.digest(thawed)


def test_a_journal_in_the_place_of_an_index_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("replay.index.INDEX_FROM", 0)
    monkeypatch.setattr("replay.index.SPACING", 2)
    path, beside = tmp_path / "a.journal", tmp_path / "a.journal.index"
    record(path, {"rounds": 8})
    record(beside, {"rounds": 3})
    before = beside.read_bytes()

    assert rebuild(path, 7).round == 7
    assert before == beside.read_bytes()
