"""Events of an episode as text, with agents by their names, and the fields of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from goldrush.kernel import fold
from goldrush.kernel.errors import JournalError
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.text import escaped
from goldrush.kernel.world import Event, EventType
from goldrush.kernel.worlds.episode.config import about_of
from goldrush.kernel.worlds.episode.fork import VOCABULARY
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import Json, shown
from goldrush.replay.sentences import FORMS, EventSentences, Sentence
from goldrush.replay.text import cut_middle
from goldrush.replay.tools import ClosedUnit, Names
from goldrush.replay.worlds.episode.episodes import finite

VALUE_MAX: Final = 300  # characters of a value in a sentence


def names_in(path: str | Path) -> Names:
    """The names of the agents; none of a journal whose START cannot be read."""
    with suppress(JournalError, StopIteration, *fold.REFUSED), JournalReader(path) as reader:
        setup = next(iter(reader)).setup or {}
        return dict(enumerate(about_of(setup["subject"]).agents))
    return {}


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
    if value is None:
        return "nothing"
    return str(value).lower() if isinstance(value, bool) else str(value)


def sentences_of(path: str | Path, types: Iterable[EventType]) -> Callable[[], EventSentences]:
    """The function that makes the sentences of one pass over a journal with these types."""
    return partial(_sentences, names_in(path), list(types))


def _sentences(names: Names, types: Sequence[EventType]) -> EventSentences:
    def name_of(agent: object) -> str:
        if agent is None:
            return "all"
        name = names.get(agent) if isinstance(agent, int) else None
        return escaped(name) if name else f"agent {agent}"

    def listed(agents: object) -> str:
        each = list(agents) if isinstance(agents, (list, tuple)) else [agents]
        return ", ".join(map(name_of, each)) or "nobody"

    forms = {**FORMS, "agent": name_of, "agents": listed, "value": value_text}
    chosen = {"reset": _reset, "acted": _acted, "changed": _changed, "gave": _gave, "turn": _turn,
              "array": _array}  # fmt: skip
    return EventSentences(types, VOCABULARY, chosen, forms, names)


def _reset(event: Event) -> Sentence:
    options = "" if event["options"] is None else ", with the options {options:value}"
    return Sentence(f"reset{{seed}}{{is_drawn}}{options}")


def _acted(event: Event) -> Sentence:
    if event["agent"] is None:
        return Sentence("all act: {action:value}")
    return Sentence("{agent:agent} acts: {action:value}")


def _changed(event: Event) -> Sentence:
    return Sentence("{name} is set to {value:value}")


def _gave(event: Event) -> Sentence:
    return Sentence("{agent:agent} gets the reward {reward:value}{terminated}{truncated}")


def _turn(event: Event) -> Sentence:
    if event["is_over"]:
        return Sentence("the episode is over")
    if not event["agents"]:
        return Sentence("the model can go on")
    return Sentence("to act next: {agents:agents}")


def _array(event: Event) -> Sentence:
    whose = "" if event["agent"] is None else "{agent:agent}: "
    if event["value"] is None:
        return Sentence(f"{whose}{{name}} has the digest {{digest}}")
    return Sentence(f"{whose}{{name}} is {{value:value}}")


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
