"""Environments of others on the command line: recorded, verified, forked, and what is refused."""

import json
from pathlib import Path

import pytest

from tests.cli.helpers import assert_refused, goldrush

ENV = """
import gymnasium, numpy

class Walk(gymnasium.Env):
    observation_space = gymnasium.spaces.Box(-99, 99, (1,))
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, length=6):
        self.length = length
        for _ in {1}: pass

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.x, self.left = numpy.zeros(1, "f4"), self.length
        return self.x, {}

    def step(self, action):
        if self.left == 20: raise ValueError("it is far\\naway")
        self.x, self.left = self.x + numpy.float32(action - self.np_random.random()), self.left - 1
        return self.x, float(self.x[0]), self.left == 0, False, {}
"""


DEAF = """
class Deaf:
    def __init__(self, world_seed=0): self.total = world_seed
    def step(self): self.total += 1

class Own(Deaf):
    def __init__(self, seed=0, ignore=0): self.total = ignore
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "walk.py").write_text(ENV)
    (tmp_path / "deaf.py").write_text(DEAF)
    for seed in (1, 2):
        ran = goldrush(
            "record", "--env", "walk.py:Walk", "--set", "steps=20", "--set", "length=4",
            "--roster", "random", "--seed", seed, "--out", f"{seed}.journal", cwd=tmp_path,
        )  # fmt: skip
        assert 0 == ran.code
        assert "verify 2.journal --env walk.py:Walk" in ran.out or seed == 1
    return tmp_path


@pytest.mark.parametrize("jobs", [1, 2])
def test_each_of_several_makers_makes_what_is_recorded_under_its_name(
    folder: Path, jobs: int
) -> None:
    other = ENV.replace("Walk", "Hop").replace("1, self.left", "2, self.left")
    (folder / "hop.py").write_text(other.replace("self.x[0]", "2 * self.x[0]"))
    ran = goldrush(
        "record", "--env", "hop.py:Hop", "--set", "steps=9", "--out", "hop.journal", cwd=folder
    )
    assert 0 == ran.code, ran.err
    for order in (["walk.py:Walk", "hop.py:Hop"], ["hop.py:Hop", "walk.py:Walk"]):
        makers = [word for each in order for word in ("--env", each)]
        ran = goldrush("verify", ".", *makers, "--jobs", jobs, cwd=folder)

        assert (0, 3) == (ran.code, ran.out.count("it repeats here")), ran.out


def test_one_other_action_is_put_in(folder: Path) -> None:
    exported = goldrush("export", "1.journal", cwd=folder).out.splitlines()
    action = next(event for event in map(json.loads, exported) if event["event"] == "acted")
    action["action"] = (action["action"] + 1) % 3
    (folder / "one.json").write_text(json.dumps(action))
    forked = goldrush(
        "fork", "1.journal", "--env", "walk.py:Walk", "--at", action["step"] - 1,
        "--replace-submission", "one.json", "--out", "fork.journal", cwd=folder,
    )  # fmt: skip
    differs = goldrush("diff", "1.journal", "fork.journal", cwd=folder)
    verified = goldrush("verify", "fork.journal", "--env", "walk.py:Walk", cwd=folder)

    assert (0, 1, 0) == (forked.code, differs.code, verified.code)
    assert f"differ from step {action['step']} on" in differs.out


DIALING = """
import socket
class Dialing:
    def __init__(self, seed=0): self.refused = 0
    def step(self):
        try: socket.create_connection(("192.0.2.1", 9), 0.01)
        except OSError as error: self.refused += "goldrush" in str(error)
"""


def test_a_model_that_is_judged_connects_to_other_machines_by_network_alone(folder: Path) -> None:
    (folder / "dialing.py").write_text(DIALING)
    model = ("--env", "dialing.py:Dialing")
    goldrush("record", *model, "--set", "steps=2", "--out", "dialing.journal", cwd=folder)
    kept = goldrush("verify", "dialing.journal", *model, cwd=folder)

    assert (1, True) == (kept.code, "192.0.2.1; give --network, or record it as a" in kept.err)
    assert 0 == goldrush("verify", "dialing.journal", *model, "--network", cwd=folder).code


FAULTY = """
class Faulty:
    def __init__(self, seed=0): self.total = seed
    def step(self): raise ValueError("no way")
"""


@pytest.mark.parametrize("words", ["walk.py:Walk --set length=20", "faulty.py:Faulty"])
def test_an_environment_or_a_model_whose_first_step_fails_leaves_what_was_there(
    folder: Path, words: str
) -> None:
    (folder / "faulty.py").write_text(FAULTY)
    before = (folder / "1.journal").read_bytes()
    for out in ("new.journal", "1.journal"):
        ran = goldrush(
            "record", "--env", *words.split(), "--set", "steps=4", "--out", out, "--force",
            cwd=folder,
        )  # fmt: skip

        assert_refused(ran, "fails in step 1: ", "ValueError: ")
        assert "resume" not in ran.err
    assert not (folder / "new.journal").exists()
    assert before == (folder / "1.journal").read_bytes()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("verify 1.journal --env CartPol-v1", "did you mean CartPole-v1? give an id that"),
        ("record --env walk.py:Walk --set roster=4", "argument 'roster'; --roster gives it"),
        ("study --env deaf.py:Deaf --seeds 2 --seed-parameter none --out study", "takes no seed"),
        ("record --env deaf.py:Own --set steps=4 --ignore x", "is a parameter of deaf:Own, too"),
        ("study --env deaf.py:Own --seeds 2 --ignore x --out study", "give a function that calls"),
        ("verify 1.journal --env CartPole-v1", "unexpected keyword argument 'length'"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(folder: Path, words: str, says: str) -> None:
    before = {path.name for path in folder.glob("*")} - {"__pycache__"}
    assert_refused(goldrush(*words.split(), cwd=folder), says)

    assert before == {path.name for path in folder.glob("*")} - {"__pycache__"}


def test_code_that_leaves_the_working_folder_moves_no_journal(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    leaves = f"__import__('os').chdir({str(tmp_path / 'elsewhere')!r})"
    text = ENV.replace("        self.x, ", f"        {leaves}; self.x, ")
    (tmp_path / "walk.py").write_text(text)
    (tmp_path / "own.py").write_text(f"def own(events):\n    {leaves}\n    return len(events)\n")
    of = "--env walk.py:Walk"
    for command in (
        f"record {of} --roster random --set steps=8 --out run.journal",
        f"verify run.journal {of}",
        f"fork run.journal --at 4 {of} --out fork.journal",
        "measure run.journal fork.journal --measure own.py:own",
    ):
        ran = goldrush(*command.split(), cwd=tmp_path)
        assert 0 == ran.code, (command, ran.err)
    assert [] == list((tmp_path / "elsewhere").iterdir())
