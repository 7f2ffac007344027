"""Two runs compared: the first event in which they differ, why, and what came of it.

Commits are compared as bytes, digests and all; nothing is folded to find the first difference. What
the runs declare to be different (rules, configuration, roster, submissions put in by hand) goes
before what is seen: where a setting differs, the first event that differs is a consequence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, Final

import attrs

from kernel import fold
from kernel.codec import pack
from kernel.errors import JournalError, MalformedEvents, TornTail, shown
from kernel.journal import FORK, START, UNIT, Commit, JournalReader
from kernel.world import Block, Event, World
from kernel.worlds import world_of

# Why two runs differ.
CAUSES: Final = (
    "world", "rules", "configuration", "roster", "submission", "draw", "derivation", "damage",
)  # fmt: skip
WORLD, RULES, CONFIGURATION, ROSTER, SUBMISSION, DRAW, DERIVATION, DAMAGE = CAUSES


@attrs.frozen
class Cause:
    """Why two runs differ: one of CAUSES, from which round on (0: the start), in words.

    `name` is the setting, or the agents as text; `a` and `b` are its values in the two runs.
    """

    kind: str
    round: int
    says: str
    name: str | None = None
    a: Any = None
    b: Any = None


@attrs.frozen
class First:
    """The first event that differs: its round, and what each run has there (None: no event)."""

    round: int
    a: Event | None
    b: Event | None


@attrs.frozen
class Side:
    """One of the runs: its file, the last round closed, and how the file ends.

    `trouble`: what is wrong with it, in words; `torn`: that is no more than an unfinished commit.
    """

    path: str
    rounds: int
    finished: bool
    trouble: str | None
    torn: bool


@attrs.frozen
class Diff:
    """What was found: the causes in order of precedence, and the first event that differs.

    `first` is None where every event that both have is the same.
    """

    a: Side
    b: Side
    causes: Sequence[Cause]
    first: First | None

    @property
    def same(self) -> bool:
        """Whether not one event differs and both runs are as long and end alike."""
        ends = [(side.rounds, side.finished, side.torn) for side in (self.a, self.b)]
        return not self.causes and self.first is None and ends[0] == ends[1]

    @property
    def prefix(self) -> str | None:
        """Which run (a or b) is the beginning of the other, if one is."""
        ends = [(side.rounds, side.finished) for side in (self.a, self.b)]
        if self.first is not None or ends[0] == ends[1] or self._unknown():
            return None
        return "a" if ends[0] < ends[1] else "b"

    def _unknown(self) -> bool:
        return any(cause.kind in (WORLD, RULES, DAMAGE) for cause in self.causes)

    def as_dict(self) -> dict[str, Any]:
        """The difference for JSON."""
        first = self.first and {
            "round": self.first.round,
            "a": self.first.a and self.first.a.as_dict(),
            "b": self.first.b and self.first.b.as_dict(),
        }
        return {
            "same": self.same,
            "prefix": self.prefix,
            "a": attrs.asdict(self.a),
            "b": attrs.asdict(self.b),
            "causes": [attrs.asdict(cause) for cause in self.causes],
            "first": first,
        }


def diff(a: str | Path, b: str | Path) -> Diff:
    """Compare two journals of one world.

    Damage in one of them is a cause like others. Raises what opening a journal raises, and the
    damage where both are damaged before anything else differs.
    """
    with JournalReader(a) as reader_a, JournalReader(b) as reader_b:
        one, two = _Run(reader_a), _Run(reader_b)
        if reader_a.header != reader_b.header:
            return Diff(one.side(), two.side(), [_of_headers(one, two)], None)
        world = world_of(reader_a)
        declared: list[Cause] = []
        first = _walk(world, one, two, declared)
        sides = one.side(), two.side()
    causes = _causes(world, declared, first, one, two)
    if first is None:
        broken = [run for run in (one, two) if run.error and not run.side().torn]
        if len(broken) == 2 and not causes and one.error is not None:
            raise one.error
        causes += [
            Cause(DAMAGE, run.rounds + 1, f"{run.path} is broken: {run.error}") for run in broken
        ]
    return Diff(*sides, causes, first)


@attrs.frozen
class _Unit:
    """A closed unit: its number, all its blocks, its digest."""

    number: int
    blocks: Sequence[Block]
    digest: int


class _Run:
    """One of the two journals, read unit by unit; what it declares is kept up to date."""

    def __init__(self, reader: JournalReader) -> None:
        self.reader = reader
        self.path = reader.path
        self.config: Mapping[str, Any] = {}
        self.players: Sequence[dict[str, Any]] = ()
        self.by_hand: set[tuple[int, Any]] = set()
        self.turns = 0  # how often what it declares has changed
        self.turned = 0  # in which unit it did so last
        self.rounds = 0
        self.error: JournalError | None = None
        self._commits = self._guarded()

    def next(self) -> _Unit | None:
        """The next closed unit, or None where there is none any more."""
        blocks: list[Block] = []
        for commit in self._commits:
            if commit.kind == UNIT:
                blocks += commit.blocks
                if commit.digest is not None:
                    return _Unit(commit.unit, blocks, commit.digest)
        return None

    def side(self) -> Side:
        """What there is to say of the file, once the rest of it is read."""
        for _ in self._commits:
            pass
        torn = isinstance(self.error, TornTail)
        trouble = str(self.error) if self.error else None
        return Side(self.path, self.rounds, self.reader.ended, trouble, torn)

    def _guarded(self) -> Iterator[Commit]:
        try:
            for commit in self.reader:
                if commit.kind in (START, FORK):
                    self._declare(commit)
                if commit.digest is not None:
                    self.rounds = commit.unit
                yield commit
        except JournalError as error:
            self.error = error

    def _declare(self, commit: Commit) -> None:
        facts = commit.setup or {}
        try:
            if commit.kind == START:
                self.config = dict(facts["config"])
                self.players = list(map(_player, facts["roster"]))
            else:
                self.config = {**self.config, **facts["changes"]}
                if facts["roster"] is not None:
                    self.players = list(map(_player, facts["roster"]))
                self.by_hand |= {(unit, row[0]) for unit, row in facts["replaced"]}
        except fold.REFUSED as error:
            fault = f"a setup that is none: {error}"
            raise MalformedEvents(self.path, commit.where, fault) from None
        self.turns += 1
        self.turned = commit.unit


def _walk(world: World[Any], one: _Run, two: _Run, declared: list[Cause]) -> First | None:
    """The first event that differs; what the runs declare on the way is added to `declared`."""
    turns = (0, 0)
    while True:
        units = one.next(), two.next()
        if turns != (one.turns, two.turns):
            turns = one.turns, two.turns
            known = {(cause.kind, cause.name) for cause in declared}
            declared += (c for c in _declared(one, two) if (c.kind, c.name) not in known)
        a, b = units
        if a is None or b is None:
            return None
        if a.blocks != b.blocks:
            first = _first_event(world, one, two, a, b)
            if first is not None:
                return first
        if a.digest != b.digest and not declared:
            return First(a.number, _closed(world, a), _closed(world, b))


def _first_event(world: World[Any], one: _Run, two: _Run, a: _Unit, b: _Unit) -> First | None:
    """The first event that differs in a unit: none, if the commits were only cut differently."""
    streams = []
    for run, unit in ((one, a), (two, b)):
        fault = next(fold.faults(world, unit.blocks), None)
        if fault is not None:
            where = f"{world.vocabulary.unit} {unit.number}"
            run.error = MalformedEvents(run.path, where, fault)
            return None
        streams.append(chain(*(fold.block_events(world, a.number, block) for block in unit.blocks)))
    for in_a, in_b in zip_longest(*streams):
        if in_a != in_b:
            return First(a.number, in_a, in_b)
    return None


def _closed(world: World[Any], unit: _Unit) -> Event:
    words = world.vocabulary
    fields = {words.unit: unit.number, "digest": f"{unit.digest:016x}"}
    return Event(words.closed, unit.number, fields)


def _of_headers(one: _Run, two: _Run) -> Cause:
    a, b = one.reader.header, two.reader.header
    if a.world != b.world:
        return Cause(WORLD, 0, f"{shown(a.world)} and {shown(b.world)}", None, a.world, b.world)
    return Cause(RULES, 0, f"version {a.rules} and version {b.rules}", None, a.rules, b.rules)


def _declared(one: _Run, two: _Run) -> Iterator[Cause]:
    """In what the setups in force differ."""
    at = max(one.turned, two.turned)
    for name in {**one.config, **two.config}:
        a, b = one.config.get(name), two.config.get(name)
        if pack(a) != pack(b):
            says = f"{name} is {shown(a)} in a, {shown(b)} in b"
            yield Cause(CONFIGURATION, at, says, str(name), a, b)
    players: dict[bytes, tuple[list[str], Any, Any]] = {}
    for agent, (a, b) in enumerate(zip_longest(one.players, two.players)):
        if pack(a) != pack(b):
            players.setdefault(pack((a, b)), ([], a, b))[0].append(str(agent))
    for agents, a, b in players.values():
        who = f"agent{'s' if len(agents) > 1 else ''} {', '.join(agents)}"
        says = f"{who}: {_played(a)} in a, {_played(b)} in b"
        yield Cause(ROSTER, at, says, ", ".join(agents), a, b)


def _player(entry: Any) -> dict[str, Any]:
    """What an entry of a roster says of an agent, whoever it is."""
    return {name: value for name, value in entry.items() if name != "agent"}


def _played(player: dict[str, Any] | None) -> str:
    if player is None:
        return "not there"
    options = f" {shown(player['options'])}" if player.get("options") else ""
    return f"{player.get('policy')}{options}"


def _causes(
    world: World[Any], declared: list[Cause], first: First | None, one: _Run, two: _Run
) -> list[Cause]:
    """What is declared and, if that is nothing, what kind of event it is that differs first."""
    if first is None:
        return declared
    event = first.a or first.b
    assert event is not None
    agent = event.fields.get("agent")
    hands = [run.path for run in (one, two) if (first.round, agent) in run.by_hand]
    is_input = any(kind.name == event.name and kind.is_input for kind in world.events)
    if is_input and (hands or not declared):
        unit = world.vocabulary.unit
        by_hand = f", put in by hand in {' and '.join(hands)}" if hands else ""
        says = f"that of agent {agent} in {unit} {first.round}{by_hand}"
        values = (side and dict(side.fields) for side in (first.a, first.b))
        return [*declared, Cause(SUBMISSION, first.round, says, str(agent), *values)]
    if declared:
        return declared
    if _is_drawn_otherwise(first):
        says = f"{event.name} on plot {event.fields.get('plot')} in round {first.round}: the same"
        says += " participants, another draw; `verify` tells which is right"
        return [Cause(DRAW, first.round, says)]
    says = f"{event.name} in {world.vocabulary.unit} {first.round} follows from the same events in"
    says += " one run and not in the other; `verify` tells which is right"
    return [Cause(DERIVATION, first.round, says)]


def _is_drawn_otherwise(first: First) -> bool:
    """Whether the two events differ in nothing but words and what they decide."""
    if first.a is None or first.b is None or first.a.name != first.b.name:
        return False
    a, b = first.a.fields, first.b.fields
    differ = {name for name in a if a[name] != b[name]}
    return "words" in differ and differ <= {"words", "winner", "detected", "remedy", "fine"}
