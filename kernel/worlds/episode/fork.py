"""What a fork can change in an episode: the number of steps, parameters, who acts, and actions.

A parameter that a fork changes is set as an attribute of the model before its next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from goldrush.kernel.codec import fingerprint
from goldrush.kernel.errors import BadInput
from goldrush.kernel.forking import Forks
from goldrush.kernel.world import Past, Vocabulary
from goldrush.kernel.worlds.episode.config import OWN, EpisodeConfig, config_of
from goldrush.kernel.worlds.episode.events import ACTED, CHANGED, CLOSED, EVENTS, RESET
from goldrush.kernel.worlds.episode.state import EpisodeState, declare
from goldrush.kernel.worlds.episode.values import Encoded, shown

VOCABULARY: Final = Vocabulary("step", first=0, uncounted=(RESET, CLOSED))


class EpisodeForks(Forks[EpisodeConfig], frozen=True):
    """Forks of episodes: besides the settings, the parameters of a model can change."""

    def check_setting(self, name: str, value: object) -> None:
        config_of({name: value})

    def with_settings(self, config: EpisodeConfig, settings: Mapping[str, object]) -> EpisodeConfig:
        return config_of({**config.as_dict(), **settings}, config.agents)

    def show(self, facts: Mapping[str, object]) -> Mapping[str, object]:
        return {**super().show(facts), "changes": shown_by_name(facts["changes"])}


FORKS: Final = EpisodeForks(
    EpisodeConfig, config_of, [EVENTS[ACTED]], "last_step", VOCABULARY, fixed=("seed",)
)


def shown_by_name(settings: object) -> Mapping[str, object]:
    """Settings as people and JSON have them."""
    return {name: shown(value) for name, value in cast(Mapping[str, Encoded], settings).items()}


def show_setup(setup: Mapping[str, object]) -> Mapping[str, object]:
    """The setup for the `started` event."""
    return {**setup, "config": shown_by_name(setup["config"])}


def check_parameters(changes: Mapping[str, object], *, is_model: bool) -> None:
    """Raises BadInput if parameters of an environment change: it would have to be made anew."""
    parameters = [name for name in changes if name not in OWN]
    if parameters and not is_model:
        raise BadInput(
            f"{parameters[0]} cannot change while an environment runs", "record another run"
        )


def fork(state: EpisodeState, facts: Mapping[str, object], past: Past) -> EpisodeState:
    """The state with a fork's changes."""
    if state.is_closed:
        raise BadInput("the recording is closed there", "fork at an earlier step")
    config, roster = FORKS.forked(state.config, facts, state.unit)
    changes = cast(Mapping[str, Encoded], facts["changes"])
    check_parameters(changes, is_model=state.is_model)
    changed = [(name, value) for name, value in changes.items() if name not in OWN]
    if changed:
        state.inputs = (*state.inputs, (CHANGED, tuple(changed)))
        state.chain = fingerprint([state.chain, changed])
    declare(state, config, state.roster if roster is None else roster)
    if state.has_all_steps:
        raise BadInput(
            f"steps is {config.steps}, but the run is forked at "
            f"{VOCABULARY.format_unit(state.unit)}",
            f"give {state.taken + 1} or more, or 0: until it is closed",
        )
    return state
