"""The tools of a `Game`: what its class declares, as commands need it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite
from numbers import Real
from os.path import basename, relpath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from weakref import WeakKeyDictionary

from goldrush.agents.game.play import stage_game
from goldrush.agents.given import location_of
from goldrush.agents.seats import policy_label
from goldrush.kernel.errors import BadInput, GoldrushError, format_error, format_value
from goldrush.kernel.game.draw import USES
from goldrush.kernel.game.game import DeclaredMeasure, Game, doc_of
from goldrush.kernel.game.watch import is_watched_unit, unchanged, watched
from goldrush.kernel.game.world import compiled, world_of
from goldrush.kernel.measures import Value
from goldrush.kernel.text import escaped, quoted
from goldrush.replay.data.measures import NO_MEASURES, Measure, Measured, Measures, by_unit, named
from goldrush.replay.data.run_data import measured_at
from goldrush.replay.games import GameTools
from goldrush.replay.studies import MIXED, Criteria, Criterion, Studies
from goldrush.replay.text import Paint, format_table
from goldrush.replay.tools import ClosedUnit, HasDict, lazy

if TYPE_CHECKING:
    from goldrush.replay.journal.tie_break import TieBreak


class OneClassTools(GameTools):
    """The tools of a game."""

    draw_kinds = USES
    _draws = lazy("goldrush.replay.game.draws:draws_of_game")

    def __init__(self, game: type[Game]) -> None:
        super().__init__(stage_game(game), game)  # type: ignore[arg-type]
        self.compiled = compiled(game)
        known = named(*(_measure(game, measured) for measured in game.measures.values()))
        self.measures = Measures(known, by_unit(
            world_of(game), known,
            config=lambda state: state.config,
            roster=lambda state: [policy_label(entry) for entry in state.roster],
        )) if known else NO_MEASURES  # fmt: skip
        self.remarks = [
            f"{game.__name__}.{event.__name__} has no apply, so it changes nothing; write "
            "def apply(self, state), or apply = None if that is meant"
            for event in game.events
            if not event.declares_apply()
        ]
        policies = self.game.policy_set
        self.studies = Studies(
            title=doc_of(game).partition("\n")[0],
            config=game.configured,
            seats=policies.names_by_agent if game.submissions else lambda roster, agents: [],
            baselines=(*game.policies, MIXED),
            criteria=Criteria(
                [Criterion(name, *given) for name, given in game.criteria.items()],
                game.null,
                [len(policies.names_by_agent(None, None))] if game.criteria else (),
            ),
            size="agents" if game.submissions else "",
        )

    def summary(self, path: str | Path) -> HasDict:
        return measured_at(path) if self.measures.known else super().summary(path)

    def format_summary(self, summary: HasDict) -> str:
        """The run on one line, and its measures: over the run, and in its last unit."""
        if not self.measures.known:
            return super().format_summary(summary)
        run = cast(Measured[Any], summary)
        rows = [("measure", "run", f"last {self.vocabulary.unit}")]
        for name, each in run.known.items():
            last = run.values[name][-1] if run.units else None
            rows.append((each.title, _number(run.of(name)), _number(last)))
        return f"{self.measures.head(run)}\n\n{format_table(rows, numbers=(1, 2))}"

    def world_option(self, folder: str | Path = "") -> str:
        location = location_of(self.name)
        file, colon, name = location.partition(":")
        if folder and file.endswith(".py"):
            location = f"{relpath(file, folder)}{colon}{name}"
        return f" --world {quoted(location)}" if location else ""

    @contextmanager
    def watching(self) -> Iterator[None]:
        self.compiled.checks_all = True
        try:
            yield
        finally:
            self.compiled.checks_all = False

    def draws(self, path: str | Path) -> Iterator[TieBreak]:
        found: Iterator[TieBreak] = self._draws(path, self.compiled)
        return found

    def unit_as_dict(self, unit: ClosedUnit) -> Mapping[str, object]:
        state = unit.state
        return {
            unit.vocabulary.unit: unit.round,
            **{name: getattr(state, name) for name in state.types},
        }

    def format_unit(self, unit: ClosedUnit, paint: Paint) -> str:
        """The state as a table: what has a value for each agent by agent, the rest in one line."""
        state, vocabulary = unit.state, unit.vocabulary
        agents = len(state.roster)
        by_agent = {
            name: getattr(state, name)
            for name in state.types
            if isinstance(getattr(state, name), list) and len(getattr(state, name)) == agents
        }
        others = [
            f"{name} {_shown(getattr(state, name))}" for name in state.types if name not in by_agent
        ]
        head = ", ".join([f"{vocabulary.unit} {unit.round}", *others])
        if not by_agent:
            return head
        rows = [("agent", "policy", *by_agent)]
        for entry in state.roster:
            agent = entry["agent"]
            values = (_shown(values[agent]) for values in by_agent.values())
            rows.append((paint(str(agent), agent), policy_label(entry), *values))
        return f"{head}\n\n{format_table(rows, numbers=tuple(range(2, 2 + len(by_agent))))}"


def _number(value: Value) -> str:
    return "-" if value is None else f"{value:,.4f}"


def _shown(value: object) -> str:
    return f"{value:,.10g}" if type(value) is float else escaped(str(value))


def _measure(game: type[Game], measured: DeclaredMeasure) -> Measure:
    unit = compiled(game).vocabulary.format_unit
    code = measured.of.__code__
    line = f"{code.co_qualname}, {basename(code.co_filename)}:{code.co_firstlineno}"

    def of(state: Any) -> Value:
        where = f"measure {measured.name} failed after {unit(state.unit)}"
        is_first = is_watched_unit(state.unit - 1, state.config.agents)
        try:
            with (watched if is_first else unchanged)(f"{line}: measure {measured.name}", state):
                value = measured.of(state.config, state)
            valid = value is None or (isinstance(value, Real) and isfinite(value))
        except GoldrushError:
            raise
        except Exception as error:
            raise BadInput(f"{where}: {format_error(error)}", _CURE) from error
        if not valid:
            raise BadInput(f"{where}: {line}: it gives {format_value(value)}", _CURE)
        return value

    title, definition = escaped(measured.title), escaped(measured.definition, keep="\n")
    return Measure(measured.name, title, definition, of, at_end=measured.at_end)


_CURE: Final = "it must give a finite number or None; the journal is whole"


def tools_of_game(game: type[Game]) -> OneClassTools:
    """The tools of a game, made when they are first asked for."""
    if game not in _TOOLS:
        _TOOLS[game] = OneClassTools(game)
    return _TOOLS[game]


_TOOLS: Final[WeakKeyDictionary[type[Game], OneClassTools]] = WeakKeyDictionary()
