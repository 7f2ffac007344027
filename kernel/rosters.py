"""Setups of runs that record a configuration and a roster, and their checks.

START has `config`, every setting by name, and `roster`, one entry for each agent in order: `agent`
(its index), `policy` (text), `options` (a map of names to plain values).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from goldrush.kernel.codec import pack
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.shape import FACTS
from goldrush.kernel.shape import text as text_of
from goldrush.kernel.text import format_count

Roster = tuple[Mapping[str, Any], ...]

_POLICY = text_of(200)


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
    setup: Mapping[str, Any], config_of: Callable[[Mapping[str, Any]], C]
) -> tuple[C, Roster]:
    """The configuration and the roster of a setup. `setup`: what START records; `config_of`: makes
    a configuration from settings by name.

    Raises BadInput unless the setup has exactly these two, complete and valid.
    """
    if list(setup) != ["config", "roster"]:
        raise BadInput(f"the setup has {', '.join(map(str, setup))}", "it has config and roster")
    config = config_of(setup["config"])
    if pack(config.as_dict()) != pack(setup["config"]):
        raise BadInput("the configuration is incomplete", "give every setting, in order")
    return config, whole_roster(setup["roster"], config)


def whole_roster(entries: Sequence[Any], config: Config) -> Roster:
    """The entries of a roster, one an agent. Raises BadInput for an invalid one."""
    roster = tuple(entries)
    if len(roster) != config.agents:
        raise BadInput(
            f"the roster has {format_count(len(roster), 'agent')}", f"it must have {config.agents}"
        )
    check_entries(roster)
    return roster


def check_entries(roster: Sequence[Any]) -> None:
    """Check the entries of a roster and their order. Raises BadInput."""
    for agent, entry in enumerate(roster):
        if (
            list(entry) != ["agent", "policy", "options"]
            or (type(entry["agent"]), entry["agent"]) != (int, agent)
            or not _POLICY.holds(entry["policy"])
            or not FACTS.holds(entry["options"])
        ):
            raise BadInput(
                f"entry {agent} of the roster is {format_value(entry)}",
                "it must have agent (its index), policy (text) and options (a map)",
            )
