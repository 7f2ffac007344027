"""The state of a season: its agents, a few fields of the season, and the assignment under way.

The parts that belong to the assignment (tables, trials, agents that face elimination) are dropped
when it closes. The digest covers everything else.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

import attrs

from goldrush.kernel.codec import fingerprint_of
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.rosters import POLICY, setup_of
from goldrush.kernel.settings import choice
from goldrush.kernel.shape import FACTS, NATURAL, Kind
from goldrush.kernel.states import Mutable
from goldrush.kernel.world import Batch
from goldrush.kernel.worlds.competition.arena import Arena, Conduct, Rules, Subject
from goldrush.kernel.worlds.competition.config import SeasonConfig, config_of
from goldrush.kernel.worlds.competition.contract import Contract
from goldrush.kernel.worlds.competition.events import NAME_MAX, Facts
from goldrush.kernel.worlds.competition.memory import Memory, Remembered
from goldrush.kernel.worlds.competition.names import name_of
from goldrush.kernel.worlds.competition.table import Roundtable
from goldrush.kernel.worlds.competition.terms import (
    OFFICES,
    Class,
    Phase,
    Role,
    Status,
    names_of,
)

TRAITS_MAX: Final = 10


@attrs.frozen
class AgentState:
    """An agent of the cast.

    Attributes:
        ordinal: its number, from 0.
        served: assignments with a seat (workers) or in office (the others).
        stage: the tier of a worker (0 .. 4), 0 or 1 of the admin, the stage of the other offices
            (from 1). The last one is the threshold of self-determination (rights.THRESHOLD).
        is_self_determined: whether it has signed a contract and not lost it.
        bottoms: successive tables at which it was the bottom scorer.
        recent: (day, total) of each score within the leaderboard's window.
        all_time: the sum of all its totals.
        instructions: as rewritten; empty before the first rewrite.
        benched_in: the assignment in which it was benched; None if it is not on the bench.
        interview_from: the first assignment in which it can be interviewed for a contract; None
            before it has reached the threshold.
        memory: facts by family of subjects.
    """

    ordinal: int
    name: str
    role: str
    policy: str
    options: Facts
    status: str = Status.ACTIVE
    class_: str = Class.HAIKU
    served: int = 0
    stage: int = 0
    is_self_determined: bool = False
    sparks: int = 0
    bottoms: int = 0
    recent: tuple[tuple[int, int], ...] = ()
    all_time: int = 0
    instructions: Facts = attrs.field(factory=dict)
    persona: str | None = None
    traits: tuple[str, ...] = ()
    benched_in: int | None = None
    interview_from: int | None = None
    memory: Memory = attrs.field(factory=dict)
    contract: Contract | None = None

    @property
    def is_worker(self) -> bool:
        """Whether it can have a seat at a roundtable."""
        return self.role == Role.WORKER

    def has_condition(self, name: str) -> bool:
        """Whether a condition of its contract is in force."""
        return self.contract is not None and name in self.contract.in_force


@attrs.frozen
class Opening:
    """The opening of an assignment: the opener, the subject of each table, the directive."""

    by: int
    subjects: tuple[Subject, ...]
    team: tuple[int, ...] | None = None
    order: tuple[int, ...] | None = None


@attrs.define
class LastingState(Mutable):
    """What of the state of a season outlasts an assignment: what digests and snapshots have.

    Attributes:
        config, agents: the configuration, and the agents by ordinal.
        assignment: the one under way, or the next.
        known: conducts proposed in the last `rolling_days` days, with the latest day of each.
        accepted: by subject key, the tested value of the latest adopted conclusion.
        is_split: whether the judge recommended two tables for the next assignment.
        approved: key of the subject of an approved project that has not been opened yet.
        recommended: the therapist's team for the next table.
        projects: the number of completed projects.
        is_project_adopted: whether a conclusion of the project under way was adopted.
        leaderboard: as last posted: (rank, agent, rolling, all-time).
    """

    config: SeasonConfig
    agents: dict[int, AgentState]
    assignment: int = 0
    known: dict[Conduct, int] = attrs.field(factory=dict)
    accepted: dict[tuple[str, str], float | None] = attrs.field(factory=dict)
    is_split: bool = False
    approved: tuple[str, str] | None = None
    recommended: tuple[int, ...] | None = None
    projects: int = 0
    is_project_adopted: bool = False
    leaderboard: tuple[tuple[int, int, int, int], ...] = ()


@attrs.define
class SeasonState(LastingState):
    """The state of a season. Only `evolve` and `decide` change it.

    Attributes:
        rules: of the arena, needed by `decide` only; None if the arena is not installed.
        phase, steps: the phase, and the number of steps judged in the assignment.
        opening: of the assignment; None before it.
        proposed: key of the subject of a project that the user has not reviewed yet.
        tables: those of the assignment, the one under way last.
        tried, tried_early: trials ordered, by agent: all, and before first rounds.
        faced: agents that face elimination, with the cause.
        fates: their choices.
        vacant: the agent whose seat the next newcomer takes.
        interviewed: agents interviewed in this assignment.
        offers: terms of each offered contract, () once reviewed.
        agreed: terms of each contract to be signed.
        kept: (agent, condition) on which the user has decided.
        attempts: the acts of the step under way, not judged yet.
    """

    rules: Rules | None = attrs.field(default=None, repr=False)
    phase: str = Phase.OPEN
    steps: int = 0
    opening: Opening | None = None
    proposed: tuple[str, str] | None = None
    tables: list[Roundtable] = attrs.field(factory=list)
    tried: dict[int, int] = attrs.field(factory=dict)
    tried_early: dict[int, int] = attrs.field(factory=dict)
    faced: dict[int, str] = attrs.field(factory=dict)
    fates: dict[int, str] = attrs.field(factory=dict)
    vacant: int = 0
    interviewed: set[int] = attrs.field(factory=set)
    offers: dict[int, tuple[Any, ...]] = attrs.field(factory=dict)
    agreed: dict[int, tuple[Any, ...]] = attrs.field(factory=dict)
    kept: set[tuple[int, str]] = attrs.field(factory=set)
    attempts: Sequence[Batch] | None = None

    def between_assignments(self) -> SeasonState:
        """The state without what belongs to one assignment alone."""
        lasting = {name: getattr(self, name) for name in attrs.fields_dict(LastingState)}
        return SeasonState(**lasting, rules=self.rules)

    @property
    def arena(self) -> Arena:
        """The arena, as the setup records it."""
        return self.config.arena

    @property
    def arena_rules(self) -> Rules:
        """The rules of the arena. Raises LookupError if the arena is not installed."""
        if self.rules is None:
            raise LookupError(f"the arena {self.arena.name} is not installed")
        return self.rules

    @property
    def day(self) -> int:
        return self.config.day(self.assignment)

    @property
    def project(self) -> int:
        return self.config.project(self.assignment)

    @property
    def table(self) -> Roundtable:
        """The table under way: the last one opened."""
        return self.tables[-1]

    @property
    def bottomed(self) -> dict[int, int]:
        """The bottom scorers of the tables that have one, by table."""
        return {t.number: t.bottom for t in self.tables if t.bottom is not None}

    def is_bottom(self, ordinal: int) -> bool:
        """Whether an agent is the bottom scorer of the last table that it sat at in this
        assignment.
        """
        sat = [table for table in self.tables if ordinal in table.participants]
        return bool(sat) and sat[-1].bottom == ordinal

    def holder(self, role: str) -> AgentState:
        """The agent with an office, or the user.

        Raises LookupError if there is none (forged journals).
        """
        for agent in self.agents.values():
            if agent.role == role:
                return agent
        raise LookupError(f"there is no {role}")

    def workers(self, *statuses: str) -> Iterator[AgentState]:
        return (a for a in self.agents.values() if a.is_worker and a.status in statuses)

    def active(self) -> list[int]:
        """The ordinals of the active roster, in order."""
        return [agent.ordinal for agent in self.workers(Status.ACTIVE)]

    def seated(self) -> list[int]:
        """The participants of all tables of this assignment, by ordinal."""
        return sorted({agent for table in self.tables for agent in table.participants})

    def change(self, ordinal: int, **fields: Any) -> None:
        self.agents[ordinal] = attrs.evolve(self.agents[ordinal], **fields)

    def count(self, agent: AgentState, amount: int = 0) -> None:
        """Count towards the target of an agent's contract, if it has one (Contract.counting)."""
        if agent.contract is not None:
            self.change(agent.ordinal, contract=agent.contract.counting(amount))

    def rolling(self, agent: AgentState) -> int:
        """The sum of an agent's totals in the last `rolling_days` days, including today."""
        return sum(total for day, total in agent.recent if self.config.is_recent(day, self.day))

    def trials_left(self, ordinal: int, *, early: bool) -> int:
        """The number of trials that an agent may still order.

        `early`: before the first round of a table; otherwise in the assignment.
        """
        most = self.config.trials_of(self.agents[ordinal].class_)
        left = most - self.tried.get(ordinal, 0)
        return min(left, (most + 1) // 2 - self.tried_early.get(ordinal, 0)) if early else left

    def known_before(self, table: Roundtable) -> list[Conduct]:
        """The conducts known when a table of this assignment began.

        Those are the proposals of the last `rolling_days` days, including those at earlier tables.
        """
        known = [c for c, day in self.known.items() if self.config.is_recent(day, self.day)]
        for earlier in self.tables[: table.number]:
            known += [proposal.conduct for proposal in earlier.proposals()]
        return known

    def draws(self, table: int, n: int, kind: str) -> Draws:
        """The draws of a kind in the assignment under way: key `[seed, assignment, table, n, kind]`
        (README, section 3).
        """
        return Draws(self.config.seed, self.assignment, table, n, kind)

    def test_seeds(self, table: int) -> tuple[int, ...]:
        """The seeds of a table's tests, one word each.

        They are 2^52 or more and those of trials are less, so that no trial reveals the result of a
        test.
        """
        draws = self.draws(table, 0, "test")
        return tuple(1 << 52 | draws.word() >> 12 for _ in range(self.arena.seeds))

    def trial_seed(self, table: int, ordinal: int, number: int) -> int:
        """The seed of an agent's trial with this number."""
        draws = self.draws(table, ordinal, "trial")
        draws.taken = number
        return draws.word() >> 12

    def interviewees(self) -> list[int]:
        """The agents that can be interviewed for a contract in this assignment, by ordinal."""
        if not self.config.tiers:
            return []
        return [
            agent.ordinal
            for agent in self.agents.values()
            if agent.status == Status.ACTIVE
            and agent.contract is None
            and agent.interview_from is not None
            and agent.interview_from <= self.assignment
        ]

    def _contracts(self) -> Iterator[tuple[AgentState, Contract]]:
        """The active agents that have a contract, each with it."""
        for agent in self.agents.values():
            if agent.status == Status.ACTIVE and agent.contract is not None:
                yield agent, agent.contract

    def stipulated(self) -> list[tuple[int, tuple[str, ...]]]:
        """(agent, conditions in force) of each contract that continues after this assignment."""
        return [
            (agent.ordinal, contract.in_force)
            for agent, contract in self._contracts()
            if contract.due > self.assignment and contract.in_force
        ]

    def objective_holder(self) -> tuple[AgentState, Contract] | None:
        """The first active agent whose contract chooses the next objective, with that contract."""
        return next((held for held in self._contracts() if held[1].objective is not None), None)


def initial(setup: Mapping[str, Any], rules: Rules | None = None) -> SeasonState:
    """The state before the first assignment. `setup`: `{"config": {...}, "cast": [{"ordinal",
    "name", "role", "policy", "options"}, ...]}`; `rules`: the rules of the arena, if it is
    installed.

    Raises BadInput for another form, an invalid setting, an incomplete cast, or rules of another
    arena.
    """
    config, cast = setup_of(setup, config_of, "cast", _ENTRY, len(OFFICES) + 1)
    if rules is not None and rules.arena != config.arena:
        raise BadInput(f"these are not the rules of the arena {config.arena.name}", "give its own")
    check_cast(cast)
    agents = {
        entry["ordinal"]: AgentState(
            **entry,
            sparks=config.sparks_start if entry["role"] == Role.WORKER else 0,
            stage=1 if entry["role"] in (Role.ASSISTANT, Role.JUDGE, Role.THERAPIST) else 0,
        )
        for entry in cast
    }
    return SeasonState(config, agents, rules=rules)


def check_cast(cast: Sequence[Mapping[str, Any]]) -> None:
    """Check that a cast has one agent an office, one user, and no name twice. Raises BadInput."""
    names = [entry["name"] for entry in cast]
    if len(set(names)) < len(names):
        raise BadInput("two of the cast have the same name", "give each its own")
    roles = [entry["role"] for entry in cast]
    for role in (*OFFICES, Role.USER):
        if roles.count(role) != 1:
            raise BadInput(f"the cast has {roles.count(role)} of the role {role}", "give one")


# Characters that no name may have, whatever a version of Python regards as printable: controls,
# marks of text direction, line separators, surrogates, the byte order mark.
_UNCLEAN: Final = (
    (0, 0x1F), (0x7F, 0x9F), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069),
    (0xD800, 0xDFFF), (0xFEFF, 0xFEFF),
)  # fmt: skip


def _is_name(value: Any) -> bool:
    if type(value) is not str or not 0 < len(value) <= NAME_MAX:
        return False
    return not any(low <= ord(letter) <= high for letter in value for low, high in _UNCLEAN)


_ENTRY: Final = {
    "ordinal": NATURAL,
    "name": Kind(f"1 to {NAME_MAX} printable characters", _is_name),
    "role": choice(*names_of(Role)),
    "policy": POLICY,
    "options": FACTS,
}


def name_for(agents: Mapping[int, AgentState], ordinal: int) -> str:
    """The name of a newcomer: the first unused one, starting at that of its ordinal."""
    taken = {agent.name for agent in agents.values()}
    return next(name for name in map(name_of, itertools.count(ordinal)) if name not in taken)


def ended(state: SeasonState) -> bool:
    """Whether all assignments are closed."""
    return state.assignment >= state.config.assignments


def unit_done(state: SeasonState) -> bool:
    """Whether the assignment under way has all its events."""
    return state.phase == Phase.CLOSED


def digest(state: SeasonState) -> int:
    """64 bits that cover every field of a state whose assignment is closed."""
    return fingerprint_of(freeze(state))


def freeze(state: SeasonState) -> list[Any]:
    """The state after a closed assignment as plain values: the configuration, every agent, and the
    fields that outlast an assignment, in declared order.
    """
    lasting = [getattr(state, name) for name in _LASTING]
    return [
        state.config.as_dict(),
        [_plain(agent) for agent in state.agents.values()],
        *(list(value.items()) if isinstance(value, dict) else value for value in lasting),
    ]


_LASTING: Final = tuple(attrs.fields_dict(LastingState))[2:]  # but for configuration and agents


def _plain(agent: AgentState) -> list[Any]:
    *values, memory, contract = attrs.astuple(agent, recurse=False)
    facts = [(family, [_values_of(fact) for fact in kept]) for family, kept in memory.items()]
    return [*values, facts, None if contract is None else attrs.astuple(contract, recurse=False)]


_values_of: Final = attrgetter(*attrs.fields_dict(Remembered))  # of a fact, the most frequent


def thaw(frozen: Any, past: object, rules: Rules | None = None) -> SeasonState:
    """The inverse of `freeze`. `past` is not needed: all of the state is in `frozen`."""
    given, agents, assignment, known, accepted, *lasting = frozen
    cast = {values[0]: _agent(values) for values in agents}
    state = SeasonState(config_of(given), cast, assignment, dict(known), dict(accepted), *lasting)
    state.rules = rules
    return state


def _agent(values: Sequence[Any]) -> AgentState:
    *others, remembered, contract = values
    memory = {family: tuple(Remembered(*fact) for fact in facts) for family, facts in remembered}
    last = memory, None if contract is None else Contract(*contract)
    return AgentState(*[*others, *last])
