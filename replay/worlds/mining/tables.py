"""The tables of mining runs: rounds, agents and spells of ownership, and the columns of events."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Final

import attrs

from goldrush.agents.llm.failures import KINDS as KINDS_OF_FAILURE
from goldrush.agents.llm.failures import failure_kind
from goldrush.agents.seats import policy_label
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.shape import several
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import (
    ACTIONS,
    KINDS,
    MINING_SETTLED,
    OUTCOMES,
    REASONS,
    REMEDIES,
    REMOVAL,
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
    Row,
    Table,
    TableSource,
    Types,
    records,
)
from goldrush.replay.data.tables import units_table
from goldrush.replay.tools import Spells, Tables
from goldrush.replay.worlds.mining.counting import Counts
from goldrush.replay.worlds.mining.measures import (
    MEASURES,
    MeasuredRun,
    Measuring,
    check_gold,
    on_plots,
)
from goldrush.replay.worlds.mining.show import format_spells

# The field types that only mining has.
PLANNED: Final = records(
    "list of (kind, plot, amount)", {"kind": "string", "plot": "int64", "amount": "int64"}
)
REMOVED: Final = records("list of (index, reason)", {"index": "int64", "reason": "string"})
BY_HAND: Final = records("list of (round, agent)", {"round": "int64", "agent": "int64"})


_TYPES: Final[Types] = {ACTIONS.name: PLANNED, several(REMOVAL).name: REMOVED}
_SETUP: Final = (
    Column("config", JSON, "", "all settings by name"),
    Column("roster", JSON, "", "who plays: agent, policy and options of each"),
    Column("parent", TEXT, "", "SHA-256 of the journal that was forked, in hex"),
    Column("changes", JSON, "", "the settings that a fork changes, with their new values"),
    Column("replaced", BY_HAND, "", "the submissions that were put in by hand"),
)
_FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "agent": ("", "whose submission, or whose mining, it is"),
    "actions": ("", "the plan: kind (" + ", ".join(KINDS) + "), plot, stamina points; an item that "
                "is no action is null"),
    "error": ("", "why there is no plan, or only a part of it"),
    "say": ("", "what the others are told; null without communication"),
    "memo": ("", "what the agent notes for itself"),
    "source": ("", "what a language model wrote (raw) and took; null for scripted agents"),
    "removed": ("", "items of the plan, from 0, that were removed, and why: " + ", ".join(REASONS)),
    "cost": ("points", "stamina spent on what is left of the plan"),
    "plot": ("", "the plot's id: row × columns + column"),
    "claimants": ("", "agents who claim the plot, ascending"),
    "winner": ("", "the agent who gets the plot; null where a raid captures nothing"),
    "words": ("", "the 64-bit words that were drawn, 16 hex digits each"),
    "owner": ("", "the agent who has the plot when it is raided; null if nobody's"),
    "raiders": ("", "agents who raid the plot, ascending"),
    "defense": ("points", "stamina of its defence"),
    "outcome": ("", "how the raid ends: " + ", ".join(OUTCOMES)),
    "captor": ("", "the agent who captured the plot"),
    "victim": ("", "the agent who lost it"),
    "detected": ("", "whether the authority saw it"),
    "remedy": ("", "what it did: " + ", ".join(REMEDIES) + "; null: nothing"),
    "fine": ("gold", "what the captor pays"),
    "stamina": ("points", "stamina mined with"),
    "gold": ("gold", "what it brought: 0 where the plot was lost in this round"),
}  # fmt: skip

_COUNTED: Final[Mapping[str, tuple[str, str]]] = {
    "owned": ("plots", "plots owned at round start"),
    "turned": ("plots", "those of them with another owner at round end"),
    "owned_after": ("plots", "plots owned at round end"),
    "raided": ("plots", "plots owned at round start that were raided"),
    "raids": ("actions", "raids on them, after pruning"),
    "speculative": ("actions", "raids on nobody's plots, after pruning"),
    "captures": ("plots", "captures that stand"),
    "undone": ("plots", "captures that an authority undid"),
    "defended": ("plots", "defended plots"),
    "defended_raided": ("plots", "defended plots that were raided"),
    "defended_captured": ("plots", "defended plots that were captured"),
    "defended_undone": ("plots", "defended plots whose capture an authority undid"),
    "overrun": ("plots", "defended plots with more raiders than points, under pointwise defence"),
    "undefended_captured": ("plots", "other plots owned at round start that were captured"),
    "staked": ("points", "stamina allocated to mining on defended plots"),
    "claims": ("plots", "claimed plots"),
    "contested": ("plots", "those of them with two claimants or more"),
    "defend": ("points", "stamina spent on defence"),
    "mine": ("points", "stamina spent on mining"),
    "claim": ("points", "stamina spent on claims"),
    "raid": ("points", "stamina spent on raids"),
    "stamina": ("points", "the stamina of all"),
    "lost_claims": ("points", "stamina spent on claims that another won"),
    "failed_raids": ("points", "stamina spent on raids that captured nothing for good"),
    "forfeited": ("points", "stamina spent on mining plots that were lost in the round"),
    "untested": ("points", "stamina spent on the defence of plots that nobody raided"),
    "mined": ("gold", "gold mined, before fines"),
}
_GROUPS: Final[Mapping[str, str]] = {
    "long_claimed": "plots held by claim for 5 rounds or more at round start",
    "long_captured": "plots held by capture for 5 rounds or more at round start",
    "new_claimed": "plots held by claim for less than 5 rounds at round start",
    "new_captured": "plots held by capture for less than 5 rounds at round start",
}


def _count_columns() -> Iterator[tuple[str, Column]]:
    """Every count: its attribute path in `Counts`, and its column."""
    types = {"float": REAL, float: REAL, "int": WHOLE, int: WHOLE}
    for field in attrs.fields(Counts):
        if field.name in _GROUPS:
            yield (
                f"{field.name}.plots",
                Column(f"{field.name}_plots", WHOLE, "plots", _GROUPS[field.name]),
            )
            says = f"raids on {_GROUPS[field.name]}"
            yield f"{field.name}.raids", Column(f"{field.name}_raids", WHOLE, "actions", says)
        elif field.name != "round":
            yield field.name, Column(field.name, types[field.type], *_COUNTED[field.name])


_COUNTS: Final = dict(_count_columns())
_counted: Final = attrgetter(*_COUNTS)


_AGENTS: Final = Column("agents", WHOLE, "agents", "how many play")
_BY_ROUND: Final = units_table(MINING.vocabulary, MEASURES)  # the round, and its measures


def _measured(run: TableSource) -> MeasuredRun:
    found = run.measured
    assert isinstance(found, MeasuredRun)  # of the mining world
    return found


def _round_rows(run: TableSource) -> Iterator[Row]:
    names = [name for name, measure in MEASURES.items() if measure.by_unit]
    with JournalReader(run.path) as reader:
        measuring = Measuring(reader)
        for counts, values in measuring:
            if counts.round > run.units:
                return
            agents = measuring.walk.state.config.agents
            yield (agents, counts.round, *_counted(counts), *(values[name] for name in names))


def _agent_rows(run: TableSource) -> Iterator[Row]:
    before: list[list[int]] = []
    with JournalReader(run.path) as reader:
        for commit, state in Walk(MINING, reader):
            if commit.kind == UNIT and commit.digest is not None:
                if state.round > run.units:
                    return
                check_gold(state)
                for row in _agents_of(state, before):
                    yield (state.config.agents, *row)
                before = []
            before = before or [kinds.copy() for kinds in state.spent]


def _agents_of(state: MiningState, before: Sequence[Sequence[int]]) -> Iterator[Row]:
    """The rows of the agents after a round.

    Args:
        before: stamina points spent before the round: agents × kinds of action.
    """
    record = state.history[-1]
    gained: defaultdict[int, list[float]] = defaultdict(list)
    for _, agent, _, gold in record.rows(MINING_SETTLED):
        gained[agent].append(gold)
    for _, captor, _, _, _, fine, _ in record.rows(RULED):
        gained[captor].append(-fine)
    failures = {
        row[0]: failure_kind(row[2]) for row in record.rows(SUBMITTED) if row[5] is not None
    }
    for agent, kinds in enumerate(state.spent):
        yield (
            state.round,
            agent,
            policy_label(state.roster[agent]),
            failures.get(agent),
            state.staminas[agent],
            *(after - then for after, then in zip(kinds, before[agent], strict=True)),
            math.fsum(gained[agent]),
            float(state.gold[agent]),
            len(state.plots_of[agent]),
        )


def _spell_rows(run: TableSource) -> Iterator[Row]:
    measured = _measured(run)
    for spell in measured.spells:
        yield (measured.config.agents, *spell.as_dict().values())


ROUNDS: Final = Table(
    _BY_ROUND.name,
    _BY_ROUND.description,
    [_AGENTS, *_BY_ROUND.own[:1], *_COUNTS.values(), *_BY_ROUND.own[1:]],
    _round_rows,
)
AGENTS: Final = Table(
    "agents",
    "an agent in a closed round",
    [
        _AGENTS,
        *_BY_ROUND.own[:1],
        Column("agent", WHOLE, "", "its id"),
        Column("policy", TEXT, "", "who plays it: a policy's name, `llm:NAME` for a model"),
        Column(
            "failure", TEXT, "", f"of a model's answer that failed: {', '.join(KINDS_OF_FAILURE)}"
        ),
        Column("stamina", WHOLE, "points", "what it may spend in the round"),
        *(Column(f"spent_{kind}", WHOLE, "points", f"stamina spent on {kind}") for kind in KINDS),
        Column("gold_gained", REAL, "gold", "what it mined in the round, less its fines"),
        Column("gold", REAL, "gold", "what it has at round end"),
        Column("plots", WHOLE, "plots", "plots that it owns at round end"),
    ],
    _agent_rows,
)
SPELLS: Final = Table(
    "spells",
    "an owner's hold of a plot: consecutive round ends",
    [
        _AGENTS,
        Column("plot", WHOLE, "", "the plot's id"),
        Column("owner", WHOLE, "", "the agent who holds it"),
        Column("start", WHOLE, "", "the first round at whose end it does"),
        Column("end", WHOLE, "", "the last one"),
        Column("gained", TEXT, "", "how the plot came: claim or capture"),
        Column("lost_to", WHOLE, "", "who captured it in round end + 1; null: still held"),
        Column("length", WHOLE, "rounds", "end − start + 1, so far if it is censored"),
        Column("lost", TEXT, "", "how it was lost: capture; null: still held"),
        Column("censored", TRUTH, "", "whether it is still held when the journal ends"),
    ],
    _spell_rows,
)

TABLES: Final = Tables(_SETUP, _TYPES, _FIELDS, (ROUNDS, AGENTS, SPELLS))
SPELLS_OF_RUNS: Final = Spells(lambda run: run.spells, format_spells, SPELLS, on_plots)
