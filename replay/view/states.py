"""The states of a run, for the page of a world without a view of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from goldrush.kernel import fold
from goldrush.kernel.journal import FORK, START, UNIT, JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import World
from goldrush.replay.data.sampling import Sampling
from goldrush.replay.find import open_world, tools_of
from goldrush.replay.journal.declared import declared_by, labels_of
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import Rebuilt
from goldrush.replay.tools import Tools
from goldrush.replay.view.fields import Field, Row, charts

STATES_MAX: Final = 1 << 22  # characters of JSON for the states of a page
SERIES_MAX: Final = 1 << 15  # numbers in its charts of states
ITEMS_MAX: Final = 10_000  # items of a list in a state
SIDE_MAX: Final = 100  # rows and columns of a grid
EXACT_MAX: Final = (1 << 53) - 1  # larger numbers are text: a page's numbers are doubles


@reader_of
def states(path: str | Path, first: int, last: int) -> dict[str, Any]:
    """The states after the units `first` to `last`, as many as the limits hold, at equal distances.

    Returns:
        `states`: `[unit, state, scores]` of one unit in `every`: the world's view of the state as
            JSON, else the frozen state; scores are null where agents earn nothing. Empty for a
            world that shows no state.
        `fields`: `Field.as_dict` with its name, for states with named fields.
        `charts`: as `fields.charts`, with values of one unit in `spacing`.
        `draws`, `step_ends`: events of the world (`Tools.states`).

    Raises BadInput for a score that fails; JournalError as reading a journal does.
    """
    kept: Sampling[Sequence[Any]] = Sampling(STATES_MAX, first)
    series: Sampling[Mapping[str, Row]] = Sampling(SERIES_MAX, first)
    fields: dict[str, Field] = {}
    policies: Sequence[str] = ()
    declared = None
    with JournalReader(path) as reader:
        tools = tools_of(reader)
        world = open_world(reader, tools.world)
        for commit, state in Walk(world, reader):
            number = world.vocabulary.number(commit.unit)
            if commit.kind in (START, FORK):
                event = fold.setup_event(world, reader, commit)
                declared = declared_by(world, tools.players.prompts, declared, event)
                policies = labels_of(declared.players, declared.prompts)
            if commit.kind != UNIT or commit.digest is None or number < first:
                continue
            if kept.wants(number) or series.wants(number):
                rebuilt = Rebuilt(
                    reader.path, reader.header, number, state, (), commit.digest, world.vocabulary
                )
                shown = _shown(tools, world, rebuilt)
                if shown is None:
                    break
                row: dict[str, Row] = {}
                for name, value in shown.items() if isinstance(shown, dict) else ():
                    field = fields.setdefault(name, Field())
                    if not field.is_tree:
                        row[name] = field.add(_plain(value), policies)
                    if name in tools.states.identifiers:
                        row[name] = ()
                scores = tools.states.scores(state)
                if kept.wants(number):
                    content = (_cut(shown, fields), scores[:ITEMS_MAX] if scores else None)
                    kept.add(number, content, len(json.dumps(content)))
                if series.wants(number):
                    series.add(number, row, sum(map(len, row.values())))
            if number == last:
                break  # damage after it does not matter
    measures = {name for name, measure in tools.measures.known.items() if measure.by_unit}
    return {
        "states": [(number, *content) for number, content in kept.items()],
        "every": kept.every,
        "fields": [{"name": name, **field.as_dict()} for name, field in fields.items()],
        "charts": list(charts(fields, [row for _, row in series.items()], measures)),
        "spacing": series.every,
        "draws": tools.states.draws,
        "step_ends": tools.states.step_ends,
    }


def _shown(tools: Tools, world: World[Any], rebuilt: Rebuilt) -> Any:
    """A state, by field if the world names its fields; None: it shows none."""
    shown = tools.fields(rebuilt)
    if shown is None and world.freeze is not None:
        return world.freeze(rebuilt.state)
    return shown


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if type(value) is int and abs(value) > EXACT_MAX:
        return str(value)
    return value


def _cut(state: Any, fields: Mapping[str, Field]) -> Any:
    """A state whose lists have at most ITEMS_MAX items, grids of more SIDE_MAX rows and columns."""
    if not isinstance(state, dict):
        return _plain(state)
    return {
        name: _plain(value if fields[name].is_tree else _cut_list(value))
        for name, value in state.items()
    }


def _cut_list(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    are_rows = all(isinstance(row, (list, tuple)) for row in value)
    if are_rows and sum(map(len, value)) > ITEMS_MAX:
        return [row[:SIDE_MAX] for row in value[:SIDE_MAX]]
    return value[:ITEMS_MAX]
