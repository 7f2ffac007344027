"""The tables of seasons: the columns of the setup; roundtables; and a table for each of several
types of events, with the fields of the event and what became of it.

They have closed assignments only, because the outcome of a contribution is known when its table has
ended. The fields of refused acts can be any value: one that does not fit its column is null, and
complete in the table of events.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any, Final

import attrs

from goldrush.kernel.journal import JournalReader
from goldrush.kernel.shape import AGENT, NATURAL, record, several
from goldrush.kernel.walk import ROWS, Walk
from goldrush.kernel.worlds.competition import VOCABULARY
from goldrush.kernel.worlds.competition.arena import DIRECTIONS
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
from goldrush.kernel.worlds.competition.state import AgentState, SeasonState
from goldrush.kernel.worlds.competition.table import Contribution, Roundtable
from goldrush.kernel.worlds.competition.terms import Class, Move, Part, Status, names_of
from goldrush.replay.data.columns import (
    FRONT,
    JSON,
    REAL,
    TEXT,
    TEXTS,
    TRUTH,
    WHOLE,
    WHOLES,
    Column,
    TableSource,
    Type,
    column,
    columns_in_order,
    columns_of,
    free_name,
    of_part,
    records_table,
    type_of,
)
from goldrush.replay.data.tables import unit_column
from goldrush.replay.tools import Tables
from goldrush.replay.worlds.competition.measures import MEASURES, concluded
from goldrush.replay.worlds.competition.played import Act, Played, played
from goldrush.replay.worlds.competition.proof import (
    BY_CHALLENGE,
    BY_PROOF,
    Side,
    TableCounts,
    counts_of,
    refuted_by,
    sides,
)
from goldrush.replay.worlds.competition.quality import Atlases, Quality

SETUP: Final = (
    Column("config", JSON, "", "all settings by name, the arena with its subjects among them"),
    Column("cast", JSON, "", "ordinal, policy and options of each; at the start name and role too"),
    Column("parent", TEXT, "", "SHA-256 of the journal that was forked, in hex"),
    Column("changes", JSON, "", "the settings that a fork changes, with their new values"),
    Column("program", JSON, "", "the options that name another program, of a fork that changes it"),
    Column("replaced", type_of(several(record(assignment=NATURAL, agent=AGENT))), "",
           "the contributions that were put in by hand"),
)  # fmt: skip


@attrs.frozen
class _Line:
    """An event of a closed assignment; `act`: of an act at a table, refused ones included."""

    state: SeasonState
    event: Any
    act: Act | None = None

    @property
    def code(self) -> str | None:
        return None if self.act is None else self.act.code

    @property
    def table(self) -> Roundtable:
        """The table of an event that was not refused."""
        table: Roundtable = self.state.tables[self.event.table]
        return table

    def said(self) -> tuple[Roundtable, Contribution] | None:
        """A contribution that was not refused, at its table."""
        if self.act is None or self.act.id is None or self.code is not None:
            return None
        return self.table, self.table.contributions[self.act.id]

    def proposed(self) -> tuple[Roundtable, Contribution] | None:
        """A proposal, at its table."""
        said = self.said()
        return said if said is not None and said[1].is_proposal else None

    def name(self) -> str | None:
        known = self.state.agents.get(self.event.agent)
        return None if known is None else known.name

    def round(self) -> int | None:
        """The round of a contribution: if it was refused out of its author's turn its own."""
        if self.act is None or self.act.id is None:
            return _whole(self.event.round)
        return self.table.contributions[self.act.id].round


def _each(run: TableSource) -> Iterator[Played]:
    """The assignments that were closed when the run was measured."""
    closed = run.measured.units
    with JournalReader(run.path) as reader:
        yield from islice(played(run.world, Walk(run.world, reader, ROWS)), closed)


def _lines(form: type[Any], run: TableSource) -> Iterator[_Line]:
    """The events of a kind, refused acts included."""
    for one in _each(run):
        acts = (_Line(one.state, each.act, each) for each in one.acts)
        derived = (_Line(one.state, event) for event in one.derived)
        for line in (*acts, *derived):
            if isinstance(line.event, form):
                yield line


# Values, as columns have them.


def _whole(value: Any) -> int | None:
    """A whole number; None if it is not in the range of 64-bit integers."""
    return value if type(value) is int and -1 << 63 <= value < 1 << 63 else None


def _pair(value: Any) -> Sequence[Any]:
    """A pair; (None, None) for any other value."""
    return value if type(value) is tuple and len(value) == 2 else (None, None)


def _ids(value: Any) -> list[int] | None:
    """Ids; None if one of them is none."""
    return list(value) if type(value) is tuple and None not in map(_whole, value) else None


def _text(value: Any) -> str | None:
    return value if type(value) is str else None


def _truth(value: Any) -> bool | None:
    return value if type(value) is bool else None


def _real(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) else None


def _conduct(value: Any) -> str | None:
    return value if value is None or type(value) is str else json.dumps(value)


def _runs(runs: Sequence[tuple[int, int]]) -> Any:
    return None if any(_whole(seed) is None for seed, _ in runs) else _RUNS.show(runs)


_RUNS: Final = EVENTS[CODES[Tested]].fields["runs"]
_FITS: Final[Mapping[Type, Callable[[Any], object]]] = {WHOLE: _whole, REAL: _real, TEXT: _text}

# Declared once where several events have the field.
_MEANINGS: Final = {
    name: kind.meaning for event in EVENTS for name, kind in event.fields.items() if kind.meaning
}
_OBJECTIVE: Final = "of the objective"
_CONDUCT: Final[Column] = column(
    "conduct", TEXT, "the conduct: text as it is, any other form as JSON", fit=_conduct
)
# Fields that their author may get wrong, and the type of those that are right.
_GIVEN: Final = {"move": TEXT, "target": WHOLE, "part": TEXT, "treatment": TEXT, "words": TEXT}
# Fields with other columns than one of their value.
_PARTS: Final[Mapping[str, Sequence[Column]]] = {
    "conduct": [_CONDUCT],
    "claim": [
        column("claim", REAL, "the value that a proposal claims",
               lambda spoke: _real(_pair(spoke.claim)[0]), unit=_OBJECTIVE),
        column("edge", TEXT, "the treatment under which it claims it too",
               lambda spoke: _text(_pair(spoke.claim)[1])),
    ],
    "because": [
        column("because", WHOLES, "the ids that it relies on",
               lambda act: _ids(_pair(act.because)[0])),
        column("because_trials", TRUTH, "whether it relies on trials of its agent's own",
               lambda act: _truth(_pair(act.because)[1])),
    ],
    "source": [
        column("model", TEXT, "the language model that gave it; null: no model did",
               lambda act: _text((act.source or {}).get("model"))),
    ],
    "runs": [column("runs", type_of(_RUNS), _RUNS.meaning, fit=_runs)],
    "raw": columns_in_order(
        attrgetter("raw"),
        [Column(f"raw_{name}", WHOLE, "of 3", f"{name} as rated") for name in DIMENSIONS],
    ),
    "final": columns_in_order(
        attrgetter("final"),
        [Column(name, WHOLE, "of 3", f"{name} as it stands") for name in DIMENSIONS],
    ),
}  # fmt: skip


def _fields(form: type[Any], but: Collection[str] = ()) -> Sequence[Column]:
    """The columns of the fields of an event, as that declares them, without those of `but`."""
    columns: list[Column] = []
    for index, (name, kind) in enumerate(EVENTS[CODES[form]].fields.items()):
        if name in but:
            continue
        if name in _PARTS:
            columns += _PARTS[name]
            continue
        type = _GIVEN.get(name) or type_of(kind)
        value = partial(_value, itemgetter(index), _FITS.get(type, kind.show))
        meaning = kind.meaning or _MEANINGS[name]
        columns.append(column(free_name(name, _FRONT), type, meaning, value, unit=kind.unit))
    return of_part(lambda line: line.event, *columns)


def _value(read: Callable[[Any], Any], fit: Callable[[Any], object], event: Any) -> object:
    return fit(read(event))


_FRONT: Final = [column.name for column in FRONT]
_ASSIGNMENT: Final[Column] = unit_column(VOCABULARY).read_by(attrgetter("state.assignment"))
_NAME: Final[Column] = column(
    "name", TEXT, "the agent's name; null where there is no such agent", _Line.name
)
_CODE: Final[Column] = column("code", TEXT, "why it was refused; null: it was not")


# Roundtables.


@attrs.frozen
class _RoundtableLine:
    state: SeasonState
    table: Roundtable
    best: float | None
    quality: Quality | None
    counts: TableCounts
    refused: int

    def won(self) -> tuple[Roundtable, Contribution] | None:
        """The proposal that is the conclusion, at its table."""
        proposal = concluded(self.table)
        return None if proposal is None else (self.table, self.table.contributions[proposal])


def _roundtables(run: TableSource) -> Iterator[_RoundtableLine]:
    atlases: Atlases | None = None
    for one in _each(run):
        atlases = atlases or Atlases(one.state.arena)
        refused = [act.act.table for act in one.acts if act.code and isinstance(act.act, Spoke)]
        for table in one.state.tables:
            best = table.best_tested()
            yield _RoundtableLine(
                one.state, table, best and best[1], atlases.of_table(table, one.bar_of(table)),
                TableCounts(**counts_of(table)), refused.count(table.number),
            )  # fmt: skip


_OF_QUALITY: Final[Sequence[Column]] = [
    column(name, REAL, f"{MEASURES[name].definition} Null without an atlas.")
    for name in attrs.fields_dict(Quality)
]
ROUNDTABLES: Final = records_table(
    "roundtables", _roundtables,
    "a table of a closed assignment, which has two where it was split",
    _ASSIGNMENT,
    column("table", WHOLE, "the table of the assignment, from 0", lambda line: line.table.number),
    *of_part(lambda line: line.table.subject,
        column("objective", TEXT, "what it is about: the objective"),
        column("better", TEXT, "which way that is better: " + ", ".join(DIRECTIONS)),
        column("treatment_", TEXT, "the treatment of the arena"),
        column("family", TEXT, "the family of subjects by which agents remember it"),
    ),
    column("bar", REAL, "the tested value of the conduct that sets the bar",
           lambda line: _real(line.table.bar), unit=_OBJECTIVE),
    *of_part(_RoundtableLine.won,
        column("proposal", WHOLE, "the id of the conclusion; null: there is none",
               lambda won: won[1].id),
        column("agent", WHOLE, "whose proposal that is, by ordinal",
               lambda won: _whole(won[1].agent)),
        column("conduct", TEXT, _CONDUCT.description, lambda won: _conduct(won[1].conduct)),
        column("tested", REAL, "its tested value",
               lambda won: _real(won[0].tests[won[1].id, Part.BASE]), unit=_OBJECTIVE),
        column("stances", WHOLE, "how many stand for it in the end",
               lambda won: won[0].stances.counts()[won[1].id], unit="agents"),
    ),
    column("drawn", TRUTH, "whether it was drawn among equals",
           lambda line: bool(line.table.conclusion and line.table.conclusion.tied)),
    column("rejected", TRUTH, "whether the assistant rejected it; null: not asked",
           lambda line: line.table.is_rejected if line.table.is_digested else None),
    column("adopted", TRUTH, "whether the admin adopted it; null: not asked",
           attrgetter("table.is_adopted")),
    column("best", REAL, "the best tested value of a proposal, whether the claim held or not",
           fit=_real, unit=_OBJECTIVE),
    *of_part(lambda line: line.quality, *_OF_QUALITY),
    column("participants", WHOLE, "how many sat at it",
           lambda line: len(line.table.participants), unit="agents"),
    column("rounds", WHOLE, "in which somebody had a turn",
           lambda line: len({said.round for said in line.table.contributions}), unit="rounds"),
    column("contributions", WHOLE, "that count: neither passes, nor refused, nor redirected",
           lambda line: len(list(line.table.counted())), unit="contributions"),
    column("passes", WHOLE, "passes, what was refused in its author's turn not counted",
           lambda line: sum(said.move == Move.PASS and said.code is None
                            for said in line.table.contributions), unit="contributions"),
    column("refused", WHOLE, "that were refused", unit="contributions"),
    column("redirected", WHOLE, "redirected by the judge, and what refers to them",
           lambda line: len(line.table.removed), unit="contributions"),
    *of_part(lambda line: line.counts, *columns_of(TableCounts)),
)  # fmt: skip


# Events.


CONTRIBUTIONS: Final = records_table(
    "contributions", partial(_lines, Spoke),
    "a contribution to a table, refused ones included, in order; a refused one counts as a pass, "
    "or as nothing",
    _ASSIGNMENT,
    *_fields(Spoke, ["round", "id"]),
    _NAME,
    _CODE,
    column("round", WHOLE, "the round, from 0", _Line.round),
    column("id", WHOLE, "its number at the table, from 0; null of what was refused out of its "
           "author's turn", attrgetter("act.id")),
    *of_part(_Line.proposed,
        column("tested", REAL, "of a proposal, the tested value of the base",
               lambda of: _real(of[0].tests.get((of[1].id, Part.BASE))), unit=_OBJECTIVE),
        column("edge_tested", REAL, "that of the edge",
               lambda of: _real(of[0].tests.get((of[1].id, Part.EDGE))), unit=_OBJECTIVE),
        column("held", TRUTH, "whether the base held; null: it is none, or was not tested",
               lambda of: of[0].held(of[1].id, Part.BASE)),
        column("edge_held", TRUTH, "whether the edge did",
               lambda of: of[0].held(of[1].id, Part.EDGE)),
        column("sharp", TRUTH, "whether the base is sharp", lambda of:
               None if of[0].held(of[1].id, Part.BASE) is None else of[0].is_sharp(of[1])),
    ),
    *of_part(_Line.said,
        column("sustained", TRUTH, "whether a challenge was right",
               lambda of: of[0].is_sustained(of[1]) if of[1].move == Move.CHALLENGE else None),
        column("redirected", TRUTH, "whether it, or what it refers to, was; null if refused",
               lambda of: of[1].id in of[0].removed),
    ),
    *of_part(_Line.proposed,
        column("refuted", TEXT, "what refuted a proposal that was not redirected: "
               f"{BY_CHALLENGE} or {BY_PROOF}; null: nothing did",
               lambda of: refuted_by(of[0], of[1].id)),
        column("concluded", TRUTH, "whether the proposal is the conclusion",
               lambda of: concluded(of[0]) == of[1].id),
    ),
)  # fmt: skip


@attrs.frozen
class _StanceLine(_Line):
    side: Side | None = None


def _final_stances(run: TableSource) -> Iterator[_StanceLine]:
    for one in _each(run):
        stances = {(t.number, side.agent): side for t in one.state.tables for side in sides(t)}
        for act in one.acts:
            if isinstance(act.act, Stood):
                side = stances.get((act.act.table, act.act.agent))
                yield _StanceLine(one.state, act.act, act, side)


FINAL_STANCES: Final = records_table(
    "final_stances",
    _final_stances,
    "the final stance of a participant, given once all claims are tested, refused ones included, "
    "after which the stance that the proof left stays",
    _ASSIGNMENT,
    *_fields(Stood),
    _NAME,
    _CODE,
    *of_part(
        lambda line: line.side,
        column("talked", WHOLE, "where the agent stood at the end of the talk; null: nowhere"),
        column("proven", WHOLE, "where the proof left it; null: nowhere"),
        column("final", WHOLE, "where it stands in the end; null: nowhere"),
        column("changed", TRUTH, "whether that is elsewhere than at the end of the talk"),
    ),
)

TESTS: Final = records_table(
    "tests", partial(_lines, Tested),
    "a test of a bar, or of a part of a claim, in order",
    _ASSIGNMENT,
    *_fields(Tested),
    column("held", TRUTH, "whether the claim held; null: the bar",
           lambda line: line.table.held(line.event.at, line.event.part)),
)  # fmt: skip

TRIALS: Final = records_table(
    "trials", partial(_lines, Tried),
    "a trial that an agent ordered for itself, refused ones included, in order",
    _ASSIGNMENT,
    *_fields(Tried),
    _NAME,
    _CODE,
    column("round", WHOLE, "the round in which it was ordered; null: before the first",
           attrgetter("act.round")),
)  # fmt: skip

SCORES: Final = records_table(
    "scores", partial(_lines, Scored),
    "the scores of an agent that sat at a table",
    _ASSIGNMENT,
    *_fields(Scored),
    _NAME,
    column("reasons", TEXTS, "a reason for each of the four; null: none was given",
           lambda line: list(line.table.reasons.get(line.event.agent, ())) or None),
    column("bottom", TRUTH, "whether it is the bottom scorer of the table",
           lambda line: line.table.bottom == line.event.agent),
)  # fmt: skip


@attrs.frozen
class _RankLine:
    state: SeasonState
    rank: int
    agent: AgentState
    rolling: int
    all_time: int


def _ranks(run: TableSource) -> Iterator[_RankLine]:
    for one in _each(run):
        for rank, ordinal, rolling, all_time in one.state.leaderboard:
            yield _RankLine(one.state, rank, one.state.agents[ordinal], rolling, all_time)


RANKS: Final = records_table(
    "ranks", _ranks,
    "a line of the leaderboard that was posted in an assignment",
    _ASSIGNMENT,
    column("day", WHOLE, "its day, from 0", attrgetter("state.day"), unit="days"),
    column("rank", WHOLE, "by the rolling sum, from 1"),
    column("rolling", WHOLE, "the sum of totals in the leaderboard's window", unit="points"),
    column("all_time", WHOLE, "the sum of all totals", unit="points"),
    *of_part(lambda line: line.agent,
        column("agent", WHOLE, "who, by ordinal", attrgetter("ordinal")),
        column("name", TEXT, "the agent's name"),
        column("class", TEXT, "what it runs as: " + ", ".join(names_of(Class)),
               attrgetter("class_")),
        column("status", TEXT, "when the assignment closes: " + ", ".join(names_of(Status))),
        column("sparks", WHOLE, "what it has when the assignment closes", unit="sparks"),
    ),
)  # fmt: skip

SPARKS: Final = records_table(
    "sparks",
    partial(_lines, SparksMoved),
    "a move of an agent's sparks, in order",
    _ASSIGNMENT,
    *_fields(SparksMoved),
    _NAME,
)

TABLES: Final = Tables(
    SETUP,
    (ROUNDTABLES, CONTRIBUTIONS, FINAL_STANCES, TESTS, TRIALS, SCORES, RANKS, SPARKS),
)
