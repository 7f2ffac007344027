"""Games for learners (`goldrush.parallel_env`): PettingZoo's tests, and our own."""

import pickle
import re
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Literal

import pytest

pytest.importorskip("pettingzoo", reason="needs goldrush-sim[rl]")

import numpy as np
from gymnasium import spaces
from pettingzoo.test import parallel_api_test, parallel_seed_test

import goldrush
from goldrush import Agent, policy, setting, within
from goldrush.games.double_auction import DoubleAuction
from goldrush.games.epidemic import Epidemic
from goldrush.games.fishery import Fishery
from goldrush.games.public_goods import PublicGoods
from goldrush.kernel.errors import BadInput, PolicyFailed
from tests.waiting import HANGS

STALLS = ("north", "east", "south")
PAGE = Path(__file__).resolve().parents[2] / "goldrush" / "GAMES.md"


class Stalls(goldrush.Game):
    """Agents, one after the other, choose a stall and a price."""

    agents = setting(3, 1, 9)
    rounds = setting(6, 1, 100)
    roster = "cheap*3"

    class State(goldrush.State):
        taken: list[bool]
        earned: list[float]
        last: Agent | None
        weather: Literal["dry", "wet"]
        sold: dict[int, int]

    class Seen(goldrush.Observation):
        taken: list[bool]
        last: Agent | None
        weather: Literal["dry", "wet"]
        earned: float
        place: tuple[int, float]
        note: str

    class Offer(goldrush.Submission):
        stall: Literal["north", "east", "south"]
        price: float = within(0.5, 2.5)
        open: bool
        aims: Agent
        below: int | None = within(3, 5)
        each: list[int] = within(1, 2, each="agents")
        sign: str

    class Sold(goldrush.Event):
        agent: Agent
        stall: int
        gold: float
        says = "{agent} earns {gold} at stall {stall}"

        def apply(self, state):
            state.earned[self.agent] += self.gold
            state.taken[self.stall] = not state.taken[self.stall]
            state.last = self.agent
            state.weather = "wet" if state.weather == "dry" else "dry"

    def start(self):
        return self.State(
            taken=[False] * 3, earned=[0.0] * self.agents, last=None, weather="dry", sold={2: 7}
        )

    def observe(self, state, agent):
        earned = state.earned[agent]
        place = (agent, earned / 2)
        return self.Seen(list(state.taken), state.last, state.weather, earned, place, "a sign")

    def movers(self, state):
        return [state.unit % self.agents]

    def legal(self, seen, agent):
        free = [s for s, taken in zip(STALLS, seen.taken, strict=True) if not taken]
        return {"stall": free or ["north"], "below": [None, 4]}

    def decide(self, state, asked, draw):
        [offer] = asked
        stall = STALLS.index(offer.stall)
        yield self.Sold(offer.agent, stall, offer.price + sum(offer.each))

    def score(self, state, agent):
        return state.earned[agent]

    @policy
    def cheap(self, seen, agent, draw):
        return self.Offer("north", 0.5, False, 0, None, [1] * self.agents, "")


class Scored(DoubleAuction):
    """The double auction, in which who has traded scores 1."""

    def score(self, state, agent):
        return int(state.traded[agent])

    def legal(self, seen, agent):
        return range(seen.limit + 1) if seen.buys else range(seen.limit, 201)


def played(env, seed=None, act=None):
    """An episode of random actions, or of `act(observation)`: what was shown, done and earned."""
    shown, _ = env.reset(seed=seed)
    for name in env.possible_agents:
        env.action_space(name).seed(3)
    steps, earned = [], dict.fromkeys(env.possible_agents, 0.0)
    while env.agents:
        actions = {}
        for name in env.agents:
            mask = shown[name]["action_mask"] if isinstance(shown[name], dict) else None
            actions[name] = act(shown[name]) if act else env.action_space(name).sample(mask)
        shown, rewards, *ends, infos = env.step(actions)
        steps.append(SimpleNamespace(actions=actions, shown=shown, ends=ends, infos=infos))
        for name, reward in rewards.items():
            earned[name] += reward
    return steps, earned


GAMES = {
    "fishery": lambda **more: goldrush.parallel_env(
        world=Fishery, roster="external*2,greedy*3", **{"seasons": 6, "growth": 2.0, **more}
    ),
    "public goods": lambda **more: goldrush.parallel_env(
        world=PublicGoods, roster="external,reciprocal*2,external", **{"rounds": 4, **more}
    ),
    "double auction": lambda **more: goldrush.parallel_env(
        world=Scored, roster="external*2,constrained*8", **{"turns": 20, **more}
    ),
    "stalls": lambda **more: goldrush.parallel_env(
        world=Stalls, roster="external,cheap,external", **more
    ),
}


@pytest.mark.filterwarnings("ignore:Action space for each agent probably should")
@pytest.mark.parametrize("name", GAMES)
def test_pettingzoos_own_tests_pass(name) -> None:
    parallel_api_test(GAMES[name](), num_cycles=30)
    parallel_seed_test(GAMES[name], num_cycles=30)


# An episode is a journal.


class Again:
    """Submits what a learner did."""

    def __init__(self, *fish):
        self.fish = iter(fish)

    def act(self, seen, agent, draw):
        return Fishery.Asked(next(self.fish))


def test_an_episode_is_the_journal_that_record_writes(tmp_path) -> None:
    roster = "external[name=Again],greedy*2"
    env = goldrush.parallel_env(
        world=Fishery, roster=roster, agents=3, seasons=5, journal=tmp_path / "{episode}"
    )
    fish = iter((90, 0, 40, 20, 7))
    steps, _ = played(env, 8, lambda seen: next(fish))
    again = Again(90, 0, 40, 20, 7)
    other = goldrush.record(
        Fishery, tmp_path / "other", roster=[again, "greedy*2"], agents=3, seasons=5, seed=8
    )
    run = goldrush.open(env.journal, world=Fishery)

    assert 5 == len(steps)
    assert other.path.read_bytes() == run.path.read_bytes()
    assert (None, 3, True) == (run.verify().broken, run.verify().level, run.verify().finished)


@pytest.mark.parametrize("name", GAMES)
def test_every_journal_holds_and_rewards_sum_to_the_last_score(name, tmp_path) -> None:
    env = GAMES[name](journal=tmp_path / "a")
    _, earned = played(env, 5)
    run = goldrush.open(env.journal)
    verdict = run.verify()
    state = run.at(verdict.rounds).state
    scores = {who: state.config.score(state, int(who[6:])) for who in env.possible_agents}

    assert (None, 3, True) == (verdict.broken, verdict.level, verdict.finished)
    assert pytest.approx(scores) == earned
    assert any(scores.values())


class FailsAtOnce:
    def act(self, seen, agent, draw):
        raise ValueError


def test_an_episode_whose_first_step_fails_leaves_what_was_there(tmp_path) -> None:
    env = goldrush.parallel_env(
        Fishery, roster=["external", FailsAtOnce()], agents=2, journal=tmp_path / "a"
    )
    env.reset()
    with pytest.raises(PolicyFailed):
        env.step({"agent_0": 1})

    assert [] == list(tmp_path.iterdir())


def test_episodes_follow_a_seed(tmp_path) -> None:
    envs = [GAMES["public goods"](journal=tmp_path / f"{name}{{episode}}") for name in "ab"]
    for env, seeds in zip(envs, ((7, None, None, 7), (7, None, None)), strict=True):
        for seed in seeds:
            played(env, seed)
    runs = [(tmp_path / name).read_bytes() for name in ("a1", "a2", "a3", "a4")]

    assert runs[0] == runs[3]
    assert 3 == len(set(runs))
    assert runs[:3] == [(tmp_path / name).read_bytes() for name in ("b1", "b2", "b3")]


def test_a_copy_plays_the_same_into_a_journal_of_its_own() -> None:
    env = GAMES["public goods"]()
    played(env)
    copies = [env, deepcopy(env), pickle.loads(pickle.dumps(env))]
    for each in copies:
        played(each, 5)

    assert 3 == len({each.journal for each in copies})
    assert 1 == len({Path(each.journal).read_bytes() for each in copies})


def test_the_last_unit_terminates(tmp_path) -> None:
    env = GAMES["public goods"](journal=tmp_path / "run.journal")
    last = played(env)[0][-1]
    verdict = goldrush.open(env.journal).verify()

    assert [{True}, {False}] == [{*ends.values()} for ends in last.ends]
    assert (4, True, None) == (verdict.rounds, verdict.finished, verdict.broken)
    assert {None} == {info["asked"] for info in last.infos.values()}


# What a learner sees.


def named(env, name, observation):
    """The entries of an observation by name."""
    return dict(zip(env.features(name), observation, strict=True))


def test_observations_are_the_numbers_that_the_game_shows() -> None:
    env = GAMES["stalls"]()
    steps, _ = played(env)
    names = [*(f"taken[{n}]" for n in range(3)), "last", "last given", "weather", "earned"]
    first = named(env, "agent_2", env.reset()[0]["agent_2"]["observation"])
    last = named(env, "agent_2", steps[-1].shown["agent_2"]["observation"])
    state = goldrush.open(env.journal).at(0).state

    assert [*names, "place[0]", "place[1]"] == list(env.features("agent_2"))
    assert [0, 0, 0, 0, 0, 0, 0, 2, 0] == list(first.values())
    assert 1 == named(env, "agent_2", steps[1].shown["agent_2"]["observation"])["weather"]
    assert (2, 1) == (last["last"], last["last given"])
    assert last["place[1]"] == pytest.approx(last["earned"] / 2)
    assert last["earned"] > 0
    assert state.last is None


def test_a_mask_has_the_legal_values_of_who_is_asked() -> None:
    env = GAMES["stalls"]()
    shown, infos = env.reset()
    while infos["agent_0"]["asked"] is None or shown["agent_0"]["observation"][:3].sum() == 0:
        shown, *_, infos = env.step({name: offer("north") for name in env.agents})
    seen = shown["agent_0"]

    assert [*(1 - seen["observation"][:3])] == [*seen["action_mask"]["stall"]]
    assert [1, 0, 1, 0] == [*seen["action_mask"]["below"]]
    assert all(mask.all() for mask in shown["agent_2"]["action_mask"].values())
    assert env.observation_space("agent_0").contains(seen)


class Modest(PublicGoods):
    """Public goods, in which nobody can give more than 4."""

    def legal(self, seen, agent):
        return {"tokens": range(5)} if seen.phase == "give" else {"points": [[0, 0, 0, 0]]}


def test_of_several_submissions_only_the_one_asked_for_is_masked() -> None:
    env = goldrush.parallel_env(world=Modest, roster="external,selfish*3", rounds=2)
    steps, _ = played(env)
    shown, _ = env.reset()
    masks = [each["agent_0"]["action_mask"] for each in (shown, *(step.shown for step in steps))]

    numbers = [named(env, "agent_0", step.shown["agent_0"]["observation"]) for step in steps[:3]]

    assert [5, 101, 5, 101, 101] == [mask["gift"].sum() for mask in masks]
    assert [(0, 1), (1, 0), (1, 1)] == [(each["unit"], each["step"]) for each in numbers]
    assert ["fines", "gift"] == [step.infos["agent_0"]["asked"] for step in steps[:2]]


# What a learner does.


def offer(stall):
    """An action of the stalls."""
    return {
        "stall": STALLS.index(stall), "price": np.array([2.5], np.float32),
        "open": 1, "aims": 2, "below": 2, "each": np.array([1, 2, 1]),
    }  # fmt: skip


def test_an_action_is_the_submission_in_the_journal() -> None:
    env = GAMES["stalls"]()
    env.reset()
    env.step({"agent_0": offer("east")})  # of who is not asked, no action is needed
    env.step({"agent_2": offer("south"), "agent_0": "ignored"})
    env.close()
    events = [event.fields for event in goldrush.open(env.journal).events("offer")]

    assert ["east", "north"] == [event["stall"] for event in events[:2]]
    assert {
        "round": 1, "agent": 0, "stall": "east", "price": 2.5, "open": True, "aims": 2, "below": 4,
        "each": [1, 2, 1], "sign": "", "error": None, "source": None,
    } == events[0]  # fmt: skip


def test_spaces_follow_from_the_types_of_fields() -> None:
    stalls = GAMES["stalls"]().action_space("agent_0")
    goods = GAMES["public goods"](agents=4).action_space("agent_0")

    assert spaces.Discrete(10**9 + 1) == GAMES["fishery"]().action_space("agent_0")
    assert {
        "stall": spaces.Discrete(3), "price": spaces.Box(0.5, 2.5, (1,)),
        "open": spaces.Discrete(2), "aims": spaces.Discrete(3), "below": spaces.Discrete(4),
        "each": spaces.MultiDiscrete([2, 2, 2], start=[1, 1, 1]),
    } == stalls.spaces  # fmt: skip
    assert {"gift": spaces.Discrete(101), "fines": spaces.MultiDiscrete([11] * 4)} == goods.spaces


def test_a_learner_who_is_never_asked_sees_the_end_in_one_step() -> None:
    env = goldrush.parallel_env(world=Stalls, roster="cheap*2,external", rounds=2)
    _, infos = env.reset()
    _, rewards, ended, cut, _ = env.step({})

    assert [None] == [info["asked"] for info in infos.values()]
    assert ({"agent_2": 0.0}, {"agent_2": True}) == (rewards, ended)
    assert {"agent_2": False} == cut
    assert goldrush.open(env.journal).verify().finished


# What cannot be.


def changed(**body):
    """The stalls with another body."""
    return type("Stalls", (Stalls,), {"__module__": __name__, **body})


def submits(hint, given=None):
    body = {"__annotations__": {"gold": hint}, "__module__": __name__}
    given = {} if given is None else {"gold": given}
    return changed(Offer=type(Stalls.Offer)("Offer", (goldrush.Submission,), {**body, **given}))


REFUSED = {
    "tells no score": lambda: changed(score=goldrush.Game.score),
    "`observe` gives a list, which no learner": lambda: changed(observe=lambda *_: [1]),
    "Offer.gold has no range": lambda: submits(int),
    "Offer.gold is a list of no known length": lambda: submits(list[int], within(0, 1)),
    "Offer.gold has the type int | None": lambda: submits(int | None, within(0, 10**6)),
    "`observe` changed the state": lambda: changed(
        observe=lambda game, state, agent: state.earned.pop()
    ),
    "agents of stalls submit no number": lambda: submits(str),
    "nobody submits in epidemic": lambda: Epidemic,
    "the competition world is no environment": lambda: "competition",
}


@pytest.mark.parametrize("says", REFUSED)
def test_a_game_that_learners_cannot_play_is_refused_in_a_line(says) -> None:
    with pytest.raises(BadInput, match=re.escape(says)) as error:
        goldrush.parallel_env(REFUSED[says]())

    assert "\n" not in str(error.value)


@pytest.mark.parametrize("value", [float("nan"), "much"])
def test_a_score_that_is_no_finite_number_is_refused(value) -> None:
    env = goldrush.parallel_env(
        world=changed(score=lambda game, state, agent: value if state.unit else 0)
    )
    env.reset()

    with pytest.raises(BadInput, match=r"score gives .* for agent_0; give a finite number"):
        env.step({name: offer("north") for name in env.agents})


@pytest.mark.parametrize(
    "action",
    ["x", {"stall": 3}, {**offer("east"), "aims": 3}, {**offer("east"), "each": 1}],
)
def test_an_action_outside_of_its_space_plays_nothing(action) -> None:
    env = GAMES["stalls"]()
    env.reset()
    with pytest.raises(BadInput, match="the action of agent_0 is"):
        env.step({"agent_0": action})
    with pytest.raises(BadInput, match="the action of agent_0 is none"):
        env.step({})
    env.step({"agent_0": offer("east")})


def begun(path):
    env = GAMES["public goods"](journal=path)
    env.reset()
    return env


def over_another(path):
    path.write_text("somebody's")
    begun(path)


@pytest.mark.parametrize(
    "refused",
    [
        lambda path: GAMES["stalls"](seed=True),
        lambda path: GAMES["stalls"]().reset(seed=-1),
        lambda path: GAMES["stalls"]().step({}),
        lambda path: goldrush.parallel_env(Stalls, roster="cheap*3"),
        lambda path: deepcopy(begun(path)),
        over_another,
    ],
)
def test_what_cannot_be_is_refused_in_a_line(refused, tmp_path) -> None:
    with pytest.raises(BadInput) as error:
        refused(tmp_path / "a")

    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("code", "says"),
    [
        ("import goldrush.cli.main, goldrush.replay.game.tools\n"
         "print({'pettingzoo', 'gymnasium', 'numpy'} & set(sys.modules))", "set()"),
        ("sys.modules['pettingzoo'] = None\nimport goldrush\n"
         "try: goldrush.parallel_env('goldrush.games.fishery:Fishery')\n"
         "except goldrush.BadInput as error: print(error)", "pip install 'goldrush-sim[rl]'"),
    ],
    ids=["unused", "missing"],
)  # fmt: skip
def test_only_the_call_needs_pettingzoo(code, says) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}"], capture_output=True, text=True, timeout=HANGS
    )

    assert says in done.stdout, done.stderr


def test_the_episode_of_the_page(capsys) -> None:
    *_, code = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    [printed] = re.findall(r"```text\n(.*?)```", PAGE.read_text(), re.DOTALL)

    exec(code, {"__name__": "page"})

    assert printed == capsys.readouterr().out
