"""The mining world for learners (replay/worlds/mining/ENVIRONMENT.md): PettingZoo's tests, and our
own.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import attrs
import pytest

pytest.importorskip("pettingzoo", reason="needs goldrush-sim[rl]")

import numpy as np
from pettingzoo.test import (
    parallel_api_test,
    parallel_seed_test,
)

from goldrush.agents.players import Resources, record
from goldrush.agents.worlds.mining.players import MINING_PLAYERS
from goldrush.kernel.errors import BadInput, PolicyFailed
from goldrush.kernel.journal import JournalReader
from goldrush.kernel.walk import Walk
from goldrush.kernel.world import Block
from goldrush.kernel.worlds.mining import MINING
from goldrush.kernel.worlds.mining.events import KINDS, OUTCOMES, PRUNED, REASONS, SUBMITTED
from goldrush.kernel.worlds.mining.observe import MiningObservation
from goldrush.kernel.worlds.mining.state import MiningState, copied
from goldrush.replay.journal.log import log
from goldrush.replay.journal.verify import verify
from goldrush.replay.rl import parallel_env
from goldrush.replay.worlds.mining.environment import MiningEnv, mask_of, plan_of, rows_of
from tests.mining import prepare

PAGE = Path(__file__).resolve().parents[4] / "replay" / "worlds" / "mining" / "ENVIRONMENT.md"
SMALL: dict[str, Any] = {"rounds": 8, "rows": 3, "cols": 3, "agents": 3, "stamina": 5}
MIXED = "external,random,external[name=two],tit-for-tat-raid,raid"  # two learners among others


def small(**settings: Any) -> MiningEnv:
    made = parallel_env(**{**SMALL, **settings})
    assert isinstance(made, MiningEnv)
    return made


@attrs.frozen
class Step:
    """What an environment was given and gave in a round, and what it had shown before."""

    shown: Mapping[str, Any]
    actions: Mapping[str, Any]
    rewards: Mapping[str, float]
    ends: tuple[Mapping[str, bool], Mapping[str, bool]]
    infos: Mapping[str, Any]


def played(one: MiningEnv, seed: int | None = None, *, masked: bool = True) -> list[Step]:
    """An episode of random actions."""
    steps = []
    shown, _ = one.reset(seed=seed)
    for agent in one.agents:
        one.action_space(agent).seed(one.possible_agents.index(agent))
    while one.agents:
        masks = {a: shown[a]["action_mask"] if masked else None for a in one.agents}
        actions = {agent: one.action_space(agent).sample(masks[agent]) for agent in one.agents}
        after, rewards, terminations, truncations, infos = one.step(actions)
        steps.append(Step(shown, actions, rewards, (terminations, truncations), infos))
        shown = after
    return steps


# What PettingZoo asks of an environment.


@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")  # but a dict, with its mask
@pytest.mark.filterwarnings("ignore:(Observation|Action) space for each agent probably should")
def test_pettingzoos_own_tests_pass() -> None:
    parallel_api_test(small(), num_cycles=20)
    parallel_seed_test(small, num_cycles=20)


# An episode is a journal.


@attrs.define
class Again:
    """Submits the plans that a learner did."""

    plans: Sequence[list[tuple[str, int, int]]]

    def plan(self, seen: MiningObservation, draws: object) -> list[tuple[str, int, int]]:
        return self.plans[seen.round - 1]


def again(one: MiningEnv, steps: Sequence[Step]) -> Resources:
    return Resources(
        policies={
            int(name.removeprefix("agent_")): Again(
                [plan_of(one.config, step.actions[name]) for step in steps]
            )
            for name in one.possible_agents
        }
    )


def test_an_episode_is_the_journal_that_record_writes(tmp_path: Path) -> None:
    settings = {**SMALL, "agents": 5, "communication": True}
    ones = [parallel_env(roster=MIXED, journal=tmp_path / name, **settings) for name in "ab"]
    first, second = (played(one, seed=5, masked=False) for one in ones)
    run = MINING_PLAYERS.prepared(*prepare({**settings, "seed": 5}, MIXED))
    record(MINING, MINING_PLAYERS, tmp_path / "c", run, resources=again(ones[0], first))
    verdict = verify(tmp_path / "a")

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert (tmp_path / "a").read_bytes() == (tmp_path / "c").read_bytes()
    assert (None, 3, True, ("external (2 agents)",)) == (
        verdict.broken, verdict.level, verdict.finished, verdict.not_asked,
    )  # fmt: skip
    assert 4 == verify(tmp_path / "a", resources=again(ones[0], first)).level
    assert [step.rewards for step in first] == [step.rewards for step in second]


@pytest.mark.parametrize("treatment", ["baseline", "authority-punish"])
def test_rewards_and_infos_are_what_the_journal_says(treatment: str, tmp_path: Path) -> None:
    one = small(treatment=treatment, journal=tmp_path / "a", stamina=7)
    steps = played(one, masked=False)
    gold = {(step, name): 0.0 for step in range(len(steps)) for name in one.possible_agents}
    pruned: dict[tuple[int, str], Any] = dict.fromkeys(gold, ())
    for event in log(tmp_path / "a"):
        if event.name == "mining_settled":
            gold[event.unit - 1, f"agent_{event['agent']}"] += event["gold"]
        elif event.name == "ruled":
            gold[event.unit - 1, f"agent_{event['captor']}"] -= event["fine"]
        elif event.name == "pruned":
            name = f"agent_{event['agent']}"
            plan = plan_of(one.config, steps[event.unit - 1].actions[name])
            removed = tuple((*plan[index], reason) for index, reason in event["removed"])
            pruned[event.unit - 1, name] = removed
    rewards = {(n, name): r for n, step in enumerate(steps) for name, r in step.rewards.items()}
    infos = {(n, name): i for n, step in enumerate(steps) for name, i in step.infos.items()}

    assert gold == rewards
    assert any(rewards.values())
    assert {key: {"pruned": removed} for key, removed in pruned.items()} == infos
    assert any(pruned.values())


class FailsAtOnce:
    def plan(self, seen: MiningObservation, draws: object) -> list[tuple[str, int, int]]:
        raise ValueError


def test_an_episode_whose_first_step_fails_leaves_what_was_there(tmp_path: Path) -> None:
    one = small(roster=["external", FailsAtOnce()], agents=2, journal=tmp_path / "a")
    one.reset()
    with pytest.raises(PolicyFailed):
        one.step({"agent_0": np.zeros(5, np.int64)})

    assert [] == list(tmp_path.iterdir())


def test_episodes_follow_a_seed(tmp_path: Path) -> None:
    one, other = small(journal=tmp_path / "a{episode}"), small(journal=tmp_path / "b{episode}")
    for each, seeds in ((one, (7, None, None, 7)), (other, (7, None, None))):
        for seed in seeds:
            played(each, seed)
    runs = [(tmp_path / name).read_bytes() for name in ("a1", "a2", "a3", "a4")]

    assert runs[0] == runs[3]
    assert 3 == len(set(runs))
    assert runs[:3] == [(tmp_path / name).read_bytes() for name in ("b1", "b2", "b3")]


# What a learner sees.


def seen_rows(seen: MiningObservation, config: Any, length: int) -> Iterator[tuple[str, Any]]:
    """The rows of an observation, told again from what the rules show, by plot or for all."""
    plots = range(config.plots)
    last = seen.last
    claims = {claim.plot: claim for claim in last.claims} if last else {}
    raids = {raid.plot: raid for raid in last.raids} if last else {}
    yield "owner", [0 if owner is None else owner + 1 for owner in seen.owners]
    yield "alpha", seen.alphas
    yield from (("round", seen.round), ("rounds", seen.rounds), ("agent", seen.agent))
    yield from (("gold", seen.gold), ("stamina", seen.stamina))
    yield "own", [plot in seen.own for plot in plots]
    yield "claim winner", [claims[p].winner + 1 if p in claims else 0 for p in plots]
    owners = {p: raid.owner for p, raid in raids.items()}
    winners = {p: raid.winner for p, raid in raids.items()}
    yield "raid owner", [0 if owners.get(p) is None else owners[p] + 1 for p in plots]
    yield "raid winner", [0 if winners.get(p) is None else winners[p] + 1 for p in plots]
    outcomes = (None, *OUTCOMES)
    yield "raid outcome", [outcomes.index(raids[p].outcome if p in raids else None) for p in plots]
    for agent in range(seen.agents):
        yield f"claimant {agent}", [p in claims and agent in claims[p].claimants for p in plots]
        yield f"raider {agent}", [p in raids and agent in raids[p].raiders for p in plots]
    for ago in range(1, length + 1):
        round = seen.round - ago
        if ago == 1:
            counts = {p: (len(c.claimants), 0, False, False) for p, c in claims.items()}
            for p in plots if last else ():
                raid = raids.get(p)
                counts[p] = (
                    counts.get(p, (0,))[0], len(raid.raiders) if raid else 0,
                    p in last.defended, raid is not None and raid.outcome == "captured",
                )  # fmt: skip
        else:
            found = [s for s in seen.earlier if s.round == round]
            counts = {
                p.plot: (p.claimants, p.raiders, p.defended, p.captured)
                for summary in found
                for p in summary.plots
            }
        for place, name in enumerate(("claimants", "raiders", "defended", "captured")):
            yield f"{name} -{ago}", [counts.get(p, (0, 0, 0, 0))[place] for p in plots]
        done = {
            (action.kind, action.plot): action
            for action in seen.past
            if action.round == round and action.result not in REASONS
        }
        for kind in KINDS:
            of = [done.get((kind, p)) for p in plots]
            good = ("mined", "won", "captured", "held")
            yield f"{kind} -{ago}", [action.amount if action else 0 for action in of]
            yield f"{kind} succeeded -{ago}", [bool(a and a.result in good) for a in of]


@pytest.mark.parametrize(
    ("treatment", "settings"),
    [
        ("baseline", {"rounds": 12}),
        ("history-1", {}),
        ("history-all", {"truce": 0}),
        ("alpha-rich", {"defense": "pointwise", "stamina_by_agent": [5, 2, 7, 4, 9]}),
        ("authority-adjudicate", {"visibility": 3}),
    ],
)
def test_an_observation_is_what_the_rules_show(
    treatment: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    given = {**SMALL, "agents": 5, **settings}
    one = parallel_env(treatment, roster=MIXED, journal=tmp_path / "a", **given)
    played(one)  # nothing of an episode is left in the next one, whose seed is another
    steps = played(one)
    window = one.config.visibility if one.config.visibility != "all" else one.config.rounds
    different = []
    for step, state in zip(steps, states_of(tmp_path / "a"), strict=False):
        for name in one.possible_agents:
            seen = MiningObservation(state, int(name.removeprefix("agent_")))
            rows = dict(seen_rows(seen, one.config, min(window, one.config.rounds)))
            shown = dict(zip(one.features, step.shown[name]["observation"], strict=True))

            assert rows.keys() == shown.keys()

            different += [
                (seen.round, name, row)
                for row, values in rows.items()
                if not np.array_equal(np.zeros(9, np.float32) + np.float32(values), shown[row])
            ]
            space = one.observation_space(name)

            assert space.contains(step.shown[name])

    assert [] == different


def states_of(path: Path) -> Iterator[MiningState]:
    """The state before each round."""
    with JournalReader(path) as reader:
        for commit, state in Walk(MINING, reader):
            if commit.digest is not None:
                yield copied(state)


def test_an_observation_has_nothing_of_what_others_keep(tmp_path: Path) -> None:
    one = small(journal=tmp_path / "a")
    played(one)
    state = list(states_of(tmp_path / "a"))[-2]
    other = copied(state)
    other.gold[1], other.memo[1] = 99.0, "a plan"
    other.spent[1][0] += 3
    shown, secret = (list(rows_of(each, 0)) for each in (state, other))

    assert all(np.array_equal(a[2], b[2]) for a, b in zip(shown, secret, strict=True))
    assert np.array_equal(mask_of(state, 0), mask_of(other, 0))


@pytest.mark.parametrize("truce", [0, 2])
def test_a_choice_is_legal_by_itself_where_the_mask_says_so(truce: int, tmp_path: Path) -> None:
    one = parallel_env(
        roster="external,random,raid", journal=tmp_path / "a", **{**SMALL, "truce": truce}
    )
    steps = played(one)
    wrong = []
    for step, state in zip(steps[:4], states_of(tmp_path / "a"), strict=False):
        mask = step.shown["agent_0"]["action_mask"].reshape(5, -1)

        assert (mask == mask[0]).all()

        for choice, legal in enumerate(mask[0]):
            plan = plan_of(one.config, np.array([choice, 0, 0, 0, 0]))
            codes = tuple((KINDS.index(kind), plot, amount) for kind, plot, amount in plan)
            rows = [(agent, codes if agent == 0 else (), *[None] * 4) for agent in range(3)]
            derived = MINING.decide(state, Block([(SUBMITTED, rows)]))
            if legal == any(code == PRUNED for code, _ in derived):
                wrong.append((state.round, choice))

    assert [] == wrong


# What a learner does.


def test_units_on_a_plot_merge_where_the_rules_have_amounts() -> None:
    one, points = small(), small(defense="pointwise")
    twice = [one.choice_of("defend", 1), one.choice_of("mine", 4), one.choice_of("defend", 1)]
    action = np.array([*twice, 0, 0])

    assert [("defend", 1, 1), ("mine", 4, 1), ("defend", 1, 1)] == plan_of(one.config, action)
    assert [("defend", 1, 2), ("mine", 4, 1)] == plan_of(points.config, action)


def begun(path: Path) -> MiningEnv:
    one = small(journal=path)
    one.reset()
    return one


def over_another(path: Path) -> None:
    path.write_text("somebody's")
    begun(path)


NOTHING = np.zeros(5, np.int64)


@pytest.mark.parametrize(
    "refused",
    [
        lambda path: small(roster="raid"),
        lambda path: small(seed=True),
        lambda path: small().reset(seed=-1),
        lambda path: small(stamina_by_agent=[1, 1, 0]),
        lambda path: small().step({}),
        lambda path: begun(path).step({"agent_0": NOTHING}),
        lambda path: begun(path).step({"agent_0": NOTHING + 37}),
        lambda path: small().choice_of("raid", 9),
        lambda path: deepcopy(begun(path)),
        over_another,
    ],
)
def test_what_cannot_be_is_refused_in_a_line(
    refused: Callable[[Path], Any], tmp_path: Path
) -> None:
    with pytest.raises(BadInput) as error:
        refused(tmp_path / "a")

    assert "\n" not in str(error.value)


def test_nothing_else_imports_it() -> None:
    code = """
import sys
import goldrush.cli.main, goldrush.replay.worlds.mining.tools
print({"pettingzoo", "gymnasium", "numpy"} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert "set()\n" == done.stdout, done.stderr


def test_without_pettingzoo_only_the_call_fails_and_says_what_to_install() -> None:
    code = """
import inspect, pydoc, sys
sys.modules["pettingzoo"] = None
import goldrush
from goldrush import *
assert "parallel_env" in dict(inspect.getmembers(goldrush))
page = pydoc.plain(pydoc.render_doc(goldrush))
assert "parallel_env(treatment" in "".join(page.split())
for make in (parallel_env, lambda: parallel_env(world="goldrush.games.fishery:Fishery")):
    try:
        make()
    except BadInput as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)

    assert 2 == done.stdout.count("pip install 'goldrush-sim[rl]'"), done.stderr


# The page.


def test_the_episode_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [episode] = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {}
    exec(episode, names)

    assert names["run"].verify().finished
