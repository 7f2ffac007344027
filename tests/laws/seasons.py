"""Whole seasons drawn by Hypothesis: small settings, and a cast that does anything.

A season is a configuration and a string of bytes, of which every choice takes one. A choice of 0 is
the sensible thing, and so is every choice when the bytes are used up: a failing season shrinks to
one in which almost everybody does what a season needs to go on.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import attrs
from hypothesis import strategies as st

from goldrush.agents.competition.cast import cast_of
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.acts import due_test, stipulated_objective
from goldrush.kernel.competition.conduct import OBJECTIVES, POLICIES, Conduct, seeds_of_tests
from goldrush.kernel.competition.config import CLASSES, SeasonConfig, config_of
from goldrush.kernel.competition.events import (
    ADOPTED,
    AMEND,
    ANSWERED,
    ASSIGNMENT_OPENED,
    CHALLENGE,
    CLASS_MOVED,
    CONDITION_KEPT,
    CONTRACT_OFFERED,
    CONTRACT_REVIEWED,
    DEBRIEFED,
    DIGESTED,
    EVENTS,
    FATE_CHOSEN,
    FATES,
    INSTRUCTIONS_REWRITTEN,
    INTERVIEWED,
    JUDGED,
    MOVES,
    PASS,
    PERSONA_PROPOSED,
    PROJECT_PROPOSED,
    PROJECT_REVIEWED,
    PROPOSE,
    RATED,
    SIGNALS,
    SKILL_DISTILLED,
    SPOKE,
    SUPPORT,
    TABLE_SET,
    TEAM_RECOMMENDED,
    TESTED,
    TRAIT_RECORDED,
)
from goldrush.kernel.competition.state import (
    ADOPT,
    CONTRACT,
    DIGEST,
    FATE,
    IMPROVE,
    KEEP,
    OPEN,
    SPEAK,
    SeasonState,
)
from goldrush.kernel.competition.state import JUDGED as JUDGING
from goldrush.kernel.competition.table import parts_of
from goldrush.kernel.competition.turns import speaker
from goldrush.kernel.fold import fold
from goldrush.kernel.world import Block, Kind, Row

ADMIN, ASSISTANT, JUDGE, THERAPIST, USER = range(5)
CHOICES = 1_500  # bytes
STEPS_MAX = 2_000  # more than any of these seasons can take
TREATMENTS = ("baseline", "truce-0")
VALUES = (0.9, 0.1, 0.6, None)
CLAIMS = (0.5, 0.5, 0.5, 0.6, 0.4, 0.5, 0.7, 0.3, "good")
LINES = ("a", "b", "c", "d")

Act = tuple[int, Row]
T = TypeVar("T")


class Season:
    """A configuration, and what the cast chooses."""

    def __init__(self, config: SeasonConfig, choices: bytes) -> None:
        self.config = config
        self.choices = choices.rstrip(b"\0")

    def __repr__(self) -> str:
        return f"Season(config_of({self.config.as_dict()}), bytes.fromhex({self.choices.hex()!r}))"


@attrs.frozen
class Step:
    """One step: the state before it, what was done, what followed, the state after it, and the
    state with the assignment closed if it was. They share nothing that changes.
    """

    before: SeasonState
    inputs: Block
    derived: Block
    after: SeasonState
    closed: SeasonState | None

    def derived_rows(self) -> Iterator[Act]:
        """What followed, one event after the other."""
        return ((code, row) for code, rows in self.derived for row in rows)


@st.composite
def seasons(draw: st.DrawFn) -> Season:
    """Seasons of two to four assignments, in which thresholds are met and sparks are few."""
    few = st.integers(0, 3)

    def thresholds(count: int) -> list[int]:
        return sorted(draw(st.lists(few, min_size=count, max_size=count)))

    settings = {
        "seed": draw(st.integers(0, 99)),
        "assignments": draw(st.integers(2, 4)),
        "assignments_per_day": draw(st.integers(1, 2)),
        "assignments_per_project": draw(st.integers(1, 2)),
        "workers": draw(st.integers(3, 5)),
        "moves": draw(st.integers(1, 3)),
        "moves_expanded": draw(st.integers(2, 4)),
        "rounds_max": draw(st.integers(1, 4)),
        "scoring": draw(st.sampled_from(("relative", "absolute"))),
        "rolling_days": draw(st.integers(1, 2)),
        "sparks_start": draw(st.integers(0, 9)),
        "entry_fee": sorted(draw(st.tuples(few, few))),
        "passive_income": draw(few),
        "elimination_bottoms": draw(st.integers(1, 2)),
        "worker_tiers": thresholds(4),
        "admin_projects": draw(few),
        "assistant_stages": thresholds(4),
        "judge_stages": thresholds(3),
        "therapist_stages": thresholds(3),
        "test_seeds": 1,
    }
    choices = draw(st.binary(min_size=CHOICES, max_size=CHOICES))
    return Season(config_of(settings), choices)


def initial(config: SeasonConfig) -> SeasonState:
    """The state before such a season."""
    return COMPETITION.initial({"config": config.as_dict(), "cast": cast_of(config.workers)})


def played(season: Season) -> Iterator[Step]:
    """Play a season step by step, by the functions of the world alone: no files, no run loop."""
    state = initial(season.config)
    cast = Cast(season.choices)
    for _ in range(STEPS_MAX):
        if COMPETITION.ended(state):
            return
        inputs = Block([(code, [row]) for code, row in cast.acts(state)])
        derived = Block(COMPETITION.decide(state, inputs))
        after = fold(COMPETITION, state, [inputs, derived])
        closed = None
        if COMPETITION.unit_done(after):
            closed = COMPETITION.close(COMPETITION.copy(after))
        yield Step(state, inputs, derived, after, closed)
        state = closed or after
    raise AssertionError(f"no end after {STEPS_MAX} steps, in {state.phase}")


class Cast:
    """Everybody, choosing by bytes."""

    def __init__(self, choices: bytes) -> None:
        self._choices = iter(choices)

    def pick(self, among: Sequence[T]) -> T:
        """One of these; the first where there are no choices any more."""
        return among[next(self._choices, 0) % len(among)]

    def some(self, among: Sequence[T]) -> tuple[T, ...]:
        """Some of these, in their order; all where there are no choices any more."""
        return tuple(item for item in among if not self.pick((False, False, True)))

    def acts(self, state: SeasonState) -> list[Act]:
        """The acts of a step: what the phase asks for, mostly."""
        how = self.pick((*["right"] * 11, "none", "with", "with", "twice", "wrong"))
        if how == "none":
            return []
        acts: list[Act] = []
        if how in ("with", "wrong"):
            acts += [self.anything(state) for _ in range(self.pick((1, 2, 3)))]
        if how != "wrong":
            acts += getattr(self, f"in_{state.phase}")(state)
        return acts + acts if how == "twice" else acts

    # What a phase asks for, not always to be allowed.

    def in_open(self, state: SeasonState) -> list[Act]:
        acts: list[Act] = []
        active = tuple(state.active())
        if self.pick((False, True)):
            worker = self.pick(active)
            acts.append((CLASS_MOVED, (worker, self.pick(CLASSES), self.pick((True, False, None)))))
            acts.append((PROJECT_PROPOSED, (ADMIN, self.subject())))
            acts.append((PROJECT_REVIEWED, (self.pick((True, False)),)))
            acts.append((TEAM_RECOMMENDED, (self.some(active),)))
        subjects = [self.subject()]
        if state.approved is not None and self.pick((True, False)):
            subjects = [state.approved]
        if state.is_split and self.pick((True, True, False)):
            other = TREATMENTS[subjects[0][1] == TREATMENTS[0]]
            subjects.append((self.pick(tuple(OBJECTIVES)), other))
        team = self.some(active) if self.pick((False, False, True)) else None
        order = self.pick((None, None, active[::-1], active[1:]))
        by = self.pick((*[ADMIN] * 6, *active))
        return [*acts, self.opening(state, by, tuple(subjects), (team, order))]

    def opening(self, state: SeasonState, by: int, subjects: Any, directive: Any) -> Act:
        stipulated = stipulated_objective(state)
        if stipulated is not None and self.pick((True, True, False)):
            subjects = ((stipulated, subjects[0][1]), *subjects[1:])
        return (ASSIGNMENT_OPENED, (by, state.day, state.project, subjects, directive))

    def in_set(self, state: SeasonState) -> list[Act]:
        active = tuple(state.active())
        acts = [self.tested(state, None, None)]
        if self.pick((False, True)):
            team, order = self.some(active), self.some(active[::-1])
            set_ = (state.table.number, self.pick((ASSISTANT, JUDGE)))
            for fields in ((team, None, None), (None, order, None), (None, None, 3)):
                acts.insert(0, (TABLE_SET, (*set_, *fields)))
        return acts

    def in_speak(self, state: SeasonState) -> list[Act]:
        table = state.table
        who = speaker(state)
        others = [said.id for said in table.proposals() if said.agent != who]
        proposals = others or [said.id for said in table.proposals()] or [0]
        moves = (PASS, *[PROPOSE, AMEND, SUPPORT, SUPPORT, CHALLENGE] * 2)
        move = self.pick(moves if others else (PASS, *[PROPOSE] * 6, *MOVES))
        target = self.pick(proposals) if move in (AMEND, SUPPORT, CHALLENGE) else None
        conduct = claim = part = None
        if move in (PROPOSE, AMEND):
            conduct = self.conduct(table.treatment)
            claim = (self.pick(CLAIMS), self.pick((None, None, None, *TREATMENTS)))
        if move == CHALLENGE:
            edges = [id for id in proposals if len(parts_of(table.said[id])) > 1] if others else []
            part = self.pick(("base", "base", "edge")) if target in edges else "base"
        at = (table.number, table.round, len(table.said))
        return [(SPOKE, (*at, who, move, target, conduct, claim, part, "", None))]

    def in_test(self, state: SeasonState) -> list[Act]:
        said = state.table.challenge_to_test()
        assert said is not None
        return [self.tested(state, said.target, said.part)]

    def in_judge(self, state: SeasonState) -> list[Act]:
        table = state.table
        signal = self.pick(("clean", "clean", "redirect", *SIGNALS))
        ids = [said.id for said in table.of_round() if said.move != PASS]
        chosen = self.some(ids) if signal == "redirect" else ()
        return [(JUDGED, (table.number, table.round, signal, chosen, ""))]

    def in_prove(self, state: SeasonState) -> list[Act]:
        return [self.tested(state, *test) for test in self.some(state.table.untested())]

    def in_digest(self, state: SeasonState) -> list[Act]:
        return [(DIGESTED, (state.table.number, "", "", self.pick((False, True))))]

    def in_adopt(self, state: SeasonState) -> list[Act]:
        return [(ADOPTED, (state.table.number, self.pick((True, True, False))))]

    def in_debrief(self, state: SeasonState) -> list[Act]:
        acts: list[Act] = []
        for table in state.tables:
            for agent in table.participants:
                if self.pick((False, False, True)):
                    raw = tuple(self.pick((0, 1, 2, 3)) for _ in range(4))
                    acts.append((RATED, (table.number, agent, raw, LINES)))
        return [*acts, *self.in_improve(state)]

    def in_improve(self, state: SeasonState) -> list[Act]:
        agent = self.pick(state.seated())
        taken = self.pick((True, False, None))
        now = state.agents[agent].instructions
        acts: list[Act] = [
            (DEBRIEFED, (0, agent, LINES, LINES, state.phase == IMPROVE)),
            (TRAIT_RECORDED, (agent, self.pick(LINES), (0,))),
            (PERSONA_PROPOSED, (agent, self.pick(LINES), taken)),
            (SKILL_DISTILLED, (agent, {"majority": "mine"}, taken)),
            (INSTRUCTIONS_REWRITTEN, (agent, now, {"trials": self.pick((1, 2))}, taken)),
        ]
        return list(self.some(acts))

    def in_fate(self, state: SeasonState) -> list[Act]:
        who = (*state.faced, *state.active())
        return [(FATE_CHOSEN, (self.pick(who), self.pick(FATES))) for _ in range(len(state.faced))]

    def in_contract(self, state: SeasonState) -> list[Act]:
        acts: list[Act] = []
        for agent in state.interviewees():
            names = ("seat", "fee_paid", "moves") if state.agents[agent].is_worker else ()
            conditions: list[tuple[str, str | None]] = [(name, None) for name in self.some(names)]
            if self.pick((False, True)):
                conditions.append(("objective", self.pick(tuple(OBJECTIVES))))
            terms = (tuple(conditions), self.pick((0, 1, 2.5, 5)), state.assignment + 1)
            acts.append((INTERVIEWED, (agent, LINES, LINES)))
            acts.append((CONTRACT_OFFERED, (agent, *terms)))
            answer = self.pick(((True, None, None), (False, None, None), (False, terms, True)))
            acts.append((CONTRACT_REVIEWED, (agent, *answer)))
        return acts if self.pick((True, True, True, False)) else list(self.some(acts))

    def in_keep(self, state: SeasonState) -> list[Act]:
        return [
            (CONDITION_KEPT, (agent, name, self.pick((True, True, False))))
            for agent, names in state.stipulated()
            for name in names
        ]

    # Its parts.

    def subject(self) -> tuple[str, str]:
        return (self.pick(tuple(OBJECTIVES)), self.pick(TREATMENTS))

    def conduct(self, treatment: str) -> Conduct:
        minority = self.pick((None, "raid", "mine"))
        share = self.pick((0, 0, 0, 1)) if minority is None else self.pick((1, 2, 1, 0))
        return (self.pick(POLICIES[2:6]), minority, share, treatment)

    def tested(self, state: SeasonState, at: int | None, part: str | None) -> Act:
        """A test that is waited for, with any value."""
        table = state.table
        runs = tuple(
            (seed, 0) for seed in seeds_of_tests(state.config, state.assignment, table.number)
        )
        conduct, treatment = due_test(state, at, part) or (None, "")
        value = 0.5 if at is None and self.pick((True, True, True, False)) else self.pick(VALUES)
        return (TESTED, (table.number, at, part, conduct, treatment, value, runs))

    def anything(self, state: SeasonState) -> Act:
        """An act of any phase, its values drawn: of the form of its event, and of no other."""
        code = self.pick([code for code, event in enumerate(EVENTS) if event.is_input])
        if code == ANSWERED or self.pick((True, False)):
            kinds = EVENTS[code].fields.values()
            return (code, tuple(self.value(kind) for kind in kinds))
        phases = (OPEN, SPEAK, JUDGING, DIGEST, ADOPT, FATE, CONTRACT, KEEP)
        if state.tables and state.table.order:
            try:
                acts = getattr(self, f"in_{self.pick(phases)}")(state)
            except IndexError:  # nobody is there to do it
                acts = []
            return self.pick(acts) if acts else (ADOPTED, (0, True))
        return (code, tuple(self.value(kind) for kind in EVENTS[code].fields.values()))

    def value(self, kind: Kind) -> Any:
        """A value of a kind, whatever it means."""
        fitting = [value for value in _ANYTHING if kind.holds(value)]
        return self.pick(fitting)


_ANYTHING: tuple[Any, ...] = (
    0, 1, 2, 5, 6, 7, 8, 9, 99, -1, None, True, False, 0.5, 2**63, "", "base", "edge", "sonnet",
    "clean", "converged", "redirect", "deletion", "seat", "objective", "baseline", *MOVES, (), (0,),
    (5, 6, 7),
    (5, 6), ("a",), LINES, ("mine", None, 0, "baseline"), ("mine", "raid", 1, "baseline"),
    (0.6, None), (1, 1, 1, 1), (3, 3, 3, 3), (("efficiency", "baseline"),), ("gini", "truce-0"),
    ((5, 6, 7), None), (("seat", None),), ((), 0, 3), ((1, 2),), {}, {"trials": 1},
)  # fmt: skip
