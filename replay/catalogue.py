"""What can be named in a world: its policies, treatments and settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from warnings import warn

import attrs

from goldrush.agents.catalogue import CatalogueEntry
from goldrush.agents.plugins import PluginFailed, policies_for
from goldrush.agents.trust import EXTERNAL
from goldrush.kernel.treatments import Treatment
from goldrush.replay.toolkit import WORLD_DEFAULT, players_of, toolkit_for


@attrs.frozen
class Setting:
    """A setting of a world: its default and its range, as text."""

    default: Any
    range: str


def policies(world: str = WORLD_DEFAULT) -> Mapping[str, CatalogueEntry]:
    """The policies that rosters of a world can name, with their settings.

    Warns of policies of other distributions that cannot be used. Raises BadInput for an unknown
    world.

    >>> list(policies())[:2]
    ['random', 'greedy-mine']
    """
    players = players_of(toolkit_for(world), world)
    entries = {name: one for name, one in players.policies.items() if name != EXTERNAL}
    others = policies_for(world, players.policies) if players.has_plugins else {}
    for name, one in others.items():
        text = f"Of {one.distribution} {one.version}."
        try:
            entries[name] = CatalogueEntry.of(one.load(callable), text)
        except PluginFailed as error:
            warn(str(error), stacklevel=2)
    return entries


def treatments(world: str = WORLD_DEFAULT) -> Mapping[str, Treatment[Any]]:
    """The treatments of a world, with the settings that they change.

    Raises BadInput for an unknown world.

    >>> treatments()["scarce"].settings
    {'rows': 5, 'cols': 6}
    """
    return dict(toolkit_for(world).treatments)


def settings(world: str = WORLD_DEFAULT) -> Mapping[str, Setting]:
    """The settings of a world; empty if it does not list them.

    Raises BadInput for an unknown world.

    >>> settings()["rounds"]
    Setting(default=200, range='a whole number from 1 to 1000000')
    """
    config = toolkit_for(world).config
    return {
        one.name: Setting(
            None if one.default is attrs.NOTHING else one.default, one.metadata["rule"][1]
        )
        for one in (() if config is None else attrs.fields(config))
    }
