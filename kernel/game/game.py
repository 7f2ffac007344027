"""`Game`: a world written as one class.

The class's fields are its settings, an instance is a configuration, and its body holds the records
(state, events, submissions) and the rules. `world.world_of` compiles it to a `World`.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeVar
from weakref import WeakKeyDictionary

import attrs
import msgspec

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.declared import (
    NOUNS,
    OTHER,
    POLICIES,
    check_criteria,
    check_names,
    check_phase,
    check_records,
    check_replaced,
    check_treatments,
    one_of,
)
from goldrush.kernel.game.records import (
    Event,
    Observation,
    Rows,
    State,
    Submission,
    bind_row,
    bind_state,
)
from goldrush.kernel.settings import check_setting, choice, configured, flag, integer, real
from goldrush.kernel.shape import Kind

F = TypeVar("F", bound=Callable[..., Any])

AGENTS_MAX: Final = 1_000_000
SEED_MAX: Final = 2**53 - 1  # the largest integer that any JSON reader holds

Derived = Iterable[Event | Rows]


def setting(default: Any, *valid: Any, fixed: bool = False) -> Any:
    """A setting of a game: its `default` and the `valid` values. `fixed`: a fork cannot change it,
    as the size of a grid that `start` made.

    `setting(50, 1, 10_000)` is a whole number from 1 to 10,000, `setting(0.5, 0, 1)` any number
    from 0 to 1, `setting("fast", "fast", "slow")` one of these texts, `setting(True)` a switch. For
    others give a `Kind`. The class that has it raises BadInput for a default that is not valid.
    """
    try:
        kind = _kind_of(default, valid)
    except BadInput as error:
        return error
    if not kind.holds(default):
        return BadInput(f"has the default {format_value(default)}", f"give {kind.name}")
    return attrs.field(default=default, metadata={"kind": kind, "fixed": fixed}, kw_only=True)


def _kind_of(default: Any, valid: Sequence[Any]) -> Kind:
    if len(valid) == 1 and isinstance(valid[0], Kind):
        return valid[0]
    if type(default) is bool and not valid:
        return flag()
    if valid and all(type(value) is str for value in valid):
        return choice(*valid)
    if len(valid) == 2 and all(type(value) in (int, float) for value in valid):
        low, high = valid
        if not (-(2**63) <= low <= high < 2**63):
            raise BadInput(
                f"has the range {format_value(low)} to {format_value(high)}",
                "give the lowest and then the highest number, within 64 bits",
            )
        return integer(low, high) if type(default) is int else real(low, high)
    raise BadInput(
        f"has the valid values {format_value(valid)}",
        "give the lowest and the highest number, or all texts, as in setting(50, 1, 10_000)",
    )


class DeclaredPolicy(msgspec.Struct, frozen=True):
    """A policy of a game, made by `policy`.

    Attributes:
        name: that of the function.
        act: `act(game, seen, agent, draw, **settings)`, the submission of an agent.
        settings: its settings: the function's parameters with a default, and these.
        together: `act` takes several agents, and gives a list of their submissions.
    """

    name: str
    act: Callable[..., object]
    settings: Mapping[str, object]
    together: bool = False

    def __get__(self, game: object, kind: type[object]) -> Any:
        """Of a game with its settings, the method: one policy may call another."""
        return partial(self.act, game) if isinstance(game, Game) else self


# Gives a number, None, or outside a game a list with one for each agent.
MeasureFunction = Callable[..., Any]


class DeclaredMeasure(msgspec.Struct, frozen=True):
    """A measure of a game, made by `measure`.

    Attributes:
        title: what it is called in tables and figures, with its unit.
        definition: the function's docstring.
        of: `of(game, state)`, its value at the close of a unit; of a function outside a game, of
            what the parameters name (see replay.data.user_functions).
        at_end: over several units, it is the last value and not the mean.
        total: over several units, it is the sum of the values.
    """

    name: str
    title: str
    definition: str
    of: MeasureFunction
    at_end: bool
    total: bool


class GamePhase(msgspec.Struct, frozen=True):
    """A step of every unit, made by `phase`.

    Attributes:
        decide: `decide(game, state, asked, draw)`, or without `asked` where nobody is asked.
        asks: the type of what agents submit; None: nobody is asked.
        live: the state that `decide` sees has the changes of the events that it has yielded.
    """

    name: str
    decide: Callable[..., Derived]
    asks: type[Submission] | None
    live: bool = False


def policy(function: Callable[..., object] | None = None, *, together: bool = False) -> Any:
    """Make a method of a game a policy: `(self, seen, agent, draw)` to a submission.

    Parameters after these, with a default, are its settings: `greedy(part=0.3)` in a roster. It
    remembers nothing; what it has to know is in the state.

    `@policy(together=True)` on `(self, seen, agents, draw)` gives a list of submissions, one for
    each of these agents: all who play it with the same settings and submit in the step. `seen` is
    the state, or where the game has `observe` a list of what each sees. The first argument of a
    draw's key is the agent: `draw.word(agent, "bid")` is `draw.word("bid")` of an agent that is
    asked alone.
    """
    if function is None:
        return partial(policy, together=together)
    parameters = list(inspect.signature(function).parameters.values())
    settings = {parameter.name: parameter.default for parameter in parameters[4:]}
    if len(parameters) < 4 or inspect.Parameter.empty in settings.values():
        taken = ", ".join(parameter.name for parameter in parameters) or "nothing"
        raise BadInput(
            f"policy {function.__name__} takes {taken}",
            f"it takes self, seen, {'agents' if together else 'agent'}, draw, and settings with "
            "defaults",
        )
    return DeclaredPolicy(function.__name__, function, settings, together)


def measure(
    title: str, *, at_end: bool = False, total: bool = False
) -> Callable[[MeasureFunction], DeclaredMeasure]:
    """Make a method of a game a measure: `(self, state)` to a number or None, at the close of a
    unit. Outside a game it gives a function that `goldrush measure --measure` takes a title.

    `title`: its name in tables and figures, with its unit; `at_end`: over several units it is the
    last value (a total so far), not the mean; `total`: it is the sum (a number of events).
    """
    if type(title) is not str:
        raise BadInput(
            f"measure {getattr(title, '__name__', title)} has no title",
            'write what it is, with its unit: @measure("stock, tonnes")',
        )

    if at_end and total:
        raise BadInput(f"measure {title} is a sum and a last value", "give at_end or total")

    def made(function: MeasureFunction) -> DeclaredMeasure:
        return DeclaredMeasure(
            function.__name__, title, inspect.getdoc(function) or title, function, at_end, total
        )

    return made


def phase(asks: Any = None, *, live: bool = False) -> Any:
    """Make a method of a game a step of every unit, in the order of the class's body.

    `@phase(Bid)` on `(self, state, asked, draw)` asks for a submission of this type; plain `@phase`
    on `(self, state, draw)` asks nobody.

    `live=True` is for rules that follow one another within the step: what an event's `apply`
    changes is in `state` when the next line after its `yield` is run. It costs a copy of the state.
    """
    if inspect.isfunction(asks):
        return GamePhase(asks.__name__, asks, None)

    def made(function: Callable[..., Derived]) -> GamePhase:
        check_phase(function.__name__, asks)
        return GamePhase(function.__name__, function, asks, live)

    return made


class _Body(dict[str, Any]):
    """The body of a game while it is read: what is declared cannot be replaced further down."""

    def __init__(self, game: str) -> None:
        self.game = game

    def __setitem__(self, name: str, value: Any) -> None:
        where = f"{self.game}.{name}"
        if isinstance(value, BadInput):  # of `setting`, which does not know its name
            raise BadInput(f"{where} {value.what}", value.instead)
        if name in self and (_declared(self[name]) or _declared(value)):
            kinds = " and ".join(_declared(v) or "something else" for v in (self[name], value))
            raise BadInput(f"{where} is declared twice: {kinds}", "give one of them another name")
        super().__setitem__(name, value)


def _declared(value: Any) -> str:
    """What a value in the body of a game declares; empty: nothing."""
    if _is_setting(value):
        return "a setting"
    kinds: dict[type, str] = {
        DeclaredPolicy: "a policy",
        DeclaredMeasure: "a measure",
        GamePhase: "a phase",
    }
    if isinstance(value, type) and issubclass(value, (State, Event, Submission, Observation)):
        return "a record"
    return kinds.get(type(value), "")


class _GameType(type):
    """The class of games, which reads their bodies."""

    @classmethod
    def __prepare__(cls, name: str, bases: tuple[type, ...], /, **more: Any) -> _Body:
        return _Body(name)


class Game(metaclass=_GameType):
    """A world in one class: settings, records, rules, policies and measures.

    The settings `seed` and, where agents submit, `agents` are there already; so is `rounds`, unless
    `horizon` names another setting. An instance is a configuration, and does not change.

    Attributes:
        horizon: the name of the setting that is the number of units; its singular is the noun for a
            unit.
        rules: the version of the rules: raise it with a change that gives other events.
        treatments: variations of the settings by name; a pair of a description and settings, or
            settings alone.
        roster: who plays by default, as text; by default its first policy.
        criteria: what a study judges, by name: a sentence, and by measure +1 (it should rise from
            the first half of a run to the second) or -1 (it should fall).
        null: the policy that cannot learn, with which the runs of others are compared.
    """

    horizon: ClassVar[str] = "rounds"
    rules: ClassVar[int] = 1
    treatments: ClassVar[Mapping[str, object]] = {}
    roster: ClassVar[str] = ""
    criteria: ClassVar[Mapping[str, tuple[str, Mapping[str, int]]]] = {}
    null: ClassVar[str] = ""
    if TYPE_CHECKING:
        seed: int
        agents: int
        name: ClassVar[str]
        State: ClassVar[type[State]]
        phases: ClassVar[Sequence[GamePhase]]
        policies: ClassVar[Mapping[str, DeclaredPolicy]]
        measures: ClassVar[Mapping[str, DeclaredMeasure]]
        submissions: ClassVar[Sequence[type[Submission]]]
        events: ClassVar[Sequence[type[Event]]]
        # `decide(self, state, asked, draw)` yields the events that follow from the submissions of a
        # step, in the order of agents, and changes nothing; without `asked` in a game in which
        # nobody submits. A game with phases has none.
        decide: Callable[..., Derived]

    def __init_subclass__(cls, **more: Any) -> None:
        """Collect what the body declares. Raises BadInput for what no game can have."""
        super().__init_subclass__(**more)
        body = _body(cls)
        cls.name = kebab(cls.__name__)
        _bind_records(cls, body)
        _make_settings(cls, body)
        cls.policies = _of_type(body, DeclaredPolicy)
        cls.measures = _of_type(body, DeclaredMeasure)
        cls.phases = _phases(cls, body)
        _check(cls, body)
        records: list[type[Event | Submission]] = [*cls.submissions, *cls.events]
        names = {record: snake(record.__name__) for record in records}
        check_records(cls.__name__, cls.horizon.removesuffix("s"), names)
        check_treatments(cls.__name__, cls.treatments, partial(check_setting, cls))
        check_criteria(cls.__name__, cls.criteria, cls.null, cls.measures, cls.policies)
        _SOURCES[cls] = _file_of(cls)

    # The rules.

    def start(self) -> object:
        """The state before the first unit: `start(self)`, or `start(self, draw)` where it is drawn.
        Those draws stand in no event: they follow from the seed, as the state then does.
        """
        raise NotImplementedError

    def observe(self, state: Any, agent: int) -> Any:
        """What an agent sees; by default the state. Must not change it."""
        return state

    def movers(self, state: Any) -> Iterable[int]:
        """The agents who submit in the next step, ascending; by default all."""
        return range(self.agents)

    def legal(self, seen: Any, agent: int) -> object:
        """The legal values of a submission of one field, or of each field that it names; None: all
        in their range.
        """
        return None

    def prompt(self, seen: Any, agent: int) -> str | None:
        """What an agent sees as text for models and people; None: as JSON."""
        return None

    def score(self, state: Any, agent: int) -> float | None:
        """What an agent has earned so far, for learners and standings; None: the game has none."""
        return None

    def over(self, state: Any) -> bool:
        """Whether the run is over before its last unit; asked when a unit has closed."""
        return False

    # The settings.

    @classmethod
    def settings(cls) -> Sequence[attrs.Attribute[object]]:
        """The settings as fields of attrs, in declared order."""
        fields: Sequence[attrs.Attribute[object]] = attrs.fields(cls)  # type: ignore[arg-type]
        return fields

    @classmethod
    def configured(cls, settings: Mapping[str, object]) -> Self:
        """The game with these settings, and defaults for the others. Raises BadInput."""
        made: Self = configured(cls, settings)  # type: ignore[type-var]
        return made

    def as_dict(self) -> dict[str, object]:
        """All settings in declared order."""
        return {field.name: getattr(self, field.name) for field in self.settings()}


# What an instance or a class of a game has besides its settings.
_TAKEN: Final = {
    *(name for name in vars(Game) if not name.startswith("_")),
    *("name", "State", "phases", "policies", "measures", "submissions", "events", "decide"),
}


def doc_of(cls: type[Game]) -> str:
    """The docstring of a game or of a game that it derives from; without one, its name."""
    for base in cls.__mro__[: cls.__mro__.index(Game)]:
        if text := vars(base).get("__doc__"):
            return inspect.cleandoc(text)
    return cls.name


def kebab(name: str) -> str:
    """A class's name as that of a world: `SealedBid` is `sealed-bid`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", name).lower()


def snake(name: str) -> str:
    """A class's name as that of an event: `BidPlaced` is `bid_placed`."""
    return kebab(name).replace("-", "_")


def _body(cls: type) -> dict[str, Any]:
    """What the bodies of a game and of the games it derives from hold, the oldest first."""
    body: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        if base is not Game and issubclass(base, Game):
            body |= vars(base)
    return body


def _of_type(body: Mapping[str, Any], kind: type[Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if isinstance(value, kind)}


def _make_settings(cls: type[Game], body: Mapping[str, Any]) -> None:
    """Make the class a frozen attrs class of its settings: the framework's, then its own."""
    framework = {"seed": setting(0, 0, SEED_MAX)}
    if cls.submissions:
        framework["agents"] = setting(4, 1, AGENTS_MAX)
    else:
        cls.agents = 0  # nobody plays: the rules do all
    if cls.horizon == "rounds":
        framework["rounds"] = setting(100, 1, 1_000_000)
    declared = {name: value for name, value in body.items() if _is_setting(value)}
    inherited = {field.name for field in getattr(cls, "__attrs_attrs__", ())}
    framework = {name: given for name, given in framework.items() if name not in inherited}
    fields = {**framework, **declared}
    check_names(cls.__name__, declared, _TAKEN, cls.horizon)
    check_replaced(cls.__name__, body, {*fields, *inherited}, _declared)
    if "__init__" in vars(cls):
        raise BadInput(f"{cls.__name__} has an __init__", "make the state in start(self)")
    if type(cls.horizon) is not str:
        raise BadInput(
            f"{cls.__name__}.horizon is {format_value(cls.horizon)}", "give the name of a setting"
        )
    if cls.horizon not in fields and cls.horizon not in inherited:
        raise BadInput(
            f"{cls.__name__}.horizon is {cls.horizon!r}, which is no setting",
            f"declare it: {cls.horizon} = setting(50, 1, 10_000)",
        )
    attrs.frozen(cls, these=fields, slots=False, kw_only=True, repr=True)


def _is_setting(value: Any) -> bool:
    return type(value).__name__ == "_CountingAttr" and "kind" in value.metadata


def _bind_records(cls: type[Game], body: Mapping[str, Any]) -> None:
    classes = {name: value for name, value in body.items() if isinstance(value, type)}
    state = classes.get("State")
    if state is None or not issubclass(state, State):
        raise BadInput(
            f"{cls.__name__} has no state", "declare its fields: class State(goldrush.State): ..."
        )
    bind_state(state, classes)
    for record in classes.values():
        if issubclass(record, (Event, Submission, Observation)):
            bind_row(record, classes)
    cls.submissions = [record for record in classes.values() if issubclass(record, Submission)]
    cls.events = [record for record in classes.values() if issubclass(record, Event)]


def _phases(cls: type[Game], body: Mapping[str, Any]) -> list[GamePhase]:
    """The steps of a unit: its phases, or one step for `decide`."""
    phases = list(_of_type(body, GamePhase).values())
    if phases:
        if inspect.isfunction(vars(cls).get("decide")):
            raise BadInput(
                f"{cls.__name__} has phases and decide",
                "write @phase above decide, or leave it out",
            )
        return phases
    if len(cls.submissions) > 1:
        names = ", ".join(record.__name__ for record in cls.submissions)
        raise BadInput(
            f"{cls.__name__} has the submissions {names} and no phases",
            "decide each in a step of its own: @phase(Bid) above a method",
        )
    if "decide" not in body:
        raise BadInput(
            f"{cls.__name__} has no rules", "write them: def decide(self, state, asked, draw): ..."
        )
    return [GamePhase("decide", body["decide"], next(iter(cls.submissions), None))]


def _check(cls: type[Game], body: Mapping[str, Any]) -> None:
    """Check what a game declares besides its records and treatments. Raises BadInput."""
    name = cls.__name__
    if type(cls.rules) is not int or cls.rules < 1:
        raise BadInput(
            f"{name}.rules is {format_value(cls.rules)}", "give a whole number from 1 on"
        )
    if type(cls.roster) is not str:
        raise BadInput(
            f"{name}.roster is {format_value(cls.roster)}", 'give a text, as in "share*3,greedy*2"'
        )
    if "start" not in body:
        fields = ", ".join(f"{field}=..." for field in cls.State.listed)
        raise BadInput(
            f"{name} has no start", f"write def start(self): return self.State({fields})"
        )
    taken = list(inspect.signature(body["start"]).parameters)
    if len(taken) not in (1, 2):
        raise BadInput(
            f"{name}.start takes {', '.join(taken) or 'nothing'}", "it takes self, or self and draw"
        )
    _check_horizon(cls)
    _check_steps(cls)
    for policy in cls.policies:
        if policy in POLICIES:
            raise BadInput(f"policy {name}.{policy} has a name that rosters use", OTHER)


def _check_horizon(cls: type[Game]) -> None:
    horizon = cls.horizon
    default = next(field.default for field in cls.settings() if field.name == horizon)
    if horizon.removesuffix("s") in NOUNS or type(default) is not int:
        raise BadInput(
            f"{cls.__name__}.horizon is {horizon!r}, which cannot be a number of units",
            'name a setting of whole numbers, as in horizon = "days"; tables use '
            + ", ".join(NOUNS),
        )


def _check_steps(cls: type[Game]) -> None:
    name, asked = cls.__name__, [phase.asks for phase in cls.phases if phase.asks is not None]
    for phase in cls.phases:
        if phase.asks is not None and phase.asks not in cls.submissions:
            raise BadInput(
                f"phase {name}.{phase.name} asks for {phase.asks.__name__}",
                one_of("a submission of the game", [asks.__name__ for asks in cls.submissions]),
            )
    for submission in cls.submissions:
        if submission not in asked:
            raise BadInput(
                f"nobody is asked for {name}.{submission.__name__}",
                f"write @phase({submission.__name__}) above a method, or leave it out",
            )
    if (cls.policies or cls.roster) and not asked:
        raise BadInput(
            f"{name} has policies, and no submission that they return",
            "declare it, as in class Bid(goldrush.Submission)",
        )


# By class, the bytes of its file when it was made: what runs, though the file is edited meanwhile.
_SOURCES: WeakKeyDictionary[type[Game], bytes | None] = WeakKeyDictionary()


def source_when_made(game: type[Game]) -> bytes | None:
    """The file of a game's module as it was when the class was made; None: it has none."""
    return _SOURCES.get(game)


def _file_of(game: type[Game]) -> bytes | None:
    path = getattr(sys.modules.get(game.__module__), "__file__", None)
    try:
        return Path(path).read_bytes() if path else None
    except OSError:  # in an archive, say
        return None
