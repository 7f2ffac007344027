"""Worlds of tests, found by their names as installed ones are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from goldrush.agents.players import NOBODY, Players, PolicyCheck, Resources
from goldrush.kernel.run import Ask, rest_of
from goldrush.kernel.world import Batch, Block, World
from goldrush.replay import find
from goldrush.replay.tools import Tools


class FoundTools(Tools):
    """The tools of a world of tests, whose players `ask` stands for."""

    def __init__(self, world: World[Any], ask: Ask[Any] | None = None) -> None:
        self._world = world
        self.players = NOBODY if ask is None else _Asked(world, ask)

    def world(self, setup: Mapping[str, Any]) -> World[Any]:
        return self._world


class _Asked(Players[Any]):
    def __init__(self, world: World[Any], ask: Ask[Any]) -> None:
        self._world, self._ask = world, ask

    def policy_check(self, resources: Resources) -> Callable[..., PolicyCheck]:
        return lambda state, forks: PolicyCheck(self._again)

    def _again(self, state: Any, recorded: Block) -> Sequence[Batch]:
        pieces: list[Block] = []
        rest = rest_of(self._ask(state), lambda batches: pieces.append(Block(batches)))
        if not pieces:
            return rest
        return self._world.arrange(Block.joined([*pieces, Block(rest)])).batches


@contextmanager
def found(world: World[Any], ask: Ask[Any] | None = None) -> Iterator[None]:
    """Within it, journals with the name of this world are found to be of it. `ask`: gives the
    submissions of all players for a state, when `verify` asks again.
    """
    tools, others = FoundTools(world, ask), find._installed_tools
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            find, "_installed_tools", lambda name: tools if name == world.name else others(name)
        )
        yield
