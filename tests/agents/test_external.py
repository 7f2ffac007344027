from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import attrs
import pytest

from goldrush.agents import players
from goldrush.agents.external import roster_text
from goldrush.agents.players import ForkChange, Resources
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.agents.worlds.mining.roster import POLICY_SET, GreedyMine
from goldrush.kernel.errors import BadInput
from goldrush.kernel.settings import choice, integer, setting
from goldrush.kernel.worlds.mining import MINING
from goldrush.replay.journal.verify import verify


class Idle:
    def plan(self, seen: Any, draws: Any) -> list[Any]:
        return []


@attrs.frozen
class Hawk:
    raids: int = setting(2, integer(0, 20))
    style: str = setting("plain", choice("plain", "a,b", "a]"))

    def plan(self, seen: Any, draws: Any) -> list[Any]:
        others = [plot for plot, owner in enumerate(seen.owners) if owner not in (None, seen.agent)]
        return [("raid", plot, 1) for plot in others[: self.raids]]


class Learner:
    def __init__(self, plot: int) -> None:
        self.plot = plot

    def plan(self, seen: Any, draws: Any) -> list[Any]:
        return [("claim", self.plot, 1)]


@attrs.define(slots=False)
class Stateful(Idle):
    plots: int = setting(2, integer(0, 20))


class Listed(list[int], Idle): ...


class Slotted(Idle):
    __slots__ = ("memory",)


class Needs(Hawk):
    def __init__(self, net: object) -> None:
        super().__init__()


def with_more(policy: Any, **more: object) -> Any:
    for name, value in more.items():
        setattr(policy, name, value)
    return policy


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """All but learners are classes of a module, as in a file of a user's."""
    module = type(pytest)("policies_of_a_test")
    for make in (Idle, Hawk, Stateful, Listed, Slotted, Needs):
        monkeypatch.setattr(make, "__module__", module.__name__)
        monkeypatch.setattr(module, make.__name__, make, raising=False)
    monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.parametrize(
    ("roster", "text"),
    [
        (["greedy-mine"] * 2 + ["random*3"], "greedy-mine*2,random*3"),
        ([GreedyMine, GreedyMine()], "greedy-mine*2"),
        ([Idle, Idle()], "{0}:Idle*2"),
        ([Hawk(), Hawk(raids=3), Hawk], "{0}:Hawk*1,{0}:Hawk[raids=3]*1,{0}:Hawk*1"),
        ([Hawk(style="a,b")], "{0}:Hawk[style=a,b]*1"),
    ],
)
def test_what_can_be_made_again_is_named(roster: list[object], text: str) -> None:
    given = roster_text(POLICY_SET, roster)

    assert (text.format("policies_of_a_test"), {}) == (given.text, given.policies)


@pytest.mark.parametrize(
    "policy",
    [
        Learner(3), Hawk(style="a]"), with_more(Stateful(plots=3), seen=50), Listed([7]),
        with_more(Slotted(), memory=3), Needs(3),
    ],
    ids=lambda policy: type(policy).__name__,
)  # fmt: skip
def test_an_object_that_no_text_makes_again_is_external(policy: object) -> None:
    given = roster_text(POLICY_SET, ["random", policy])

    assert f"random*1,external[name={type(policy).__name__}]*1" == given.text
    assert given.policies[1] is policy


@pytest.mark.parametrize("roster", [[], [3], [object()], [print], [None]])
def test_what_is_no_policy_is_refused(roster: list[object]) -> None:
    with pytest.raises(BadInput):
        roster_text(POLICY_SET, roster)


@pytest.fixture
def external(tmp_path: Path) -> Path:
    path = tmp_path / "external.journal"
    given = roster_text(POLICY_SET, [Learner(3), "greedy-mine", Learner(3)])
    run = MINING_PLAYERS.prepare({"rounds": 4}, given.text, None, Resources())
    players.record(MINING, MINING_PLAYERS, path, run, resources=Resources(policies=given.policies))
    return path


def test_external_agents_are_asked_again_only_as_objects(external: Path) -> None:
    same, another = Learner(3), Learner(4)
    expected = {
        (): (True, ("external (2 agents)",)),
        ((2, same),): (True, ("external (1 agent)",)),
        ((0, same), (2, same)): (True, ()),
        ((0, another), (2, same)): (False, ()),
    }
    for objects, (holds, not_asked) in expected.items():
        verdict = verify(external, resources=Resources(policies=dict(objects)))

        assert (holds, not_asked) == (verdict.holds, verdict.not_asked)


def test_external_agents_play_on_only_as_objects(external: Path, tmp_path: Path) -> None:
    torn = tmp_path / "torn.journal"
    torn.write_bytes(external.read_bytes()[:-60])
    with pytest.raises(BadInput, match=r"Learner.*policies=\{0"):
        players.resume(MINING, MINING_PLAYERS, torn)

    objects = Resources(policies={0: Learner(3), 2: Learner(3)})
    players.resume(MINING, MINING_PLAYERS, torn, resources=objects)

    assert torn.read_bytes() == external.read_bytes()


def test_a_fork_brings_objects_of_its_own(external: Path, tmp_path: Path) -> None:
    out = tmp_path / "fork.journal"
    change = ForkChange(roster="external[name=New]*1,greedy-mine*2")
    with pytest.raises(BadInput, match="agent 0"):
        players.fork(MINING, MINING_PLAYERS, external, 2, out, change)
    assert not out.exists()

    resources = Resources(policies={0: Learner(9)})
    state = players.fork(MINING, MINING_PLAYERS, external, 2, out, change, resources=resources)

    assert [entry["policy"] for entry in state.roster] == ["external", "greedy-mine", "greedy-mine"]
    assert verify(out).holds


@pytest.mark.parametrize("text", ["external[size=3]", "external[name=3]"])
def test_an_external_agent_has_a_name_and_nothing_else(text: str) -> None:
    with pytest.raises(BadInput, match="other settings"):
        POLICY_SET.parse(text)
