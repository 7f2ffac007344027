"""The agents of a `Game`: its policies, and the `Players` that ask them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

import attrs
import msgspec

from goldrush.agents.game.ordering import ordering
from goldrush.agents.game.source import source_of_code
from goldrush.agents.game.step import StepView
from goldrush.agents.llm.versions import PromptVersion
from goldrush.agents.recorded import Recording
from goldrush.agents.roster import Entry, parts_of
from goldrush.agents.seats import PolicySet
from goldrush.agents.simultaneous import SimultaneousPlayers
from goldrush.kernel import shape
from goldrush.kernel.codec import encode, pack
from goldrush.kernel.errors import BadInput, BadPlan, format_value
from goldrush.kernel.game.draw import Draw, TogetherDraw
from goldrush.kernel.game.game import AGENTS_MAX, DeclaredPolicy, Game
from goldrush.kernel.game.records import State, Submission
from goldrush.kernel.game.watch import (
    NO_SURROGATE,
    SURROGATE,
    is_watched,
    is_watching,
    packed,
    watching_all_units,
)
from goldrush.kernel.game.world import Compiled, Roster, compiled, world_of
from goldrush.kernel.rosters import Config
from goldrush.kernel.settings import setting
from goldrush.kernel.shape import Kind
from goldrush.kernel.treatments import BASELINE, Treatment, by_name
from goldrush.kernel.world import EventType, Row

if TYPE_CHECKING:
    from goldrush.agents.game.prompts import GamePrompts
    from goldrush.agents.llm.wordings import Wordable

# Agents whose policies are watched in a unit unless all are: each time the state is compared.
WATCHED: Final = 20
LONGEST: Final = 1 << 16  # bytes of a prompt, at most, for estimates
# How an entry can be framed: a game has no place for notes, and no order.
FRAMED: Final = ("wording", "wording_sha256", "wording_text", "persona")


@attrs.frozen(slots=False)
class GamePolicy:
    """A policy of a game with its settings."""

    policy: ClassVar[DeclaredPolicy]
    is_together: ClassVar[bool]  # as `policy`, whose look-up takes longer

    @cached_property
    def function(self) -> Callable[..., object]:
        """`(game, seen, agent, draw)` to what it submits."""
        act, settings = self.policy.act, attrs.asdict(self)
        is_as_declared = repr(settings) == repr(self.policy.settings)  # 1 is not 1.0
        return act if is_as_declared else partial(act, **settings)


def policy_class(policy: DeclaredPolicy) -> type[GamePolicy]:
    """The class of a policy, with its settings as fields. Raises BadInput for other settings than
    numbers, texts and switches.
    """
    fields = {
        name: setting(value, _kind_of(policy, value)) for name, value in policy.settings.items()
    }
    made: type[GamePolicy] = attrs.make_class(
        policy.name, fields, bases=(GamePolicy,), frozen=True, slots=False
    )
    made.policy, made.is_together = policy, policy.together
    made.__doc__ = policy.act.__doc__
    return made


def _kind_of(policy: DeclaredPolicy, value: object) -> Kind:
    kinds = {bool: shape.BOOLEAN, int: shape.INTEGER, float: _NUMBER, str: shape.TEXT}
    if type(value) not in kinds:
        raise BadInput(
            f"policy {policy.name} has a setting of {format_value(value)}",
            "give a number, a text or a switch",
        )
    return kinds[type(value)]


class GamePolicies(PolicySet, frozen=True):
    """The policies that rosters of a game can name."""

    def maker(self, entry: Entry, trust: Collection[str]) -> Callable[[], object]:
        """As of any set; a policy in the game, which remembers nothing, is made once."""
        make = super().maker(entry, trust)
        if entry.policy not in self.policies:
            return make
        policy = make()
        return lambda: policy


_NUMBER: Final = Kind(
    "a number",
    lambda value: type(value) in (int, float) and value - value == 0,
    schema={"type": "number"},
)


class GamePlayers(SimultaneousPlayers[State, StepView]):
    """The players of a game."""

    def __init__(self, game: type[Game]) -> None:
        self.game = game
        self.compiled: Compiled = compiled(game)
        source = source_of_code(game)
        self.world = msgspec.structs.replace(
            world_of(game), source=source.sha256, watching=self._watching
        )
        self.source = source.as_dict()
        self.codes = codes = self.compiled.codes_by_step
        self.treatments = treatments_of(game)
        self.forks = self.compiled.forks()
        self.horizon = game.horizon
        self.stand_in = next(iter(game.policies), "")
        version = PromptVersion(game.rules, LONGEST, FRAMED, lambda: self._wordable)
        self.policy_set = GamePolicies(
            world=game.name,
            policies={name: policy_class(policy) for name, policy in game.policies.items()},
            default=game.roster or next(iter(game.policies), ""),
            agents=_default_agents(game),
            agents_max=AGENTS_MAX,
            method="act",
            prompt=version if game.submissions else None,
            recording=lambda path: Recording(path, self.world, codes),
        )
        super().__init__()
        # Recording would not tell whose text it is that has a lone surrogate, and takes nulls where
        # a submission may be missing.
        self._with_text = {
            asks
            for asks in game.submissions
            if asks.missing is None or any(field.has(str) for field in asks.types.values())
        }
        # By code, the events of those who submit something: without nulls that stand for nothing.
        self._events = [
            msgspec.structs.replace(
                self.compiled.types[code],
                fields={
                    **self.compiled.types[code].fields,
                    **{name: field.kind for name, field in asks.types.items()},
                },
            )
            for code, asks in enumerate(game.submissions)
        ]
        # Of the last roster, by agent, the agents with the same entry.
        self._groups: tuple[Roster, Sequence[tuple[int, ...]]] = (), ()

    @cached_property
    def _wordable(self) -> Wordable:
        from goldrush.agents.game.prompts import wordable_of

        return wordable_of(self.game)

    @contextmanager
    def _watching(self) -> Iterator[None]:
        """Within it, mistakes are looked for in all units, iterated sets among them."""
        with watching_all_units(), ordering(self.compiled.game):
            yield

    def config_of(self, settings: Mapping[str, object]) -> Game:
        return self.game.configured(settings)

    def unit(self, state: State) -> int:
        return state.unit + 1

    def turn(self, state: State) -> tuple[int, Sequence[int]]:
        return state.step, self.compiled.movers(state)

    def view(self, state: State) -> StepView:
        """What asking takes in the next step, whoever is asked."""
        # Before a run, models are asked for the form of an answer, whatever the first step is.
        asks = self.compiled.phase(state).asks or self.game.submissions[0]
        code = self.compiled.codes[asks]
        prefix = (state.config.seed, state.unit + 1, state.step, "policy")
        before = packed(state) if is_watched(state) else None
        # What is recorded is checked, too, and costs less there; but not what agents it names.
        is_recorded_as_is = not (
            before is not None or asks in self._with_text or self.compiled.naming[code]
        )
        watched = () if before is None else _watched_agents(state)
        return StepView(
            state, asks, self._events[code], prefix, before, watched,
            is_recorded_as_is, type(state.config).observe is not Game.observe,
        )  # fmt: skip

    def ask(self, policy: object, entry: Entry, view: StepView) -> Row:
        """What a policy submits in the next step. Raises BadPlan for what is no submission."""
        agent, game = entry.agent, view.state.config
        if not isinstance(policy, GamePolicy):
            function: Callable[..., object] = partial(_act, policy)
        elif type(policy).is_together:
            if agent not in view.together:
                view.together.update(self._asked_together(policy, entry, view))
            return view.together[agent]
        else:
            function = policy.function
        seen, draw = view.state, Draw((*view.prefix, agent))
        if agent in view.watched:
            if view.hides:
                with view.watching("`observe`"):
                    seen = game.observe(view.state, agent)
            with view.watching(f"policy {entry.policy}"):
                submitted = function(game, seen, agent, draw)
        else:
            if view.hides:
                seen = game.observe(view.state, agent)
            submitted = function(game, seen, agent, draw)
        return self._row(submitted, agent, view)

    def _asked_together(
        self, policy: GamePolicy, entry: Entry, view: StepView
    ) -> Iterable[tuple[int, Row]]:
        """The rows of all whose entry in the roster is the same, by agent, whoever of them is asked
        now: so a replaced submission of one changes nothing for the others.
        """
        game, state = view.state.config, view.state
        movers = self.compiled.movers(state)
        agents = self._alike(state.roster, entry.agent)
        if len(movers) < game.agents:
            agents = tuple(sorted({*movers}.intersection(agents)))
        with view.watching("`observe`"):
            seen = [game.observe(state, agent) for agent in agents] if view.hides else state
        with view.watching(f"policy {entry.policy}"):
            draw = TogetherDraw(view.prefix, _agents=frozenset(agents))
            submitted = policy.function(game, seen, agents, draw)
        if type(submitted) is not list or len(submitted) != len(agents):
            raise BadPlan(
                f"{format_value(submitted)} is submitted; return a list with one for each of the "
                f"{len(agents)} agents"
            )
        rows = [self._row(each, agent, view) for each, agent in zip(submitted, agents, strict=True)]
        return zip(agents, rows, strict=True)

    def _alike(self, roster: Roster, agent: int) -> tuple[int, ...]:
        """The agents with the same policy and settings as one, ascending."""
        known, groups = self._groups
        if roster is not known:
            by_entry: dict[bytes, list[int]] = {}
            keys = [pack([entry["policy"], entry["options"]]) for entry in roster]
            for number, key in enumerate(keys):
                by_entry.setdefault(key, []).append(number)
            tuples = {key: tuple(agents) for key, agents in by_entry.items()}
            groups = [tuples[key] for key in keys]
            self._groups = roster, groups
        return groups[agent]

    def _row(self, submitted: Any, agent: int, view: StepView) -> Row:
        """The row of a submission. Raises BadPlan for what is none, or is out of its range."""
        if view.is_recorded_as_is and type(submitted) is view.asks:
            return (agent, *submitted[1:])
        row = _checked(submitted, agent, view.asks, view.event)
        agents = view.state.config.agents
        if self.compiled.names_stranger(self.compiled.codes[view.asks], [row], agents):
            raise BadPlan(f"{submitted} names an agent that is not there: {agents} play")
        return row

    def resubmitted(self, item: Mapping[str, object], config: Config, code: int) -> Row:
        """The row of a submission that is given in the form of its event. Raises BadPlan, and
        KeyError for a missing field.
        """
        from goldrush.agents.game.prompts import in_row

        event, asks = self._events[code], self.game.submissions[code]
        values = [in_row(item[name], field) for name, field in asks.types.items()]
        row = _held((item["agent"], *values, None, None), event)
        if self.compiled.names_stranger(code, [row], config.agents):
            raise BadPlan("it names an agent that is not there")
        return row

    def prompts(self, view: StepView) -> GamePrompts:
        from goldrush.agents.game.prompts import GamePrompts

        return GamePrompts(self.compiled, view, self._wordable)


@cache
def players_of_game(game: type[Game]) -> GamePlayers:
    """The players of a game, made when they are first asked for."""
    return GamePlayers(game)


def _watched_agents(state: State) -> Container[int]:
    """The agents whose policies are watched in a watched unit: WATCHED, and in the next others."""
    agents = state.config.agents
    first = WATCHED * state.unit.bit_length()  # most of these units have one bit more
    return {(first + at) % agents for at in range(agents if is_watching() else WATCHED)}


def _act(policy: Any, game: Game, seen: Any, agent: int, draw: Draw) -> object:
    """What a policy that is an object submits."""
    return policy.act(seen, agent, draw)


def _checked(submitted: Any, agent: int, asks: type[Submission], event: EventType) -> Row:
    """The row of a submission. Raises BadPlan for what is none, or is out of its range."""
    if type(submitted) is not asks:
        cure = f"return self.{asks.__name__}(...)"
        if type(submitted).__qualname__ == asks.__qualname__:
            cure = (
                f"import {asks.__qualname__} as the game is named, and anew if its file is edited"
            )
        raise BadPlan(f"{format_value(submitted)} is submitted; {cure}")
    return _held((agent, *submitted[1:]), event)


def _held(row: Row, event: EventType) -> Row:
    """The row. Raises BadPlan for one that its event cannot hold."""
    if not event.holds_all((row,)):
        raise BadPlan(event.fault(row) or "it cannot be stored")
    try:
        encode(row)
    except UnicodeEncodeError:
        text = f"{format_value(row[1:-2])} is submitted: {SURROGATE}"
        raise BadPlan(f"{text}; {NO_SURROGATE}") from None
    return row


def _default_agents(game: type[Game]) -> int:
    """The default number of agents: those that the game's roster counts, or else the default of
    the setting; 0 in a game in which nobody submits.
    """
    parts = parts_of(game.roster) if game.roster else []
    is_counted = any(part.count for part in parts)
    return sum(part.count or 1 for part in parts) if is_counted else game().agents


def treatments_of(game: type[Game]) -> Mapping[str, Treatment[Game]]:
    """The treatments of a game, the baseline first."""
    each: list[Treatment[Game]] = [Treatment(BASELINE, "the default configuration")]
    for name, given in game.treatments.items():
        description, settings = given if isinstance(given, tuple) else ("", given)
        each.append(Treatment(name, description, settings))
    return by_name(each)
