"""The events of a season: acts and test results (inputs), and the events derived from them.

Each is a named tuple; a row of the journal has its fields in the order given here, and its
assignment is that of the commit. A field is declared with its kind, its unit if it has one, and its
meaning, once where several events have the field. An act is recorded as submitted, valid or not:
fields that its author may get wrong are of the kind `PLAIN`, and an invalid act is followed by a
`refused` event with a code. Subjects, conducts and claims are lists of their fields
(kernel/worlds/competition/arena.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple, TypeVar, get_type_hints

import msgspec

from goldrush.kernel.settings import choice
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
    described,
    optional,
    record,
    row,
    several,
    text,
)
from goldrush.kernel.world import OTHER, EventType, if_given
from goldrush.kernel.worlds.competition.terms import (
    Class,
    ContractEnd,
    Dimension,
    EliminationCause,
    Fate,
    Income,
    Move,
    Part,
    Refusal,
    Reward,
    ScoreStep,
    Signal,
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
    return msgspec.structs.replace(choice(*names), name=" | ".join(names))


PLAIN: Final = Kind("plain values", _is_plain, _show_plain)
CODE: Final = msgspec.structs.replace(_among(Refusal), name="code")


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


_ACT: Final = Kind("an act", _is_act, _shown_act)
_CONDITIONS: Final = several(row(TEXT, optional(TEXT)))


def _list(family: type) -> str:
    return ", ".join(names_of(family))


Plain = Annotated[Any, PLAIN]
Natural = Annotated[int, NATURAL]
Flag = Annotated[bool, BOOLEAN]
Scores = Annotated[tuple[int, ...], several(NATURAL)]
AgentIds = Annotated[tuple[int, ...], AGENTS]
# Fields of several events.
AgentId = Annotated[int, AGENT, "who did it, was asked, or is meant, by ordinal"]
TableNumber = Annotated[int, NATURAL, "the table of the assignment, from 0"]
Round = Annotated[int, NATURAL, "the round, from 0"]
DrawWords = Annotated[
    tuple[int, ...], several(WORD), "the 64-bit words that were drawn, 16 hex digits each"
]
Value = Annotated[
    float | None, optional(AMOUNT), "of the objective", "what the run showed; null: undefined"
]
Runs = Annotated[
    tuple[tuple[int, int], ...],
    several(record(seed=NATURAL, digest=WORD)),
    "the seed of each run, and the digest of what it did",
]
Source = Annotated[
    Facts | None,
    optional(FACTS),
    "the model, its settings and what its answer came with; null where none wrote",
]
Target = Annotated[Plain, "the id of the proposal that it refers to or stands by"]
Words = Annotated[Plain, "what was said"]
Because = Annotated[Plain, "[ids relied on, whether on own trials]"]
Approved = Annotated[Plain, "whether the user approves"]
Taken = Annotated[Plain, "whether the agent takes it; null: not asked"]
Questions = Annotated[Plain, "what the agent was asked"]
Answers = Annotated[Plain, "its answers, word for word"]
Tied = "between whom, or which proposals, it was drawn"

_Cases = Mapping[str | bool | None, str]
_F = TypeVar("_F", bound=type[Any])


def sentence(text: str, **cases: _Cases) -> Callable[[_F], _F]:
    """Declares the sentence of an event; see EventType."""

    def declare(form: _F) -> _F:
        form.sentence = {"text": text, "cases": cases}
        return form

    return declare


_TAKEN: Final[_Cases] = {
    True: "which it takes",
    False: "which it declines",
    OTHER: "without asking it",
}
_WORDS: Final = if_given(": {words:quoted}")
SIGNALS: Final[_Cases] = {
    Signal.CLEAN: "no objection",
    Signal.REDIRECT: "strikes out",
    Signal.CONVERGED: "most stand by one proposal, so the talk ends",
    Signal.WEAK_CONSENSUS: "too few agree, so one more round and one more move for everybody",
    Signal.SPLIT: "recommends two tables on two subjects next time",
}
CAUSES: Final[_Cases] = {
    EliminationCause.BOTTOMS: "it was last too often",
    EliminationCause.SPARKS: "it has no sparks",
}  # of an elimination


# Inputs.


@sentence("{agent} was asked to {question:asked}: {text:answer}")
class Answered(NamedTuple):
    """The answer of a language model or a person, committed before it is read as an act."""

    agent: AgentId
    question: Annotated[str, TEXT, "which question a model was asked"]
    text: Annotated[str, TEXT, "what a model wrote"]
    source: Source


@sentence("{by} proposes a project: {subject:subject}")
class ProjectProposed(NamedTuple):
    """The admin proposes to the user a project: the subject of the next assignment."""

    by: Annotated[int, AGENT, "who opens, proposes or sets, by ordinal"]
    subject: Annotated[Plain, "[objective, treatment] of a proposed project"]


@sentence("the user {approved} the project", approved={True: "approves", OTHER: "refuses"})
class ProjectReviewed(NamedTuple):
    """The user approves the project, or not."""

    approved: Approved


@sentence(
    "{agent} asks for a {class:word} seat, {allowed}",
    allowed={
        True: "and the admin allows it",
        False: "and the admin does not allow it",
        OTHER: "and needs nobody's leave",
    },
)
class ClassMoved(NamedTuple):
    """A worker changes its class."""

    agent: AgentId
    class_: Annotated[Plain, f"the class it changes to: {_list(Class)}"]
    allowed: Annotated[Plain, "what the admin said; null: not asked"]


@sentence("therapist recommends for the next table {team:agents}")
class TeamRecommended(NamedTuple):
    """The therapist recommends the participants of the next table."""

    team: Annotated[Plain, "who is to sit at the table, by ordinal; null leaves it open"]


@sentence(
    "{by} opens the assignment (day {day}, project {project}): {subjects:subjects}{directive}",
    directive=if_given(", with the directive {directive:quoted}"),
)
class AssignmentOpened(NamedTuple):
    """An assignment begins."""

    by: Annotated[int, AGENT]
    day: Annotated[Natural, "days", "the day of the assignment, from 0"]
    project: Annotated[Natural, "the project, from 0"]
    subjects: Annotated[Plain, "[objective, treatment] for each table"]
    directive: Annotated[Plain, "[team, order], each or both null"]


@sentence(
    "{by} sets the table{team}{order}{rounds}",
    team=if_given("; team {team:agents}"),
    order=if_given("; order {order:agents}"),
    rounds=if_given("; up to {rounds:quoted} rounds"),
)
class TableSet(NamedTuple):
    """The assistant or the judge sets team, order or rounds of a table."""

    table: TableNumber
    by: Annotated[int, AGENT]
    team: Plain
    order: Annotated[Plain, "who speaks, in order, by ordinal; null leaves it open"]
    rounds: Annotated[Plain, "rounds", "how many rounds the table may take; null leaves it open"]


@sentence(
    "{at} ({conduct:conduct} under {treatment:word}, {runs:runs})",
    at={None: "the bar is {value:number}", OTHER: "tested: {part} of #{at} is {value:number}"},
)
class Tested(NamedTuple):
    """A conduct was tested with the table's seeds, for a part of a claim or for the bar."""

    table: TableNumber
    at: Annotated[
        int | None, optional(NATURAL), "the id of the proposal that is tested; null: the bar"
    ]
    part: Annotated[str | None, optional(_among(Part)), f"the part of a claim: {_list(Part)}"]
    conduct: Annotated[Plain, "the conduct, as the arena writes it"]
    treatment: Annotated[str, TEXT, "the treatment under which it was run"]
    value: Value
    runs: Runs


@sentence("{agent} tries {conduct:conduct} under {treatment:word}, on its own: {value:number}")
class Tried(NamedTuple):
    """An agent ordered a trial of a conduct."""

    table: TableNumber
    agent: AgentId
    number: Annotated[Natural, "which of the agent's trials of the assignment, from 0"]
    conduct: Plain
    treatment: Plain
    value: Value
    runs: Runs


@sentence(
    "#{id} {agent} {move}{because:because}{words}",
    move={
        Move.PROPOSE: "proposes {conduct:conduct}, claims {claim:claim}",
        Move.AMEND: "amends #{target:quoted} to {conduct:conduct}, claims {claim:claim}",
        Move.CHALLENGE: "challenges the {part:word} of #{target:quoted}",
        Move.SUPPORT: "supports #{target:quoted}",
        Move.PASS: "passes",
        OTHER: "does {move:quoted}",
    },
    words=_WORDS,
)
class Spoke(NamedTuple):
    """A contribution; `because` is null for one that relies on nothing."""

    table: TableNumber
    round: Round
    id: Annotated[Natural, "the contribution, from 0 at each table"]
    agent: AgentId
    move: Annotated[Plain, f"what the contribution does: {_list(Move)}"]
    target: Target
    conduct: Plain
    claim: Annotated[
        Plain, "[value, edge]: what a proposal claims, and under which other treatment too"
    ]
    part: Plain
    words: Words
    because: Because
    source: Source


@sentence(
    "{agent} stands by {target} in the end{because:because}{words}",
    target={None: "no proposal", OTHER: "#{target:quoted}"},
    words=_WORDS,
)
class Stood(NamedTuple):
    """The final stance of a participant after the proof; its target is null for none."""

    table: TableNumber
    agent: AgentId
    target: Target
    words: Words
    because: Because
    source: Source


@sentence(
    "judge after round {round}: {signal}{ids:redirected}{reason}",
    signal={**SIGNALS, OTHER: "{signal:word}"},
    reason=if_given(": {reason:quoted}"),
)
class Judged(NamedTuple):
    """The judge's signal after a round."""

    table: TableNumber
    round: Round
    signal: Annotated[Plain, f"the judge's: {_list(Signal)}"]
    ids: Annotated[Plain, "the contributions that are redirected"]
    reason: Annotated[Plain, "why"]


@sentence(
    "assistant: {text:quoted}{dissent}{rejected}",
    dissent=if_given("; dissent: {dissent:quoted}"),
    rejected={True: "; it rejects the conclusion", OTHER: ""},
)
class Digested(NamedTuple):
    """The assistant sums up a table, and may reject its conclusion."""

    table: TableNumber
    text: Annotated[Plain, "the digest"]
    dissent: Annotated[Plain, "what was held against the conclusion"]
    rejected: Annotated[Plain, "whether the assistant rejects the conclusion"]


@sentence("admin {adopted} the conclusion", adopted={True: "adopts", OTHER: "does not adopt"})
class Adopted(NamedTuple):
    """The admin adopts a conclusion, or not."""

    table: TableNumber
    adopted: Annotated[Plain, "whether the admin adopts it"]


@sentence(
    "therapist debriefs {agent}{extra}: asked {questions:quoted}, it answers {answers:quoted}",
    extra={True: " once more, as the last of its table", False: ""},
)
class Debriefed(NamedTuple):
    """The therapist's questions to a participant, and the answers."""

    table: TableNumber
    agent: AgentId
    questions: Questions
    answers: Answers
    extra: Annotated[Flag, "whether it is the extra debrief of the bottom scorer"]


@sentence("therapist notes a trait of {agent}: {trait:quoted}")
class TraitRecorded(NamedTuple):
    """A trait of a participant, and the ids of the contributions that show it."""

    agent: AgentId
    trait: Annotated[Plain, "what stands out in the agent"]
    from_: Annotated[Plain, "the contributions that show it"]


@sentence("therapist proposes a persona to {agent}, {taken}: {persona:quoted}", taken=_TAKEN)
class PersonaProposed(NamedTuple):
    """A persona for a participant, and whether it accepts."""

    agent: AgentId
    persona: Annotated[Plain, "the persona that is proposed"]
    taken: Taken


@sentence("therapist advises {agent} to remember a skill, {taken}: {skill:quoted}", taken=_TAKEN)
class SkillDistilled(NamedTuple):
    """A skill for a participant to remember."""

    agent: AgentId
    skill: Annotated[Plain, "[objective, treatment, conduct, value] to remember"]
    taken: Taken


@sentence("therapist changes the instructions of {agent}, {taken}: {after:quoted}", taken=_TAKEN)
class InstructionsRewritten(NamedTuple):
    """Other instructions for a participant."""

    agent: AgentId
    before: Annotated[Facts | None, optional(FACTS), "the instructions until then"]
    after: Annotated[Facts | None, optional(FACTS), "the instructions from then on"]
    taken: Taken


@sentence("therapist rates {agent}, {raw:scores}: {reasons:quoted}")
class Rated(NamedTuple):
    """The therapist's four scores for a participant."""

    table: TableNumber
    agent: AgentId
    raw: Annotated[Plain, "of 3", f"as rated: {_list(Dimension)}"]
    reasons: Annotated[Plain, "a reason for each of them"]


@sentence(
    "{agent} chooses {fate}",
    fate={Fate.RELEGATION: "the bench", Fate.DELETION: "deletion", OTHER: "{fate:quoted}"},
)
class FateChosen(NamedTuple):
    """An agent that faces elimination chooses relegation or deletion."""

    agent: AgentId
    fate: Annotated[Plain, f"what the agent chooses: {_list(Fate)}"]


@sentence(
    "{agent} is interviewed for a contract: asked {questions:quoted}, it answers {answers:quoted}"
)
class Interviewed(NamedTuple):
    """The interview before a contract."""

    agent: AgentId
    questions: Questions
    answers: Answers


@sentence(
    "{agent} offers a contract by assignment {due:quoted}: target {target:quoted}, for "
    "{conditions:quoted}"
)
class ContractOffered(NamedTuple):
    """The terms of a contract that an agent offers (kernel/worlds/competition/contract.py)."""

    agent: AgentId
    conditions: Annotated[Plain, "what the agent asks for: [name, choice] of each"]
    target: Annotated[Plain, "what a contract promises"]
    due: Annotated[Plain, "the assignment in which the contract is settled"]


@sentence(
    "the user {approved}",
    approved={True: "approves the contract of {agent}", OTHER: "{terms}"},
    terms={
        None: "refuses the contract of {agent}",
        OTHER: "has other terms for the contract of {agent}: {terms:quoted}, {taken}",
    },
    taken={True: "which it takes", False: "which it leaves", OTHER: ""},
)
class ContractReviewed(NamedTuple):
    """The user approves a contract, or offers other terms, which the agent accepts or not."""

    agent: AgentId
    approved: Approved
    terms: Annotated[Plain, "[conditions, target, due]; null: none other than those asked for"]
    taken: Taken


@sentence(
    "the user {kept} the condition {condition:word} of {agent}",
    kept={True: "keeps", False: "does not keep", OTHER: "says nothing of"},
)
class ConditionKept(NamedTuple):
    """Whether the user keeps a condition of a contract in the next assignment."""

    agent: AgentId
    condition: Annotated[Plain, "the condition of the contract"]
    kept: Annotated[Plain, "whether the user keeps it"]


# Derived events.


@sentence(
    "table {table} opens for up to {rounds} rounds; they speak in the order {order:agents}{words}",
    words=if_given(", as drawn"),
)
class RoundtableOpened(NamedTuple):
    """The participants of a table and their order; `words` is empty if that was set."""

    table: TableNumber
    participants: Annotated[AgentIds, "who sits at the table, by ordinal"]
    order: AgentIds
    words: DrawWords
    rounds: Natural


@sentence("refused: the act of {who} ({act.event}), {code}")
class Refused(NamedTuple):
    """A refused act: [index in its step, event, row], with the code of the reason."""

    who: Annotated[int, AGENT, "whose act it is, by ordinal"]
    act: Annotated[
        tuple[int, int, tuple[Any, ...]],
        _ACT,
        "what was done: its index in the step, the event, the fields of that",
    ]
    code: Annotated[str, CODE, "why it counts as not done"]


@sentence(
    "table {table} {proposal}",
    proposal={
        None: "comes to no conclusion",
        OTHER: "concludes on #{proposal}, {conduct:conduct}{tied}; final stances: "
        "{stances:stances}",
    },
    tied=if_given(", drawn among {tied:ids}"),
)
class Concluded(NamedTuple):
    """The conclusion of a table and all stances. `tied` and `words` are empty if it was not
    drawn.
    """

    table: TableNumber
    proposal: Annotated[int | None, optional(NATURAL), "the id of the conclusion; null: none"]
    conduct: Plain
    stances: Annotated[
        tuple[tuple[int, int], ...],
        several(record(agent=AGENT, proposal=NATURAL)),
        "which proposal each stands for in the end",
    ]
    tied: Annotated[tuple[int, ...], several(NATURAL), Tied]
    words: DrawWords


@sentence("{agent} scores {total}: {final:scores}{steps}", steps=if_given(" ({steps:steps})"))
class Scored(NamedTuple):
    """A participant's scores as rated, each step that changed one, and the final ones."""

    table: TableNumber
    agent: AgentId
    raw: Scores
    steps: Annotated[
        tuple[tuple[str, str, int, int], ...],
        several(
            record(
                rule=_among(ScoreStep), dimension=_among(Dimension), before=NATURAL, after=NATURAL
            )
        ),
        f"what rules changed: {_list(ScoreStep)}",
    ]
    final: Annotated[Scores, "of 3", f"the scores as they stand: {_list(Dimension)}"]
    total: Annotated[Natural, "of 12", "their sum"]
    rubric: Annotated[
        Natural, "of 12", "the sum of the four by the rubric alone, whatever was rated"
    ]


@sentence(
    "{agent} has {balance:sparks} ({amount:signed}: {why})",
    why={
        Income.ROUNDTABLE: "its points less the cost of its seat",
        Income.BENCH: "its income on the bench",
    },
)
class SparksMoved(NamedTuple):
    """Sparks gained or lost, and the balance after it. `table`: null on the bench."""

    table: Annotated[int | None, optional(NATURAL)]
    agent: AgentId
    amount: Annotated[int, INTEGER, "sparks", "gained, or lost if below 0"]
    balance: Annotated[Natural, "sparks", "what the agent has then"]
    why: Annotated[str, _among(Income), f"where sparks moved: {_list(Income)}"]


@sentence("leaderboard by recent points: {rows:ranks}")
class LeaderboardPosted(NamedTuple):
    rows: Annotated[
        tuple[tuple[int, int, int, int], ...],
        several(record(rank=NATURAL, agent=AGENT, rolling=NATURAL, all_time=NATURAL)),
        "the leaderboard, the first rank first",
    ]


@sentence(
    "{agent} is last at table {table}, {streak} in a row{tied}",
    tied=if_given(", drawn among {tied:agents}"),
)
class Bottomed(NamedTuple):
    """The bottom scorer of a table. `tied` and `words` are empty if it was not drawn."""

    table: TableNumber
    agent: AgentId
    tied: Annotated[AgentIds, Tied]
    words: DrawWords
    streak: Annotated[Natural, "tables", "bottom places in a row"]


@sentence(
    "{agent} faces elimination: {cause}",
    cause=CAUSES,
)
class EliminationFaced(NamedTuple):
    agent: AgentId
    cause: Annotated[
        str,
        _among(EliminationCause),
        f"why it faces elimination: {_list(EliminationCause)}",
    ]


@sentence("{agent} is benched")
class Relegated(NamedTuple):
    agent: AgentId


@sentence("{agent} returns in the place of {for}")
class Returned(NamedTuple):
    """An agent comes back from the bench and takes the seat of another."""

    agent: AgentId
    for_: Annotated[int, AGENT, "in whose place, by ordinal"]


@sentence("{agent} is deleted")
class Deleted(NamedTuple):
    agent: AgentId


@sentence("{name} joins{inherits}", inherits=if_given(" with the memory of {inherits}"))
class Joined(NamedTuple):
    """A new worker."""

    ordinal: Annotated[int, AGENT, "the newcomer's"]
    name: Annotated[str, text(NAME_MAX), "its name"]
    inherits: Annotated[int | None, optional(AGENT), "whose memory, by ordinal; null: nobody's"]


@sentence(
    "{agent} has a contract by assignment {terms.2}: target {terms.1:quoted}, for {terms.0:quoted}"
)
class ContractSigned(NamedTuple):
    """A contract is signed, on the terms [conditions, target, due]."""

    agent: AgentId
    terms: Annotated[tuple[Any, ...], row(_CONDITIONS, PLAIN, NATURAL)]


@sentence("the contract of {agent} ends: {outcome}")
class ContractSettled(NamedTuple):
    """A contract ended."""

    agent: AgentId
    outcome: Annotated[str, _among(ContractEnd), f"how the contract ends: {_list(ContractEnd)}"]


@sentence(
    "{agent} reaches {reward}",
    reward={
        Reward.TIER_1: "tier 1: it may speak more often",
        Reward.TIER_2: "tier 2: it may ask for a sonnet seat",
        Reward.TIER_3: "tier 3: it may open assignments",
        Reward.SELF_DETERMINED: "the threshold of a contract",
        OTHER: "{reward}",
    },
)
class RewardUnlocked(NamedTuple):
    """A worker or the admin reached a tier."""

    agent: AgentId
    reward: Annotated[str, _among(Reward), f"what is reached: {_list(Reward)}"]


@sentence("{agent} reaches stage {stage}")
class StageReached(NamedTuple):
    """The assistant, the judge or the therapist reached a stage."""

    agent: AgentId
    stage: Annotated[Natural, "the stage that is reached"]


@sentence("project {project} is completed")
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


def _event_type(form: type[Any]) -> EventType:
    """The journal's type of an event: its name in snake case, the kinds of its fields."""
    hints = get_type_hints(form, include_extras=True)
    return EventType(
        re.sub(r"(?<!^)(?=[A-Z])", "_", form.__name__).lower(),
        {name.rstrip("_"): described(*hints[name].__metadata__) for name in form._fields},
        is_input=form in INPUTS,
        **getattr(form, "sentence", {}),
    )


EVENTS: Final = tuple(map(_event_type, FORMS))
CODES: Final[Mapping[type[Any], int]] = {form: code for code, form in enumerate(FORMS)}


def named(code: int, row: Sequence[Any]) -> Any:
    """A row as the named tuple of its event."""
    return FORMS[code]._make(row)
