"""Evidence: what a trial, a test, a claim and a memory weigh, and that more of it moves more."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldrush.agents.worlds.competition.arenas import bench_of, rules_of
from goldrush.agents.worlds.competition.cast import cast_of
from goldrush.agents.worlds.competition.evidence import (
    CLAIM,
    ELSEWHERE,
    IGNORANCE,
    OLDER,
    REMEMBERED,
    TEST,
    TRIAL,
    Evidence,
)
from goldrush.agents.worlds.competition.observation import SeasonObservation
from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.competition.worker import Worker
from goldrush.kernel.draws import Draws
from goldrush.kernel.worlds.competition.events import Tried
from goldrush.kernel.worlds.competition.memory import Remembered
from goldrush.kernel.worlds.competition.state import SeasonState, initial
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import Fact, Move, Part, Phase
from tests.playing import mining, nk

ADA, BEN, CLEO = 5, 6, 7
ONE, OTHER = "000000000001", "111111111111"
BAR = 0.4
values = st.floats(0.0, 1.0).map(lambda value: round(value, 3))
KINDS = ("trial", "test", "claim", "remembered", "elsewhere")


class Room:
    """A season whose first table is open, at which ada speaks."""

    def __init__(self, *, down: bool = False) -> None:
        arena = mining() if down else nk()
        config = configured({"arena": arena, "workers": 3})
        setup = {"config": config.as_dict(), "cast": [seat.as_dict() for seat in cast_of(3)]}
        self.state: SeasonState = initial(setup, rules_of(arena))
        better = "down" if down else "up"
        self.subject = next(s for s in arena.subjects if s.better == better)
        order = (ADA, BEN, CLEO)
        self.table = Roundtable(
            0, self.subject, 5, BAR, True, participants=order, order=order,
            moves=dict.fromkeys(order, 5), round=1,
        )  # fmt: skip
        self.state.tables, self.state.phase = [self.table], Phase.SPEAK
        self.bench = bench_of(arena)

    def learn(self, kind: str, conduct: Any, value: float) -> None:
        """One piece of evidence."""
        here = self.subject.treatment
        if kind == "trial":
            self.table.trials.append(Tried(0, ADA, 0, conduct, here, value, ()))
        elif kind in ("test", "claim"):
            said = self.propose(BEN, conduct, value)
            if kind == "test":
                self.table.tests[said.id, Part.BASE] = value
        else:
            under = here if kind == "remembered" else "another"
            agent = self.state.agents[ADA]
            fact = Remembered(Fact.TRIAL, 0, self.subject.objective, under, conduct, value)
            known = agent.memory.get(self.subject.family, ())
            self.state.change(ADA, memory={self.subject.family: (*known, fact)})

    def propose(self, agent: int, conduct: Any, value: float) -> Contribution:
        id, claim = len(self.table.contributions), (value, None)
        said = Contribution(id, 0, agent, Move.PROPOSE, conduct=conduct, claim=claim)
        self.table.add(said)
        return said

    @property
    def seen(self) -> SeasonObservation:
        return SeasonObservation(self.state, ADA, self.bench)

    def estimate(self, conduct: Any = ONE) -> float:
        return Evidence(self.seen).estimate(conduct)

    def says(self, seed: int = 1, **traits: int) -> Any:
        self.state.change(ADA, instructions=traits)
        return Worker().speak(self.seen, Draws(seed, "worker"))


def test_own_trials_weigh_most_then_tests_then_claims_then_what_is_remembered() -> None:
    assert TRIAL > TEST > CLAIM > REMEMBERED > ELSEWHERE > OLDER > 0 < IGNORANCE
    estimates = []
    for kind in KINDS:
        room = Room()
        room.learn(kind, ONE, 0.6)
        estimates.append(room.estimate())

    assert sorted(set(estimates), reverse=True) == estimates
    assert 0 < estimates[-1]
    assert estimates[0] < 0.6 - BAR


@given(st.lists(st.tuples(st.sampled_from(KINDS), values), max_size=5), st.data())
def test_a_better_value_is_never_worse_news(
    pieces: list[tuple[str, float]], data: st.DataObject
) -> None:
    kind, value = data.draw(st.sampled_from(KINDS)), data.draw(values)
    more = data.draw(st.floats(0, 1))
    found = []
    for last in (value, value + more):
        room = Room()
        for one, known in [*pieces, (kind, last)]:
            room.learn(one, ONE, known)
        found.append(room.estimate())

    assert found[0] <= found[1]


def test_where_less_is_better_less_is_more() -> None:
    room = Room(down=True)
    conduct = rules_of(mining()).bar(room.subject)
    room.learn("trial", conduct, BAR - 0.1)
    evidence = Evidence(room.seen)

    assert evidence.estimate(conduct) > 0
    assert BAR == evidence.value(evidence.margin(BAR))
    assert pytest.approx(0.1) == evidence.margin(BAR - 0.1)


# What follows from it at the table


@pytest.mark.parametrize(("doubt", "move"), [(0, Move.SUPPORT), (10, Move.CHALLENGE)])
def test_what_lies_beyond_all_that_was_seen_is_challenged_by_who_doubts(
    doubt: int, move: str
) -> None:
    room = Room()
    room.propose(BEN, ONE, 0.9)
    room.learn("remembered", OTHER, 0.5)
    said = [room.says(seed, doubt=doubt)["move"] for seed in range(20)]

    assert said.count(move) > 10


@given(st.floats(BAR + 0.01, 1.0), st.integers(0, 10))
def test_more_boldness_claims_more_and_nobody_more_than_it_found(
    value: float, boldness: int
) -> None:
    claims = []
    for how in (0, boldness, 10):
        room = Room()
        room.learn("trial", ONE, value)
        claims.append(room.says(boldness=how)["claim"][0])
        found = BAR + (room.estimate() * (0.5 + how / 20))
        assert round(found - 1e-4, 6) <= claims[-1] <= found + 1e-12

    assert BAR < claims[0] <= claims[1] <= claims[2] <= value


def test_what_is_next_to_anothers_proposal_amends_it() -> None:
    room = Room()
    room.propose(BEN, "000000000000", 0.41)
    room.learn("trial", ONE, 0.6)
    said = room.says(doubt=0)

    assert (Move.AMEND, 0, ((0,), True)) == (said["move"], said["target"], said["because"])
    assert "#0" in said["words"]
