"""Games: what a world written as a class costs, against the same world by hand and others.

The fishery of goldrush.games, one by one and in column form, is held against `commons_by_hand`
(the same rules on the kernel's records) and Mesa with its DataCollector. All have the same rules
and policies; without a shock, which each draws in its own way, all end with the same stock and
landings.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial
from math import isclose
from pathlib import Path
from typing import Any, Final

from goldrush.agents import players
from goldrush.agents.players import Resources
from goldrush.games.fishery import Fishery
from goldrush.kernel.game.game import policy
from goldrush.replay.find import world_named
from goldrush.replay.game.tools import tools_of_game
from goldrush.replay.journal.verify import verify
from goldrush.replay.tools import Tools
from tests.plugins.installed import dist_info

from . import commons_by_hand, fishery_mesa, published
from .timing import Row, in_process, row

SEED: Final = 7
SEASONS: Final = 200
SHOCK: Final = 0.1
CAPACITY: Final = 200  # for each agent
PART: Final = 0.2  # of the greedy: with more, no fish are left after a few seasons
SIZES: Final = {10: 15, 100: 7, 1_000: 3}  # agents: pairs of measurements


class FisheryInColumns(Fishery):
    """The fishery, whose landings of a season are one column of events, applied at once, and whose
    policies are asked together.
    """

    class Landed(Fishery.Landed):
        apply = None

        @staticmethod
        def apply_all(state, agents, fish):  # type: ignore[no-untyped-def]
            for agent, landed in zip(agents, fish, strict=True):
                state.landed[agent] += landed

    def decide(self, state, asked, draw):  # type: ignore[no-untyped-def]  # as games are written
        wanted = sum(one.fish for one in asked)
        share = min(1.0, state.stock / wanted) if wanted else 0.0
        asking = [one for one in asked if one.fish]
        yield self.Landed.all([one.agent for one in asking], [one.fish * share for one in asking])
        left = max(0.0, state.stock - wanted * share)
        shock = draw.between(1 - self.shock, 1 + self.shock, "shock")
        grown = (left + self.growth * left * (1 - left / self.capacity)) * shock
        yield self.Regrown(wanted * share, max(0.0, grown))

    @policy(together=True)
    def share(self, seen, agents, draw, part=0.8):  # type: ignore[no-untyped-def]
        fish = int(part * self.growth * self.capacity / 4 / self.agents)
        return [self.Asked(fish)] * len(agents)

    @policy(together=True)
    def greedy(self, seen, agents, draw, part=0.5):  # type: ignore[no-untyped-def]
        return [self.Asked(int(seen.stock / self.agents * part))] * len(agents)


GAME, COLUMNS = tools_of_game(Fishery), tools_of_game(FisheryInColumns)
BY_HAND = commons_by_hand.TOOLS
# By name: the world, and for each number of agents the targets of recording and of verify against
# by hand, and of recording against Mesa.
OURS: Final[dict[str, tuple[Tools, dict[int, tuple[str, str, str]]]]] = {
    "one by one": (GAME, {10: ("<= 1.45", "<= 1.3", "<= 2.7"), 100: ("<= 1.5", "<= 2", "<= 2")}),
    "column form": (COLUMNS, {1_000: ("<= 1.2", "", "<= 1.3")}),
}


def rows(folder: Path) -> Iterator[Row]:
    """The rows of the table, each measured when it is asked for."""
    _install(folder)
    for agents, repeats in SIZES.items():
        _check_peers(folder, agents)
        yield (f"{agents:,} agents, {SEASONS} seasons", "", "", "", "")
        yield from _size(folder, agents, repeats)
    yield from published.rows(folder)


def _install(folder: Path) -> None:
    """Let `verify` find the worlds."""
    for game in (Fishery, FisheryInColumns):
        world_named(game)
    points = {"goldrush.worlds": {BY_HAND.name: f"{commons_by_hand.__name__}:TOOLS"}}
    dist_info(folder / "installed", points)
    sys.path.append(str(folder / "installed"))


def _size(folder: Path, agents: int, repeats: int) -> Iterator[Row]:
    by_hand = folder / "by-hand.journal"
    for name, (tools, targets) in OURS.items():
        path = folder / f"{tools.name}.journal"
        to_record, to_verify, to_mesa = targets.get(agents, ("", "", ""))
        recording = _recording(tools, path, agents)
        pairs = in_process(recording, _recording(BY_HAND, by_hand, agents), repeats)
        yield row(f"record, {name}", "by hand", pairs, to_record)
        for level in (3, 4):
            pairs = in_process(_holding(path, level), _holding(by_hand, level), repeats)
            yield row(f"verify level {level}, {name}", "by hand", pairs, to_verify)
        mesa = in_process(recording, partial(_mesa, agents, SHOCK), repeats)
        yield row(f"record, {name}", "Mesa with DataCollector", mesa, to_mesa)


def _recording(tools: Tools, path: Path, agents: int, shock: float = SHOCK) -> Callable[[], Any]:
    settings = {"seed": SEED, "seasons": SEASONS, "capacity": CAPACITY * agents, "shock": shock}
    share, greedy = _shared(agents)
    roster = f"share*{share},greedy[part={PART}]*{greedy}"

    def recording() -> Any:
        path.unlink(missing_ok=True)  # to replace a journal waits for the disk besides
        run = tools.players.prepare(settings, roster, None, Resources())
        return players.record(tools.world(run.setup), tools.players, path, run)

    return recording


def _holding(path: Path, level: int) -> Callable[[], None]:
    def holding() -> None:
        if not verify(path, level).holds:
            raise SystemExit(f"{path.name} does not hold")

    return holding


def _shared(agents: int) -> tuple[int, int]:
    """The number of agents with either policy."""
    return agents * 3 // 5, agents * 2 // 5


def _check_peers(folder: Path, agents: int) -> None:
    """All have the same rules, or the comparison is worth nothing."""
    outcomes = [_mesa(agents, 0)]
    for tools in (GAME, COLUMNS, BY_HAND):
        state = _recording(tools, folder / "checked.journal", agents, shock=0)()
        outcomes.append((state.stock, list(state.landed)))
    first, *others = outcomes
    for stock, landed in others:
        if not isclose(stock, first[0]) or not all(map(isclose, landed, first[1])):
            raise SystemExit("the peers do not agree on the outcome of a run")


def _mesa(agents: int, shock: float) -> tuple[float, list[float]]:
    return fishery_mesa.run(*_shared(agents), PART, CAPACITY * agents, shock, SEASONS)
