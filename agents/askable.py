"""Which players of a journal this version can ask again.

The submissions of a player that is not asked again are believed, so each of them is reported. A
user-defined policy without trust and a recording that is not given are `not_asked`. A policy, an
option or a prompt version that this version does not have is `unknown`. A value that this version
has, but no run can write, was forged: ImpossiblePlayer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

import attrs

from goldrush.agents.llm.models import AUTO, LLM, Model, model_from
from goldrush.agents.people import HUMAN
from goldrush.agents.trust import EXTERNAL, RECORDED, is_import_name
from goldrush.kernel.errors import BadInput, format_value

_MODEL: Final = frozenset(attrs.fields_dict(Model))


@attrs.frozen
class Player:
    """A player of a journal.

    Attributes:
        label: its name in messages.
        policy: the name of its policy.
        options: as the journal holds them.

    """

    label: str
    policy: str
    options: Mapping[str, Any]


class UnknownPlayer(Exception):
    """A player that this version does not know. The message has the player and the reason."""


class ImpossiblePlayer(BadInput):
    """A player that no run has: its record was forged.

    Attributes:
        player: its label.
        expected: what the record must hold.
        actual: what it holds.

    """

    def __init__(self, player: str, expected: str, actual: str) -> None:
        super().__init__(f"of {player}, {actual}", f"it must be {expected}")
        self.player = player
        self.expected = expected
        self.actual = actual


@attrs.frozen
class Askable:
    """The players that can be asked again here.

    Attributes:
        installed: names of installed policies.
        prompt: the version of the prompt that models are asked with; None: models do not play.
        trust: names (`module:Class`) of user-defined policies that may be imported.
        recordings: SHA-256 of the available recordings; None: recordings are not played.
        external: labels of the `external` players whose objects are given; None: no player is
            external.
        has_options: whether an installed policy is the one that played, with these options. Raises
            UnknownPlayer, ImpossiblePlayer. None: policies have no options.

    """

    installed: Collection[str]
    prompt: int | None
    trust: Collection[str] = ()
    recordings: Collection[str] | None = None
    external: Collection[str] | None = None
    has_options: Callable[[Player], bool] | None = None

    def can_ask(self, player: Player) -> bool:
        """Whether a player can be asked; False: it is known, but not available here.

        Raises:
            UnknownPlayer: if this version does not have its policy, options or prompt.
            ImpossiblePlayer: if no run can have written its record.

        """
        if player.policy == LLM and self.prompt is not None:
            return self._can_read(player)
        if player.policy == HUMAN and self.prompt is not None:
            self._check_shown(player)
            return True
        if player.policy == RECORDED and self.recordings is not None:
            digest = player.options.get("journal")
            if set(player.options) != {"journal"} or type(digest) is not str:
                raise UnknownPlayer(f"{player.label} is recorded with {_options(player)}")
            return digest in self.recordings
        if player.policy == EXTERNAL and self.external is not None:
            if not is_external(player.options):
                raise UnknownPlayer(f"{player.label} is external with {_options(player)}")
            return player.label in self.external
        if player.policy not in self.installed and not is_import_name(player.policy):
            raise UnknownPlayer(f"{player.label} plays {format_value(player.policy)}")
        is_here = player.policy in self.installed or player.policy in self.trust
        if self.has_options is not None:
            return is_here and self.has_options(player)
        if player.options:
            raise UnknownPlayer(
                f"{player.label} plays {format_value(player.policy)} with {_options(player)}"
            )
        return is_here

    def _check_shown(self, player: Player) -> None:
        """Raises UnknownPlayer for a person who was asked with another version of the prompt."""
        if player.options != {"prompt": self.prompt}:
            raise UnknownPlayer(f"{player.label} is a person who was asked with {_options(player)}")

    def _can_read(self, player: Player) -> bool:
        """Whether the recorded answers of a model can be read again. Raises as `can_ask`."""
        version = player.options.get("prompt")
        if set(player.options) != _MODEL:
            raise UnknownPlayer(f"{player.label} is a model with {_options(player)}")
        if type(version) is not int or version != self.prompt:
            raise UnknownPlayer(
                f"{player.label} is a model that was asked with version {format_value(version)} of "
                f"the prompt (this is version {self.prompt})"
            )
        try:
            model = model_from(player.options)
        except BadInput as error:
            expected = error.instead.removeprefix("it must be ")
            raise ImpossiblePlayer(player.label, expected, error.what) from None
        if model.answer == AUTO:
            raise ImpossiblePlayer(
                player.label, "an answer that was decided", f"answer is {AUTO!r}"
            )
        return True


@attrs.frozen
class Classified:
    """Players by what can be done with them.

    Attributes:
        can_ask: for each player, whether it can be asked.
        not_asked: descriptions of those that are not available, by policy.
        unknown: reasons why this version does not know the others.

    """

    can_ask: tuple[bool, ...]
    not_asked: tuple[str, ...]
    unknown: tuple[str, ...]


def classify_players(players: Iterable[Player], askable: Askable, suffix: str = "") -> Classified:
    """Sort players by whether they can be asked again.

    Args:
        players: of a journal.
        askable: those that can be asked.
        suffix: appended to each description in `not_asked`.

    Raises:
        ImpossiblePlayer: for a forged record.

    """
    can_ask: list[bool] = []
    left: Counter[str] = Counter()
    unknown: list[str] = []
    for player in players:
        try:
            can_ask.append(askable.can_ask(player))
        except UnknownPlayer as error:
            can_ask.append(False)
            unknown.append(str(error))
        else:
            left[player.policy] += not can_ask[-1]
    not_asked = (
        f"{policy} ({count} agent{'s' if count > 1 else ''}){suffix}"
        for policy, count in left.items()
        if count
    )
    return Classified(tuple(can_ask), tuple(not_asked), tuple(unknown))


def is_external(options: Mapping[str, Any]) -> bool:
    """Whether these are the options of an `external` agent: at most a name, as text."""
    return set(options) <= {"name"} and all(type(value) is str for value in options.values())


def _options(player: Player) -> str:
    return f"options {format_value(dict(player.options))}"
