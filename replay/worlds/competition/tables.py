"""The tables of seasons: the columns of their events, and the tables of assignments, roundtables,
contributions, final stances, tests, trials, scores, ranks, sparks.

They have closed assignments only, because the outcome of a contribution is known when its table has
ended. The fields of refused acts can be any value: one that does not fit its column is null, and
complete in the table of events.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import attrs

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.acts.roundtable import MOVES
from goldrush.kernel.worlds.competition.arena import DIRECTIONS, Conduct
from goldrush.kernel.worlds.competition.events import (
    CODES,
    EVENTS,
    Concluded,
    LeaderboardPosted,
    Scored,
    SparksMoved,
    Spoke,
    Stood,
    Tested,
    Tried,
)
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.state import SeasonState
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import (
    Class,
    ContractEnd,
    EliminationCause,
    Fate,
    Income,
    Move,
    Part,
    Reward,
    ScoreStep,
    Signal,
    Status,
    names_of,
)
from goldrush.replay.data.columns import (
    JSON,
    REAL,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    WHOLES,
    Column,
    Row,
    Table,
    TableSource,
    Type,
    Types,
    records,
)
from goldrush.replay.data.tables import units_table
from goldrush.replay.tools import Tables
from goldrush.replay.worlds.competition.measures import MEASURES
from goldrush.replay.worlds.competition.played import Act, Played, played
from goldrush.replay.worlds.competition.proof import (
    BY_CHALLENGE,
    BY_PROOF,
    Side,
    refuted_by,
    sides,
)
from goldrush.replay.worlds.competition.quality import Atlases, Quality
from goldrush.replay.worlds.competition.summary import counts_of

RUNS: Final = records("list of (seed, digest)", {"seed": "int64", "digest": "string"})
STEPS: Final = records(
    "list of (rule, dimension, before, after)",
    {"rule": "string", "dimension": "string", "before": "int64", "after": "int64"},
)
_STANCES: Final = records("list of (agent, proposal)", {"agent": "int64", "proposal": "int64"})
_RANKS: Final = records(
    "list of (rank, agent, rolling, all_time)",
    {"rank": "int64", "agent": "int64", "rolling": "int64", "all_time": "int64"},
)
_BY_HAND: Final = records("list of (assignment, agent)", {"assignment": "int64", "agent": "int64"})


def _types() -> Types:
    """The types of the kinds of fields that only seasons have."""
    lists: Sequence[tuple[type[Any], str, Type]] = (
        (Tested, "runs", RUNS),
        (Scored, "steps", STEPS),
        (Concluded, "stances", _STANCES),
        (LeaderboardPosted, "rows", _RANKS),
    )
    return {EVENTS[CODES[form]].fields[field].name: type for form, field, type in lists}


TYPES: Final = _types()
SETUP: Final = (
    Column("config", JSON, "", "all settings by name, the arena with its subjects among them"),
    Column("cast", JSON, "", "ordinal, policy and options of each; at the start name and role too"),
    Column("parent", TEXT, "", "SHA-256 of the journal that was forked, in hex"),
    Column("changes", JSON, "", "the settings that a fork changes, with their new values"),
    Column("program", JSON, "", "the options that name another program, of a fork that changes it"),
    Column("replaced", _BY_HAND, "", "the contributions that were put in by hand"),
)


def _of(family: type) -> str:
    return ", ".join(names_of(family))


FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "agent": ("", "who did it, was asked, or is meant, by ordinal"),
    "question": ("", "which question a model was asked"),
    "text": ("", "what a model wrote; the digest"),
    "source": ("", "the model, its settings and what its answer came with; null where none wrote"),
    "by": ("", "who opens, proposes or sets, by ordinal"),
    "subject": ("", "[objective, treatment] of a proposed project"),
    "approved": ("", "whether the user approves"),
    "class": ("", "the class it changes to: " + _of(Class)),
    "allowed": ("", "what the admin said; null: not asked"),
    "team": ("", "who is to sit at the table, by ordinal; null leaves it open"),
    "day": ("days", "the day of the assignment, from 0"),
    "project": ("", "the project, from 0"),
    "subjects": ("", "[objective, treatment] for each table"),
    "directive": ("", "[team, order], each or both null"),
    "table": ("", "the table of the assignment, from 0"),
    "order": ("", "who speaks, in order, by ordinal; null leaves it open"),
    "rounds": ("rounds", "how many rounds the table may take; null leaves it open"),
    "at": ("", "the id of the proposal that is tested; null: the bar"),
    "part": ("", "the part of a claim: " + _of(Part)),
    "conduct": ("", "the conduct, as the arena writes it"),
    "treatment": ("", "the treatment under which it was run"),
    "value": ("of the objective", "what the run showed; null: undefined"),
    "runs": ("", "the seed of each run, and the digest of what it did"),
    "number": ("", "which of the agent's trials of the assignment, from 0"),
    "round": ("", "the round, from 0"),
    "id": ("", "the contribution, from 0 at each table"),
    "move": ("", "what the contribution does: " + ", ".join(MOVES)),
    "target": (
        "",
        "the id of the proposal that it refers to or stands by; what a contract promises",
    ),
    "claim": ("", "[value, edge]: what a proposal claims, and under which other treatment too"),
    "words": ("", "what was said; the 64-bit words that were drawn, 16 hex digits each"),
    "because": ("", "[ids relied on, whether on own trials]"),
    "signal": ("", "the judge's: " + _of(Signal)),
    "ids": ("", "the contributions that are redirected"),
    "reason": ("", "why"),
    "dissent": ("", "what was held against the conclusion"),
    "rejected": ("", "whether the assistant rejects the conclusion"),
    "adopted": ("", "whether the admin adopts it"),
    "questions": ("", "what the agent was asked"),
    "answers": ("", "its answers, word for word"),
    "extra": ("", "whether it is the extra debrief of the bottom scorer"),
    "trait": ("", "what stands out in the agent"),
    "from": ("", "the contributions that show it"),
    "persona": ("", "the persona that is proposed"),
    "taken": ("", "whether the agent takes it; null: not asked"),
    "skill": ("", "[objective, treatment, conduct, value] to remember"),
    "before": ("", "the instructions until then"),
    "after": ("", "the instructions from then on"),
    "raw": ("of 3", "as rated: " + ", ".join(DIMENSIONS)),
    "reasons": ("", "a reason for each of them"),
    "fate": ("", "what the agent chooses: " + _of(Fate)),
    "conditions": ("", "what the agent asks for: [name, choice] of each"),
    "due": ("", "the assignment in which the contract is settled"),
    "terms": ("", "[conditions, target, due]; null: none other than those asked for"),
    "condition": ("", "the condition of the contract"),
    "kept": ("", "whether the user keeps it"),
    "participants": ("", "who sits at the table, by ordinal"),
    "who": ("", "whose act it is, by ordinal"),
    "act": ("", "what was done: its index in the step, the event, the fields of that"),
    "code": ("", "why it counts as not done"),
    "proposal": ("", "the id of the conclusion; null: none"),
    "stances": ("", "which proposal each stands for in the end"),
    "tied": ("", "between whom, or which proposals, it was drawn"),
    "steps": ("", "what rules changed: " + _of(ScoreStep)),
    "final": ("of 3", "the scores as they stand: " + ", ".join(DIMENSIONS)),
    "total": ("of 12", "their sum"),
    "rubric": ("of 12", "the sum of the four by the rubric alone, whatever was rated"),
    "amount": ("sparks", "gained, or lost if below 0"),
    "balance": ("sparks", "what the agent has then"),
    "why": ("", "where sparks moved: " + _of(Income)),
    "rows": ("", "the leaderboard, the first rank first"),
    "streak": ("tables", "bottom places in a row"),
    "cause": ("", "why it faces elimination: " + _of(EliminationCause)),
    "for": ("", "in whose place, by ordinal"),
    "ordinal": ("", "the newcomer's"),
    "name": ("", "its name"),
    "inherits": ("", "whose memory, by ordinal; null: nobody's"),
    "outcome": ("", "how the contract ends: " + _of(ContractEnd)),
    "reward": ("", "what is reached: " + _of(Reward)),
    "stage": ("", "the stage that is reached"),
}


_MEASURED: Final = units_table(VOCABULARY, MEASURES)
_ASSIGNMENT: Final = _MEASURED.own[0]
_TABLE: Final = Column("table", WHOLE, "", "the table of the assignment, from 0")
_AGENT: Final = Column("agent", WHOLE, "", "who, by ordinal")
_NAME: Final = Column("name", TEXT, "", "the agent's name; null where there is no such agent")
_CODE: Final = Column("code", TEXT, "", "why it was refused; null: it was not")
_AS_WRITTEN: Final = "text as it is, any other form as JSON"
_OBJECTIVE: Final = "of the objective"


def _each(run: TableSource) -> Iterator[Played]:
    """The assignments that were closed when the run was measured."""
    closed = run.measured.units
    with JournalReader(run.path) as reader:
        yield from islice(played(run.world, reader), closed)


def _rows(of: Callable[[Played], Iterator[Row]]) -> Callable[[TableSource], Iterator[Row]]:
    """The rows of a run, from a function for one assignment; prepends the assignment's number."""

    def rows(run: TableSource) -> Iterator[Row]:
        for one in _each(run):
            for row in of(one):
                yield (one.state.assignment, *row)

    return rows


def _named(state: SeasonState, agent: int) -> tuple[int | None, str | None]:
    known = state.agents.get(agent)
    return _id(agent), None if known is None else known.name


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def _id(value: Any) -> int | None:
    """An ordinal, an id or a count; None if it is not in the range of 64-bit integers."""
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _ids(value: Any) -> list[int] | None:
    """Ids; None if one of them is none."""
    return list(value) if type(value) is tuple and None not in map(_id, value) else None


def _conduct(value: Conduct) -> str | None:
    return value if value is None or type(value) is str else json.dumps(value)


def _real(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _runs(act: Tested | Tried) -> Any:
    if any(_id(seed) is None for seed, _ in act.runs):
        return None
    return _RUNS.show(act.runs)


_RUNS: Final = EVENTS[CODES[Tested]].fields["runs"]


# Assignments.


def _assignment_rows(run: TableSource) -> Iterator[Row]:
    for (number, *values), one in zip(_MEASURED.own_rows(run), _each(run), strict=True):
        state = one.state
        assert state.opening is not None  # closed, so it was opened
        yield (
            number,
            state.day,
            state.project,
            *_named(state, state.opening.by),
            len(state.tables),
            *values,
        )


ASSIGNMENTS: Final = Table(
    _MEASURED.name,
    f"{_MEASURED.description}, and means over its tables where it has two",
    [
        _ASSIGNMENT,
        Column("day", WHOLE, "days", "its day, from 0"),
        Column("project", WHOLE, "", "its project, from 0"),
        Column("by", WHOLE, "", "who opened it, by ordinal"),
        Column("by_name", TEXT, "", "the name of that agent"),
        Column("tables", WHOLE, "tables", "how many it has"),
        *_MEASURED.own[1:],
    ],
    _assignment_rows,
)


# Roundtables.

_COUNTS: Final = {
    "rounds": ("rounds", "in which somebody had a turn"),
    "contributions": ("contributions", "that count: neither passes, nor refused, nor redirected"),
    "passes": ("contributions", "passes, what was refused in its author's turn not counted"),
    "refused": ("contributions", "that were refused"),
    "redirected": ("contributions", "redirected by the judge, and what refers to them"),
    "trials": ("trials", "ordered by somebody for itself"),
    "claims": ("contributions", "proposals, amendments included, that were not redirected"),
    "held": ("contributions", "those of them whose base held"),
    "sharp": ("contributions", "those of them whose base is sharp"),
    "challenges": ("contributions", "challenges that were not redirected"),
    "sustained": ("contributions", "those of them that were right"),
    "stood": ("agents", "who gave a final stance that was not refused"),
    "changed": ("agents", "who stand elsewhere in the end than at the end of the talk"),
}


def _roundtable_rows(run: TableSource) -> Iterator[Row]:
    atlases: Atlases | None = None
    for one in _each(run):
        atlases = atlases or Atlases(one.state.arena)
        for table in one.state.tables:
            yield (one.state.assignment, *_roundtable(one, table, atlases))


def _roundtable(one: Played, table: Roundtable, atlases: Atlases) -> Row:
    bar, conclusion, best = one.bar_of(table), table.conclusion, table.best_tested()
    quality = atlases.of_table(table, bar)
    assert conclusion is not None  # the assignment has all its events
    return (
        table.number,
        *(table.subject.objective, table.subject.better, table.treatment, table.subject.family),
        *(_conduct(bar), _real(table.bar)),
        *_winner(one.state, table, conclusion.proposal),
        bool(conclusion.tied),
        *(table.is_rejected if table.is_digested else None, table.is_adopted),
        *((None, None) if best is None else (_conduct(best[0]), _real(best[1]))),
        *((None,) * len(_OF_QUALITY) if quality is None else attrs.astuple(quality)),
        len(table.participants),
        *_counts(one, table).values(),
    )


def _winner(state: SeasonState, table: Roundtable, proposal: int | None) -> Row:
    if proposal is None:
        return (None,) * 8
    said = table.contributions[proposal]
    tested = _real(table.tests[proposal, Part.BASE])
    return (
        *(proposal, *_named(state, said.agent), _conduct(said.conduct)),
        *(_real(said.claimed), tested, table.is_sharp(said), table.stances.counts()[proposal]),
    )


def _counts(one: Played, table: Roundtable) -> dict[str, int]:
    spoken = [
        spoke
        for spoke in one.acts
        if isinstance(spoke.act, Spoke) and spoke.act.table == table.number
    ]
    counted = {
        "rounds": len({said.round for said in table.contributions}),
        "contributions": len(list(table.counted())),
        "passes": sum(said.move == Move.PASS and said.code is None for said in table.contributions),
        "refused": sum(spoke.code is not None for spoke in spoken),
        "redirected": len(table.removed),
        **counts_of(table),
    }
    return {name: counted[name] for name in _COUNTS}


_OF_QUALITY: Final = tuple(attrs.fields_dict(Quality))

ROUNDTABLES: Final = Table(
    "roundtables",
    "a table of a closed assignment, which has two where it was split",
    [
        _ASSIGNMENT,
        _TABLE,
        Column("objective", TEXT, "", "what it is about: the objective"),
        Column("better", TEXT, "", "which way that is better: " + ", ".join(DIRECTIONS)),
        Column("treatment_", TEXT, "", "the treatment of the arena"),
        Column("family", TEXT, "", "the family of subjects by which agents remember it"),
        Column("bar_conduct", TEXT, "", f"the conduct that sets the bar: {_AS_WRITTEN}"),
        Column("bar", REAL, _OBJECTIVE, "its tested value"),
        Column("proposal", WHOLE, "", "the id of the conclusion; null: there is none"),
        Column("agent", WHOLE, "", "whose proposal that is, by ordinal"),
        Column("name", TEXT, "", "the name of that agent"),
        Column("conduct", TEXT, "", f"its conduct: {_AS_WRITTEN}"),
        Column("claim", REAL, _OBJECTIVE, "the value that was claimed of it"),
        Column("tested", REAL, _OBJECTIVE, "its tested value"),
        Column("is_sharp", TRUTH, "", "whether the claim is sharp"),
        Column("stances", WHOLE, "agents", "how many stand for it in the end"),
        Column("drawn", TRUTH, "", "whether it was drawn among equals"),
        Column("rejected", TRUTH, "", "whether the assistant rejected it; null: not asked"),
        Column("adopted", TRUTH, "", "whether the admin adopted it; null: not asked"),
        Column("best_conduct", TEXT, "", f"the proposed conduct that did best: {_AS_WRITTEN}"),
        Column("best", REAL, _OBJECTIVE, "its tested value, whether the claim held or not"),
        *(
            Column(name, REAL, "", f"{MEASURES[name].definition} Null without an atlas.")
            for name in _OF_QUALITY
        ),
        Column("participants", WHOLE, "agents", "how many sat at it"),
        *(Column(name, WHOLE, *says) for name, says in _COUNTS.items()),
    ],
    _roundtable_rows,
)


# Contributions, final stances, tests and trials.


def _contribution_rows(one: Played) -> Iterator[Row]:
    for spoke in one.acts:
        if not isinstance(spoke.act, Spoke):
            continue
        act, found = spoke.act, one.said(spoke)
        value, edge = act.claim if _is_pair(act.claim) else (None, None)
        ids, own = act.because if _is_pair(act.because) else (None, None)
        yield (
            _id(act.table),
            _id(act.round if found is None else found[1].round),
            *(spoke.id, *_named(one.state, act.agent), spoke.code),
            *(_text(act.move), _id(act.target), _conduct(act.conduct), _real(value), _text(edge)),
            *(_text(act.part), _text(act.words)),
            *(_ids(ids), own if type(own) is bool else None),
            *((None,) * 9 if found is None or spoke.code is not None else _became(*found)),
        )


def _is_pair(value: Any) -> bool:
    return type(value) is tuple and len(value) == 2


def _became(table: Roundtable, said: Contribution) -> Row:
    """The outcome of a contribution that was not refused."""
    is_removed = said.id in table.removed
    if said.move == Move.CHALLENGE:
        return (*(None,) * 5, table.is_sustained(said), is_removed, None, None)
    if not said.is_proposal:
        return (*(None,) * 6, is_removed, None, None)
    assert table.conclusion is not None  # the assignment has all its events
    base, edge = (said.id, Part.BASE), (said.id, Part.EDGE)
    return (
        _real(table.tests.get(base)),
        _real(table.tests.get(edge)),
        *(table.held(*base), table.held(*edge)),
        table.is_sharp(said) if base in table.tests else None,
        None,
        is_removed,
        refuted_by(table, said.id),
        table.conclusion.proposal == said.id,
    )


CONTRIBUTIONS: Final = Table(
    "contributions",
    "a contribution to a table, refused ones included, in order",
    [
        _ASSIGNMENT,
        _TABLE,
        Column("round", WHOLE, "", "the round, from 0"),
        Column(
            "id", WHOLE, "",
            "its number at the table, from 0; null of what was refused out of its author's turn",
        ),
        _AGENT,
        _NAME,
        Column("code", TEXT, "", f"{_CODE.description}; it counts as a pass then, or as nothing"),
        Column("move", TEXT, "", ", ".join(MOVES)),
        Column("target", WHOLE, "", "the id of the proposal that it refers to"),
        Column("conduct", TEXT, "", f"of a proposal: {_AS_WRITTEN}"),
        Column("claim", REAL, _OBJECTIVE, "the value that a proposal claims"),
        Column("edge", TEXT, "", "the treatment under which it claims it too"),
        Column("part", TEXT, "", "the part of its target's claim that a challenge denies: "
               + ", ".join(names_of(Part))),
        Column("words", TEXT, "", "what was said"),
        Column("because", WHOLES, "", "the ids that it relies on"),
        Column("because_trials", TRUTH, "", "whether it relies on trials of its agent's own"),
        Column("tested", REAL, _OBJECTIVE, "of a proposal, the tested value of the base"),
        Column("edge_tested", REAL, _OBJECTIVE, "that of the edge"),
        Column("held", TRUTH, "", "whether the base held; null: it is none, or was not tested"),
        Column("edge_held", TRUTH, "", "whether the edge did"),
        Column("sharp", TRUTH, "", "whether the base is sharp"),
        Column("sustained", TRUTH, "", "whether a challenge was right"),
        Column("redirected", TRUTH, "", "whether it, or what it refers to, was; null if refused"),
        Column("refuted", TEXT, "", "what refuted a proposal that was not redirected: "
               f"{BY_CHALLENGE} or {BY_PROOF}; null: nothing did"),
        Column("concluded", TRUTH, "", "whether the proposal is the conclusion"),
    ],
    _rows(_contribution_rows),
)  # fmt: skip


def _final_stance_rows(one: Played) -> Iterator[Row]:
    stances = {
        (table.number, side.agent): side for table in one.state.tables for side in sides(table)
    }
    for stood in one.acts:
        if not isinstance(stood.act, Stood):
            continue
        act = stood.act
        target = _proposal(one.state, act.table, act.target)
        side = stances.get((act.table, act.agent))
        ids, own = act.because if _is_pair(act.because) else (None, None)
        yield (
            *(_id(act.table), *_named(one.state, act.agent), stood.code, _id(act.target)),
            *((None,) * 5 if target is None else _stood_by(one.state, *target, act.agent)),
            *((None,) * 4 if side is None else _moved(side)),
            *(_text(act.words), _ids(ids), own if type(own) is bool else None),
            _text((act.source or {}).get("model")),
        )


def _proposal(state: SeasonState, number: int, id: Any) -> tuple[Roundtable, Contribution] | None:
    """A table and its proposal of that id, redirected or not; None if there is none."""
    if not 0 <= number < len(state.tables) or _id(id) is None:
        return None
    table = state.tables[number]
    said = table.contributions[id] if id < len(table.contributions) else None
    return None if said is None or not said.is_proposal else (table, said)


def _stood_by(state: SeasonState, table: Roundtable, said: Contribution, agent: int) -> Row:
    """The proposal that an agent stands by."""
    assert table.conclusion is not None  # the assignment has all its events
    tested = _real(table.tests.get((said.id, Part.BASE)))
    is_conclusion = table.conclusion.proposal == said.id
    return (*_named(state, said.agent), tested, said.agent == agent, is_conclusion)


def _moved(side: Side) -> Row:
    return (side.talked, side.proven, side.final, side.changed)


FINAL_STANCES: Final = Table(
    "final_stances",
    "the final stance of a participant, given once all claims are tested, refused ones included",
    [
        _ASSIGNMENT,
        _TABLE,
        _AGENT,
        _NAME,
        Column("code", TEXT, "", f"{_CODE.description}; the stance that the proof left stays then"),
        Column("target", WHOLE, "", "the id of the proposal that it stands by; null: none"),
        Column("target_agent", WHOLE, "", "whose proposal that is, by ordinal"),
        Column("target_name", TEXT, "", "the name of that agent"),
        Column("tested", REAL, _OBJECTIVE, "its tested value"),
        Column("own", TRUTH, "", "whether it is the agent's own"),
        Column("concluded", TRUTH, "", "whether it is the conclusion"),
        Column("talked", WHOLE, "", "where the agent stood at the end of the talk; null: nowhere"),
        Column("proven", WHOLE, "", "where the proof left it; null: nowhere"),
        Column("final", WHOLE, "", "where it stands in the end; null: nowhere"),
        Column("changed", TRUTH, "", "whether that is elsewhere than at the end of the talk"),
        Column("words", TEXT, "", "its reason"),
        Column("because", WHOLES, "", "the ids that it relies on"),
        Column("because_trials", TRUTH, "", "whether it relies on trials of its agent's own"),
        Column("model", TEXT, "", "the language model that gave it; null: no model did"),
    ],
    _rows(_final_stance_rows),
)


def _test_rows(one: Played) -> Iterator[Row]:
    for test in one.done(Tested):
        table = one.state.tables[test.table]
        agent, name, claim, held, challenge = _of_claim(one.state, table, test.at, test.part)
        yield (
            *(test.table, test.at, test.part, agent, name),
            *(_conduct(test.conduct), test.treatment),
            *(claim, _real(test.value), held, challenge, _runs(test)),
        )


def _of_claim(state: SeasonState, table: Roundtable, at: int | None, part: str | None) -> Row:
    """The claim of a test: agent, name, claimed value, whether it held, and the challenge that
    caused the test (the first to that part); all None for the test of a bar.
    """
    if at is None or part is None:  # the bar
        return (None,) * 5
    said = table.contributions[at]
    challenges = (other for other in table.contributions if other.move == Move.CHALLENGE)
    challenge = next((c.id for c in challenges if c.challenged == (at, part)), None)
    return (*_named(state, said.agent), _real(said.claimed), table.held(at, part), challenge)


TESTS: Final = Table(
    "tests",
    "a test of a bar, or of a part of a claim, in order",
    [
        _ASSIGNMENT,
        _TABLE,
        Column("at", WHOLE, "", "the id of the proposal; null: the bar"),
        Column("part", TEXT, "", f"the part of its claim: {', '.join(names_of(Part))}"),
        Column("agent", WHOLE, "", "whose proposal it is, by ordinal; null: the bar"),
        Column("name", TEXT, "", "the name of that agent"),
        Column("conduct", TEXT, "", f"what was tested: {_AS_WRITTEN}"),
        Column("treatment_", TEXT, "", "under which treatment of the arena"),
        Column("claim", REAL, _OBJECTIVE, "the value that was claimed; null: the bar"),
        Column("value", REAL, _OBJECTIVE, "the tested value; null: undefined"),
        Column("held", TRUTH, "", "whether the claim held; null: the bar"),
        Column("challenge", WHOLE, "", "the id of the challenge that it was made for"),
        Column("runs", RUNS, "", FIELDS["runs"][1]),
    ],
    _rows(_test_rows),
)


def _trial_rows(one: Played) -> Iterator[Row]:
    for tried in one.acts:
        if isinstance(tried.act, Tried):
            yield _trial(one.state, tried, tried.act)


def _trial(state: SeasonState, tried: Act, act: Tried) -> Row:
    return (
        *(_id(act.table), tried.round, *_named(state, act.agent), _id(act.number), tried.code),
        *(_conduct(act.conduct), _text(act.treatment), _real(act.value), _runs(act)),
    )


TRIALS: Final = Table(
    "trials",
    "a trial that an agent ordered for itself, refused ones included, in order",
    [
        _ASSIGNMENT,
        _TABLE,
        Column("round", WHOLE, "", "the round in which it was ordered; null: before the first"),
        _AGENT,
        _NAME,
        Column("number", WHOLE, "", "which of the agent's in the assignment, from 0"),
        Column("code", TEXT, "", f"{_CODE.description}; nothing is spent then"),
        Column("conduct", TEXT, "", f"what was tried: {_AS_WRITTEN}"),
        Column("treatment_", TEXT, "", "under which treatment of the arena"),
        Column("value", REAL, _OBJECTIVE, "what it showed; null: undefined"),
        Column("runs", RUNS, "", "the seed of the run, and the digest of what it did"),
    ],
    _rows(_trial_rows),
)


# Derived results.


def _score_rows(one: Played) -> Iterator[Row]:
    for score in one.followed(Scored):
        table = one.state.tables[score.table]
        reasons = table.reasons.get(score.agent)
        yield (
            *(score.table, *_named(one.state, score.agent)),
            *(*score.raw, *score.final, score.total, score.rubric),
            [list(step) for step in score.steps],
            None if reasons is None else list(reasons),
            table.bottom == score.agent,
        )


SCORES: Final = Table(
    "scores",
    "the scores of an agent that sat at a table",
    [
        _ASSIGNMENT,
        _TABLE,
        _AGENT,
        _NAME,
        *(Column(f"raw_{name}", WHOLE, "of 3", f"{name} as rated") for name in DIMENSIONS),
        *(Column(name, WHOLE, "of 3", f"{name} as it stands") for name in DIMENSIONS),
        Column("total", WHOLE, "of 12", "the sum of the four as they stand"),
        Column("rubric", WHOLE, "of 12", FIELDS["rubric"][1]),
        Column("steps", STEPS, "", FIELDS["steps"][1]),
        Column("reasons", TEXTS, "", "a reason for each of the four; null: none was given"),
        Column("bottom", TRUTH, "", "whether it is the bottom scorer of the table"),
    ],
    _rows(_score_rows),
)


def _rank_rows(one: Played) -> Iterator[Row]:
    state = one.state
    for rank, ordinal, rolling, all_time in state.leaderboard:
        agent = state.agents[ordinal]
        yield (
            *(state.day, rank, ordinal, agent.name, rolling, all_time),
            *(agent.class_, agent.status, agent.sparks),
        )


RANKS: Final = Table(
    "ranks",
    "a line of the leaderboard that was posted in an assignment",
    [
        _ASSIGNMENT,
        Column("day", WHOLE, "days", "its day, from 0"),
        Column("rank", WHOLE, "", "by the rolling sum, from 1"),
        _AGENT,
        _NAME,
        Column("rolling", WHOLE, "points", "the sum of totals in the leaderboard's window"),
        Column("all_time", WHOLE, "points", "the sum of all totals"),
        Column("class", TEXT, "", "what it runs as: " + ", ".join(names_of(Class))),
        Column("status", TEXT, "", "when the assignment closes: " + ", ".join(names_of(Status))),
        Column("sparks", WHOLE, "sparks", "what it has when the assignment closes"),
    ],
    _rows(_rank_rows),
)


def _spark_rows(one: Played) -> Iterator[Row]:
    for moved in one.followed(SparksMoved):
        agent = _named(one.state, moved.agent)
        yield (moved.table, *agent, moved.amount, moved.balance, moved.why)


SPARKS: Final = Table(
    "sparks",
    "a move of an agent's sparks, in order",
    [
        _ASSIGNMENT,
        Column("table", WHOLE, "", "the table that it sat at; null: it was on the bench"),
        _AGENT,
        _NAME,
        Column("amount", WHOLE, "sparks", FIELDS["amount"][1]),
        Column("balance", WHOLE, "sparks", FIELDS["balance"][1]),
        Column("why", TEXT, "", ", ".join(names_of(Income))),
    ],
    _rows(_spark_rows),
)

TABLES: Final = Tables(
    SETUP,
    TYPES,
    FIELDS,
    (
        ASSIGNMENTS,
        ROUNDTABLES,
        CONTRIBUTIONS,
        FINAL_STANCES,
        TESTS,
        TRIALS,
        SCORES,
        RANKS,
        SPARKS,
    ),
)
