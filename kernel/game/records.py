"""The records of a game: its state, its events and the submissions of its agents.

Each is a class in the game's body that lists typed fields. An event or a submission is a tuple: the
row that the journal holds, read by name. A state is an object whose fields change in place; it has
those that are listed and no others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, get_type_hints

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.hints import (
    Agent,
    Field,
    Range,
    check_value,
    field_of,
)
from goldrush.kernel.shape import amount
from goldrush.kernel.world import Row

_FRAMEWORK: Final = ("agent", "error", "source")  # fields that every submission has


class FieldsType(type):
    """The class of records: turns the annotations in the body of a class into slots."""

    def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any], **more: Any) -> Any:
        """A record class; defaults in its body are ranges (`within`) and stand apart."""
        listed = [
            field
            for field, hint in body.get("__annotations__", {}).items()
            if not str(hint).startswith(("ClassVar", "typing.ClassVar"))
        ]
        for field in listed if bases else ():
            if field in _taken(bases):
                raise BadInput(
                    f"{body['__qualname__']}.{field} cannot be a field: every {bases[0].__name__} "
                    "has something of this name",
                    "take another name",
                )
        is_row = any(issubclass(base, tuple) for base in bases)
        inherited = [field for base in bases for field in getattr(base, "listed", ())]
        body["given"] = {field: body.pop(field) for field in listed if field in body}
        body["__slots__"] = () if is_row else tuple(listed)
        body.setdefault("listed", (*inherited, *listed))  # those here are set by the framework
        return super().__new__(cls, name, bases, body, **more)


def _taken(bases: tuple[type, ...]) -> set[str]:
    """The names that a record of these classes has already, besides those of its fields."""
    names = {name for base in bases for name in dir(base) if not hasattr(tuple, name)}
    return {"self", *names}.difference(*(getattr(base, "listed", ()) for base in bases))


class _Record(tuple[Any, ...], metaclass=FieldsType):
    """An event or a submission.

    Attributes:
        listed: the names of its fields.
        given: the values that fields are given in the body: their ranges.
        types: what their type hints say, by name.
    """

    __slots__ = ()
    listed: ClassVar[tuple[str, ...]]
    given: ClassVar[Mapping[str, Any]]
    types: ClassVar[Mapping[str, Field]] = {}
    if TYPE_CHECKING:  # written by `bind_row`

        def __new__(cls, *values: Any, **named: Any) -> Self: ...

    def as_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return {name: getattr(self, name) for name in self.types}

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.as_dict().items())
        return f"{type(self).__name__}({values})"


class Event(_Record):
    """A fact that follows from submissions and draws: it changes the state when it is applied.

    Fields are typed; `says` is its sentence, in which `{agent}` is a field and `{fish:amount}` one
    in a form (see replay/sentences.py). `apply` changes the state it is given, and nothing else: it
    draws nothing and judges nothing, so that a journal gives the same states again. `apply = None`
    in the class says that the event changes nothing.

    `apply_all(state, *columns)`, in place of `apply`, applies events that follow one another at
    once: from a column of values for each field, in order, without `self`. It has the effect of one
    event after the other, and is faster where there are hundreds. An event without fields has none.
    """

    says: ClassVar[str] = ""
    apply: ClassVar[Callable[..., None] | None] = None
    apply_all: ClassVar[Callable[..., None] | None] = None

    @classmethod
    def declares_apply(cls) -> bool:
        """Whether its class, or one that it derives from, has an `apply`, be it None, or an
        `apply_all`.
        """
        bases = cls.__mro__[: cls.__mro__.index(Event)]
        return any({"apply", "apply_all"} & vars(base).keys() for base in bases)

    @classmethod
    def all(cls, *columns: Iterable[object]) -> Rows:
        """Many events of this type at once, from a column of values for each field, in order.

        Faster than one by one where there are hundreds. Raises ValueError for columns of different
        lengths.
        """
        fields = cls.types.values()
        converted = [
            column if field.to_row is None else map(field.to_row, column)
            for field, column in zip(fields, columns, strict=True)
        ]
        return Rows(cls, list(zip(*converted, strict=True)))


class Rows:
    """Many events of one type, as `Event.all` makes them."""

    __slots__ = ("rows", "type")

    def __init__(self, type: type[Event], rows: list[Row]) -> None:
        self.type = type
        self.rows = rows


class Submission(_Record):
    """What an agent submits in a step. Fields are typed, numbers have a range (`within`).

    `apply`, as that of an event, changes the state before the events that follow from the step. The
    rules are given the state without these changes, unless they are `live`.

    Attributes:
        agent: who submitted it; set by the framework.
        error: why a model's or a person's answer could not be read; null for all else.
        missing: None: who has no usable answer submits nothing, and the rules are given fewer
            submissions than agents. Otherwise its `default` stands for the answer.
    """

    agent: Agent
    error: str | None
    listed: ClassVar[tuple[str, ...]] = ()
    apply: ClassVar[Callable[..., None] | None] = None
    missing: ClassVar[object] = "default"

    @classmethod
    def default(cls) -> Self:
        """The submission of an agent whose answer is missing or cannot be read: of each field the
        first valid value.
        """
        return cls(*(_first(cls, name, field) for name, field in cls.types.items()))


class Observation(_Record):
    """What an agent sees, made by a game's `observe`: typed fields, so that models, people and
    learners can be shown it.
    """

    __slots__ = ()


def _first(cls: type[Submission], name: str, field: Field) -> Any:
    """The first of the choices of a field, the smallest number of its range, or what is empty."""
    if field.choices:
        return field.choices[0]
    for empty in (None, "", ()):
        if field.kind.holds(empty):
            return empty
    if field.kind.entity == "agent":
        return 0
    if field.range is None or not field.kind.holds(low := amount(field.range.low)):
        raise BadInput(
            f"{cls.__name__}.{name} has no range",
            f"give it one, as in `{name}: int = within(0, 10)`, or the class a `default`",
        )
    return low


def bind_row(record: type[_Record], scope: Mapping[str, object]) -> None:
    """Resolve the type hints of an event or a submission, and make its constructor and its fields.

    `scope`: the names that hints can have besides those of its module. Raises BadInput.
    """
    name, is_submission = record.__name__, issubclass(record, Submission)
    if issubclass(record, Submission) and record.missing not in (None, Submission.missing):
        wrong = f"{name}.missing is {format_value(record.missing)}"
        raise BadInput(wrong, "write missing = None, or def default(cls)")
    known = get_type_hints(record, localns=dict(scope), include_extras=True)
    types: dict[str, Field] = {}
    for field in record.listed:
        where, given = f"{name}.{field}", record.given.get(field)
        if is_submission and field in _FRAMEWORK:
            raise BadInput(f"{where} is a field of every submission", "leave it out")
        if given is not None and not isinstance(given, Range):
            is_number = known[field] in (int, float)
            ranged = ", or give a range: within(0, 10)" if is_number else ""
            raise BadInput(
                f"{where} is given {format_value(given)}",
                f"fields have no defaults; leave it out{ranged}",
            )
        types[field] = _typed(known[field], where, given)
    record.types = types
    first = 1 if is_submission else 0
    for place, (field, typed) in enumerate(types.items(), first):
        setattr(record, field, _getter(place, typed.from_row))
    if is_submission:
        record.agent = _getter(0, None)  # type: ignore[attr-defined]
        record.error = _getter(len(types) + 1, None)  # type: ignore[attr-defined]
    record.__new__ = _constructor(types, is_submission=is_submission)  # type: ignore[method-assign]


def _typed(hint: Any, where: str, given: Range | None) -> Field:
    """What a type hint says of a field, with its range. Raises BadInput for an invalid one."""
    if given is not None:
        low, high = given.low, given.high
        if not all(type(end) in (int, float) and math.isfinite(end) for end in (low, high)):
            raise BadInput(f"{where} is within({low!r}, {high!r})", "give two finite numbers")
        if low > high or (hint is int and math.ceil(low) > math.floor(high)):
            raise BadInput(
                f"{where} is within({low!r}, {high!r}), where no number is",
                "give the lowest and then the highest",
            )
    field = field_of(hint, where, given, in_row=True)
    if given is not None and (field.form in (str, Agent) or field.choices):
        raise BadInput(f"{where} has a range and is no number", "leave out within(...)")
    return field


def _getter(place: int, from_row: Callable[[Any], Any] | None) -> property:
    if from_row is None:
        return property(itemgetter(place))
    return property(lambda self: from_row(self[place]))


def _constructor(types: Mapping[str, Field], *, is_submission: bool) -> Callable[..., Any]:
    """The `__new__` of a record, written out: a call for each field would cost more than all."""
    scope: dict[str, Any] = {"_make": tuple.__new__, "_type": type, "_int": int, "_float": float}
    values = []
    for field, typed in types.items():
        if typed.to_row is amount:
            is_whole = f"{field}.is_integer() and -(2.0**63) <= {field} < 2.0**64"
            values.append(f"_int({field}) if _type({field}) is _float and {is_whole} else {field}")
        elif typed.to_row is None:
            values.append(field)
        else:
            scope[f"convert_{field}"] = typed.to_row
            values.append(f"convert_{field}({field})")
    row = ["None", *values, "None", "None"] if is_submission else values
    parameters = ", ".join(["_cls", *types])
    text = f"def __new__({parameters}): return _make(_cls, ({''.join(f'{v}, ' for v in row)}))"
    exec(compile(text, "<record>", "exec"), scope)  # noqa: S102  # of the names of fields
    made: Callable[..., Any] = scope["__new__"]
    return made


class State(metaclass=FieldsType):
    """The state of a game: what events change. Make it in `start`, with every field by name.

    Attributes:
        config: the game with its settings.
        roster: the entries of the agents as recorded, in order.
        unit: the number of closed units.
        step: the number of the step within the unit, from 0.
        source: the SHA-256 of the source that plays, in hex; None: it is not known.
        head: the fingerprint of `config`, `roster` and `source`, which change only with a fork.
    """

    config: Any
    roster: Sequence[Mapping[str, object]]
    unit: int
    step: int
    source: str | None
    head: int
    listed: ClassVar[tuple[str, ...]] = ()
    given: ClassVar[Mapping[str, object]]
    types: ClassVar[Mapping[str, Field]] = {}
    if TYPE_CHECKING:
        __slots__: ClassVar[tuple[str, ...]]

    def __init__(self, **fields: Any) -> None:
        """Raises BadInput unless all listed fields are given, each a value of its type."""
        name = type(self).__name__
        if fields.keys() != self.types.keys():
            listed = ", ".join(f"{field}=..." for field in self.types)
            raise BadInput(
                f"{name} is made with {', '.join(fields) or 'nothing'}", f"give {listed}"
            )
        for field, typed in self.types.items():
            check_value(fields[field], typed, f"{name}.{field}")
            copied = typed.copy  # or rows of [[0] * 3] * 3 would be one list
            setattr(self, field, fields[field] if copied is None else copied(fields[field]))

    @property
    def phase(self) -> str:
        """The name of the phase that comes next."""
        name: str = self.config.phases[self.step].name
        return name

    @property
    def agents(self) -> range:
        """The numbers of the agents."""
        return range(len(self.roster))

    def copy(self) -> Self:
        """A copy that shares no value that changes."""
        new = self.of_plain(values_of(self))
        for field in State.__slots__:
            setattr(new, field, getattr(self, field))
        return new

    def plain(self) -> list[object]:
        """The values of the listed fields, as plain values, in order."""
        return [
            getattr(self, field) if typed.copy is None else typed.copy(getattr(self, field))
            for field, typed in self.types.items()
        ]

    @classmethod
    def of_plain(cls, values: Sequence[object]) -> Self:
        """The state whose `plain` gives these values; `config` and the like are not set."""
        new = object.__new__(cls)
        for (field, typed), value in zip(cls.types.items(), values, strict=True):
            setattr(new, field, value if typed.copy is None else typed.copy(value))
        return new

    def __repr__(self) -> str:
        values = ", ".join(f"{field}={getattr(self, field)!r}" for field in self.types)
        return f"{type(self).__name__}({values})"


def values_of(state: State) -> list[object]:
    """The values of the listed fields in order: themselves, no copies."""
    return [getattr(state, field) for field in state.types]


def bind_state(state: type[State], scope: Mapping[str, object]) -> None:
    """Resolve the type hints of a state. Raises BadInput as `hints.field_of`."""
    known = get_type_hints(state, localns=dict(scope), include_extras=True)
    listed = state.listed
    if state.given:
        raise BadInput(f"{state.__name__} has defaults", "give the values in `start`")
    name = state.__name__
    state.types = {field: field_of(known[field], f"{name}.{field}") for field in listed}
