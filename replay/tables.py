"""Tables of journals for other programs: events, rounds, agents, spells of ownership, measures.

Many journals become one table, whose first column, the path as it was given, tells them apart. The
columns of a table are the same for every journal of a world, so that files made apart can be put
together; replay/TABLES.md lists them. Rows are made one by one and written in batches: thousands of
runs are never held at once, only the one that is being read.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import attrs

from goldrush.agents.llm.failures import KINDS as KINDS_OF_FAILURE
from goldrush.agents.llm.failures import kind_of
from goldrush.agents.mining.roster import called
from goldrush.kernel import fold
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.mining import MINING
from goldrush.kernel.mining.events import (
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
from goldrush.kernel.mining.state import MiningState
from goldrush.kernel.world import (
    AMOUNT,
    BOOLEAN,
    FACTS,
    INTEGER,
    NATURAL,
    WORD,
    Kind,
    World,
    several,
)
from goldrush.replay.forged import telling_forged
from goldrush.replay.mining.measured import Measured, measure
from goldrush.replay.mining.measures import HALF_LIFE, MEASURES, SURVIVAL, Counts

Row = Sequence[Any]


@attrs.frozen
class Type:
    """What the values of a column are, null apart.

    `text`: a value in CSV. `arrow`: its type, made by the module `pyarrow`; `plain`: the value as
    pyarrow takes it.
    """

    name: str
    text: Callable[[Any], str]
    arrow: Callable[[Any], Any]
    plain: Callable[[Any], Any] | None = None


_BARE = re.compile(r"[\w./:-]+", re.ASCII).fullmatch


def _quoted(text: str) -> str:
    """Text as a field of CSV. No text is "", so that it is told from null, an empty field."""
    return text if _BARE(text) else '"' + text.replace('"', '""') + '"'


def _as_json(value: Any) -> str:
    return _quoted(json.dumps(value))


def _records(name: str, fields: Mapping[str, str]) -> Type:
    """Lists of records with these fields: `[value, ...]` in JSON, structs in Parquet."""

    def arrow(pa: Any) -> Any:
        return pa.list_(pa.struct([(field, getattr(pa, of)()) for field, of in fields.items()]))

    def plain(records: Sequence[Any]) -> list[Any]:
        return [None if record is None else tuple(record) for record in records]

    return Type(name, _as_json, arrow, plain)


WHOLE: Final = Type("integer", str, lambda pa: pa.int64())
REAL: Final = Type("number", repr, lambda pa: pa.float64())
TRUTH: Final = Type("boolean", lambda value: "true" if value else "false", lambda pa: pa.bool_())
TEXT: Final = Type("text", _quoted, lambda pa: pa.string())
JSON: Final = Type("JSON", _as_json, lambda pa: pa.string(), json.dumps)
WHOLES: Final = Type("list of integers", _as_json, lambda pa: pa.list_(pa.int64()))
TEXTS: Final = Type("list of texts", _as_json, lambda pa: pa.list_(pa.string()))
PLANNED: Final = _records(
    "list of (kind, plot, amount)", {"kind": "string", "plot": "int64", "amount": "int64"}
)
REMOVED: Final = _records("list of (index, reason)", {"index": "int64", "reason": "string"})
BY_HAND: Final = _records("list of (round, agent)", {"round": "int64", "agent": "int64"})

_TYPES: Final[Mapping[str, Type]] = {
    kind.name: type
    for kind, type in (
        (INTEGER, WHOLE), (NATURAL, WHOLE), (AMOUNT, REAL), (BOOLEAN, TRUTH), (WORD, TEXT),
        (FACTS, JSON), (ACTIONS, PLANNED), (several(REMOVAL), REMOVED),
        (several(INTEGER), WHOLES), (several(NATURAL), WHOLES), (several(WORD), TEXTS),
    )
}  # fmt: skip


def _type_of(kind: Kind) -> Type:
    """The type of a field: JSON for what is neither of a kind known here, nor text, nor a name."""
    name = kind.name.removesuffix(" or null")
    is_text = name.split(" of ")[0] == "text" or " | " in name
    return _TYPES.get(name, TEXT if is_text else JSON)


@attrs.frozen
class Column:
    """A column: its name, the type of its values, their unit, what they are."""

    name: str
    type: Type
    unit: str
    says: str


class Run:
    """A journal that rows are made of. It is measured once, when that is first needed."""

    def __init__(self, path: str | Path, world: World[Any] = MINING) -> None:
        self.path = str(path)
        # A name that is no UTF-8 is escaped: neither format could hold it.
        self.name = os.fsencode(path).decode("utf-8", "backslashreplace")
        self.world = world

    @cached_property
    def measured(self) -> Measured:
        """The run, measured. Raises what `measure` raises."""
        return measure(self.path)

    @property
    def front(self) -> tuple[str, int, int]:
        """What the rows of a mining run begin with."""
        config = self.measured.config
        return self.name, config.seed, config.agents


def _telling_forged(rows: Callable[[Run], Iterator[Row]]) -> Callable[[Run], Iterator[Row]]:
    def told(run: Run) -> Iterator[Row]:
        with telling_forged(run.path, world=run.world):
            yield from rows(run)

    return told


@attrs.frozen
class Table:
    """A table: what a row of it is, its columns, and the rows of a run, in their order."""

    name: str
    says: str
    columns: Sequence[Column]
    rows: Callable[[Run], Iterator[Row]] = attrs.field(converter=_telling_forged)


_JOURNAL: Final = Column("journal", TEXT, "", "the path of the journal, as it was given")
_FRONT: Final = (
    _JOURNAL,
    Column("seed", WHOLE, "", "the run's seed; the last one, where a fork changed it"),
    Column("agents", WHOLE, "agents", "how many play"),
)
_ROUND: Final = Column("round", WHOLE, "", "the round, from 1 on")

# What `run_started` and `forked` hold, by world; of other worlds it is one column of JSON.
_SETUP: Final[Mapping[str, Sequence[Column]]] = {
    MINING.name: (
        Column("config", JSON, "", "all settings by name"),
        Column("roster", JSON, "", "who plays: agent, policy and options of each"),
        Column("parent", TEXT, "", "SHA-256 of the journal that was forked, in hex"),
        Column("changes", JSON, "", "the settings that a fork changes, with their new values"),
        Column("replaced", BY_HAND, "", "the submissions that were put in by hand"),
    )
}
_FACTS: Final = Column("facts", JSON, "", "everything else that these events hold, by name")
_MINING: Final[Mapping[str, tuple[str, str]]] = {
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
# The unit and the meaning of each field, by world.
_MEANINGS: Final[Mapping[str, Mapping[str, tuple[str, str]]]] = {MINING.name: _MINING}


def events_table(world: World[Any] = MINING) -> Table:
    """The events of a world: one row an event, a column for every field that any of them has."""
    words = world.vocabulary
    before = f"{words.number(0)} for what is before {words.first}"
    setup = [
        Column("world", TEXT, "", "the world's name"),
        Column("rules", WHOLE, "", "the version of its rules"),
        *_SETUP.get(world.name, [_FACTS]),
    ]
    front = [
        _JOURNAL,
        Column("place", WHOLE, "", "the event's place in the journal, from 0 on"),
        Column("event", TEXT, "", "its name"),
        Column(words.unit, WHOLE, "", f"the {words.unit} it belongs to; {before}"),
    ]
    digest = Column("digest", TEXT, "", f"that of the state after the {words.unit}, 16 hex digits")
    fields = _fields(world)
    # A world's own field must not be lost behind a column that every table has.
    taken = {column.name for column in (*front, *setup, digest)}
    own = [
        Column(f"{name}_" if name in taken else name, type, *_meaning(world, name))
        for name, type in fields.items()
    ]
    names = [column.name for column in setup], list(fields)
    return Table(
        "events",
        "an event, in the order of the journal; null where an event has no such field",
        [*front, *setup, *own, digest],
        lambda run: _event_rows(run, *names),
    )


def _fields(world: World[Any]) -> dict[str, Type]:
    """The fields of a world's events, with their types; JSON where two events differ in it."""
    fields: dict[str, Type] = {}
    for event in world.events:
        for name, kind in event.fields.items():
            type = _type_of(kind)
            fields[name] = type if fields.get(name, type) is type else JSON
    return fields


def _meaning(world: World[Any], name: str) -> tuple[str, str]:
    """The unit of a field and what it is, with the events that have it."""
    unit, says = _MEANINGS.get(world.name, {}).get(name, ("", ""))
    of = ", ".join(f"`{event.name}`" for event in world.events if name in event.fields)
    return unit, f"{of}: {says}" if says else of


def _event_rows(run: Run, setup: Sequence[str], own: Sequence[str]) -> Iterator[Row]:
    """The fields in the columns of the setup, of the world's own events, and of the digest."""
    words = run.world.vocabulary
    no_setup, nothing = (None,) * len(setup), (None,) * len(own)
    with JournalReader(run.path) as reader:
        for place, event in enumerate(fold.events(run.world, reader)):
            front = run.name, place, event.name, event.unit
            fields = event.fields
            if event.name in (words.started, words.forked):
                if _FACTS.name in setup:
                    fields = _with_facts(fields)
                yield (*front, *map(fields.get, setup), *nothing, None)
            elif event.name in (words.closed, words.ended):
                yield (*front, *no_setup, *nothing, fields.get("digest"))
            else:
                yield (*front, *no_setup, *map(fields.get, own), None)


def _with_facts(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of a setup event, those of its world in one."""
    front = {name: fields[name] for name in ("world", "rules") if name in fields}
    return {**front, "facts": {name: v for name, v in fields.items() if name not in front}}


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
# The measures that a single round has.
BY_ROUND: Final = tuple(name for name in MEASURES if name not in (HALF_LIFE, SURVIVAL))
_MEASURED: Final = tuple(
    Column(name, REAL, "", f"{MEASURES[name].title}. {MEASURES[name].definition}")
    for name in BY_ROUND
)


def _count_columns() -> Iterator[tuple[str, Column]]:
    """Every count: where it stands in Counts, and its column."""
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


def _round_rows(run: Run) -> Iterator[Row]:
    front, values = run.front, run.measured.values
    for place, counts in enumerate(run.measured.counts):
        measured = (values[name][place] for name in BY_ROUND)
        yield (*front, counts.round, *_counted(counts), *measured)


def _agent_rows(run: Run) -> Iterator[Row]:
    front, last = run.front, run.measured.rounds
    before: list[list[int]] = []
    with JournalReader(run.path) as reader:
        for commit, state in fold.states(MINING, reader):
            if commit.kind == UNIT and commit.digest is not None:
                if state.round > last:  # the journal has grown since it was measured
                    return
                yield from ((*front, *row) for row in _agents_of(state, before))
                before = []
            before = before or [kinds.copy() for kinds in state.spent]


def _agents_of(state: MiningState, before: Sequence[Sequence[int]]) -> Iterator[Row]:
    """The agents after a round; `before`: what each had spent until then."""
    record = state.history[-1]
    gained: defaultdict[int, list[float]] = defaultdict(list)
    for _, agent, _, gold in record.rows(MINING_SETTLED):
        gained[agent].append(gold)
    for _, captor, _, _, _, fine, _ in record.rows(RULED):
        gained[captor].append(-fine)
    failures = {row[0]: kind_of(row[2]) for row in record.rows(SUBMITTED) if row[5] is not None}
    for agent, kinds in enumerate(state.spent):
        yield (
            state.round,
            agent,
            called(state.roster[agent]),
            failures.get(agent),
            state.staminas[agent],
            *(after - then for after, then in zip(kinds, before[agent], strict=True)),
            math.fsum(gained[agent]),
            float(state.gold[agent]),
            len(state.plots_of[agent]),
        )


def _spell_rows(run: Run) -> Iterator[Row]:
    for spell in run.measured.spells:
        yield (*run.front, *spell.as_dict().values())


ROUNDS: Final = Table(
    "rounds",
    "a closed round; measures are null where they are undefined",
    [*_FRONT, _ROUND, *_COUNTS.values(), *_MEASURED],
    _round_rows,
)
AGENTS: Final = Table(
    "agents",
    "an agent in a closed round",
    [
        *_FRONT,
        _ROUND,
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
        *_FRONT,
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
NAMES: Final = ("events", ROUNDS.name, AGENTS.name, SPELLS.name)
# The tables of a world beside that of its events.
_TABLES: Final[Mapping[str, Sequence[Table]]] = {MINING.name: (ROUNDS, AGENTS, SPELLS)}


def _figure_rows(run: Run) -> Iterator[Row]:
    measured = run.measured
    for name in MEASURES:
        halves = (measured.compared(name, burn_in=burn_in) for burn_in in (True, False))
        yield (run.name, name, measured.of(name), *(value for pair in halves for value in pair))


_WITHOUT: Final = "of all rounds, without a burn-in"
FIGURES: Final = Table(
    "measures",
    "a measure of a run (`goldrush measure --csv`)",
    [
        _JOURNAL,
        Column("measure", TEXT, "", "its name: a measure of `rounds`, half_life or survival"),
        Column("run", REAL, "", "over the run: the mean of the rounds, for gini and hhi the end"),
        Column("first_half", REAL, "", "of the rounds after the burn-in, the first ⌊R ÷ 10⌋"),
        Column("second_half", REAL, "", "of the same rounds"),
        Column("first_half_without_burn_in", REAL, "", _WITHOUT),
        Column("second_half_without_burn_in", REAL, "", _WITHOUT),
    ],
    _figure_rows,
)


def _measured_rows(run: Run) -> Iterator[Row]:
    values = run.measured.values
    for place, counts in enumerate(run.measured.counts):
        yield (run.name, counts.round, *(values[name][place] for name in BY_ROUND))


MEASURED: Final = Table(
    "measures by round",
    "a closed round (`goldrush measure --csv --by-round`)",
    [_JOURNAL, _ROUND, *_MEASURED],
    _measured_rows,
)


def as_dict(run: Run, *, by_round: bool = False, spells: bool = False) -> dict[str, Any]:
    """The measures of a run for JSON, as `Measured.as_dict` has them; with the values of every
    round and the spells of ownership, where these are asked for.
    """
    with telling_forged(run.path, world=run.world):
        found = run.measured.as_dict()
        if by_round:
            names = ["round", *BY_ROUND]
            rows = _measured_rows(run)
            found["by_round"] = [dict(zip(names, row[1:], strict=True)) for row in rows]
        if spells:
            found["spells"] = [spell.as_dict() for spell in run.measured.spells]
        return found


def tables_of(world: World[Any] = MINING, names: Iterable[str] | None = None) -> list[Table]:
    """The tables of a world's journals, or those of these names; a world that has none of its own
    has that of the events alone. Raises BadInput for a table that the world does not have.
    """
    known = [events_table(world), *_TABLES.get(world.name, ())]
    by_name = {table.name: table for table in known}
    for name in names or ():
        if name not in by_name:
            raise BadInput(
                f"journals of the {world.name} world have no table {name!r}",
                f"take one of {', '.join(by_name)}",
            )
    return [by_name[name] for name in names or by_name]
