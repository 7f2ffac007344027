"""The declarations of a run, at its start and in forks: its settings and its players.

START's setup has the settings under `config`; a FORK's facts have changed settings under `changes`,
and a program that replaces another one under `program`; players are under the world's noun for them
(`Vocabulary.players`). Settings or players of a world that records them otherwise are unknown here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

import attrs

from goldrush.agents.roster import policy_label
from goldrush.kernel import fold
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import FORK, START, JournalReader
from goldrush.kernel.world import Event, World


@attrs.frozen
class Declared:
    """The settings in force, and an entry for each player.

    Attributes:
        settings: by name.
        players: their entries.
        forks: the facts of the forks that led to the run, without the parent's hash.

    """

    settings: Mapping[str, Any] = attrs.field(factory=dict)
    players: Sequence[Any] = ()
    forks: Sequence[Mapping[str, Any]] = ()

    @property
    def seed(self) -> int | None:
        """The run's seed; None if the settings have none."""
        seed = self.settings.get("seed")
        return seed if type(seed) is int else None

    @property
    def roster(self) -> str | None:
        """The roster as text, `greedy-mine*5,random*5`; None if it is unknown."""
        try:
            names = [policy_label(entry) for entry in self.players]
        except (TypeError, LookupError, AttributeError):
            return None
        groups = [(name, len(list(same))) for name, same in groupby(names)]
        return ",".join(name if n == 1 else f"{name}*{n}" for name, n in groups) or None


def unusual(settings: Mapping[str, Any], config: type[Any] | None) -> dict[str, Any]:
    """The settings that differ from the defaults of their world's class (`config`); none without a
    class or a default.
    """
    fields = {} if config is None else attrs.fields_dict(config)
    return {
        name: value
        for name, value in settings.items()
        if name in fields
        and fields[name].default is not attrs.NOTHING
        and json.dumps(fields[name].default) != json.dumps(value)
    }


def declared_by(world: World[Any], before: Declared | None, event: Event) -> Declared:
    """The declarations in force after a START or a FORK.

    Args:
        world: the world.
        before: the declarations before it; None for START.
        event: the event of START or FORK.

    """
    fields = event.fields
    players = world.vocabulary.players
    if before is None:
        known = ("world", "rules", players)
        others = {name: value for name, value in fields.items() if name not in known}
        return Declared(fields.get("config", others), fields.get(players) or ())
    who = fields.get(players)
    settings = {**before.settings, **fields.get("changes", {})}
    if fields.get("program") is not None:
        settings["program"] = fields["program"]
    facts = {name: value for name, value in fields.items() if name != "parent"}
    forks = (*before.forks, facts)
    return Declared(settings, before.players if who is None else who, forks)


def declared_in(world: World[Any], reader: JournalReader) -> Declared:
    """The declarations of an open journal that was not read yet, as far as it can be read: reading
    its events raises its errors.
    """
    found: Declared | None = None
    with suppress(JournalError):
        for commit in reader:
            if commit.kind in (START, FORK):
                found = declared_by(world, found, fold.setup_event(world, reader, commit))
    return found or Declared()
