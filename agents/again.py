"""Who of the players in a journal can be asked again, and what is to be said of the others.

Whoever is not asked again is believed, so nobody is passed over in silence. Somebody's own code
that is not trusted here, and a recording that is not here, are left out and named. A policy, an
option or a version of the prompt that this version does not have cannot be judged. A value that it
has, and never writes, was forged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import AUTO, LLM, Model, model_of
from goldrush.agents.people import HUMAN
from goldrush.agents.trust import EXTERNAL, RECORDED, is_own
from goldrush.kernel.errors import BadInput, shown

_MODEL: Final = frozenset(attrs.fields_dict(Model))


@attrs.frozen
class Player:
    """One of a journal's players: how people call it, its policy, the options that belong to it."""

    who: str
    policy: str
    options: Mapping[str, Any]


class Unknown(Exception):
    """A player whom this version does not know. The message says who, and what is not known."""


class Impossible(BadInput):
    """A player that no run has. `who`: which; `expected` and `found`: what is wrong with it."""

    def __init__(self, who: str, expected: str, found: str) -> None:
        super().__init__(f"of {who}, {found}", f"it must be {expected}")
        self.who = who
        self.expected = expected
        self.found = found


@attrs.frozen
class Known:
    """Whom a version can ask again: `installed` policies, models under version `prompt` of their
    world's prompt (None: no model plays it), policies of somebody's own in `trust`, recordings by
    SHA-256 (None: the world has no such players), the `external` players whose objects are here
    (None: the world has none).

    `has_options(player)`: whether a policy that is here is the one that played, with the options
    that the journal says; raises Unknown, Impossible. Without it a policy has no options.
    """

    installed: Collection[str]
    prompt: int | None
    trust: Collection[str] = ()
    recordings: Collection[str] | None = None
    external: Collection[str] | None = None
    has_options: Callable[[Player], bool] | None = None

    def can_ask(self, player: Player) -> bool:
        """Whether a player can be asked; False for one that is not here, but might be.

        Raises Unknown, Impossible.
        """
        if player.policy == LLM and self.prompt is not None:
            return self._can_read(player)
        if player.policy == HUMAN and self.prompt is not None:
            self._check_shown(player)
            return True
        if player.policy == RECORDED and self.recordings is not None:
            digest = player.options.get("journal")
            if set(player.options) != {"journal"} or type(digest) is not str:
                raise Unknown(f"{player.who} is recorded with {_options(player)}")
            return digest in self.recordings
        if player.policy == EXTERNAL and self.external is not None:
            if not is_external(player.options):
                raise Unknown(f"{player.who} is external with {_options(player)}")
            return player.who in self.external
        if player.policy not in self.installed and not is_own(player.policy):
            raise Unknown(f"{player.who} plays {shown(player.policy)}")
        is_here = player.policy in self.installed or player.policy in self.trust
        if self.has_options is not None:
            return is_here and self.has_options(player)
        if player.options:
            raise Unknown(f"{player.who} plays {shown(player.policy)} with {_options(player)}")
        return is_here

    def _check_shown(self, player: Player) -> None:
        """Raises Unknown for a person who was asked otherwise than this version asks."""
        if player.options != {"prompt": self.prompt}:
            raise Unknown(f"{player.who} is a person who was asked with {_options(player)}")

    def _can_read(self, player: Player) -> bool:
        """Whether the answers of a model can be read again: always, if it is one."""
        version = player.options.get("prompt")
        if set(player.options) != _MODEL:
            raise Unknown(f"{player.who} is a model with {_options(player)}")
        if type(version) is not int or version != self.prompt:
            raise Unknown(
                f"{player.who} is a model that was asked with version {shown(version)} of the "
                f"prompt (this is version {self.prompt})"
            )
        try:
            model = model_of(player.options)
        except BadInput as error:
            expected = error.instead.removeprefix("it must be ")
            raise Impossible(player.who, expected, error.what) from None
        if model.answer == AUTO:
            raise Impossible(player.who, "an answer that was decided", f"answer is {AUTO!r}")
        return True


@attrs.frozen
class Sorted:
    """Players by what can be done: `can_ask` has one truth value for each, `not_asked` names those
    that are not here, `unknown` says whom this version does not know.
    """

    can_ask: tuple[bool, ...]
    not_asked: tuple[str, ...]
    unknown: tuple[str, ...]


def sorted_players(players: Iterable[Player], known: Known, and_so: str = "") -> Sorted:
    """Sort players. `and_so`: what is not checked either where one is not asked.

    Raises Impossible.
    """
    can_ask: list[bool] = []
    left: Counter[str] = Counter()
    unknown: list[str] = []
    for player in players:
        try:
            can_ask.append(known.can_ask(player))
        except Unknown as error:
            can_ask.append(False)
            unknown.append(str(error))
        else:
            left[player.policy] += not can_ask[-1]
    not_asked = (
        f"{policy} ({count} agent{'s' if count > 1 else ''}){and_so}"
        for policy, count in left.items()
        if count
    )
    return Sorted(tuple(can_ask), tuple(not_asked), tuple(unknown))


def is_external(options: Mapping[str, Any]) -> bool:
    """Whether these are options that an external agent can have: at most a name."""
    return set(options) <= {"name"} and all(type(value) is str for value in options.values())


def _options(player: Player) -> str:
    return f"options {shown(dict(player.options))}"
