"""The declarations of a run, at its start and in forks: its settings and its players.

START's setup has the settings under `config`; a FORK's facts have changed settings under `changes`,
and a program that replaces another one under `program`; players are under the world's noun for them
(`Vocabulary.players`). Settings or players of a world that records them otherwise are unknown here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby, zip_longest
from operator import eq
from typing import Any, Final, cast

import attrs
import msgspec

from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.seats import policy_label
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.world import RecordedEvent, Vocabulary, World

Entries = Sequence[Any]  # of players, as the journal has them

PARTS_MAX: Final = 40  # of the text of a roster


class Declared(msgspec.Struct, frozen=True):
    """The settings in force, and an entry for each player.

    Attributes:
        settings: by name.
        players: their entries.
        forks: the facts of the forks that led to the run, without the parent's hash.
        in_force: the players and the seed at the start and after each fork, with the public number
            of their first unit; the last are `players`.
        history: a sentence for each fork, with the public number of its first unit.
        start: the settings at the start, which no fork has changed.
        prompt: of the world.
    """

    settings: Mapping[str, object] = {}
    players: Entries = ()
    forks: Sequence[Mapping[str, Any]] = ()
    in_force: Sequence[tuple[int, Entries, object]] = ()
    history: Sequence[tuple[int, str]] = ()
    start: Mapping[str, object] = {}
    prompt: PromptVersion | None = None

    def __repr__(self) -> str:
        return f"<Declared {self.roster}, seed {self.seed}>"

    @property
    def seed(self) -> int | None:
        """The run's seed; None if the settings have none."""
        seed = self.settings.get("seed")
        return seed if type(seed) is int else None

    @property
    def roster(self) -> str | None:
        """The roster as text, `greedy-mine*5,random*5`; None if it is unknown."""
        return format_roster(self.players, self.prompt)

    @property
    def labels(self) -> Sequence[tuple[int, list[str]]]:
        """As `drawn`, with the policy of each player as `labels_of` alone."""
        return [(first, labels_of(players, self.prompt)) for first, players, _ in self.drawn]

    @property
    def drawn(self) -> Sequence[tuple[int, Sequence[object], Mapping[int, int]]]:
        """All players that were in force, each with the public number of their first unit and the
        variant, from 0, of each agent whose wording has several. A fork with another seed that
        draws others has a row, too.
        """
        each = [(first, who, _variants(who, seed)) for first, who, seed in self.in_force]
        return [next(parts) for _, parts in groupby(each, key=lambda part: (id(part[1]), part[2]))]


def _variants(players: Entries, seed: object) -> Mapping[int, int]:
    """The variants that a seed draws; none for players or a seed that are unknown."""
    with suppress(TypeError, LookupError):
        if type(seed) is int and any("wording" in entry["options"] for entry in players):
            from goldrush.agents.llm.wording_rosters import variants_of

            return variants_of(players, seed)
    return {}


def format_roster(players: Sequence[object], prompt: PromptVersion | None) -> str | None:
    """Players as text, `greedy-mine*5,random*5`; None if they are unknown. `prompt`: of the
    world.

    It has at most PARTS_MAX parts, for it stands in every row of a table. A longer roster that
    repeats is the list that is repeated, which gives it again for that number of agents; of any
    other the first parts are given, the number of the others, and a fingerprint of all.
    """
    names = labels_of(players, prompt)
    groups = [(name, len(list(same))) for name, same in groupby(names)]
    parts = [name if n == 1 else f"{name}*{n}" for name, n in groups]
    if len(parts) <= PARTS_MAX:
        return ",".join(parts) or None
    for period in range(2, PARTS_MAX + 1):
        if all(map(eq, names, names[period:])):
            return ",".join(names[:period])
    more = f"{len(parts) - PARTS_MAX:,} more {fingerprint(names):016x}"
    return ",".join([*parts[:PARTS_MAX], more])


def labels_of(players: Sequence[object], prompt: PromptVersion | None) -> list[str]:
    """The policy of each player with its settings; empty if they are unknown. `prompt`: as for
    `format_roster`.
    """
    try:
        return [policy_label(cast("Mapping[str, Any]", entry), prompt) for entry in players]
    except (TypeError, LookupError, AttributeError):
        return []


def unusual(settings: Mapping[str, object], config: type[attrs.AttrsInstance]) -> dict[str, object]:
    """The settings that differ from the defaults of their world's class, `config`."""
    fields = attrs.fields_dict(config)
    return {
        name: value
        for name, value in settings.items()
        if name in fields
        and fields[name].default is not attrs.NOTHING
        and json.dumps(fields[name].default) != json.dumps(value)
    }


def declared_by(
    world: World[Any], prompt: PromptVersion | None, before: Declared | None, event: RecordedEvent
) -> Declared:
    """The declarations in force after a START or a FORK.

    Args:
        prompt: of the world.
        before: the declarations before it; None for START.
        event: the event of START or FORK.
    """
    fields = event.fields
    players = world.vocabulary.players
    if before is None:
        known = ("world", "rules", players)
        others = {name: value for name, value in fields.items() if name not in known}
        who = fields.get(players) or ()
        first = world.vocabulary.number(1)
        settings = fields.get("config", others)
        in_force = ((first, who, settings.get("seed")),)
        return Declared(settings, who, in_force=in_force, start=settings, prompt=prompt)
    first = event.unit + 1
    who = _completed(before.players, fields.get(players)) or before.players
    settings = {**before.settings, **fields.get("changes", {})}
    if fields.get("program") is not None:
        settings["program"] = fields["program"]
    facts = {name: value for name, value in fields.items() if name != "parent"}
    earlier = [part for part in before.in_force if part[0] < first]
    text = format_fork(world.vocabulary, prompt, event)
    return Declared(
        settings,
        who,
        (*before.forks, facts),
        (*earlier, (first, who, settings.get("seed"))),
        (*before.history, (first, f"After {world.vocabulary.unit} {event.unit} {text}.")),
        before.start,
        prompt,
    )


def _completed(before: Entries, who: Entries | None) -> Entries | None:
    """The players of a fork, each with what START says of it and a fork does not repeat, like its
    name; None if the fork keeps the players.
    """
    if who is None:
        return None
    return [
        {**old, **new} if isinstance(old, Mapping) and isinstance(new, Mapping) else new
        for old, new in zip_longest(before[: len(who)], who)
    ]


def format_fork(
    vocabulary: Vocabulary,
    prompt: PromptVersion | None,
    event: RecordedEvent,
    names: Mapping[int, str] | None = None,
) -> str:
    """What a fork left and what it changed, as a sentence. `names`: of agents, by number."""
    fields = {**event.fields}
    parent, changes, replaced, who, source, _ = (
        fields.pop(name, None)
        for name in ("parent", "changes", "replaced", vocabulary.players, "source", vocabulary.unit)
    )
    parts = [f"{name} becomes {json.dumps(value)}" for name, value in (changes or {}).items()]
    for name, value in fields.items():
        called = value.get(name) if isinstance(value, Mapping) else None
        if value is not None:
            parts.append(f"another {name}{f', {json.dumps(called)}' if called else ''}")
    if isinstance(source, Mapping):
        parts.append(f"source of SHA-256 {str(source.get('sha256'))[:16]}")
    if who is not None:
        parts.append(f"played by {format_roster(who, prompt)}")
    for number, *step, agent in replaced or ():  # the step where a unit has several
        name = (names or {}).get(agent, f"agent {agent}")
        place = ", step ".join(map(str, [number, *step]))
        parts.append(f"the submission of {name} in {vocabulary.unit} {place} is put in by hand")
    off = "" if parent is None else f" off SHA-256 {str(parent)[:16]}"  # not all worlds record it
    return f"the {vocabulary.run} is forked{off}: {'; '.join(parts) or 'no change'}"
