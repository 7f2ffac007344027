"""Policies that are asked together: the same journals as if each agent is asked alone."""

import pytest

import goldrush
from goldrush.kernel.errors import GoldrushError
from goldrush.kernel.journal import JournalReader
from tests.games.fisheries import SOURCE, changed, recorded

ALONE = SOURCE[SOURCE.index("    @policy\n    def share") : SOURCE.index('    @measure("stock')]
TOGETHER = """
    @policy(together=True)
    def share(self, seen, agents, draw, part=0.8):
        fish = int(part * self.growth * self.capacity / 4 / self.agents)
        return [self.Asked(fish) for agent in agents]

    @policy(together=True)
    def greedy(self, seen, agents, draw, part=0.5):
        return [self.Asked(int(seen.stock / self.agents * part))] * len(agents)

    @policy(together=True)
    def random(self, seen, agents, draw):
        most = seen.stock / self.agents
        return [self.Asked(int(draw.between(0, most, agent, "catch"))) for agent in agents]

"""
ROSTER = "greedy[part=0.1],random*2,greedy[part=0.2]*2,random,share*2"

REPLACED = [{"season": 7, "agent": 2, "fish": 1, "error": None, "source": None}]

TURNS = "    def movers(self, state): return [1, 5, 6, 7]\n\n"
HIDES = "    def observe(self, state, agent): return state.copy()\n\n"
BY_AGENT = TOGETHER.replace("seen.stock", "seen[0].stock")


def run_of(path, name, policies, more=""):
    """A run of the fishery with other policies, and more methods."""
    folder = path / name
    folder.mkdir()
    game = changed(folder, ALONE, more + policies)
    return recorded(game, folder / "run.journal", ROSTER, seasons=20, shock=0.3)


def blocks(run):
    """The bytes of all events: those of START and the digests have the source, which differs."""
    with JournalReader(run.path) as reader:
        return [block.packed for commit in reader for block in commit.blocks]


@pytest.mark.parametrize(
    ("more", "together"), [("", TOGETHER), (TURNS, TOGETHER), (HIDES, BY_AGENT)]
)
def test_together_gives_what_alone_gives(tmp_path, more, together) -> None:
    alone = run_of(tmp_path, "alone", ALONE, more)
    run = run_of(tmp_path, "together", together, more)

    assert blocks(alone) == blocks(run)
    assert any(event.name == "landed" for event in run.events())
    assert (True, 4) == (run.verify().holds, run.verify().level)


COUNTED = TOGETHER.replace('int(draw.between(0, most, agent, "catch"))', "len(agents)")


def counts(run, season):
    """What each with the policy `random` asks for, which is with how many it is asked."""
    asked = [event.fields for event in run.events("asked")]
    return [one["fish"] for one in asked if one["season"] == season and one["agent"] in (1, 2, 5)]


def test_together_are_those_who_submit_in_the_step(tmp_path) -> None:
    all_submit = run_of(tmp_path, "all", COUNTED)
    turns = run_of(tmp_path, "turns", COUNTED, TURNS)

    assert [3, 3, 3] == counts(all_submit, 7)
    assert [2, 2] == counts(turns, 7)


def test_who_is_replaced_is_among_those_asked_together(tmp_path) -> None:
    run = run_of(tmp_path, "run", COUNTED)
    fork = run.fork(6, tmp_path / "fork.journal", replace=REPLACED)

    assert [3, 1, 3] == counts(fork, 7)
    assert (True, 4) == (fork.verify().holds, fork.verify().level)


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        ("[self.Asked(1)]", "return a list with one for each of the [12] agents"),
        ("[self.Asked(-1)] * len(agents)", "integer from 0 to 1000000000"),
        ("seen.landed.append(1.0)", "policy greedy changed the state"),
        (
            "[self.Asked(draw.below(9, agents[0])) for a in agents]",
            "key 3, which this step has used",
        ),
        ("[self.Asked(draw.below(9, 'all'))] * len(agents)", "'all'; it begins .*agent first"),
        ("[self.Asked(draw.below(9))] * len(agents)", "draw.below has no key; .*agent first"),
        ("[self.Asked(9 if seen.unit < 17 else draw.below(9, 'x'))] * len(agents)", "begins with"),
        ("agents.pop()", "'tuple' object has no attribute 'pop'"),
    ],
)
def test_mistakes_of_a_policy_asked_together_are_found(tmp_path, returned, says) -> None:
    old = "[self.Asked(int(seen.stock / self.agents * part))] * len(agents)"
    policies = TOGETHER.replace(old, returned)

    with pytest.raises(GoldrushError, match=says):
        run_of(tmp_path, "wrong", policies)


def test_a_policy_asked_together_takes_agents() -> None:
    with pytest.raises(GoldrushError, match="it takes self, seen, agents, draw, and settings"):

        @goldrush.policy(together=True)
        def share(self, seen): ...
