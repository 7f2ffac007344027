"""The world kit: the laws that every world must satisfy, tested on a run of it.

    class TestHarbour(goldrush.testing.WorldLaws):
        world = "package.harbour:Harbour"
        settings = {"seasons": 6}

gives a pytest test for each law; `goldrush conform harbour.py --set seasons=6` tests them in a
shell.
A law is a function of a run that raises LawBroken. Choose settings for a short run: it is played
and folded many times. Recording and each law have a process of their own, so that no law finds what
code that remembers has kept of another.
"""

from __future__ import annotations

import dataclasses
import math
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from copy import copy
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final, TypeVar

import attrs
import msgspec

from goldrush.agents import players
from goldrush.agents.players import PreparedRun, Resources
from goldrush.agents.pool import in_child
from goldrush.agents.seats import matches_label
from goldrush.kernel import fold
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, GoldrushError, format_error
from goldrush.kernel.journal import JournalReader, sha256_of
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Block, EventType, InvalidInputs, Past, Row, Step, World
from goldrush.replay.find import players_of, tools_for
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.journal.verify import verify
from goldrush.replay.run import Run
from goldrush.replay.studies import NO_STUDIES
from goldrush.replay.study.plan import plan_of
from goldrush.replay.tools import Tools

LEAVES_MAX: Final = 200  # values of each part of a state that are changed
FLIPS: Final = 100  # bytes of a journal that are damaged
VARIED_MAX: Final = 2_000  # inputs that are varied
_NOBODY: Final = 2**53 - 1  # the number of an agent that no run has

__all__ = ["LAWS", "LawBroken", "Trial", "WorldLaws", "broken", "record", "trial"]


def __dir__() -> list[str]:
    return [*__all__]


T = TypeVar("T")

# Values for the fields of inputs, where their kind allows them.
_VALUES: Final[tuple[Any, ...]] = (
    0, 1, 2**53 - 1, -1, 0.5, True, False, None, "", "x", "\U0001f41f" * 20, (), {},
)  # fmt: skip


_RECORD: Final = "from goldrush.testing import record; record({0!r}, {1!r}, {2!r}, {3!r})"


class LawBroken(AssertionError):
    """A world breaks a law. The message names the location and the values found."""


@attrs.frozen
class Trial:
    """A recorded run of the world under test.

    Attributes:
        name: the name of the world.
        tools: its tools.
        world: the world for this run's setup.
        path: the journal.
        settings, roster: as given.
        prepared: the run made of them.
    """

    name: str
    tools: Tools
    world: World[Any]
    path: Path
    settings: Mapping[str, Any]
    roster: str | None
    prepared: PreparedRun

    @property
    def resources(self) -> Resources:
        """The policies and journals that its roster names."""
        return Resources(trust=self.prepared.roster.trust, sources=self.prepared.roster.sources)

    def format_unit(self, unit: int) -> str:
        """A journal's unit as text, in the number shown to people."""
        return self.world.vocabulary.format_unit(unit)

    def steps(self) -> Iterator[tuple[Any, Step, int, bool]]:
        """(state before, step, number of its unit in the journal, whether first) of each step."""
        with JournalReader(self.path) as reader:
            commits = iter(reader)
            state = fold.start(self.world, reader, next(commits))
            for unit in fold.units(commits, self.world.arrange):
                for index, step in enumerate(unit.steps):
                    yield state, step, unit.number, index == 0
                    state = fold.fold(self.world, state, [step.inputs, step.derived])
                if unit.digest is not None:
                    state = self.world.close(state)

    def states(self) -> Iterator[tuple[int, Any]]:
        """(number in the journal, state) of every closed unit."""
        with JournalReader(self.path) as reader:
            for commit, state in Walk(self.world, reader):
                if commit.digest is not None:
                    yield commit.unit, state


Law = Callable[[Trial], None]


def record(
    name: str, settings: Mapping[str, Any], roster: str | None, path: str | Path
) -> PreparedRun:
    """Record a run of a world and return the prepared run. Raises as `Run.record`."""
    planned = Run.plan(world=name, roster=roster, given=settings)
    is_watched = planned.tools.world(planned.prepared.setup).watching is not nullcontext
    planned = msgspec.structs.replace(planned, check=is_watched)
    planned.record(path, force=True, again=False)  # a law looks at that
    return planned.prepared


@contextmanager
def trial(
    name: str, settings: Mapping[str, Any] | None = None, roster: str | None = None
) -> Iterator[Trial]:
    """A recorded run of a world, in a folder that is removed afterwards.

    Args:
        settings: settings of the run; None: the defaults.
        roster: as on the command line; None: the world's default.

    Raises BadInput for an unknown world or invalid settings.
    """
    tools = tools_for(name)
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.journal")
        run = in_child(record, name, settings or {}, roster, path)
        with JournalReader(path) as reader:
            setup = next(iter(reader)).setup or {}
        yield Trial(name, tools, tools.world(setup), path, settings or {}, roster, run)


def broken(law: Law, run: Trial) -> str | None:
    """How a world breaks a law, as text; None if it satisfies it."""
    try:
        in_child(law, run)
    except LawBroken as error:
        return str(error)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a world may raise anything
        return format_error(error)
    return None


# The laws.


def a_recorded_run_verifies(run: Trial) -> None:
    """The journal holds at every level: events are derived again, deterministic policies asked
    again.
    """
    found = verify(run.path, resources=run.resources)
    if found.holds is not True:
        raise LawBroken(str(found.broken or f"{', '.join(found.unknown)} cannot be judged"))


def any_process_writes_the_same_bytes(run: Trial) -> None:
    """The same run has the same bytes in other processes, under any hash seed."""
    expected = sha256_of(run.path)
    given = (run.name, dict(run.settings), run.roster)
    for seed in ("1", "2"):
        path = run.path.with_name(f"hash-{seed}.journal")
        done = subprocess.run(  # noqa: S603  this interpreter
            [sys.executable, "-c", _RECORD.format(*given, str(path))],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            reason = done.stderr.strip().rpartition("\n")[2]
            raise LawBroken(f"with PYTHONHASHSEED={seed}: {reason}")
        if (found := sha256_of(path)) != expected:
            raise LawBroken(f"with PYTHONHASHSEED={seed}: SHA-256 {found} instead of {expected}")


def decide_depends_on_state_and_inputs_alone(run: Trial) -> None:
    """`decide` is pure: it gives the same batches again, whatever the global random numbers, and
    does not change the state.
    """
    for state, step, unit, is_first in run.steps():
        before = run.world.digest(state) if is_first else None
        for seed in (1, 2):
            with _reseeded(seed):
                again = Block(run.world.decide(run.world.copy(state), step.inputs))
            if again != step.derived:
                raise LawBroken(
                    f"{run.format_unit(unit)}: `decide` gave other events when called again"
                )
        if is_first:
            run.world.decide(state, step.inputs)
            if run.world.digest(state) != before:
                raise LawBroken(f"{run.format_unit(unit)}: `decide` changed the state it was given")


@contextmanager
def _reseeded(seed: int) -> Iterator[None]:
    """Seed the global random numbers, and restore their state afterwards."""
    kept = random.getstate()
    random.seed(seed)
    try:
        yield
    finally:
        random.setstate(kept)


def folding_in_pieces_gives_the_same(run: Trial) -> None:
    """Inputs and derived events give the same state when folded together or one after the other,
    `copy` shares no mutable value, and `evolve` changes no event.
    """
    for state, step, unit, is_first in run.steps():
        before = run.world.digest(state) if is_first else None
        whole = fold.fold(run.world, state, [step.inputs, step.derived])
        half = fold.fold(run.world, state, [step.inputs])
        pieces = fold.fold(run.world, half, [step.derived])
        if is_first and run.world.digest(state) != before:
            raise LawBroken(f"{run.format_unit(unit)}: `copy` shares a value that `evolve` changes")
        if any(Block(block.batches) != block for block in (step.inputs, step.derived)):
            raise LawBroken(f"{run.format_unit(unit)}: `evolve` changed an event it was given")
        if run.world.unit_done(whole):
            one, other = (run.world.digest(run.world.close(found)) for found in (whole, pieces))
            if one != other:
                raise LawBroken(
                    f"{run.format_unit(unit)}: events folded in two pieces give another digest"
                )


def a_frozen_state_thaws_unchanged(run: Trial) -> None:
    """A frozen state, encoded, decoded and thawed, has the digest of the original."""
    if run.world.freeze is None or run.world.thaw is None:
        return
    with JournalReader(run.path) as reader:
        for unit, state in run.states():
            frozen = unpack(pack(run.world.freeze(state)))
            thawed = run.world.thaw(frozen, fold.past(run.world, reader, unit))
            if run.world.digest(thawed) != run.world.digest(state):
                raise LawBroken(f"{run.format_unit(unit)}: the thawed state has another digest")


def a_fork_that_changes_nothing_is_the_same_run(run: Trial) -> None:
    """A fork at the middle of a run without any change has the same states."""
    if run.world.fork is None:
        return
    units = [unit for unit, _ in run.states()]
    middle = units[len(units) // 2]
    out = run.path.with_name("fork.journal")
    players.fork(
        run.world, players_of(run.tools), run.path,
        run.world.vocabulary.number(middle), out, resources=run.resources, force=True,
    )  # fmt: skip
    forked = attrs.evolve(run, path=out)
    expected = {unit: run.world.digest(state) for unit, state in run.states()}
    found = {unit: run.world.digest(state) for unit, state in forked.states()}
    if expected != found:
        first = next(unit for unit in units if expected[unit] != found.get(unit))
        raise LawBroken(
            f"forked after {run.format_unit(middle)}, {run.format_unit(first)} has another digest"
        )


def the_digest_covers_every_field(run: Trial) -> None:
    """Any value changed in a state changes its digest, or the digest refuses it.

    The values are those of the frozen form if there is one, else of the state itself: records
    (attrs or dataclasses), collections and plain values, nested. A field with `eq=False`
    (dataclasses: `compare=False`) is a cache and not part of the state.
    """
    states = list(run.states())
    unit, state = states[len(states) // 2]
    expected = run.world.digest(state)
    for where, changed in _changed_states(run, unit, state):
        try:
            found = run.world.digest(changed())
        except (*fold.REFUSED, BadInput):
            continue  # refused
        if found == expected:
            raise LawBroken(f"{run.format_unit(unit)}: the digest does not cover {where}")


# The location of a change in a value, and a function that makes the changed value.
Change = tuple[str, Callable[[], Any]]
Put = Callable[[Any], Any]  # makes the whole value with another part


def _changed_states(run: Trial, unit: int, state: Any) -> Iterator[Change]:
    """(location, function that makes the state with the value there changed) for a sample of
    values.
    """
    if run.world.freeze is None or run.world.thaw is None:
        yield from _changes(state, "state")
        return
    frozen = unpack(pack(run.world.freeze(state)))
    with JournalReader(run.path) as reader:
        past = fold.past(run.world, reader, unit)
        for where, changed in _changes(frozen, "frozen"):
            yield where, partial(_thawed, run.world, changed, past)


def _thawed(world: World[Any], changed: Callable[[], Any], past: Past) -> Any:
    assert world.thaw is not None  # checked by the caller
    return world.thaw(changed(), past)


def _changes(value: Any, where: str) -> Iterator[Change]:
    """Copies of a value with one change each, a sample for each of its parts."""
    for inner, part, put in _parts(value, where) or [(where, value, lambda changed: changed)]:
        yield from _sample(list(_each_change(part, inner, put)), LEAVES_MAX)


def _each_change(value: Any, where: str, put: Put) -> Iterator[Change]:
    """The changes of a value, which `put` sets into the whole."""
    parts = _parts(value, where)
    for inner, part, set_part in parts:
        yield from _each_change(part, inner, partial(_put, put, set_part))
    if not parts:
        yield where, partial(put, _other(value, where))


def _put(put: Put, set_part: Put, changed: Any) -> Any:
    return put(set_part(changed))


def _parts(value: Any, where: str) -> list[tuple[str, Any, Put]]:
    """The parts of a value: (location, part, function that makes the value with another part)."""
    if isinstance(value, Mapping):
        return [(f"{where}[{k!r}]", v, partial(_with_key, value, k)) for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [(f"{where}[{i}]", v, partial(_with_item, value, i)) for i, v in enumerate(value)]
    if isinstance(value, (set, frozenset)):
        items = sorted(value, key=repr)
        return [(f"{where}{{{v!r}}}", v, partial(_with_member, value, v)) for v in items]
    names = []
    if attrs.has(type(value)):
        names = [field.name for field in attrs.fields(type(value)) if field.eq]
    elif dataclasses.is_dataclass(value):
        names = [field.name for field in dataclasses.fields(value) if field.compare]
    return [(f"{where}.{n}", getattr(value, n), partial(_with_field, value, n)) for n in names]


def _other(value: Any, where: str) -> Any:
    """A different value of the same type, for a value without parts.

    Raises LawBroken for unknown types.
    """
    if value is None:
        return 0
    if type(value) is bool:
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, float):
        return math.nextafter(value, -math.inf if value > 0 else math.inf)
    if isinstance(value, str):
        return f"{value}x"
    if isinstance(value, bytes):
        return value + b"x"
    if isinstance(value, Mapping):
        return {"x": 0}
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)([0])
    if attrs.has(type(value)) or dataclasses.is_dataclass(value):
        return None  # a record without fields
    raise LawBroken(
        f"{where} is of {type(value).__name__}, which cannot be varied; "
        "make it a record of attrs, or give the world `freeze` and `thaw`"
    )


def _with_key(value: Mapping[Any, Any], key: Any, changed: Any) -> Any:
    return {**value, key: changed}


def _with_item(value: Sequence[Any], index: int, changed: Any) -> Any:
    make: Callable[[Any], Any] = getattr(
        type(value), "_make", type(value)
    )  # that of a named tuple takes a list, too
    return make([*value[:index], changed, *value[index + 1 :]])


def _with_member(value: set[Any] | frozenset[Any], member: Any, changed: Any) -> Any:
    return type(value)((value - {member}) | {changed})


def _with_field(value: Any, name: str, changed: Any) -> Any:
    """A copy with another value of a field, also of a frozen record."""
    other = copy(value)
    object.__setattr__(other, name, changed)
    return other


def _sample(items: Sequence[T], most: int) -> list[T]:
    """A sample of at most `most` items, always the same one."""
    chosen = random.Random(0).sample(range(len(items)), min(len(items), most))  # noqa: S311
    return [items[index] for index in sorted(chosen)]


def draws_are_recorded_in_events(run: Trial) -> None:
    """The words of every draw of `decide` are recorded in an event of that step."""
    for state, step, unit, _ in run.steps():
        drawn: list[Draws] = []
        with _watched(drawn):
            run.world.decide(run.world.copy(state), step.inputs)
        recorded = {
            word
            for code, rows in step.derived.batches
            for row in rows
            for word in _draw_words(run.world.events[code], row)
        }
        for draws in drawn:
            if not recorded.issuperset(draws.words()):
                raise LawBroken(
                    f"{run.format_unit(unit)}: a draw with the key {draws.parts} is in no event"
                )


@contextmanager
def _watched(drawn: list[Draws]) -> Iterator[None]:
    """Collect every Draws that is made in the block."""
    make = Draws.__init__

    def made(self: Draws, *key: int | str) -> None:
        make(self, *key)
        drawn.append(self)

    Draws.__init__ = made  # type: ignore[method-assign]
    try:
        yield
    finally:
        Draws.__init__ = make  # type: ignore[method-assign]


def _draw_words(kind: EventType, row: Sequence[Any]) -> Iterator[int]:
    for index, field in enumerate(kind.fields.values()):
        if field.entity == "word":
            value = row[index]
            yield from value if isinstance(value, tuple) else () if value is None else (value,)


def events_have_fields_of_the_declared_kinds(run: Trial) -> None:
    """Every row, encoded and decoded, is valid for its event type."""
    for state, step, unit, _ in run.steps():
        derived = run.world.decide(run.world.copy(state), step.inputs)
        for code, rows in (*step.inputs.batches, *derived):
            for row in rows:
                fault = run.world.events[code].fault(unpack(pack(row)))
                if fault is not None:
                    raise LawBroken(f"{run.format_unit(unit)}: {fault}")


def decide_accepts_every_legal_input(run: Trial) -> None:
    """`decide` and `evolve` accept any values of the declared kinds; faults become events."""
    _judge_all(run, _variations)


def inputs_of_unknown_agents_are_refused(run: Trial) -> None:
    """`decide` raises InvalidInputs for rows of unknown, missing or repeated agents, or gives
    events that `evolve` accepts.
    """
    _judge_all(run, _other_agents, InvalidInputs)


# All inputs that differ from some in one thing, each as a function that makes them.
Variations = Callable[[World[Any], Block], Iterator[Callable[[], Block]]]


def _judge_all(run: Trial, variations: Variations, *refusals: type[Exception]) -> None:
    """Judge a sample of the variations of a run's inputs; only `refusals` may be raised."""
    every = sum(1 for _, step, _, _ in run.steps() for _ in variations(run.world, step.inputs))
    chosen = set(_sample(range(every), VARIED_MAX))
    number = count()
    for state, step, unit, _ in run.steps():
        for varied in variations(run.world, step.inputs):
            if next(number) not in chosen:
                continue
            inputs = varied()
            try:
                derived = Block(run.world.decide(run.world.copy(state), inputs))
                fold.fold(run.world, state, [inputs, derived])
            except refusals:
                continue
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                where = run.format_unit(unit)
                raise LawBroken(
                    f"{where}: {format_error(error)}, given {inputs.batches}"
                ) from error


def _variations(world: World[Any], inputs: Block) -> Iterator[Callable[[], Block]]:
    """Other values of an input's fields; agents and plots stay."""
    for batch, (code, rows) in enumerate(inputs.batches):
        for index in range(len(rows)):
            for field, kind in enumerate(world.events[code].fields.values()):
                if kind.entity not in ("agent", "plot"):
                    for value in filter(kind.holds, _VALUES):
                        yield partial(_varied, inputs, batch, index, field, value)


def _other_agents(world: World[Any], inputs: Block) -> Iterator[Callable[[], Block]]:
    """Each row that names an agent: without it, with it twice, with an agent that no run has."""
    for batch, (code, rows) in enumerate(inputs.batches):
        kinds = enumerate(world.events[code].fields.values())
        fields = [(field, kind) for field, kind in kinds if kind.entity == "agent"]
        for index, row in enumerate(rows if fields else ()):
            yield partial(_with_rows, inputs, batch, index, [])
            yield partial(_with_rows, inputs, batch, index, [row, row])
            for field, kind in fields:
                for value in filter(kind.holds, (_NOBODY, (_NOBODY,))):
                    yield partial(_varied, inputs, batch, index, field, value)


def _varied(inputs: Block, batch: int, index: int, field: int, value: Any) -> Block:
    row = inputs.batches[batch][1][index]
    return _with_rows(inputs, batch, index, [(*row[:field], value, *row[field + 1 :])])


def _with_rows(inputs: Block, batch: int, index: int, others: Sequence[Row]) -> Block:
    """The inputs with other rows in the place of one."""
    batches = [(code, list(rows)) for code, rows in inputs.batches]
    batches[batch][1][index : index + 1] = others
    return Block(batches)


def damage_is_found(run: Trial) -> None:
    """A flipped bit anywhere in the journal is detected."""
    whole = run.path.read_bytes()
    damaged = run.path.with_name("damaged.journal")
    for offset in range(0, len(whole), max(1, len(whole) // FLIPS)):
        flipped = bytearray(whole)
        flipped[offset] ^= 1 << offset % 8
        damaged.write_bytes(flipped)
        try:
            holds = verify(damaged, 2).holds
        except GoldrushError:
            continue
        if holds:
            raise LawBroken(f"byte {offset} was damaged, and the journal holds")


def a_study_plans_what_is_played(run: Trial) -> None:
    """Studies plan what is recorded, and every treatment can be planned with every baseline.

    Worlds without studies satisfy it.
    """
    studies = run.tools.studies
    if studies is NO_STUDIES:
        return
    with JournalReader(run.path) as reader:
        setup = next(iter(reader)).setup or {}
    config = studies.config(setup["config"])
    if config.as_dict() != setup["config"]:
        raise LawBroken(f"the configuration is {config.as_dict()}, START has {setup['config']}")
    who = players_of(run.tools)
    units, most = max(unit for unit, _ in run.states()), getattr(config, who.horizon)
    if units > most:
        raise LawBroken(f"{who.horizon} is {most}, but the run has {units} units")
    played = labels_of(setup[run.world.vocabulary.players], who.prompt)
    measures, measured = run.tools.measures, played
    if measures.known:
        with JournalReader(run.path) as reader:
            measured = list(measures.read(reader).roster)
    rest = iter(played)  # measures may cover only some of the players
    if not all(name in rest for name in measured):
        raise LawBroken(f"the measures name the policies {measured}, START has {played}")
    seats = list(studies.seats(run.roster, config.agents))
    if len(seats) != len(measured) or not all(map(matches_label, seats, measured)):
        raise LawBroken(f"the seats are {seats}, the measures name the policies {measured}")
    known = measures.known
    named = [*studies.criteria.expected, *(studies.compared or ())]
    if not known.keys() >= set(named):
        raise LawBroken(f"there is no measure {', '.join(sorted(set(named) - known.keys()))}")
    plan_of(world=run.name, seeds=1).runs()


LAWS: Final[Mapping[str, Law]] = {
    law.__name__.replace("_", " "): law
    for law in (
        a_recorded_run_verifies, any_process_writes_the_same_bytes,
        decide_depends_on_state_and_inputs_alone, folding_in_pieces_gives_the_same,
        a_frozen_state_thaws_unchanged,
        a_fork_that_changes_nothing_is_the_same_run, the_digest_covers_every_field,
        draws_are_recorded_in_events, events_have_fields_of_the_declared_kinds,
        decide_accepts_every_legal_input, inputs_of_unknown_agents_are_refused, damage_is_found,
        a_study_plans_what_is_played,
    )
}  # fmt: skip


class WorldLaws:
    """A pytest class with a test for each law. Subclass it.

    Attributes:
        world: the name of the world, or the location of a game.
        settings: settings of a short run.
        roster: as on the command line; None: the world's default.
    """

    world: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    roster: ClassVar[str | None] = None

    _stack: ClassVar[ExitStack]
    _run: ClassVar[Trial]

    @classmethod
    def setup_class(cls) -> None:
        """Record the run, once for all laws."""
        cls._stack = ExitStack()
        cls._run = cls._stack.enter_context(trial(cls.world, cls.settings, cls.roster))

    @classmethod
    def teardown_class(cls) -> None:
        """Remove the run."""
        cls._stack.close()

    def _keeps(self, law: Law) -> None:
        in_child(law, self._run)


def _test_for(law: Law) -> Callable[[WorldLaws], None]:
    def test(self: WorldLaws) -> None:
        self._keeps(law)

    test.__doc__ = law.__doc__
    return test


for _law in LAWS.values():
    setattr(WorldLaws, f"test_{_law.__name__}", _test_for(_law))
