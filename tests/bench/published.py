"""A published model as a game, against a plain loop with the same rules that records nothing.

Draws of a game are keyed and recorded, those of a loop are Python's; so the outcomes differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import goldrush
from goldrush import setting
from goldrush.kernel.game.game import phase

from .timing import Row, in_process, row


class Opinions(goldrush.Game):
    """Deffuant and others, "Mixing Beliefs", Advances in Complex Systems 3 (2000)."""

    people = setting(1_000, 2, 10_000)
    near = setting(0.2, 0.0, 1.0)

    class State(goldrush.State):
        opinion: list[float]

    class Moved(goldrush.Event):
        one: int
        other: int
        first: float
        second: float

        def apply(self, state):  # type: ignore[no-untyped-def]
            state.opinion[self.one], state.opinion[self.other] = self.first, self.second

    def start(self, draw):  # type: ignore[no-untyped-def, override]
        return self.State(opinion=[draw.between(0, 1, "born", i) for i in range(self.people)])

    @phase(live=True)
    def decide(self, state, draw):  # type: ignore[no-untyped-def]
        for turn in range(self.people):
            one, other = draw.sample(range(self.people), 2, "meet", turn)
            mine, theirs = state.opinion[one], state.opinion[other]
            if 0 < abs(theirs - mine) < self.near:
                yield self.Moved(one, other, (mine + theirs) / 2, (mine + theirs) / 2)


def opinions(rounds: int, rng: random.Random) -> None:
    """The rules of Opinions."""
    opinion = [rng.random() for _ in range(1_000)]
    for _ in range(rounds * 1_000):
        one, other = rng.sample(range(1_000), 2)
        if 0 < abs(opinion[one] - opinion[other]) < 0.2:
            opinion[one] = opinion[other] = (opinion[one] + opinion[other]) / 2


def rows(folder: Path) -> Iterator[Row]:
    """The row of the model."""
    ours = partial(goldrush.record, Opinions, folder / "opinions", seed=7, rounds=200, force=True)
    pairs = in_process(ours, partial(opinions, 200, random.Random(7)), 5)
    yield row("record, Opinions", "plain loop", pairs, "<= 5")
