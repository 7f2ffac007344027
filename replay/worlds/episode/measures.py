"""The measures of an episode journal: rewards and returns of environments, variables of models.

A reward that is infinite or NaN makes the measures undefined that it is part of.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from goldrush.kernel import fold
from goldrush.kernel.journal import FORK, START, UNIT, JournalReader
from goldrush.kernel.measures import Value, mean
from goldrush.kernel.text import escaped, format_count
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.episode.config import About, EpisodeConfig
from goldrush.kernel.worlds.episode.events import CHANGED
from goldrush.kernel.worlds.episode.fork import VOCABULARY
from goldrush.kernel.worlds.episode.state import EpisodeState
from goldrush.kernel.worlds.episode.values import number_in, shown
from goldrush.kernel.worlds.episode.world import episode_world
from goldrush.replay.data.columns import free_name
from goldrush.replay.data.measures import (
    AgentMeasure,
    Measure,
    Measured,
    Measures,
    Measuring,
    Span,
    named,
)
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.worlds.episode.episodes import Episode, Episodes, finite

VARIABLES_MAX: Final = 200  # variables of a model that are measures
_FRONTS: Final = ("report[", "variable[")  # of what a model tells, and of its attributes


class MeasuredEpisodes(Measured[EpisodeConfig], frozen=True, kw_only=True):
    """A measured run, with its episodes, its subject and the units that are steps: no resets."""

    episodes: Sequence[Episode]
    about: About
    steps: Sequence[int]

    @property
    def counted(self) -> int:
        return len(self.steps)

    def units_of(self, windows: Iterable[Span]) -> list[Span]:
        steps = [self.steps[window.first - 1 : window.last] for window in windows]
        return [Span(each[0], each[-1]) for each in steps if each]

    def finished_in(self, span: Span) -> list[Episode]:
        """The episodes that came to their end in units of a span."""
        units = range(self.vocabulary.number(span.first), self.vocabulary.number(span.last) + 1)
        return [each for each in self.episodes if each.is_finished and each.last in units]

    def over(self, name: str, span: Span, horizon: int) -> Value:
        if name not in self.every:
            return None
        if name in MEASURES or not self.every[name].at_end:
            return super().over(name, span, horizon)
        # A model may tell a variable now and then.
        values = self.values[name][span.first - 1 : span.last]
        return next((value for value in reversed(values) if value is not None), None)

    @property
    def best(self) -> Episode | None:
        """The finished episode with the highest return, the first of several, or None."""
        return best_of(self.finished_in(self.whole))

    @property
    def subject(self) -> dict[str, object]:
        parameters = {name: shown(value) for name, value in self.config.parameters.items()}
        return {"subject": self.about.name, "kind": self.about.kind, **parameters}


def _reward(state: EpisodeState) -> Value:
    """The sum over the agents; None for a reset, which gives none."""
    has_rewards = state.step > 0 and not (state.is_model or state.is_closed)
    return finite(sum(state.rewards)) if has_rewards else None


def _finished(of: Callable[[Sequence[Episode]], Value]) -> Callable[..., Value]:
    """A measure over a span: of the episodes that came to their end in it."""
    return lambda measured, span, horizon: of(measured.finished_in(span))


def best_of(episodes: Sequence[Episode]) -> Episode | None:
    """The episode with the highest return, the first of several; None: no return is a number."""
    known = [each for each in episodes if each.total is not None]
    return max(known, key=lambda episode: episode.total or 0.0, default=None)


MEASURES: Final = named(
    Measure("reward", "reward", "The rewards of the step, added over the agents.", _reward,
            column=5),
    Measure(
        "return", "return so far",
        "The rewards since the last reset, added over the agents.",
        lambda state: None if state.is_model else finite(sum(state.returns)), at_end=True, column=6,
    ),
    Measure("episode", "episode", "Its number, from 1 on.",
            lambda state: state.episode if state.has_one_episode else None, at_end=True),
    Measure("length", "steps so far", "The steps since the last reset.",
            lambda state: state.step if state.has_one_episode else None, at_end=True),
    Measure("episodes", "finished episodes", "Episodes that came to their end.",
            over=_finished(len), column=1),
    Measure("mean_return", "mean return", "The mean return of the finished episodes, each added "
            "over the agents.",
            over=_finished(lambda found: mean([episode.total for episode in found])), column=2),
    Measure("mean_length", "mean length", "The mean number of steps of the finished episodes.",
            over=_finished(lambda found: mean([episode.length for episode in found])), column=3),
    Measure("best_return", "best return", "The highest return of a finished episode.",
            over=_finished(lambda found: getattr(best_of(found), "total", None)), column=4),
)  # fmt: skip

OF_AGENTS: Final = named(
    AgentMeasure(
        "return", "return", "The rewards of an agent since the last reset, added; at the end of a "
        "run, those of the last episode that has steps.", "a return of {}",
    ),
    AgentMeasure("rewards", "reward of the run", "All rewards of an agent in the run, added."),
)  # fmt: skip


def agents_at(state: EpisodeState) -> Mapping[str, Sequence[Value]]:
    """The return of each agent in the episode so far; none in a model."""
    return {"return": [finite(value) for value in state.returns]} if state.returns else {}


class _Moves:
    """Which variables of a model change by themselves. What changes only where a program or a fork
    sets it is a setting.
    """

    def __init__(self) -> None:
        self.names = set[str]()
        self._last: dict[str, float] = {}
        self._given = set[str]()

    def give(self, block: Block) -> None:
        """Attributes that are set before the next step."""
        self._given |= {row[0] for row in block.rows(CHANGED)}

    def add(self, values: Mapping[str, Value]) -> None:
        """Add the values of a step, by name of a variable."""
        defined = {name: value for name, value in values.items() if value is not None}
        self.names |= {
            name
            for name, value in defined.items()
            if self._last.get(name, value) != value and name not in self._given
        }
        self._last |= defined
        self._given = set()


def read(reader: JournalReader) -> MeasuredEpisodes:
    """The measured run of an open journal. Raises JournalError as reading it does."""
    world, episodes, moves, steps = episode_world(), Episodes(), _Moves(), array("q")
    walk, taken = Walk(world, reader), Measuring(MEASURES, lambda: episodes.by_agent)
    for commit, state in walk:
        if commit.kind in (START, FORK):
            taken.declare(commit.unit, labels_of(state.roster, None))
            moves.give(Block(state.inputs))
        if commit.kind != UNIT or commit.digest is None:
            continue
        if fold.counts(commit, VOCABULARY):
            steps.append(commit.unit)
        for name in _new_variables(taken.known, state):
            taken.include(_variable(name))
            if _key(_FRONTS[0], name) in state.shown:
                moves.names.add(name)  # it is a measure though it may never change
        episodes.add(commit, state)
        taken.add(state)
        moves.give(commit.blocks[0])
        moves.add({name: values[-1] for name, values in taken.values.items()})
    state, known, still = walk.state, taken.known, dict[str, Measure]()
    if state.is_model:
        variables = {name: each for name, each in known.items() if name not in MEASURES}
        taken.known = {name: variables[name] for name in variables if name in moves.names}
        still = {name: variables[name] for name in variables if name not in taken.known}
    return MeasuredEpisodes(
        config=state.config, still=still, episodes=episodes.all, about=state.about, steps=steps,
        **taken.fields(world, reader, walk),
    )  # fmt: skip


def _new_variables(known: Mapping[str, Measure], state: EpisodeState) -> list[str]:
    """The names of the variables of a model that are numbers for the first time, as measures."""
    if not state.is_model:
        return []
    names = [
        free_name(name.partition("[")[2].removesuffix("]"), MEASURES)
        for (agent, name), value in state.shown.items()
        if agent is None and name.startswith(_FRONTS) and number_in(value) is not None
    ]
    room = len(MEASURES) + VARIABLES_MAX - len(known)
    return [name for name in dict.fromkeys(names) if name not in known][:room]


def _variable(name: str) -> Measure:
    """A variable of a model as a measure of this name; over several units it is the last value."""
    keys = [_key(front, name) for front in _FRONTS]

    def of(state: EpisodeState) -> Value:
        return next((number_in(state.shown[key]) for key in keys if key in state.shown), None)

    return Measure(
        name, escaped(_own(name)),
        "A variable that the model reports; over several steps, the last one.",
        of, at_end=True,
    )  # fmt: skip


def _key(front: str, name: str) -> tuple[None, str]:
    """Where a state has a variable of this name."""
    return None, f"{front}{_own(name)}]"


def _own(name: str) -> str:
    """The name of a variable, whose measure may be called otherwise."""
    return name.removesuffix("_") if name.removesuffix("_") in MEASURES else name


def head(measured: MeasuredEpisodes) -> str:
    """A measured run on one line."""
    units = format_count(measured.counted, measured.vocabulary.unit)
    agents = f" of {format_count(len(measured.roster), 'agent')}" if measured.roster else ""
    return f"{escaped(measured.about.name)}, {units}{agents}, seed {measured.config.seed}"


def of_names(names: Sequence[str]) -> Measures:
    """The measures of runs that have these: of models their variables."""
    known = {name: MEASURES.get(name) or _variable(name) for name in names}
    is_model = not any(name in MEASURES for name in names)
    return msgspec.structs.replace(MEASURING, known=known, of_agents={} if is_model else OF_AGENTS)


MEASURING: Final = Measures(MEASURES, read, head, OF_AGENTS, agents_at, of_names)
