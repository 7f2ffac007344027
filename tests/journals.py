"""Journals taken apart and put together again, under checksums that hold."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from goldrush.kernel.fold import StepAssembler
from goldrush.kernel.journal import START, UNIT, Commit, Header, JournalReader, JournalWriter
from goldrush.kernel.world import Block, World
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.worlds.mining.counting import Counts
from goldrush.replay.worlds.mining.measures import Measuring

MINING_HEADER = Header(MINING.name, MINING.rules)


def commits_of(path: Path) -> list[Commit]:
    """All commits of a journal, as the kernel reads them."""
    with JournalReader(path) as reader:
        return list(reader)


def write(path: Path, commits: Sequence[Commit], header: Header = MINING_HEADER) -> Path:
    """A journal of these commits, whatever they are."""
    with JournalWriter(path, header, force=True) as journal:
        for commit in commits:
            journal.append(commit)
    return path


def forged(path: Path, world: World[Any], commits: Sequence[Commit]) -> Path:
    """A journal of these commits under digests that its events give; without forks."""
    assembler, state, done = StepAssembler(world.arrange), None, []
    for old in commits:
        commit = Commit(old.kind, old.unit, old.digest, old.blocks, old.setup)
        if commit.kind == START:
            state = world.initial(commit.setup or {})
        for step in assembler.completed_by(commit):
            state = world.evolve(world.evolve(state, step.inputs), step.derived)
        if commit.digest is not None:
            state = world.close(state) if commit.kind == UNIT else state
            commit.digest = world.digest(state)
        done.append(commit)
    return write(path, done, Header(world.name, world.rules))


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
    with JournalReader(path) as reader:
        return [counts for counts, _ in Measuring(reader)]
