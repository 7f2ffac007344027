"""Events of an episode as text, with agents by their names, and the fields of a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from goldrush.kernel import fold
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import escaped
from goldrush.kernel.world import EventType
from goldrush.kernel.worlds.episode.config import About, about_of
from goldrush.kernel.worlds.episode.fork import VOCABULARY
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import Json, shown
from goldrush.replay.sentences import EventSentences
from goldrush.replay.text import cut_middle
from goldrush.replay.tools import ClosedUnit
from goldrush.replay.worlds.episode.episodes import finite

VALUE_MAX: Final = 300  # characters of a value in a sentence


def _about_in(path: str | Path) -> About:
    with suppress(GoldrushError, StopIteration, *fold.REFUSED), JournalReader(path) as reader:
        return about_of((next(iter(reader)).setup or {})["subject"])
    return About()


def sentences_of(path: str | Path, types: Iterable[EventType]) -> EventSentences:
    """The sentences of a journal with these types of events."""
    names = dict(enumerate(_about_in(path).agents))
    return EventSentences(types, VOCABULARY, forms={"plain": value_text}, names=names)


def value_text(value: object) -> str:
    """A value, as `shown` gives it, in a sentence: numbers with six digits, long ones cut."""
    return cut_middle(escaped(_text(value)), VALUE_MAX, " ... ")


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{name}: {_text(item)}' for name, item in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def fields_of(unit: ClosedUnit) -> Mapping[str, object]:
    """The state after a step: its place, what agents earned, and the values that are kept."""
    state: EpisodeState = unit.state
    names = state.about.agents
    front: dict[str, object] = {}
    if not state.is_model:
        if state.has_one_episode:
            front |= {"episode": state.episode, "step of the episode": state.step}
        acting = {*state.acting}
        front |= {
            "rewards": [finite(value) for value in state.rewards],
            "returns": [finite(value) for value in state.returns],
            "acts next": [agent in acting for agent in range(len(names))],
        }
    values: dict[str, dict[str, Json]] = {}
    for (agent, name), value in state.shown.items():
        values.setdefault(named(agent, names), {})[name] = shown(value)
    return {**front, "over": state.is_over, "closed": state.is_closed, "values": values}


def named(agent: int | None, names: Sequence[str]) -> str:
    """The name of an agent; `all` for None."""
    if agent is None:
        return "all"
    return names[agent] if 0 <= agent < len(names) else f"agent {agent}"
