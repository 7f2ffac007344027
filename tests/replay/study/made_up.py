"""Results that nobody recorded: what the statistics, verdicts and comparisons are tried on."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import attrs

from goldrush.agents.worlds.competition.players import configured
from goldrush.agents.worlds.mining.roster import POLICY_SET
from goldrush.kernel.errors import BadInput
from goldrush.kernel.treatments import treated
from goldrush.kernel.worlds.mining.config import config_of
from goldrush.kernel.worlds.mining.treatments import TREATMENTS
from goldrush.replay.study.plan import studied
from goldrush.replay.study.records import Cell, Manifest, Result, cells_of, points_of
from goldrush.replay.study.results import Results
from goldrush.replay.worlds.competition.measures import MEASURES as SEASON_MEASURES
from goldrush.replay.worlds.competition.study import SeasonResult, SeasonResults
from goldrush.replay.worlds.mining import study
from goldrush.replay.worlds.mining.measures import MEASURES
from goldrush.replay.worlds.mining.study import (
    MiningKept,
    MiningResult,
    MiningResults,
)

Halves = tuple[float | None, float | None]

CRITERIA = {one.name: one.expected for one in study.CRITERIA.every}
EXPECTED = study.CRITERIA.expected
SAME: Halves = (1.0, 1.0)


def made(
    cell: Cell,
    seed: int = 0,
    *,
    halves: Mapping[str, Halves] | None = None,
    whole: Mapping[str, Halves] | None = None,
    run: Mapping[str, float | None] | None = None,
    speculated: bool = False,
    settings: Mapping[str, Any] | None = None,
    policies: Sequence[str] | None = None,
    **others: Any,
) -> MiningResult:
    """A run in which nothing changes from the first half to the second, but what is said.

    `whole`: halves without a burn-in, as with one if nothing else is said.
    """
    given = {**(settings or {}), "seed": seed, "rounds": cell.rounds}
    agents = given.pop("agents", TREATMENTS[cell.treatment].settings.get("agents", 10)
                       if cell.treatment in TREATMENTS else 10)  # fmt: skip
    if cell.treatment in TREATMENTS:
        config = treated(TREATMENTS[cell.treatment], {**given, "agents": agents}, config_of)
    else:
        config = config_of({**given, "agents": agents})
    if policies is None:
        policies = _policies(cell.roster, agents)
    names = [name for name in MEASURES if name != "half_life"]
    halves = dict.fromkeys(names, SAME) | dict(halves or {})
    return Result(
        cell=cell,
        seed=seed,
        path=f"{cell.treatment}/{cell.roster}/rounds-{cell.rounds}/seed-{seed:04d}.journal",
        config=config,
        units=cell.rounds,
        run=dict.fromkeys(MEASURES, 1.0) | dict(run or {}),
        halves=halves,
        halves_whole=halves | dict(whole or {}),
        windows=points_of(cell.rounds),
        curves=others.pop("curves", dict.fromkeys(MEASURES, ())),
        policies=policies,
        by_agent={"gold": others.pop("gold", (1.0,) * agents), "plots": (1,) * agents},
        kept=MiningKept(speculated, others.pop("lengths", {})),
        taken=others.pop("taken", ()),
    )


def _policies(roster: str, agents: int) -> list[str]:
    try:
        return [
            e.policy
            for e in POLICY_SET.parse(None if roster == "mixed" else roster, agents).entries
        ]
    except BadInput:
        return ["greedy-mine"] * agents


def results(*runs: MiningResult) -> MiningResults:
    """A study of these runs."""
    return results_in("mining", runs)


def seasons(*runs: SeasonResult) -> SeasonResults:
    """A study of these seasons."""
    return results_in("competition", runs)


def results_in(world: str, runs: Iterable[Result[Any, Any]]) -> Results[Any, Any]:
    """A study of runs of a world."""
    return Results("study", studied(world), Manifest(world, {}, [], 2), cells_of(runs))


@cache
def _season_config(arena: str, rounds: int, seed: int) -> Any:
    return configured({"arena": arena, "assignments": rounds, "seed": seed})


def season(
    cell: Cell,
    seed: int = 0,
    *,
    run: Mapping[str, float | None] | None = None,
    ranks: Mapping[int, tuple[float, float]] | None = None,
    totals: Sequence[float | None] = (),
    policies: Sequence[str] = (),
    arena: str = "nk",
) -> SeasonResult:
    """A season of these figures."""
    names = [name for name, one in SEASON_MEASURES.items() if one.by_half]
    config = _season_config(arena, cell.rounds, seed)
    is_eliminating = not cell.treatment.startswith("no-elimination")
    return Result(
        cell=cell,
        seed=seed,
        path="",
        config=attrs.evolve(config, elimination=is_eliminating),
        units=cell.rounds,
        run=dict.fromkeys(SEASON_MEASURES, 0.5) | dict(run or {}),
        halves=dict.fromkeys(names, (None, None)),
        halves_whole=dict.fromkeys(names, (0.5, 0.5)),
        curves={},
        windows=(),
        policies=policies or [cell.roster] * 6,
        by_agent={"score": totals or [None] * len(policies or [None] * 6)},
        kept=ranks or {},
    )
