"""What a run says of itself, at its start and in forks: its settings, and who plays.

A START's setup has the settings under `config`, a FORK's facts those that it changes under
`changes`, and a program that takes the place of another one under `program`; who plays is under the
world's own word (`Vocabulary.players`). A world of another form has settings, or players, that
cannot be told apart here.
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
    """The settings in force, and an entry for each player."""

    settings: Mapping[str, Any] = attrs.field(factory=dict)
    players: Sequence[Any] = ()

    @property
    def seed(self) -> int | None:
        """The run's seed; None where the settings have none."""
        seed = self.settings.get("seed")
        return seed if type(seed) is int else None

    @property
    def roster(self) -> str | None:
        """Who plays, as a roster's text, `greedy-mine*5,random*5`; None where it cannot be told."""
        try:
            names = [policy_label(entry) for entry in self.players]
        except (TypeError, LookupError, AttributeError):
            return None
        groups = [(name, len(list(same))) for name, same in groupby(names)]
        return ",".join(name if n == 1 else f"{name}*{n}" for name, n in groups) or None


def unusual(settings: Mapping[str, Any], config: type[Any] | None) -> dict[str, Any]:
    """The settings that have another value than the default of their world's class (`config`).
    Without a class, or a default, none.
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
    """What holds from a START's event on, or from a FORK's, `before` which another one held."""
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
    return Declared(settings, before.players if who is None else who)


def declared_in(world: World[Any], reader: JournalReader) -> Declared:
    """What the run of a journal, open and not read yet, says of itself, as far as it can be read:
    whoever reads its events meets what is wrong with them.
    """
    found: Declared | None = None
    with suppress(JournalError):
        for commit in reader:
            if commit.kind in (START, FORK):
                found = declared_by(world, found, fold.setup_event(world, reader, commit))
    return found or Declared()
