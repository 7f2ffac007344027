"""The sound journals that are damaged, and what is right to say of each of their prefixes.

A file that was damaged still has whole commits in front, so what a reader may answer is known for
every number of whole commits: it is what was answered of a file that ended there. Those answers are
taken once, from the sound journal cut between its commits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import attrs

from goldrush.agents.worlds.mining.roster import recording
from goldrush.kernel import fold
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import FORK, Commit, JournalReader
from goldrush.kernel.world import RecordedEvent, World
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.draws import draws_at
from goldrush.replay.journal.rebuild import rebuild
from goldrush.replay.journal.tie_break import TieBreak
from goldrush.replay.summary import summarise
from tests.faults.policies import NOISY
from tests.journals import commits_of
from tests.mining import fork, record

TRUST = (NOISY,)
SMALL = {
    "seed": 3, "rounds": 4, "rows": 3, "cols": 3, "truce": 0, "alpha": 0.5, "fine": 1.5,
    "communication": True,
}  # fmt: skip
ROSTER = f"random*2,{NOISY}"
AUTHORITY = "authority-punish"
BIG = {**SMALL, "rounds": 30, "rows": 5, "cols": 5, "visibility": 3}
FORKED_AT = 2
BY_HAND = {
    "round": 3, "agent": 1, "actions": [["raid", 4, 1], None, ["mine", 0, 2]], "say": "by hand",
}  # fmt: skip


@attrs.frozen(eq=False)
class Prefix:
    """What is right to say of so many first commits and nothing behind them."""

    rounds: int
    counted: int  # events, as `verify` counts them
    finished: bool
    events: Sequence[RecordedEvent]
    audits: Sequence[TieBreak]
    summary: dict[str, Any]
    submissions: Sequence[Any]
    finishes_as: bytes  # what `resume` makes of it


@attrs.frozen(eq=False)
class Sound:
    """A whole journal: its bytes, its commits' places, and the answers for all its prefixes.

    `prefixes[k - 1]` has those for k whole commits; `states` by round, `forks` by round the state
    in which a fork without changes ends.
    """

    name: str
    data: bytes
    commits: Sequence[Commit]
    prefixes: Sequence[Prefix]
    states: Sequence[tuple[bytes, int, Sequence[RecordedEvent]]]
    forks: Sequence[bytes]

    @property
    def world(self) -> World[Any]:
        """The world that all of them are of."""
        return MINING

    @property
    def header(self) -> int:
        """Bytes of the header."""
        return self.commits[0].offset

    @property
    def pieces(self) -> list[bytes]:
        """The bytes of each commit."""
        return [self.data[commit.offset : commit.end] for commit in self.commits]

    @property
    def rounds(self) -> int:
        return len(self.states) - 1

    def closing(self, round: int) -> int:
        """The index of the commit that closes a round."""
        return next(
            commit.index for commit in self.commits if commit.unit == round and commit.kind != FORK
        )


def frozen(state: Any) -> bytes:
    """A state as bytes, to be compared."""
    return pack((MINING.freeze(state), MINING.digest(state)))  # type: ignore[misc]


@cache
def small() -> Sound:
    """Three agents, nine plots, four rounds, an authority: every type of event is in it."""
    return _sound("small", _recorded(SMALL, ROSTER))


@cache
def forked() -> Sound:
    """A fork of the small one, with other settings, another roster, a submission put in by hand."""
    return _sound("forked", _forked(small().data), small().data)


@cache
def big() -> Sound:
    """Thirty rounds on 25 plots."""
    return _sound("big", _recorded(BIG, f"random*3,raid,{NOISY}"))


@cache
def twin() -> bytes:
    """A run with the seed of the small one, but other players and settings."""
    return _recorded({**SMALL, "alpha": 0.25}, "raid*2,random")


@cache
def big_twin() -> bytes:
    """The same for the big one."""
    return _recorded({**BIG, "alpha": 0.25}, "raid*2,random*3")


SOUND = {"small": small, "forked": forked, "big": big}
TWINS = {"small": twin, "forked": twin, "big": big_twin}


@cache
def rubble(name: str) -> bytes:
    """The twin of a journal, its START broken: what is copied from it is damage, however much."""
    data = TWINS[name]()
    place = len(data) - sum(map(len, pieces_of(data)[1:])) - 1
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


def _recorded(settings: dict[str, Any], roster: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.journal")
        record(path, settings, roster, AUTHORITY)
        return path.read_bytes()


def _forked(parent: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "run.journal"), Path(folder, "fork.journal")
        path.write_bytes(parent)
        fork_small(path, out)
        return out.read_bytes()


def fast_folder() -> str | None:
    """A folder that is no disk, where there is one: some tests write a million files."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def fork_small(path: Path, out: Path, **options: Any) -> None:
    """Fork the small journal as `forked` is."""
    fork(
        path, FORKED_AT, out, settings={"fine": 2.5, "visibility": 2}, roster="random*2,raid",
        replace=[BY_HAND], trust=TRUST, **options,
    )  # fmt: skip


def pieces_of(data: bytes) -> list[bytes]:
    """The bytes of each commit of a sound journal."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.journal")
        path.write_bytes(data)
        with JournalReader(path) as reader:
            return [data[commit.offset : commit.end] for commit in reader]


def _sound(name: str, data: bytes, parent: bytes = b"") -> Sound:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.journal")
        path.write_bytes(data)
        commits = commits_of(path)
        rounds = commits[-1].unit
        states = [rebuild(path, round) for round in range(rounds + 1)]
        return Sound(
            name,
            data,
            commits,
            [_prefix(path, data, commits[:whole], parent) for whole in _wholes(commits)],
            [(frozen(found.state), found.digest, found.events) for found in states],
            [_fork_ends(path, round) for round in range(rounds + 1)],
        )


def audits_of(path: Path) -> Sequence[TieBreak]:
    """All draws of a journal, which may have none."""
    try:
        return draws_at(path)
    except BadInput:
        return []


def _wholes(commits: Sequence[Commit]) -> range:
    return range(1, len(commits) + 1)


def _fork_ends(path: Path, round: int) -> bytes:
    out = path.with_name(f"fork-{round}.journal")
    return frozen(fork(path, round, out, trust=TRUST))


def _prefix(path: Path, data: bytes, commits: Sequence[Commit], parent: bytes) -> Prefix:
    cut = path.with_name("prefix.journal")
    cut.write_bytes(data[: commits[-1].end])
    with JournalReader(cut) as reader:
        events = list(fold.events(MINING, reader))
        finished = reader.ended
    before_fork = not any(commit.kind == FORK for commit in commits)
    return Prefix(
        rounds=commits[-1].unit,
        counted=len(events),
        finished=finished,
        events=events,
        audits=audits_of(cut),
        summary=summarise(cut).as_dict(),
        submissions=recording(cut).units,
        finishes_as=parent if parent and before_fork else data,
    )
