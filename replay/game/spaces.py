"""Records of games as arrays for learners: what an agent sees, and the space of its actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import NoneType
from typing import Any, Final, Literal, TypeVar, Union

import attrs
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from goldrush.agents.game.prompts import no_range, shown
from goldrush.kernel.errors import BadInput
from goldrush.kernel.game.game import Game, snake
from goldrush.kernel.game.hints import ANY_LENGTH, Agent, Field, format_hint
from goldrush.kernel.game.records import State, Submission

Observed = Any  # an array; with a mask {"observation": array, "action_mask": mask}
Action = Any  # of a space: a number, an array, or a dict of these


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
