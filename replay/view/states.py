"""States of a run as plain values, for the page of a world without a view of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from goldrush.kernel.journal import UNIT, JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import World
from goldrush.replay.find import open_world, toolkit_of
from goldrush.replay.journal.forged import reader_of
from goldrush.replay.journal.rebuild import Rebuilt
from goldrush.replay.toolkit import Toolkit

STATES_MAX: Final = 1 << 18  # characters of JSON for the states of a page
EXACT_MAX: Final = (1 << 53) - 1  # larger numbers are text: a page's numbers are doubles


@reader_of
def states(path: str | Path, first: int, last: int) -> dict[str, Any]:
    """States of a run, as many as STATES_MAX characters hold, at equal distances.

    Args:
        path: the journal.
        first: the public number of the first unit.
        last: that of the last unit.

    Returns:
        `{"states": [[unit, state], ...]}`: a state is the world's view of it as JSON, else its
        frozen
        state; empty for a world with neither.

    Raises:
        JournalError: as reading a journal does.

    """
    found: list[tuple[int, Any]] = []
    every, size = 1, 0
    with JournalReader(path) as reader:
        toolkit = toolkit_of(reader)
        world = open_world(reader, toolkit)
        for commit, state in Walk(world, reader):
            number = world.vocabulary.number(commit.unit)
            if commit.kind != UNIT or commit.digest is None or number < first:
                continue
            if (number - first) % every == 0:
                rebuilt = Rebuilt(
                    reader.path, reader.header, number, state, (), commit.digest, world.vocabulary
                )
                shown = _shown(toolkit, world, rebuilt)
                if shown is None:
                    return {"states": []}
                found.append((number, shown))
                size += len(json.dumps(shown))
            while size > STATES_MAX and len(found) > 1:
                every *= 2
                found = [each for each in found if (each[0] - first) % every == 0]
                size = sum(len(json.dumps(each)) for _, each in found)
            if number == last:
                break  # damage after it does not matter
    return {"states": found}


def _shown(toolkit: Toolkit, world: World[Any], rebuilt: Rebuilt) -> Any:
    if toolkit.unit is not None:
        shown = dict(toolkit.unit.as_dict(rebuilt))
        shown.pop("journal", None)  # a page holds no path
        return _plain(shown)
    return None if world.freeze is None else _plain(world.freeze(rebuilt.state))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if type(value) is int and abs(value) > EXACT_MAX:
        return str(value)
    return value
