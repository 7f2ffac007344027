"""What the body of a `Game` cannot declare: each mistake is found when the class is made.

Every function here raises BadInput, which names the place and what to write instead.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from string import Formatter
from typing import Final

from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.hints import Agent, Field
from goldrush.kernel.game.records import Event, Submission
from goldrush.kernel.treatments import BASELINE, NAME, NAME_MAX

FORMS: Final = ("agent", "amount", "plain", "plot", "quoted")  # of values in `says`

_EVENTS: Final = ("drawn", "step_ended", "run_started", "run_ended", "forked")
POLICIES: Final = ("human", "llm", "recorded", "external")
# Columns of the table of events, and fields of the events that the framework writes.
_COLUMNS: Final = (
    "journal", "treatment", "roster", "seed", "place", "event", "world", "rules", "facts", "digest",
)  # fmt: skip
NOUNS: Final = (*_COLUMNS, "agent", "measure", "run", "step")
OTHER: Final = "take another name"
# Parameters of the calls that take settings by name: `goldrush.record`, `study` and the like.
PARAMETERS: Final = frozenset(
    ["ask", "at", "backend", "check", "cls", "contrasts", "folder", "force", "fsync", "given",
     "jobs", "models", "on_step", "on_unit", "out", "path", "policies", "program", "replace",
     "resources", "roster", "rosters", "rounds", "seeds", "self", "treatment", "treatments",
     "world"]
)  # fmt: skip


def check_names(
    game: str, settings: Collection[str], taken: Collection[str], horizon: object
) -> None:
    """Check the names of settings. `taken`: those that a game has for something else."""
    for name in settings:
        if name in taken or name.startswith("_"):
            why = "begins with _" if name.startswith("_") else "is a name of every game"
            raise BadInput(f"the setting {game}.{name} {why}", OTHER)
        if name in PARAMETERS and not name == horizon == "rounds":  # of a study, it is the horizon
            raise BadInput(
                f"the setting {game}.{name} has the name of a parameter of calls in Python, such "
                "as goldrush.record",
                OTHER,
            )


def check_replaced(
    game: str, body: Mapping[str, object], settings: Iterable[str], kind_of: Callable[[object], str]
) -> None:
    """Check that no setting, its own or an inherited one, is replaced by something else. `kind_of`:
    what a value declares, as "a policy".
    """
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
        kind = kind_of(value) or ("a method" if callable(value) else format_value(value))
        raise BadInput(f"{game}.{name} is a setting, and also {kind}", instead)


def check_records(game: str, unit: str, events: Mapping[type[Event | Submission], str]) -> None:
    """Check the names of events and of their fields, their `apply_all`, and their sentences.

    `unit`: the noun for a unit; `events`: by record, the name of its event.
    """
    names = {f"{unit}_closed": "", **dict.fromkeys(_EVENTS, "")}
    for record, event in events.items():
        where = f"{game}.{record.__name__}"
        if event in names:
            other = names[event] or "goldrush itself"
            raise BadInput(f"{where} is the event {event}, which {other} has already", OTHER)
        names[event] = where
        for field in record.listed:
            if field in (*_COLUMNS, unit):
                raise BadInput(f"{where}.{field} has a name that every event has", OTHER)
        if issubclass(record, Event):
            if record.apply_all is not None:
                _check_apply_all(record, record.apply_all, where)
            _check_says(record, where)


def _check_apply_all(record: type[Event], apply_all: Callable[..., None], where: str) -> None:
    if record.apply is not None:
        raise BadInput(f"{where} has apply and apply_all", "leave one of them out")
    if not record.types:  # it would be called once for any number of events
        raise BadInput(f"{where} has apply_all and no field", "write apply(self, state)")
    names = ["state", *record.types]
    try:
        inspect.signature(apply_all).bind(*names)
    except TypeError:
        raise BadInput(
            f"{where}.apply_all does not take the state and a column for each field",
            f"write def apply_all({', '.join(names)}), without self",
        ) from None


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
        if name not in record.types or not all(item.isdecimal() for item in items):
            raise BadInput(f"{where}.says has {{{field}}}", one_of("a field", record.types))
        if form and form not in FORMS:
            raise BadInput(f"{where}.says has the form :{form}", one_of("a form", FORMS))
        if form == "amount" and not items and not _is_number(record.types[name]):
            raise BadInput(
                f"{where}.says has {{{field}:amount}}, which is no number", "leave it out"
            )


def _is_number(field: Field) -> bool:
    return field.form in (int, float, Agent) or {*map(type, field.choices)} == {int}


def one_of(what: str, names: Iterable[str]) -> str:
    """What to give: one of these names."""
    listed = ", ".join(names)
    return f"name {what}: {listed}" if listed else "the class has no field"


def check_treatments(game: str, treatments: object, check: Callable[[str, object], None]) -> None:
    """Check treatments. `check`: checks a setting by its name and value."""
    example = 'write {"fast": ("what it changes", {"speed": 2})}'
    if not isinstance(treatments, Mapping):
        raise BadInput(f"{game}.treatments is {format_value(treatments)}", example)
    for name, given in treatments.items():
        where = f"treatment {format_value(name)} of {game}"
        if type(name) is not str or not re.fullmatch(NAME, name) or name in (BASELINE, "all"):
            raise BadInput(
                f"{where} has a name that cannot be used",
                f"take at most {NAME_MAX} letters, digits, _ and -; not baseline or all",
            )
        pair = given if type(given) is tuple else ("", given)
        if len(pair) != 2 or type(pair[0]) is not str or not isinstance(pair[1], Mapping):
            raise BadInput(f"{where} is {format_value(given)}", example)
        for setting, value in pair[1].items():
            try:
                check(setting, value)
            except BadInput as error:
                raise BadInput(f"{where}: {error.what}", error.instead) from None


def check_criteria(
    game: str, criteria: object, null: object, measures: Collection[str], policies: Collection[str]
) -> None:
    """Check criteria, and `null`, the policy that runs are compared with, by the game's names."""
    example = 'write {"recovery": ("fish grow back", {"stock": +1})}'
    if not isinstance(criteria, Mapping):
        raise BadInput(f"{game}.criteria is {format_value(criteria)}", example)
    for name, given in criteria.items():
        where = f"criterion {format_value(name)} of {game}"
        pair = given if type(given) is tuple and len(given) == 2 else (None, None)
        if type(name) is not str or type(pair[0]) is not str or not isinstance(pair[1], Mapping):
            raise BadInput(f"{where} is {format_value(given)}", example)
        for measure, sign in pair[1].items():
            if measure not in measures:
                raise BadInput(
                    f"{where} has {format_value(measure)}", one_of("a measure", measures)
                )
            if sign not in (1, -1):
                raise BadInput(f"{where}: {measure} is {format_value(sign)}", "give +1 or -1")
    if criteria and null not in policies:
        raise BadInput(f"{game}.null is {format_value(null)}", one_of("a policy", policies))


def check_phase(name: str, asks: object) -> None:
    """Check what a phase asks for."""
    if asks is None or (inspect.isclass(asks) and issubclass(asks, Submission)):
        return
    raise BadInput(
        f"phase {name} asks for {getattr(asks, '__name__', format_value(asks))}",
        "write @phase(Bid) with a goldrush.Submission, or @phase alone",
    )
