"""A game as a PettingZoo environment, its records as arrays. Each episode is a journal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, TypeVar, Union

import attrs
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from goldrush.agents.game.play import GamePlayers, players_of_game
from goldrush.agents.game.prompts import no_range, shown
from goldrush.kernel.errors import BadInput, format_value
from goldrush.kernel.game.game import Game, snake
from goldrush.kernel.game.hints import ANY_LENGTH, Agent, Field, format_hint
from goldrush.kernel.game.records import State, Submission
from goldrush.kernel.game.world import compiled
from goldrush.replay.data.user_measures import is_finite
from goldrush.replay.environment import Infos, JournalEnv

Observed = Any  # an array; with a mask {"observation": array, "action_mask": mask}
Action = Any  # of a space: a number, an array, or a dict of these


class GameEnv(JournalEnv[State, Observed, Action]):
    """A game for learners.

    A step is one of the run in which a learner is asked, with those after it in which none is.

    - Action: see `Actions`. That of an agent who is not asked is ignored.
    - Observation: what the game lets the agent observe, as a float32 array (`features` names its
      entries); where the game lists legal values, `{"observation": ..., "action_mask": ...}`.
    - Reward: the change of the agent's `score`.
    - Termination: when the run is over.
    - Info: `phase`, the next one; `asked`, the event of the submission that the agent is asked for,
      None where it is not.
    """

    def __init__(
        self, game: type[Game], treatment: str, roster: str | Sequence[object] | None,
        journal: str | Path | None, settings: Mapping[str, object],
    ) -> None:  # fmt: skip
        """Arguments and errors as those of `goldrush.parallel_env`."""
        if not game.submissions:
            raise BadInput(f"nobody submits in {game.name}", "give another game")
        self._game = game
        super().__init__(treatment, roster, journal, settings)
        self._actions = Actions(self.config)
        self._features = {
            name: tuple(numbers_of(self._seen(self._initial, agent)))
            for name, agent in self._names.items()
        }
        self._observation_spaces = {
            name: self._observation_space(features) for name, features in self._features.items()
        }
        self._action_spaces = {name: Actions(self.config).space for name in self._names}
        self._scores = self._scored(self._initial)

    @property
    def _players(self) -> GamePlayers:
        return players_of_game(self._game)

    def _observation_space(self, features: Sequence[str]) -> Space:
        if not features:
            raise BadInput(
                f"agents of {self.config.name} see no number", "let `observe` return one that has"
            )
        seen = spaces.Box(-np.inf, np.inf, (len(features),), np.float32)
        if self._actions.mask_space is None:
            return seen
        return spaces.Dict(observation=seen, action_mask=self._actions.mask_space)

    def features(self, agent: str) -> Sequence[str]:
        """The names of the entries of an agent's observations."""
        return self._features[agent]

    @property
    def _asks(self) -> type[Submission] | None:
        """What is submitted in the next step of the run; None: nobody submits."""
        return compiled(self._game).phase(self._begun()).asks

    def _submission(self, name: str, action: Action) -> object | None:
        asks = self._asks
        return None if asks is None else self._actions.submission(asks, action)

    def _seen(self, state: State, agent: int) -> object:
        with compiled(self._game).running("observe", state):
            return self.config.observe(state, agent)

    def _scored(self, state: State) -> dict[str, float]:
        """The score of each learner. Raises BadInput in a game without, and for others than
        finite numbers.
        """
        scores, rule = {}, self.config.score
        for name, agent in self._names.items():
            with compiled(self._game).running("score", state):
                # a measure may have its name
                score = rule(state, agent) if callable(rule) else None
            if score is None:
                raise BadInput(
                    f"{type(self.config).__name__} tells no score, so no learner can be rewarded",
                    "declare it: def score(self, state, agent): ...",
                )
            if not is_finite(score):
                raise BadInput(
                    f"{type(self.config).__name__}.score gives {format_value(score)} for {name}",
                    "give a finite number",
                )
            scores[name] = float(score)
        return scores

    def _observed(self) -> dict[str, Observed]:
        state, mask_space, players = self._begun(), self._actions.mask_space, self._players
        observed: dict[str, Observed] = {}
        for name, agent in self._names.items():
            seen = array_of(name, self._seen(state, agent), self._features[name])
            if mask_space is None:
                observed[name] = seen
                continue
            asks = self._asks if name in self._asked else None
            legal = {} if asks is None else players.prompts(players.view(state)).legal(agent)
            mask = self._actions.mask(asks, legal)
            observed[name] = {"observation": seen, "action_mask": mask}
        return observed

    def _infos(self) -> Infos:
        phase, asks = self._begun().phase, self._asks
        event = None if asks is None else snake(asks.__name__)
        return {
            name: {"phase": phase, "asked": event if name in self._asked else None}
            for name in self._names
        }


_TEXTS: Final[Mapping[object, str | None]] = {str: "", str | None: None}  # what learners give
CHOICES_MAX: Final = 4096  # of a field with a mask, and of one that may be None

Space = spaces.Space[Any]
Mask = Any  # an array of int8, or a dict of these
T = TypeVar("T")


# Observations.


def numbers_of(seen: object) -> dict[str, float]:
    """The numbers of what an agent sees, by name; of a state also `unit`, and `step` in games of
    several phases. Texts are left out. Raises BadInput for what is no record.
    """
    values = shown(seen, "learner")
    numbers: dict[str, float] = {}
    if isinstance(seen, State):
        numbers["unit"] = seen.unit
        if len(seen.config.phases) > 1:
            numbers["step"] = seen.step
    types: Mapping[str, Field] = getattr(seen, "types")  # noqa: B009  # of both kinds of records
    for name, value in values.items():
        numbers.update(_numbers(name, types[name], value))
    return numbers


def _numbers(name: str, field: Field, value: Any) -> Iterator[tuple[str, float]]:
    if field.form in (Agent, int, float, bool):
        yield name, value
    elif field.form is Literal:
        yield name, field.choices.index(value)
    elif field.form is Union:
        types = [item for item in field.items if item.form not in (NoneType, str)]
        if types:
            inner = next((item for item in types if item.holds(value)), None)
            shown = _blank(types[0]) if inner is None else value
            yield from _numbers(name, inner or types[0], shown)
            yield f"{name} given", value is not None
    elif field.form is dict:
        for key in sorted(value):
            yield from _numbers(f"{name}[{key}]", field.items[1], value[key])
    elif field.form in (list, tuple, ANY_LENGTH):
        for place, item in enumerate(value):
            inner = field.items[place if field.form is tuple else 0]
            yield from _numbers(f"{name}[{place}]", inner, item)


def _blank(field: Field) -> Any:
    """A value of a type that stands where there is none."""
    if field.form is Literal:
        return field.choices[0]
    if field.form is tuple:
        return tuple(map(_blank, field.items))
    return {} if field.form is dict else [] if field.form in (list, ANY_LENGTH) else 0


def array_of(agent: str, seen: object, features: Sequence[str]) -> NDArray[np.float32]:
    """What an agent sees as an array of these features. Raises BadInput for others."""
    numbers = numbers_of(seen)
    if (*numbers,) != (*features,):
        changed = next(
            name for name in (*numbers, *features) if name not in numbers or name not in features
        )
        raise BadInput(
            f"{agent} sees {len(numbers)} numbers and saw {len(features)} at first: {changed} is "
            "in only one of both",
            "return an Observation whose lists keep their length",
        )
    return np.array(list(numbers.values()), np.float32)


# Actions.


class ActionDict(spaces.Dict):
    """`Dict` whose `sample` takes masks of some of its parts, too."""

    def sample(self, mask: Any = None, probability: Any = None) -> dict[str, Any]:
        """A random action; parts without a mask can have any value."""
        if mask is not None:
            mask = {name: mask.get(name) for name in self.spaces}
        return super().sample(mask, probability)


@attrs.frozen
class ActionField:
    """A field of a submission as an action.

    Attributes:
        values: the values of a number, in order; None: any number from `low` to `high`.
        length: of a list; None: it is no list.
    """

    values: Sequence[object] | None
    low: float = 0
    high: float = 0
    length: int | None = None

    @property
    def start(self) -> int:
        """The smallest number of an action: a whole number stands for itself, else from 0 on."""
        return self.values[0] if isinstance(self.values, range) else 0

    @property
    def space(self) -> Space:
        """The space of the actions."""
        if self.values is None:
            return spaces.Box(self.low, self.high, (self.length or 1,), np.float32)
        count = len(self.values)
        if self.length is None:
            return spaces.Discrete(count, start=self.start)
        return spaces.MultiDiscrete([count] * self.length, start=[self.start] * self.length)

    @property
    def mask_space(self) -> Space | None:
        """The space of masks; None: legal values are not told by one."""
        if self.values is None or self.length is not None or len(self.values) > CHOICES_MAX:
            return None
        return spaces.Box(0, 1, (len(self.values),), np.int8)

    def value(self, action: Action) -> object:
        """The value of the field that an action stands for."""
        if self.length is not None:
            return [self._of_number(number) for number in action]
        return self._of_number(action[0] if self.values is None else action)

    def _of_number(self, number: Any) -> object:
        if self.values is None:
            return min(max(float(number), self.low), self.high)
        return self.values[int(number) - self.start]

    def mask(self, legal: Sequence[object] | None) -> NDArray[np.int8]:
        """The mask of a number; `legal`: the legal values, None: all."""
        values = self.values or ()
        return np.array([legal is None or value in legal for value in values], np.int8)


class Actions:
    """The actions of a game's agents. They are of one space in the whole run.

    A submission of one field is an action of the space of that field, one of several fields a dict
    by their names; in a game of several submissions, a dict of these by the names of their events.
    Texts are left out: those of learners are empty.
    """

    def __init__(self, game: Game) -> None:
        """Raises BadInput for fields that learners cannot be asked for."""
        self._fields = {
            asks: {
                name: _field(game, asks, name, typed)
                for name, typed in asks.types.items()
                if typed.hint not in _TEXTS
            }
            for asks in game.submissions
        }
        made = self._nested(lambda asks, name, field: field.space, ActionDict)
        if made is None:
            raise BadInput(
                f"agents of {game.name} submit no number", "learners need a field with a range"
            )
        self.space: Space = made
        self.mask_space: Space | None = None
        if type(game).legal is not Game.legal:
            self.mask_space = self._nested(lambda asks, name, field: field.mask_space, ActionDict)

    def submission(self, asks: type[Submission], action: Action) -> Submission | None:
        """The submission that an action stands for; None: it is not of its space."""
        fields = self._fields[asks]
        part: Any = action
        try:
            if len(self._fields) > 1 and fields:
                part = action[snake(asks.__name__)]
            by_name = part if len(fields) > 1 else dict.fromkeys(fields, part)
            if not all(field.space.contains(by_name[name]) for name, field in fields.items()):
                return None
        except (TypeError, KeyError, IndexError):
            return None
        made = {
            name: fields[name].value(by_name[name]) if name in fields else _TEXTS[typed.hint]
            for name, typed in asks.types.items()
        }
        return asks(**made)

    def mask(self, asked: type[Submission] | None, legal: Mapping[str, Sequence[object]]) -> Mask:
        """The mask of an agent that is asked for a submission; None: it is not asked."""

        def of_field(asks: type[Submission], name: str, field: ActionField) -> Mask:
            if field.mask_space is None:
                return None
            return field.mask(legal.get(name) if asks is asked else None)

        return self._nested(of_field, dict)

    def _nested(
        self, leaf: Callable[[type[Submission], str, ActionField], T | None], join: Callable[..., T]
    ) -> T | None:
        """What `leaf` gives for each field, joined as actions are; None: it gives nothing."""
        submissions: dict[str, T] = {}
        for asks, fields in self._fields.items():
            made = ((name, leaf(asks, name, field)) for name, field in fields.items())
            parts = {name: part for name, part in made if part is not None}
            if parts:
                whole = join(parts) if len(fields) > 1 else next(iter(parts.values()))
                submissions[snake(asks.__name__)] = whole
        if not submissions:
            return None
        return join(submissions) if len(self._fields) > 1 else next(iter(submissions.values()))


def _field(game: Game, asks: type[Submission], name: str, typed: Field) -> ActionField:
    given = typed.range
    if typed.form is list:
        each = given.each if given is not None else ""
        length = getattr(game, each, None) if each else None
        if type(length) is not int:
            raise BadInput(
                f"{asks.__name__}.{name} is a list of no known length, so no learner can be asked "
                "for it",
                'name the setting that is its length, as in within(0, 10, each="agents")',
            )
        return attrs.evolve(_field(game, asks, name, *typed.items), length=length)
    if typed.form in (int, float) and given is None:
        raise no_range(asks, name, "learner")
    if typed.form is float and given is not None:
        return ActionField(None, given.low, given.high)
    values = _values(game, typed)
    if values is None:
        raise BadInput(
            f"{asks.__name__}.{name} has the type {format_hint(typed.hint)}, for which no learner "
            "can be asked",
            "give it a number with a range, a Literal, or a list of these",
        )
    return ActionField(values)


def _values(game: Game, field: Field) -> Sequence[object] | None:
    """The values of a type, where they can be counted."""
    if field.form is Agent:
        return range(game.agents)
    if field.form is int and field.range is not None:
        return range(math.ceil(field.range.low), math.floor(field.range.high) + 1)
    if field.form is Union:
        [inner] = [item for item in field.items if item.form is not NoneType]
        values = _values(game, inner)
        return None if values is None or len(values) > CHOICES_MAX else (None, *values)
    return field.choices or None
