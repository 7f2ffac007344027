"""The tools of a world: what it names is there, and is called as the defaults are."""

import inspect
from types import FunctionType

import pytest

from goldrush.replay.find import NAMES, tools_for
from goldrush.replay.tools import Lazy, Tools

LAZY = [
    (world, name)
    for world in NAMES
    for kind in type(tools_for(world)).__mro__
    for name, part in vars(kind).items()
    if isinstance(part, Lazy)
]


@pytest.mark.parametrize(("world", "name"), LAZY)
def test_a_lazy_part_is_there_and_is_called_as_the_default_that_it_replaces(
    world: str, name: str
) -> None:
    part = getattr(tools_for(world), name)
    default = getattr(Tools, name, None)

    assert hasattr(Tools, name) or name.startswith("_")
    if isinstance(default, FunctionType):
        _, *parameters = inspect.signature(default).parameters.values()
        by_name = {p.name: p for p in parameters if p.kind is p.KEYWORD_ONLY}
        by_place = [p for p in parameters if p.name not in by_name]
        inspect.signature(part).bind(*by_place, **by_name)
