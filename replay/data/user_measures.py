"""The measures of a world, and a user's own beside them (replay.data.user_functions)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from math import fsum, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Final

import msgspec

from goldrush.agents.modules import printing_to_stderr
from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, format_error, format_value
from goldrush.kernel.files import folder_kept
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import World
from goldrush.replay.data.compact import Series
from goldrush.replay.data.measures import Measure, Measured, Measures, Span, declared_measure
from goldrush.replay.find import open_world
from goldrush.replay.journal.rebuild import closed_units

if TYPE_CHECKING:
    # Functions are found, and their mistakes looked for, by modules of games, which take long to
    # import: most commands are given no measure.
    from goldrush.replay.data.user_functions import UserMeasure


def can_be_shared(measures: Iterable[UserMeasure]) -> bool:
    """Whether worker processes find all of these measures."""
    return all(measure.location for measure in measures)


def with_users(measures: Measures, users: Sequence[UserMeasure]) -> Measures:
    """The measures of a world, and a user's own after them.

    Raises BadInput for one with the name of a measure of the world.
    """
    if not users:
        return measures
    for user in users:
        if user.name in (*measures.known, *measures.of_agents):
            raise BadInput(f"the world has a measure {user.name}", "give the function another name")
    last = max((measure.column for measure in measures.known.values()), default=0)
    added = {
        user.name: _measure(user, last and last + number) for number, user in enumerate(users, 1)
    }
    read = folder_kept()(partial(_read, measures, users, added))
    return msgspec.structs.replace(measures, known={**measures.known, **added}, read=read)


def _measure(user: UserMeasure, column: int) -> Measure:
    declared = user.declared
    is_mean = not declared.at_end and not declared.total
    over = partial(_over, declared.name) if is_mean else None
    return declared_measure(declared, declared.of, over, column)


def _over(name: str, measured: Measured[Any], span: Span, horizon: int) -> Value:
    """The mean over the units; of a measure by agent, the value at the end."""
    values = measured.values[name][span.first - 1 : span.last]
    return values[-1] if name in measured.by_agent else mean(values)


def _read(
    measures: Measures,
    users: Sequence[UserMeasure],
    added: Mapping[str, Measure],
    reader: JournalReader,
) -> Measured[Any]:
    """The measured run; the journal is read a second time for the user's measures (`own`)."""
    measured = measures.read(reader)
    calls = [_Calls(user, len(measured.roster)) for user in users]
    with reader.again() as again, printing_to_stderr():
        world = open_world(again)
        takes_state = any("state" in user.takes for user in users)
        for unit in closed_units(world, again, Walk(world, again), first=1):
            given = {"state": unit.state, "events": tuple(unit.events)}
            before = _frozen(world, unit.state) if takes_state else b""
            for call in calls:
                where = f"measure {call.user.name} in {world.vocabulary.unit} {unit.round}"
                call.measure(where, given)
                if "state" in call.user.takes and _frozen(world, unit.state) != before:
                    raise BadInput(f"{where} changed the state", "change a copy, as of list(...)")
    values = {call.user.name: call.values for call in calls}
    by_agent = {
        call.user.name: tuple(call.of_agents) for call in calls if call.of_agents is not None
    }
    return msgspec.structs.replace(
        measured,
        known={**measured.known, **added},
        values={**measured.values, **values},
        by_agent={**measured.by_agent, **by_agent},
    )


def _frozen(world: World[Any], state: Any) -> bytes:
    """The whole state as bytes. A digest would not do: worlds keep parts of it with the state."""
    return pack(world.digest(state) if world.freeze is None else world.freeze(state))


class _Calls:
    """The values of a measure, unit by unit. Raises BadInput for what a function must not do."""

    def __init__(self, user: UserMeasure, agents: int) -> None:
        self.user = user
        self.values = Series()
        self.of_agents: list[Value] | None = None
        self._agents = agents
        self._kinds: set[bool] = set()  # whether it gives lists, numbers

    def measure(self, where: str, given: Mapping[str, object]) -> None:
        """Add the value of a unit. `where`: the measure and the unit, for messages."""
        arguments = {name: given[name] for name in self.user.takes}
        try:
            value = self.user.declared.of(**arguments)
            is_listed = isinstance(value, Iterable) and not isinstance(value, str | Mapping | Set)
            values = list(value) if is_listed else [value]
        except (KeyboardInterrupt, MemoryError):
            raise
        except BaseException as error:  # also `sys.exit()`
            raise BadInput(f"{where} failed: {format_error(error)}", _CURE) from error
        if not all(each is None or is_finite(each) for each in values):
            raise self._wrong(where, value)
        numbers = [None if each is None else float(each) for each in values]
        if value is not None:
            self._kinds.add(is_listed)
        if len(self._kinds) > 1 or (is_listed and len(numbers) != self._agents):
            raise self._wrong(where, value)
        self.values.append(mean(numbers))
        if is_listed and self.user.declared.total and self.of_agents is not None:
            numbers = [_sum(a, b) for a, b in zip(self.of_agents, numbers, strict=True)]
        if is_listed:
            self.of_agents = numbers

    @staticmethod
    def _wrong(where: str, value: object) -> BadInput:
        return BadInput(f"{where} gives {format_value(value)}", _CURE)


def is_finite(value: object) -> bool:
    """Whether a value is a finite number that a float can hold."""
    try:
        return isinstance(value, Real) and isfinite(value)
    except OverflowError:
        return False


def _sum(a: Value, b: Value) -> Value:
    return a if b is None else b if a is None else fsum([a, b])


_CURE: Final = "it must give a finite number, None, or always a list with one for each agent"
