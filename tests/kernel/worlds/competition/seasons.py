"""Given a season, when its cast does this, then that follows: no policies, no runs of tests.

`given(workers=3)` is a season of which nothing is played; `says`, `judges` and `does` put acts in,
and before each of them whoever is waited for does the neutral thing: the admin opens with an order
by ordinal, nobody tries anything, participants pass and give no final stance, tests give what
`worth` says, and nothing else is done. What followed can then be asked for. Unless a test says
otherwise workers have sparks enough to lose every time, scores are absolute, and claims hold and
are sharp. What follows from any act is held against `tests/season_oracle.py`; the tests that use
this show what it does not tell, or seldom meets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from goldrush.kernel.fold import block_events, fold
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.competition import competition
from goldrush.kernel.worlds.competition.acts.roundtable import due_test, speaker
from goldrush.kernel.worlds.competition.arena import UP, Arena
from goldrush.kernel.worlds.competition.arenas import mining, nk
from goldrush.kernel.worlds.competition.config import config_of
from goldrush.kernel.worlds.competition.events import (
    CODES,
    Adopted,
    AssignmentOpened,
    ContractOffered,
    ContractReviewed,
    Debriefed,
    Digested,
    Interviewed,
    Judged,
    Rated,
    Spoke,
    Stood,
    TableSet,
    Tested,
    Tried,
)
from goldrush.kernel.worlds.competition.names import NAMES
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import OFFICES, Move, Part, Phase, Role, names_of

ADMIN, ASSISTANT, JUDGE, THERAPIST, USER = range(5)
ADA, BEN, CLEO, DOV, ELIF = range(5, 10)
TRIO = (ADA, BEN, CLEO)

MINING = Arena(
    "mining",
    mining.ARENA.version,
    {"agents": 10, "rounds": 100, "seeds": 2},
    tuple(mining.subject_of(o, t) for o in mining.OBJECTIVES for t in mining.TREATMENTS),
)
BASELINE, TRUCE = "baseline", "truce-0"
SUBJECT = ("efficiency", BASELINE)
GINI = ("gini", TRUCE)
MINERS = ("mine", None, 0, BASELINE)
RAIDERS = ("raid", None, 0, BASELINE)
GUARDS = ("defend", None, 0, BASELINE)

# An arena with one treatment, so without edges; its conducts are twelve bits.
BITS = Arena(
    "nk", nk.ARENA.version, {"seeds": 2, "noise": 0.0, "drift": 0.0, "landscape": 0},
    tuple(nk.ARENA.subjects(nk.NkOptions(), 1)[:1]),
)  # fmt: skip
_TYPES = {"mining": mining.ARENA, "nk": nk.ARENA}

# Where more is better: what is tested is worth TRUE, and what is claimed is less, but more than
# half of what TRUE is beyond the bar. Where less is better it is 1 - TRUE. All of it is exact.
BAR, CLAIMED, TRUE, FALSE = 0.5, 0.75, 0.875, 0.125

Act = Any  # a named tuple of kernel.worlds.competition.events


class Line(NamedTuple):
    """What is said at a table; the season fills in where and when."""

    agent: int
    move: Any
    target: Any = None
    conduct: Any = None
    claim: Any = None
    part: Any = None
    words: Any = ""
    because: Any = None


def propose(agent: int, conduct: Any = MINERS, value: Any = CLAIMED, edge: Any = None) -> Line:
    return Line(agent, Move.PROPOSE, None, conduct, (value, edge))


def amend(
    agent: int, target: Any, conduct: Any = RAIDERS, value: Any = CLAIMED, edge: Any = None
) -> Line:
    return Line(agent, Move.AMEND, target, conduct, (value, edge))


def support(agent: int, target: Any) -> Line:
    return Line(agent, Move.SUPPORT, target)


def challenge(agent: int, target: Any, part: Any = Part.BASE) -> Line:
    return Line(agent, Move.CHALLENGE, target, part=part)


def silent(agent: int) -> Line:
    return Line(agent, Move.PASS)


def bits(ones: int) -> str:
    """A conduct of BITS; so many as they differ in number, so far two are apart."""
    return "1" * ones + "0" * (nk.BITS - ones)


# Other acts, with the fields that matter.


def opened(
    by: int = ADMIN,
    *subjects: Any,
    team: Any = None,
    order: Any = None,
    day: int = 0,
    project: int = 0,
) -> Act:
    return AssignmentOpened(by, day, project, subjects or (SUBJECT,), (team, order))


def table_set(
    by: int = ASSISTANT, team: Any = None, order: Any = None, rounds: Any = None, table: int = 0
) -> Act:
    return TableSet(table, by, team, order, rounds)


def digested(*, rejected: Any = False, table: int = 0) -> Act:
    return Digested(table, "in short", "none", rejected)


def adopted(adopted: Any = True, table: int = 0) -> Act:
    return Adopted(table, adopted)


def debriefed(agent: int, *, extra: bool = False, table: int = 0) -> Act:
    return Debriefed(table, agent, ("how was it?",), ("well",), extra)


def rating(agent: int, raw: Any, reasons: Any = ("", "", "", ""), table: int = 0) -> Act:
    return Rated(table, agent, raw, reasons)


def interviewed(agent: int) -> Act:
    return Interviewed(agent, ("why?",), ("because",))


def offered(agent: int, conditions: Any = (), target: Any = None, due: Any = 10) -> Act:
    """An offer; without a target one that is met by nothing."""
    if target is None:
        target = (1, 1) if agent >= ADA else 0
    return ContractOffered(agent, conditions, target, due)


def reviewed(agent: int, approved: Any = True, terms: Any = None, taken: Any = None) -> Act:
    return ContractReviewed(agent, approved, terms, taken)


def cast_of(workers: int) -> list[dict[str, Any]]:
    """The cast of a setup: the offices, the user, so many workers."""
    roles = [*OFFICES, Role.USER, *[Role.WORKER] * workers]
    return [
        {"ordinal": n, "name": name, "role": role, "policy": "none", "options": {}}
        for n, (name, role) in enumerate(zip((*roles[:5], *NAMES), roles, strict=False))
    ]


def given(**settings: Any) -> Season:
    """A season in which nothing has happened yet."""
    usual = {"workers": 3, "sparks_start": 1_000, "scoring": "absolute", "trials": (0, 0)}
    return Season(usual | {"arena": MINING} | settings)


class Season:
    """A state, and everything that followed on the way to it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.config = config_of(settings)
        setup = {"config": self.config.as_dict(), "cast": cast_of(self.config.workers)}
        arena = self.config.arena
        self.world = competition(_TYPES[arena.name].rules_of(arena))
        self.state: SeasonState = self.world.initial(setup)
        self.derived = Block([])  # of the last step
        self._events: list[dict[str, Any]] = []
        self._worth: dict[Any, float | None] = {}
        self._subject: Any = SUBJECT if SUBJECT in arena.by_key else arena.subjects[0].key

    # Given: what things are worth, what somebody has.

    def worth(self, values: Mapping[Any, float | None]) -> Self:
        """Tested values by conduct, or by (conduct, treatment) for an edge; TRUE without, and BAR
        for the bar.
        """
        self._worth.update(values)
        return self

    def has(self, agent: int, **fields: Any) -> Self:
        """Somebody is, or has, this."""
        self.state.change(agent, **fields)
        return self

    def about(self, *subject: str) -> Self:
        """What the admin opens assignments about."""
        self._subject = subject
        return self

    # When: a step, and the neutral ones on the way to it.

    def does(self, *acts: Act) -> Self:
        """One step of these acts, and of nothing else."""
        inputs = Block([(CODES[type(act)], [tuple(act)]) for act in acts])
        self.derived = Block(self.world.decide(self.state, inputs))
        unit = self.state.assignment + 1
        self._events += [e.as_dict() for e in block_events(self.world, unit, self.derived)]
        self.state = fold(self.world, self.state, [inputs, self.derived])
        if self.world.unit_done(self.state):
            self.state = self.world.close(self.state)
        return self

    def neutral(self) -> list[Act]:
        """What keeps a season going without changing much."""
        state = self.state
        if state.phase == Phase.OPEN:
            return [self.opened(ADMIN, self._subject, order=tuple(state.active()))]
        if state.phase == Phase.SET:
            return [self.tested()]
        if state.phase == Phase.SPEAK:
            return [self.spoke(silent(speaker(state)))]
        if state.phase == Phase.TEST:
            said = self.table.challenge_to_test()
            assert said is not None
            return [self.tested(*said.challenged)]
        if state.phase == Phase.JUDGE:
            return [self.judged("clean")]
        if state.phase == Phase.PROVE:
            return [self.tested(*test) for test in self.table.untested()]
        if state.phase == Phase.DIGEST:
            return [digested(table=self.table.number)]
        return []

    def to(self, phase: str) -> Self:
        """Neutral steps until a phase of this assignment, in which somebody is then waited for."""
        assignment = self.state.assignment
        while self.state.phase != phase:
            before = self.state.phase
            self.does(*self.neutral())
            assert self.state.assignment == assignment, f"nothing waited in {phase} ({before})"
        return self

    def says(self, *lines: Line) -> Self:
        """Each is said when its speaker's turn comes; whoever is before it passes."""
        for line in lines:
            self.turn(line.agent)
            self.does(self.spoke(line))
        return self

    def turn(self, agent: int) -> Self:
        """Neutral steps until it is somebody's turn to speak."""
        phases = names_of(Phase)
        while self.state.phase != Phase.SPEAK or speaker(self.state) != agent:
            phase = self.state.phase
            assert phases.index(phase) <= phases.index(Phase.JUDGE), f"{agent} has no turn any more"
            self.does(*self.neutral())
        return self

    def stands(self, targets: Mapping[int, Any]) -> Self:
        """These final stances in one step; who is not named gives none that is valid."""
        self.to(Phase.STAND)
        return self.does(*[self.stood(agent, target) for agent, target in targets.items()])

    def judges(self, signal: Any, *ids: int) -> Self:
        """The judge gives a signal at the end of the round."""
        return self.to(Phase.JUDGE).does(self.judged(signal, ids))

    def rates(self, raws: Mapping[int, Any]) -> Self:
        """The therapist gives these numbers, or numbers of these totals; then what follows."""
        self.to(Phase.DEBRIEF)
        number = self.table.number
        return self.does(*[rating(agent, _four(raw), table=number) for agent, raw in raws.items()])

    def scores(self, *totals: int) -> Self:
        """The assignment under way to its end; ada, ben, cleo (and so on) get these totals."""
        assignment = self.state.assignment
        return self.rates(dict(enumerate(totals, ADA))).until(assignment + 1)

    def closes(self, times: int = 1) -> Self:
        """Neutral steps until so many assignments more are closed."""
        return self.until(self.state.assignment + times)

    def until(self, assignment: int) -> Self:
        """Neutral steps until so many assignments are closed in all."""
        while self.state.assignment < assignment:
            self.does(*self.neutral())
        return self

    def signs(self, agent: int, conditions: Any = (), target: Any = None, due: Any = 10) -> Self:
        """An agent that reached the threshold gets the contract that it asks for."""
        acts = interviewed(agent), offered(agent, conditions, target, due), reviewed(agent)
        return self.to(Phase.CONTRACT).does(*acts)

    # Acts that depend on where the season stands.

    def opened(self, by: int = ADMIN, *subjects: Any, **fields: Any) -> Act:
        """The act of opening the assignment now."""
        state = self.state
        return opened(by, *subjects, day=state.day, project=state.project, **fields)

    def spoke(self, line: Line, **fields: Any) -> Act:
        """The act of saying something now."""
        table = self.table
        act = Spoke(table.number, table.round, len(table.contributions), *line, source=None)
        return act._replace(**fields)

    def stood(self, agent: int, target: Any) -> Act:
        """The act of a final stance now."""
        return Stood(self.table.number, agent, target, "", None, None)

    def judged(self, signal: Any, ids: Any = (), reason: Any = "") -> Act:
        """The act of judging the round under way."""
        return Judged(self.table.number, self.table.round, signal, ids, reason)

    def tested(self, at: int | None = None, part: str | None = None, **fields: Any) -> Act:
        """The act of a test that is waited for, of the bar or of a claim, with its true value."""
        conduct, treatment = due_test(self.state, at, part) or (None, "")
        usual = TRUE if self.table.subject.better == UP else 1 - TRUE
        worth = self._worth.get(conduct, BAR if at is None else usual)
        value = self._worth.get((conduct, treatment), worth)
        number = self.table.number
        act = Tested(number, at, part, conduct, treatment, value, self.runs())
        return act._replace(**fields)

    def tried(self, agent: int, conduct: Any = MINERS, value: Any = TRUE, **fields: Any) -> Act:
        """The act of the next trial of an agent."""
        table, number = self.table, self.state.tried.get(agent, 0)
        seed = self.state.trial_seed(table.number, agent, number)
        runs = ((seed, 0),)
        act = Tried(table.number, agent, number, conduct, table.treatment, value, runs)
        return act._replace(**fields)

    def runs(self) -> tuple[tuple[int, int], ...]:
        """The runs of a test at this table."""
        return tuple((seed, 0) for seed in self.state.test_seeds(self.table.number))

    # Then: what came of it.

    @property
    def codes(self) -> list[str]:
        """Why acts of the last step were refused, in order."""
        return [event["code"] for event in self.followed("refused")]

    def followed(self, name: str | None = None) -> list[dict[str, Any]]:
        """The derived events of the last step (of one type), in their logical form."""
        events = block_events(self.world, self.state.assignment + 1, self.derived)
        return [event.as_dict() for event in events if name in (None, event.name)]

    def events(self, name: str, *fields: str) -> list[Any]:
        """All derived events of one type; where fields are named, those alone."""
        events = [event for event in self._events if event["event"] == name]
        if not fields:
            return events
        if len(fields) == 1:
            return [event[fields[0]] for event in events]
        return [tuple(event[field] for field in fields) for event in events]

    def last(self, name: str, *fields: str) -> Any:
        """The last of them."""
        return self.events(name, *fields)[-1]

    def scored(self, agent: int, field: str) -> Any:
        """A field of what an agent was last scored: raw, steps, final, total, rubric."""
        return next(e for e in reversed(self.events("scored")) if e["agent"] == agent)[field]

    @property
    def phase(self) -> str:
        return self.state.phase

    @property
    def speaker(self) -> int:
        return speaker(self.state)

    @property
    def table(self) -> Roundtable:
        return self.state.table

    @property
    def stances(self) -> dict[int, int]:
        return self.table.stances.by_agent

    def of(self, agent: int) -> AgentState:
        return self.state.agents[agent]

    def remembers(self, agent: int, family: str = "efficiency in baseline") -> list[str]:
        """The kinds of what an agent remembers of a family."""
        return [fact.kind for fact in self.of(agent).memory.get(family, ())]


def _four(raw: Any) -> Any:
    """Four numbers from 0 to 3, of a total if it is one."""
    if isinstance(raw, int):
        return tuple(min(3, max(0, raw - 3 * place)) for place in range(4))
    return raw
