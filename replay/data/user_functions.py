"""Measures of a user's own: a function in a file, `raids.py:seized`, beside those of a world.

    def seized(events):
        "raids that captured a plot, per round"
        return sum(event.fields.get("outcome") == "captured" for event in events)

Its parameters name what it is given of each closed unit: `state`, after the unit, and `events`, in
their order. It returns a number, None (undefined), or a list with one for each agent.

A number counts as the mean over several units, a list as that of the last unit, by agent and as the
mean over the agents. `goldrush.measure(title, at_end=True)` before a function takes the last number
instead of the mean, `(title, total=True)` the sum, of lists by agent.

Naming the file is the consent to run it, as for games. A function is called as it is, once for each
closed unit, and must not change the state; its values are never cached.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any, Final

import attrs

from goldrush.agents.game.source import source_of_code
from goldrush.agents.modules import load_module
from goldrush.agents.targets import names_in, resolve, target_of
from goldrush.kernel.errors import BadInput, format_value, unknown
from goldrush.kernel.game.game import DeclaredMeasure

GIVEN: Final = ("state", "events")  # what a function can be given, by parameter
# Columns of tables that have a row for each run, beside its measures.
_COLUMNS: Final = ("journal", "treatment", "roster", "rounds", "seed", "agents", "run", "measure")

Function = str | Callable[..., Any] | DeclaredMeasure
Functions = Function | Sequence[Function]  # one, or several


@attrs.frozen(hash=True)
class UserMeasure:
    """A measure of a user's own.

    Attributes:
        declared: its name, title, definition and function.
        takes: the parameters of the function that are of GIVEN.
        location: where other processes find it; empty for a function of a notebook or a script.
        sha256: of its file, in hex; None: it is not known.
    """

    declared: DeclaredMeasure
    takes: tuple[str, ...]
    location: str
    sha256: str | None

    @property
    def name(self) -> str:
        """The name of the measure in tables and commands."""
        return self.declared.name

    def typed(self, folder: str | None = None) -> str:
        """How it is named in a command that is typed in a folder; None: in that of its file."""
        front, _, name = self.location.rpartition(":")
        if not front.endswith(".py"):
            return self.location or self.name
        path = os.path.basename(front) if folder is None else os.path.relpath(front, folder)
        return f"{path}:{name}"

    def __reduce__(self) -> tuple[Callable[..., UserMeasure], tuple[str]]:
        """Found again at its location, by worker processes."""
        return _user_measure, (self.location,)


def user_measures(functions: Functions) -> tuple[UserMeasure, ...]:
    """Measures of functions, or of their locations: `FILE.py:NAME`, `package.module:NAME`.

    Raises BadInput for what is no such function, and for two of one name.
    """
    if isinstance(functions, str | DeclaredMeasure) or callable(functions):
        functions = [functions]
    measures = [_user_measure(function) for function in functions]
    names = [measure.name for measure in measures]
    for name in names:
        if names.count(name) > 1:
            raise BadInput(f"two measures are called {name}", "give one of them another name")
    return tuple(measures)


def _user_measure(function: Function) -> UserMeasure:
    if not isinstance(function, str):
        return _of(function, None)
    front, _, name = function.partition(":")
    known = names_in(load_module(front), _is_function)
    if not name:
        names = ", ".join(known) or "no function"
        raise BadInput(f"{function} names no function; it has {names}", f"write {front}:NAME")
    if name not in known:
        raise unknown(f"function in {front}", name, known)
    target = resolve(function)
    return _of(target.value, target.elsewhere)


def _is_function(value: object) -> bool:
    return isinstance(value, FunctionType | DeclaredMeasure)


def _of(value: Any, location: str | None) -> UserMeasure:
    function = value.of if isinstance(value, DeclaredMeasure) else value
    if not isinstance(function, FunctionType):
        raise BadInput(f"measure {format_value(str(function))} is no function", "give a function")
    declared = value if isinstance(value, DeclaredMeasure) else _undeclared(function)
    parameters = inspect.signature(function).parameters.values()
    needed = [
        parameter.name
        for parameter in parameters
        if parameter.name in GIVEN or parameter.default is parameter.empty
    ]
    if not needed or not set(needed) <= set(GIVEN):
        raise BadInput(
            f"measure {declared.name} takes {', '.join(needed) or 'nothing'}",
            "its parameters are state, events, or both, by these names",
        )
    if declared.name in _COLUMNS:
        raise BadInput(
            f"a measure cannot be called {declared.name}, as a column of tables is",
            "give the function another name",
        )
    source = target_of(function).location if location is None else location
    return UserMeasure(declared, tuple(needed), source, source_of_code(function).sha256)


def _undeclared(function: FunctionType) -> DeclaredMeasure:
    """A plain function as a measure: the first line of its docstring is its title."""
    name = function.__name__
    title, _, definition = (inspect.getdoc(function) or name.replace("_", " ")).partition("\n")
    return DeclaredMeasure(
        name, title.rstrip("."), definition.strip() or title, function, at_end=False, total=False
    )
