"""Which module does something for a journal's world.

What only some worlds have (a map, tie-breaks on plots, prompts) stands in modules of theirs.
Whoever needs one keeps a table of module names by the name of the world; a world joins by a line in
it. A module is imported when a journal asks for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from kernel.errors import BadInput, JournalError
from kernel.journal import JournalReader
from kernel.world import World
from kernel.worlds import world_of


def world_in(path: str | Path) -> World[Any]:
    """The world of a journal. Raises what reading one raises."""
    with JournalReader(path) as reader:
        return world_of(reader)


def module_for(path: str | Path, modules: Mapping[str, str], what: str) -> Any:
    """The module that does `what` (a command's name) with a journal: that of its world.

    Raises BadInput for a journal of another world than those in the table. Of a file that cannot
    be read it is the first one, which will say why.
    """
    try:
        name = world_in(path).name
    except (BadInput, JournalError):
        name = next(iter(modules))
    if name not in modules:
        raise BadInput(
            f"{path} is a run of the {name} world",
            f"give {what} one of {' or '.join(modules)}",
        )
    return import_module(modules[name])
