"""What the facts of a fork have in common in every world: whose child it is, and other settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, shown
from goldrush.kernel.rosters import Config, Roster, whole_roster

C = TypeVar("C", bound=Config)

FACTS: Final = ("parent", "changes", "roster", "replaced")


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


def forked(
    config: C, facts: Mapping[str, Any], config_of: Callable[[Mapping[str, Any]], C]
) -> tuple[C, Roster | None]:
    """What a fork of a run with a configuration and a roster makes of them: the new configuration,
    and the new roster if there is one.

    Its facts are `parent`, `changes`, `roster` and `replaced`. Raises BadInput for facts that are
    none, and for another number of agents.
    """
    check_facts(facts, FACTS)
    new = config_of({**config.as_dict(), **facts["changes"]})
    check_changes(config, new, facts["changes"])
    if new.agents != config.agents:
        raise BadInput(
            f"agents cannot change in the middle of a run, from {config.agents} to {new.agents}",
            "record another run",
        )
    roster = facts["roster"]
    return new, None if roster is None else whole_roster(roster, new)
