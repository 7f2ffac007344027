"""Events and steps of an episode as text and as JSON, with agents by their names."""

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
from goldrush.kernel.worlds.episode.events import NAME_MAX
from goldrush.kernel.worlds.episode.fork import VOCABULARY
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import Json, shown
from goldrush.replay.outcome import format_value
from goldrush.replay.sentences import FORMS, EventSentences, Sentence
from goldrush.replay.text import Paint, cut_middle, format_table
from goldrush.replay.tools import ClosedUnit, Names
from goldrush.replay.worlds.episode.episodes import finite

VALUE_MAX: Final = 300  # characters of a value in a sentence
ROWS_MAX: Final = 50  # agents or values in the table of a step


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


def unit_as_dict(unit: ClosedUnit) -> Mapping[str, object]:
    """The state after a step for JSON."""
    state: EpisodeState = unit.state
    names = state.about.agents
    front: dict[str, object] = {unit.vocabulary.unit: unit.round}
    if not state.is_model:
        if state.has_one_episode:
            front |= {"episode": state.episode, "step of the episode": state.step}
        front |= {
            "rewards": [finite(value) for value in state.rewards],
            "returns": [finite(value) for value in state.returns],
            "to act next": [named(agent, names) for agent in state.acting],
        }
    front["over"] = state.is_over
    values: dict[str, dict[str, Json]] = {}
    for (agent, name), value in state.shown.items():
        values.setdefault(named(agent, names), {})[name] = shown(value)
    return {**front, "values": values}


def named(agent: int | None, names: Sequence[str]) -> str:
    """The name of an agent; `all` for None."""
    if agent is None:
        return "all"
    return names[agent] if 0 <= agent < len(names) else f"agent {agent}"


def format_line(unit: ClosedUnit) -> str:
    """A step on one line."""
    state: EpisodeState = unit.state
    if state.is_closed:
        return "the recording is closed"
    if state.is_model:
        values = (
            f"{escaped(name)} {value_text(shown(value))}"
            for (_, name), value in list(state.shown.items())[:3]
        )
        return ", ".join(values)
    end = ", over" if state.is_over else ""
    reward, total = (format_value(finite(sum(of))) for of in (state.rewards, state.returns))
    return f"{_place(state)}reward {reward}, return {total}{end}"


def format_unit(unit: ClosedUnit, paint: Paint) -> str:
    """The state after a step: its place, a table of the agents, and the values that are kept."""
    state: EpisodeState = unit.state
    over = ", the recording is closed" if state.is_closed else ", over" if state.is_over else ""
    parts = [f"{unit.vocabulary.unit} {unit.round}: {_place(state)}digest {unit.digest:016x}{over}"]
    if state.returns:
        parts.append(_agents(state, paint))
    if state.shown:
        rows: list[Sequence[str]] = [("of", "name", "value")]
        for (agent, name), value in state.shown.items():
            whose = named(agent, state.about.agents)
            rows.append((escaped(whose), escaped(name[:NAME_MAX]), value_text(shown(value))))
        parts.append(format_table(rows, most=ROWS_MAX))
    return "\n\n".join(parts)


def _place(state: EpisodeState) -> str:
    """Where in its episode a step stands."""
    return f"step {state.step} of episode {state.episode}, " if state.has_one_episode else ""


def _agents(state: EpisodeState, paint: Paint) -> str:
    rows: list[Sequence[str]] = [("agent", "name", "reward", "return", "acts next")]
    acting = set(state.acting)
    for agent, name in enumerate(state.about.agents):
        reward, total = (_number(of[agent]) for of in (state.rewards, state.returns))
        next_one = "yes" if agent in acting else "no"
        rows.append((paint(str(agent), agent), escaped(name), reward, total, next_one))
    return format_table(rows, numbers=(2, 3), most=ROWS_MAX)


def _number(value: float) -> str:
    return f"{value:,.6g}"
