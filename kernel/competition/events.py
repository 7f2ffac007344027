"""The events of a season: what its cast does (inputs), and what follows from it by rule (derived).

Each is a named tuple, whose fields stand in a journal's rows in the order given here; the
assignment is implied by the commit. An act is recorded as it was done, fitting or not: what its
author may get wrong is of the kind `SAID`, and what is wrong with it is told by the `refused` event
that follows. Subjects, conducts and claims are lists of their fields (kernel/competition/arena.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

from goldrush.kernel.competition.terms import (
    Cause,
    Code,
    Dimension,
    Income,
    Outcome,
    Part,
    Reward,
    Step,
    names_of,
)
from goldrush.kernel.world import (
    AGENT,
    AGENTS,
    AMOUNT,
    BOOLEAN,
    FACTS,
    INTEGER,
    NATURAL,
    TEXT,
    WORD,
    EventType,
    Kind,
    optional,
    several,
    text,
)

SAID_MAX: Final = 10_000  # values in what was said, and characters of each text in it
SAID_DEPTH: Final = 4  # lists within lists
NAME_MAX: Final = 60  # characters of an agent's name

Facts = Mapping[str, Any]


def _is_said(value: Any) -> bool:
    """Plain values in lists. Reals that are whole are held as integers, so there is one form."""
    layer, count = [value], 0
    for _ in range(SAID_DEPTH + 1):
        deeper: list[Any] = []
        for item in layer:
            if type(item) is tuple:
                deeper += item
            elif type(item) is str:
                if len(item) > SAID_MAX:
                    return False
            elif not (item is None or type(item) is bool or AMOUNT.holds(item)):
                return False
        count += len(deeper)
        if count > SAID_MAX:
            return False
        layer = deeper
    return not layer


def _shown(value: Any) -> Any:
    return [_shown(item) for item in value] if type(value) is tuple else value


def _among(family: type) -> Kind:
    """One of a few names, held as it is: a season has few events, and people read them."""
    names = names_of(family)
    return Kind(" | ".join(names), lambda value: type(value) is str and value in names)


def _listing(*kinds: Kind) -> Kind:
    """A list that has a value of each of these kinds, in order."""
    return Kind(
        f"[{', '.join(kind.name for kind in kinds)}]",
        lambda v: (
            type(v) is tuple
            and len(v) == len(kinds)
            and all(kind.holds(item) for kind, item in zip(kinds, v, strict=True))
        ),
        lambda v: [kind.show(item) for kind, item in zip(kinds, v, strict=True)],
    )


SAID: Final = Kind("plain values", _is_said, _shown)
CODE: Final = Kind("code", lambda value: type(value) is str and value in names_of(Code))


def _is_act(value: Any) -> bool:
    """(index in the step, code of the event, row)."""
    if type(value) is not tuple or len(value) != 3:
        return False
    index, code, row = value
    return (
        NATURAL.holds(index)
        and NATURAL.holds(code)
        and code < len(EVENTS)
        and EVENTS[code].fault(row) is None
    )


def _shown_act(value: Any) -> dict[str, Any]:
    index, code, row = value
    event = EVENTS[code]
    fields = zip(event.fields.items(), row, strict=True)
    return {
        "index": index,
        "event": event.name,
        **{name: kind.show(value) for (name, kind), value in fields},
    }


_CONDITIONS: Final = several(_listing(TEXT, optional(TEXT)))

Said = Annotated[Any, SAID]
Natural = Annotated[int, NATURAL]
AgentId = Annotated[int, AGENT]
AgentIds = Annotated[tuple[int, ...], AGENTS]
Words = Annotated[tuple[int, ...], several(WORD)]
Value = Annotated[float | None, optional(AMOUNT)]
Runs = Annotated[tuple[tuple[int, int], ...], several(_listing(NATURAL, WORD))]
FactsOrNone = Annotated[Facts | None, optional(FACTS)]
Scores = Annotated[tuple[int, ...], several(NATURAL)]
StepRow = Annotated[
    tuple[str, str, int, int], _listing(_among(Step), _among(Dimension), NATURAL, NATURAL)
]


# What agents, models and tests bring in.


class Answered(NamedTuple):
    """What a language model wrote, committed before anything is made of it."""

    agent: AgentId
    question: Annotated[str, TEXT]
    text: Annotated[str, TEXT]
    source: FactsOrNone


class ProjectProposed(NamedTuple):
    """The admin proposes to the user what the next assignment should be about."""

    by: AgentId
    subject: Said


class ProjectReviewed(NamedTuple):
    """The user approves the project, or not."""

    approved: Said


class ClassMoved(NamedTuple):
    """A worker changes its class; `allowed`: what the admin said, null where it was not asked."""

    agent: AgentId
    class_: Said
    allowed: Said


class TeamRecommended(NamedTuple):
    """The therapist recommends who sits at the next table."""

    team: Said


class AssignmentOpened(NamedTuple):
    """An assignment begins; a subject for each table; the directive is null or [team, order]."""

    by: AgentId
    day: Natural
    project: Natural
    subjects: Said
    directive: Said


class TableSet(NamedTuple):
    """The assistant or the judge sets what the directive leaves open; null leaves it open too."""

    table: Natural
    by: AgentId
    team: Said
    order: Said
    rounds: Said


class Tested(NamedTuple):
    """A conduct was run on the table's seeds: a part of proposal `at`, or (null) the bar.

    `value`: null where it is undefined in a run; `runs`: [seed, digest] of each.
    """

    table: Natural
    at: Annotated[int | None, optional(NATURAL)]
    part: Annotated[str | None, optional(_among(Part))]
    conduct: Said
    treatment: Annotated[str, TEXT]
    value: Value
    runs: Runs


class Tried(NamedTuple):
    """An agent had a conduct run for itself: its trial `number` of the assignment, from 0."""

    table: Natural
    agent: AgentId
    number: Natural
    conduct: Said
    treatment: Said
    value: Value
    runs: Runs


class Spoke(NamedTuple):
    """A contribution. `because`: null, or [ids of contributions relied on, whether on own trials].

    `text`: its words; `source`: where a model wrote it, which.
    """

    table: Natural
    round: Natural
    id: Natural
    agent: AgentId
    move: Said
    target: Said
    conduct: Said
    claim: Said
    part: Said
    words: Said
    because: Said
    source: FactsOrNone


class Judged(NamedTuple):
    """The judge's signal after a round; `ids` of a redirection."""

    table: Natural
    round: Natural
    signal: Said
    ids: Said
    reason: Said


class Digested(NamedTuple):
    """The assistant sums a table up, and may reject its conclusion."""

    table: Natural
    text: Said
    dissent: Said
    rejected: Said


class Adopted(NamedTuple):
    """The admin adopts a conclusion, or not."""

    table: Natural
    adopted: Said


class Debriefed(NamedTuple):
    """The therapist's questions to a participant, and the answers; `extra`: the bottom scorer's."""

    table: Natural
    agent: AgentId
    questions: Said
    answers: Said
    extra: Annotated[bool, BOOLEAN]


class TraitRecorded(NamedTuple):
    """What stands out in a participant, and the contributions that show it."""

    agent: AgentId
    trait: Said
    from_: Said


class PersonaProposed(NamedTuple):
    """A persona for a participant, and whether it takes it."""

    agent: AgentId
    persona: Said
    taken: Said


class SkillDistilled(NamedTuple):
    """A conduct to remember: [objective, treatment, conduct, value]. `taken`: null if not asked."""

    agent: AgentId
    skill: Said
    taken: Said


class InstructionsRewritten(NamedTuple):
    """Other instructions for a participant. `taken`: null where it was not asked."""

    agent: AgentId
    before: FactsOrNone
    after: FactsOrNone
    taken: Said


class Rated(NamedTuple):
    """The therapist's four numbers for a participant, with a reason for each."""

    table: Natural
    agent: AgentId
    raw: Said
    reasons: Said


class FateChosen(NamedTuple):
    """Somebody who faces elimination chooses: relegation or deletion."""

    agent: AgentId
    fate: Said


class Interviewed(NamedTuple):
    """The interview before a contract."""

    agent: AgentId
    questions: Said
    answers: Said


class ContractOffered(NamedTuple):
    """What an agent asks for and promises (kernel/competition/contract.py)."""

    agent: AgentId
    conditions: Said
    target: Said
    due: Said


class ContractReviewed(NamedTuple):
    """The user approves, or offers other terms, which the agent takes or leaves."""

    agent: AgentId
    approved: Said
    terms: Said
    taken: Said


class ConditionKept(NamedTuple):
    """Whether the user keeps a condition of a contract in the next assignment."""

    agent: AgentId
    condition: Said
    kept: Said


# What follows.


class RoundtableOpened(NamedTuple):
    """Who sits at a table, and the order in which they speak; `words` where it was drawn."""

    table: Natural
    participants: AgentIds
    order: AgentIds
    words: Words
    rounds: Natural


class Refused(NamedTuple):
    """An act that counts as not done: [index in its step, event, row], and why."""

    who: AgentId
    act: Annotated[tuple[int, int, tuple[Any, ...]], Kind("an act", _is_act, _shown_act)]
    code: Annotated[str, CODE]


class Concluded(NamedTuple):
    """The conclusion of a table (null: none) and all stances: [agent, proposal]. `tied`: the
    proposals among which it was drawn, with the words of the draw.
    """

    table: Natural
    proposal: Annotated[int | None, optional(NATURAL)]
    conduct: Said
    stances: Annotated[tuple[tuple[int, int], ...], several(_listing(AGENT, NATURAL))]
    tied: Annotated[tuple[int, ...], several(NATURAL)]
    words: Words


class Scored(NamedTuple):
    """A participant's scores: as rated, every step, as they stand. `rubric`: the sum of the four by
    the rubric alone, whatever the therapist gave.
    """

    table: Natural
    agent: AgentId
    raw: Scores
    steps: Annotated[
        tuple[tuple[str, str, int, int], ...],
        several(_listing(_among(Step), _among(Dimension), NATURAL, NATURAL)),
    ]
    final: Scores
    total: Natural
    rubric: Natural


class SparksMoved(NamedTuple):
    """Sparks gained or lost, and what an agent has then. `table`: null on the bench."""

    table: Annotated[int | None, optional(NATURAL)]
    agent: AgentId
    amount: Annotated[int, INTEGER]
    balance: Natural
    why: Annotated[str, _among(Income)]


class LeaderboardPosted(NamedTuple):
    """The leaderboard: [rank, agent, rolling, all_time]."""

    rows: Annotated[
        tuple[tuple[int, int, int, int], ...],
        several(_listing(NATURAL, AGENT, NATURAL, NATURAL)),
    ]


class Bottomed(NamedTuple):
    """The bottom scorer of a table; `tied` with whom, if it was drawn; bottoms in a row."""

    table: Natural
    agent: AgentId
    tied: AgentIds
    words: Words
    streak: Natural


class EliminationFaced(NamedTuple):
    """Somebody faces elimination, and why."""

    agent: AgentId
    cause: Annotated[str, _among(Cause)]


class Relegated(NamedTuple):
    """Somebody is benched."""

    agent: AgentId


class Returned(NamedTuple):
    """Somebody comes back from the bench in the place of another."""

    agent: AgentId
    for_: AgentId


class Deleted(NamedTuple):
    """Somebody is gone for good."""

    agent: AgentId


class Joined(NamedTuple):
    """A new worker; `inherits`: whose memory."""

    ordinal: AgentId
    name: Annotated[str, text(NAME_MAX)]
    inherits: Annotated[int | None, optional(AGENT)]


class ContractSigned(NamedTuple):
    """A contract holds from now on: [conditions, target, due]."""

    agent: AgentId
    terms: Annotated[tuple[Any, ...], _listing(_CONDITIONS, SAID, NATURAL)]


class ContractSettled(NamedTuple):
    """How a contract ended."""

    agent: AgentId
    outcome: Annotated[str, _among(Outcome)]


class RewardUnlocked(NamedTuple):
    """A worker or the admin reached a tier."""

    agent: AgentId
    reward: Annotated[str, _among(Reward)]


class StageReached(NamedTuple):
    """The assistant, the judge or the therapist reached a stage."""

    agent: AgentId
    stage: Natural


class ProjectCompleted(NamedTuple):
    """A project is closed, with a conclusion adopted."""

    project: Natural


INPUTS: Final[Sequence[type[Any]]] = (
    Answered, ProjectProposed, ProjectReviewed, ClassMoved, TeamRecommended, AssignmentOpened,
    TableSet, Tested, Tried, Spoke, Judged, Digested, Adopted, Debriefed, TraitRecorded,
    PersonaProposed, SkillDistilled, InstructionsRewritten, Rated, FateChosen, Interviewed,
    ContractOffered, ContractReviewed, ConditionKept,
)  # fmt: skip
DERIVED: Final[Sequence[type[Any]]] = (
    RoundtableOpened, Refused, Concluded, Scored, SparksMoved, LeaderboardPosted, Bottomed,
    EliminationFaced, Relegated, Returned, Deleted, Joined, ContractSigned, ContractSettled,
    RewardUnlocked, StageReached, ProjectCompleted,
)  # fmt: skip
FORMS: Final = (*INPUTS, *DERIVED)
# What a draw decides, of the events that hold its words.
_DRAWN: Final[Mapping[type[Any], frozenset[str]]] = {
    RoundtableOpened: frozenset({"order"}),
    Concluded: frozenset({"proposal", "conduct"}),
    Bottomed: frozenset({"agent", "streak"}),
}


def _event_type(form: type[Any]) -> EventType:
    """The type of an event: its name in lower case, the kinds of its fields."""
    hints = get_type_hints(form, include_extras=True)
    return EventType(
        re.sub(r"(?<!^)(?=[A-Z])", "_", form.__name__).lower(),
        {name.rstrip("_"): hints[name].__metadata__[0] for name in form._fields},
        is_input=form in INPUTS,
        drawn=_DRAWN.get(form, frozenset()),
    )


EVENTS: Final = tuple(map(_event_type, FORMS))
CODES: Final[Mapping[type[Any], int]] = {form: code for code, form in enumerate(FORMS)}


def named(code: int, row: Sequence[Any]) -> Any:
    """A row with its fields by name."""
    return FORMS[code]._make(row)
