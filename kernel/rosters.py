"""Setups of runs that record a configuration and a roster, and their checks.

START has `config`, every setting by name, and `roster`, one entry for each agent in order, by
default with the fields of ENTRY. A world may give it another name and entries of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol, TypeVar

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import FACTS, NATURAL, Kind, text
from goldrush.kernel.text import format_count

Roster = tuple[Mapping[str, Any], ...]

POLICY: Final = text(200)
# The fields of an entry, in order. The first is the index of the agent.
ENTRY: Final[Mapping[str, Kind]] = {"agent": NATURAL, "policy": POLICY, "options": FACTS}


class Settings(Protocol):
    """A configuration of any world: a frozen attrs class with fields of kernel.settings."""

    def as_dict(self) -> dict[str, Any]:
        """The recorded settings in declared order; a default may be left out."""
        ...


class Config(Settings, Protocol):
    """A configuration of a run with agents."""

    @property
    def seed(self) -> int: ...

    @property
    def agents(self) -> int: ...


C = TypeVar("C", bound=Config)


def setup_of(
    setup: Mapping[str, Any],
    config_of: Callable[[Mapping[str, Any]], C],
    players: str = "roster",
    entry: Mapping[str, Kind] = ENTRY,
    others: int = 0,
) -> tuple[C, Roster]:
    """The configuration and the roster of a setup.

    Args:
        setup: what START records.
        config_of: makes a configuration from settings by name.
        players: the name of the roster.
        entry: the kinds of the fields of its entries.
        others: number of its agents besides those that the configuration counts.

    Raises BadInput unless the setup has exactly these two, complete and valid.
    """
    if list(setup) != ["config", players]:
        raise BadInput(
            f"the setup has {', '.join(map(str, setup))}", f"it has config and {players}"
        )
    config = config_of(setup["config"])
    if pack(config.as_dict()) != pack(setup["config"]):
        raise BadInput("the configuration is incomplete", "give every setting, in order")
    return config, whole_roster(setup[players], config.agents + others, players, entry)


def whole_roster(
    entries: Sequence[Any], agents: int, players: str = "roster", entry: Mapping[str, Kind] = ENTRY
) -> Roster:
    """The entries of a roster, one for each of so many agents. `players`, `entry`: as of
    `setup_of`. Raises BadInput for an invalid one.
    """
    if not isinstance(entries, list | tuple) or len(entries) != agents:
        is_list = isinstance(entries, list | tuple)
        found = format_count(len(entries), "agent") if is_list else format_value(entries)
        raise BadInput(f"the {players} has {found}", f"it must have {agents}")
    check_entries(entries, players, entry)
    return tuple(entries)


def check_entries(
    roster: Sequence[Any], players: str = "roster", entry: Mapping[str, Kind] = ENTRY
) -> None:
    """Check the entries of a roster and their order. Raises BadInput."""
    first, *others = entry
    for index, given in enumerate(roster):
        is_whole = isinstance(given, Mapping) and list(given) == list(entry)
        is_right = is_whole and all(kind.holds(given[name]) for name, kind in entry.items())
        if not is_right or given[first] != index:
            kinds = (f"{name} ({entry[name].name})" for name in others)
            raise BadInput(
                f"entry {index} of the {players} is {format_value(given)}",
                f"it must have {first} (its index), {', '.join(kinds)}",
            )
