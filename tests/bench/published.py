"""Published models as games, each against a plain loop with the same rules that records nothing.

Draws of a game are keyed and recorded, those of a loop are Python's; so the outcomes differ.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import goldrush
from goldrush import setting
from goldrush.kernel.game.game import phase, policy

from .timing import Row, in_process, row

SIDE: Final = 10  # sites of a row of Axelrod's grid
SITES: Final = range(SIDE * SIDE)
FEATURES: Final = range(5)
PEOPLE: Final = range(100)  # at the bar
LAGS: Final = 5  # weeks that a predictor may look back
KINDS: Final = range(3 * LAGS)  # of predictors


def around(site: int) -> list[int]:
    """The sites above, below and beside one."""
    row, column = divmod(site, SIDE)
    places = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [r * SIDE + c for r, c in places if 0 <= r < SIDE and 0 <= c < SIDE]


class Culture(goldrush.Game):
    """Axelrod, "The Dissemination of Culture", Journal of Conflict Resolution 41 (1997)."""

    class State(goldrush.State):
        culture: list[list[int]]

    class Copied(goldrush.Event):
        site: int
        feature: int
        trait: int

        def apply(self, state):  # type: ignore[no-untyped-def]  # as games are written
            state.culture[self.site][self.feature] = self.trait

    def start(self, draw):  # type: ignore[no-untyped-def, override]
        born = [[draw.below(10, "born", site, f) for f in FEATURES] for site in SITES]
        return self.State(culture=born)

    @phase(live=True)
    def decide(self, state, draw):  # type: ignore[no-untyped-def]
        for turn in SITES:
            site = draw.below(len(SITES), "site", turn)
            mine = state.culture[site]
            theirs = state.culture[draw.choice(around(site), "other", turn)]
            apart = [f for f in FEATURES if mine[f] != theirs[f]]
            if apart and draw.below(len(FEATURES), "meet", turn) >= len(apart):
                feature = draw.choice(apart, "feature", turn)
                yield self.Copied(site, feature, theirs[feature])


def culture(rounds: int, rng: random.Random) -> None:
    """The rules of Culture."""
    cultures = [[rng.randrange(10) for _ in FEATURES] for _ in SITES]
    for _ in range(rounds * len(SITES)):
        site = rng.randrange(len(SITES))
        mine, theirs = cultures[site], cultures[rng.choice(around(site))]
        apart = [f for f in FEATURES if mine[f] != theirs[f]]
        if apart and rng.randrange(len(FEATURES)) >= len(apart):
            feature = rng.choice(apart)
            mine[feature] = theirs[feature]


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


def expected(kind: int, history: Sequence[int]) -> float:
    """The guests that a predictor expects: as many as some weeks ago, the others, or half."""
    return 50 + (kind // LAGS - 1) * (history[kind % LAGS] - 50)


def goes(owned: Sequence[int], error: Sequence[float], history: Sequence[int]) -> bool:
    """Whether a guest goes: its best predictor expects no more than the bar has room for."""
    return expected(min(owned, key=error.__getitem__), history) <= 60


def learn(guests: int, error: list[float], history: list[int]) -> None:
    """What everybody knows after a week."""
    for kind in KINDS:
        error[kind] = 0.9 * error[kind] + 0.1 * abs(expected(kind, history) - guests)
    history[:] = [guests, *history[:-1]]


class ElFarol(goldrush.Game):
    """Arthur, "Inductive Reasoning and Bounded Rationality", American Economic Review 84 (1994)."""

    roster = "inductive*100"

    class State(goldrush.State):
        owned: list[list[int]]
        error: list[float]
        history: list[int]

    class Evening(goldrush.Submission):
        goes: bool

    class Met(goldrush.Event):
        guests: int

        def apply(self, state):  # type: ignore[no-untyped-def]
            learn(self.guests, state.error, state.history)

    def start(self, draw):  # type: ignore[no-untyped-def, override]
        owned = [draw.sample(KINDS, 4, "owned", guest) for guest in PEOPLE]
        history = [draw.below(len(PEOPLE), "week", week) for week in range(LAGS)]
        return self.State(owned=owned, error=[0.0] * len(KINDS), history=history)

    def decide(self, state, evenings, draw):  # type: ignore[no-untyped-def]
        yield self.Met(sum(each.goes for each in evenings))

    @policy
    def inductive(self, seen, agent, draw):  # type: ignore[no-untyped-def]
        return self.Evening(goes(seen.owned[agent], seen.error, seen.history))


def el_farol(rounds: int, rng: random.Random) -> None:
    """The rules of ElFarol."""
    owned = [rng.sample(KINDS, 4) for _ in PEOPLE]
    error, history = [0.0] * len(KINDS), [rng.randrange(len(PEOPLE)) for _ in range(LAGS)]
    for _ in range(rounds):
        learn(sum(goes(mine, error, history) for mine in owned), error, history)


def rows(folder: Path) -> Iterator[Row]:
    """A row for each model."""
    for game, loop in ((Culture, culture), (Opinions, opinions), (ElFarol, el_farol)):
        ours = partial(goldrush.record, game, folder / game.name, seed=7, rounds=200, force=True)
        pairs = in_process(ours, partial(loop, 200, random.Random(7)), 5)
        yield row(f"record, {game.__name__}", "plain loop", pairs, "<= 5")
