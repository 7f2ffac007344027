"""The events of a season: acts and test results (inputs), and the events derived from them.

Each is a named tuple; a row of the journal has its fields in the order given here, and its
assignment is that of the commit. An act is recorded as submitted, valid or not: fields that its
author may get wrong are of the kind `PLAIN`, and an invalid act is followed by a `refused` event
with a code. Subjects, conducts and claims are lists of their fields
(kernel/worlds/competition/arena.py).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

import attrs

from goldrush.kernel.shape import (
    AGENT,
    AGENTS,
    AMOUNT,
    BOOLEAN,
    FACTS,
    INTEGER,
    NATURAL,
    TEXT,
    WORD,
    Kind,
    optional,
    row,
    several,
    text,
)
from goldrush.kernel.world import OTHER, EventType, if_given
from goldrush.kernel.worlds.competition.terms import (
    ContractEnd,
    Dimension,
    EliminationCause,
    Income,
    Move,
    Part,
    Refusal,
    Reward,
    ScoreStep,
    names_of,
)

PLAIN_MAX: Final = 10_000  # values in a field, and characters of each text in it
PLAIN_DEPTH: Final = 4  # lists within lists
NAME_MAX: Final = 60  # characters of an agent's name

Facts = Mapping[str, Any]


def _is_plain(value: Any) -> bool:
    """Plain values, perhaps in lists. Whole reals must be integers, so that there is one form."""
    layer, count = [value], 0
    for _ in range(PLAIN_DEPTH + 1):
        deeper: list[Any] = []
        for item in layer:
            if type(item) is tuple:
                deeper += item
            elif type(item) is str:
                if len(item) > PLAIN_MAX:
                    return False
            elif not (item is None or type(item) is bool or AMOUNT.holds(item)):
                return False
        count += len(deeper)
        if count > PLAIN_MAX:
            return False
        layer = deeper
    return not layer


def _show_plain(value: Any) -> Any:
    return [_show_plain(item) for item in value] if type(value) is tuple else value


def _among(family: type) -> Kind:
    """One of the names of a family, held as text: a season has few events."""
    names = names_of(family)
    return Kind(
        " | ".join(names),
        lambda value: type(value) is str and value in names,
        structure="text",
    )


PLAIN: Final = Kind("plain values", _is_plain, _show_plain)
CODE: Final = attrs.evolve(_among(Refusal), name="code")


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


_ACT: Final = Kind("an act", _is_act, _shown_act, form=("event",))
_CONDITIONS: Final = several(row(TEXT, optional(TEXT)))

Plain = Annotated[Any, PLAIN]
Natural = Annotated[int, NATURAL]
AgentId = Annotated[int, AGENT]
AgentIds = Annotated[tuple[int, ...], AGENTS]
DrawWords = Annotated[tuple[int, ...], several(WORD)]
Value = Annotated[float | None, optional(AMOUNT)]
Runs = Annotated[tuple[tuple[int, int], ...], several(row(NATURAL, WORD))]
FactsOrNone = Annotated[Facts | None, optional(FACTS)]
Scores = Annotated[tuple[int, ...], several(NATURAL)]


# Inputs.


class Answered(NamedTuple):
    """The answer of a language model or a person, committed before it is read as an act."""

    agent: AgentId
    question: Annotated[str, TEXT]
    text: Annotated[str, TEXT]
    source: FactsOrNone


class ProjectProposed(NamedTuple):
    """The admin proposes to the user a project: the subject of the next assignment."""

    by: AgentId
    subject: Plain


class ProjectReviewed(NamedTuple):
    """The user approves the project, or not."""

    approved: Plain


class ClassMoved(NamedTuple):
    """A worker changes its class; `allowed`: the admin's answer, null if it was not asked."""

    agent: AgentId
    class_: Plain
    allowed: Plain


class TeamRecommended(NamedTuple):
    """The therapist recommends the participants of the next table."""

    team: Plain


class AssignmentOpened(NamedTuple):
    """An assignment begins; a subject for each table; the directive is null or [team, order]."""

    by: AgentId
    day: Natural
    project: Natural
    subjects: Plain
    directive: Plain


class TableSet(NamedTuple):
    """The assistant or the judge sets team, order or rounds of a table; null sets nothing."""

    table: Natural
    by: AgentId
    team: Plain
    order: Plain
    rounds: Plain


class Tested(NamedTuple):
    """A conduct was tested with the table's seeds: for a part of the claim of proposal `at`, or
    for the bar (both null).

    `value`: null if it is undefined in a run; `runs`: [seed, digest] of each run.
    """

    table: Natural
    at: Annotated[int | None, optional(NATURAL)]
    part: Annotated[str | None, optional(_among(Part))]
    conduct: Plain
    treatment: Annotated[str, TEXT]
    value: Value
    runs: Runs


class Tried(NamedTuple):
    """An agent ordered a trial of a conduct: its trial `number` of the assignment, from 0."""

    table: Natural
    agent: AgentId
    number: Natural
    conduct: Plain
    treatment: Plain
    value: Value
    runs: Runs


class Spoke(NamedTuple):
    """A contribution. `because`: null, or [ids of contributions relied on, whether on own trials];
    `source`: the model that wrote it, null for other policies.
    """

    table: Natural
    round: Natural
    id: Natural
    agent: AgentId
    move: Plain
    target: Plain
    conduct: Plain
    claim: Plain
    part: Plain
    words: Plain
    because: Plain
    source: FactsOrNone


class Stood(NamedTuple):
    """The final stance of a participant after the proof: a proposal, or null for none. `because`,
    `source`: as in Spoke.
    """

    table: Natural
    agent: AgentId
    target: Plain
    words: Plain
    because: Plain
    source: FactsOrNone


class Judged(NamedTuple):
    """The judge's signal after a round; `ids`: the contributions that it redirects."""

    table: Natural
    round: Natural
    signal: Plain
    ids: Plain
    reason: Plain


class Digested(NamedTuple):
    """The assistant sums up a table, and may reject its conclusion."""

    table: Natural
    text: Plain
    dissent: Plain
    rejected: Plain


class Adopted(NamedTuple):
    """The admin adopts a conclusion, or not."""

    table: Natural
    adopted: Plain


class Debriefed(NamedTuple):
    """The therapist's questions to a participant, and the answers; `extra`: the bottom scorer's."""

    table: Natural
    agent: AgentId
    questions: Plain
    answers: Plain
    extra: Annotated[bool, BOOLEAN]


class TraitRecorded(NamedTuple):
    """A trait of a participant, and the ids of the contributions that show it."""

    agent: AgentId
    trait: Plain
    from_: Plain


class PersonaProposed(NamedTuple):
    """A persona for a participant, and whether it accepts."""

    agent: AgentId
    persona: Plain
    taken: Plain


class SkillDistilled(NamedTuple):
    """A skill for a participant to remember: [objective, treatment, conduct, value]. `taken`:
    whether it accepts, null if it was not asked.
    """

    agent: AgentId
    skill: Plain
    taken: Plain


class InstructionsRewritten(NamedTuple):
    """Other instructions for a participant. `taken`: as in SkillDistilled."""

    agent: AgentId
    before: FactsOrNone
    after: FactsOrNone
    taken: Plain


class Rated(NamedTuple):
    """The therapist's four scores for a participant, with a reason for each."""

    table: Natural
    agent: AgentId
    raw: Plain
    reasons: Plain


class FateChosen(NamedTuple):
    """An agent that faces elimination chooses relegation or deletion."""

    agent: AgentId
    fate: Plain


class Interviewed(NamedTuple):
    """The interview before a contract."""

    agent: AgentId
    questions: Plain
    answers: Plain


class ContractOffered(NamedTuple):
    """The terms of a contract that an agent offers (kernel/worlds/competition/contract.py)."""

    agent: AgentId
    conditions: Plain
    target: Plain
    due: Plain


class ContractReviewed(NamedTuple):
    """The user approves a contract, or offers other terms, which the agent accepts or not."""

    agent: AgentId
    approved: Plain
    terms: Plain
    taken: Plain


class ConditionKept(NamedTuple):
    """Whether the user keeps a condition of a contract in the next assignment."""

    agent: AgentId
    condition: Plain
    kept: Plain


# Derived events.


class RoundtableOpened(NamedTuple):
    """The participants of a table and their order; `words`: of the draw, empty if it was set."""

    table: Natural
    participants: AgentIds
    order: AgentIds
    words: DrawWords
    rounds: Natural


class Refused(NamedTuple):
    """A refused act: [index in its step, event, row], with the code of the reason."""

    who: AgentId
    act: Annotated[tuple[int, int, tuple[Any, ...]], _ACT]
    code: Annotated[str, CODE]


class Concluded(NamedTuple):
    """The conclusion of a table (null: none) and all stances: [agent, proposal]. `tied`, `words`:
    the proposals among which it was drawn, and the draw; empty if it was not drawn.
    """

    table: Natural
    proposal: Annotated[int | None, optional(NATURAL)]
    conduct: Plain
    stances: Annotated[tuple[tuple[int, int], ...], several(row(AGENT, NATURAL))]
    tied: Annotated[tuple[int, ...], several(NATURAL)]
    words: DrawWords


class Scored(NamedTuple):
    """A participant's scores as rated (`raw`), each step that changed one, and the final ones.

    `rubric`: the sum of the four scores by the rubric alone, independent of the therapist's.
    """

    table: Natural
    agent: AgentId
    raw: Scores
    steps: Annotated[
        tuple[tuple[str, str, int, int], ...],
        several(row(_among(ScoreStep), _among(Dimension), NATURAL, NATURAL)),
    ]
    final: Scores
    total: Natural
    rubric: Natural


class SparksMoved(NamedTuple):
    """Sparks gained or lost, and the balance after it. `table`: null on the bench."""

    table: Annotated[int | None, optional(NATURAL)]
    agent: AgentId
    amount: Annotated[int, INTEGER]
    balance: Natural
    why: Annotated[str, _among(Income)]


class LeaderboardPosted(NamedTuple):
    """The leaderboard: [rank, agent, rolling, all_time]."""

    rows: Annotated[
        tuple[tuple[int, int, int, int], ...],
        several(row(NATURAL, AGENT, NATURAL, NATURAL)),
    ]


class Bottomed(NamedTuple):
    """The bottom scorer of a table. `tied`, `words`: the agents among which it was drawn, and the
    draw; `streak`: its tables in a row at the bottom.
    """

    table: Natural
    agent: AgentId
    tied: AgentIds
    words: DrawWords
    streak: Natural


class EliminationFaced(NamedTuple):
    """An agent faces elimination."""

    agent: AgentId
    cause: Annotated[str, _among(EliminationCause)]


class Relegated(NamedTuple):
    """An agent is moved to the bench."""

    agent: AgentId


class Returned(NamedTuple):
    """An agent comes back from the bench and takes the seat of another."""

    agent: AgentId
    for_: AgentId


class Deleted(NamedTuple):
    """An agent is deleted, for good."""

    agent: AgentId


class Joined(NamedTuple):
    """A new worker. `inherits`: the agent whose memory it has, null for an empty one."""

    ordinal: AgentId
    name: Annotated[str, text(NAME_MAX)]
    inherits: Annotated[int | None, optional(AGENT)]


class ContractSigned(NamedTuple):
    """A contract is signed, on the terms [conditions, target, due]."""

    agent: AgentId
    terms: Annotated[tuple[Any, ...], row(_CONDITIONS, PLAIN, NATURAL)]


class ContractSettled(NamedTuple):
    """A contract ended."""

    agent: AgentId
    outcome: Annotated[str, _among(ContractEnd)]


class RewardUnlocked(NamedTuple):
    """A worker or the admin reached a tier."""

    agent: AgentId
    reward: Annotated[str, _among(Reward)]


class StageReached(NamedTuple):
    """The assistant, the judge or the therapist reached a stage."""

    agent: AgentId
    stage: Natural


class ProjectCompleted(NamedTuple):
    """A project is closed, and one of its conclusions was adopted."""

    project: Natural


INPUTS: Final[Sequence[type[Any]]] = (
    Answered, ProjectProposed, ProjectReviewed, ClassMoved, TeamRecommended, AssignmentOpened,
    TableSet, Tested, Tried, Spoke, Stood, Judged, Digested, Adopted, Debriefed, TraitRecorded,
    PersonaProposed, SkillDistilled, InstructionsRewritten, Rated, FateChosen, Interviewed,
    ContractOffered, ContractReviewed, ConditionKept,
)  # fmt: skip
DERIVED: Final[Sequence[type[Any]]] = (
    RoundtableOpened, Refused, Concluded, Scored, SparksMoved, LeaderboardPosted, Bottomed,
    EliminationFaced, Relegated, Returned, Deleted, Joined, ContractSigned, ContractSettled,
    RewardUnlocked, StageReached, ProjectCompleted,
)  # fmt: skip
FORMS: Final = (*INPUTS, *DERIVED)
# Fields that are decided by a draw, in events that hold its words.
_DRAWN: Final[Mapping[type[Any], frozenset[str]]] = {
    RoundtableOpened: frozenset({"order"}),
    Concluded: frozenset({"proposal", "conduct"}),
    Bottomed: frozenset({"agent", "streak"}),
}


# Sentences that an event's fields decide (see EventType.text).
_TEXTS: Final[Mapping[type[Any], str]] = {
    ProjectProposed: "{by} proposes a project: {subject:subject}",
    ProjectReviewed: "the user {approved} the project",
    ClassMoved: "{agent} wants to run as {class:word}, {allowed}",
    TeamRecommended: "therapist recommends the team {team:agents}",
    Answered: "{agent} was asked to {question:asked}: {text:answer}",
    RoundtableOpened: (
        "table {table} opens for up to {rounds} rounds; they speak in the order "
        "{order:agents}{words}"
    ),
    Tested: "{at} ({conduct:conduct} under {treatment:word}, {runs:runs})",
    Tried: "{agent} tries {conduct:conduct} under {treatment:word}, on its own: {value:number}",
    Spoke: "#{id} {agent} {move}{because:because}{words}",
    Judged: "judge, round {round}: {signal:word}{ids:redirected}{reason}",
    Stood: "{agent} stands by {target} in the end{because:because}{words}",
    Refused: "refused: the act of {who} ({act.event}), {code}",
    Concluded: "table {table} {proposal}",
    Digested: "assistant: {text:quoted}{dissent}{rejected}",
    Adopted: "admin {adopted} the conclusion",
    TraitRecorded: "therapist on {agent}: {trait:quoted}",
    PersonaProposed: "a persona for {agent}, {taken}: {persona:quoted}",
    SkillDistilled: "a skill for {agent}, {taken}: {skill:skill}",
    Rated: "therapist rates {agent} {raw:quoted}: {reasons:joined}",
    Scored: "{agent} scores {total}: {final:scores}{steps}",
    SparksMoved: "{agent} has {balance:sparks} ({amount:signed}, {why})",
    LeaderboardPosted: "leaderboard: {rows:ranks}",
    Bottomed: "{agent} is last at table {table}, {streak:streak}{tied}",
    FateChosen: "{agent} chooses {fate:quoted}",
    Interviewed: "{agent} is interviewed: {questions:quoted} {answers:quoted}",
    ContractOffered: (
        "{agent} offers a contract: target {target:quoted} by assignment {due:quoted} for "
        "{conditions:quoted}"
    ),
    ContractReviewed: "the user {approved}",
    ConditionKept: "the user {kept} the condition {condition:word} of {agent}",
    ContractSigned: (
        "{agent} has a contract: target {terms.1:quoted} by assignment {terms.2} for "
        "{terms.0:quoted}"
    ),
    EliminationFaced: "{agent} faces elimination: {cause}",
    Relegated: "{agent} is benched",
    Returned: "{agent} returns in the place of {for}",
    Deleted: "{agent} is deleted",
    Joined: "{name} joins{inherits}",
    ContractSettled: "the contract of {agent} ends: {outcome}",
    RewardUnlocked: "{agent} unlocks {reward}",
    StageReached: "{agent} reaches stage {stage}",
    ProjectCompleted: "project {project} is completed",
}
_Cases = Mapping[str | bool | None, str]
_TAKEN: Final[_Cases] = {True: "taken", False: "left", OTHER: "without asking"}
_WORDS: Final = if_given(": {words:quoted}")
_CASES: Final[Mapping[type[Any], Mapping[str, _Cases]]] = {
    ProjectReviewed: {"approved": {True: "approves", OTHER: "refuses"}},
    ClassMoved: {
        "allowed": {
            True: "and the admin allows it", False: "and the admin does not allow it",
            OTHER: "without asking",
        }
    },
    RoundtableOpened: {"words": if_given(", as drawn")},
    Tested: {"at": {None: "the bar is {value:number}", OTHER: "tested: {part} of #{at} is {}"}},
    Spoke: {
        "move": {
            Move.PROPOSE: "proposes {conduct:conduct}, claims {claim:claim}",
            Move.AMEND: "amends #{target:quoted} to {conduct:conduct}, claims {claim:claim}",
            Move.CHALLENGE: "challenges the {part:word} of #{target:quoted}",
            Move.SUPPORT: "supports #{target:quoted}",
            Move.PASS: "passes",
            OTHER: "does {move:quoted}",
        },
        "words": _WORDS,
    },
    Judged: {"reason": if_given(": {reason:quoted}")},
    Stood: {"target": {None: "no proposal", OTHER: "#{target:quoted}"}, "words": _WORDS},
    Concluded: {
        "proposal": {
            None: "comes to no conclusion",
            OTHER: "concludes on #{proposal}, {conduct:conduct}{}{tied}; final stances: "
            "{stances:stances}",
        },
        "tied": if_given(", drawn among {tied:ids}"),
    },
    Digested: {
        "dissent": if_given("; dissent: {dissent:quoted}"),
        "rejected": {True: "; it rejects the conclusion", OTHER: ""},
    },
    Adopted: {"adopted": {True: "adopts", OTHER: "does not adopt"}},
    Debriefed: {"extra": {True: "once more ", False: ""}},
    PersonaProposed: {"taken": _TAKEN},
    SkillDistilled: {"taken": _TAKEN},
    InstructionsRewritten: {"taken": _TAKEN},
    Scored: {"steps": if_given(" ({steps:steps})")},
    Bottomed: {"tied": if_given(", drawn among {tied:agents}")},
    EliminationFaced: {
        "cause": {
            EliminationCause.BOTTOMS: "it was last too often",
            EliminationCause.SPARKS: "it has no sparks",
        }
    },
    Joined: {"inherits": if_given(" with the memory of {inherits}")},
    ContractReviewed: {
        "approved": {True: "approves the contract of {agent}", OTHER: "{terms}"},
        "terms": {
            None: "refuses the contract of {agent}",
            OTHER: "has other terms for the contract of {agent}: {terms:quoted}, {taken}",
        },
        "taken": {True: "which it takes", False: "which it leaves", OTHER: ""},
    },
    ConditionKept: {
        "kept": {True: "keeps", False: "does not keep", OTHER: "says nothing of"},
    },
}  # fmt: skip


def _event_type(form: type[Any]) -> EventType:
    """The journal's type of an event: its name in snake case, the kinds of its fields."""
    hints = get_type_hints(form, include_extras=True)
    return EventType(
        re.sub(r"(?<!^)(?=[A-Z])", "_", form.__name__).lower(),
        {name.rstrip("_"): hints[name].__metadata__[0] for name in form._fields},
        is_input=form in INPUTS,
        drawn=_DRAWN.get(form, frozenset()),
        text=_TEXTS.get(form, ""),
        cases=_CASES.get(form, {}),
    )


EVENTS: Final = tuple(map(_event_type, FORMS))
CODES: Final[Mapping[type[Any], int]] = {form: code for code, form in enumerate(FORMS)}


def named(code: int, row: Sequence[Any]) -> Any:
    """A row as the named tuple of its event."""
    return FORMS[code]._make(row)
