"""The tables of mining runs: agents and spells of ownership, and the columns of events."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from operator import attrgetter
from typing import Final

from goldrush.agents.llm.failures import INVALID, NO_ACTION, failure_kind
from goldrush.agents.llm.failures import KINDS as KINDS_OF_FAILURE
from goldrush.agents.llm.wording_rosters import variants_of
from goldrush.agents.seats import policy_label
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.roster import PROMPT
from goldrush.kernel.journal import FORK, START, UNIT, JournalReader
from goldrush.kernel.shape import AGENT, NATURAL, record, several
from goldrush.kernel.walk import Walk
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import (
    KINDS,
    MINING_SETTLED,
    RULED,
    SUBMITTED,
)
from goldrush.kernel.worlds.mining.history import kept_plans
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
    records_table,
    type_of,
)
from goldrush.replay.data.run_data import RunData
from goldrush.replay.data.tables import unit_column
from goldrush.replay.worlds.mining.measures import check_gold

SETUP: Final = (
    Column("config", JSON, "all settings by name"),
    Column("roster", JSON, "who plays: agent, policy and options of each"),
    Column("parent", TEXT, "SHA-256 of the journal that was forked, in hex"),
    Column("changes", JSON, "the settings that a fork changes, with their new values"),
    Column("replaced", type_of(several(record(round=NATURAL, agent=AGENT)).schema),
           "the submissions that were put in by hand"),
)  # fmt: skip
_FAILURES: Final = ", ".join(kind for kind in KINDS_OF_FAILURE if kind != INVALID)


def _agents(run: RunData) -> Iterator[Row]:
    variants: Mapping[int, int] = {}
    with JournalReader(run.path) as reader:
        for commit, state in Walk(MINING, reader):
            if commit.kind in (START, FORK):
                variants = variants_of(state.roster, state.config.seed)
            if commit.kind == UNIT and commit.digest is not None:
                if state.round > run.outline.closed:
                    return
                check_gold(state)
                yield from _agents_of(state, variants)


def _agents_of(state: MiningState, variants: Mapping[int, int]) -> Iterator[Row]:
    """The agents after a round. `variants`: see `variants_of`."""
    record = state.history[-1]
    gained: defaultdict[int, list[float]] = defaultdict(list)
    for _, agent, _, gold in record.rows(MINING_SETTLED):
        gained[agent].append(gold)
    for _, captor, _, _, _, fine, _ in record.rows(RULED):
        gained[captor].append(-fine)
    spent: Counter[tuple[int, int]] = Counter()
    for agent, plan in kept_plans(record):
        for kind, _, points in plan:
            spent[agent, kind] += points
    failures = {
        row[0]: NO_ACTION if MINING_PLAYERS.unread(row) else failure_kind(row[2])
        for row in record.rows(SUBMITTED)
        if row[5] is not None
    }
    for agent, entry in enumerate(state.roster):
        yield (
            state.round,
            agent,
            policy_label(entry, PROMPT),
            variants.get(agent),
            failures.get(agent),
            state.staminas[agent],
            *(spent[agent, kind] for kind in range(len(KINDS))),
            math.fsum(gained[agent]),
            float(state.gold[agent]),
            len(state.plots_of[agent]),
        )


AGENTS: Final = Table(
    "agents",
    "an agent in a closed round",
    (
        unit_column(MINING.vocabulary),
        Column("agent", WHOLE, "its id"),
        Column("policy", TEXT,
               "who plays it: a policy's name, `llm:NAME` for a model, with options"),
        Column("variant", WHOLE, "of its wording, from 0; null where that has no variants"),
        Column("failure", TEXT, f"of a model's answer that failed: {_FAILURES}"),
        Column("stamina", WHOLE, "what it may spend in the round", unit="points"),
        *(Column(f"spent_{kind}", WHOLE, f"stamina spent on {kind}", unit="points")
          for kind in KINDS),
        Column("gold_gained", REAL, "what it mined in the round, less its fines", unit="gold"),
        Column("gold", REAL, "what it has at round end", unit="gold"),
        Column("plots", WHOLE, "plots that it owns at round end", unit="plots"),
    ),
    _agents,
)  # fmt: skip


SPELLS: Final = records_table(
    "spells",
    attrgetter("measured.spells"),
    "an owner's hold of a plot: consecutive round ends",
    Column("plot", WHOLE, "the plot's id"),
    Column("owner", WHOLE, "the agent who holds it"),
    Column("start", WHOLE, "the first round at whose end it does"),
    Column("end", WHOLE, "the last one"),
    Column("gained", TEXT, "how the plot came: claim or capture"),
    Column("lost_to", WHOLE, "who captured it in round end + 1; null: still held"),
    Column("length", WHOLE, "end − start + 1, so far if it is censored", unit="rounds"),
    Column("censored", TRUTH, "whether it is still held when the journal ends"),
)

TABLES: Final = (AGENTS, SPELLS)
