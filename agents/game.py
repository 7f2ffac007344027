"""A world in which all agents submit at once, once a unit: what it says of its players.

Everything else is written once: `simultaneous` makes the world's `Players` of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

import attrs

from goldrush.agents.llm.question import Message
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry, PolicySet
from goldrush.kernel.forking import Forks
from goldrush.kernel.rosters import Config
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

    - `messages(view, agent)`: what an agent is sent; `longest`: the most bytes that can be.
    - `schema(view, agent)`: the JSON schema of an answer, for servers that hold models to one.
    - `row(view, agent, text, error, source)`: the submission for what a model wrote (None:
      nothing). `error` is what is known to be wrong with it before it is read (a code of
      agents.llm.failures, or None), `source` what the journal keeps of the answer. Raises nothing:
      what cannot be read is an empty submission with an `error` of its own.
    - `stand_in`: the policy that plays in place of models to see how long questions become.
    """

    messages: Callable[[V, int], Sequence[Message]]
    schema: Callable[[V, int], Mapping[str, Any]]
    row: Callable[[V, int, str | None, str | None, dict[str, Any]], Row]
    longest: int
    stand_in: str


def _as_it_was(row: Row, view: Any) -> Row:
    return row


@attrs.frozen
class Game(Generic[S, V]):
    """What a world says of its players.

    - `world`; `cast`: whom its rosters can name; `treatments`: by name.
    - `code`: that of the event of a submission, an input whose first field is the agent. Where
      models play, it has the fields `error` (text or null) and `source` (facts or null).
    - `config_of(settings)`: the configuration with these settings. Raises BadInput. `horizon`: the
      setting that is the number of units.
    - `unit(state)`: the number of the unit that comes next, as people count.
    - `view(state)`: what agents are shown of it, worked out once for all.
    - `ask(policy, entry, view)`: the row of what a policy submits. Whatever it raises is reported
      as the policy's failure.
    - `resubmitted(item, config)`: the row of a submission that is put in by hand, in the form of
      its event. Raises BadPlan; a KeyError is of a field that is not there.
    - `replayed(row, view)`: what a recorded agent submits for what it submitted then.
    - `forks`: what forks may change; None where no run can be forked.
    - `prompting`: how language models are asked; None where none can play.
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
    replayed: Callable[[Row, V], Row] = _as_it_was
    forks: Forks[Any] | None = None
    prompting: Prompting[V] | None = None

    def __attrs_post_init__(self) -> None:
        """Raises ValueError where what is said twice is not the same."""
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

    def units(self, config: Config) -> int:
        """Of how many units a run is."""
        units: int = getattr(config, self.horizon)
        return units

    def check_recordings(
        self, entries: Sequence[Entry], recordings: Sequence[Recording], config: Config
    ) -> None:
        """Raises BadInput unless the recordings hold what `recorded` agents are to play."""
        for recording in recordings:
            for entry in entries:
                if entry.options.get("journal") == recording.sha256:
                    recording.check(entry.agent, self.units(config))


def prompting_of(game: Game[S, V]) -> Prompting[V]:
    """How the models of a world are asked."""
    assert game.prompting is not None  # no roster of such a world has models
    return game.prompting


def version_of(game: Game[S, V]) -> int:
    """The version of the prompt that models are asked with."""
    assert game.policy_set.prompt is not None  # no roster of such a world has models
    return game.policy_set.prompt
