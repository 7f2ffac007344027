"""The world kit: what every world must keep to, tried on a run of it.

    class TestCommons(goldrush.testing.WorldLaws):
        world = "commons"
        settings = {"seasons": 6}

gives a pytest test for each law; `goldrush conform commons --set seasons=6` tries them in a shell.
A law is a function that is given a run and raises LawBroken. Settings should make the run short: it
is played and folded many times.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, Final

import attrs

from goldrush.agents import players
from goldrush.agents.roster import called, can_mean
from goldrush.kernel import fold
from goldrush.kernel.codec import pack, unpack
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput, GoldrushError, described
from goldrush.kernel.journal import JournalReader, sha256_of
from goldrush.kernel.world import Block, EventType, Step, World
from goldrush.replay.studies import Studied
from goldrush.replay.study.plan import plan_of
from goldrush.replay.toolkit import Toolkit, players_of, toolkit_for
from goldrush.replay.verify import verify

LEAVES_MAX: Final = 500  # values of a state that are changed by hand
FLIPS: Final = 100  # bytes of a journal that are damaged
VARIED_MAX: Final = 2_000  # inputs that are varied

# What fields are tried with, where their kind allows it.
_VALUES: Final[tuple[Any, ...]] = (
    0, 1, 2**53 - 1, -1, 0.5, True, False, None, "", "x", "\U0001f41f" * 20, (), {},
)  # fmt: skip


_RECORD: Final = "from goldrush.testing import record; print(record({0!r}, {1!r}, {2!r}, {3!r}))"


class LawBroken(AssertionError):
    """A world does not keep to a law. The message says where, and what was found."""


@attrs.frozen
class Trial:
    """A run by which a world is judged: recorded at `path`, from `settings` and a `roster`."""

    name: str
    toolkit: Toolkit
    world: World[Any]
    path: Path
    settings: Mapping[str, Any]
    roster: str | None

    def steps(self) -> Iterator[tuple[Any, Step, int, bool]]:
        """Each step of the run: the state before it, the step, its unit by the number in the
        journal, whether it is the first of its unit.
        """
        with JournalReader(self.path) as reader:
            commits = iter(reader)
            state = fold.start(self.world, reader, next(commits))
            for unit in fold.units(commits, self.world.arrange):
                for place, step in enumerate(unit.steps):
                    yield state, step, unit.number, place == 0
                    state = fold.fold(self.world, state, [step.inputs, step.derived])
                if unit.digest is not None:
                    state = self.world.close(state)

    def states(self) -> Iterator[tuple[int, Any]]:
        """Every closed state, with its unit by the number in the journal."""
        with JournalReader(self.path) as reader:
            for commit, state in fold.states(self.world, reader):
                if commit.digest is not None:
                    yield commit.unit, state


Law = Callable[[Trial], None]


def record(name: str, settings: Mapping[str, Any], roster: str | None, path: str | Path) -> str:
    """Record a run of a world, and return the SHA-256 of its journal. Raises as recording does."""
    toolkit = toolkit_for(name)
    who = players_of(toolkit, name)
    run = who.prepare(settings, roster, None, None)
    players.record(toolkit.world(run.setup), who, path, run)
    return sha256_of(path)


@contextmanager
def trial(
    name: str, settings: Mapping[str, Any] | None = None, roster: str | None = None
) -> Iterator[Trial]:
    """A run of a world, found by its name, in a folder that is removed afterwards.

    Raises BadInput for a world that is not known, or settings that it does not take.
    """
    toolkit = toolkit_for(name)
    with TemporaryDirectory() as folder:
        path = Path(folder, "run.journal")
        record(name, settings or {}, roster, path)
        with JournalReader(path) as reader:
            setup = next(iter(reader)).setup or {}
        yield Trial(name, toolkit, toolkit.world(setup), path, settings or {}, roster)


def broken(law: Law, run: Trial) -> str | None:
    """How a world breaks a law; None where it keeps to it."""
    try:
        law(run)
    except LawBroken as error:
        return str(error)
    except Exception as error:  # whatever a world raises
        return described(error)
    return None


# The laws.


def it_verifies(run: Trial) -> None:
    """The journal holds at every level: what was derived is derived again, who played plays so."""
    found = verify(run.path, world=None)
    if found.holds is not True:
        raise LawBroken(str(found.broken or f"{', '.join(found.unknown)} cannot be judged"))


def any_process_writes_the_same_bytes(run: Trial) -> None:
    """The same run has the same bytes in other processes, whatever the seed of their hashes."""
    expected = sha256_of(run.path)
    given = (run.name, dict(run.settings), run.roster)
    for seed in ("1", "2"):
        path = run.path.with_name(f"hash-{seed}.journal")
        done = subprocess.run(  # noqa: S603  this interpreter
            [sys.executable, "-c", _RECORD.format(*given, str(path))],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.stdout.strip() != expected:
            found = done.stdout.strip() or done.stderr.strip().rpartition("\n")[2]
            raise LawBroken(f"with PYTHONHASHSEED={seed}: SHA-256 {found} in place of {expected}")


def deciding_depends_on_nothing_else(run: Trial) -> None:
    """`decide` gives the same batches again, whatever the global random numbers, and leaves the
    state that it is given as it was.
    """
    for state, step, unit, is_first in run.steps():
        before = run.world.digest(state) if is_first else None
        for seed in (1, 2):
            random.seed(seed)
            found = Block(run.world.decide(run.world.copy(state), step.inputs))
            if found != step.derived:
                raise LawBroken(f"unit {unit}: `decide` gave other events the second time")
        if is_first:
            run.world.decide(state, step.inputs)
            if run.world.digest(state) != before:
                raise LawBroken(f"unit {unit}: `decide` changed the state that it was given")


def folding_in_pieces_gives_the_same(run: Trial) -> None:
    """Inputs and what was derived from them give the same state one after the other, each onto a
    copy, as together; and a copy of a state shares nothing with it that changes.
    """
    for state, step, unit, is_first in run.steps():
        before = run.world.digest(state) if is_first else None
        whole = fold.fold(run.world, state, [step.inputs, step.derived])
        half = fold.fold(run.world, state, [step.inputs])
        pieces = fold.fold(run.world, half, [step.derived])
        if is_first and run.world.digest(state) != before:
            raise LawBroken(f"unit {unit}: `evolve` changed a state of which it was given a copy")
        if run.world.unit_done(whole):
            one, other = (run.world.digest(run.world.close(found)) for found in (whole, pieces))
            if one != other:
                raise LawBroken(f"unit {unit}: events folded in two pieces give another digest")


def frozen_states_thaw(run: Trial) -> None:
    """A frozen state, written and read again, has the digest of the state that it was."""
    if run.world.freeze is None or run.world.thaw is None:
        return
    with JournalReader(run.path) as reader:
        for unit, state in run.states():
            frozen = unpack(pack(run.world.freeze(state)))
            thawed = run.world.thaw(frozen, fold.past(run.world, reader, unit))
            if run.world.digest(thawed) != run.world.digest(state):
                raise LawBroken(f"unit {unit}: the thawed state has another digest")


def a_fork_that_changes_nothing_is_the_same_run(run: Trial) -> None:
    """Played on from its middle without a change, a run comes to the same states."""
    if run.world.fork is None:
        return
    units = [unit for unit, _ in run.states()]
    middle = run.world.vocabulary.number(units[len(units) // 2])
    out = run.path.with_name("fork.journal")
    players.fork(run.world, players_of(run.toolkit, run.name), run.path, middle, out, force=True)
    forked = attrs.evolve(run, path=out)
    expected = {unit: run.world.digest(state) for unit, state in run.states()}
    found = {unit: run.world.digest(state) for unit, state in forked.states()}
    if expected != found:
        first = next(unit for unit in units if expected[unit] != found.get(unit))
        raise LawBroken(f"forked after {middle}, unit {first} has another digest")


def the_digest_covers_every_field(run: Trial) -> None:
    """A value of a state that is changed by hand changes its digest."""
    states = list(run.states())
    unit, state = states[len(states) // 2]
    expected = run.world.digest(state)
    for where, changed in _changed_states(run, unit, state):
        if run.world.digest(changed) == expected:
            raise LawBroken(f"unit {unit}: the digest does not cover {where}")


def _changed_states(run: Trial, unit: int, state: Any) -> Iterator[tuple[str, Any]]:
    """States with one value changed: of the frozen form where there is one, else of its fields."""
    if run.world.freeze is not None and run.world.thaw is not None:
        frozen = unpack(pack(run.world.freeze(state)))
        with JournalReader(run.path) as reader:
            past = fold.past(run.world, reader, unit)
            for where, changed in _changed(frozen):
                try:
                    yield f"frozen{where}", run.world.thaw(changed, past)
                except (*fold.REFUSED, BadInput):
                    continue  # it was noticed
    elif attrs.has(type(state)):
        for field in attrs.fields(type(state)):
            for where, changed in _changed(getattr(state, field.name)):
                yield f"{field.name}{where}", attrs.evolve(state, **{field.name: changed})
    else:
        yield from ((f"state{where}", changed) for where, changed in _changed(state))


def _changed(value: Any) -> list[tuple[str, Any]]:
    """A plain value with one of its parts changed, for each part, and where that is."""
    found = list(_each_changed(value))
    return found[:: 1 + len(found) // LEAVES_MAX]


def _each_changed(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, item in value.items():
            for where, changed in _each_changed(item):
                yield f"[{key!r}]{where}", {**value, key: changed}
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            for where, changed in _each_changed(item):
                items = [*value[:index], changed, *value[index + 1 :]]
                yield f"[{index}]{where}", type(value)(items)
    elif type(value) is bool:
        yield "", not value
    elif isinstance(value, (int, float)):
        yield "", value + 1
    elif isinstance(value, str):
        yield "", f"{value}x"


def draws_stand_in_the_events(run: Trial) -> None:
    """The words of every draw that `decide` takes stand in an event of that step."""
    for state, step, unit, _ in run.steps():
        drawn: list[Draws] = []
        with _watched(drawn):
            run.world.decide(run.world.copy(state), step.inputs)
        recorded = {
            word
            for code, rows in step.derived.batches
            for row in rows
            for word in _words(run.world.events[code], row)
        }
        for draws in drawn:
            if not recorded.issuperset(draws.words()):
                raise LawBroken(f"unit {unit}: a draw with the key {draws.parts} is in no event")


@contextmanager
def _watched(drawn: list[Draws]) -> Iterator[None]:
    """Keep every Draws that is made meanwhile."""
    make = Draws.__init__

    def made(self: Draws, *key: int | str) -> None:
        make(self, *key)
        drawn.append(self)

    Draws.__init__ = made  # type: ignore[method-assign]
    try:
        yield
    finally:
        Draws.__init__ = make  # type: ignore[method-assign]


def _words(kind: EventType, row: Sequence[Any]) -> Iterator[int]:
    for place, field in enumerate(kind.fields.values()):
        if field.of == "word":
            value = row[place]
            yield from value if isinstance(value, tuple) else () if value is None else (value,)


def rows_are_of_the_declared_kinds(run: Trial) -> None:
    """Every row, as a journal gives it back, is what its event declares."""
    for state, step, unit, _ in run.steps():
        derived = run.world.decide(run.world.copy(state), step.inputs)
        for code, rows in (*step.inputs.batches, *derived):
            for row in rows:
                fault = run.world.events[code].fault(unpack(pack(row)))
                if fault is not None:
                    raise LawBroken(f"unit {unit}: {fault}")


def legal_inputs_are_never_raised_on(run: Trial) -> None:
    """`decide` and `evolve` take any values of the declared kinds: what is wrong is an event."""
    tried = 0
    for state, step, unit, _ in run.steps():
        for inputs in _varied(run.world, step.inputs):
            tried += 1
            if tried > VARIED_MAX:
                return
            try:
                derived = Block(run.world.decide(run.world.copy(state), inputs))
                fold.fold(run.world, state, [inputs, derived])
            except Exception as error:
                says = f"unit {unit}: {described(error)}, given {inputs.batches}"
                raise LawBroken(says) from error


def _varied(world: World[Any], inputs: Block) -> Iterator[Block]:
    """Inputs with one value changed to another of its kind; who and where stay as they are."""
    for batch, (code, rows) in enumerate(inputs.batches):
        for index, row in enumerate(rows):
            for place, kind in enumerate(world.events[code].fields.values()):
                if kind.of in ("agent", "plot"):
                    continue
                for value in filter(kind.holds, _VALUES):
                    changed = (*row[:place], value, *row[place + 1 :])
                    batches = [(c, list(r)) for c, r in inputs.batches]
                    batches[batch][1][index] = changed
                    yield Block(batches)


def damage_is_found(run: Trial) -> None:
    """A flipped bit anywhere in the journal is found."""
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
    """What studies plan is what is played, and every treatment can be planned with every baseline.
    Nothing is asked of a world without studies.
    """
    if run.toolkit.studies is None:
        return
    studies = run.toolkit.studies()
    with JournalReader(run.path) as reader:
        setup = next(iter(reader)).setup or {}
    config = studies.config(setup["config"])
    if config.as_dict() != setup["config"]:
        raise LawBroken(f"the configuration is {config.as_dict()}, START has {setup['config']}")
    who = players_of(run.toolkit, run.name)
    units, most = max(unit for unit, _ in run.states()), getattr(config, who.horizon)
    if units > most:
        raise LawBroken(f"{who.horizon} is {most}, but the run has {units} units")
    played = [called(entry) for entry in setup[run.world.vocabulary.players]]
    seats = list(studies.seats(run.roster, config.agents))
    if len(seats) != len(played) or not all(map(can_mean, seats, played)):
        raise LawBroken(f"seats are {seats}, START has {played}")
    measures = Studied(run.name, run.toolkit, studies, who).measures
    with JournalReader(run.path) as reader:
        measured = list(measures.read(reader).roster)
    if measured != played:
        raise LawBroken(f"what is measured is played by {measured}, START has {played}")
    known = measures.known
    named = [*studies.criteria.expected, *(studies.curves or ()), *(studies.compared or ())]
    if not known.keys() >= set(named):
        raise LawBroken(f"there is no measure {', '.join(sorted(set(named) - known.keys()))}")
    plan_of(world=run.name, seeds=1).runs()


LAWS: Final[Mapping[str, Law]] = {
    law.__name__.replace("_", " "): law
    for law in (
        it_verifies, any_process_writes_the_same_bytes, deciding_depends_on_nothing_else,
        folding_in_pieces_gives_the_same, frozen_states_thaw,
        a_fork_that_changes_nothing_is_the_same_run, the_digest_covers_every_field,
        draws_stand_in_the_events, rows_are_of_the_declared_kinds,
        legal_inputs_are_never_raised_on, damage_is_found, a_study_plans_what_is_played,
    )
}  # fmt: skip


class WorldLaws:
    """A test for each law: subclass it, with the name of a `world` and what makes a short run."""

    world: ClassVar[str] = ""
    settings: ClassVar[Mapping[str, Any]] = {}
    roster: ClassVar[str | None] = None

    def _keeps(self, law: Law) -> None:
        with trial(self.world, self.settings, self.roster) as run:
            law(run)


def _test_of(law: Law) -> Callable[[WorldLaws], None]:
    def test(self: WorldLaws) -> None:
        self._keeps(law)

    test.__doc__ = law.__doc__
    return test


for _law in LAWS.values():
    setattr(WorldLaws, f"test_{_law.__name__}", _test_of(_law))
