"""The tables of mining runs: rounds, agents and spells of ownership, and the columns of events."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final, get_type_hints

import attrs

from goldrush.agents.llm.failures import INVALID, NO_ACTION, failure_kind
from goldrush.agents.llm.failures import KINDS as KINDS_OF_FAILURE
from goldrush.agents.llm.wording_rosters import variants_of
from goldrush.agents.seats import policy_label
from goldrush.agents.worlds.mining.parse import is_unread
from goldrush.agents.worlds.mining.roster import PROMPTS
from goldrush.kernel.journal import FORK, START, UNIT, JournalReader
from goldrush.kernel.measures import Value
from goldrush.kernel.shape import AGENT, NATURAL, record, several
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import (
    KINDS,
    MINING_SETTLED,
    RULED,
    SUBMITTED,
)
from goldrush.kernel.worlds.mining.state import MiningState
from goldrush.replay.data.columns import (
    JSON,
    REAL,
    TEXT,
    TRUTH,
    WHOLE,
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
from goldrush.replay.worlds.mining.counting import Counts, PlotGroup
from goldrush.replay.worlds.mining.measures import (
    MEASURES,
    MeasuredRun,
    Measuring,
    check_gold,
)
from goldrush.replay.worlds.mining.spells import Spell

_SETUP: Final = (
    Column("config", JSON, "", "all settings by name"),
    Column("roster", JSON, "", "who plays: agent, policy and options of each"),
    Column("parent", TEXT, "", "SHA-256 of the journal that was forked, in hex"),
    Column("changes", JSON, "", "the settings that a fork changes, with their new values"),
    Column("replaced", type_of(several(record(round=NATURAL, agent=AGENT))), "",
           "the submissions that were put in by hand"),
)  # fmt: skip


@attrs.frozen
class _Line:
    """A record of a run; `agents`: how many play."""

    agents: int


_FAILURES: Final = ", ".join(kind for kind in KINDS_OF_FAILURE if kind != INVALID)
_AGENTS: Final[ColumnOf[_Line]] = column("agents", WHOLE, "how many play", unit="agents")
_BY_ROUND: Final = units_table(MINING.vocabulary, MEASURES)  # the round, and its measures


# Rounds.


@attrs.frozen
class _RoundLine(_Line):
    counts: Counts
    measured: Sequence[Value]


def _rounds(run: TableSource) -> Iterator[_RoundLine]:
    names = [name for name, measure in MEASURES.items() if measure.by_unit]
    with JournalReader(run.path) as reader:
        measuring = Measuring(reader)
        for counts, values in measuring:
            if counts.round > run.units:
                return
            agents = measuring.walk.state.config.agents
            yield _RoundLine(agents, counts, [values[name] for name in names])


def _group_columns() -> Iterator[ColumnOf[Counts]]:
    """Two columns of every group of plots."""
    for name, hint in get_type_hints(Counts, include_extras=True).items():
        if getattr(hint, "__origin__", None) is PlotGroup:
            [held] = hint.__metadata__
            plots, raids = attrgetter(f"{name}.plots"), attrgetter(f"{name}.raids")
            yield column(f"{name}_plots", WHOLE, f"plots {held}", plots, unit="plots")
            yield column(f"{name}_raids", WHOLE, f"raids on plots {held}", raids, unit="actions")


ROUNDS: Final = RecordsOf(_rounds).table(
    _BY_ROUND.name,
    _BY_ROUND.description,
    _AGENTS,
    _BY_ROUND.own[0].read_by(attrgetter("counts.round")),
    *PartOf[_RoundLine, Counts](lambda line: line.counts).columns(
        *columns_of(Counts), *_group_columns()
    ),
    *columns_in_order(attrgetter("measured"), _BY_ROUND.own[1:]),
)


# Agents.


@attrs.frozen
class _AgentLine(_Line):
    """An agent after a round; `spent`: in it, by kind of action."""

    state: MiningState
    agent: int
    variant: int | None
    failure: str | None
    spent: Sequence[int]
    gained: float


def _agents(run: TableSource) -> Iterator[_AgentLine]:
    before: list[list[int]] = []
    variants: Mapping[int, int] = {}
    with JournalReader(run.path) as reader:
        for commit, state in Walk(MINING, reader):
            if commit.kind in (START, FORK):
                variants = variants_of(state.roster, state.config.seed)
            if commit.kind == UNIT and commit.digest is not None:
                if state.round > run.units:
                    return
                check_gold(state)
                yield from _agents_of(state, before, variants)
                before = []
            before = before or [kinds.copy() for kinds in state.spent]


def _agents_of(
    state: MiningState, before: Sequence[Sequence[int]], variants: Mapping[int, int]
) -> Iterator[_AgentLine]:
    """The agents after a round.

    Args:
        before: stamina points spent before the round: agents × kinds of action.
        variants: see `variants_of`.
    """
    record = state.history[-1]
    gained: defaultdict[int, list[float]] = defaultdict(list)
    for _, agent, _, gold in record.rows(MINING_SETTLED):
        gained[agent].append(gold)
    for _, captor, _, _, _, fine, _ in record.rows(RULED):
        gained[captor].append(-fine)
    failures = {
        row[0]: NO_ACTION if is_unread(row[1]) else failure_kind(row[2])
        for row in record.rows(SUBMITTED)
        if row[5] is not None
    }
    for agent, kinds in enumerate(state.spent):
        spent = [after - then for after, then in zip(kinds, before[agent], strict=True)]
        failure, gold = failures.get(agent), math.fsum(gained[agent])
        variant = variants.get(agent)
        yield _AgentLine(state.config.agents, state, agent, variant, failure, spent, gold)


AGENTS: Final = RecordsOf(_agents).table(
    "agents",
    "an agent in a closed round",
    _AGENTS,
    _BY_ROUND.own[0].read_by(lambda line: line.state.round),
    column("agent", WHOLE, "its id"),
    column("policy", TEXT, "who plays it: a policy's name, `llm:NAME` for a model, with options",
           lambda line: policy_label(line.state.roster[line.agent], PROMPTS)),
    column("variant", WHOLE, "of its wording, from 0; null where that has no variants"),
    column("failure", TEXT, f"of a model's answer that failed: {_FAILURES}"),
    column("stamina", WHOLE, "what it may spend in the round",
           lambda line: line.state.staminas[line.agent], unit="points"),
    *columns_in_order(
        attrgetter("spent"),
        [Column(f"spent_{kind}", WHOLE, "points", f"stamina spent on {kind}") for kind in KINDS],
    ),
    column("gold_gained", REAL, "what it mined in the round, less its fines",
           lambda line: line.gained, unit="gold"),
    column("gold", REAL, "what it has at round end",
           lambda line: float(line.state.gold[line.agent]), unit="gold"),
    column("plots", WHOLE, "plots that it owns at round end",
           lambda line: len(line.state.plots_of[line.agent]), unit="plots"),
)  # fmt: skip


# Spells.


@attrs.frozen
class _SpellLine(_Line):
    spell: Spell


def _spells(run: TableSource) -> Iterator[_SpellLine]:
    measured = run.measured
    assert isinstance(measured, MeasuredRun)  # of the mining world
    return (_SpellLine(measured.config.agents, spell) for spell in measured.spells)


SPELLS: Final = RecordsOf(_spells).table(
    "spells",
    "an owner's hold of a plot: consecutive round ends",
    _AGENTS,
    *PartOf[_SpellLine, Spell](lambda line: line.spell).columns(
        *columns_of(Spell),
        column("length", WHOLE, "end − start + 1, so far if it is censored", unit="rounds"),
        column("lost", TEXT, "how it was lost: capture; null: still held"),
        column("censored", TRUTH, "whether it is still held when the journal ends"),
    ),
)

TABLES: Final = Tables(_SETUP, (ROUNDS, AGENTS, SPELLS))
