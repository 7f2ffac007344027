"""The world kit: the worlds keep to its laws, and one that is broken on purpose breaks each."""

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
from msgspec.structs import replace

from goldrush import testing
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import Draws
from goldrush.kernel.world import World
from goldrush.testing import LAWS, Trial, WorldLaws, _parts, broken, trial
from tests.cli.helpers import goldrush
from tests.plugins.installed import dist_info, with_parts

FISHERY = "goldrush.games.fishery:Fishery"
SMALL = {"seasons": 4}


class TestMining(WorldLaws):
    world = "mining"
    settings = {"rounds": 4, "rows": 3, "cols": 3, "agents": 4, "authority": "punish"}


class TestCompetition(WorldLaws):
    world = "competition"
    settings = {"assignments": 2, "arena": "nk[seeds=1]"}

    @pytest.mark.xfail(strict=True, reason="`tested` has the seeds that are drawn, not the words")
    def test_draws_are_recorded_in_events(self) -> None:
        self._keeps(testing.draws_are_recorded_in_events)


@pytest.fixture(autouse=True, scope="module")
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("installed")
    dist_info(
        folder,
        {
            "goldrush.worlds": {
                "counts": "tests.plugins.canaries:COUNTS",
                "hashes": "tests.plugins.canaries:HASHES",
                "sharks": "tests.plugins.canaries:SHARKS",
            }
        },
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        yield


@pytest.fixture(scope="module")
def run() -> Iterator[Trial]:
    with trial(FISHERY, SMALL) as found:
        yield found


# Every canary changes one function of the world: given the world, what it becomes.
Canary = Callable[[World[Any]], dict[str, Any]]


def deciding(rules: Callable[[World[Any], Any, Any], Any]) -> Canary:
    """Decides so, told the world."""
    return lambda world: {"decide": partial(rules, world)}


def _random(world: World[Any], state: Any, inputs: Any) -> Any:
    *others, (code, [(caught, _)]) = world.decide(state, inputs)
    return [*others, (code, [(caught, random.random())])]


def _counting(world: World[Any]) -> dict[str, Any]:
    calls: list[None] = []

    def uneven(state: Any, block: Any) -> Any:
        calls.append(None)
        state = world.evolve(state, block)
        state.stock += len(calls) % 4 == 0
        return state

    return {"evolve": uneven}


def _forgetting(world: World[Any]) -> dict[str, Any]:
    def thaw(frozen: Any, past: Any) -> Any:
        assert world.thaw is not None
        state = world.thaw(frozen, past)
        state.landed = [0.0] * 5
        return state

    return {"thaw": thaw}


def _changing(world: World[Any]) -> dict[str, Any]:
    def fork(state: Any, facts: Any, past: Any) -> Any:
        state.stock -= 1
        return state

    return {"fork": fork}


def _blind(world: World[Any]) -> dict[str, Any]:
    return {"digest": lambda state: hash((state.stock, state.unit)) & (1 << 64) - 1}


def _secret(world: World[Any], state: Any, inputs: Any) -> Any:
    Draws(state.config.seed, state.unit, "secret").word()
    return world.decide(state, inputs)


def _wordy(world: World[Any], state: Any, inputs: Any) -> Any:
    *others, (code, [(caught, stock)]) = world.decide(state, inputs)
    return [*others, (code, [(f"{caught}", stock)])]


def _strict(world: World[Any], state: Any, inputs: Any) -> Any:
    if any(row[1] == 0 for row in inputs.rows(0)):
        raise ValueError("nobody asks for nothing")
    return world.decide(state, inputs)


def _trusting(world: World[Any], state: Any, inputs: Any) -> Any:
    for agent, *_ in inputs.rows(0):
        state.landed[agent]  # without a look at whether it is an agent of the run
    return world.decide(state, inputs)


CANARIES: dict[str, Canary] = {
    "decide depends on state and inputs alone": deciding(_random),
    "folding in pieces gives the same": _counting,
    "a frozen state thaws unchanged": _forgetting,
    "a fork that changes nothing is the same run": _changing,
    "the digest covers every field": _blind,
    "draws are recorded in events": deciding(_secret),
    "events have fields of the declared kinds": deciding(_wordy),
    "decide accepts every legal input": deciding(_strict),
    "inputs of unknown agents are refused": deciding(_trusting),
}


@pytest.mark.parametrize("name", CANARIES)
def test_a_world_that_is_broken_on_purpose_breaks_the_law(name: str, run: Trial) -> None:
    canary = replace(run.world, **CANARIES[name](run.world))

    assert broken(LAWS[name], run) is None
    assert broken(LAWS[name], attrs.evolve(run, world=canary)) is not None


def test_a_world_that_changes_a_state_it_was_given_breaks_the_law(run: Trial) -> None:
    def decide(state: Any, inputs: Any) -> Any:
        derived = world.decide(state, inputs)
        state.stock += 1
        return derived

    world = run.world
    shared = replace(world, copy=lambda state: state)
    changing = replace(world, decide=decide)

    assert "`copy` shares" in (
        broken(LAWS["folding in pieces gives the same"], attrs.evolve(run, world=shared)) or ""
    )
    assert "`decide` changed the state" in (
        broken(LAWS["decide depends on state and inputs alone"], attrs.evolve(run, world=changing))
        or ""
    )


@pytest.mark.parametrize(
    ("world", "law", "says"),
    [
        ("counts", "a recorded run verifies", "level 4"),
        ("hashes", "any process writes the same bytes", "with PYTHONHASHSEED="),
        ("sharks", "a study plans what is played", "there is no policy 'shark'"),
    ],
)
def test_players_that_are_broken_on_purpose_break_the_law(world: str, law: str, says: str) -> None:
    with trial(world, SMALL) as run:
        assert says in (broken(LAWS[law], run) or "")


def test_damage_that_is_not_found_breaks_the_law(
    run: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    sound = testing.verify(run.path)
    monkeypatch.setattr(testing, "verify", lambda path, level: sound)

    assert "the journal holds" in (broken(LAWS["damage is found"], run) or "")


def test_studies_of_what_is_not_played_break_the_law(run: Trial) -> None:
    law, sound = LAWS["a study plans what is played"], run.tools.studies
    assert broken(law, run) is None
    for changed, says in (
        ({"seats": lambda *given: ["share"]}, "seats are ['share'], the measures"),
        ({"config": lambda given: sound.config({})}, "'seasons': 50, "),
        ({"compared": ["stock", "fish"]}, "there is no measure fish"),
    ):
        tools = with_parts(run.tools, studies=attrs.evolve(sound, **changed))

        assert says in (broken(law, attrs.evolve(run, tools=tools)) or "")
    seedy = with_parts(run.tools, players=with_parts(run.tools.players, horizon="seed"))
    assert "seed is 0" in (broken(law, attrs.evolve(run, tools=seedy)) or "")


def test_what_the_digest_leaves_out_is_named(run: Trial) -> None:
    def digest(state: Any) -> int:
        return fingerprint([state.stock, state.landed, state.unit, repr(state.roster)])

    canary = replace(run.world, digest=digest)
    says = broken(LAWS["the digest covers every field"], attrs.evolve(run, world=canary))

    assert "season 2: the digest does not cover frozen[0]['seed']" == says


def test_a_field_that_equality_leaves_out_is_no_part_of_a_state() -> None:
    @attrs.frozen
    class State:
        gold: int
        sums: int = attrs.field(default=0, eq=False)

    assert ["state.gold"] == [where for where, _, _ in _parts(State(1), "state")]


def test_every_law_has_a_canary() -> None:
    others = {
        "a recorded run verifies", "any process writes the same bytes", "damage is found",
        "a study plans what is played",
    }  # fmt: skip

    assert set(LAWS) == CANARIES.keys() | others


def test_the_command_ends_with_1_if_a_law_is_broken(tmp_path: Path) -> None:
    season = ("--set", "assignments=1", "--set", "arena=nk[seeds=1]")
    ran = goldrush("conform", "competition", *season, cwd=tmp_path)

    assert 1 == ran.code
    assert "draws are recorded in events: BREAKS" in ran.out


def test_the_command_tells_law_by_law(tmp_path: Path) -> None:
    (tmp_path / "mymod.py").write_text(
        "class Mine:\n    def plan(self, seen, draws):\n        return []\n"
    )
    small = ("--set", "rounds=2", "--set", "rows=2", "--set", "cols=2")
    ran = goldrush("conform", "mining", "--roster", "mymod:Mine*2", *small, cwd=tmp_path)

    assert 0 == ran.code
    assert [f"{name}: holds" for name in LAWS] == ran.out.splitlines()
