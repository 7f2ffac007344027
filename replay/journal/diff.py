"""Comparison of two runs: the first event that differs, its causes, and the consequences.

Units are compared as bytes, with their digests; nothing is folded to find the first difference.
Declared differences (rules, configuration, roster, submissions put in by hand) take precedence over
observed ones: where a setting differs, the first event that differs is a consequence.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any, Final

import attrs
import msgspec

from goldrush.agents.llm.question import MORE
from goldrush.agents.llm.versions import PromptVersion
from goldrush.kernel import fold
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import (
    JournalError,
    MalformedEvents,
    TornTail,
    UnsupportedJournal,
    format_value,
)
from goldrush.kernel.journal import FORK, START, UNIT, Commit, JournalReader
from goldrush.kernel.world import Block, RecordedEvent, Vocabulary, World, unchanged
from goldrush.replay.find import open_world, tools_at, tools_named
from goldrush.replay.journal.declared import Declared, declared_by, labels_of
from goldrush.replay.journal.forged import reporting_forged
from goldrush.replay.journal.story import narrated
from goldrush.replay.journal.verify import way_out_of
from goldrush.replay.text import cut_middle

# Why two runs differ.
CAUSES: Final = (
    "world", "rules", "configuration", "roster", "submission", "derivation", "damage",
)  # fmt: skip
WORLD, RULES, CONFIGURATION, ROSTER, SUBMISSION, DERIVATION, DAMAGE = CAUSES

# What servers report of answers, besides what models say: not compared.
_REPORTED: Final = {"model", "tokens_in", "tokens_out", "tries", *MORE} - {"reasoning"}

LABEL_MAX: Final = 200  # characters of a player

_NOT_COMPARED: Final = " (not compared: clocks, tokens and names that servers of models report)"
_WHICH: Final = "`goldrush verify` shows which run follows the rules"


class Cause(msgspec.Struct, frozen=True):
    """A reason why two runs differ.

    Attributes:
        kind: one of CAUSES.
        round: the public number of the first unit that it affects; the number before the first
            unit's is the start.
        text: the cause as a sentence.
        name: the setting (`arena.seeds` for a value in a map), or the agents as text.
        a: its value in the first run.
        b: its value in the second run.
    """

    kind: str
    round: int
    text: str = msgspec.field(name="says")  # so it is called in JSON
    name: str | None = None
    a: Any = None
    b: Any = None


@attrs.frozen
class First:
    """The first event that differs.

    Attributes:
        round: the public number of its unit.
        a: the event in the first run; None: no event.
        b: the event in the second run; None: no event.
    """

    round: int
    a: RecordedEvent | None
    b: RecordedEvent | None


@attrs.frozen
class ComparedRun:
    """One of the two runs.

    Attributes:
        path: the journal.
        rounds: the number of closed units.
        counted: the number of those that count; see `Vocabulary.uncounted`.
        open: the number of inputs of one more unit, not judged yet.
        finished: the run has ended.
        trouble: the error in the file; None for a sound one.
        torn: the error is no more than an unfinished commit.
    """

    path: str
    rounds: int
    counted: int
    open: int
    finished: bool
    trouble: str | None
    torn: bool


@attrs.frozen
class Diff:
    """The difference of two runs.

    Attributes:
        a: the first run.
        b: the second run.
        causes: the causes in order of precedence.
        first: the first event that differs; None if all events of the units that both have are the
            same, except for setup and digests, whose difference is among the causes.
        reported: whether servers reported other facts of answers (their clock, tokens, the name of
            the model), which are not compared, nor are digests from there on.
        world: the world of both; None if they differ in world or rules.
    """

    a: ComparedRun
    b: ComparedRun
    causes: Sequence[Cause]
    first: First | None
    world: World[Any] | None = attrs.field(default=None, eq=False, repr=False)
    reported: bool = False

    @property
    def vocabulary(self) -> Vocabulary:
        """The nouns of the world of both."""
        return self.world.vocabulary if self.world else Vocabulary()

    @property
    def same(self) -> bool:
        """Whether no event differs and both runs have the same length and end."""
        torn = self.a.torn != self.b.torn
        return not (self.causes or self.first or torn) and _length(self.a) == _length(self.b)

    @property
    def prefix(self) -> str | None:
        """The run (a or b) that is the beginning of the other; None if neither is."""
        incomparable = any(cause.kind in (WORLD, RULES, DAMAGE) for cause in self.causes)
        lengths = _length(self.a), _length(self.b)
        if self.first or incomparable or lengths[0] == lengths[1]:
            return None
        short, long = (self.a, self.b) if lengths[0] < lengths[1] else (self.b, self.a)
        if short.open and long.finished and long.rounds == short.rounds:
            return None  # it continues where the other one has ended
        return "a" if short is self.a else "b"

    def __str__(self) -> str:

        return "\n".join(format_diff(self))

    def as_dict(self) -> dict[str, Any]:
        """The difference for JSON."""
        first = None
        if self.first is not None:
            sides = {name: getattr(self.first, name) for name in "ab"}
            events = {name: event and event.as_dict() for name, event in sides.items()}
            first = {"round": self.first.round, **events}
        return {
            "same": self.same,
            "reported": self.reported,
            "prefix": self.prefix,
            "a": attrs.asdict(self.a),
            "b": attrs.asdict(self.b),
            "causes": msgspec.to_builtins(self.causes),
            "first": first,
        }


def _length(side: ComparedRun) -> tuple[int, bool, int]:
    return side.rounds, side.finished, side.open


def diff(a: str | Path, b: str | Path) -> Diff:
    """Compare two journals of one world. Damage in one of them is a cause like others.

    Raises:
        BadInput, NotAJournal, UnsupportedJournal: if a journal cannot be opened.
        JournalError: the error of the first journal, if both break before anything else differs.
    """
    with reporting_forged(a, b), JournalReader(a) as reader_a, JournalReader(b) as reader_b:
        one, two = _Run(reader_a), _Run(reader_b)
        if reader_a.header != reader_b.header:
            return Diff(one.side(), two.side(), [_of_headers(one, two)], None)
        one.world = world = open_world(reader_a)  # a setup may have rules of its own
        two.world = open_world(reader_b)
        declared: list[Cause] = []
        first = _walk(world, one, two, declared)
        sides = one.side(), two.side()
    causes = _causes(world, declared, first, one, two)
    if first is None:
        broken = [run for run in (one, two) if run.is_broken()]
        if len(broken) == 2 and not causes and one.error is not None:
            raise one.error
        number = world.vocabulary.number
        causes += [Cause(DAMAGE, number(run.broken_in), str(run.trouble())) for run in broken]
    return Diff(*sides, causes, first, world, one.reported)


class _Run:
    """One of the two journals, read unit by unit, with its declarations up to date.

    `digest` is the last one before the unit that was read last. Without a `world`, nothing is
    decoded as an event. Units have their numbers in the journal here, except in `by_hand`.
    """

    def __init__(self, reader: JournalReader) -> None:
        self.world: World[Any] | None = None
        self.reader = reader
        self.path = reader.path
        self.declared = Declared()
        self.by_hand: set[tuple[int, Any]] = set()
        self.declarations = 0
        self.declared_from = 0  # the first unit for which the last one holds; 0: the start
        self.digest: int | None = None
        self.reported = False  # beside the other: see Diff
        self.rounds = self.counted = 0
        self.open = 0
        self.error: JournalError | None = None
        self.broken_in = 0
        self.units = fold.units(
            self._commits(), lambda inputs: self.world.arrange(inputs) if self.world else inputs
        )

    def is_sound(self, world: World[Any], unit: fold.Unit) -> bool:
        """Whether all rows of a unit are valid in the world; if not, sets the run's error."""
        fault = next(fold.faults(world, _blocks(unit)), None)
        if fault is not None:
            where = world.vocabulary.format_unit(unit.number)
            self.error, self.broken_in = MalformedEvents(self.path, where, fault), unit.number
        return fault is None

    def trouble(self) -> str | None:
        """Its error, with the command that saves what is intact; None without one."""
        return f"{self.error}{way_out_of(self.path)}" if self.error else None

    def is_broken(self) -> bool:
        """Whether its error is more than an unfinished commit after a readable beginning."""
        torn = isinstance(self.error, TornTail) and self.declarations > 0
        return self.error is not None and not torn

    def side(self) -> ComparedRun:
        """The description of the file, after reading the rest of it."""
        for _ in self.units:
            pass
        torn = isinstance(self.error, TornTail)
        return ComparedRun(
            self.path, self.rounds, self.counted, self.open, self.reader.ended, self.trouble(), torn
        )

    def _commits(self) -> Iterator[Commit]:
        try:
            for commit in self.reader:
                if self.world is not None and commit.kind in (START, FORK):
                    event = fold.setup_event(self.world, self.reader, commit)
                    self._declare(self.world, commit, event)
                if commit.digest is not None:
                    self.rounds = commit.unit
                    if self.world is not None:
                        self.counted += fold.counts(commit, self.world.vocabulary)
                if commit.kind == UNIT:
                    inputs = sum(len(rows) for block in commit.blocks[::2] for _, rows in block)
                    self.open = self.open + inputs if commit.digest is None else 0
                yield commit
                if commit.digest is not None:
                    self.digest = commit.digest
        except UnsupportedJournal:
            raise
        except JournalError as error:
            self.error = self.error or error
            self.broken_in = self.broken_in or self.rounds + 1

    def _declare(self, world: World[Any], commit: Commit, event: RecordedEvent) -> None:
        before = self.declared if commit.kind == FORK else None
        tools = tools_named(world.name)
        prompt = None if tools is None else tools.players.prompt
        self.declared = declared_by(world, prompt, before, event)
        self.declared_from = 0 if before is None else commit.unit + 1
        self.by_hand |= {(unit, who) for unit, *_, who in event.fields.get("replaced", ())}
        self.declarations += 1


def _blocks(unit: fold.Unit) -> list[Block]:
    """The blocks of a unit: inputs and derived in turn, then the pending inputs."""
    judged = [block for step in unit.steps for block in (step.inputs, step.derived)]
    return [*judged, unit.pending]


def _walk(world: World[Any], one: _Run, two: _Run, declared: list[Cause]) -> First | None:
    """The first event that differs; declared differences on the way are added to `declared`."""
    known = (0, 0)
    while True:
        a, b = next(one.units, None), next(two.units, None)
        if not (one.declarations and two.declarations):
            return None  # one of them cannot be read at all
        if known != (one.declarations, two.declarations):
            known = one.declarations, two.declarations
            before = {(cause.kind, cause.name) for cause in declared}
            declared += (c for c in _declared(world, one, two) if (c.kind, c.name) not in before)
        if not (declared or one.reported) and one.digest != two.digest:
            declared.append(_other_digests(world, one, two))
        if a is None or b is None:
            return None
        if _blocks(a) != _blocks(b):
            if not (one.is_sound(world, a) & two.is_sound(world, b)):
                return None
            first = _first_event(world, a, b)
            if first is not None:
                return first
            one.reported |= a.digest != b.digest and None not in (a.digest, b.digest)
        if a.digest is None or b.digest is None:
            return None  # one is a beginning of the other
        if a.digest != b.digest and not (declared or one.reported):
            number = world.vocabulary.number(a.number)
            return First(number, _closed(world, a), _closed(world, b))


def _first_event(world: World[Any], a: fold.Unit, b: fold.Unit) -> First | None:
    """The first event of a unit that differs. None if one run merely has not reached it yet."""
    number = world.vocabulary.number(a.number)
    waits = min((2 * len(unit.steps) for unit in (a, b) if unit.digest is None), default=None)
    blocks = _blocks(a), _blocks(b)
    judged = (_rows(world, a.number, side[:waits]) for side in blocks)
    for in_a, in_b in zip_longest(*judged):
        if in_a != in_b:
            return First(number, in_a, in_b)
    if waits is None:
        return None
    is_open = tuple(unit.digest is None and 2 * len(unit.steps) == waits for unit in (a, b))
    x, y = (_rows(world, a.number, side[waits : waits + 1]) for side in blocks)
    pair = _first_pending(x, y, is_open, in_order=world.arrange is unchanged)
    return pair and First(number, *pair)


def _rows(world: World[Any], unit: int, blocks: Sequence[Block]) -> list[RecordedEvent]:
    return [_said(event) for block in blocks for event in fold.block_events(world, unit, block)]


def _said(event: RecordedEvent) -> RecordedEvent:
    """An event without what a server reports of an answer besides what it says."""
    source = event.fields.get("source")
    if not isinstance(source, Mapping):
        return event
    said = {name: fact for name, fact in source.items() if name not in _REPORTED}
    return RecordedEvent(event.name, event.unit, {**event.fields, "source": said})


def _first_pending(
    a: list[RecordedEvent], b: list[RecordedEvent], is_open: Sequence[bool], *, in_order: bool
) -> tuple[RecordedEvent | None, RecordedEvent | None] | None:
    """The first input that differs in a step where one or both runs wait for more inputs.

    A missing input is no difference if it may still come, unless each run has one that the other
    lacks: then neither is the beginning of the other. Where inputs are arranged they come in
    any order (`in_order` is false), so any of them may be missing, and not only the last.
    """
    if in_order:
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
        a, b = a[same:], b[same:]
    else:
        a, b = _multiset_difference(a, b), _multiset_difference(b, a)
    if not (a and b):
        may_come = is_open[0] if b else is_open[1]
        return None if may_come or not (a or b) else (next(iter(a), None), next(iter(b), None))
    if in_order:
        return a[0], b[0]
    others = {_whose(event): event for event in reversed(b)}
    for event in a:
        if _whose(event) in others:
            return event, others[_whose(event)]
    return (a[0], None) if is_open[0] else (None, b[0])


def _multiset_difference(
    events: Sequence[RecordedEvent], others: Sequence[RecordedEvent]
) -> list[RecordedEvent]:
    left = Counter(pack(event.as_dict()) for event in others)
    difference = []
    for event in events:
        key = pack(event.as_dict())
        if left[key]:
            left[key] -= 1
        else:
            difference.append(event)
    return difference


def _whose(event: RecordedEvent) -> bytes:
    """The identity of an input: its type and its first field, as agent or player."""
    return pack((event.name, list(event.fields.values())[1:2]))


def _closed(world: World[Any], unit: fold.Unit) -> RecordedEvent:
    vocabulary = world.vocabulary
    number = vocabulary.number(unit.number)
    fields = {vocabulary.unit: number, "digest": f"{unit.digest:016x}"}
    return RecordedEvent(vocabulary.closed, number, fields)


def _other_digests(world: World[Any], one: _Run, two: _Run) -> Cause:
    """START or a fork has another digest with the same settings and players."""
    at = max(one.declared_from, two.declared_from)
    vocabulary = world.vocabulary
    if pack(one.declared.forks) != pack(two.declared.forks):
        ours, theirs = one.declared.history, two.declared.history
        texts = [f"in {'BA'[each in ours]}: {each[1]}" for each in sorted({*ours} ^ {*theirs})]
        return Cause(CONFIGURATION, vocabulary.number(at), "; ".join(texts))
    text = (
        f"before {vocabulary.format_unit(max(at, 1))} the two runs have the same settings and "
        f"different digests; {_WHICH}"
    )
    return Cause(DERIVATION, vocabulary.number(at), text)


def _of_headers(one: _Run, two: _Run) -> Cause:
    a, b = one.reader.header, two.reader.header
    if a.world != b.world:
        return Cause(
            WORLD, 0, f"{format_value(a.world)} and {format_value(b.world)}", None, a.world, b.world
        )
    return Cause(RULES, 0, f"version {a.rules} and version {b.rules}", None, a.rules, b.rules)


def _declared(world: World[Any], one: _Run, two: _Run) -> Iterator[Cause]:
    """The differences between the setups in force."""
    at = world.vocabulary.number(max(one.declared_from, two.declared_from))
    ours, theirs = one.declared, two.declared
    for setting in {**ours.settings, **theirs.settings}:
        values = ours.settings.get(setting), theirs.settings.get(setting)
        for name, a, b in _different(str(setting), *values):
            text = f"{name} is {format_setting(a)} in A, {format_setting(b)} in B"
            yield Cause(CONFIGURATION, at, text, name, a, b)
    players: dict[bytes, tuple[list[str], Any, Any]] = {}
    both = zip_longest(map(_player, ours.players), map(_player, theirs.players))
    for agent, (a, b) in enumerate(both):
        if pack(a) != pack(b):
            players.setdefault(pack((a, b)), ([], a, b))[0].append(str(agent))
    for agents, a, b in players.values():
        who = f"agent{'s' if len(agents) > 1 else ''} {', '.join(agents)}"
        text = f"{who}: {_players_differ(a, b, ours.prompt)}"
        yield Cause(ROSTER, at, text, ", ".join(agents), a, b)


def format_setting(value: object) -> str:
    """The value of a setting as text; None is the default."""
    return "the default" if value is None else format_value(value)


def _different(name: str, a: Any, b: Any) -> Iterator[tuple[str, Any, Any]]:
    """The name of a setting with both values if they differ; of two maps, `name.key` of each value
    in them that differs.
    """
    if pack(a) == pack(b):
        return
    inner: list[tuple[str, Any, Any]] = []
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        for key in {**a, **b}:
            inner += _different(f"{name}.{key}", a.get(key), b.get(key))
    yield from inner or [(name, a, b)]


def _player(entry: Any) -> Any:
    """The entry of a player without the agent that plays it."""
    if not isinstance(entry, Mapping):
        return entry
    return {name: value for name, value in entry.items() if name not in ("agent", "ordinal")}


def _players_differ(a: Any, b: Any, prompt: PromptVersion | None) -> str:
    """Two players as text, and what differs in their options where their labels are the same."""
    labels = [_label(player, prompt) for player in (a, b)]
    if labels[0] != labels[1]:
        return f"{labels[0]} in A, {labels[1]} in B"
    names = ", ".join(name.removeprefix(".") for name, *_ in _different("", a, b))
    return f"{labels[0]}, with other {cut_middle(names, LABEL_MAX, ' ... ')}"


def _label(player: Any, prompt: PromptVersion | None) -> str:
    if player is None:
        return "not in the setup"
    [label] = labels_of([player], prompt) or [format_value(player)]
    return cut_middle(label, LABEL_MAX, " ... ")


def _causes(
    world: World[Any], declared: list[Cause], first: First | None, one: _Run, two: _Run
) -> list[Cause]:
    """The declared causes, or else a cause by the type of the first event that differs."""
    if first is None:
        return declared
    event = first.a or first.b
    assert event is not None
    type = next((type for type in world.events if type.name == event.name), None)
    where = f"in {world.vocabulary.unit} {first.round}"
    agent = None if type is None else next(type.ids_in("agent", event), None)
    hands = [
        name
        for name, run in zip("AB", (one, two), strict=True)
        if (first.round, agent) in run.by_hand
    ]
    if type is not None and type.is_input and (hands or not declared):
        by_hand = f", put in by hand in {' and '.join(hands)}" if hands else ""
        what = "the answer" if event.fields.get("source") else "that"
        whose = event.name if agent is None else f"{what} of agent {agent}"
        name = None if agent is None else str(agent)
        values = (side and dict(side.fields) for side in (first.a, first.b))
        text = f"{whose} {where}{by_hand}"
        return [*declared, Cause(SUBMISSION, first.round, text, name, *values)]
    if declared:
        return declared
    text = f"{where} the two runs received the same inputs and produced different events"
    return [Cause(DERIVATION, first.round, f"{text} ({event.name}); {_WHICH}")]


SHOWN_MAX: Final = 20  # causes: how many are listed


def format_diff(difference: Diff) -> list[str]:
    """The headline, the causes, and the first event that differs as each run has it, line by line.

    Raises JournalError as reading the journals does.
    """
    a, b = difference.a, difference.b
    lines = [_headline(difference) + (_NOT_COMPARED if difference.reported else "")]
    lines += [f"cause: {cause.kind}: {cause.text}" for cause in difference.causes[:SHOWN_MAX]]
    if len(difference.causes) > SHOWN_MAX:
        lines.append(f"and {len(difference.causes) - SHOWN_MAX} more; --json has all")
    if difference.first is not None:
        lines += _both(difference)
    causes = " ".join(cause.text for cause in difference.causes)
    lines += [
        f"note: {side.trouble}" for side in (a, b) if side.trouble and side.trouble not in causes
    ]
    return lines


def _headline(difference: Diff) -> str:
    a, b, vocabulary = difference.a, difference.b, difference.vocabulary
    both = f"{a.path} (A) and {b.path} (B)"
    if difference.same:
        end = "finished" if a.finished else "unfinished"
        return f"the same: {a.counted} {vocabulary.units}, {end}"
    if difference.first is not None:
        return f"{both} differ from {vocabulary.unit} {difference.first.round} on"
    if difference.prefix is not None:
        return _prefix(*((a, b) if difference.prefix == "a" else (b, a)), vocabulary)
    kinds = {cause.kind for cause in difference.causes}
    broken = [
        vocabulary.unit_of(cause.round) for cause in difference.causes if cause.kind == "damage"
    ]
    common = min(a.rounds, b.rounds, *(unit - 1 for unit in broken))
    if kinds & {"world", "rules"} or (common < 1 and kinds):
        return f"{both} cannot be compared event by event"
    last = vocabulary.number(common)
    units = f"{vocabulary.units} {vocabulary.first} to {last}"
    return f"{both} differ, but not in the events of {units}"


def _prefix(short: ComparedRun, long: ComparedRun, words: Vocabulary) -> str:
    """The headline for a run that is the beginning of the other."""
    ends = "ends" if short.finished else "breaks off"
    if long.rounds > short.rounds:
        goes_on = f"goes on to {words.number(long.rounds)}"
    elif long.finished:
        goes_on = "has come to its end"
    else:
        goes_on = f"has {long.open} inputs of the next one"
    return (
        f"{short.path} is a prefix of {long.path}: it {ends} with "
        f"{words.format_unit(short.rounds)}, the other one {goes_on}"
    )


def _both(difference: Diff) -> list[str]:
    """The first event that differs in both runs; as JSON where their texts are the same. Where the
    world pairs units, how the first pair differs.
    """
    a, b = difference.a.path, difference.b.path
    if paired := tools_at(a).differing(a, b):
        return [*paired]
    assert difference.first is not None
    events = difference.first.a, difference.first.b
    nothing = f"nothing more in this {difference.vocabulary.unit}"
    texts = [nothing if event is None else next(narrated(a, [event])) for event in events]
    if texts[0] == texts[1]:
        texts = [json.dumps(event and event.as_dict()) for event in events]
    return [f"  {name}: {text}" for name, text in zip("AB", texts, strict=True)]
