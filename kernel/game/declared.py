"""What the body of a `Game` cannot declare: each mistake is found when the class is made.

Every function here raises BadInput, which names the place and what to write instead.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable, Mapping
from string import Formatter
from typing import TYPE_CHECKING, Any, Final

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.hints import Hint
from goldrush.kernel.game.records import Event, Submission
from goldrush.kernel.settings import check_setting
from goldrush.kernel.treatments import BASELINE, NAME, NAME_MAX

if TYPE_CHECKING:
    from goldrush.kernel.game.game import Game

FORMS: Final = ("agent", "amount", "plain", "plot", "quoted")  # of values in `says`

_EVENTS: Final = ("drawn", "step_ended", "run_started", "run_ended", "forked")
_POLICIES: Final = ("human", "llm", "recorded", "external")
# Columns of the table of events, and fields of the events that the framework writes.
_COLUMNS: Final = (
    "journal", "treatment", "roster", "seed", "place", "event", "world", "rules", "facts", "digest",
)  # fmt: skip
_NOUNS: Final = (*_COLUMNS, "agent", "measure", "run", "step")
_OTHER: Final = "take another name"


def check_names(cls: type[Game], settings: Collection[str], taken: Collection[str]) -> None:
    """Check the names of settings. `taken`: those that a game has for something else."""
    for name in settings:
        if name in taken or name.startswith("_"):
            why = "begins with _" if name.startswith("_") else "is a name of every game"
            raise BadInput(f"the setting {cls.__name__}.{name} {why}", _OTHER)


def check_replaced(cls: type[Game], body: Mapping[str, Any], settings: Iterable[str]) -> None:
    """Check that no setting, its own or an inherited one, is replaced by something else."""
    for name in settings:
        value = body.get(name)
        if value is None or "kind" in getattr(value, "metadata", {}):
            continue
        if name == "agents" and value == 0:  # of a game in which nobody submits
            continue
        if type(value) in (int, float, bool, str):
            instead = f"write {name} = setting({value!r}, ...) with its valid values"
        else:
            instead = "give one of them another name"
        raise BadInput(f"{cls.__name__}.{name} is a setting, and also {_shown(value)}", instead)


def _shown(value: object) -> str:
    kind = type(value).__name__.removeprefix("Declared").removeprefix("Game").lower()
    return f"a {kind}" if callable(value) or hasattr(value, "name") else format_value(value)


def check_game(
    cls: type[Game], body: Mapping[str, Any], events: Mapping[type[Event | Submission], str]
) -> None:
    """Check what a game declares, when its settings and records have been made. `events`: the
    names of the events of its records.
    """
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
    _check_horizon(cls)
    _check_records(cls, events)
    _check_steps(cls)
    _check_treatments(cls)
    for policy in cls.policies:
        if policy in _POLICIES:
            raise BadInput(f"policy {name}.{policy} has a name that rosters use", _OTHER)


def _check_horizon(cls: type[Game]) -> None:
    horizon = cls.horizon
    default = next(field.default for field in cls.settings() if field.name == horizon)
    if horizon.removesuffix("s") in _NOUNS or type(default) is not int:
        raise BadInput(
            f"{cls.__name__}.horizon is {horizon!r}, which cannot be a number of units",
            'name a setting of whole numbers, as in horizon = "days"; tables use '
            + ", ".join(_NOUNS),
        )


def _check_records(cls: type[Game], events: Mapping[type[Event | Submission], str]) -> None:
    unit = cls.horizon.removesuffix("s")
    names = {f"{unit}_closed": "", **dict.fromkeys(_EVENTS, "")}
    for record, event in events.items():
        where = f"{cls.__name__}.{record.__name__}"
        if event in names:
            other = names[event] or "goldrush itself"
            raise BadInput(f"{where} is the event {event}, which {other} has already", _OTHER)
        names[event] = where
        for field in record.listed:
            if field in (*_COLUMNS, unit):
                raise BadInput(f"{where}.{field} has a name that every event has", _OTHER)
        if issubclass(record, Event):
            _check_says(record, where)
            if record.seen_by and record.seen_by not in record.hints:
                raise BadInput(
                    f"{where}.seen_by is {format_value(record.seen_by)}",
                    _one_of("a field that is an Agent", record.hints),
                )


def _check_says(record: type[Event], where: str) -> None:
    says = record.says
    if type(says) is not str:
        raise BadInput(f"{where}.says is {format_value(says)}", "give a text")
    try:
        parts = list(Formatter().parse(says))
    except ValueError as error:
        raise BadInput(
            f"{where}.says is {format_value(says)}: {error}",
            "write a field as {name}, a brace as {{",
        ) from None
    for _, field, form, _ in parts:
        if field is None:
            continue
        name, *items = field.split(".")
        if name not in record.hints or not all(item.isdecimal() for item in items):
            raise BadInput(f"{where}.says has {{{field}}}", _one_of("a field", record.hints))
        if form and form not in FORMS:
            raise BadInput(f"{where}.says has the form :{form}", _one_of("a form", FORMS))
        if form == "amount" and not items and not _is_number(record.hints[name]):
            raise BadInput(
                f"{where}.says has {{{field}:amount}}, which is no number", "leave it out"
            )


def _is_number(hint: Hint) -> bool:
    if hint.choices:
        return all(type(choice) is int for choice in hint.choices)
    others: tuple[object, ...] = ("", None, [], ())
    return not any(map(hint.kind.holds, others))


def _one_of(what: str, names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return f"name {what}: {listed}" if listed else "the class has no field"


def _check_steps(cls: type[Game]) -> None:
    name, asked = cls.__name__, [phase.asks for phase in cls.phases if phase.asks is not None]
    for phase in cls.phases:
        if phase.asks is not None and phase.asks not in cls.submissions:
            raise BadInput(
                f"phase {name}.{phase.name} asks for {phase.asks.__name__}",
                _one_of("a submission of the game", [one.__name__ for one in cls.submissions]),
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


def _check_treatments(cls: type[Game]) -> None:
    example = 'write {"fast": ("what it changes", {"speed": 2})}'
    if not isinstance(cls.treatments, Mapping):
        raise BadInput(f"{cls.__name__}.treatments is {format_value(cls.treatments)}", example)
    for name, given in cls.treatments.items():
        where = f"treatment {format_value(name)} of {cls.__name__}"
        if type(name) is not str or not NAME.fullmatch(name) or name in (BASELINE, "all"):
            raise BadInput(
                f"{where} has a name that cannot be used",
                f"take at most {NAME_MAX} letters, digits, _ and -; not baseline or all",
            )
        pair = given if type(given) is tuple else ("", given)
        if len(pair) != 2 or type(pair[0]) is not str or not isinstance(pair[1], Mapping):
            raise BadInput(f"{where} is {format_value(given)}", example)
        for setting, value in pair[1].items():
            try:
                check_setting(cls, setting, value)
            except BadInput as error:
                raise BadInput(f"{where}: {error.what}", error.instead) from None


def check_phase(name: str, asks: Any) -> None:
    """Check what a phase asks for."""
    if asks is None or (inspect.isclass(asks) and issubclass(asks, Submission)):
        return
    raise BadInput(
        f"phase {name} asks for {getattr(asks, '__name__', format_value(asks))}",
        "write @phase(Bid) with a goldrush.Submission, or @phase alone",
    )
