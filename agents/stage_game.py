"""`StageGame`: the functions of a world in which all agents submit simultaneously, once a unit.

`simultaneous.StagePlayers` are the players of such a world.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import attrs

from goldrush.agents.llm.models import Model
from goldrush.agents.llm.question import About, Message, Source
from goldrush.agents.roster import Entry, Roster
from goldrush.agents.seats import PolicySet
from goldrush.agents.session import Asked, Prompt
from goldrush.kernel.forking import Forks
from goldrush.kernel.rosters import Config
from goldrush.kernel.shape import Schema
from goldrush.kernel.treatments import Treatment
from goldrush.kernel.world import Row, World


class State(Protocol):
    """A state of such a world."""

    @property
    def config(self) -> Any: ...
    @property
    def roster(self) -> Sequence[Mapping[str, Any]]: ...


S = TypeVar("S", bound=State)
V = TypeVar("V")


@attrs.frozen
class Prompting(Generic[V]):
    """How language models are asked.

    Attributes:
        messages, schema: `(view, agent)` to the messages of the prompt, and to the JSON schema of
            an answer, for servers that enforce one.
        row: `(view, agent, text, error, source)` to the submission of an answer: see
            `session.Play.row`. An unreadable answer is an empty submission with an error.
        longest: greatest size of a prompt, in bytes.
        stand_in: the policy that plays instead of models when their costs are estimated.
    """

    messages: Callable[[V, int], Sequence[Message]]
    schema: Callable[[V, int], Schema]
    row: Callable[[V, int, str | None, str | None, Source], Row]
    longest: int
    stand_in: str


def _unchanged(row: Row, view: Any) -> Row:
    return row


@attrs.frozen
class StageGame(Generic[S, V]):
    """The functions of a world that concern its agents.

    Attributes:
        code: of the event of a submission, an input whose first field is the agent. If models can
            play, it has the fields `error` (text or null) and `source` (facts or null).
        config_of: the configuration with these settings. Raises BadInput.
        horizon: name of the setting that is the number of units.
        unit: the displayed number of the next unit.
        view: the observation that all agents share, computed once a unit.
        ask: `(policy, entry, view)` to the row of a policy's submission. Any exception is reported
            as the policy's failure.
        resubmitted: `(item, config)` to the row of a replaced submission, given in the form of its
            event. Raises BadPlan, and KeyError for a missing field.
        replayed: `(row, view)` to the submission of a recorded agent, from its recorded row.
        forks: the changes that forks can make; None: runs cannot be forked.
        prompting: None: models cannot play.
        leaves_state: `view` and the world's own policies leave the state that they are given as it
            is. Otherwise `verify` gives them a copy.
    """

    world: World[S]
    policy_set: PolicySet
    code: int
    config_of: Callable[[Mapping[str, Any]], Config]
    horizon: str
    unit: Callable[[S], int]
    view: Callable[[S], V]
    ask: Callable[[Any, Entry, V], Row]
    resubmitted: Callable[[Mapping[str, Any], Any], Row]
    treatments: Mapping[str, Treatment[Any]] = attrs.field(factory=dict)
    replayed: Callable[[Row, V], Row] = _unchanged
    forks: Forks[Any] | None = None
    prompting: Prompting[V] | None = None
    leaves_state: bool = False

    def __attrs_post_init__(self) -> None:
        """Raises ValueError if world, policy set and prompting do not match."""
        if self.policy_set.world != self.world.name:
            raise ValueError(
                f"a policy set of {self.policy_set.world!r} in a game of {self.world.name!r}"
            )
        if (self.policy_set.prompt is None) != (self.prompting is None):
            raise ValueError(
                "a policy set has a version of the prompt where the game has prompting"
            )

    def field(self, name: str) -> int:
        """The index of a field in the rows of submissions."""
        return list(self.world.events[self.code].fields).index(name)

    def about(self, row: Row) -> About:
        """The facts of a submission."""
        fields = dict(zip(self.world.events[self.code].fields, row, strict=True))
        source = fields.get("source")
        text = source.get("raw") if source else None
        text = text if type(text) is str else None
        return About(row[0], "", text, fields.get("error"), source)

    def prompt(self, view: V, asked: Asked, model: Model | None) -> Prompt:
        """A question to an agent in the form for a model or a person."""
        prompting, agent = prompting_of(self), asked.agent
        schema = partial(prompting.schema, view, agent)
        return Prompt(asked, model, prompting.messages(view, agent), schema)

    def units(self, config: Config) -> int:
        """The number of units of a run."""
        units: int = getattr(config, self.horizon)
        return units

    def check_recordings(self, roster: Roster, config: Config) -> None:
        """Raises BadInput unless the recordings cover all units of the `recorded` agents."""
        for recording in roster.recordings:
            for entry in roster.entries:
                if entry.options.get("journal") == recording.sha256:
                    recording.check(entry.agent, self.units(config))


def prompting_of(game: StageGame[S, V]) -> Prompting[V]:
    """How the models of a world are asked."""
    assert game.prompting is not None  # no roster of such a world has models
    return game.prompting


def version_of(game: StageGame[S, V]) -> int:
    """The version of the prompt that models are asked with."""
    assert game.policy_set.prompt is not None  # no roster of such a world has models
    return game.policy_set.prompt
