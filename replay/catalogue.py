"""What can be named in a world: its policies, treatments, settings and tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from warnings import warn

from goldrush.agents.catalogue import CatalogueEntry
from goldrush.agents.plugins import PluginFailed
from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import Setting, listed
from goldrush.kernel.treatments import Treatment
from goldrush.replay.data.columns import FRONT, Table
from goldrush.replay.data.tables import tables_of
from goldrush.replay.find import WORLD_DEFAULT, players_of, tools_for


def policies_of(world: str) -> tuple[dict[str, CatalogueEntry], list[PluginFailed]]:
    """As `policies`, with the errors of those that cannot be used."""
    players = players_of(tools_for(world))
    entries = dict(players.policies)
    unusable = []
    for name, plugin in players.policy_set.installed().items():
        text = f"Of {plugin.distribution} {plugin.version}."
        try:
            entries[name] = CatalogueEntry.of(plugin.load(callable), text)
        except PluginFailed as error:
            unusable.append(error)
    if not entries and not unusable:
        raise BadInput(f"the {world} world does not list its policies", "see its documentation")
    return entries, unusable


def policies(world: str = WORLD_DEFAULT) -> Mapping[str, CatalogueEntry]:
    """The policies that rosters of a world can name, with their settings.

    Warns of policies of other distributions that cannot be used. Raises BadInput for an unknown
    world, and for one that does not list its policies.

    >>> list(policies())[:2]
    ['random', 'greedy-mine']
    """
    entries, unusable = policies_of(world)
    for error in unusable:
        warn(str(error), stacklevel=2)
    return entries


def treatments(world: str = WORLD_DEFAULT) -> Mapping[str, Treatment[Any]]:
    """The treatments of a world, with the settings that they change.

    Raises BadInput for an unknown world, and for one without treatments.

    >>> treatments()["scarce"].settings
    {'rows': 5, 'cols': 6}
    """
    found = tools_for(world).treatments
    if not found:
        raise BadInput(f"the {world} world has no treatments", f"see goldrush settings {world}")
    return dict(found)


def settings(world: str = WORLD_DEFAULT) -> Mapping[str, Setting]:
    """The settings of a world.

    Raises BadInput for an unknown world, and for one that does not list its settings.

    >>> settings()["rounds"]
    Setting(default=200, range='a whole number from 1 to 1000000')
    """
    found = listed(tools_for(world).config)
    if not found:
        raise BadInput(f"the {world} world does not list its settings", "see its documentation")
    return found


def tables(world: str = WORLD_DEFAULT) -> Sequence[Table]:
    """The tables of a world's journals, with their columns; before them, what every row of each
    begins with, as a table of its own.

    Raises BadInput for an unknown world.
    """
    tools = tools_for(world)
    front = Table("every table", "of one run, and begins with these", FRONT, lambda run: iter(()))
    return [front, *tables_of(tools, tools.world({}))]
