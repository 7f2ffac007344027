"""Small seasons for tests: in one nearly everything occurs; forks and forgeries of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from goldrush.agents import players
from goldrush.agents.players import ForkChange, Resources
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.players import SEASON_PLAYERS
from goldrush.kernel.journal import UNIT, Commit, Header, JournalReader, JournalWriter
from goldrush.kernel.run import OnUnit
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.competition import NAME, RULES
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.replay.journal.rebuild import world_at
from tests.journals import changed as rows_changed
from tests.journals import commits_of, events_of
from tests.llm.seasons import playing, recorded
from tests.llm.servers import serving
from tests.playing import record

HEADER: Final = Header(NAME, RULES)
SMALL: Final[Mapping[str, Any]] = {"arena": "nk[seeds=1]", "assignments": 4, "seed": 2}
RICH: Final[Mapping[str, Any]] = {
    "seed": 17, "arena": "nk[seeds=1;drift=0]", "assignments": 16, "assignments_per_project": 2,
    "sparks_start": 4, "worker_tiers": (2, 4, 6, 8), "admin_projects": 1,
    "assistant_stages": (1, 2, 4, 6), "judge_stages": (1, 2, 5), "therapist_stages": (1, 3, 5),
}  # fmt: skip
RICH_CAST: Final = ("ada=random", "ben=random")
LAST: Final = 15  # assignment of that season
# Where everybody searches alone, two come upon the same conduct, and the conclusion is drawn.
ALONE: Final = {"arena": "nk[seeds=1;drift=0]", "assignments": 14, "table": False}

Change = Callable[[list[Any]], None]


def rich(folder: Path) -> Path:
    """A season with two tables at once, drawn and given orders, contracts, comings and goings."""
    record(folder / "rich.journal", RICH, cast_of(6, RICH_CAST))
    return folder / "rich.journal"


def alone(folder: Path) -> Path:
    """A season whose conclusions are drawn now and then: the first one, by its seed."""
    path = folder / "alone.journal"
    for seed in range(20):
        record(path, {**ALONE, "seed": seed}, force=True)
        if any(event["tied"] for event in events_of(path) if event.name == "concluded"):
            return path
    raise LookupError("no conclusion is drawn")


@cache
def kept(name: str) -> Path:
    """A small season that is recorded once in a process, and only read: `short`; `rich`; `asked`,
    with a language model; `forked`, with a change of everything that a fork can change, and an act
    that is refused.
    """
    path = Path(_kept.name) / f"{name}.journal"
    if name == "rich":
        return rich(path.parent)
    if name == "asked":
        with serving(playing) as server:
            recorded(path, server.address, "judge", "ada")
        return path
    if name == "short":
        return small(path, assignments=3)
    said = {
        "assignment": 2,
        "table": 0,
        "round": 0,
        "agent": 6,
        "move": "support",
        "target": 99,
        "words": "by hand",
    }
    settings = {"scoring": "absolute", "assignments": 4}
    fork(kept("short"), 0, path, settings=settings, roster="ada=random", replace=[said])
    return path


_kept = TemporaryDirectory()


def small(path: Path, *parts: str, **settings: Any) -> Path:
    """A season of four assignments, with who is named played otherwise."""
    setup = {**SMALL, **settings}
    record(path, setup, cast_of(setup.get("workers", 6), parts), force=True)
    return path


def resume(path: Path, *, on_unit: OnUnit[SeasonState] | None = None, **needs: Any) -> SeasonState:
    """Go on with a season. `needs`: fields of Resources."""
    state: SeasonState = players.resume(
        world_at(path), SEASON_PLAYERS, path, resources=Resources(**needs), on_unit=on_unit
    )
    return state


def fork(parent: Path, at: int, out: Path, *, force: bool = False, **what: Any) -> SeasonState:
    """Play a season anew after an assignment; `what`: fields of the change, and of Resources."""
    names = ("settings", "treatment", "roster", "replace")
    change = ForkChange(**{name: what.pop(name) for name in names if name in what})
    state: SeasonState = players.fork(
        world_at(parent), SEASON_PLAYERS, parent, at, out, change, resources=Resources(**what),
        force=force,
    )  # fmt: skip
    return state


def forged(path: Path, commits: Sequence[Commit], of: Path) -> Path:
    """A season of these commits, of a sound one, whose checksums and digests hold, whatever its
    events are.
    """
    world = world_at(of)
    with JournalReader(of) as reader, JournalWriter(path, HEADER, force=True) as journal:
        for commit, state in Walk(world, reader, commits=commits):
            again = Commit(commit.kind, commit.unit, commit.digest, commit.blocks, commit.setup)
            if commit.digest is not None:
                again.digest = world.digest(state)
            journal.append(again)
    return path


def changed(
    path: Path,
    code: int,
    assignment: int,
    change: Change,
    *,
    is_meant: Callable[[list[Any]], bool] = lambda row: True,
) -> list[Commit]:
    """The commits of a season with the rows of one type in an assignment changed."""
    commits = commits_of(path)
    return rows_changed(commits, code, change, unit=assignment + 1, is_meant=is_meant)


def with_row(path: Path, assignment: int, code: int, row: Sequence[Any]) -> list[Commit]:
    """The commits with one more derived event at the end of an assignment."""
    commits = commits_of(path)
    [place] = [n for n, c in enumerate(commits) if c.kind == UNIT and c.unit == assignment + 1]
    commit = commits[place]
    last = [*commit.blocks[-1].batches, (code, [tuple(row)])]
    commits[place] = Commit(UNIT, commit.unit, commit.digest, [*commit.blocks[:-1], Block(last)])
    return commits
