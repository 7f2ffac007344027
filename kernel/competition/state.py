"""The state of a season: who there is, what they hold, and how far the assignment has come.

What belongs to the assignment under way (its tables, who faces what) is gone when it closes; what
lasts stands in the agents and in a few fields of the season. The digest covers all that lasts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import attrs

from goldrush.kernel.codec import fingerprint_of
from goldrush.kernel.competition.conduct import Conduct, Subject
from goldrush.kernel.competition.config import HAIKU, SeasonConfig, config_of
from goldrush.kernel.competition.contract import Contract
from goldrush.kernel.competition.events import NAME_MAX
from goldrush.kernel.competition.names import name_of
from goldrush.kernel.competition.table import Table
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.world import FACTS, Batch

WORKER, USER = "worker", "user"
ADMIN, ASSISTANT, JUDGE, THERAPIST = OFFICES = ("admin", "assistant", "judge", "therapist")
ROLES: Final = (*OFFICES, USER, WORKER)
ACTIVE, BENCHED, GONE = STATUSES = ("active", "benched", "gone")

# The phases of an assignment. In each the state waits for an act, or for several at once.
(OPEN, SET, SPEAK, TEST, JUDGED, PROVE, DIGEST, ADOPT, DEBRIEF, IMPROVE, FATE, CONTRACT, KEEP,
 CLOSED) = PHASES = (
    "open", "set", "speak", "test", "judge", "prove", "digest", "adopt", "debrief", "improve",
    "fate", "contract", "keep", "closed",
)  # fmt: skip

MEMORY_MAX: Final = 40  # what an agent remembers; the oldest is forgotten
TRAITS_MAX: Final = 10

Facts = Mapping[str, Any]


@attrs.frozen
class Agent:
    """One of the cast, as it is now.

    `served`: assignments sat at or served in. `stage`: the tier of a worker (0 .. 4), the stage of
    the others (from 1; of the admin 0 or 1); the last is the threshold of self-determination.
    `is_self_determined`: whether its contract gives it that. `bottoms`: in a row. `recent`: (day,
    total) within the leaderboard's window. `instructions`: what a rewrite put in place of what its
    policy starts from; `memory`: what it can look back on, oldest first. `benched_in`: the
    assignment in which it was benched. `interview_from`: the assignment from which on it is
    interviewed.
    """

    ordinal: int
    name: str
    role: str
    policy: str
    options: Facts
    status: str = ACTIVE
    class_: str = HAIKU
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
    memory: tuple[Facts, ...] = ()
    benched_in: int | None = None
    interview_from: int | None = None
    contract: Contract | None = None

    @property
    def is_worker(self) -> bool:
        """Whether it can sit at a roundtable."""
        return self.role == WORKER

    def has_condition(self, name: str) -> bool:
        """Whether a condition of its contract is in force."""
        return self.contract is not None and name in self.contract.in_force


@attrs.frozen
class Opening:
    """How an assignment was opened: by whom, what each table is about, and the directive."""

    by: int
    subjects: tuple[Subject, ...]
    team: tuple[int, ...] | None = None
    order: tuple[int, ...] | None = None


@attrs.define
class SeasonState:
    """A season after so many events. Treat it as read-only: events change it, nothing else.

    `assignment`: the one under way, or the next. `known`: conducts proposed within the window, with
    the day on which each was proposed last. `is_split`: the judge recommended two tables;
    `approved`: the subject of a project that the user approved; `recommended`: the therapist's
    next team; `is_project_adopted`: a conclusion of the project was adopted. `steps`: those of the
    assignment so far; `vacant`: whose seat a newcomer takes. `attempts`: acts not judged yet.
    """

    config: SeasonConfig
    agents: dict[int, Agent]
    assignment: int = 0
    known: dict[Conduct, int] = attrs.field(factory=dict)
    is_split: bool = False
    approved: Subject | None = None
    recommended: tuple[int, ...] | None = None
    projects: int = 0
    is_project_adopted: bool = False
    leaderboard: tuple[tuple[int, int, int, int], ...] = ()
    # Of the assignment under way alone:
    phase: str = OPEN
    steps: int = 0
    opening: Opening | None = None
    proposed: Subject | None = None
    tables: list[Table] = attrs.field(factory=list)
    faced: dict[int, str] = attrs.field(factory=dict)  # agent -> cause
    fates: dict[int, str] = attrs.field(factory=dict)
    vacant: int = 0
    interviewed: set[int] = attrs.field(factory=set)
    offers: dict[int, tuple[Any, ...]] = attrs.field(factory=dict)  # agent -> terms
    agreed: dict[int, tuple[Any, ...]] = attrs.field(factory=dict)
    kept: set[tuple[int, str]] = attrs.field(factory=set)  # conditions that there was a word on
    attempts: Sequence[Batch] | None = None

    @property
    def day(self) -> int:
        """The day of the assignment under way."""
        return self.config.day(self.assignment)

    @property
    def project(self) -> int:
        """Its project."""
        return self.config.project(self.assignment)

    @property
    def table(self) -> Table:
        """The table under way: the last one that was opened."""
        return self.tables[-1]

    @property
    def bottomed(self) -> dict[int, int]:
        """The bottom scorers of the tables that have one, by table."""
        return {t.number: t.bottom for t in self.tables if t.bottom is not None}

    def holder(self, role: str) -> Agent:
        """Who holds an office, or the user. Raises LookupError where forged events left nobody."""
        for agent in self.agents.values():
            if agent.role == role:
                return agent
        raise LookupError(f"there is no {role}")

    def workers(self, *statuses: str) -> Iterator[Agent]:
        """The workers with these statuses, in order."""
        return (a for a in self.agents.values() if a.is_worker and a.status in statuses)

    def active(self) -> list[int]:
        """The ordinals of the active roster, in order."""
        return [agent.ordinal for agent in self.workers(ACTIVE)]

    def seated(self) -> list[int]:
        """Who sat at a table of this assignment, in order."""
        return sorted({agent for table in self.tables for agent in table.participants})

    def change(self, ordinal: int, **fields: Any) -> None:
        """Put a changed agent in the place of one."""
        self.agents[ordinal] = attrs.evolve(self.agents[ordinal], **fields)

    def rolling(self, agent: Agent) -> int:
        """The sum of an agent's totals in the last `rolling_days` days, today counted."""
        return sum(total for day, total in agent.recent if self.config.is_recent(day, self.day))

    def known_before(self, table: Table) -> list[Conduct]:
        """The conducts that were known when a table of this assignment began: those proposed in the
        last `rolling_days` days, at the tables before it included.
        """
        known = [c for c, day in self.known.items() if self.config.is_recent(day, self.day)]
        for earlier in self.tables[: table.number]:
            known += [said.conduct for said in earlier.proposals() if said.conduct]
        return known

    def draws(self, table: int, n: int, kind: str) -> Draws:
        """The draws of a kind in the assignment under way: key `[seed, assignment, table, n, kind]`
        (README, section 3).
        """
        return Draws(self.config.seed, self.assignment, table, n, kind)

    def interviewees(self) -> list[int]:
        """Who is interviewed for a contract in this assignment, in order."""
        return [
            agent.ordinal
            for agent in self.agents.values()
            if agent.status == ACTIVE
            and agent.contract is None
            and agent.interview_from is not None
            and agent.interview_from <= self.assignment
        ]

    def stipulated(self) -> list[tuple[int, tuple[str, ...]]]:
        """Whose contract goes on after this assignment, and its conditions in force."""
        return [
            (agent.ordinal, agent.contract.in_force)
            for agent in self.agents.values()
            if agent.status == ACTIVE
            and agent.contract is not None
            and agent.contract.due > self.assignment
            and agent.contract.in_force
        ]


def initial(setup: Mapping[str, Any]) -> SeasonState:
    """The state before the first assignment.

    `setup` is `{"config": {...}, "cast": [{"ordinal", "name", "role", "policy", "options"}, ...]}`.
    Raises BadInput for another form, a setting out of range and a cast that is not whole.
    """
    if list(setup) != ["config", "cast"]:
        raise BadInput(f"a season's setup has {', '.join(map(str, setup))}", "give config and cast")
    config = config_of(setup["config"])
    if list(setup["config"]) != list(config.as_dict()):
        raise BadInput("the configuration is not whole or not in order", "give every setting")
    cast = setup["cast"]
    check_cast(cast, config)
    agents = {
        entry["ordinal"]: Agent(
            ordinal=entry["ordinal"],
            name=entry["name"],
            role=entry["role"],
            policy=entry["policy"],
            options=entry["options"],
            sparks=config.sparks_start if entry["role"] == WORKER else 0,
            stage=1 if entry["role"] in (ASSISTANT, JUDGE, THERAPIST) else 0,
        )
        for entry in cast
    }
    return SeasonState(config, agents)


def check_cast(cast: Any, config: SeasonConfig) -> None:
    """Raises BadInput unless everybody is there: the offices, the user, and W workers."""
    if not isinstance(cast, (list, tuple)):
        raise BadInput(f"the cast is {shown(cast)}", "give a list")
    for place, entry in enumerate(cast):
        if not isinstance(entry, dict) or list(entry) != _ENTRY:
            raise BadInput(f"entry {place} of the cast is {shown(entry)}", f"give {_ENTRY}")
        is_right = (
            type(entry["ordinal"]) is int
            and entry["ordinal"] == place
            and type(entry["policy"]) is str
            and FACTS.holds(entry["options"])
        )
        if not is_right:
            raise BadInput(f"entry {place} of the cast is {shown(entry)}", "give ordinals in order")
        if entry["role"] not in ROLES:
            raise BadInput(f"{shown(entry['role'])} is no role", f"take one of {', '.join(ROLES)}")
        name = entry["name"]
        if type(name) is not str or not 0 < len(name) <= NAME_MAX or not _is_clean(name):
            raise BadInput(
                f"{shown(name)} is no name", f"give 1 to {NAME_MAX} printable characters"
            )
    names = [entry["name"] for entry in cast]
    if len(set(names)) < len(names):
        raise BadInput("two of the cast have one name", "give each its own")
    roles = [entry["role"] for entry in cast]
    for role in (*OFFICES, USER):
        if roles.count(role) != 1:
            raise BadInput(f"the cast has {roles.count(role)} of the role {role}", "give one")
    if roles.count(WORKER) != config.workers:
        raise BadInput(
            f"the cast has {roles.count(WORKER)} workers", f"the season has {config.workers}"
        )


# What no name may hold, whatever a version of Python calls printable: controls, what turns the
# direction of writing, separators of lines, surrogates, the mark of byte order.
_UNCLEAN: Final = (
    (0, 0x1F), (0x7F, 0x9F), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069),
    (0xD800, 0xDFFF), (0xFEFF, 0xFEFF),
)  # fmt: skip


def _is_clean(name: str) -> bool:
    return not any(low <= ord(letter) <= high for letter in name for low, high in _UNCLEAN)


_ENTRY: Final = ["ordinal", "name", "role", "policy", "options"]


def name_for(agents: Mapping[int, Agent], ordinal: int) -> str:
    """The name of a newcomer: one that nobody has had."""
    taken = {agent.name for agent in agents.values()}
    return next(
        name for attempt in itertools.count() if (name := name_of(ordinal, attempt)) not in taken
    )


def copied(state: SeasonState) -> SeasonState:
    """A state that shares nothing that changes."""
    return attrs.evolve(
        state,
        agents=dict(state.agents),
        known=dict(state.known),
        tables=[table.copy() for table in state.tables],
        faced=dict(state.faced),
        fates=dict(state.fates),
        interviewed=set(state.interviewed),
        offers=dict(state.offers),
        agreed=dict(state.agreed),
        kept=set(state.kept),
    )


def ended(state: SeasonState) -> bool:
    """Whether all assignments are closed."""
    return state.assignment >= state.config.assignments


def unit_done(state: SeasonState) -> bool:
    """Whether the assignment under way has all its events."""
    return state.phase == CLOSED


def digest(state: SeasonState) -> int:
    """64 bits that cover every field of a state whose assignment is closed."""
    return fingerprint_of(freeze(state))


def freeze(state: SeasonState) -> list[Any]:
    """A state whose assignment is closed as plain values: the configuration, every agent, and the
    lasting fields, in declared order.
    """
    return [
        state.config.as_dict(),
        [_plain(agent) for agent in state.agents.values()],
        state.assignment,
        [[*conduct, day] for conduct, day in state.known.items()],
        state.is_split,
        state.approved,
        state.recommended,
        state.projects,
        state.is_project_adopted,
        state.leaderboard,
    ]


def _plain(agent: Agent) -> list[Any]:
    values = [getattr(agent, name) for name in _LASTING]
    contract = agent.contract
    return [*values, None if contract is None else list(attrs.astuple(contract, recurse=False))]


_LASTING: Final = [name for name in attrs.fields_dict(Agent) if name != "contract"]


def thaw(frozen: Any, past: object) -> SeasonState:
    """The state that was frozen. All of it is in `frozen`; nothing of the past is needed."""
    config, agents, assignment, known, split, approved, recommended, projects, adopted, rows = (
        frozen
    )
    return SeasonState(
        config=config_of(config),
        agents={values[0]: _agent(values) for values in agents},
        assignment=assignment,
        known={(a, b, share, under): day for a, b, share, under, day in known},
        is_split=split,
        approved=approved,
        recommended=recommended,
        projects=projects,
        is_project_adopted=adopted,
        leaderboard=rows,
    )


def _agent(values: Sequence[Any]) -> Agent:
    *lasting, contract = values
    fields = dict(zip(_LASTING, lasting, strict=True))
    return Agent(**fields, contract=None if contract is None else Contract(*contract))
