"""The world kit: the worlds keep to its laws, and one that is broken on purpose breaks each."""

import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush import testing
from goldrush.kernel.codec import fingerprint
from goldrush.kernel.draws import Draws
from goldrush.kernel.errors import BadInput
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.world import World
from goldrush.replay.data.measures import Measured
from goldrush.replay.studies import Studies
from goldrush.testing import LAWS, Trial, WorldLaws, broken, trial
from tests.cli.helpers import assert_refused, goldrush
from tests.games.fisheries import changed
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
                "notes": "tests.plugins.canaries:NOTES",
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


def _random(world: World[Any]) -> dict[str, Any]:
    def decide(state: Any, inputs: Any) -> Any:
        *others, (code, [(caught, _)]) = world.decide(state, inputs)
        return [*others, (code, [(caught, random.random())])]

    return {"decide": decide}


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


def _secret(world: World[Any]) -> dict[str, Any]:
    def decide(state: Any, inputs: Any) -> Any:
        Draws(state.config.seed, state.unit, "secret").word()
        return world.decide(state, inputs)

    return {"decide": decide}


def _wordy(world: World[Any]) -> dict[str, Any]:
    def decide(state: Any, inputs: Any) -> Any:
        *others, (code, [(caught, stock)]) = world.decide(state, inputs)
        return [*others, (code, [(f"{caught}", stock)])]

    return {"decide": decide}


def _strict(world: World[Any]) -> dict[str, Any]:
    def decide(state: Any, inputs: Any) -> Any:
        if any(row[1] == 0 for row in inputs.rows(0)):
            raise ValueError("nobody asks for nothing")
        return world.decide(state, inputs)

    return {"decide": decide}


def _trusting(world: World[Any]) -> dict[str, Any]:
    def decide(state: Any, inputs: Any) -> Any:
        for agent, *_ in inputs.rows(0):
            state.landed[agent]  # without a look at whether it is an agent of the run
        return world.decide(state, inputs)

    return {"decide": decide}


CANARIES: dict[str, Callable[[World[Any]], dict[str, Any]]] = {
    "decide depends on state and inputs alone": _random,
    "folding in pieces gives the same": _counting,
    "a frozen state thaws unchanged": _forgetting,
    "a fork that changes nothing is the same run": _changing,
    "the digest covers every field": _blind,
    "draws are recorded in events": _secret,
    "events have fields of the declared kinds": _wordy,
    "decide accepts every legal input": _strict,
    "inputs of unknown agents are refused": _trusting,
}


@pytest.mark.parametrize("name", CANARIES)
def test_a_world_that_is_broken_on_purpose_breaks_the_law(name: str, run: Trial) -> None:
    canary = attrs.evolve(run.world, **CANARIES[name](run.world))

    assert broken(LAWS[name], run) is None
    assert broken(LAWS[name], attrs.evolve(run, world=canary)) is not None


def test_a_world_that_changes_the_events_it_is_given_breaks_the_law() -> None:
    with trial("notes", SMALL) as run:

        def evolve(state: Any, block: Any) -> Any:
            for _, _, _, source in block.rows(0):
                if source is not None:
                    source["tries"] += 1
            return run.world.evolve(state, block)

        law = LAWS["folding in pieces gives the same"]
        changing = attrs.evolve(run, world=attrs.evolve(run.world, evolve=evolve))

        assert broken(law, run) is None
        assert "`evolve` changed an event" in (broken(law, changing) or "")


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


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (lambda sound: {"seats": lambda *given: ["share"]}, "seats are ['share'], the measures"),
        (lambda sound: {"config": lambda given: sound.config({})}, "'seasons': 50, "),
        (lambda sound: {"compared": ["stock", "fish"]}, "there is no measure fish"),
    ],
)
def test_studies_of_what_is_not_played_break_the_law(
    run: Trial, changed: Callable[[Studies], dict[str, Any]], says: str
) -> None:
    name, sound = "a study plans what is played", run.tools.studies
    other = attrs.evolve(sound, **changed(sound))
    tools = with_parts(run.tools, studies=other)

    assert broken(LAWS[name], run) is None
    assert says in (broken(LAWS[name], attrs.evolve(run, tools=tools)) or "")


def test_studies_of_another_horizon_or_other_players_break_the_law(run: Trial) -> None:
    law = LAWS["a study plans what is played"]
    players = with_parts(run.tools.players, horizon="seed")
    sound = run.tools.measures

    def read(reader: JournalReader) -> Measured[Any]:
        return attrs.evolve(sound.read(reader), roster=["shark"])

    measures = attrs.evolve(sound, read=read)
    seedy = with_parts(run.tools, players=players)
    sharks = with_parts(run.tools, measures=measures)

    assert "seed is 0, but the run has 4 units" == broken(law, attrs.evolve(run, tools=seedy))
    assert "policies ['shark']" in (broken(law, attrs.evolve(run, tools=sharks)) or "")


@attrs.frozen
class Inner:
    amount: float = 1e18
    note: str | None = None


@attrs.frozen
class Nested:
    """A state with a field of every kind that has to be changed in a way of its own."""

    inner: Inner = Inner()
    pair: tuple[Inner, Inner] = (Inner(), Inner(2.0))
    nothing: None = None
    members: frozenset[int] = frozenset({1, 2})
    empty: tuple[int, ...] = ()
    counted: int = attrs.field(init=False, default=0)
    cache: int = attrs.field(default=0, eq=False)


def _nested(world: World[Any], state: Any, digest: Callable[[Any], int]) -> World[Any]:
    """A world whose states are all this one."""
    return attrs.evolve(
        world, initial=lambda setup: state, evolve=lambda state, block: state,
        close=lambda state: state, copy=lambda state: state, freeze=None, thaw=None,
        digest=digest, source=None,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("kept", "says"),
    [
        (
            lambda state: attrs.evolve(state, inner=attrs.evolve(state.inner, amount=1.0)),
            "state.inner.amount",
        ),
        (
            lambda state: attrs.evolve(state, inner=attrs.evolve(state.inner, note=None)),
            "state.inner.note",
        ),
        (lambda state: attrs.evolve(state, pair=state.pair[:1]), "state.pair[1].amount"),
        (lambda state: attrs.evolve(state, nothing=None), "state.nothing"),
        (lambda state: attrs.evolve(state, members=frozenset()), "state.members{1}"),
        (lambda state: attrs.evolve(state, empty=()), "state.empty"),
        # `evolve` makes anew what __init__ does not take.
        (lambda state: attrs.evolve(state), "state.counted"),
    ],
)
def test_a_part_of_a_record_that_the_digest_leaves_out_is_named(
    run: Trial, kept: Callable[[Any], Any], says: str
) -> None:
    def whole(state: Any) -> int:
        fields = (state.inner, state.pair, state.nothing, sorted(state.members), state.empty)
        return fingerprint(repr((*fields, state.counted)))

    law = LAWS["the digest covers every field"]
    sound = _nested(run.world, Nested(), whole)
    blind = _nested(run.world, Nested(), lambda state: whole(kept(state)))

    assert broken(law, attrs.evolve(run, world=sound)) is None
    assert f"season 2: the digest does not cover {says}" == broken(
        law, attrs.evolve(run, world=blind)
    )


def test_a_configuration_that_the_digest_leaves_out_breaks_the_law(run: Trial) -> None:
    def digest(state: Any) -> int:
        return fingerprint([state.stock, state.landed, state.unit, repr(state.roster)])

    canary = attrs.evolve(run.world, digest=digest)
    says = broken(LAWS["the digest covers every field"], attrs.evolve(run, world=canary))

    assert "season 2: the digest does not cover frozen[0]['seed']" == says


def test_a_state_of_a_type_that_cannot_be_varied_breaks_the_law(run: Trial) -> None:
    canary = _nested(run.world, {"what": object()}, lambda state: 1)
    says = broken(LAWS["the digest covers every field"], attrs.evolve(run, world=canary))

    assert "state['what'] is of object, which cannot be varied" in (says or "")


def test_inputs_are_varied_in_the_whole_run(run: Trial, monkeypatch: pytest.MonkeyPatch) -> None:
    def decide(state: Any, inputs: Any) -> Any:
        if state.unit == SMALL["seasons"] - 1 and any(row[1] == 0 for row in inputs.rows(0)):
            raise ValueError("nobody asks for nothing in the end")
        return run.world.decide(state, inputs)

    monkeypatch.setattr(testing, "VARIED_MAX", 60)
    canary = attrs.evolve(run.world, decide=decide)
    says = broken(LAWS["decide accepts every legal input"], attrs.evolve(run, world=canary))

    assert re.match(r"season 4: .*decide, .*: ValueError: nobody asks for nothing", says or "")


def test_global_random_numbers_go_on_as_they_were(run: Trial) -> None:
    before = random.getstate()
    testing.decide_depends_on_state_and_inputs_alone(run)

    assert before == random.getstate()


def test_every_law_has_a_canary() -> None:
    others = {
        "a recorded run verifies", "any process writes the same bytes", "damage is found",
        "a study plans what is played",
    }  # fmt: skip

    assert set(LAWS) == CANARIES.keys() | others


def test_a_game_that_goes_through_a_set_does_not_conform(tmp_path: Path) -> None:
    rule = "        left = max(0.0"
    changed(tmp_path, rule, f"        list({{'a', 'b'}})\n{rule}")

    with (
        pytest.raises(BadInput, match="goes through a set"),
        trial(str(tmp_path / "fishery.py"), {"seasons": 2}),
    ):
        pass


def test_the_command_tells_law_by_law(tmp_path: Path) -> None:
    small = ("--set", "rounds=2", "--set", "agents=2", "--set", "rows=2", "--set", "cols=2")
    ran = goldrush("conform", "mining", *small, cwd=tmp_path)

    assert 0 == ran.code
    assert [f"{name}: holds" for name in LAWS] == ran.out.splitlines()
    assert_refused(goldrush("conform", "nowhere", cwd=tmp_path), "no world 'nowhere'")


def test_the_command_takes_policies_of_somebodys_own(tmp_path: Path) -> None:
    (tmp_path / "mymod.py").write_text(
        "class Mine:\n    def plan(self, seen, draws):\n        return []\n"
    )
    small = ("--set", "rounds=2", "--set", "rows=2", "--set", "cols=2")
    ran = goldrush("conform", "mining", "--roster", "mymod:Mine*2", *small, cwd=tmp_path)

    assert [f"{name}: holds" for name in LAWS] == ran.out.splitlines(), ran.err
