"""Seasons whose landscape is their seed, which is recorded: they count as runs of one kind."""

from pathlib import Path

import pytest

from goldrush.agents.worlds.competition.players import configured
from goldrush.replay.data.groups import groups
from goldrush.replay.study.carry_out import carry_out
from goldrush.replay.study.comparisons import identical_cells
from goldrush.replay.study.manifest import read_manifest
from goldrush.replay.study.plan import plan_of, studied
from goldrush.replay.study.records import Cell
from tests.journals import events_of
from tests.replay.study import made_up
from tests.seasons import fork, small

DEFAULT, TYPED = "nk[seeds=1]", "nk[seeds=1;landscape=7]"
BASELINE, OTHER = Cell("baseline", "scripted", 4), Cell("other", "scripted", 4)


# Loose journals


def recorded(folder: Path, arena: str, seed: int) -> Path:
    name = f"{seed}{'-typed' * (arena != DEFAULT)}.journal"
    return small(folder / name, arena=arena, seed=seed, assignments=1)


def test_a_typed_landscape_is_another_kind_than_one_by_the_seed(tmp_path: Path) -> None:
    typed = [recorded(tmp_path, TYPED, seed) for seed in (1, 2)]
    default = [recorded(tmp_path, DEFAULT, seed) for seed in (2, 7, 3)]

    assert [1, 1] == [group.runs for group in groups([typed[0], default[0]], 1)]
    assert [2, 3] == [group.runs for group in groups([*typed, *default], 1)]


def test_a_fork_with_another_seed_keeps_its_landscape_and_its_kind(tmp_path: Path) -> None:
    forks = []
    for seed in (1, 2):
        parent = small(tmp_path / f"{seed}.journal", seed=seed, assignments=2)
        forks.append(tmp_path / f"fork-{seed}.journal")
        state = fork(parent, 1, forks[-1], settings={"seed": 50})

        assert (50, seed) == (state.config.seed, state.arena.options["landscape"])
    [group] = groups(forks, 1)

    assert 2 == group.runs


# Studies


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ((DEFAULT, (1, 3)), (DEFAULT, (2,)), True),
        ((TYPED, (1, 3)), (TYPED, (2,)), True),
        ((DEFAULT, (2,)), (TYPED, (1,)), False),
        ((DEFAULT, (0, 1)), ("nk[seeds=1;landscape=0]", (0, 1)), False),  # of the same number
    ],
)
def test_cells_that_differ_in_seeds_alone_are_identical(
    one: tuple[str, tuple[int, ...]], other: tuple[str, tuple[int, ...]], same: bool
) -> None:
    cells = ((BASELINE, *one), (OTHER, *other))
    found = made_up.seasons(
        *(made_up.season(cell, seed, arena=arena) for cell, arena, seeds in cells for seed in seeds)
    )

    assert ({OTHER: BASELINE} if same else {}) == identical_cells(found)
    assert same == (found.settings(BASELINE) == found.settings(OTHER))


def test_where_the_arena_is_not_here_options_stay_as_they_are() -> None:
    of = studied("competition")
    config = configured({"arena": DEFAULT, "seed": 4}).as_dict()

    assert [("arena", "options", "landscape")] == list(of.studies.seeded(config))
    for change in ({"name": "elsewhere"}, {"version": 1}):
        assert () == of.studies.seeded({**config, "arena": {**config["arena"], **change}})


def test_a_manifest_is_read_with_the_landscapes_that_its_seeds_make(tmp_path: Path) -> None:
    plan = plan_of(
        world="competition", treatments=["baseline"], rosters=["scripted"], seeds=[3, 5],
        rounds=1, settings={"arena": DEFAULT},
    )  # fmt: skip
    carry_out(plan, tmp_path / "study")
    manifest = read_manifest(tmp_path / "study")

    assert [run.config for run in plan.outlines()] == [run.config for run in manifest.runs]
    for run in manifest.runs:
        [started, *_] = events_of(tmp_path / "study" / run.path)
        assert run.seed == started["config"]["arena"]["options"]["landscape"]
    assert [2] == [
        group.runs for group in groups([tmp_path / "study" / run.path for run in manifest.runs], 1)
    ]
