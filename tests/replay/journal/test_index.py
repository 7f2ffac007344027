"""The index of a long journal: it makes reading quicker and never changes what is read."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.kernel import fold
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import (
    FORK,
    START,
    UNIT,
    Commit,
    Header,
    JournalReader,
    JournalWriter,
    Location,
)
from goldrush.kernel.run import last_of, steps
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.journal import index
from goldrush.replay.journal.log import Query, log
from goldrush.replay.journal.rebuild import rebuild
from tests.found import found
from tests.indexes import Parts, cached, index_of
from tests.journals import commits_of
from tests.laws.strategies import Game, Played, games, played, submissions
from tests.mining import fork, record
from tests.replay.test_own_worlds import SUMS, tell

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
from goldrush.kernel.worlds.mining.submit import Plan

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
def small(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> pytest.MonkeyPatch:
    """Small journals have indexes, with a frozen state every third round."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.setattr("goldrush.replay.journal.index.INDEX_FROM", 1)
    monkeypatch.setattr("goldrush.replay.journal.index.SPACING", 3)
    monkeypatch.setattr("goldrush.replay.journal.index.SHARE", 0)
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
    assembler = fold.StepAssembler(MINING.arrange)
    with JournalReader(path) as reader:
        for commit, state in Walk(MINING, reader):
            if commit.kind != FORK:
                events += fold.commit_events(MINING, reader, commit, assembler)
                if commit.digest is not None:
                    rounds.append((facts_of(state), events, commit.digest))
            events = [] if commit.digest is not None else events
    return rounds


def rebuilt(path: Path, round_: int) -> tuple[object, ...]:
    again = rebuild(path, round_)
    return facts_of(again.state), list(again.events), again.digest


def assert_rebuilt_alike(path: Path) -> None:
    for round_, expected in enumerate(folded(path)):
        assert expected == rebuilt(path, round_), round_


@pytest.mark.parametrize("visibility", [1, 5, "all"])
def test_every_round_is_rebuilt_by_an_index_as_it_is_folded_from_the_start(
    path: Path, small: pytest.MonkeyPatch, keepers: None, visibility: object
) -> None:
    record(path, {**SETTINGS, "visibility": visibility}, ROSTER)

    assert_rebuilt_alike(path)
    assert index_of(path).exists()


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


def test_a_short_journal_gets_no_index(journal: Path, small: pytest.MonkeyPatch) -> None:
    small.setattr(index, "INDEX_FROM", journal.stat().st_size + 1)
    rebuild(journal, ROUNDS)

    assert not index_of(journal).exists()


def test_the_index_of_a_journal_that_has_grown_is_made_anew(
    journal: Path, small: pytest.MonkeyPatch, recorded: bytes
) -> None:
    journal.write_bytes(recorded[: commits_of(journal)[14].end])
    rebuild(journal, 14)
    made = index_of(journal)
    with pytest.raises(BadInput, match="from 0 to 14"):
        rebuild(journal, 15)
    assert [made] == list(cached().iterdir())
    with journal.open("ab") as file:
        file.write(recorded[journal.stat().st_size :])

    assert_rebuilt_alike(journal)
    assert {made, index_of(journal)} == set(cached().iterdir())


def test_one_round_of_a_long_journal_is_reached_without_reading_the_rest(
    path: Path, small: pytest.MonkeyPatch
) -> None:
    record(path, {**SETTINGS, "rounds": 300, "visibility": 5}, "random")
    rebuild(path, 300)
    read: list[int] = []
    commits_of = JournalReader.commits

    def counted(self: JournalReader, place: Location | None = None) -> Iterator[Commit]:
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
        with JournalReader(Path(folder, "a.journal")) as reader:
            thawed = game.world.thaw(frozen, fold.past(MINING, reader, at))  # type: ignore[misc]

    assert facts_of(state)[4:] == facts_of(thawed)[4:]
    assert MINING.digest(state) == MINING.digest(thawed)
    for round_, answers in zip(rounds[at:], game.answers[at:], strict=True):
        inputs = Block([(0, submissions(game, thawed, answers))])
        derived = Block(MINING.decide(thawed, inputs))
        thawed = MINING.close(fold.fold(MINING, thawed, [inputs, derived]))

        assert (round_.inputs, round_.derived) == (inputs, derived)
        assert MINING.digest(round_.after) == MINING.digest(thawed)


# An index whose states are others with the digests that the journal has: nothing in it shows that
# it is forged, so it may not be read where anybody else can put it. For the mining world such
# states are found in a minute, because the digest of its map is a sum; here all digests are 0.

ALIKE = replace(SUMS, digest=lambda _: 0, freeze=tuple, thaw=lambda frozen, _: list(frozen))
TRUE, FORGED = [6, 15], [6, 115]


@pytest.fixture
def sums(tmp_path: Path, small: pytest.MonkeyPatch) -> Path:
    """A journal with an index that was forged, in the user's own cache."""
    path = tmp_path / "sums.journal"
    with JournalWriter(path, Header(ALIKE.name, ALIKE.rules)) as journal:
        last_of(steps(ALIKE, {}, journal, ask=tell))
    asked(path)
    parts = Parts.of(path)
    parts.states[0] = parts.states[0].replace(pack((3, 3)), pack((3, 103)))
    index_of(path).write_bytes(parts.whole())
    return path


def asked(path: Path) -> object:
    with found(ALIKE):
        return rebuild(path, 6).state


def test_what_the_users_own_account_wrote_into_its_cache_is_believed(sums: Path) -> None:
    assert FORGED == asked(sums)


@pytest.mark.parametrize("is_beside", [True, False])
def test_a_forged_index_where_others_can_write_is_not_believed(sums: Path, is_beside: bool) -> None:
    """Beside the journal, or in a folder of mode 720; see also tests/replay/test_cache.py."""
    if is_beside:
        index_of(sums).replace(f"{sums}.index")
    else:
        cached().chmod(0o720)

    assert TRUE == asked(sums)
