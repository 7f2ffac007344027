"""The tables of seasons: the columns of their events, and the tables of assignments, roundtables,
contributions, final stances, tests, trials, scores, ranks, sparks.

They have closed assignments only, because the outcome of a contribution is known when its table has
ended. The fields of refused acts can be any value: one that does not fit its column is null, and
complete in the table of events.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from operator import attrgetter
from typing import Any, Final, Generic, TypeVar

import attrs

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.shape import AGENT, NATURAL, record, several
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.acts.roundtable import MOVES
from goldrush.kernel.worlds.competition.arena import DIRECTIONS, Conduct, Subject
from goldrush.kernel.worlds.competition.events import (
    CODES,
    EVENTS,
    Scored,
    SparksMoved,
    Spoke,
    Stood,
    Tested,
    Tried,
)
from goldrush.kernel.worlds.competition.rubric import DIMENSIONS
from goldrush.kernel.worlds.competition.state import AgentState, Opening, SeasonState
from goldrush.kernel.worlds.competition.table import Conclusion, Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import (
    Class,
    Income,
    Move,
    Part,
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
    ColumnOf,
    PartOf,
    RecordsOf,
    TableSource,
    column,
    columns_in_order,
    columns_of,
    type_of,
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
from goldrush.replay.worlds.competition.summary import TableCounts, counts_of

E = TypeVar("E")
L = TypeVar("L")

SETUP: Final = (
    Column("config", JSON, "", "all settings by name, the arena with its subjects among them"),
    Column("cast", JSON, "", "ordinal, policy and options of each; at the start name and role too"),
    Column("parent", TEXT, "", "SHA-256 of the journal that was forked, in hex"),
    Column("changes", JSON, "", "the settings that a fork changes, with their new values"),
    Column("program", JSON, "", "the options that name another program, of a fork that changes it"),
    Column("replaced", type_of(several(record(assignment=NATURAL, agent=AGENT))), "",
           "the contributions that were put in by hand"),
)  # fmt: skip


# The records of which tables are made.


@attrs.frozen
class _Line:
    """A record of a closed assignment."""

    played: Played

    @property
    def state(self) -> SeasonState:
        """The state just before the assignment closes."""
        return self.played.state


@attrs.frozen
class _EventLine(_Line, Generic[E]):
    event: E


@attrs.frozen
class _ActLine(_EventLine[E]):
    """An act at a table, refused ones included."""

    act: Act


@attrs.frozen
class _Outcome:
    """What became of a contribution that was not refused."""

    state: SeasonState
    table: Roundtable
    contribution: Contribution

    def tested(self, part: str = Part.BASE) -> float | None:
        return _real(self.table.tests.get((self.contribution.id, part)))

    def held(self, part: str | None = Part.BASE) -> bool | None:
        return None if part is None else self.table.held(self.contribution.id, part)

    def is_conclusion(self) -> bool:
        assert self.table.conclusion is not None  # the assignment has all its events
        return self.table.conclusion.proposal == self.contribution.id


def _each(run: TableSource) -> Iterator[Played]:
    """The assignments that were closed when the run was measured."""
    closed = run.measured.units
    with JournalReader(run.path) as reader:
        yield from islice(played(run.world, reader), closed)


def _acts(line: Callable[[Played, E, Act], L], form: type[E]) -> RecordsOf[L]:
    """The acts of a kind, refused ones included."""
    return RecordsOf(
        lambda run: (
            line(one, act.act, act)
            for one in _each(run)
            for act in one.acts
            if isinstance(act.act, form)
        )
    )


def _derived(form: type[E]) -> RecordsOf[_EventLine[E]]:
    return RecordsOf(
        lambda run: (_EventLine(one, event) for one in _each(run) for event in one.followed(form))
    )


# Values, as columns have them.


def _name(state: SeasonState, agent: int) -> str | None:
    known = state.agents.get(agent)
    return None if known is None else known.name


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def _id(value: Any) -> int | None:
    """An ordinal, an id or a count; None if it is not in the range of 64-bit integers."""
    return value if type(value) is int and 0 <= value < 1 << 63 else None


def _pair(value: Any) -> tuple[Any, Any]:
    """A pair; (None, None) for any other value."""
    return value if type(value) is tuple and len(value) == 2 else (None, None)


def _ids(value: Any) -> list[int] | None:
    """Ids; None if one of them is none."""
    return list(value) if type(value) is tuple and None not in map(_id, value) else None


def _conduct(value: Conduct) -> str | None:
    return value if value is None or type(value) is str else json.dumps(value)


def _real(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _runs(runs: Sequence[tuple[int, str]]) -> Any:
    return None if any(_id(seed) is None for seed, _ in runs) else _RUNS.show(runs)


_RUNS: Final = EVENTS[CODES[Tested]].fields["runs"]


def _field(form: type[Any], name: str, fit: Callable[..., object] | None = None) -> ColumnOf[Any]:
    """The column of a field of an event, as that declares it."""
    kind = EVENTS[CODES[form]].fields[name]
    return column(name, type_of(kind), kind.meaning, fit=fit, unit=kind.unit)


# Columns of several tables.

_AS_WRITTEN: Final = "text as it is, any other form as JSON"
_OBJECTIVE: Final = "of the objective"
_REFUSED: Final = "why it was refused; null: it was not"

_MEASURED: Final = units_table(VOCABULARY, MEASURES)
_EVENT: Final = PartOf[_EventLine[Any], Any](lambda line: line.event)
_ASSIGNMENT: Final[ColumnOf[_Line]] = _MEASURED.own[0].read_by(lambda line: line.state.assignment)
_TABLE: Final[ColumnOf[Any]] = column(
    "table", WHOLE, "the table of the assignment, from 0", fit=_id
)
_AT_TABLE: Final = _EVENT.columns(_TABLE)
_AGENT: Final[ColumnOf[Any]] = column("agent", WHOLE, "who, by ordinal", fit=_id)
_NAME: Final = Column("name", TEXT, "", "the agent's name; null where there is no such agent")
_BY: Final[Sequence[ColumnOf[_EventLine[Any]]]] = [
    *_EVENT.columns(_AGENT),
    _NAME.read_by(lambda line: _name(line.state, line.event.agent)),
]
_BECAUSE: Final = PartOf[_EventLine[Any], Any](lambda line: _pair(line.event.because)).columns(
    column("because", WHOLES, "the ids that it relies on", lambda because: _ids(because[0])),
    column("because_trials", TRUTH, "whether it relies on trials of its agent's own",
           lambda because: because[1] if type(because[1]) is bool else None),
)  # fmt: skip


# Assignments.


@attrs.frozen
class _AssignmentLine(_Line):
    opening: Opening
    measured: Sequence[Any]


def _assignments(run: TableSource) -> Iterator[_AssignmentLine]:
    for (_, *values), one in zip(_MEASURED.own_rows(run), _each(run), strict=True):
        assert one.state.opening is not None  # closed, so it was opened
        yield _AssignmentLine(one, one.state.opening, values)


ASSIGNMENTS: Final = RecordsOf(_assignments).table(
    _MEASURED.name,
    f"{_MEASURED.description}, and means over its tables where it has two",
    _ASSIGNMENT,
    column("day", WHOLE, "its day, from 0", lambda line: line.state.day, unit="days"),
    column("project", WHOLE, "its project, from 0", lambda line: line.state.project),
    column("by", WHOLE, "who opened it, by ordinal", lambda line: _id(line.opening.by)),
    column("by_name", TEXT, "the name of that agent",
           lambda line: _name(line.state, line.opening.by)),
    column("tables", WHOLE, "how many it has", lambda line: len(line.state.tables), unit="tables"),
    *columns_in_order(attrgetter("measured"), _MEASURED.own[1:]),
)  # fmt: skip


# Roundtables.


@attrs.frozen
class _RoundtableLine(_Line):
    table: Roundtable
    conclusion: Conclusion
    bar: Conduct
    best: tuple[Conduct, float] | None
    quality: Quality | None
    counts: TableCounts

    def winner(self) -> _Outcome | None:
        proposal = self.conclusion.proposal
        said = None if proposal is None else self.table.contributions[proposal]
        return None if said is None else _Outcome(self.state, self.table, said)

    def refused(self) -> int:
        """The number of contributions that were refused."""
        spoken = [act for act in self.played.acts if isinstance(act.act, Spoke)]
        return sum(s.code is not None and s.act.table == self.table.number for s in spoken)


def _roundtables(run: TableSource) -> Iterator[_RoundtableLine]:
    atlases: Atlases | None = None
    for one in _each(run):
        atlases = atlases or Atlases(one.state.arena)
        for table in one.state.tables:
            assert table.conclusion is not None  # the assignment has all its events
            bar, best = one.bar_of(table), table.best_tested()
            quality, counts = atlases.of_table(table, bar), TableCounts(**counts_of(table))
            yield _RoundtableLine(one, table, table.conclusion, bar, best, quality, counts)


_OF_QUALITY: Final[Sequence[ColumnOf[Quality]]] = [
    column(name, REAL, f"{MEASURES[name].definition} Null without an atlas.")
    for name in attrs.fields_dict(Quality)
]
ROUNDTABLES: Final = RecordsOf(_roundtables).table(
    "roundtables",
    "a table of a closed assignment, which has two where it was split",
    _ASSIGNMENT,
    column("table", WHOLE, _TABLE.description, lambda line: line.table.number),
    *PartOf[_RoundtableLine, Subject](lambda line: line.table.subject).columns(
        column("objective", TEXT, "what it is about: the objective"),
        column("better", TEXT, "which way that is better: " + ", ".join(DIRECTIONS)),
        column("treatment_", TEXT, "the treatment of the arena"),
        column("family", TEXT, "the family of subjects by which agents remember it"),
    ),
    column("bar_conduct", TEXT, f"the conduct that sets the bar: {_AS_WRITTEN}",
           lambda line: _conduct(line.bar)),
    column("bar", REAL, "its tested value", lambda line: _real(line.table.bar), unit=_OBJECTIVE),
    *PartOf(_RoundtableLine.winner).columns(
        column("proposal", WHOLE, "the id of the conclusion; null: there is none",
               lambda won: won.contribution.id),
        column("agent", WHOLE, "whose proposal that is, by ordinal",
               lambda won: _id(won.contribution.agent)),
        column("name", TEXT, "the name of that agent",
               lambda won: _name(won.state, won.contribution.agent)),
        column("conduct", TEXT, f"its conduct: {_AS_WRITTEN}",
               lambda won: _conduct(won.contribution.conduct)),
        column("claim", REAL, "the value that was claimed of it",
               lambda won: _real(won.contribution.claimed), unit=_OBJECTIVE),
        column("tested", REAL, "its tested value", _Outcome.tested, unit=_OBJECTIVE),
        column("is_sharp", TRUTH, "whether the claim is sharp",
               lambda won: won.table.is_sharp(won.contribution)),
        column("stances", WHOLE, "how many stand for it in the end",
               lambda won: won.table.stances.counts()[won.contribution.id], unit="agents"),
    ),
    column("drawn", TRUTH, "whether it was drawn among equals",
           lambda line: bool(line.conclusion.tied)),
    column("rejected", TRUTH, "whether the assistant rejected it; null: not asked",
           lambda line: line.table.is_rejected if line.table.is_digested else None),
    column("adopted", TRUTH, "whether the admin adopted it; null: not asked",
           lambda line: line.table.is_adopted),
    *PartOf[_RoundtableLine, tuple[Conduct, float]](lambda line: line.best).columns(
        column("best_conduct", TEXT, f"the proposed conduct that did best: {_AS_WRITTEN}",
               lambda best: _conduct(best[0])),
        column("best", REAL, "its tested value, whether the claim held or not",
               lambda best: _real(best[1]), unit=_OBJECTIVE),
    ),
    *PartOf[_RoundtableLine, Quality](lambda line: line.quality).columns(*_OF_QUALITY),
    column("participants", WHOLE, "how many sat at it",
           lambda line: len(line.table.participants), unit="agents"),
    column("rounds", WHOLE, "in which somebody had a turn",
           lambda line: len({said.round for said in line.table.contributions}), unit="rounds"),
    column("contributions", WHOLE, "that count: neither passes, nor refused, nor redirected",
           lambda line: len(list(line.table.counted())), unit="contributions"),
    column("passes", WHOLE, "passes, what was refused in its author's turn not counted",
           lambda line: sum(said.move == Move.PASS and said.code is None
                            for said in line.table.contributions), unit="contributions"),
    column("refused", WHOLE, "that were refused", _RoundtableLine.refused, unit="contributions"),
    column("redirected", WHOLE, "redirected by the judge, and what refers to them",
           lambda line: len(line.table.removed), unit="contributions"),
    *PartOf[_RoundtableLine, TableCounts](lambda line: line.counts).columns(
        *columns_of(TableCounts)
    ),
)  # fmt: skip


# Contributions, final stances, tests and trials.


@attrs.frozen
class _ContributionLine(_ActLine[Spoke]):
    def round(self) -> int | None:
        """The round: that of the table, or if it was refused out of its author's turn its own."""
        heard = self.played.contribution_of(self.act)
        return _id(self.event.round if heard is None else heard[1].round)

    def outcome(self) -> _Outcome | None:
        """What became of it; None if it was refused."""
        heard = None if self.act.code is not None else self.played.contribution_of(self.act)
        return heard and _Outcome(self.state, *heard)

    def proposed(self) -> _Outcome | None:
        """What became of a proposal."""
        outcome = self.outcome()
        return outcome if outcome is not None and outcome.contribution.is_proposal else None


CONTRIBUTIONS: Final = _acts(_ContributionLine, Spoke).table(
    "contributions",
    "a contribution to a table, refused ones included, in order",
    _ASSIGNMENT,
    *_AT_TABLE,
    column("round", WHOLE, "the round, from 0", _ContributionLine.round),
    column("id", WHOLE, "its number at the table, from 0; null of what was refused out of its "
           "author's turn", lambda line: line.act.id),
    *_BY,
    column("code", TEXT, f"{_REFUSED}; it counts as a pass then, or as nothing",
           lambda line: line.act.code),
    *_EVENT.columns(
        column("move", TEXT, ", ".join(MOVES), fit=_text),
        column("target", WHOLE, "the id of the proposal that it refers to", fit=_id),
        column("conduct", TEXT, f"of a proposal: {_AS_WRITTEN}", fit=_conduct),
        column("claim", REAL, "the value that a proposal claims",
               lambda spoke: _real(_pair(spoke.claim)[0]), unit=_OBJECTIVE),
        column("edge", TEXT, "the treatment under which it claims it too",
               lambda spoke: _text(_pair(spoke.claim)[1])),
        column("part", TEXT, "the part of its target's claim that a challenge denies: "
               + ", ".join(names_of(Part)), fit=_text),
        column("words", TEXT, "what was said", fit=_text),
    ),
    *_BECAUSE,
    *PartOf(_ContributionLine.proposed).columns(
        column("tested", REAL, "of a proposal, the tested value of the base", _Outcome.tested,
               unit=_OBJECTIVE),
        column("edge_tested", REAL, "that of the edge", lambda of: of.tested(Part.EDGE),
               unit=_OBJECTIVE),
        column("held", TRUTH, "whether the base held; null: it is none, or was not tested",
               _Outcome.held),
        column("edge_held", TRUTH, "whether the edge did", lambda of: of.held(Part.EDGE)),
        column("sharp", TRUTH, "whether the base is sharp",
               lambda of: None if of.held() is None else of.table.is_sharp(of.contribution)),
    ),
    *PartOf(_ContributionLine.outcome).columns(
        column("sustained", TRUTH, "whether a challenge was right", lambda of:
               of.table.is_sustained(of.contribution)
               if of.contribution.move == Move.CHALLENGE else None),
        column("redirected", TRUTH, "whether it, or what it refers to, was; null if refused",
               lambda of: of.contribution.id in of.table.removed),
    ),
    *PartOf(_ContributionLine.proposed).columns(
        column("refuted", TEXT, "what refuted a proposal that was not redirected: "
               f"{BY_CHALLENGE} or {BY_PROOF}; null: nothing did",
               lambda of: refuted_by(of.table, of.contribution.id)),
        column("concluded", TRUTH, "whether the proposal is the conclusion",
               _Outcome.is_conclusion),
    ),
)  # fmt: skip


@attrs.frozen
class _StanceLine(_ActLine[Stood]):
    side: Side | None

    def target(self) -> _Outcome | None:
        """The proposal that it names, redirected or not; None if there is none."""
        number, id = self.event.table, self.event.target
        if not 0 <= number < len(self.state.tables) or _id(id) is None:
            return None
        table = self.state.tables[number]
        said = table.contributions[id] if id < len(table.contributions) else None
        return None if said is None or not said.is_proposal else _Outcome(self.state, table, said)

    def is_own(self) -> bool | None:
        target = self.target()
        return None if target is None else target.contribution.agent == self.event.agent


def _final_stances(run: TableSource) -> Iterator[_StanceLine]:
    for one in _each(run):
        stances = {
            (table.number, side.agent): side for table in one.state.tables for side in sides(table)
        }
        for act in one.acts:
            stood = act.act
            if isinstance(stood, Stood):
                yield _StanceLine(one, stood, act, stances.get((stood.table, stood.agent)))


FINAL_STANCES: Final = RecordsOf(_final_stances).table(
    "final_stances",
    "the final stance of a participant, given once all claims are tested, refused ones included",
    _ASSIGNMENT,
    *_AT_TABLE,
    *_BY,
    column("code", TEXT, f"{_REFUSED}; the stance that the proof left stays then",
           lambda line: line.act.code),
    column("target", WHOLE, "the id of the proposal that it stands by; null: none",
           lambda line: _id(line.event.target)),
    *PartOf(_StanceLine.target).columns(
        column("target_agent", WHOLE, "whose proposal that is, by ordinal",
               lambda target: _id(target.contribution.agent)),
        column("target_name", TEXT, "the name of that agent",
               lambda target: _name(target.state, target.contribution.agent)),
        column("tested", REAL, "its tested value", _Outcome.tested, unit=_OBJECTIVE),
    ),
    column("own", TRUTH, "whether it is the agent's own", _StanceLine.is_own),
    *PartOf(_StanceLine.target).columns(
        column("concluded", TRUTH, "whether it is the conclusion", _Outcome.is_conclusion),
    ),
    *PartOf[_StanceLine, Side](lambda line: line.side).columns(
        column("talked", WHOLE, "where the agent stood at the end of the talk; null: nowhere"),
        column("proven", WHOLE, "where the proof left it; null: nowhere"),
        column("final", WHOLE, "where it stands in the end; null: nowhere"),
        column("changed", TRUTH, "whether that is elsewhere than at the end of the talk"),
    ),
    column("words", TEXT, "its reason", lambda line: _text(line.event.words)),
    *_BECAUSE,
    column("model", TEXT, "the language model that gave it; null: no model did",
           lambda line: _text((line.event.source or {}).get("model"))),
)  # fmt: skip


@attrs.frozen
class _TestLine(_EventLine[Tested]):
    def claim(self) -> _Outcome | None:
        """The proposal whose claim is tested; None: the bar is."""
        if self.event.at is None or self.event.part is None:
            return None
        table = self.state.tables[self.event.table]
        return _Outcome(self.state, table, table.contributions[self.event.at])

    def held(self) -> bool | None:
        claim = self.claim()
        return None if claim is None else claim.held(self.event.part)

    def challenge(self) -> int | None:
        """The first challenge of the part of the claim, for which the test is made."""
        claim, challenged = self.claim(), (self.event.at, self.event.part)
        others = () if claim is None else claim.table.contributions
        challenges = (other for other in others if other.move == Move.CHALLENGE)
        return next((c.id for c in challenges if c.challenged == challenged), None)


def _tests(run: TableSource) -> Iterator[_TestLine]:
    return (_TestLine(one, test) for one in _each(run) for test in one.done(Tested))


TESTS: Final = RecordsOf(_tests).table(
    "tests",
    "a test of a bar, or of a part of a claim, in order",
    _ASSIGNMENT,
    *_EVENT.columns(
        column("table", WHOLE, _TABLE.description),
        column("at", WHOLE, "the id of the proposal; null: the bar"),
        column("part", TEXT, f"the part of its claim: {', '.join(names_of(Part))}"),
    ),
    *PartOf(_TestLine.claim).columns(
        column("agent", WHOLE, "whose proposal it is, by ordinal; null: the bar",
               lambda of: _id(of.contribution.agent)),
        column("name", TEXT, "the name of that agent",
               lambda of: _name(of.state, of.contribution.agent)),
    ),
    *_EVENT.columns(
        column("conduct", TEXT, f"what was tested: {_AS_WRITTEN}", fit=_conduct),
        column("treatment_", TEXT, "under which treatment of the arena"),
    ),
    *PartOf(_TestLine.claim).columns(
        column("claim", REAL, "the value that was claimed; null: the bar",
               lambda of: _real(of.contribution.claimed), unit=_OBJECTIVE),
    ),
    column("value", REAL, "the tested value; null: undefined",
           lambda line: _real(line.event.value), unit=_OBJECTIVE),
    column("held", TRUTH, "whether the claim held; null: the bar", _TestLine.held),
    column("challenge", WHOLE, "the id of the challenge that it was made for",
           _TestLine.challenge),
    *_EVENT.columns(_field(Tested, "runs", _runs)),
)  # fmt: skip

TRIALS: Final = _acts(_ActLine[Tried], Tried).table(
    "trials",
    "a trial that an agent ordered for itself, refused ones included, in order",
    _ASSIGNMENT,
    *_AT_TABLE,
    column("round", WHOLE, "the round in which it was ordered; null: before the first",
           lambda line: line.act.round),
    *_BY,
    column("number", WHOLE, "which of the agent's in the assignment, from 0",
           lambda line: _id(line.event.number)),
    column("code", TEXT, f"{_REFUSED}; nothing is spent then", lambda line: line.act.code),
    *_EVENT.columns(
        column("conduct", TEXT, f"what was tried: {_AS_WRITTEN}", fit=_conduct),
        column("treatment_", TEXT, "under which treatment of the arena", fit=_text),
        column("value", REAL, "what it showed; null: undefined", fit=_real, unit=_OBJECTIVE),
        column("runs", type_of(_RUNS), "the seed of the run, and the digest of what it did",
               fit=_runs),
    ),
)  # fmt: skip


# Derived results.


def _reasons(line: _EventLine[Scored]) -> Sequence[str] | None:
    reasons = line.state.tables[line.event.table].reasons.get(line.event.agent)
    return None if reasons is None else list(reasons)


SCORES: Final = _derived(Scored).table(
    "scores",
    "the scores of an agent that sat at a table",
    _ASSIGNMENT,
    *_AT_TABLE,
    *_BY,
    *columns_in_order(
        attrgetter("event.raw"),
        [Column(f"raw_{name}", WHOLE, "of 3", f"{name} as rated") for name in DIMENSIONS],
    ),
    *columns_in_order(
        attrgetter("event.final"),
        [Column(name, WHOLE, "of 3", f"{name} as it stands") for name in DIMENSIONS],
    ),
    *_EVENT.columns(
        column("total", WHOLE, "the sum of the four as they stand", unit="of 12"),
        _field(Scored, "rubric"),
        _field(Scored, "steps", lambda steps: list(map(list, steps))),
    ),
    column("reasons", TEXTS, "a reason for each of the four; null: none was given", _reasons),
    column("bottom", TRUTH, "whether it is the bottom scorer of the table",
           lambda line: line.state.tables[line.event.table].bottom == line.event.agent),
)  # fmt: skip


@attrs.frozen
class _RankLine(_Line):
    rank: int
    agent: AgentState
    rolling: int
    all_time: int


def _ranks(run: TableSource) -> Iterator[_RankLine]:
    for one in _each(run):
        for rank, ordinal, rolling, all_time in one.state.leaderboard:
            yield _RankLine(one, rank, one.state.agents[ordinal], rolling, all_time)


RANKS: Final = RecordsOf(_ranks).table(
    "ranks",
    "a line of the leaderboard that was posted in an assignment",
    _ASSIGNMENT,
    column("day", WHOLE, "its day, from 0", lambda line: line.state.day, unit="days"),
    column("rank", WHOLE, "by the rolling sum, from 1"),
    _AGENT.read_by(lambda line: line.agent.ordinal),
    _NAME.read_by(lambda line: line.agent.name),
    column("rolling", WHOLE, "the sum of totals in the leaderboard's window", unit="points"),
    column("all_time", WHOLE, "the sum of all totals", unit="points"),
    column("class", TEXT, "what it runs as: " + ", ".join(names_of(Class)),
           lambda line: line.agent.class_),
    column("status", TEXT, "when the assignment closes: " + ", ".join(names_of(Status)),
           lambda line: line.agent.status),
    column("sparks", WHOLE, "what it has when the assignment closes",
           lambda line: line.agent.sparks, unit="sparks"),
)  # fmt: skip

SPARKS: Final = _derived(SparksMoved).table(
    "sparks",
    "a move of an agent's sparks, in order",
    _ASSIGNMENT,
    *_EVENT.columns(
        column("table", WHOLE, "the table that it sat at; null: it was on the bench"),
    ),
    *_BY,
    *_EVENT.columns(
        _field(SparksMoved, "amount"),
        _field(SparksMoved, "balance"),
        column("why", TEXT, ", ".join(names_of(Income))),
    ),
)  # fmt: skip

TABLES: Final = Tables(
    SETUP,
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
