"""What the facts of a fork have in common in every world: whose child it is, and other settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, shown


class Settings(Protocol):
    """A configuration of any world."""

    def as_dict(self) -> dict[str, Any]:
        """All settings in declared order."""
        ...


def changes(old: Settings, new: Settings) -> dict[str, Any]:
    """The settings in which two configurations differ, with the new values, in declared order."""
    before = old.as_dict()
    return {
        name: value for name, value in new.as_dict().items() if pack(value) != pack(before[name])
    }


def check_changes(old: Settings, new: Settings, said: Mapping[str, Any]) -> None:
    """Raises BadInput where the changes that a fork states are not those it makes."""
    if pack(changes(old, new)) != pack(said):
        raise BadInput("the changes are not those of the settings", "leave out what stays")


def check_facts(facts: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raises BadInput unless the facts have these names, in order, and a parent's SHA-256."""
    if list(facts) != list(names):
        raise BadInput(f"a fork has {', '.join(map(str, facts))}", f"it has {', '.join(names)}")
    parent = facts["parent"]
    if type(parent) is not str or len(parent) != 64 or set(parent) - set("0123456789abcdef"):
        raise BadInput(f"the parent is {shown(parent)}", "it must be a SHA-256 in hex")
