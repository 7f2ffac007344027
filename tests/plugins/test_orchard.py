"""An arena in a package of its own: rules and bench are found by its name; nothing is edited."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldrush.agents.plugins import ARENAS, BENCHES
from goldrush.agents.worlds.competition.arenas import (
    arena_record,
    opened_tests,
    rules_of,
)
from goldrush.kernel.draws import Draws
from tests.cli.helpers import ROOT, goldrush
from tests.plugins.installed import dist_info

SOURCE = ROOT / "tests" / "plugins" / "orchard"
POINTS = {
    ARENAS: {"orchard": "goldrush_orchard.rules:ARENA"},
    BENCHES: {"orchard": "goldrush_orchard.bench:BENCH"},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where plugins are installed."""
    monkeypatch.syspath_prepend(SOURCE)
    monkeypatch.syspath_prepend(tmp_path / "installed")
    yield tmp_path / "installed"
    for name in [name for name in sys.modules if name.startswith("goldrush_orchard")]:
        del sys.modules[name]


def test_the_arena_of_a_distribution_judges_and_tests(folder: Path) -> None:
    dist_info(folder, POINTS, "orchard")
    arena = arena_record("orchard[hectares=2]", 10)
    rules = rules_of(arena)
    with opened_tests(arena) as tests:
        bar = rules.bar(arena.subjects[0])
        value, runs = tests.value(bar, "clay", "harvest", (1, 2, 3))
        more, _ = tests.value((2, 30), "clay", "harvest", (1, 2, 3))
        assert (4, 10) == tests.bench.read({"distance": 4, "water": 10}, "clay")
        near = {tests.bench.vary(bar, "clay", Draws(k)) for k in range(200)}

    assert ("orchard", 1, {"seeds": 3, "hectares": 2}) == (arena.name, arena.version, arena.options)
    assert [("harvest", "clay"), ("harvest", "sand"), ("cost", "clay"), ("cost", "sand")] == [
        subject.key for subject in arena.subjects
    ]
    assert arena.subjects[0].beats(more, value)
    assert [1, 2, 3] == [seed for seed, _ in runs]
    assert {(d, 10) for d in range(2, 10)} | {(4, w) for w in (0, 20, 30)} == near | {bar}


def test_arenas_are_listed_and_one_that_cannot_be_used_hides_no_other(
    folder: Path, tmp_path: Path
) -> None:
    dist_info(folder, POINTS, "orchard", "0.1.0")
    dist_info(folder, {ARENAS: {"grove": "no_such:ARENA"}}, "other")
    env = {"PYTHONPATH": f"{folder}:{SOURCE}:{ROOT}"}
    listed = goldrush("arenas", "--json", cwd=tmp_path, **env)

    assert 1 == listed.code
    assert "plugin grove cannot be used: ModuleNotFoundError" in listed.err
    *own, orchard = json.loads(listed.out)
    assert ["mining", "nk", "command"] == [one["arena"] for one in own]
    assert ("orchard", ["seeds", "hectares"]) == (
        orchard["arena"], [option["option"] for option in orchard["options"]],
    )  # fmt: skip
