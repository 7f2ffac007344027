"""`external`: an agent that is played by an object of the recording Python program.

Journals name policies in text, so that a policy can be made again from its name. `roster_text`
converts Python values to that text: an importable class with plain settings becomes
`module:Class[setting=value]`, any other object `external[name=CLASS]`. Of an external agent the
journal has only the name and the submissions; resuming, forking and asking again need the object
itself, in `Resources.policies`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

import attrs
import msgspec

from goldrush.agents.catalogue import configurable
from goldrush.agents.roster import format_policy
from goldrush.agents.trust import EXTERNAL, is_import_name
from goldrush.kernel.errors import BadInput, format_value

if TYPE_CHECKING:
    from goldrush.agents.seats import PolicySet

NAME_MAX: Final = 64  # characters of the name of an external policy that a journal keeps


class RosterText(msgspec.Struct, frozen=True):
    """A roster that was given as Python values.

    Attributes:
        text: its text form; None: the default roster.
        policies: of its external agents, by agent: the object, or the class that makes it.
    """

    text: str | None
    policies: Mapping[int, object] = {}


def roster_text(policy_set: PolicySet, players: Sequence[object]) -> RosterText:
    """The text of a roster that is given as Python values. `players`: in order, text
    (`"greedy-mine"` is one agent, `"greedy-mine*5"` five), policy objects, or classes that are made
    without arguments.

    Raises BadInput where rosters are text, for an empty roster, and for an object without the
    method of a policy.
    """
    if not policy_set.method:
        raise BadInput("rosters of this world are text", "write the roster as on the command line")
    if not isinstance(players, Sequence) or isinstance(players, bytes):
        says = f"the roster is {format_value(str(players))}"
        raise BadInput(says, "give text, or a list with an item for each agent: [policy] * 10")
    if not players:
        raise BadInput("the roster is empty", "give at least one policy")
    parts: list[str] = []
    policies: dict[int, Any] = {}
    for player in players:
        if isinstance(player, str):
            parts += policy_set.names_by_agent(player if "*" in player else f"{player}*1")
            continue
        part, policy = _part(policy_set, player)
        if policy is not None:
            policies[len(parts)] = policy
        parts.append(part)
    runs = ((part, len(list(group))) for part, group in groupby(parts))
    text = ",".join(f"{part}*{count}" for part, count in runs)
    return RosterText(text, policies)


def _part(policy_set: PolicySet, player: object) -> tuple[str, Any]:
    """A policy as a roster's text has it; with the object, unless the text is enough."""
    make = player if isinstance(player, type) else type(player)
    if not callable(getattr(make, policy_set.method, None)):
        says = f"{format_value(str(player))} is not a policy of the {policy_set.world} world"
        raise BadInput(says, f"give a name, or an object with a method `{policy_set.method}`")
    built_in = (name for name, known in policy_set.policies.items() if known is make)
    name = next(built_in, None) or _import_name(make)
    settings = {} if make is player else _settings_of(player)
    if name is not None and settings is not None:
        part = format_policy(name, settings)
        if _round_trips(policy_set, part):
            return part, None
    # Without characters that mean something in the text of a roster.
    safe = re.sub(r"\W", "-", make.__name__)[:NAME_MAX] or "policy"
    return format_policy(EXTERNAL, {"name": safe}), player


def _import_name(make: type) -> str | None:
    """The name `module:Class` of a class in rosters, if it can be imported by it."""
    name = f"{make.__module__}:{make.__qualname__}"
    module = sys.modules.get(make.__module__)
    if make.__module__ == "__main__" or not is_import_name(name):
        return None
    return name if getattr(module, make.__qualname__, None) is make else None


def _settings_of(policy: object) -> dict[str, Any] | None:
    """The settings from which an equal policy can be made; None: it holds something else."""
    make = type(policy)
    settings: dict[str, Any] = {}
    if configurable(make) is not None:
        settings = {
            field.name: getattr(policy, field.name)
            for field in sorted(attrs.fields(make), key=lambda field: field.name)  # type: ignore[arg-type]
            if getattr(policy, field.name) != field.default
        }
    if any(base.__module__ == "builtins" for base in make.__mro__[:-1]):
        return None  # a list, say, which holds more than its attributes
    try:
        return settings if _state_of(make(**settings)) == _state_of(policy) else None
    except KeyboardInterrupt:
        raise
    except BaseException:  # whatever a constructor, or a comparison of two values, raises
        return None


def _state_of(policy: object) -> dict[str, Any]:
    """All attributes of an object, in its `__dict__` and in slots."""
    slots = [name for base in type(policy).__mro__ for name in getattr(base, "__slots__", ())]
    held = {name: getattr(policy, name) for name in slots if hasattr(policy, name)}
    return {**held, **getattr(policy, "__dict__", {})}


def _round_trips(policy_set: PolicySet, part: str) -> bool:
    """Whether text with settings is parsed to the same text: a bracket in a value breaks it."""
    try:
        return policy_set.names_by_agent(f"{part}*1") == [part]
    except BadInput:
        return False
