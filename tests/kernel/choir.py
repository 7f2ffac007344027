"""A small world whose judgement depends on the order of its inputs.

A choir sings songs of one to three verses, in each verse every singer sings one note. Singers 0, 2
and 4 answer from afar, each at a time of its own; 1 and 3 are here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from goldrush.kernel import run
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import Header, JournalWriter
from goldrush.kernel.run import InputPieces
from goldrush.kernel.shape import AMOUNT, NATURAL, WORD, several
from goldrush.kernel.world import Batch, Block, EventType, Vocabulary, World

SUNG, COUGHED, CHORD = range(3)
SINGERS = 5
AFAR = (0, 2, 4)


@attrs.frozen
class Hall:
    """`verse` of the song under way, `song` those sung, `heard` all inputs in order."""

    seed: int
    songs: int
    song: int = 0
    verse: int = 0
    heard: int = 0
    points: tuple[float, ...] = (0,) * SINGERS


def initial(setup: Mapping[str, Any]) -> Hall:
    if setup["songs"] < 0:
        raise BadInput(f"songs is {setup['songs']}", "it must be 0 or more")
    return Hall(setup["seed"], setup["songs"])


def arrange(inputs: Block) -> Block:
    rows = [(code, row) for code, rows in inputs for row in rows]
    if not all(row and type(row[0]) is int for _, row in rows):
        return inputs
    return Block([(code, [row]) for code, row in sorted(rows, key=lambda r: (r[1][0], r[0]))])


def decide(hall: Hall, inputs: Block) -> list[Batch]:
    sung = inputs.rows(SUNG)
    if [singer for singer, _ in sung] != list(range(SINGERS)):
        raise ValueError("every singer sings one note, in order")
    draws = Draws(hall.seed, hall.song, hall.verse, "chord")
    best = draws.below(SINGERS)
    return [(CHORD, [(best, fingerprint(inputs.packed) % 1000, draws.words())])]


def evolve(hall: Hall, block: Block) -> Hall:
    for code, rows in block:
        if code == CHORD:
            [(best, points, _)] = rows
            total = list(hall.points)
            total[best] += points
            hall = attrs.evolve(hall, points=tuple(total), verse=hall.verse + 1)
        else:
            hall = attrs.evolve(hall, heard=fingerprint((hall.heard, block.packed)))
    return hall


def verses(song: int) -> int:
    return 1 + song % 3


CHOIR: World[Hall] = World(
    name="choir",
    rules=1,
    events=(
        EventType("sung", {"singer": NATURAL, "note": NATURAL}, is_input=True),
        EventType("coughed", {"singer": NATURAL}, is_input=True),
        EventType("chord", {"best": NATURAL, "points": AMOUNT, "words": several(WORD)}),
    ),
    initial=initial,
    decide=decide,
    evolve=evolve,
    ended=lambda hall: hall.song >= hall.songs,
    arrange=arrange,
    unit_done=lambda hall: hall.verse == verses(hall.song),
    close=lambda hall: attrs.evolve(hall, song=hall.song + 1, verse=0),
    digest=lambda hall: fingerprint(attrs.astuple(hall)),
    fork=lambda hall, facts, past: attrs.evolve(hall, seed=facts["seed"]),
    vocabulary=Vocabulary("song", "concert_began", ended="concert_ended"),
)
HEADER = Header("choir", 1)
SETUP = {"seed": 5, "songs": 4}
SUNG_IN_ALL = [
    (song, verse, singer) for song in range(4) for verse in range(verses(song)) for singer in AFAR
]

# How the notes of a verse come from afar: tuples of singers that come together.
Coming_ = Callable[[Hall], Sequence[tuple[int, ...]]]
WAYS: dict[str, Coming_] = {
    "in order": lambda hall: [(0,), (2,), (4,)],
    "backwards": lambda hall: [(4,), (2,), (0,)],
    "turning": lambda hall: [(AFAR[(hall.song + hall.verse + n) % 3],) for n in range(3)],
    "in pieces of several": lambda hall: [(4, 0), (2,)],
    "with nothing in between": lambda hall: [(), (2,), (), (4, 0), ()],
    "in the second verse only": lambda hall: [(2,), (0, 4)] if hall.verse == 1 else [],
}


def batches_of(hall: Hall, singers: Sequence[int]) -> list[Batch]:
    """What these singers do: each sings, and some cough before or after."""
    found: list[Batch] = []
    for singer in singers:
        found.append((SUNG, [(singer, 10 * hall.song + 3 * hall.verse + singer)]))
        if (hall.song + hall.verse + singer) % 3 == 0:
            found.append((COUGHED, [(singer,)]))
    return found


def at_once(hall: Hall) -> Sequence[Batch]:
    return batches_of(hall, range(SINGERS))


class Asked:
    """Asks the choir, notes from afar as they come this way, and remembers whom it asked."""

    def __init__(self, way: str, waiting: Block | None = None) -> None:
        self.way = WAYS[way]
        self.asked: list[tuple[int, int, int]] = []
        self._there = {row[0] for row in waiting.rows(SUNG)} if waiting else set()

    def __call__(self, hall: Hall) -> InputPieces:
        there, self._there = self._there, set()
        come = []
        for singers in self.way(hall):
            piece = [singer for singer in singers if singer not in there]
            self.asked += ((hall.song, hall.verse, singer) for singer in piece)
            come += piece
            yield batches_of(hall, piece)
        late = [s for s in range(SINGERS) if s not in there and s not in come]
        self.asked += ((hall.song, hall.verse, singer) for singer in late if singer in AFAR)
        return batches_of(hall, late)


def record(
    path: Path,
    ask: Callable[[Hall], Any],
    on_unit: Callable[[int, Hall], None] | None = None,
) -> Hall:
    with JournalWriter(path, HEADER, force=True) as journal:
        return run.last_of(run.steps(CHOIR, SETUP, journal, on_unit, ask=ask))


def resume(path: Path, way: str) -> list[tuple[int, int, int]]:
    """Go on with a run; who was asked on the way."""
    made: list[Asked] = []

    def ask_of(hall: Hall, forks: Sequence[Mapping[str, Any]], waiting: Block) -> Asked:
        made.append(Asked(way, waiting))
        return made[0]

    with JournalWriter.reopen(path) as journal:
        run.last_of(run.resume_steps(CHOIR, journal, ask_of))
    return made[0].asked
