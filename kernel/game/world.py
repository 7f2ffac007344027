"""Compiles a `Game` to a `World`: what the class declares becomes the kernel's functions."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from inspect import signature
from itertools import groupby, repeat
from typing import Any, Final, cast

from goldrush.kernel import shape
from goldrush.kernel.codec import TooLarge, fingerprint, pack
from goldrush.kernel.errors import BadInput, GoldrushError, RulesFailed, format_error, format_value
from goldrush.kernel.files import folder_kept
from goldrush.kernel.forking import Forks
from goldrush.kernel.game.draw import DRAWN, Draw
from goldrush.kernel.game.game import Derived, Game, GamePhase, snake
from goldrush.kernel.game.hints import Field
from goldrush.kernel.game.records import Event, Rows, State, Submission, values_of
from goldrush.kernel.game.watch import (
    check_state,
    check_unchanged,
    is_watched,
    packed,
    unstorable,
    watched,
    watching_all_units,
)
from goldrush.kernel.rosters import setup_of
from goldrush.kernel.shape import Kind
from goldrush.kernel.submissions import arrange, one_of_each, pending_fault
from goldrush.kernel.world import (
    OTHER,
    Batch,
    Block,
    EventType,
    InvalidInputs,
    Past,
    Row,
    Vocabulary,
    World,
)

Apply = Callable[[State, Sequence[Row]], None]
Facts = Mapping[str, object]
Roster = Sequence[Mapping[str, object]]  # as a state has it
Frozen = tuple[Mapping[str, object], Roster, int, str | None, Sequence[object]]


def _step_ended(phases: Sequence[GamePhase]) -> EventType:
    """Ends a step of a unit with several: it follows from nothing else that the next one begins."""
    step = shape.one_of([phase.name for phase in phases]).means("the phase, held as its number")
    return EventType("step_ended", {"step": step}, text="the phase {step} ends")


class Compiled:
    """A game with its event types: the functions of its world.

    Attributes:
        game: the class.
        world: its world.
        types: the types of its events: submissions, events of the game, draws, ends of steps.
        drawn: the index of that of draws.
        has_steps: a unit has several steps.
        vocabulary: its nouns.
        codes: of its records, the index of their type.
        naming: by code, the places of fields that name agents besides whose the row is, and what
            gives the agents of a value.
    """

    def __init__(self, game: type[Game]) -> None:
        self.game = game
        records: list[type[Event | Submission]] = [*game.submissions, *game.events]
        self.codes = {record: code for code, record in enumerate(records)}
        self.types = [*map(_event_type, records), DRAWN]
        self.drawn = len(records)
        self.has_steps = len(game.phases) > 1
        if self.has_steps:
            self.types.append(_step_ended(game.phases))
        self.vocabulary = Vocabulary(game.horizon.removesuffix("s"))
        self._telling = _Telling(game)
        self._start_draws = len(signature(game.start).parameters) > 1
        self.naming = [
            [
                (at, _ids_of(kind))
                for at, kind in enumerate(type.fields.values())
                if at and kind.entity == "agent"
            ]
            for type in self.types
        ]
        self._appliers: list[Apply | None] = [*map(_applier, records), None, _count_step]
        self.world = _world(self)

    def code(self, phase: GamePhase) -> int | None:
        """The code of the submissions of a phase; None: nobody submits."""
        return None if phase.asks is None else self.codes[phase.asks]

    def phase(self, state: State) -> GamePhase:
        """The step that comes next."""
        return self.game.phases[state.step]

    def movers(self, state: State) -> list[int]:
        """The agents who submit in the next step. Raises BadInput for what is no list of agents in
        ascending order.
        """
        if self.phase(state).asks is None:
            return []
        game = state.config
        if type(game).movers is Game.movers:
            return list(range(game.agents))
        with self.running("movers", state):
            given = game.movers(state)
            is_ordered = isinstance(given, Iterable) and not isinstance(given, Set)
            movers = list(given) if is_ordered else []
        valid = range(game.agents)
        known = {agent for agent in movers if type(agent) is int and agent in valid}
        shown = movers if is_ordered else given
        if not is_ordered or movers != sorted(known):
            raise BadInput(
                f"{self.game.__name__}.movers gives {format_value(shown)}",
                f"give agents from 0 to {game.agents - 1} in ascending order, each once",
            )
        return movers

    def running(self, what: str, state: State | None) -> AbstractContextManager[None]:
        """Run a part of the rules: it is watched in the first units, and its exceptions are told.
        `state`: what it must not change; None: it may, and is watched.

        Raises RulesFailed, and BadInput for a mistake.
        """
        if state is None or is_watched(state):
            return self._watched(what, state)
        return self._telling

    @contextmanager
    def _watched(self, what: str, state: State | None) -> Iterator[None]:
        with self._telling, folder_kept(), watched(f"`{what}`", state):
            yield

    def initial(self, setup: Mapping[str, object]) -> State:
        """The state before the first unit. Raises BadInput for an invalid setup."""
        if list(setup) != ["config", "source", "roster"]:
            raise BadInput(
                f"the setup has {', '.join(map(str, setup))}", "it has config, source and roster"
            )
        source = _sha256(setup["source"])
        config, roster = setup_of(
            {"config": setup["config"], "roster": setup["roster"]}, self.game.configured
        )
        draw = (Draw((config.seed, 0, 0, "start")),) if self._start_draws else ()
        with self.running("start", None):
            state = config.start(*draw)
        if type(state) is not self.game.State:
            raise BadInput(
                f"{self.game.__name__}.start gives {format_value(state)}", "return self.State(...)"
            )
        try:
            pack(state.plain())
        except (TooLarge, UnicodeEncodeError):
            raise unstorable(state, f"{self.game.__name__}.start: ") from None
        return self._placed(state, config, roster, 0, source)

    def decide(self, state: State, inputs: Block) -> list[Batch]:
        """What follows from the submissions of a step: its draws, then the game's events.

        Raises InvalidInputs, and BadInput for any mistake in the rules.
        """
        with self.running(self.phase(state).name, state):
            return self._decided(state, inputs)

    def _decided(self, state: State, inputs: Block) -> list[Batch]:
        phase, game = self.phase(state), state.config
        draw = Draw((game.seed, state.unit + 1, state.step, "decide"))
        live = state  # which the rules see
        if phase.live:
            live = self._apply(state.copy(), inputs.batches)
        if phase.asks is None:
            if inputs.batches:
                raise InvalidInputs("nobody submits in this step")
            derived = phase.decide(game, live, draw)
        else:
            derived = phase.decide(game, live, self._asked(phase.asks, state, inputs), draw)
        if not isinstance(derived, Iterable) or isinstance(derived, Event):
            raise BadInput(
                f"{self.game.__name__}.{phase.name} gives {format_value(derived)}",
                "yield its events, each by itself; where nothing happens, return []",
            )
        batches = self._batches(derived if live is state else self._applying(derived, live))
        if live is not state and is_watched(state):
            applied = self._apply(state.copy(), [*inputs.batches, *batches])
            check_unchanged(f"`{phase.name}`", live, packed(applied))
        if drawn := draw.rows():
            batches.insert(0, (self.drawn, drawn))
        if self.has_steps:
            batches.append((self.drawn + 1, [(state.step,)]))
        return batches

    def _applying(self, derived: Derived, live: State) -> Derived:
        """The events that a game yields, each applied to a state before the next is asked for."""
        for event in derived:
            yield event  # first: what is none is refused
            if isinstance(event, Rows):
                kind, rows = event.type, event.rows
            else:
                kind, rows = type(event), [event]
            if (apply := self._appliers[self.codes[kind]]) is not None:
                apply(live, rows)

    def _asked(self, asks: type[Submission], state: State, inputs: Block) -> list[Submission]:
        code = self.codes[asks]
        rows = one_of_each(inputs, code, self.movers(state))
        if self.names_stranger(code, rows, state.config.agents):
            raise InvalidInputs("a submission names an agent that the run does not have")
        return list(map(tuple.__new__, repeat(asks), _given(asks, rows)))

    def names_stranger(self, code: int, rows: Iterable[Row], agents: int) -> bool:
        """Whether a submission names an agent that a run with so many does not have."""
        naming = self.naming[code]
        return bool(naming) and any(
            named >= agents for row in rows for at, ids in naming for named in ids(row[at])
        )

    def _batches(self, derived: Derived) -> list[Batch]:
        """The rows of the events that a game yields, neighbours of one type together: an event is
        its row.
        """
        codes, batches = self.codes, list[Batch]()
        for kind, events in groupby(derived, type):
            if kind is Rows:
                batches += [(codes[each.type], each.rows) for each in cast(Iterable[Rows], events)]
            elif kind in codes and issubclass(kind, Event):
                batches.append((codes[kind], cast(list[Row], list(events))))
            else:
                raise BadInput(
                    f"{self.game.__name__} yields {format_value(next(events))}",
                    f"yield its events: {', '.join(e.__name__ for e in self.game.events)}",
                )
        return batches

    def evolve(self, state: State, block: Block) -> State:
        """The state after these events."""
        with self.running("apply", None) if is_watched(state) else self._telling:
            return self._apply(state, block.batches)

    def _apply(self, state: State, batches: Sequence[Batch]) -> State:
        appliers = self._appliers
        for code, rows in batches:
            apply = appliers[code]
            if apply is not None:
                apply(state, rows)
        return state

    def unit_done(self, state: State) -> bool:
        """Whether all steps of the unit have been played."""
        return not self.has_steps or state.step == len(self.game.phases)

    def close(self, state: State) -> State:
        """The state before the next unit."""
        if is_watched(state):
            check_state(state, self.vocabulary.format_unit(state.unit + 1))
        state.unit += 1
        state.step = 0
        return state

    def ended(self, state: State) -> bool:
        """Whether the run is over: after the last unit, or as the game says."""
        if state.step:
            return False
        is_over = self._is_over(state)
        if is_over:  # a mistake that began in a unit that was not watched
            check_state(state, "the last " + self.vocabulary.unit)
        return is_over

    def _is_over(self, state: State) -> bool:
        game = state.config
        if state.unit >= getattr(game, game.horizon):
            return True
        if type(game).over is Game.over:
            return False
        with self.running("over", state):
            return bool(game.over(state))

    def pending_fault(self, state: State, pending: Block) -> str | None:
        """The reason why these submissions cannot begin a step, or None."""
        return pending_fault(pending, self.code(self.phase(state)), self.movers(state))

    def digest(self, state: State) -> int:
        """xxh3-64 of the canonical encoding of [head, unit, fields], where head is that of
        [settings, roster, SHA-256 of the source]. Raises BadInput for a text with a lone surrogate.
        """
        try:
            return fingerprint([state.head, state.unit, values_of(state)])
        except UnicodeEncodeError:
            when = f"after {self.vocabulary.format_unit(state.unit)}, "
            raise unstorable(state, when) from None

    def freeze(self, state: State) -> Frozen:
        """A state with a closed unit as plain values."""
        return state.config.as_dict(), state.roster, state.unit, state.source, state.plain()

    def thaw(self, frozen: Frozen, past: Past) -> State:
        """The state that `freeze` was given."""
        config, roster, unit, source, values = frozen
        state = self.game.State.of_plain(values)
        return self._placed(state, self.game.configured(config), roster, unit, source)

    def _placed(
        self, state: State, config: Game, roster: Roster, unit: int, source: str | None
    ) -> State:
        state.config, state.roster, state.unit, state.step = config, roster, unit, 0
        state.source = source
        state.head = fingerprint([config.as_dict(), roster, source])
        return state

    @property
    def codes_by_step(self) -> list[int | None]:
        """By step of a unit, the code of the submissions; None: nobody submits."""
        return [self.code(phase) for phase in self.game.phases]

    def forks(self) -> Forks[Game]:
        """What forks can change."""
        submitted = [None if code is None else self.types[code] for code in self.codes_by_step]
        game = self.game
        is_fixed = [field.name for field in game.settings() if field.metadata.get("fixed")]
        fixed = ("agents", *is_fixed) if game.submissions else is_fixed
        return Forks(
            game, game.configured, submitted, game.horizon, self.vocabulary, fixed, last=["source"]
        )

    def fork(self, forks: Forks[Game], state: State, facts: Facts, past: Past) -> State:
        """The state with what a fork changes. Raises BadInput for facts that it cannot take."""
        config, roster = forks.forked(state.config, facts, state.unit)
        source = _sha256(facts["source"])
        players = state.roster if roster is None else roster
        return self._placed(state, config, players, state.unit, source)


# Errors that have their line, and what ends a program whoever raises it.
_TOLD: Final = (InvalidInputs, GoldrushError, KeyboardInterrupt, MemoryError)


class _Telling:
    """A context that raises RulesFailed for whatever the rules raise, also `sys.exit()`. It is
    entered several times in every unit, which a generator makes slow.
    """

    def __init__(self, game: type[Game]) -> None:
        self.game = game

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if isinstance(error, BaseException) and not isinstance(error, _TOLD):
            raise RulesFailed(
                f"the rules of {self.game.__name__} failed: {format_error(error)}", "correct them"
            ) from error


@cache
def compiled(game: type[Game]) -> Compiled:
    """A game with its event types and its world, compiled when it is first asked for."""
    return Compiled(game)


def world_of(game: type[Game]) -> World[State]:
    """The world of a game."""
    return compiled(game).world


def _world(of: Compiled) -> World[State]:
    game, forks = of.game, of.forks()
    return World(
        game.name, game.rules, of.types, of.initial, of.decide, of.evolve, of.ended,
        arrange=arrange,
        pending_fault=of.pending_fault,
        unit_done=of.unit_done,
        close=of.close,
        digest=of.digest,
        copy=State.copy,
        fork=partial(of.fork, forks),
        show_fork=forks.show,
        freeze=of.freeze,
        thaw=of.thaw,
        vocabulary=of.vocabulary,
        watching=watching_all_units,
    )  # fmt: skip


def _sha256(source: object) -> str | None:
    """The SHA-256 in the source that START or a FORK records. Raises BadInput for none that was
    recorded.
    """
    fault = BadInput(f"the source is {format_value(source)}", "it has sha256 and text")
    if type(source) is not dict or list(source) != ["sha256", "text"]:
        raise fault
    sha256, text = source["sha256"], source["text"]
    if sha256 is not None and (type(sha256) is not str or not _SHA256.fullmatch(sha256)):
        raise fault
    if text is not None and (
        type(text) is not str or hashlib.sha256(text.encode()).hexdigest() != sha256
    ):
        raise fault
    return sha256


_SHA256: Final = re.compile("[0-9a-f]{64}")


def _ids_of(kind: Kind) -> Callable[[Any], Iterable[Any]]:
    """The function that gives what a value of a row identifies."""
    return lambda value: kind.ids(kind.show(value))


def _event_type(record: type[Event | Submission]) -> EventType:
    fields = {name: field.kind for name, field in record.types.items()}
    name = snake(record.__name__)
    if not issubclass(record, Submission):
        return EventType(name, fields, text=record.says)
    # Quoted, a text that an agent chooses cannot pass for further fields.
    free = {n for n, field in record.types.items() if not field.choices and field.kind.holds("")}
    holes = {n: f"{{{n}{':quoted' if n in free else ''}}}" for n in fields}
    given = ", ".join(f"{n} {hole}" for n, hole in holes.items()) or name
    stands = f"{', '.join(holes.values()) or name} stand{'s' * (len(holes) < 2)} for it"
    unusable = f"{given} (no usable answer: {stands})"
    if record.missing is None:
        fields = {name: shape.optional(kind) for name, kind in fields.items()}
        unusable = "nothing (no usable answer)"
    return EventType(
        name, {"agent": shape.AGENT, **fields, **shape.FROM_MODELS}, is_input=True,
        text="{agent} submits {error}",
        cases={"error": {None: given, OTHER: f"{unusable}; error {{error}}"}},
    )  # fmt: skip


def _given(record: type[Event | Submission], rows: Sequence[Row]) -> Sequence[Row]:
    """The rows without those of agents who submit nothing: these have an error."""
    if not issubclass(record, Submission) or record.missing is not None:
        return rows
    return [row for row in rows if row[-2] is None]


def _applier(record: type[Event | Submission]) -> Apply | None:
    """The function that applies rows of a type; None: they change nothing."""
    if issubclass(record, Event) and record.apply_all is not None:
        return partial(_apply_columns, record.apply_all, list(record.types.values()))
    if record.apply is None:
        return None
    apply, make = record.apply, tuple.__new__

    def of_rows(state: State, rows: Sequence[Row]) -> None:
        for row in _given(record, rows):  # of events that were just yielded, or of a journal
            apply(row if type(row) is record else make(record, row), state)

    return of_rows


def _apply_columns(
    apply_all: Callable[..., None], fields: Sequence[Field], state: State, rows: Sequence[Row]
) -> None:
    columns = zip(fields, zip(*rows, strict=True), strict=True)
    values = [
        column if field.from_row is None else list(map(field.from_row, column))
        for field, column in columns
    ]
    apply_all(state, *values)


def _count_step(state: State, rows: Sequence[Row]) -> None:
    state.step += 1
