"""Journals taken apart and put together again, under checksums that hold."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from goldrush.kernel import fold
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.fold import StepAssembler
from goldrush.kernel.journal import FORK, START, UNIT, Commit, Header, JournalReader, JournalWriter
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Batch, Block, RecordedEvent, Step, World
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import CLAIM_DRAWN, SUBMITTED
from goldrush.replay.find import open_world
from goldrush.replay.worlds.mining.counting import Counting, Counts

MINING_HEADER = Header(MINING.name, MINING.rules)


def commits_of(path: Path) -> list[Commit]:
    """All commits of a journal, as the kernel reads them."""
    with JournalReader(path) as reader:
        return list(reader)


def events_of(path: Path, world: World[Any] | None = None) -> list[RecordedEvent]:
    """All events of a journal, of a world that need not be installed."""
    with JournalReader(path) as reader:
        return list(fold.events(world or open_world(reader), reader))


def logged(path: Path, *names: str) -> list[dict[str, Any]]:
    """All events of a journal in their logical form, or those of some types."""
    events = (event.as_dict() for event in events_of(path))
    return [event for event in events if not names or event["event"] in names]


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder and below it, hidden ones too, by path."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() or path.is_symlink())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def peak(act: Callable[[], object]) -> int:
    """Bytes that Python takes at most while something is done."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def write(path: Path, commits: Sequence[Commit], header: Header = MINING_HEADER) -> Path:
    """A journal of these commits, whatever they are."""
    path.unlink(missing_ok=True)
    with JournalWriter(path, header) as journal:
        for commit in commits:
            journal.append(commit)
    return path


def damaged(source: Path, path: Path, commit: int) -> Path:
    """A journal with a bit of one of its commits flipped."""
    data = bytearray(source.read_bytes())
    data[commits_of(source)[commit].offset + 20] ^= 1
    path.write_bytes(data)
    return path


def refolded(world: World[Any], commits: Sequence[Commit]) -> Iterator[Commit]:
    """The commits under the digests that their events give."""
    assembler, state = StepAssembler(world.arrange), None
    steps: list[tuple[int, list[Step]]] = []

    def past(first: int) -> list[tuple[int, list[Step]]]:
        return [unit for unit in steps if unit[0] >= first]

    for old in commits:
        commit = Commit(old.kind, old.unit, old.digest, old.blocks, old.setup)
        if commit.kind == START:
            state = world.initial(commit.setup or {})
        elif commit.kind == FORK:
            state = world.fork(state, commit.setup or {}, past)  # type: ignore[misc]
        steps.append((commit.unit, [*assembler.completed_by(commit)]))
        for step in steps[-1][1]:
            state = world.evolve(world.evolve(state, step.inputs), step.derived)
        if commit.digest is not None:
            state = world.close(state) if commit.kind == UNIT else state
            commit.digest = world.digest(state)
        yield commit


def forged(path: Path, world: World[Any], commits: Sequence[Commit]) -> Path:
    """A journal of these commits under digests that its events give."""
    return write(path, [*refolded(world, commits)], Header(world.name, world.rules))


def changed(
    commits: Sequence[Commit],
    code: int,
    change: Callable[[list[Any]], Sequence[Any] | None],
    *,
    unit: int | None = None,
    is_meant: Callable[[list[Any]], bool] = lambda row: True,
    first: bool = False,
) -> list[Commit]:
    """The commits with the rows of one type changed: those meant, in one unit or all, or the first
    of them alone. `change` edits a row or returns another; one that it empties is left out.
    """
    found, left = [], 1 if first else len(commits) * 10**9
    for commit in commits:
        blocks = list(commit.blocks) if unit in (None, commit.unit) else []
        for at, block in enumerate(blocks):
            batches = [(c, [list(row) for row in rows]) for c, rows in block]
            for row in (row for c, rows in batches if c == code for row in rows if is_meant(row)):
                if left:
                    row[:] = row if (another := change(row)) is None else another
                    left -= 1
            if block.rows(code):
                kept = [(c, [row for row in rows if row]) for c, rows in batches]
                packed = pack([(c, rows) for c, rows in kept if rows])
                blocks[at] = Block(unpack(packed), packed)
        found.append(
            Commit(commit.kind, commit.unit, commit.digest, blocks or commit.blocks, commit.setup)
        )
    return found


def redrawn(commits: Sequence[Commit], *, first: bool = True) -> list[Commit]:
    """The commits of a mining run with another winner of the first claim that was drawn, or all."""

    def lose(row: list[Any]) -> None:
        row[2] = next(agent for agent in row[1] if agent != row[2])

    return changed(commits, CLAIM_DRAWN, lose, is_meant=lambda row: bool(row[-1]), first=first)


def as_it_is(value: Any) -> Any:
    return value


def played_again(
    commits: Sequence[Commit],
    world: World[Any],
    setup: Callable[[Any], Any] = as_it_is,
    inputs: Callable[[int, Sequence[Batch]], Sequence[Batch]] = lambda unit, batches: batches,
) -> list[Commit]:
    """The commits with other players and other inputs, and what then follows from them. `setup`
    changes START and the facts of forks, `inputs` every block of them, told the unit.
    """
    state: Any = None
    waiting: list[Block] = []
    done: list[Commit] = []
    for commit in commits:
        facts = setup(commit.setup) if commit.setup is not None else None
        blocks: list[Block] = []
        if commit.kind == START:
            state = world.initial(facts or {})
        elif commit.kind == FORK:
            state = world.fork(state, facts or {}, lambda first: ())  # type: ignore[misc]
        for place, block in enumerate(commit.blocks):
            if place % 2 == 0:
                blocks.append(Block(inputs(commit.unit, block.batches)))
                waiting.append(blocks[-1])
                continue
            step = waiting[0] if len(waiting) == 1 else world.arrange(Block.joined(waiting))
            blocks.append(Block(world.decide(state, step)))
            state = world.evolve(world.evolve(state, step), blocks[-1])
            waiting = []
        digest = None
        if commit.digest is not None:
            state = world.close(state) if commit.kind == UNIT else state
            digest = world.digest(state)
        done.append(Commit(commit.kind, commit.unit, digest, blocks, facts))
    return done


def in_pieces(commits: Sequence[Commit], pieces: int) -> list[Commit]:
    """The commits of rounds of one step, with the inputs of each in so many commits."""
    found: list[Commit] = []
    for commit in commits:
        if commit.kind != UNIT:
            found.append(commit)
            continue
        inputs, *derived = commit.blocks
        [(code, rows)] = inputs
        cuts = [0, *range(1, pieces), len(rows)]
        blocks = [Block([(code, rows[i:j])]) for i, j in pairwise(cuts)]
        found += [Commit(UNIT, commit.unit, None, [block]) for block in blocks[:-1]]
        found.append(Commit(UNIT, commit.unit, commit.digest, [blocks[-1], *derived]))
    return found


def counts_of(path: str | Path) -> list[Counts]:
    """The counts of each closed round of a mining journal."""
    found = []
    with JournalReader(path) as reader:
        for commit, state in Walk(MINING, reader):
            if commit.kind == START:
                counting = Counting(state)
            if commit.kind == UNIT and commit.digest is not None:
                found.append(counting.add(state))
    return found


def progress(path: Path) -> tuple[int, int]:
    """How many rounds of mining are closed, and how many submissions wait in the open one."""
    rounds = waiting = 0
    with JournalReader(path) as reader:
        for commit in reader:
            if commit.digest is not None:
                rounds, waiting = commit.unit, 0
            else:
                waiting += sum(len(block.rows(SUBMITTED)) for block in commit.blocks[::2])
    return rounds, waiting
