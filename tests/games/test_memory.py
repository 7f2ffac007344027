"""Code that keeps something in a class or a module: every run begins as if it was the first."""

import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

import goldrush
from goldrush.agents.players import Resources
from goldrush.agents.pool import ChildDied, in_child, workers
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.journal import sha256_of
from goldrush.replay.journal.batch import journals_in, verify_all
from goldrush.testing import LAWS, broken, trial
from tests.journals import tree
from tests.waiting import HANGS, until

# From 3.12 on Python warns of a fork beside threads, which the test runner has.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")

GAME = """
import random, goldrush
from goldrush import policy, within

R = random.Random(7)  # a memory between runs

class Spec(goldrush.Game):
    rounds = goldrush.setting(20, 1, 99)
    class State(goldrush.State):
        n: float
    class Asked(goldrush.Submission):
        k: int = within(0, 9)
    class Did(goldrush.Event):
        v: float
        def apply(self, state):
            state.n += self.v
    def start(self):
        return self.State(n=R.random())
    def decide(self, state, asked, draw):
        yield self.Did(R.random())
    @policy
    def p(self, seen, agent, draw):
        return self.Asked(R.randrange(9))
"""

MODEL = """
import random

class House:
    built = 0
    def __init__(self):
        House.built += 1
        self.number = House.built

class Town:
    def __init__(self, seed=0, houses=5):
        self.random = random.Random(seed)
        self.houses = [House() for _ in range(houses)]
        self.wealth = 0.0
    def step(self):
        for house in self.houses:
            self.wealth += self.random.random() * (1 + house.number % 3)
"""

POLICY = """
import random

R = random.Random(7)

class Draws:
    def plan(self, seen, draws):
        return [("claim", plot, 1) for plot in seen.unowned[:1] if R.random() < 0.5]
    def act(self):
        pass
"""


@pytest.fixture(params=["game", "model", "policy"])
def remembering(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, object]:
    """What `goldrush.study` is given to play code that remembers."""
    name = f"remembers_{request.param}"
    text = {"game": GAME, "model": MODEL, "policy": POLICY}[request.param]
    (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})
    monkeypatch.setattr("goldrush.agents.given._MAKERS", {})
    monkeypatch.delitem(sys.modules, name, raising=False)
    return {
        "game": {"world": f"{name}.py", "rosters": "p*2", "rounds": 20},
        "model": {"world": f"{name}.py:Town", "rounds": 20},
        "policy": {"rosters": f"{name}:Draws*4", "rounds": 4, "treatments": "baseline"},
    }[request.param]  # type: ignore[return-value]


def test_a_study_does_not_depend_on_the_number_of_processes(
    tmp_path: Path, remembering: dict[str, object]
) -> None:
    for jobs in (1, 3):
        goldrush.study(tmp_path / f"jobs-{jobs}", seeds=4, jobs=jobs, **remembering)
    goldrush.study(tmp_path / "grown", seeds=2, jobs=1, **remembering)
    goldrush.study(tmp_path / "grown", seeds=4, jobs=2, **remembering)
    one = tree(tmp_path / "jobs-1")

    assert 5 == len(one)
    assert [one] * 2 == [tree(tmp_path / name) for name in ("jobs-3", "grown")]
    trust = ["remembers_policy:Draws"] if "policy" in str(remembering) else []
    for jobs in (1, 2):  # journals hold together as each alone
        given = Resources(trust=trust)
        found = list(verify_all(journals_in([tmp_path / "grown"]), resources=given, jobs=jobs))
        level = 3 if "Town" in str(remembering) else 4
        assert [(True, level)] * 4 == [(each.holds, each.verdict.level) for each in found]


def test_record_and_a_study_give_the_same_bytes(
    tmp_path: Path, remembering: dict[str, object]
) -> None:
    study = goldrush.study(tmp_path / "study", seeds=2, jobs=1, **remembering)
    given = dict(remembering)
    horizon, rounds = study.manifest.runs[0].path.split("/")[2].split("-")
    options = {"world": given.get("world", "mining"), horizon: int(rounds), "seed": 1}
    roster = given.get("rosters")
    in_child(record, tmp_path / "run.journal", roster, options)

    assert sha256_of(tmp_path / "run.journal") == study.manifest.runs[1].sha256


def record(path: Path, roster: str | None, options: dict[str, object]) -> None:
    goldrush.record(path, roster=roster, **options)


def test_the_laws_do_not_find_what_one_of_them_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("goldrush.agents.given._GIVEN", {})
    (tmp_path / "spec.py").write_text(GAME)

    with trial(str(tmp_path / "spec.py"), {"agents": 2}) as run:
        found = {name for name, law in LAWS.items() if broken(law, run) is not None}

    assert "decide depends on state and inputs alone" in found  # `decide` draws of its module
    assert not found & {"a recorded run verifies", "any process writes the same bytes"}


KEPT: list[int] = []


def remember(number: int) -> int:
    KEPT.append(number)
    return sum(KEPT)


def fail() -> None:
    raise ValueError("cannot go on")


class Two(Exception):
    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")
        self.kept = lambda: None  # which is not pickled


def fail_twice() -> None:
    raise Two(1, 2)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def unsendable() -> object:
    return lambda: None


def wait_in_child(path: str) -> None:
    in_child(wait, path)


def has_ended(pid: str) -> bool:
    try:
        return ") Z" in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return True


def wait(path: str) -> None:
    Path(path).write_text(str(os.getpid()))
    time.sleep(HANGS)


def test_a_child_gives_its_result_and_leaves_nothing() -> None:
    with workers(1) as pool:
        assert [1, 2] == [pool.submit(in_child, remember, number).result() for number in (1, 2)]
        assert 3 == pool.submit(remember, 3).result()
    assert 4 == in_child(remember, 4)
    assert [] == KEPT


def test_what_a_child_raises_is_raised_and_its_death_is_told() -> None:
    with pytest.raises(ValueError, match="cannot go on") as error:
        in_child(fail)
    assert re.fullmatch(r"fail, test_memory.py:\d+", *error.value.__notes__)
    assert "in fail" in str(error.value.__cause__)
    with pytest.raises(GoldrushError, match=r"^fail_twice, test_memory.py:\d+: Two: 1 and 2$"):
        in_child(fail_twice)
    with pytest.raises((AttributeError, TypeError), match=r"pickle|local object"):
        in_child(unsendable)
    with pytest.raises(ChildDied, match="was killed"):
        in_child(os._exit, 0)
    with workers(1) as pool, pytest.raises(ChildDied):
        pool.submit(in_child, die).result()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_child_ends_with_its_worker(tmp_path: Path, number: int) -> None:
    started = tmp_path / "started"
    with workers(1) as pool:
        task = pool.submit(wait_in_child, str(started))
        until(lambda: started.exists() and started.read_text() != "")
        [worker] = pool._processes
        os.kill(worker, number)
        until(lambda: has_ended(started.read_text()))
        assert task.exception() is not None
