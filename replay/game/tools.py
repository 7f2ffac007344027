"""The tools of a `Game`: what its class declares, as commands need it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from inspect import isfunction
from os.path import basename
from typing import TYPE_CHECKING, Any, Final, cast

from goldrush.agents.game.play import players_of_game
from goldrush.agents.llm.versions import PromptVersion
from goldrush.kernel.errors import BadInput, GoldrushError, format_error, format_value
from goldrush.kernel.files import folder_kept
from goldrush.kernel.game.draw import DRAWN
from goldrush.kernel.game.game import DeclaredMeasure, Game, doc_of
from goldrush.kernel.game.hints import Agent
from goldrush.kernel.game.records import State
from goldrush.kernel.game.watch import is_watched, unchanged, watched
from goldrush.kernel.game.world import compiled
from goldrush.kernel.measures import Value
from goldrush.kernel.world import World
from goldrush.replay.data.measures import (
    AgentMeasure,
    Measures,
    by_unit,
    declared_measure,
    named,
)
from goldrush.replay.data.user_measures import is_finite
from goldrush.replay.journal.declared import labels_of
from goldrush.replay.simultaneous import SimultaneousTools
from goldrush.replay.studies import MIXED, Criteria, Criterion, Studies
from goldrush.replay.tools import ClosedUnit, Description, View, lazy

if TYPE_CHECKING:
    from goldrush.replay.journal.tie_break import DrawAudits


class GameTools(SimultaneousTools):
    """The tools of a game."""

    _draws = lazy("goldrush.replay.game.draws:draws_of")

    def __init__(self, game: type[Game]) -> None:
        super().__init__(players_of_game(game), game)  # type: ignore[arg-type]
        self.compiled = compiled(game)
        self.measures = _measures(game, self.players.world, self.players.prompt)
        self.view = View(
            identifiers=[name for name, field in game.State.types.items() if field.has(Agent)],
            groups={"Draws": (DRAWN.name,)},
            folded=("Draws",),
            step_ends=self.compiled.types[-1].name if self.compiled.has_steps else "",
        )
        policies = self.players.policy_set
        self.studies = Studies(
            title=doc_of(game).partition("\n")[0],
            config=game.configured,
            seats=policies.names_by_agent if game.submissions else lambda roster, agents: [],
            baselines=(*game.policies, MIXED),
            null=game.null,
            policies=list(game.policies),
            criteria=Criteria(
                [Criterion(name, *given) for name, given in game.criteria.items()],
                [len(policies.names_by_agent(None, None))] if game.criteria else (),
            ),
            size="agents" if game.submissions else "",
        )

    def about(self, setup: Mapping[str, object]) -> Description:
        return Description(" ".join(doc_of(self.compiled.game).partition("\n\n")[0].split()))

    def checks(self, state: object) -> Sequence[str]:
        game = self.compiled.game
        try:
            for measure in game.measures.values():
                _measured(measure, state)
            _by_agent(state)
        except BadInput as error:
            # It need not be defined before the first unit.
            if cast(State, state).unit or error.instead != _CURE:
                raise
        return [
            f"{game.__name__}.{event.__name__} has no apply, so it changes nothing; write "
            "def apply(self, state), or apply = None if that is meant"
            for event in game.events
            if not event.declares_apply()
        ]

    @property
    def draws(self) -> DrawAudits[State]:  # type: ignore[override]  # the game's own
        draws: DrawAudits[State] = self._draws(self.compiled)
        return draws

    def fields(self, unit: ClosedUnit) -> Mapping[str, object]:
        return {name: getattr(unit.state, name) for name in unit.state.types}


_SCORE: Final = AgentMeasure(
    "score", "score", "What an agent has earned at the end of the run.", "a score of {}"
)


def _measures(game: type[Game], world: World[State], prompt: PromptVersion | None) -> Measures:
    known = named(*(declared_measure(of, partial(_measured, of)) for of in game.measures.values()))
    of_agents = named(_SCORE) if _has_scores(game) else {}
    read = by_unit(
        world, known,
        config=lambda state: state.config,
        roster=lambda state: labels_of(state.roster, prompt),
        by_agent=_by_agent,
    )  # fmt: skip
    return Measures(known, folder_kept()(read), of_agents=of_agents, agents_at=_by_agent)


def _has_scores(game: type[Game]) -> bool:
    """Whether a game says what an agent has earned; a measure may have the name of that rule."""
    return game.score is not Game.score and isfunction(game.score)


def _by_agent(state: Any) -> Mapping[str, Sequence[Value]]:
    game: type[Game] = type(state.config)
    if not _has_scores(game):
        return {}
    agents = ((agent,) for agent in state.agents)
    return {_SCORE.name: _values("score", game.score, state, *agents)}


def _values(
    what: str, rule: Callable[..., Value], state: Any, *arguments: tuple[int, ...]
) -> list[Value]:
    """What a rule gives of a state and each of these arguments. Raises BadInput for no numbers."""
    code = rule.__code__
    line = f"{code.co_qualname}, {basename(code.co_filename)}:{code.co_firstlineno}"
    game: type[Game] = type(state.config)
    where = f"{what} failed after {compiled(game).vocabulary.format_unit(state.unit)}"
    is_first = is_watched(state, ago=1)
    try:
        with (watched if is_first else unchanged)(f"{line}: {what}", state):
            values = [rule(state.config, state, *given) for given in arguments]
        invalid = [value for value in values if value is not None and not is_finite(value)]
    except (GoldrushError, KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # also `sys.exit()`
        raise BadInput(f"{where}: {format_error(error)}", _CURE) from error
    if invalid:
        raise BadInput(f"{where}: {line}: it gives {format_value(invalid[0])}", _CURE)
    return values


def _measured(measure: DeclaredMeasure, state: Any) -> Value:
    return _values(f"measure {measure.name}", measure.of, state, ())[0]


_CURE: Final = "it must give a finite number or None; the journal is whole"


@cache
def tools_of_game(game: type[Game]) -> GameTools:
    """The tools of a game, made when they are first asked for."""
    return GameTools(game)
