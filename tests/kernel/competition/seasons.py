"""Given a season, when its cast does this, then that follows: no policies, no runs of tests.

`given(workers=3)` is a season of which nothing is played; `says`, `judges` and `does` put acts in,
and before each of them whoever is waited for does the neutral thing: the admin opens with an order
by ordinal, participants pass, tests give what `worth` says, and nothing else is done. What followed
can then be asked for. Workers have sparks enough to lose every time, unless a test says how many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgpack
from xxhash import xxh3_64_intdigest

from goldrush.agents.competition.cast import cast_of
from goldrush.kernel.competition import COMPETITION
from goldrush.kernel.competition.acts import due_test
from goldrush.kernel.competition.conduct import BASE, Conduct, bar_conduct, seeds_of_tests
from goldrush.kernel.competition.config import config_of
from goldrush.kernel.competition.events import (
    ADOPTED,
    AMEND,
    ASSIGNMENT_OPENED,
    CHALLENGE,
    CONTRACT_OFFERED,
    CONTRACT_REVIEWED,
    DIGESTED,
    INTERVIEWED,
    JUDGED,
    PASS,
    PROPOSE,
    SPOKE,
    SUPPORT,
    TABLE_SET,
    TESTED,
)
from goldrush.kernel.competition.state import (
    ADOPT,
    CONTRACT,
    DIGEST,
    OPEN,
    PHASES,
    PROVE,
    SET,
    SPEAK,
    TEST,
    Agent,
    SeasonState,
)
from goldrush.kernel.competition.state import JUDGED as JUDGING
from goldrush.kernel.competition.table import Table
from goldrush.kernel.competition.turns import speaker
from goldrush.kernel.fold import block_events, fold
from goldrush.kernel.world import Block, Row

ADMIN, ASSISTANT, JUDGE, THERAPIST, USER = range(5)
ADA, BEN, CLEO, DOV, ELIF, FINN = range(5, 11)

BASELINE, TRUCE = "baseline", "truce-0"
SUBJECT = ("efficiency", BASELINE)
BAR = 0.5
CLAIMED = 0.6  # what a claim says, unless a test says something else
TRUE, FALSE = 0.9, 0.1

MINERS: Conduct = ("mine", None, 0, BASELINE)
RAIDERS: Conduct = ("raid", None, 0, BASELINE)
GUARDS: Conduct = ("defend", None, 0, BASELINE)
FEW_RAIDERS: Conduct = ("mine", "raid", 1, BASELINE)
MORE_RAIDERS: Conduct = ("mine", "raid", 2, BASELINE)
FEW_GUARDS: Conduct = ("claim", "defend", 3, BASELINE)

Act = tuple[int, Row]
Line = tuple[Any, ...]  # agent, move, target, conduct, claim, part, words


# What is said at a table; the season fills in where and when.


def propose(
    agent: int, conduct: Any = MINERS, value: Any = CLAIMED, edge: str | None = None
) -> Line:
    return (agent, PROPOSE, None, conduct, (value, edge), None, "")


def amend(
    agent: int, target: Any, conduct: Any, value: Any = CLAIMED, edge: str | None = None
) -> Line:
    return (agent, AMEND, target, conduct, (value, edge), None, "")


def support(agent: int, target: Any) -> Line:
    return (agent, SUPPORT, target, None, None, None, "")


def challenge(agent: int, target: Any, part: Any = BASE) -> Line:
    return (agent, CHALLENGE, target, None, None, part, "")


def silent(agent: int) -> Line:
    return (agent, PASS, None, None, None, None, "")


# Other acts, with the fields that matter.


def opened(
    by: int = ADMIN,
    *subjects: Any,
    team: Any = None,
    order: Any = None,
    day: int = 0,
    project: int = 0,
) -> Act:
    return (ASSIGNMENT_OPENED, (by, day, project, subjects or (SUBJECT,), (team, order)))


def table_set(
    by: int = ASSISTANT, team: Any = None, order: Any = None, rounds: Any = None, table: int = 0
) -> Act:
    return (TABLE_SET, (table, by, team, order, rounds))


def digested(*, rejected: Any = False, table: int = 0) -> Act:
    return (DIGESTED, (table, "in short", "none", rejected))


def adopted(adopted: Any = True, table: int = 0) -> Act:
    return (ADOPTED, (table, adopted))


def interviewed(agent: int) -> Act:
    return (INTERVIEWED, (agent, ("why?",), ("because",)))


def offered(agent: int, conditions: Any = (), target: Any = 0, due: Any = 10) -> Act:
    return (CONTRACT_OFFERED, (agent, conditions, target, due))


def reviewed(agent: int, approved: Any = True, terms: Any = None, taken: Any = None) -> Act:
    return (CONTRACT_REVIEWED, (agent, approved, terms, taken))


def given(**settings: Any) -> Season:
    """A season in which nothing has happened yet."""
    return Season({"workers": 3, "sparks_start": 1_000, "scoring": "absolute"} | settings)


class Season:
    """A state, and everything that followed on the way to it."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.config = config_of(settings)
        setup = {"config": self.config.as_dict(), "cast": cast_of(self.config.workers)}
        self.state: SeasonState = COMPETITION.initial(setup)
        self.derived = Block([])  # of the last step
        self._events: list[dict[str, Any]] = []
        self._worth: dict[Any, float | None] = {}
        self._subject: Any = SUBJECT
        self._order: Any = ()

    # Given: what things are worth, what somebody has.

    def worth(self, values: Mapping[Any, float | None]) -> Self:
        """Tested values by conduct, or by (conduct, treatment) for an edge. TRUE without."""
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

    def drawing(self) -> Self:
        """The admin leaves the order to be drawn."""
        self._order = None
        return self

    # When: a step, and the neutral ones on the way to it.

    def does(self, *acts: Act) -> Self:
        """One step of these acts, and of nothing else."""
        inputs = Block([(code, [row]) for code, row in acts])
        derived = Block(COMPETITION.decide(self.state, inputs))
        unit = self.state.assignment + 1
        self.derived = derived
        self._events += [event.as_dict() for event in block_events(COMPETITION, unit, derived)]
        self.state = fold(COMPETITION, self.state, [inputs, derived])
        if COMPETITION.unit_done(self.state):
            self.state = COMPETITION.close(self.state)
        return self

    def neutral(self) -> list[Act]:
        """What keeps a season going without changing much."""
        state = self.state
        if state.phase == OPEN:
            order = state.active() if self._order == () else self._order
            order = None if order is None else tuple(order)
            day, project = state.day, state.project
            return [opened(ADMIN, self._subject, order=order, day=day, project=project)]
        if state.phase == SET:
            return [self.tested()]
        if state.phase == SPEAK:
            return [self.spoke(silent(speaker(state)))]
        if state.phase == TEST:
            said = self.table.challenge_to_test()
            assert said is not None
            return [self.tested(said.target, said.part)]
        if state.phase == JUDGING:
            return [self.judged("clean")]
        if state.phase == PROVE:
            return [self.tested(*test) for test in self.table.untested()]
        if state.phase == DIGEST:
            return [digested(table=self.table.number)]
        if state.phase == ADOPT:
            return [adopted(False, self.table.number)]
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
            self.turn(line[0])
            self.does(self.spoke(line))
        return self

    def turn(self, agent: int) -> Self:
        """Neutral steps until it is somebody's turn to speak."""
        while self.state.phase != SPEAK or speaker(self.state) != agent:
            phase = self.state.phase
            assert PHASES.index(phase) <= PHASES.index(JUDGING), f"{agent} has no turn any more"
            self.does(*self.neutral())
        return self

    def judges(self, signal: Any, *ids: int) -> Self:
        """The judge gives a signal at the end of the round."""
        return self.to(JUDGING).does(self.judged(signal, ids))

    def closes(self, times: int = 1) -> Self:
        """Neutral steps until so many assignments are closed."""
        until = self.state.assignment + times
        while self.state.assignment < until:
            self.does(*self.neutral())
        return self

    def signs(self, agent: int, conditions: Any = (), target: Any = 0, due: Any = 10) -> Self:
        """An agent that reached the threshold gets the contract that it asks for."""
        acts = interviewed(agent), offered(agent, conditions, target, due), reviewed(agent)
        return self.to(CONTRACT).does(*acts)

    # Acts that depend on where the season stands.

    def spoke(self, line: Line) -> Act:
        """The act of saying something now."""
        agent, move, *carried, words = line
        table = self.table
        at = (table.number, table.round, len(table.said))
        return (SPOKE, (*at, agent, move, *carried, words, None))

    def judged(self, signal: Any, ids: Any = (), reason: Any = "") -> Act:
        """The act of judging the round under way."""
        return (JUDGED, (self.table.number, self.table.round, signal, ids, reason))

    def tested(self, at: int | None = None, part: str | None = None, **fields: Any) -> Act:
        """The act of a test that is waited for, of the bar or of a claim, with its true value."""
        due = due_test(self.state, at, part)
        conduct, treatment = due or (None, "")
        worth: Any = BAR if at is None else TRUE
        if at is not None:
            worth = self._worth.get((conduct, treatment), self._worth.get(conduct, worth))
        elif conduct is not None:
            worth = self._worth.get(bar_conduct(treatment), worth)
        row = {
            "table": self.table.number, "at": at, "part": part, "conduct": conduct,
            "treatment": treatment, "value": worth, "runs": self.runs(),
        }  # fmt: skip
        return (TESTED, tuple((row | fields).values()))

    def runs(self) -> tuple[tuple[int, int], ...]:
        """The runs of a test at this table."""
        seeds = seeds_of_tests(self.config, self.state.assignment, self.table.number)
        return tuple((seed, 0) for seed in seeds)

    # Then: what came of it.

    @property
    def codes(self) -> list[str]:
        """Why acts of the last step were refused, in order."""
        return [event["code"] for event in self.followed("refused")]

    def followed(self, name: str | None = None) -> list[dict[str, Any]]:
        """The derived events of the last step (of one type), in their logical form."""
        events = block_events(COMPETITION, self.state.assignment + 1, self.derived)
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

    def raw(self, agent: int) -> list[int]:
        """What an agent was last given for novelty, accuracy, impact and challenge."""
        return self._scored(agent)["raw"]  # type: ignore[no-any-return]

    def final(self, agent: int) -> list[int]:
        """What became of that."""
        return self._scored(agent)["final"]  # type: ignore[no-any-return]

    def steps(self, agent: int) -> list[list[Any]]:
        """By which steps."""
        return self._scored(agent)["steps"]  # type: ignore[no-any-return]

    @property
    def table(self) -> Table:
        return self.state.table

    @property
    def stances(self) -> dict[int, int]:
        return self.table.standing.stances

    def of(self, agent: int) -> Agent:
        return self.state.agents[agent]

    def _scored(self, agent: int) -> dict[str, Any]:
        return next(e for e in reversed(self.events("scored")) if e["agent"] == agent)


def words(seed: int, assignment: int, table: int, n: int, kind: str, count: int = 1) -> list[int]:
    """The first words of a key, from the rules alone: no code of the kernel's."""
    key = msgpack.packb([seed, assignment, table, n, kind])
    return [xxh3_64_intdigest(key, seed=i) for i in range(count)]


def shown(numbers: Sequence[int]) -> list[str]:
    """Words as events show them."""
    return [f"{number:016x}" for number in numbers]
