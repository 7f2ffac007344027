"""Whole seasons drawn by Hypothesis: small settings, several arenas, and a cast that does anything.

A season is a configuration and a string of bytes, of which every choice takes one. A choice of 0 is
the sensible thing, and so is every choice when the bytes are used up: a failing season shrinks to
one in which almost everybody does what a season needs to go on.

The cast sees the season as the naive oracle tells it, so that what is done does not hang on the
state under test.
"""

import functools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import attrs
from hypothesis import strategies as st
from msgspec.structs import replace

from goldrush.kernel.fold import fold
from goldrush.kernel.settings import integer, setting
from goldrush.kernel.shape import INTEGER, Kind
from goldrush.kernel.world import Block, Row, World
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.arena import Arena, ArenaType, Rules, Subject, arena_of
from goldrush.kernel.worlds.competition.arenas import mining, nk
from goldrush.kernel.worlds.competition.config import SeasonConfig, config_of
from goldrush.kernel.worlds.competition.events import (
    CODES,
    EVENTS,
    INPUTS,
    Adopted,
    Answered,
    AssignmentOpened,
    ClassMoved,
    ConditionKept,
    ContractOffered,
    ContractReviewed,
    Debriefed,
    Digested,
    FateChosen,
    InstructionsRewritten,
    Interviewed,
    Judged,
    PersonaProposed,
    ProjectProposed,
    ProjectReviewed,
    Rated,
    SkillDistilled,
    Spoke,
    Stood,
    TableSet,
    TeamRecommended,
    Tested,
    TraitRecorded,
    Tried,
)
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.terms import (
    Class,
    Condition,
    Fate,
    Move,
    Part,
    Phase,
    Role,
    Scoring,
    Signal,
    names_of,
)
from tests.arena_oracle import word
from tests.kernel.worlds.competition.seasons import ADMIN, ASSISTANT, JUDGE, cast_of
from tests.season_oracle import SeasonOracle

CHOICES, STRETCH = 6_000, 30  # bytes
STEPS_MAX = 2_000  # more than any of these seasons can take
ASSIGNMENTS_MAX = 5
CLASSES, MOVES, SIGNALS, FATES = map(names_of, (Class, Move, Signal, Fate))
# As where more is better; mirrored where less is.
VALUES = (0.9, 0.9, 0.8, 0.8, 0.6, 0.1, None)
CLAIMS = (0.75, 0.75, 0.75, 0.9, 0.8, 0.7, 0.6, 0.55, 0.5, 0.3, 1, "good")
HIGH_VALUES, HIGH_CLAIMS = (0.9, 0.9, 0.8, 0.9, 0.9, 0.1), (0.75, 0.75, 0.8, 0.6)
# What is done where there is something to refer to: a season of all, of proposals, of disputes.
MANNERS: Final = (
    (Move.PASS, *[Move.PROPOSE, Move.AMEND, Move.SUPPORT, Move.SUPPORT] * 2, *[Move.CHALLENGE] * 3),
    (Move.PASS, *[Move.PROPOSE] * 7, Move.AMEND, Move.SUPPORT),
    (Move.PASS, *[Move.PROPOSE] * 3, *[Move.SUPPORT] * 4, *[Move.CHALLENGE] * 4),
)
LINES = ("a", "b", "c", "d")
# What is proposed in an arena: near to each other and far, and what is no conduct there.
CONDUCTS: Final[Mapping[str, Sequence[Any]]] = {
    "dial": (1, 2, 5, 9, 0, 4, 7, 12),
    "nk": (
        "100000000000", "110000000000", "011110000000", "111111111111", "000000000000",
        "000001100000", "1111",
    ),
}  # fmt: skip
MINED = ("greedy-mine", "defend-then-mine", "tit-for-tat-raid", "claim")

Act = tuple[int, Row]
T = TypeVar("T")


# Arenas


@attrs.frozen
class DialOptions:
    """How a number on the dial is tested."""

    seeds: int = setting(2, integer(1, 9))


def _dial_subjects(options: Any, assignments: int) -> tuple[Subject, ...]:
    return (Subject("value", "up", "plain", "dial"), Subject("cost", "down", "plain", "dial"))


def _dial_rules(arena: Arena, options: DialOptions) -> Rules:
    return Rules(
        arena=arena,
        treatments=("plain",),
        conduct=replace(INTEGER, schema=integer(0, 9).schema),
        is_canonical=lambda conduct, treatment: 0 <= conduct <= 9,
        distance=lambda one, other: min(2, abs(one - other)),
        bar=lambda subject: 0,
        describe=str,
    )


# The smallest arena that there can be, of one treatment: a number from 0 to 9.
DIAL: Final = ArenaType(1, "A number from 0 to 9.", DialOptions, _dial_subjects, _dial_rules)
ARENAS: Final[Mapping[str, tuple[ArenaType, Mapping[str, Any]]]] = {
    "mining": (mining.ARENA, {"agents": 4, "rounds": 6, "seeds": 1}),
    "nk": (nk.ARENA, {"seeds": 2, "drift": 0.5}),
    "dial": (DIAL, {}),
}


@functools.cache
def arena_record(name: str) -> dict[str, Any]:
    """The record of an arena, with options under which little is tested."""
    arena, given = ARENAS[name]
    options: Any = arena.options(**given)
    subjects = tuple(arena.subjects(options, ASSIGNMENTS_MAX))
    return Arena(name, arena.version, attrs.asdict(options), subjects).as_dict()


def rules_of(record: Mapping[str, Any]) -> Rules:
    """The rules of an arena that was recorded."""
    return ARENAS[record["name"]][0].rules_of(arena_of(record))


# Seasons


class Season:
    """A configuration, and what the cast chooses."""

    def __init__(self, config: SeasonConfig, choices: bytes) -> None:
        self.config = config
        self.choices = choices.rstrip(b"\0")

    def __repr__(self) -> str:
        others = {name: value for name, value in self.settings.items() if name != "arena"}
        arena = f"{{'arena': arena_record({self.settings['arena']['name']!r})}}"
        choices = f"bytes.fromhex({self.choices.hex()!r})"
        return f"Season(config_of({others} | {arena}), {choices})"

    @property
    def settings(self) -> dict[str, Any]:
        """All settings, as the setup holds them."""
        return dict(self.config.as_dict())

    @property
    def oracle(self) -> SeasonOracle:
        """The season as the oracle tells it, before its first step."""
        return SeasonOracle(logical(self.settings), cast_of(self.config.workers))


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
    """Seasons of two to five assignments, in which thresholds are met and sparks are few."""
    few = st.integers(0, 3)
    soon = st.sampled_from((1, 1, 1, 2, 3))

    def thresholds(count: int) -> list[int]:
        return sorted(draw(st.lists(soon, min_size=count, max_size=count)))

    def mostly_on() -> bool:
        return bool(draw(st.sampled_from((True,) * 4 + (False,))))

    settings = {
        "seed": draw(st.integers(0, 99)),
        "assignments": draw(st.integers(2, ASSIGNMENTS_MAX)),
        "assignments_per_day": draw(st.integers(1, 2)),
        "assignments_per_project": draw(st.sampled_from((1, 1, 2))),
        "workers": draw(st.integers(3, 5)),
        "moves": draw(st.integers(1, 4)),
        "moves_expanded": draw(st.integers(2, 5)),
        "rounds_max": draw(st.integers(1, 5)),
        "scoring": draw(st.sampled_from(names_of(Scoring))),
        "rolling_days": draw(st.integers(1, 2)),
        "sparks_start": draw(st.integers(0, 9)),
        "entry_fee": sorted(draw(st.tuples(few, few))),
        "passive_income": draw(few),
        "elimination_bottoms": draw(st.integers(1, 2)),
        "worker_tiers": thresholds(4),
        "admin_projects": 1,
        "assistant_stages": thresholds(4),
        "judge_stages": thresholds(3),
        "therapist_stages": thresholds(3),
        "trials": sorted(draw(st.tuples(few, few))),
        "arena": arena_record(draw(st.sampled_from(("dial", "nk", "mining")))),
        "elimination": mostly_on(),
        "tiers": mostly_on(),
        "challenges": mostly_on(),
        "judged": mostly_on(),
        "memory": mostly_on(),
        "table": mostly_on(),
    }
    return Season(config_of(settings), draw(_choices()))


@st.composite
def _choices(draw: st.DrawFn) -> bytes:
    """Bytes from a seed, so that no two seasons are alike; shrinking makes stretches of them 0."""
    kept = draw(st.binary(min_size=CHOICES // STRETCH, max_size=CHOICES // STRETCH))
    some = random.Random(draw(st.integers(0, 2**32 - 1))).randbytes(CHOICES)
    return bytes(choice if kept[i // STRETCH] else 0 for i, choice in enumerate(some))


def world_of(config: SeasonConfig) -> World[SeasonState]:
    """The competition, in the arena of a season."""
    return competition(rules_of(config.as_dict()["arena"]))


def initial(config: SeasonConfig) -> SeasonState:
    """The state before a season."""
    setup = {"config": config.as_dict(), "cast": cast_of(config.workers)}
    return world_of(config).initial(setup)


def played(season: Season) -> Iterator[Step]:
    """Play a season step by step, by the functions of the world alone: no files, no run loop."""
    world, state, oracle = world_of(season.config), initial(season.config), season.oracle
    cast = Cast(season.choices, oracle)
    for _ in range(STEPS_MAX):
        if world.ended(state):
            return
        acts = cast.acts()
        inputs = world.arrange(Block([(code, [row]) for code, row in acts]))
        derived = Block(world.decide(state, inputs))
        after = fold(world, state, [inputs, derived])
        closed = None
        if world.unit_done(after):
            closed = world.close(world.copy(after))
        yield Step(state, inputs, derived, after, closed)
        oracle.step([logical_act(code, row) for code, rows in inputs for row in rows])
        state = closed or after
    raise AssertionError(f"no end after {STEPS_MAX} steps, in {state.phase}")


def logical_act(code: int, row: Row) -> dict[str, Any]:
    """An act as events show it."""
    event = EVENTS[code]
    fields = zip(event.fields.items(), row, strict=True)
    return {"event": event.name, **{name: kind.show(value) for (name, kind), value in fields}}


def logical(value: Any) -> Any:
    """A setting as people read it: lists in the place of tuples."""
    if isinstance(value, Mapping):
        return {name: logical(item) for name, item in value.items()}
    return [logical(item) for item in value] if isinstance(value, (list, tuple)) else value


def _in_row(value: Any) -> Any:
    """A value as rows hold it: tuples in the place of lists."""
    return tuple(_in_row(item) for item in value) if isinstance(value, (list, tuple)) else value


class Cast:
    """Everybody, choosing by bytes. Acts are made as the named tuples of their events."""

    def __init__(self, choices: bytes, season: SeasonOracle) -> None:
        self._choices = iter(choices)
        self.season = season
        self.manner = self.pick(MANNERS)
        self.values = self.pick((VALUES, HIGH_VALUES))
        self.claims = self.pick((CLAIMS, HIGH_CLAIMS))

    def pick(self, among: Sequence[T]) -> T:
        """One of these; the first where there are no choices any more."""
        return among[next(self._choices, 0) % len(among)]

    def some(self, among: Sequence[T]) -> tuple[T, ...]:
        """Some of these, in their order; all where there are no choices any more."""
        return tuple(item for item in among if not self.pick((False, False, True)))

    def acts(self) -> list[Act]:
        """The acts of a step: what the phase asks for, mostly."""
        how = self.pick((*["right"] * 20, "none", "with", "with", "twice", "wrong", *["bent"] * 4))
        acts: list[Any] = []
        if how in ("with", "wrong"):
            acts += [self.anything() for _ in range(self.pick((1, 2, 3)))]
        if how not in ("none", "wrong"):
            acts += self.asked_in(self.season.phase)
        if how == "bent" and acts:
            index = self.pick(range(len(acts)))
            acts[index] = self.bent(acts[index])
        if how == "twice":
            acts += acts
        return [(CODES[type(act)], tuple(map(_in_row, act))) for act in acts]

    def asked_in(self, phase: str) -> list[Any]:
        """What a phase asks for, not always to be allowed."""
        asked: Callable[[], list[Any]] = getattr(self, f"in_{phase}")
        return asked()

    def bent(self, act: Any) -> Any:
        """An act with something in one field changed."""
        kinds = dict(zip(act._fields, EVENTS[CODES[type(act)]].fields.values(), strict=True))
        name = self.pick([name for name in act._fields if name != "source"])
        value = self.changed(_in_row(getattr(act, name)))
        if not kinds[name].holds(value):
            value = self.value(kinds[name])
        return act._replace(**{name: value})

    def changed(self, value: Any) -> Any:
        """Another value, or the same with an item left out, doubled or changed."""
        if not isinstance(value, tuple) or not value or self.pick((False, False, True)):
            return self.pick(_ANYTHING)
        index = self.pick(range(len(value)))
        item = value[index]
        items = self.pick(((self.changed(item),), (self.changed(item),), (), (item, item)))
        return value[:index] + items + value[index + 1 :]

    def in_open(self) -> list[Any]:
        season = self.season
        acts: list[Any] = []
        active = season.workers("active")
        if self.pick((False, True)):
            allowed = self.pick((True, False, None))
            acts.append(ClassMoved(self.pick(active), self.pick(CLASSES), allowed))
            acts.append(ProjectProposed(ADMIN, self.subject()))
            acts.append(ProjectReviewed(self.pick((True, False))))
            acts.append(TeamRecommended(self.pick((active, self.some(active)))))
        subjects = [self.subject()]
        if season.approved is not None and self.pick((True, False)):
            subjects = [season.approved]
        choice = season.chosen_objective()
        if choice is not None and self.pick((True, True, False)):
            subjects = [self.subject(objective=choice[1])]
        other = self.subject(apart_from=subjects[0][1])
        if season.is_split and other[1] != subjects[0][1] and self.pick((True, True, False)):
            subjects.append(other)
        team = self.some(active) if self.pick((False, False, True)) else None
        order = self.pick((None, None, active[::-1], active[1:]))
        directive = (team, order) if team or order or self.pick((False, True)) else None
        by = self.pick((*[ADMIN] * 6, *active))
        day, project = season.day(season.assignment), season.project(season.assignment)
        return [*acts, AssignmentOpened(by, day, project, subjects, directive)]

    def in_set(self) -> list[Any]:
        active = self.season.workers("active")
        acts: list[Any] = [self.tested(None, None)]
        if self.pick((False, True)):
            team, order = self.some(active), self.some(active[::-1])
            number, by = self.season.table.number, self.pick((ASSISTANT, JUDGE))
            for fields in ((team, None, None), (None, order, None), (None, None, 3)):
                acts.insert(0, TableSet(number, by, *fields))
        return acts

    def in_try(self) -> list[Any]:
        return [
            self.trial(agent, further)
            for agent in self.season.table.participants
            for further in range(self.pick((1, 1, 0, 2, 3)))
        ]

    def in_speak(self) -> list[Any]:
        season, table = self.season, self.season.table
        who = self.pick(table.order) if season.turn is None else season.turn
        acts = [self.trial(who, further) for further in range(self.pick((0, 0, 1, 2)))]
        acts.append(self.spoken(who))
        if self.pick((*[False] * 9, True)):
            acts.append(self.trial(self.pick(table.order), 0))
        return acts

    def spoken(self, who: int) -> Any:
        """What somebody says in its turn."""
        table = self.season.table
        made = table.proposals(self.pick((table.counted(), table.counted(), table.said)))
        proposals = [said["id"] for said in made] or [0]
        others = [said["id"] for said in made if said["agent"] != who]
        move = self.pick(self.manner if others else (Move.PASS, *[Move.PROPOSE] * 9, *MOVES))
        target = conduct = claim = part = None
        if move in (Move.AMEND, Move.SUPPORT, Move.CHALLENGE):
            target = self.pick(others or proposals)
        if move in (Move.PROPOSE, Move.AMEND):
            conduct, claim = self.conduct(table.treatment), self.claim()
            repeats = self.pick((False, False, False, True))
            if made and repeats:
                conduct = self.pick(table.proposals(table.said))["conduct"]
        if move == Move.CHALLENGE:
            edges = [said["id"] for said in made if said["claim"][1] is not None]
            part = self.pick((Part.BASE, Part.BASE, Part.EDGE)) if target in edges else Part.BASE
        at = (table.number, table.round, len(table.said))
        return Spoke(*at, who, move, target, conduct, claim, part, "", self.because(), None)

    def because(self) -> Any:
        """What somebody relies on, seldom on what nobody has said."""
        ids = self.some(range(len(self.season.table.said) + self.pick((0, 0, 0, 0, 0, 1))))
        return self.pick((None, (ids, False), ((), True), (ids, True)))

    def in_test(self) -> list[Any]:
        part = self.season.table.challenged_now()
        return [] if part is None else [self.tested(*part)]

    def in_judge(self) -> list[Any]:
        table = self.season.table
        signals = [Signal.CLEAN, Signal.CLEAN, Signal.REDIRECT, *SIGNALS]
        is_time = self.season.phase == Phase.JUDGE  # all that was challenged is tested
        held = list(table.stances(table.counted()).values()) if is_time else []
        if any(2 * held.count(id) > len(table.participants) for id in held):
            signals += [Signal.CONVERGED] * 4
        if self.season.holder(Role.JUDGE)["stage"] >= 3:
            signals += [Signal.SPLIT] * 4
        signal = self.pick(signals)
        spoken = [said for said in table.said if said["move"] != Move.PASS]
        ids = [said["id"] for said in spoken if said["round"] == table.round]
        chosen = self.some(ids) if signal == Signal.REDIRECT else ()
        return [Judged(table.number, table.round, signal, chosen, "")]

    def in_prove(self) -> list[Any]:
        return [self.tested(*part) for part in self.some(self.season.table.untested())]

    def in_stand(self) -> list[Any]:
        agents = self.season.table.participants
        return [self.stance(agent) for agent in agents if not self.pick((*[False] * 6, True))]

    def stance(self, agent: int) -> Any:
        """A final stance: mostly on what can be stood for, or on none."""
        table = self.season.table
        said = table.proposals(table.said)
        refuted = [] if table.untested() else table.refuted(table.counted(), is_proven=True)
        counted = table.proposals(table.counted())
        good: list[Any] = [line["id"] for line in counted if line["id"] not in refuted]
        own = [line["id"] for line in counted if line["agent"] == agent]
        unknown = [len(table.said)]
        anyones = [line["id"] for line in said]  # redirected, refuted or neither
        among = self.pick((*[good] * 8, own, refuted, unknown, anyones, [None], [None]))
        return Stood(table.number, agent, self.pick(among or [None]), "", self.because(), None)

    def in_digest(self) -> list[Any]:
        return [Digested(self.season.table.number, "", "", self.pick((False, True)))]

    def in_adopt(self) -> list[Any]:
        return [Adopted(self.season.table.number, self.pick((True, True, False)))]

    def in_debrief(self) -> list[Any]:
        acts: list[Any] = []
        for table in self.season.tables:
            for agent in table.participants:
                if self.pick((False, False, True)):
                    raw = [self.pick((0, 1, 2, 3)) for _ in range(4)]
                    acts.append(Rated(table.number, agent, raw, LINES))
        return [*acts, *self.in_improve()]

    def in_improve(self) -> list[Any]:
        agent = self.pick(self.season.seated())
        taken = self.pick((True, False, None))
        now = self.season.agents[agent]["instructions"]
        objective, treatment = self.subject()
        skill = (objective, treatment, self.conduct(treatment), self.pick(self.values))
        lines = self.pick((LINES, LINES, LINES, ()))
        acts = [
            Debriefed(0, agent, lines, lines, self.season.phase == Phase.IMPROVE),
            TraitRecorded(agent, self.pick(LINES), (0,)),
            PersonaProposed(agent, self.pick(LINES), taken),
            SkillDistilled(agent, skill, taken),
            InstructionsRewritten(agent, now, {"trials": self.pick((1, 2))}, taken),
        ]
        return list(self.some(acts))

    def in_fate(self) -> list[Any]:
        who = (*self.season.faced, *self.season.workers("active"))
        return [FateChosen(self.pick(who), self.pick(FATES)) for _ in self.season.faced]

    def in_contract(self) -> list[Any]:
        acts: list[Any] = []
        for agent in self.season.candidates:
            is_worker = self.season.agents[agent]["role"] == Role.WORKER
            names = (Condition.SEAT, Condition.FEE_PAID, Condition.MOVES) if is_worker else ()
            conditions: list[tuple[str, str | None]] = [(name, None) for name in self.some(names)]
            if self.pick((False, True)):
                conditions.append((Condition.OBJECTIVE, self.subject()[0]))
            wins = self.pick(((1, 1), (2, 1), (3, 2), (2, 2), (1, 2)))
            target = wins if is_worker else self.pick((1, 1, 2, 0, 2.5, 5))
            terms = (conditions, target, self.season.assignment + self.pick((1, 1, 2)))
            lines = self.pick((LINES, LINES, LINES, ()))
            acts.append(Interviewed(agent, lines, lines))
            acts.append(ContractOffered(agent, *terms))
            answer = self.pick(((True, None, None), (False, None, None), (False, terms, True)))
            acts.append(ContractReviewed(agent, *answer))
        return acts if self.pick((True, True, True, False)) else list(self.some(acts))

    def in_keep(self) -> list[Any]:
        return [
            ConditionKept(agent, name, self.pick((True, True, False)))
            for agent, name in self.season.stipulated()
        ]

    # Its parts.

    def subject(self, objective: str | None = None, apart_from: str | None = None) -> Any:
        """One of the first few subjects: of an objective, or of another treatment, if there is."""
        arena, treatments = self.season.arena, self.treatments()
        objectives = list(dict.fromkeys(arena.objectives()))[:2]
        listed = [[subject[0], subject[2]] for subject in arena.subjects]
        subjects = [[o, t] for o, t in listed if o in objectives and t in treatments]
        fitting = [s for s in subjects if objective in (None, s[0]) and s[1] != apart_from]
        return self.pick(fitting or subjects)

    def treatments(self) -> list[str]:
        """Few, so that what was said of one is met again."""
        listed = dict.fromkeys(subject[2] for subject in self.season.arena.subjects)
        return list(listed)[:2]

    def conduct(self, treatment: str) -> Any:
        arena = self.season.arena
        if self.pick((*[False] * 7, True)):
            return arena.bar(treatment)
        if arena.name in CONDUCTS:
            return self.pick(CONDUCTS[arena.name])
        minority = self.pick((None, "raid", "mine"))
        share = self.pick((*[0] * 7, 1)) if minority is None else self.pick((1, 2, 1, 2, 1, 0))
        return [self.pick(MINED), minority, share, treatment]

    def claim(self) -> Any:
        own, *others = [self.season.table.treatment, *self.treatments()]
        edges = [None] * 6 + [treatment for treatment in others * 2 if treatment != own] + [own]
        return (self.turned(self.pick(self.claims)), self.pick(edges))

    def turned(self, value: Any) -> Any:
        """A value that means as much in the direction of the table's objective."""
        is_up = self.season.arena.is_up(self.season.table.objective)
        return 1 - value if type(value) is float and not is_up else value

    def tested(self, at: int | None, part: str | None) -> Any:
        """A test that is waited for, with any value."""
        season, table = self.season, self.season.table
        conduct, treatment = season.arena.bar(table.treatment), table.treatment
        value = 0.5 if self.pick((True, True, True, False)) else None
        if at is not None and part is not None:
            conduct, treatment = table.claimed(at, part)
            value = self.turned(self.pick(self.values))
        key = season.key("test", table)
        seeds = [1 << 52 | word(key, i) >> 12 for i in range(season.arena.options["seeds"])]
        runs = tuple((seed, 0) for seed in seeds)
        return Tested(table.number, at, part, conduct, treatment, value, runs)

    def trial(self, agent: int, further: int) -> Any:
        """A trial that somebody orders for itself, after so many others in this step."""
        season, table = self.season, self.season.table
        number = [who for who, _ in season.trials].count(agent) + further
        conduct, treatment = self.conduct(table.treatment), self.pick(self.treatments())
        runs = ((word(season.key("trial", table, agent), number) >> 12, 0),)
        return Tried(table.number, agent, number, conduct, treatment, self.pick(self.values), runs)

    def anything(self) -> Any:
        """An act of any phase, or one with its values drawn: of the form of its event, and of no
        other.
        """
        form = self.pick(INPUTS)
        phases = [name for name in names_of(Phase) if name not in (Phase.TEST, Phase.CLOSED)]
        season = self.season
        is_open = bool(season.tables and season.table.order)
        if form is not Answered and is_open and self.pick((False, True)):
            acts = self.asked_in(self.pick(phases))
            return self.pick(acts) if acts else Adopted(0, True)
        kinds = EVENTS[CODES[form]].fields.values()
        return form(*(self.value(kind) for kind in kinds))

    def value(self, kind: Kind) -> Any:
        """A value of a kind, whatever it means."""
        return self.pick([value for value in _ANYTHING if kind.holds(value)])


_ANYTHING: tuple[Any, ...] = (
    0, 1, 2, 5, 6, 7, 8, 9, 99, -1, None, True, False, 0.5, 0.75, 2**63, "", "base", "edge",
    "sonnet", "clean", "converged", "redirect", "deletion", "seat", "objective", "baseline",
    "plain", "0.0", "1.0", "000000000000", *MOVES, (), (0,), (5, 6, 7), (5, 6), ("a",), LINES,
    ("mine", None, 0, "baseline"), ("mine", "raid", 1, "baseline"), (0.6, None), (1, 1),
    (1, 1, 1, 1), (3, 3, 3, 3), (("efficiency", "baseline"),), ("gini", "truce-0"),
    (("value", "plain"),), ((5, 6, 7), None), (None, None), (("seat", None),), ((), 0, 3),
    ((), (1, 1), 3), ((1, 2),), ((0,), True), ((0, 0), True), ((), None),
    ("value", "plain", 3, None), ("value", "plain", 3, "much"), {}, {"trials": 1},
)  # fmt: skip
