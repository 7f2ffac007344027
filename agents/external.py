"""`external`: an agent that is played by an object of the recording Python program.

Journals name policies in text, so that a policy can be made again from its name. `roster_text`
converts Python values to that text: an importable class with plain settings becomes
`module:Class[setting=value]`, any other object `external[name=CLASS]`. Of an external agent the
journal has only the name and the submissions; resuming, forking and asking again need the object
itself, in `Resources.policies`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final

import attrs

from goldrush.agents.catalogue import configurable
from goldrush.agents.roster import PolicySet, format_policy
from goldrush.agents.trust import EXTERNAL, is_import_name
from goldrush.kernel.errors import BadInput, format_value

NAME_MAX: Final = 64  # characters of the name of an external policy that a journal keeps


@attrs.frozen
class RosterText:
    """A roster as text, with the objects that play its external agents.

    Attributes:
        text: None: the default roster.
        policies: the objects, by agent.

    """

    text: str | None
    policies: Mapping[int, Any] = attrs.field(factory=dict)


def roster_text(policy_set: PolicySet, players: Sequence[object]) -> RosterText:
    """The text of a roster that is given as Python values.

    Args:
        policy_set: the policies that rosters of the world can name.
        players: in order, text (`"greedy-mine"` is one agent, `"greedy-mine*5"` five), policy
            objects, or classes that are made without arguments.

    Raises:
        BadInput: for an empty roster, and for an object without the method of a policy.

    """
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
    return RosterText(",".join(f"{part}*{count}" for part, count in runs), policies)


def class_name(make: type) -> str:
    """The name `module:Class` of an importable class.

    Raises BadInput for a class of the main program or one that is defined within a function.
    """
    name = _import_name(make)
    if name is None:
        what = f"class {make.__qualname__} of module {make.__module__} cannot be imported"
        raise BadInput(what, "define it at the top of a module of its own")
    return name


def _part(policy_set: PolicySet, player: object) -> tuple[str, Any]:
    """A policy in the form of a roster's text, and the object if it is `external`."""
    make = player if isinstance(player, type) else type(player)
    if not callable(getattr(make, policy_set.method, None)):
        says = f"{format_value(str(player))} is no policy of the {policy_set.world} world"
        raise BadInput(says, f"give a name, or an object with a method `{policy_set.method}`")
    name = _name_of(policy_set, make)
    settings = {} if make is player else _settings_of(player)
    if name is not None and settings is not None:
        part = format_policy(name, settings)
        if _reads_back(policy_set, part):
            return part, None
    policy = make() if make is player else player
    return format_policy(EXTERNAL, {"name": _safe(make.__name__)}), policy


def _name_of(policy_set: PolicySet, make: type) -> str | None:
    """The name from which any process can make a policy of a class again, or None."""
    for name, known in policy_set.policies.items():
        if known is make:
            return name
    return _import_name(make)


def _import_name(make: type) -> str | None:
    name = f"{make.__module__}:{make.__qualname__}"
    module = sys.modules.get(make.__module__)
    if make.__module__ == "__main__" or not is_import_name(name):
        return None
    return name if getattr(module, make.__qualname__, None) is make else None


def _settings_of(policy: object) -> dict[str, Any] | None:
    """The settings from which a policy can be made again; None: it has other state."""
    make = configurable(type(policy))
    if make is not None:
        return {
            one.name: getattr(policy, one.name)
            for one in sorted(attrs.fields(make), key=lambda one: one.name)
            if getattr(policy, one.name) != one.default
        }
    try:
        return None if vars(policy) else {}
    except TypeError:  # slots, which may hold anything
        return None


def _reads_back(policy_set: PolicySet, part: str) -> bool:
    """Whether text with settings parses to itself; a bracket in a value breaks it."""
    try:
        return policy_set.names_by_agent(f"{part}*1") == [part]
    except BadInput:
        return False


def _safe(name: str) -> str:
    """A class's name without the special characters of a roster's text."""
    return "".join(c if c.isalnum() or c == "_" else "-" for c in name)[:NAME_MAX]
